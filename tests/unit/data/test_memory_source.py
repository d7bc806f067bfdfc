from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dialogauge.core import (
    Conversation,
    FileFault,
    InputError,
    Message,
    Place,
    Rating,
    RecordFault,
    ToolCall,
    UsageError,
)
from dialogauge.data import FieldMap, is_table, memory_conversations, thumb_of
from talks import conversation_record, talk

CHAT = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]
MESSAGES = (Message("user", "When?"), Message("assistant", "At nine."))


def read(source: Any, **settings: Any) -> tuple[list[Conversation], list[str], list[str]]:
    reader = memory_conversations(source, **settings)
    items = list(reader)
    conversations = [i for i in items if isinstance(i, Conversation)]
    faults = [str(i) for i in items if isinstance(i, InputError)]
    return conversations, faults, [str(note) for note in reader.notes]


def test_lists_of_messages_are_named_by_their_position() -> None:
    conversations, faults, notes = read([CHAT, CHAT])
    assert [(c.id, c.messages) for c in conversations] == [("0", MESSAGES), ("1", MESSAGES)]
    assert faults == []
    assert "2 conversations have no id: made from the position in the source (e.g. source[0], ...)" in notes


def test_records_are_read_as_those_of_a_file() -> None:
    record = {"conversation_id": "a", "user_id": "u", "messages": CHAT, "ratings": {"helpfulness": 4}, "x": 1}
    (whole,), _, notes = read([record])
    assert (whole.id, whole.user_id, dict(whole.metadata)) == ("a", "u", {"x": 1})
    assert [(r.dimension, r.score) for r in whole.ratings] == [("helpfulness", 4)]
    assert notes == ["1 record read as openai"]


