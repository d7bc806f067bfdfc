"""The memory system that is trained: what it learns from, when it is trained, and what it is refused."""

from __future__ import annotations

import json
import sys

import pytest

from flows.conftest import rows_of
from tiny_policy import write_rows

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

SALT, OAK = "Salt and thunder!", "By the old oak!"
ASKED = ("Hello there.", "How was your day?", "Tell me more.", "And then?")
BRISK = "[tune]\nlearning_rate = 1e-2\nepochs = 20\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A model that has learnt nothing yet."""
    pytest.importorskip("torch")
    pytest.importorskip("trl")
    pytest.importorskip("peft")
    from benchmarks.toy_roleplay import build_policy

    return build_policy(tmp_path_factory.mktemp("base"), steps=0)


def logged(number, question, reply, *actions):
    """Return a row of a log whose first reply met these actions, and whose second was liked."""
    said = [question, reply, "And what else?", "I keep a small blue boat."]
    roles = ("user", "assistant") * 2
    return {
        "test_idx": number,
        "dataset_name": "desk",
        "lang": "en",
        "input_prompt": question,
        "info": {},
        "dialog": [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)],
        "implicit_feedback": [
            {"round": 1, "implicit_actions": list(actions), "terminated": False},
            {"round": 2, "implicit_actions": ["like"], "terminated": True},
        ],
    }


def logs(path, liked):
    """Write a log in which one of two replies was liked or copied."""
    rows = []
    for n, question in enumerate(ASKED * 2):
        reply = (SALT, OAK)[n % 2]
        actions = [("like", "copy")[n // 4]] if reply == liked else ["dislike"]
        rows.append(logged(n, question, reply, *actions))
    return write_rows(path, rows)


@pytest.fixture
def run(dialogauge, base, tmp_path):
    """Run `learn run` on one question for each reply."""
    tasks = (("Do you like the sea?", SALT), ("Where do you live?", OAK), ("What do you think?", SALT))
    rows = [
        {"id": f"q{n}", "dataset": "mine", "q": question, "v": {"answer": answer}}
        for n, (question, answer) in enumerate(tasks)
    ]
    role = f"[roles.answerer]\nmodel = 'file:{base}'\nmax_tokens = 12\n"
    (tmp_path / "own.toml").write_text(BRISK + role)

    def call(*words, tasks=3, config="own.toml"):
        file = write_rows(tmp_path / "tasks.jsonl", rows[:tasks])
        command = ("learn", "run", "--tasks", file, "--system", "trained", "--no-controls")
        return dialogauge(*command, "--device", "cpu", "--config", config, *words)

    return call


def scores(folder):
    return [row["details"].get("score") for row in rows_of(folder)]


def test_it_says_what_was_liked_and_is_trained_once(run, tmp_path):
    liked = logs(tmp_path / "salt.jsonl", SALT)
    done = run("--logs", liked, "-o", "salt", "--json", tasks=2)
    assert done.code == 0, done.out + done.err
    assert scores(tmp_path / "salt") == [1.0, 0.0]
    (system,) = done.json["sets"][0]["systems"]
    assert (system["room"], system["items"], system["recall"]["value"]) == ("weights", 0.0, None)
    cost = done.json["costs"]["trained"]
    (trained,) = (tmp_path / "salt" / "tuned").glob("*/tune.json")
    manifest = json.loads(trained.read_bytes())
    assert manifest["counts"]["rows"] == 4  # not the second replies, which were all liked
    published = {"lora_r": 8, "lora_alpha": 32, "lora_dropout": 0.05, "batch_size": 4, "max_length": 8_192}
    assert manifest["asked"]["settings"].items() >= published.items()
    assert 8 * cost["seconds_a_dialogue"] >= manifest["seconds"]
    (adapter,) = (tmp_path / "salt" / "memories" / "trained").glob("*/adapter/adapter_model.safetensors")
    assert cost["bytes"] > adapter.stat().st_size
    # Another question: the memory is loaded, and its training is taken as it is.
    written = trained.stat().st_mtime_ns
    assert run("--logs", liked, "-o", "salt").code == 0
    assert scores(tmp_path / "salt") == [1.0, 0.0, 1.0]
    assert trained.stat().st_mtime_ns == written


def test_with_shuffled_feedback_it_says_something_else(run, tmp_path):
    done = run("--logs", logs(tmp_path / "oak.jsonl", OAK), "-o", "oak")
    assert done.code == 0, done.out + done.err
    assert scores(tmp_path / "oak") == [0.0, 1.0, 0.0]


def test_what_it_cannot_learn_from(run, tmp_path, monkeypatch):
    disliked = logs(tmp_path / "none.jsonl", "")
    done = run("--logs", disliked, "-o", "none")
    assert (done.code, "a like or copy in none of 8 dialogues (dislike 8)" in done.err) == (2, True)
    done = run("-o", "bare")
    assert (done.code, "none of 0 dialogues (there are no logs)" in done.err) == (2, True)
    (tmp_path / "brisk.toml").write_text(BRISK)
    done = run("--logs", disliked, "-o", "bare", "--dry-run", config="brisk.toml")
    assert (done.code, "give the folder of a model: --role answerer=file:FOLDER" in done.err) == (2, True)
    monkeypatch.setitem(sys.modules, "peft", None)
    done = run("--logs", logs(tmp_path / "salt.jsonl", SALT), "-o", "extra")
    assert (done.code, "pip install 'dialogauge[tune]'" in done.err) == (1, True)
