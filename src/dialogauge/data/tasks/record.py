"""One task is a record of a JSONL file: a question, what is known of its answer, and a corpus to read before.

    {"id": "family-1", "dataset": "family", "q": "When did Ann move?", "v": {"answer": "9 May 2024",
     "category": 2, "evidence": ["D1:3"]}, "c": "family"}

and a corpus is one too, in the same file or another:

    {"corpus_id": "family", "sessions": [{"session": 1, "date_time": "10 May 2024", "messages": [
     {"id": "D1:3", "speaker": "Ann", "text": "I moved here yesterday."}]}]}

Source: MemoryBench, section 3 (q, v, c).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeVar

from dialogauge.core import Conversation, Message, Place, RecordFault

T = TypeVar("T")

TASK_FORM: Final = (
    'a task has id, dataset and q: {"id": "1", "dataset": "mine", "q": "...", "v": {"answer": "..."}}'
)
CORPUS_FORM: Final = (
    'a corpus has corpus_id and sessions: {"corpus_id": "c", "sessions": [{"session": 1, "messages": '
    '[{"id": "D1:1", "speaker": "Ann", "text": "..."}]}]}'
)


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A question to an assistant (q), what its answer is held against (v), and what it may have read (c)."""

    id: str
    dataset: str
    messages: tuple[Message, ...]
    """The question as OpenAI messages; mostly one of the user."""
    gold: Mapping[str, Any] = field(default_factory=dict)
    """What metrics need: `answer`, `variants` (that are as right), `category`, `evidence` (ids of messages),
    `checklist`, `criteria` ..."""
    corpus: str | None = None
    """The id of the corpus that the question is about."""
    language: str = "en"
    domain: str | None = None
    """`Open`, `Legal`, `Academic`."""
    form: str | None = None
    """`LiSo`, `SiLo`, `LiLo`, `SiSo`: long or short input, long or short output."""
    group: str | None = None
    """What samples are stratified by, where the data has something: a source domain."""
    place: Place | None = None

    @property
    def question(self) -> str:
        """The last user message."""
        return next((m.text for m in reversed(self.messages) if m.role == "user"), "")

    @property
    def evidence(self) -> tuple[str, ...]:
        """Ids of the messages that hold the answer; none where the data does not say."""
        return tuple(map(str, self.gold.get("evidence") or ()))


@dataclass(frozen=True, slots=True)
class TaskFile:
    """What files of tasks hold."""

    tasks: tuple[TaskRecord, ...]
    """In the order of the files."""
    corpora: Mapping[str, tuple[Conversation, ...]]
    """By id, the sessions in their order. Messages have `extra["id"]`, sessions `metadata["date"]`."""
    without_gold: int
    """Tasks without anything to hold an answer against."""
    unknown_evidence: Mapping[str, tuple[str, ...]]
    """By task, ids of evidence that its corpus does not have: they are left out of recall."""
    empty: tuple[str, ...] = ()
    """Corpora in which nobody says anything."""
    without_question: int = 0
    """Tasks with `"q": null`, left out: their question is to be made of what is not in the file."""


def task_of(value: Mapping[str, Any], place: Place) -> TaskRecord:
    """Return the task that a JSON object states; raises `RecordFault` where it states none."""
    for key in ("id", "dataset"):
        if not isinstance(value.get(key), str) or not value[key].strip():
            fail(f"{key} is missing, or no text", place, TASK_FORM)
    q, gold, corpus = value.get("q"), value.get("v"), value.get("c")
    if isinstance(q, str) and q.strip():
        messages: tuple[Message, ...] = (Message("user", q),)
    elif isinstance(q, list) and q and all(is_message(m) for m in q):
        messages = tuple(Message(m["role"], m["content"]) for m in q)
    else:
        fail(f"the task {value['id']!r}: q is neither a text nor a list of messages", place, TASK_FORM)
    if gold is not None and not isinstance(gold, dict):
        fail(f"the task {value['id']!r}: v is no JSON object", place, TASK_FORM)
    if not isinstance((gold or {}).get("evidence") or [], list):
        fail(f"the task {value['id']!r}: evidence is no list of ids", place, TASK_FORM)
    variants = (gold or {}).get("variants") or []
    if not isinstance(variants, list) or not all(isinstance(one, str) for one in variants):
        fail(f"the task {value['id']!r}: variants is no list of texts", place, TASK_FORM)
    for key in ("answer", "golden_answer", "category"):
        if isinstance((gold or {}).get(key), list | dict):
            fail(f"the task {value['id']!r}: {key} is neither a text nor a number", place, TASK_FORM)
    meta = value["meta"] if isinstance(value.get("meta"), dict) else {}
    group = meta.get("domain1") or meta.get("source_file") or meta.get("category")
    domain, form = (str(value[key]) if value.get(key) else None for key in ("domain", "task"))
    return TaskRecord(
        value["id"],
        value["dataset"],
        messages,
        gold or {},
        None if corpus is None else str(corpus),
        str(value.get("lang") or "en"),
        domain,
        form,
        str(group) if group else None,
        place,
    )


def is_message(value: object) -> bool:
    """Say whether a JSON value is a message of a question or dialogue: role and text."""
    return (
        isinstance(value, dict)
        and value.get("role") in ("system", "user", "assistant")
        and isinstance(value.get("content"), str)
    )


def corpus_of(value: Mapping[str, Any], place: Place) -> tuple[str, tuple[Conversation, ...]]:
    """Return the id and the sessions of a corpus, as `task_of` returns a task."""
    name, sessions = value.get("corpus_id"), value.get("sessions")
    if not isinstance(name, str) or not isinstance(sessions, list):
        fail("corpus_id or sessions is missing", place, CORPUS_FORM)
    read = tuple(_session(name, s, n, place) for n, s in enumerate(sessions, 1))
    if len(twice := [s.id for s in read]) != len(set(twice)):
        id = next(id for n, id in enumerate(twice) if id in twice[:n])
        fail(f"the session {id!r} is there twice", place, "every session of a corpus has a number of its own")
    return name, read


def _session(corpus: str, value: object, number: int, place: Place) -> Conversation:
    """Return a session; whoever speaks first stands where the user stands, but for one named assistant."""
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(messages, list):
        fail(f"session {number} of {corpus!r} has no list of messages", place, CORPUS_FORM)
    lines, first = [], None
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("text"), str):
            fail(f"a message of session {number} of {corpus!r} has no text", place, CORPUS_FORM)
        speaker = str(message.get("speaker") or "user")
        first = first or ("user" if speaker == "assistant" else speaker)
        extra = {"id": str(message["id"])} if message.get("id") else {}
        lines.append(
            Message("user" if speaker == first else "assistant", message["text"], name=speaker, extra=extra)
        )
    date = value.get("date_time")
    metadata = {"date": str(date)} if date else {}
    return Conversation(f"{corpus}/D{value.get('session', number)}", tuple(lines), metadata=metadata)


def fail(message: str, place: Place | None, hint: str) -> NoReturn:
    """Raise the `RecordFault` of a record."""
    raise RecordFault(message, place=place, hint=hint)


def whole(outcome: T | RecordFault) -> T:
    """Return what a reader yields; raises a fault among it."""
    if isinstance(outcome, RecordFault):
        raise outcome
    return outcome
