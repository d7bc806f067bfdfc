"""Logs of dialogues about tasks, with feedback by round: the published rows of MemoryBench, read and written.

    {"test_idx": 7, "dataset_name": "JRE-L", "lang": "en", "input_prompt": "...", "info": {},
     "dialog": [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}],
     "implicit_feedback": [{"round": 1, "implicit_actions": ["like"], "satisfaction_score": 9,
     "terminated": true}]}

Under `dialog_bm25` and `implicit_feedback_bm25` stands what the system `bm25` said. Released rows have one
`implicit_action` and no score; we write the other shape, which the programs of MemoryBench read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, UsageError, shown_path
from dialogauge.core.json_keys import as_json, keys
from dialogauge.data.notes import excerpt
from dialogauge.data.tasks.datasets import PublicRow, plain, published_task
from dialogauge.data.tasks.reading import public_rows
from dialogauge.data.tasks.record import TaskRecord, fail, is_message
from dialogauge.stats.actions import distribution_of

ACTIONS: Final = ("like", "dislike", "copy")
_ROW: Final = 'a row has test_idx, dataset_name and dialog, or messages: [{"role": "user", "content": "..."}]'
_FEEDBACK: Final = "implicit_feedback"
_SCORES: Final = ("score", "satisfaction_score")
_NUMBERS: Final = frozenset(map(str, range(100)))
"""Keys of an object of shares; those that are no scores are faults."""
_SCORED: Final = 'write a score a line, {"score": 7}, rows of logs, or shares alone: {"9": 0.565, "3": 0.433}'


@keys(actions="implicit_actions", score="satisfaction_score", ended="terminated")
@dataclass(frozen=True)
class RoundFeedback:
    """What a user did about one reply."""

    round: int
    """Of the reply, from 1."""
    actions: tuple[str, ...] = ()
    """Of `ACTIONS`, each once; empty where the user did nothing."""
    score: int | None = None
    """Satisfaction, 1 to 10; None where the log does not say."""
    ended: bool = False
    """Whether the user ended the dialogue there."""


@dataclass(frozen=True, slots=True)
class LoggedDialogue:
    """A dialogue about a task, and what its user did in it."""

    conversation: Conversation
    """`metadata` has `dataset` and `task`, the id of the task; `candidate` is the system that answered."""
    feedback: tuple[RoundFeedback, ...] = ()
    """By round; rounds without any are left out, mostly the last."""


def read_logs(*paths: str) -> tuple[LoggedDialogue, ...]:
    """Read dialogues from rows of MemoryBench, and from OpenAI messages, mostly without feedback.

    The files are as `read_tasks` takes them.

    Raises:
        FileFault: A file cannot be read.
        RecordFault: A row has no dialogue, or feedback that cannot be; an id is there twice.
    """
    dialogues: dict[str, LoggedDialogue] = {}
    for row in public_rows(paths):
        for one in _dialogues(row):
            if (id := one.conversation.id) in dialogues:
                fail(f"the dialogue {id!r} is there twice", row.place, "leave one of them out")
            dialogues[id] = one
    return tuple(dialogues.values())


def read_scores(path: str) -> tuple[dict[int, float], int]:
    """Read satisfaction scores: the share of each, and how many there are; 0 where shares were given.

    A file holds scores from 1 to 10, one a line or in objects as `score` or `satisfaction_score`; rows of
    logs, of which all rounds count; or one object of shares, whatever they sum to.

    Raises:
        FileFault: The file cannot be read.
        RecordFault: A line is none of these, or a score or share that cannot be.
        UsageError: There is no score.
    """
    scores, shares = list[int](), dict[int, float]()
    for row in public_rows([path], bare=_SCORES[0]):
        value, place = row.value, row.place
        stated = bool(value) and value.keys() <= _NUMBERS
        if shares or (stated and scores):
            fail("shares of scores stand beside something else", place, "give them alone in their file")
        if stated:
            shares = {_score(int(key), "a share", place): share for key, share in value.items()}
            if odd := [share for share in shares.values() if type(share) not in (int, float) or share < 0]:
                fail(f"a score has the share {excerpt(odd[0])}", place, "shares are numbers, at least 0")
        elif key := next((key for key in _SCORES if key in value), None):
            scores.append(_score(plain(value[key]), "this line", place))
        elif "messages" in value or "test_idx" in value:
            scores += [f.score for one in _dialogues(row) for f in one.feedback if f.score is not None]
        else:
            fail("this holds no score", place, _SCORED)
    if not scores and not shares:
        msg = f"{shown_path(path)} holds no satisfaction score"
        raise UsageError(msg, hint=f"{_SCORED}; released rows of MemoryBench have none")
    return shares or distribution_of(scores), len(scores)


def log_lines(dialogues: Iterable[LoggedDialogue], tasks: Mapping[str, TaskRecord]) -> Iterator[bytes]:
    """Yield dialogues as rows of JSON, one for each task, from which `read_logs` takes the same.

    The metadata of a dialogue name its task; of `tasks`, by id, come questions and gold.
    """
    rows: dict[str, dict[str, Any]] = {}
    for one in dialogues:
        id, system = one.conversation.metadata["task"], one.conversation.candidate
        end = f"_{system}" if system else ""
        row = rows.setdefault(id, {"test_idx": len(rows), "task_id": id, **_question(tasks[id])})
        row[f"dialog{end}"] = [m.to_request() for m in one.conversation.messages]
        row[f"implicit_feedback{end}"] = as_json(one.feedback)
    yield from (f"{json.dumps(row, ensure_ascii=False)}\n".encode() for row in rows.values())


def _question(task: TaskRecord) -> dict[str, Any]:
    bare = len(task.messages) == 1
    question = task.question if bare else [m.to_request() for m in task.messages]
    key = "input_prompt" if bare else "input_chat_messages"
    return {"dataset_name": task.dataset, "lang": task.language, key: question, "info": dict(task.gold)}


def _dialogues(row: PublicRow) -> Iterator[LoggedDialogue]:
    get, place = row.value.get, row.place
    talks = [key for key, value in row.value.items() if f"{key}_".startswith("dialog_") and value]
    own = ["messages"] if "messages" in row.value else []
    for key in (key for key in row.value if f"{key}_".startswith(f"{_FEEDBACK}_") and plain(get(key))):
        of = f"dialog{key.removeprefix(_FEEDBACK)}"
        if of not in talks and not (own and key == _FEEDBACK):
            hint = f"put {of} beside it; this row has {', '.join(talks + own) or 'no dialogue'}"
            fail(f"{key} is feedback on a dialogue that is not there", place, hint)
    if own:
        id, messages = str(get("id") or f"{row.stem}:{row.number + 1}"), _messages(get("messages"), place)
        feedback = _rounds(get(_FEEDBACK), messages, place)
        yield LoggedDialogue(Conversation(id, messages, place=place), feedback)
        return
    name, index = get("dataset_name"), get("test_idx")
    if not isinstance(name, str) or not isinstance(index, int):
        fail("dataset_name or test_idx is missing", place, _ROW)
    dataset, task = published_task(name, index)
    about = {"dataset": dataset, "task": str(get("task_id") or task)}
    language = str(get("lang")) if get("lang") else None
    for key in talks:
        messages, system = _messages(plain(get(key)), place), key[7:]
        id = "/".join(filter(None, (about["task"], system)))
        feedback = _rounds(get(f"{_FEEDBACK}{key[6:]}"), messages, place)
        talk = Conversation(
            id, messages, candidate=system or None, language=language, metadata=about, place=place
        )
        yield LoggedDialogue(talk, feedback)


def _messages(value: object, place: Place) -> tuple[Message, ...]:
    if not isinstance(value, list) or not value or not all(map(is_message, value)):
        fail("a dialogue is no list of messages with role and content", place, _ROW)
    return tuple(Message(m["role"], m["content"]) for m in value)


def _rounds(value: object, messages: Sequence[Message], place: Place) -> tuple[RoundFeedback, ...]:
    """Return feedback by round, of either shape; raises `RecordFault` for what cannot be."""
    value, replies = plain(value or []), sum(m.role == "assistant" for m in messages)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        fail("implicit_feedback is no list of JSON objects", place, _ROW)
    rounds: dict[int, RoundFeedback] = {}
    for one in value:
        number, score = one.get("round"), one.get("satisfaction_score")
        actions = one.get("implicit_actions", [one.get("implicit_action")])
        if type(number) is not int or not 1 <= number <= replies or number in rounds:
            hint = f"rounds count from 1, each is there once, and this dialogue has {replies}"
            fail(f"feedback on round {excerpt(number)}", place, hint)
        if not isinstance(actions, list) or not all(a in (*ACTIONS, "none", None) for a in actions):
            hint = f"known are {', '.join(ACTIONS)} and none"
            fail(f"round {number} has the action {excerpt(actions)}", place, hint)
        if score is not None:
            _score(score, f"round {number}", place)
        taken = tuple(action for action in ACTIONS if action in actions)
        rounds[number] = RoundFeedback(number, taken, score, bool(one.get("terminated")))
    return tuple(rounds[number] for number in sorted(rounds))


def _score(score: object, whose: str, place: Place) -> int:
    if isinstance(score, bool) or not isinstance(score, int) or not 1 <= score <= 10:
        fail(f"{whose} has the score {excerpt(score)}", place, "scores are whole, from 1 to 10")
    return score