def test_other_formats_are_recognised_and_forced() -> None:
    shared = {"id": "s", "conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}
    assert read([shared])[0][0].messages[1] == Message("assistant", "b")
    assert read([shared], format="sharegpt")[0][0].id == "s"
    with pytest.raises(UsageError, match="unknown format"):
        read([shared], format="nope")


def test_conversations_are_taken_as_they_are() -> None:
    original = replace(talk("u: a", "a: b", id="x"), metadata={"k": [1]})
    (whole,), _, notes = read([original])
    assert whole == original
    assert conversation_record(whole) == conversation_record(original)
    assert notes == []


class Said:
    """As a client's library hands out messages."""

    def __init__(self, role: str, content: str) -> None:
        self._fields = {"role": role, "content": content}

    def model_dump(self, *, exclude_none: bool) -> dict[str, str]:
        assert exclude_none
        return self._fields


def test_messages_of_a_client_are_read() -> None:
    (whole,), _, _ = read(
        [{"messages": [{"role": "user", "content": "When?"}, Said("assistant", "At nine.")]}]
    )
    assert whole.messages == MESSAGES


def test_what_cannot_be_read_names_its_position_and_the_rest_is_read() -> None:
    conversations, faults, _ = read(
        [
            CHAT,
            [{"role": "cat", "content": "a"}],
            {"messages": []},
            {"messages": [{"role": "user", "content": {1, 2}}]},
            5,
            {"id": "a", "messages": CHAT, "metadata": {"at": datetime.date(2024, 1, 2)}},
            {"id": "a", "messages": CHAT},
            {"id": "\ud800", "messages": CHAT},
            Conversation("", MESSAGES),
            Conversation("b", ()),
            Conversation("c", (Message("bot", "x"),)),  # type: ignore[arg-type]
            Conversation("d", ("x",)),  # type: ignore[arg-type]
            RecordFault("read elsewhere"),
        ]
    )
    assert [(c.id, len(c.messages)) for c in conversations] == [("0", 2), ("2", 0), ("a", 2), ("b", 0)]
    assert conversations[2].metadata == {"at": "2024-01-02"}
    starts = [f"source[{i}]" for i in (1, 3, 4, 6, 7, 8, 10, 11)]
    assert [f.split(":")[0].split(",")[0] for f in faults] == [*starts, "read elsewhere"]
    assert "message 1 has the unknown role 'cat'" in faults[0]
    assert "set is no JSON value" in faults[1]
    assert "seen before, at source[5]" in faults[3]


def test_deep_records_are_refused() -> None:
    deep: Any = CHAT
    for _ in range(120):
        deep = [deep]
    _, faults, _ = read([CHAT, {"messages": CHAT, "x": deep}, {"messages": CHAT, "x": (loop := [])}])
    assert len(faults) == 1
    loop.append(loop)
    assert "source[1]" in read([CHAT, {"messages": CHAT, "x": loop}])[1][0]


@pytest.mark.parametrize("source", [[1, 2], ["text"], [{"a": 1}], [None]])
def test_a_source_of_no_known_form_is_refused(source: Any) -> None:
    with pytest.raises(RecordFault, match=r"source\[0\]: unknown format"):
        memory_conversations(source)


def test_a_record_that_no_file_can_hold_is_said_to_be_that() -> None:
    with pytest.raises(RecordFault, match=r"source\[0\]: this cannot be written as JSON: object is no JSON"):
        memory_conversations([{"messages": CHAT, "metadata": {"client": object()}}])


def test_an_empty_source_is_refused() -> None:
    with pytest.raises(InputError, match="is empty"):
        memory_conversations([])


def test_strict_raises_the_first_fault_and_assumption() -> None:
    fine = {"id": "a", "messages": CHAT}
    assert len(read([fine], strict=True)[0]) == 1
    with pytest.raises(RecordFault, match="unknown role"):
        read([fine, {"id": "b", "messages": [{"role": "x", "content": ""}]}], strict=True)
    with pytest.raises(RecordFault, match="no id"):
        read([CHAT], strict=True)


def test_reading_again_gives_the_same() -> None:
    reader = memory_conversations([CHAT, CHAT])
    assert list(reader) == list(reader)
    assert reader.count() == 2
    assert [n.count for n in reader.notes] == [2, 2]


@dataclass
class Frame:
    """What pandas offers of a DataFrame, as far as we ask."""

    rows: Sequence[dict[str, Any]]

    @property
    def columns(self) -> list[str]:
        return list(self.rows[0])

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return list(self.rows)


NAN = float("nan")


def said(conversation: str, role: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"conversation_id": conversation, "role": role, "content": text, **more}


def test_a_table_with_a_message_a_row() -> None:
    frame = Frame(
        [
            said("a", "user", "When?", turn=1.0, user_id="u1", satisfaction=NAN),
            said("b", "user", "Where?", turn=1.0, user_id="u2", satisfaction=NAN),
            said("a", "assistant", "At nine.", turn=1.0, user_id="u1", satisfaction=4.0),
            said("b", "assistant", "Here.", turn=1.0, user_id="u2", satisfaction=None),
        ]
    )
    assert is_table(frame)
    (a, b), faults, notes = read(frame)
    assert faults == []
    assert (a.id, a.user_id, a.messages) == ("a", "u1", MESSAGES)
    assert [(r.dimension, r.score, r.turn) for r in a.ratings] == [("satisfaction", 4, 1)]
    assert (b.id, b.ratings) == ("b", ())
    (note,) = notes
    assert "rows of one conversation apart: put together by 'conversation_id'" in note


def test_a_row_that_is_no_message_spoils_its_conversation_alone() -> None:
    conversations, faults, _ = read(Frame([said("a", "bottle", "x"), said("b", "user", "y")]))
    assert [c.id for c in conversations] == ["b"]
    assert faults[0].startswith("DataFrame:0, conversation 'a': message 1 has the unknown role")


def test_a_table_needs_text_and_columns() -> None:
    with pytest.raises(RecordFault, match="DataFrame:1: column 'content' holds 5: not a text"):
        read(Frame([said("a", "user", "x"), said("a", "assistant", 5)]))
    with pytest.raises(InputError, match="no column for the role or for the content"):
        read(Frame([{"id": "a", "text": "x"}]))
    mapped = Frame([{"id": "a", "who": "user", "says": "x"}])
    assert read(mapped, mapping=FieldMap(role="who", content="says"))[0][0].messages == (
        Message("user", "x"),
    )


def test_a_table_with_a_conversation_a_row() -> None:
    import numpy as np

    as_parquet = np.array(CHAT, dtype=object)
    frame = Frame(
        [
            {"conversation_id": "a", "messages": CHAT, "scenario": "trip", "score": np.float32(0.5)},
            {"conversation_id": "b", "messages": as_parquet, "scenario": NAN, "score": np.float64("nan")},
        ]
    )
    (a, b), faults, _ = read(frame)
    assert faults == []
    assert (a.scenario, a.metadata) == ("trip", {"score": 0.5})
    assert (b.id, b.scenario, b.messages, b.metadata) == ("b", None, MESSAGES, {})


ROWS = [said("a", "user", "When?"), said("a", "assistant", "At nine.")]


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert read(pandas.DataFrame(ROWS))[0][0].messages == MESSAGES
    frame = pandas.DataFrame({"conversation_id": ["a"], "messages": [CHAT], "user_id": [None]})
    assert read(frame)[0][0].messages == MESSAGES


def test_polars() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert read(polars.DataFrame(ROWS))[0][0].messages == MESSAGES
    frame = polars.DataFrame({"conversation_id": ["a"], "messages": [CHAT], "user_id": [None]})
    assert read(frame)[0][0].messages == MESSAGES


def test_the_same_conversation_twice_is_a_fault() -> None:
    one = Conversation("a", MESSAGES, place=Place("log.jsonl", 1))
    conversations, faults, _ = read([one, one])
    assert [c.id for c in conversations] == ["a"]
    assert ["the id was seen before" in str(fault) for fault in faults] == [True]


def test_a_truth_value_in_a_column_of_ratings_is_a_thumb() -> None:
    import numpy as np

    for true, false in ((True, False), (np.True_, np.False_)):
        rows = [said("a", "user", "x"), {**said("a", "assistant", "x"), "satisfaction": true}]
        rows += [said("b", "user", "x"), {**said("b", "assistant", "x"), "satisfaction": false}]
        ratings = [
            c.ratings[0].score for c in read(Frame([{"satisfaction": None, **row} for row in rows]))[0]
        ]
        assert list(map(thumb_of, ratings)) == ["up", "down"]
    rows = [{**said("a", "user", "x"), "seen": True}]
    assert read(Frame(rows))[0][0].messages[0].extra == {"seen": "True"}


def test_scores_of_ratings_are_those_that_a_file_could_hold() -> None:
    import numpy as np

    def rated(*scores: Any) -> Conversation:
        return Conversation("a", MESSAGES, ratings=tuple(Rating("a", "help", score, 1) for score in scores))

    scores = [
        r.score for r in read([rated(4.0, "5", " up ", True, np.int64(2), np.float64(2.5))])[0][0].ratings
    ]
    assert scores == [4, 5, "up", "true", 2, 2.5]
    for score, why in (
        (float("nan"), "the score is nan"),
        (float("inf"), "the score is inf"),
        (1e70, "too large"),
        (None, "the score is missing"),
        ("", "the score is missing"),
        ([1], "neither a number nor a category"),
        (object(), "cannot be written as JSON"),
    ):
        conversations, faults, _ = read([rated(score), Conversation("b", MESSAGES)])
        assert ([c.id for c in conversations], len(faults)) == (["b"], 1)
        assert why in faults[0]
        assert "source[0]" in faults[0]
    rows = replace(rated(), ratings=({"dimension": "help", "score": 4},))
    assert "not a Rating" in read([rows])[1][0]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("turn", "two", "the turn is 'two'"),
        ("turn", 1.5, "the turn is 1.5"),
        ("turn", -1, "the turn is -1"),
        ("dimension", "", "the dimension ''"),
        ("dimension", None, "the dimension None"),
        ("conversation_id", "b", "a rating is for conversation 'b'"),
    ],
)
def test_ratings_in_memory_are_checked_as_rows_of_a_file(field: str, value: Any, why: str) -> None:
    rating = replace(Rating("a", "help", 4, 1), **{field: value})
    conversations, faults, _ = read(
        [Conversation("a", MESSAGES, ratings=(rating,)), Conversation("b", MESSAGES)]
    )
    assert ([c.id for c in conversations], len(faults)) == (["b"], 1)
    assert why in faults[0]


