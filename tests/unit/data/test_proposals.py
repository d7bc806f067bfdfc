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
    "a reply that was not chosen would be read": [
        [talk(("customer", asks), ("agent", says), if_chosen=False) for asks, says in PAIRS],
    ],
    "its text would be garbled": [
        [pair(f"{asks} Gr\u00c3\u00bc\u00c3\u009fe", says) for asks, says in PAIRS],
    ],
    "one speaker's text would stand within the other's": [
        [pair(asks, f"Customer: {asks} Agent: {says}") for asks, says in PAIRS],
        [pair(f"<p>{says}</p>", says) for says in SAYS],
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


def test_conversations_that_no_map_tells_apart(tmp_path):
    (a, b), (c, d), (e, f) = PAIRS[:3]
    said = [("customer", a), ("customer", c), ("agent", b), ("agent", d), ("customer", e), ("agent", f)]
    rows = [
        {"pk": n, "party": party, "words": words}
        for n, (party, words) in zip((1, 2, 1, 2, 1, 1), said, strict=True)
    ]
    assert "the roles would not alternate" in hint_of(tmp_path, rows)
    items = [m | {"chatId": n} for n, one in enumerate(PAIRS) for m in pair(*one)["thread"]]
    hint = hint_of(tmp_path, [{"state": {"thread": items}}])
    assert "messages of several conversations would be one" in hint


def test_one_of_several_numbered_pairs_of_columns_is_no_map(tmp_path):
    rows = [
        {"nr": n, "q1": a, "a1": b, "q2": f"{a} And?", "a2": f"{b} So."} for n, (a, b) in enumerate(PAIRS)
    ]
    assert "is that meant?" not in hint_of(tmp_path, rows, "csv")


@pytest.mark.parametrize(("field", "reply"), [("from_agent", True), ("isUser", False), ("inbound", False)])
def test_a_field_of_yes_and_no_says_who_speaks(tmp_path, field, reply):
    rows = [
        {
            "thread": [
                {field: is_reply is reply, "html": f"<p>{words}</p>", "plain": words}
                for words, is_reply in said
            ]
        }
        for asks, says in PAIRS
        for said in [((asks, False), (says, True))]
    ]
    roles = "roles.true=assistant,roles.false=user" if reply else "roles.true=user,roles.false=assistant"
    assert f"--map 'messages=thread,role={field},content=plain,{roles}'" in hint_of(tmp_path, rows)


def test_messages_of_several_conversations_under_one_key_are_told_apart(tmp_path):
    ways = ("incoming", "outgoing")
    items = [
        {"threadId": n, "direction": way, "payload": {"text": words}}
        for n, one in enumerate(PAIRS)
        for way, words in zip(ways, one, strict=True)
    ]
    path = tmp_path / "page.json"
    path.write_text(json.dumps({"messages": items, "meta": {}}))
    with pytest.raises(FileFault) as error:
        list(read_conversations([str(path)]))
    named = error.value.hint.split("'")[1]
    assert named.startswith("session=threadId,role=direction,content=payload.text")
    talks = list(read_conversations([str(path)], mapping=read_field_map(named)))
    assert [tuple(m.text for m in talk.messages) for talk in talks] == PAIRS


def test_a_map_of_records_that_a_document_lists(tmp_path):
    chats = [{"chatId": n, **pair(*one)} for n, one in enumerate(PAIRS)]
    hint = hint_of(tmp_path, [{"data": {"chats": chats}, "version": 2}])
    named = "records=data.chats,session=chatId,messages=thread,role=party,content=words,"
    assert hint.startswith(f"--map '{named}")
    assert hint.endswith("and 5 in all: is that meant?")


def test_a_file_without_texts_of_its_own_says_what_to_write(tmp_path):
    assert "write a line of JSON for each message" in hint_of(tmp_path, [{"internal": [["Hi.", "Ho."]]}])


@pytest.mark.parametrize(("field", "withheld"), [("caller", True), ("turn", False), ("day", False)])
def test_another_field_may_part_rows_into_conversations(tmp_path, field, withheld):
    sides = ("customer", "agent")
    rows = [
        {field: f"x{n}", "party": party, "words": words}
        for n, one in enumerate(PAIRS)
        for party, words in zip(sides, one, strict=True)
    ]
    hint = hint_of(tmp_path, rows)
    assert ("another field may say which conversation a row is of" in hint) is withheld
    assert ("is that meant?" in hint) is not withheld


def test_the_first_of_several_replies_is_no_map(tmp_path):
    rows = [{"chat_id": 1, "ask": a, "replies": [{"text": b}]} for a, b in PAIRS]
    assert "reply=replies.0.text" in hint_of(tmp_path, rows)
    rows[-1]["replies"] *= 2
    hint = hint_of(tmp_path, rows)
    assert "only the first of several texts would be read" in hint
    assert "is that meant?" not in hint
