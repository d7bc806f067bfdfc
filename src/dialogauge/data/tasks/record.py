"""One task is a record of a JSONL file: a question, what is known of its answer, and a corpus to read before.

    {"id": "family-1", "dataset": "family", "q": "When did Ann move?", "v": {"answer": "9 May 2024",
     "category": 2, "evidence": ["D1:3"]}, "c": "family"}

and a corpus is one too, in the same file or another:

    {"corpus_id": "family", "sessions": [{"session": 1, "date_time": "10 May 2024", "messages": [
     {"id": "D1:3", "speaker": "Ann", "text": "I moved here yesterday."}]}]}

Source: MemoryBench, section 3 (q, v, c).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from dialogauge.core import Conversation, FileFault, Message, Place, RecordFault
from dialogauge.core.files import read_text, shown_path

_FORM: Final = (
    'a task has id, dataset and q: {"id": "1", "dataset": "mine", "q": "...", "v": {"answer": "..."}}'
)
_CORPUS: Final = (
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
    """What metrics need: `answer`, `category`, `evidence` (ids of messages), `checklist`, `criteria` ..."""
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


def read_tasks(*paths: str) -> TaskFile:
    """Read files of tasks and corpora, JSON objects a line; a folder stands for its `.jsonl` files.

    Raises:
        FileFault: A file cannot be read, or there is no task in any.
        RecordFault: A record lacks something, an id is there twice, or a task names a corpus that is nowhere.
    """
    tasks: dict[str, TaskRecord] = {}
    corpora: dict[str, tuple[Conversation, ...]] = {}
    for place, value in _records(paths):
        if "sessions" in value or "corpus_id" in value:
            name, sessions = _corpus(value, place)
            if name in corpora:
                _fail(f"the corpus {name!r} is there twice", place, "every corpus has an id of its own")
            corpora[name] = sessions
        else:
            task = _task(value, place)
            if task.id in tasks:
                _fail(f"the task {task.id!r} is there twice", place, "every task has an id of its own")
            tasks[task.id] = task
    if not tasks:
        msg = "there is no task"
        raise FileFault(msg, place=Place(shown_path(paths[0])) if paths else None, hint=_FORM)
    known = {name: {m.extra.get("id") for s in of for m in s.messages} for name, of in corpora.items()}
    unknown = {}
    for task in tasks.values():
        if task.corpus is not None and task.corpus not in corpora:
            msg = f"the task {task.id!r} is about the corpus {task.corpus!r}, which no file holds"
            _fail(msg, task.place, "give the file of the corpora too")
        if missing := tuple(id for id in task.evidence if id not in known.get(task.corpus or "", ())):
            unknown[task.id] = missing
    return TaskFile(tuple(tasks.values()), corpora, sum(not t.gold for t in tasks.values()), unknown)


def _records(paths: Sequence[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield each record with its place."""
    for path in paths:
        files = sorted(Path(path).glob("*.jsonl")) if Path(path).is_dir() else [Path(path)]
        for file in files:
            name = shown_path(str(file))
            for number, line in enumerate(read_text(file, "file of tasks", FileFault).splitlines(), 1):
                if not line.strip():
                    continue
                place = Place(name, number)
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    _fail(f"this is no JSON: {error}", place, _FORM)
                if not isinstance(value, dict):
                    _fail("this is no JSON object", place, _FORM)
                yield place, value


def _task(value: Mapping[str, Any], place: Place) -> TaskRecord:
    for key in ("id", "dataset"):
        if not isinstance(value.get(key), str) or not value[key].strip():
            _fail(f"{key} is missing, or no text", place, _FORM)
    q, gold, corpus = value.get("q"), value.get("v"), value.get("c")
    if isinstance(q, str) and q.strip():
        messages: tuple[Message, ...] = (Message("user", q),)
    elif isinstance(q, list) and q and all(_is_message(m) for m in q):
        messages = tuple(Message(m["role"], m["content"]) for m in q)
    else:
        _fail(f"the task {value['id']!r}: q is neither a text nor a list of messages", place, _FORM)
    if gold is not None and not isinstance(gold, dict):
        _fail(f"the task {value['id']!r}: v is no JSON object", place, _FORM)
    if not isinstance((gold or {}).get("evidence") or [], list):
        _fail(f"the task {value['id']!r}: evidence is no list of ids", place, _FORM)
    meta = value["meta"] if isinstance(value.get("meta"), dict) else {}
    group = meta.get("domain1") or meta.get("category")
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


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.get("role") in ("system", "user", "assistant")
        and isinstance(value.get("content"), str)
    )


def _corpus(value: Mapping[str, Any], place: Place) -> tuple[str, tuple[Conversation, ...]]:
    name, sessions = value.get("corpus_id"), value.get("sessions")
    if not isinstance(name, str) or not isinstance(sessions, list):
        _fail("corpus_id or sessions is missing", place, _CORPUS)
    return name, tuple(_session(name, s, n, place) for n, s in enumerate(sessions, 1))


def _session(corpus: str, value: object, number: int, place: Place) -> Conversation:
    """Return a session; whoever speaks first stands where the user stands."""
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(messages, list):
        _fail(f"session {number} of {corpus!r} has no list of messages", place, _CORPUS)
    lines, first = [], None
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("text"), str):
            _fail(f"a message of session {number} of {corpus!r} has no text", place, _CORPUS)
        speaker = str(message.get("speaker") or "user")
        first = first or speaker
        extra = {"id": str(message["id"])} if message.get("id") else {}
        lines.append(
            Message("user" if speaker == first else "assistant", message["text"], name=speaker, extra=extra)
        )
    date = value.get("date_time")
    metadata = {"date": str(date)} if date else {}
    return Conversation(f"{corpus}/D{value.get('session', number)}", tuple(lines), metadata=metadata)


def _fail(message: str, place: Place | None, hint: str) -> NoReturn:
    raise RecordFault(message, place=place, hint=hint)