def test_a_rating_of_a_turn_that_is_not_there_is_said() -> None:
    place = Place("ratings.csv", 3, "a", 1)
    ratings = Rating("a", "help", 4, "1", 7, place=place), Rating("a", "help", 2, 2), Rating("a", "help", 5)
    (conversation,), faults, notes = read([Conversation("a", MESSAGES, ratings=ratings)])
    assert conversation.ratings == (Rating("a", "help", 4, 1, "7"), *ratings[1:])
    assert conversation.ratings[0].place == place
    assert faults == []
    assert "1 conversation has a rated turn that is not there: the rating is not used" in notes[-1]
    with pytest.raises(RecordFault, match="a rated turn that is not there"):
        read([Conversation("a", MESSAGES, ratings=ratings)], strict=True)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("user_id", 5, "its user_id is 5, not a text"),
        ("scenario", ["a"], "its scenario is a list, not a text"),
        ("metadata", [1], "its metadata is a list, not an object"),
        ("profile", "kind", "its profile is 'kind', not an object"),
        ("ratings", None, "its ratings are None: not a tuple"),
        ("messages", "When?", "its messages are 'When?': not a tuple"),
        ("messages", (Message("user", 5), MESSAGES[1]), "its messages[0].content is 5, not a text"),
        ("messages", (Message("user", [1]), MESSAGES[1]), "its messages[0].content[0] is 1, not an object"),
        (
            "messages",
            (*MESSAGES, Message("assistant", None, (ToolCall("1", "f", {"a": 1}),))),
            "its messages[2].tool_calls[0].arguments is an object, not a text",
        ),
    ],
)
def test_conversations_in_memory_are_what_they_are_declared_to_be(field: str, value: Any, why: str) -> None:
    bad = replace(Conversation("a", MESSAGES), **{field: value})
    conversations, faults, _ = read([bad, Conversation("b", MESSAGES)])
    assert ([c.id for c in conversations], len(faults)) == (["b"], 1)
    assert why in faults[0]


