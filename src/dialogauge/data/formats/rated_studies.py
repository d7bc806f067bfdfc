"""Published studies in which people rated dialogues: USS, and the order of the files of RecLLMSim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dialogauge.core import Conversation, FileFault, Message, Place, Rating, RecordFault, Role
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.notes import LONGEST, MESSAGE, excerpt, record_fault, too_long
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream
from dialogauge.data.splits import message_turns

RECLLMSIM_TASKS = ("旅行规划", "礼物准备", "菜谱规划", "技能学习规划")
"""The four tasks in the order in which the published code reads them."""

_USER = lazy_pattern(r"User_\w+")


def reading_order(path: Path) -> tuple[str, str, int, str, int, str]:
    """Return the sort key of a file in a folder.

    In this layout: users in string order, tasks in their fixed order, files by number. Any other file: its
    path.
    """
    user, task, stem = path.parts[-3:] if len(path.parts) >= 3 else ("", "", path.name)
    number = stem.removesuffix(".gz").removesuffix(".json")
    if not (_USER.fullmatch(user) and number.isdigit()):
        return path.as_posix(), "", 0, "", 0, ""
    rank = RECLLMSIM_TASKS.index(task) if task in RECLLMSIM_TASKS else len(RECLLMSIM_TASKS)
    return path.parents[2].as_posix(), user, rank, task, int(number), stem


_DIMENSION = "satisfaction"
_ROLES: dict[str, Role] = {"USER": "user", "SYSTEM": "assistant"}
_OVERALL = "OVERALL"


@dataclass(slots=True)
class _UssSession:
    line: int
    size: int = 0
    """What it takes so far."""
    messages: list[Message] = field(default_factory=list)
    rated: list[tuple[int | None, list[float | str]]] = field(default_factory=list)
    """Index of the rated USER line among the messages (None: the conversation), and its scores."""
    fault: RecordFault | None = None


def _recognises_uss(sample: Sample) -> bool:
    """Say whether the first line, and most lines of the sample, have a role and two more columns."""
    fits = [line.count("\t") >= 2 and line.split("\t")[0] in _ROLES for line in sample.lines]
    return bool(fits) and fits[0] and sum(fits) * 2 > len(fits)


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    """Yield one conversation per block of lines."""
    number = 0
    session: _UssSession | None = None
    try:
        for line_number, line in stream.text():
            text = line.rstrip("\r\n")
            if text.strip():
                session = session or _UssSession(line_number)
                try:
                    _take(session, text, Place(context.source.name, line_number))
                except RecordFault as fault:
                    session.fault = session.fault or fault
            elif session is not None:
                number += 1
                yield _finish(session, number, context)
                session = None
    except FileFault:
        if session is not None:
            place = Place(context.source.name, session.line)
            yield record_fault(place, "the file breaks off within this session")
        raise
    if session is not None:
        yield _finish(session, number + 1, context)


def _take(session: _UssSession, line: str, place: Place) -> None:
    session.size += len(line) + MESSAGE
    if session.size > LONGEST:
        session.messages.clear()
        session.rated.clear()
        raise too_long(Place(place.file, session.line))
    columns = line.split("\t")
    role = _ROLES.get(columns[0])
    if role is None or len(columns) < 2:
        message = f"the line starts with {excerpt(columns[0])}"
        raise record_fault(place, message, "expected USER or SYSTEM, a tab, and the text")
    overall = role == "user" and columns[1] == _OVERALL
    if not overall:
        action = columns[2] if len(columns) > 2 else ""
        session.messages.append(Message(role, columns[1], extra={"action": action} if action else {}))
    ratings = columns[3].strip() if len(columns) > 3 else ""
    if ratings:
        scores = [score_at(place, f"ratings {excerpt(ratings)}", part) for part in ratings.split(",")]
        session.rated.append((None if overall else len(session.messages) - 1, scores))


def _finish(session: _UssSession, number: int, context: Context) -> Outcome:
    name = f"{context.source.label.removesuffix('.txt')}_{number}"
    place = Place(context.source.name, session.line, name)
    if session.fault is not None:
        return session.fault
    if not session.messages:
        return record_fault(place, "the conversation has no messages")
    turns = message_turns(session.messages)
    ratings: list[Rating] = []
    for index, scores in session.rated:
        turn = None if index is None else max(0, (turns[index] or 0) - 1)
        ratings += [
            Rating(name, _DIMENSION, score, turn, f"rater{column}")
            for column, score in enumerate(scores, start=1)
        ]
    context.notes.recognise("ids made from the file name and the number of the session", place)
    return Conversation(name, tuple(session.messages), ratings=tuple(ratings), place=place)


USS = TextFormat("uss", _recognises_uss, _read, json=False)
"""The text files of User Satisfaction Simulation: `ROLE TAB text TAB action TAB ratings`.

An empty line separates sessions. USER lines have ratings, one number per rater, separated by commas. A rater
scored the messages before that line, so a rating belongs to the turn before it; on the first line to turn 0.
`USER OVERALL` is no message: its ratings belong to the conversation.
"""
