"""Which trainer takes which rows, and what is written for it."""

from __future__ import annotations

import json
import tomllib

import pyarrow.parquet
import pytest

from dialogauge.core import FileFault, UsageError
from dialogauge.training.targets import TARGETS, SessionReward, expect_target, write_held_out, write_target

SYSTEM = {"role": "system", "content": "You keep the lighthouse."}
TALK = [SYSTEM, {"role": "user", "content": "冷吗？"}, {"role": "assistant", "content": "冷。"}]
SFT = {"messages": TALK}
PAIR = {
    "prompt": TALK[:2],
    "chosen": [{"role": "assistant", "content": "Windy."}],
    "rejected": [{"role": "assistant", "content": "How can I help?"}],
}
SCENARIO = {"id": "ilse", "name": "Ilse", "text": "Keeps the lighthouse.", "user": {"persona": "I row."}}
RL = {"prompt": [SYSTEM], "scenario": SCENARIO, "persona_id": "ilse", "context_turns": 0}
KINDS = {"sft", "dpo", "kto", "active", "segment", "rl"}
TAKES = {
    "trl": KINDS,
    "sharegpt": {"sft"},
    "llamafactory": {"sft", "dpo", "segment"},
    "verl": {"sft", "rl"},
    "openrlhf": {"sft", "rl"},
}


@pytest.mark.parametrize("target", TARGETS)
def test_every_kind_is_taken_or_refused_with_a_reason(target):
    assert set(TARGETS[target]) == KINDS
    assert {k for k in KINDS if not isinstance(TARGETS[target][k], str)} == TAKES[target]
    for kind in KINDS - TAKES[target]:
        with pytest.raises(UsageError, match=f"{target} takes no {kind} rows: ") as error:
            expect_target(target, kind)
        assert "--to trl takes all" in str(error.value)


def test_a_refused_kind_writes_nothing(tmp_path):
    with pytest.raises(UsageError, match="OpenRLHF trains on all that follows the prompt"):
        write_target("openrlhf", "segment", [], tmp_path / "rows.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("sft", "-m dialogauge tune sft --model DIR --data rows.jsonl -o rows.tuned"),
        ("dpo", "-m dialogauge tune dpo --model DIR --data rows.jsonl -o rows.tuned"),
        ("segment", "-m dialogauge tune dspo --model DIR --data rows.jsonl -o rows.tuned"),
        ("rl", "-m dialogauge tune gsrpo --model DIR --data rows.jsonl -o rows.tuned"),
        ("kto", "-m trl.scripts.kto --config rows.kto.yaml"),
    ],
)
def test_trl_gets_the_rows_as_they_are_and_a_configuration_of_accelerate(tmp_path, kind, command):
    written = write_target("trl", kind, [SFT, RL], tmp_path / "rows.jsonl").files
    assert [json.loads(line) for line in written["data"].read_text("utf-8").splitlines()] == [SFT, RL]
    line = written["accelerate"].read_text().splitlines()[1]
    assert line == f"# accelerate launch --config_file rows.accelerate.yaml {command}"
    assert "zero_stage: 3" in written["accelerate"].read_text()


def test_conversations_to_label_are_written_alone(tmp_path):
    assert set(write_target("trl", "active", [SFT], tmp_path / "rows.jsonl").files) == {"data"}


def test_the_configuration_names_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "model"
    written = write_target(
        "verl", "sft", [SFT], tmp_path / "rows.parquet", model=model.relative_to(tmp_path)
    ).files
    assert f"  path: {model}\n" in written["config"].read_text()


@pytest.mark.parametrize(("kind", "row"), [("sft", SFT), ("rl", RL)])
def test_the_command_of_openrlhf_names_the_model_or_asks_for_it(tmp_path, kind, row):
    model = tmp_path / "my model"
    script = write_target("openrlhf", kind, [row], tmp_path / "a.jsonl", model=model).files["config"]
    assert script.read_text().splitlines()[1] == "# In this folder: sh a.openrlhf.sh"
    assert f"model_name_or_path '{model}' \\\n" in script.read_text()
    assert "$1" not in script.read_text()
    script = write_target("openrlhf", kind, [row], tmp_path / "b.jsonl").files["config"]
    assert script.read_text().splitlines()[1] == "# In this folder: sh b.openrlhf.sh DIR"
    assert 'model_name_or_path "${1:?the folder of the model}" \\\n' in script.read_text()


@pytest.mark.parametrize(
    ("target", "kind", "row", "beside"),
    [
        ("trl", "dpo", PAIR, {"rows.jsonl"}),
        ("trl", "kto", PAIR, {"rows.jsonl"}),
        ("verl", "sft", SFT, {"rows.parquet"}),
        ("verl", "rl", RL, {"rows.parquet"}),
        ("openrlhf", "sft", SFT, {"rows.jsonl"}),
        ("openrlhf", "rl", RL, {"rows.jsonl"}),
        ("llamafactory", "dpo", PAIR, {"rows.jsonl", "dataset_info.json"}),
    ],
)
def test_what_is_held_out_has_no_configuration(tmp_path, target, kind, row, beside):
    written = write_held_out(target, kind, [row], tmp_path / "rows.jsonl").files
    assert {path.name for path in tmp_path.iterdir()} == beside
    assert {path.name for path in written.values()} == beside


