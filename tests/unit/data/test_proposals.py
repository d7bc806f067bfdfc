"""A map is proposed where it reads all records rightly; else it is said what speaks against it."""

import csv
import json

import pytest

from dialogauge.core import FileFault, RecordFault
from dialogauge.data import read_conversations, read_field_map

ASKS = (
    "Where is my parcel?",
    "Can I change it?",
    "When will it come?",
    "Do you open on Sundays?",
    "And returns?",
)
SAYS = ("It left this morning.", "Until six today.", "Before noon.", "On weekdays only.", "Free for a month.")
PAIRS = list(zip(ASKS, SAYS, strict=True))


def hint_of(tmp_path, rows, kind="jsonl"):
    path = tmp_path / f"log.{kind}"
    with path.open("w", encoding="utf-8", newline="") as file:
        if kind == "csv":
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    with pytest.raises(FileFault) as error:
        list(read_conversations([str(path)]))
    return error.value.hint


def talk(*said, **marks):
    return {"thread": [{"party": party, "words": words, **marks} for party, words in said]}


def pair(asks, says):
    return talk(("customer", asks), ("agent", says))


def noted(**mark):
    """Return conversations of which one message is the desk's own."""
    notes = [{"party": "agent", "words": "Offer her ten percent.", **mark}]
    return [
        {"thread": [*pair(asks, says)["thread"][:1], *notes, {"party": "agent", "words": says}]}
        for asks, says in PAIRS
    ]


WITHHELD = {
    "an internal note would be read": [
        noted(internal=True),
        noted(kind="internal_note"),
        noted(public=False),
        noted(meta={"is_private": "true"}),
    ],
    "several replies would stand in a turn": [
        [talk(("customer", asks), ("agent", says), ("agent", f"Perhaps: {says}")) for asks, says in PAIRS],
    ],
    "the roles would not alternate": [
        [talk(*(("customer", asks) for asks in ASKS), ("agent", SAYS[0]))],
    ],
    "one text would stand twice": [[pair(asks, asks) for asks in ASKS]],
    "most of the text would be left unread": [
        [pair(asks, says) | {"letter": " ".join(ASKS) * 3} for asks, says in PAIRS],
    ],
    "what the assistant says would be JSON, numbers or times": [
        [pair(asks, f"2026-11-30T10:0{n}:00") for n, asks in enumerate(ASKS)],
        [pair(asks, f"{n}.5") for n, asks in enumerate(ASKS)],
        [pair(asks, json.dumps({"text": says})) for asks, says in PAIRS],
    ],
    "what the assistant says would be a few texts again and again": [
        [pair(f"{asks} {n}", "Anna Smith") for asks in ASKS for n in range(3)],
    ],
    "a record cannot be read by it": [[*(pair(*one) for one in PAIRS), {"thread": "gone"}]],
}
CASES = [(why, rows) for why, samples in WITHHELD.items() for rows in samples]


@pytest.mark.parametrize(("why", "rows"), CASES, ids=[f"{n} {why}" for n, (why, _) in enumerate(CASES)])
def test_a_map_that_would_read_wrongly_is_withheld_with_the_reason(why, rows, tmp_path):
    hint = hint_of(tmp_path, rows)
    assert "no map is proposed: by messages=thread,role=party,content=words" in hint
    assert why in hint
    assert "reads the first as" not in hint


def test_a_map_that_reads_all_records_is_shown_as_a_question(tmp_path):
    hint = hint_of(tmp_path, [pair(*one) for one in PAIRS])
    assert hint.startswith("--map 'messages=thread,role=party,content=words,")
    assert hint.endswith("and 5 in all: is that meant?")
    marked = [talk(("customer", asks), ("agent", says), public=True, kind="comment") for asks, says in PAIRS]
    assert "is that meant?" in hint_of(tmp_path, marked)


def test_a_map_into_json_in_a_cell(tmp_path):
    rows = [
        {"case": n, "data": json.dumps({"ask": {"question": a}, "reply": {"answer": b}})}
        for n, (a, b) in enumerate(PAIRS)
    ]
    hint = hint_of(tmp_path, rows, "csv")
    assert hint.startswith("--map 'session=case,prompt=data.ask.question,reply=data.reply.answer'")


OTHERS = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho."}]
TURNS = [{"role": "user", "content": ASKS[0]}, {"role": "assistant", "content": SAYS[0]}]


@pytest.mark.parametrize("named", ["prompt=q,reply=a", "messages=steps"])
def test_a_map_is_obeyed_where_messages_stand_too(named, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"id": "c", "messages": OTHERS, "q": ASKS[0], "a": SAYS[0], "steps": TURNS}))
    (one,) = read_conversations([str(path)], mapping=read_field_map(named))
    assert [m.text for m in one.messages] == [ASKS[0], SAYS[0]]


@pytest.mark.parametrize("named", ["messages=nowhere", "prompt=q,reply=nowhere", "role=who,content=what"])
def test_a_map_that_cannot_be_obeyed_is_refused(named, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"id": "c", "messages": OTHERS, "q": ASKS[0]}))
    try:
        outcomes = list(read_conversations([str(path)], mapping=read_field_map(named)))
    except FileFault:
        return
    assert all(isinstance(one, RecordFault) for one in outcomes)
