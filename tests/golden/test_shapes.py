"""Logs in the shapes that people have: each is read rightly, or refused with what to do.

The samples in `shapes/` are our own words in the vendors' public schemas. Inspect, LangChain, Hugging Face
and pandas wrote theirs; the others are by hand, from the schemas alone.
`expected.json` says of each what a person sees in it.
"""

import json
import re
from pathlib import Path

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data import memory_conversations, read_conversations, thumb_of
from dialogauge.data.field_map import read_field_map

SHAPES = Path(__file__).parent / "shapes"
EXPECTED = json.loads((SHAPES / "expected.json").read_text(encoding="utf-8"))
FLOOR = 101
"""Shapes that are read without a map."""
NEEDS_PYARROW = {"parquet", "parquet_rows", "hf_dataset", "hf_dict", "inspect_eval"}


def outcomes(name, **options):
    if name in NEEDS_PYARROW:
        pytest.importorskip("pyarrow")
    if name == "xlsx":
        pytest.importorskip("python_calamine")
    return list(read_conversations([str(SHAPES / EXPECTED[name]["file"])], **options))


def loaded(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def number(score):
    return {"up": 1.0, "down": 0.0}[thumb_of(score)] if isinstance(score, str) else float(score)


def seen(talk):
    """Return what a person would write down of a conversation; calls without an id are None on both sides."""
    spoken = [m for m in talk.messages if m.role != "tool" and m.text.strip()]
    return {
        "messages": [[m.role, m.text.strip()] for m in spoken],
        "tools": [[c.id, c.name, loaded(c.arguments)] for m in talk.messages for c in m.tool_calls],
        "results": [[m.tool_call_id, loaded(m.text)] for m in talk.messages if m.role == "tool"],
        "ratings": sorted([r.dimension, number(r.score)] for r in talk.ratings),
        "evaluations": [[e["dimension"], e["value"]] for e in talk.metadata.get("evaluations", ())],
        "id": talk.id,
        "user": talk.user_id,
    }


def wanted(expected, talk):
    """Return the same of what is expected; what the shape has no id for is as it was read."""
    read = seen(talk)

    def named(rows, own):
        return [[row[0] or own[n][0], *row[1:]] for n, row in enumerate(rows) if n < len(own)] + rows[
            len(own) :
        ]

    return {
        "messages": expected["messages"],
        "tools": named(expected["tools"], read["tools"]),
        "results": named([[i, loaded(text)] for i, text in expected["results"]], read["results"]),
        "ratings": sorted([name, float(score)] for name, score in expected["ratings"]),
        "evaluations": expected.get("evaluations", []),
        "id": expected.get("id", talk.id),
        "user": expected.get("user", talk.user_id),
    }


def check(expected, talks):
    assert not [talk for talk in talks if isinstance(talk, RecordFault)]
    assert len(talks) == len(expected)
    left = list(talks)
    for one in expected:
        same = [t for t in left if seen(t)["messages"] == one["messages"]]
        talk = same[0] if same else left[0]
        left.remove(talk)
        assert seen(talk) == wanted(one, talk)
        steps = [step for turn in talk.turns for step in turn.tool_steps]
        assert not [step for step in steps if "results_without_call" in step.faults or step.result is None]


@pytest.mark.parametrize("name", [name for name, shape in EXPECTED.items() if shape["outcome"] == "read"])
def test_it_is_read_rightly_without_a_map(name):
    check(EXPECTED[name]["conversations"], outcomes(name))


@pytest.mark.parametrize("name", [name for name, shape in EXPECTED.items() if shape["outcome"] == "map"])
def test_it_is_refused_with_a_map_that_reads_it_rightly(name):
    with pytest.raises(FileFault, match=EXPECTED[name]["says"]) as refusal:
        outcomes(name)
    pasted = re.search("--map '([^']+)'", refusal.value.hint)
    assert pasted, refusal.value.hint
    check(EXPECTED[name]["conversations"], outcomes(name, mapping=read_field_map(pasted[1])))


@pytest.mark.parametrize("name", [name for name, shape in EXPECTED.items() if shape["outcome"] == "refused"])
def test_it_is_refused_with_what_it_is_and_what_to_do(name):
    with pytest.raises(FileFault, match=EXPECTED[name]["says"]) as refusal:
        outcomes(name)
    assert refusal.value.hint
    assert "reads the first as" not in refusal.value.hint, (
        "a map is named only where it reads the shape rightly"
    )


@pytest.mark.parametrize("name", [name for name, shape in EXPECTED.items() if shape["outcome"] == "faults"])
def test_each_record_is_a_fault_that_says_why(name):
    for fault in outcomes(name):
        assert isinstance(fault, RecordFault)
        assert EXPECTED[name]["says"] in fault.message


def test_a_data_frame_of_messages():
    pandas = pytest.importorskip("pandas")
    rows = pandas.read_csv(SHAPES / EXPECTED["message_rows_csv"]["file"])
    rows["created_at"] = pandas.to_datetime(rows["created_at"])
    check(EXPECTED["message_rows_csv"]["conversations"], list(memory_conversations(rows)))


def test_so_many_shapes_are_read():
    assert sum(shape["outcome"] == "read" for shape in EXPECTED.values()) >= FLOOR
