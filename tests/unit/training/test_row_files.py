"""Files of rows read back: every kind comes back typed, and what cannot be used is named with its line."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.training.row_files import read_pair_file


def said(*lines):
    roles = {"s": "system", "u": "user", "a": "assistant"}
    return [{"role": roles[line[0]], "content": line[3:]} for line in lines]


DPO = {"prompt": said("u: When?"), "chosen": said("a: At nine."), "rejected": said("a: Who knows?")}
SEGMENT = {
    "prompt": said("s: You are Rosa."),
    "chosen": said("u: Hi", "a: Late again."),
    "rejected": said("u: Hello", "a: Yes?"),
    "score_chosen": 4.0,
    "score_rejected": 3,
    "persona_id": "inn",
    "step": 1,
    "model_chosen": "m",
    "model_rejected": None,
}
KTO = {"prompt": said("u: When?"), "completion": said("a: At nine."), "label": True}
SFT = {"messages": said("u: When?", "a: At nine.")}
RL = {
    "prompt": said("s: You are Rosa.", "u: Hi", "a: Late."),
    "scenario": {
        "id": "inn",
        "name": "Rosa",
        "text": "Keeps an inn.",
        "user": {"id": "inn", "persona": "I am"},
    },
    "persona_id": "inn",
    "context_turns": 1,
}


@pytest.fixture
def written(tmp_path):
    def write(*rows):
        path = tmp_path / "rows.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


@pytest.mark.parametrize(
    ("row", "kind"), [(DPO, "dpo"), (SEGMENT, "segment"), (KTO, "kto"), (SFT, "sft"), (RL, "rl")]
)
def test_every_kind_comes_back_by_its_keys(written, row, kind):
    tools = [{"type": "function", "function": {"name": "find"}}]
    (first, second) = read_pair_file(written({"unchecked": True, **row, "tools": tools}, "", row))
    assert first.kind == second.kind == kind
    assert first.data == second.data == row
    assert (first.unchecked, first.tools, first.place.line) == (True, tuple(tools), 1)
    assert (second.unchecked, second.tools, second.place.line) == (False, (), 3)


def test_a_prompt_has_its_scenario(written):
    (row,) = read_pair_file(written(RL))
    assert (row.scenario.name, row.scenario.user.persona, row.data["context_turns"]) == ("Rosa", "I am", 1)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{", "this is no JSON"),
        ("[]", "a row is a JSON object"),
        ({**DPO, "margin": 2}, "nearest is dpo: margin unknown"),
        ({k: v for k, v in SEGMENT.items() if k != "step"}, "nearest is segment: step missing"),
        ({"chosen": said("u: a", "a: b"), "rejected": said("u: c", "a: d")}, "a pair without a prompt"),
        ({**DPO, "chosen": said("u: When?", "a: At nine.")}, "the row has two prompts: chosen begins"),
        (
            {**SEGMENT, "rejected": said("s: You are Jon.", "u: Hi", "a: Yes?")},
            "two prompts: rejected begins",
        ),
        ({**SEGMENT, "chosen": said("a: Late again.")}, "chosen begins with assistant"),
        ({**SEGMENT, "chosen": said("u: Hi")}, "chosen does not end with a reply"),
        ({**DPO, "rejected": DPO["chosen"]}, "chosen and rejected are the same"),
        ({**DPO, "prompt": []}, "prompt is no list of messages"),
        ({**DPO, "prompt": "When?"}, "prompt is no list of messages"),
        ({**DPO, "prompt": [{"role": "bot", "content": "a"}]}, "message 1 of prompt has no role"),
        ({**DPO, "prompt": [{"role": "user", "content": ["a"]}]}, "message 1 of prompt has no text"),
        ({**KTO, "label": 1}, "label is 1"),
        ({**SFT, "messages": said("u: When?")}, "messages does not end with a reply"),
        ({**SEGMENT, "score_chosen": "4"}, "score_chosen is '4'"),
        ({**SEGMENT, "step": True}, "step is True"),
        ({**SFT, "tools": {}}, None),
        ({**SFT, "tools": [1]}, "tools are no list of objects"),
        ({**SFT, "tools": "[1]"}, "tools are no list of objects"),
        ({**SFT, "tools": "find"}, "tools are no list of objects"),
        ({**RL, "scenario": {"id": "inn"}}, "name is missing"),
        ({**RL, "prompt": said("s: a", "u: b")}, "prompt ends with the user"),
        ({**RL, "context_turns": -1}, "context_turns is -1"),
    ],
)
def test_what_cannot_be_used_is_named_with_file_and_line(written, row, why):
    path = written(row)
    if why is None:
        assert len(list(read_pair_file(path))) == 1
        return
    with pytest.raises(RecordFault) as caught:
        list(read_pair_file(path))
    assert why in str(caught.value)
    assert f"{path}:1" in str(caught.value)


def test_two_kinds_no_row_and_no_file_are_refused(written, tmp_path):
    rows = read_pair_file(written(DPO, KTO))
    assert next(rows).kind == "dpo"
    with pytest.raises(RecordFault, match="a row of the kind kto in a file of the kind dpo"):
        next(rows)
    with pytest.raises(FileFault, match="the file holds no row"):
        list(read_pair_file(written("")))
    with pytest.raises(FileFault, match="cannot be read"):
        list(read_pair_file(tmp_path / "nowhere.jsonl"))


def test_memory_is_that_of_a_row_and_not_of_the_file(written):
    long = {**SFT, "messages": said("u: When?", f"a: {'nine ' * 400}")}
    path = written(*[long] * 2_000)
    tracemalloc.start()
    assert sum(1 for _ in read_pair_file(path)) == 2_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 4_000_000
    assert peak < 400_000