def test_llamafactory_gets_text_with_a_description(tmp_path):
    first = write_target("llamafactory", "sft", [SFT], tmp_path / "talks.jsonl").files
    second = write_target("llamafactory", "dpo", [PAIR], tmp_path / "pairs.jsonl").files
    described = json.loads(second["description"].read_text())
    assert first["description"] == second["description"] == tmp_path / "dataset_info.json"
    assert described["talks"] == {
        "file_name": "talks.jsonl",
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
    }
    assert described["pairs"]["ranking"]
    assert described["pairs"]["columns"]["chosen"] == "chosen"
    config = second["config"].read_text()
    assert "stage: dpo\npref_beta: 0.1\npref_loss: sigmoid\nnum_train_epochs: 2\n" in config
    assert 'deepspeed: pairs.zero3.json\ndataset_dir: .\ndataset: "pairs"\n' in config
    assert json.loads(second["deepspeed"].read_text())["zero_optimization"]["stage"] == 3


def test_a_description_of_something_else_is_not_written_over(tmp_path):
    (tmp_path / "dataset_info.json").write_text("[]")
    with pytest.raises(FileFault, match=r"dataset_info\.json: this is no description"):
        write_target("llamafactory", "sft", [SFT], tmp_path / "rows.jsonl")
    assert (tmp_path / "dataset_info.json").read_text() == "[]"


def test_segments_for_llamafactory_need_the_model(tmp_path):
    with pytest.raises(UsageError, match=r"written in tokens, and no model is named.*--for-model"):
        write_target("llamafactory", "segment", [], tmp_path / "rows.jsonl")


def test_tools_are_left_out_where_the_reader_would_write_them_otherwise(tmp_path):
    tools = {**SFT, "tools": [{"type": "function", "function": {"name": "tide"}}]}
    for target in ("llamafactory", "verl", "openrlhf"):
        written = write_target(target, "sft", [tools, SFT, tools], tmp_path / f"{target}.jsonl")
        ((reason, number),) = written.lines
        assert reason.startswith("tools: ")
        assert number == 2
        assert set(written.left_out) == {0, 2}
    rows = pyarrow.parquet.read_table(tmp_path / "verl.parquet").to_pylist()
    assert rows == [SFT]


def test_verl_gets_prompts_with_scenarios_and_a_loop(tmp_path):
    written = write_target("verl", "rl", [RL, RL], tmp_path / "rows.jsonl").files
    rows = pyarrow.parquet.read_table(written["data"]).to_pylist()
    assert written["data"].name == "rows.parquet"
    assert [row["extra_info"]["index"] for row in rows] == [0, 1]
    assert rows[0]["prompt"] == RL["prompt"]
    assert json.loads(rows[0]["extra_info"]["scenario"]) == SCENARIO
    assert rows[0]["data_source"] == "dialogauge"
    assert "agent_loop_config_path: rows.verl_loop.yaml" in written["config"].read_text()
    assert "roles_file: rows.roles.toml" in written["loop"].read_text()


def test_openrlhf_gets_the_scenario_as_the_label_and_an_agent(tmp_path):
    written = write_target("openrlhf", "rl", [RL], tmp_path / "rows.jsonl").files
    row = json.loads(written["data"].read_text("utf-8"))
    assert json.loads(row["label"]) == {"prompt": RL["prompt"], "scenario": SCENARIO}
    assert row["prompt"] == RL["prompt"]
    assert "--train.agent_func_path rows.agent.py" in written["config"].read_text()
    compile(written["agent"].read_text(), "rows.agent.py", "exec")


def test_sessions_are_scored_and_as_long_as_the_run_says(tmp_path):
    reward = SessionReward("my own.toml", "w.toml", 20)
    verl = write_target("verl", "rl", [RL], tmp_path / "v.jsonl", reward=reward).files
    loop = verl["loop"].read_text()
    assert '  rubric: "my own.toml"\n  weights: "w.toml"\n  turns: 20\n' in loop
    # 20 replies of 256 tokens, and 19 messages of 96 between them.
    assert "max_response_length: 6944\n" in verl["config"].read_text()
    made = write_target("openrlhf", "rl", [RL], tmp_path / "o.jsonl", reward=reward).files
    assert "turns=20, rubric='my own.toml', weights='w.toml'" in made["agent"].read_text()
    assert "--data.max_len 11040 " in made["config"].read_text()  # and 4,096 of the prompt
    line = write_target("trl", "rl", [RL], tmp_path / "t.jsonl", reward=reward).files["accelerate"]
    assert line.read_text().splitlines()[1].endswith("--rubric 'my own.toml' --turns 20 --weights w.toml")
    usual = write_target("verl", "rl", [RL], tmp_path / "u.jsonl").files
    assert "  rubric: roleplay\n  weights: null\n  turns: 10\n" in usual["loop"].read_text()
    assert "max_response_length: 3424\n" in usual["config"].read_text()


def test_roles_name_no_key(tmp_path):
    written = write_target("verl", "rl", [RL], tmp_path / "r.jsonl").files
    roles = tomllib.loads(written["roles"].read_text())["roles"]
    assert set(roles) == {"simulator", "judge"}
    assert all(set(role) == {"model", "base_url", "temperature"} for role in roles.values())