def spans(*asked: str) -> list[dict[str, Any]]:
    return [
        {
            "context.trace_id": f"t{n}",
            "context.span_id": f"s{n}",
            "parent_id": None,
            "name": "chat",
            "span_kind": "LLM",
            "start_time": datetime.datetime(2026, 5, 4, 10, n, tzinfo=datetime.UTC),
            "attributes.session.id": "a",
            "attributes.llm.input_messages": [{"message.role": "user", "message.content": text}],
            "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": f"{text}!"}],
        }
        for n, text in enumerate(asked)
    ]


def test_spans_are_put_together_as_those_of_a_file() -> None:
    late, early = spans("when", "where")[::-1]
    (whole,), faults, notes = read([late, None, object(), early])
    assert [m.text for m in whole.messages] == ["when", "when!", "where", "where!"]
    assert (whole.id, whole.metadata["traces"]) == ("a", ["t0", "t1"])
    assert any("source[1]: the record is None: no span" in fault for fault in faults)
    assert any("source[2]: this cannot be written as JSON" in fault for fault in faults)
    assert "4 records read as phoenix" in notes
    assert memory_conversations([late, early]).count() == 1


def test_a_data_frame_of_spans() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(spans("when", "where")).set_index("context.span_id")
    (whole,), faults, _ = read(frame)
    assert [m.text for m in whole.messages] == ["when", "when!", "where", "where!"]
    assert faults == []


def test_what_clients_write_themselves_as_json() -> None:
    class Span:
        def __init__(self, span: dict[str, Any]) -> None:
            self.span = span

        def to_json(self) -> str:
            return json.dumps(self.span, default=str)

    (whole,), _, _ = read([Span(one) for one in spans("when", "where")])
    assert len(whole.messages) == 4


def test_a_list_of_other_records_that_belong_together() -> None:
    rows = [{"session_id": "a", **message, "n": n} for n, message in enumerate(CHAT)]
    assert read([{"data": rows, "page": 1}])[0][0].messages[0].text == "When?"
    with pytest.raises(FileFault, match="the format phoenix has an order of its own"):
        memory_conversations(spans("when"), mapping=FieldMap(order_by="start_time"))
