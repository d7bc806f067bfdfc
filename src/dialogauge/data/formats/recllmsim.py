"""RecLLMSim's human conversations: `User_N/<task>/<k>.json`, one session a file.

Published turn ids are `{User_N}__{task}__{k}.json__turn_{i}` with the 0-based index of the assistant message.
Ours (by `message_turns`) differ from `i + 1` if the assistant speaks first or twice in a row.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dialogauge.core import Conversation, Message, Place, Rating
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import MESSAGE_KEYS, text_at
from dialogauge.data.formats.openai import MessageReader, Rated
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at
from dialogauge.data.splits import message_turns

RECLLMSIM_TASKS = ("旅行规划", "礼物准备", "菜谱规划", "技能学习规划")
"""The four tasks in the order in which the published code reads them."""

_LABELS = ("satisfaction", "hallucination")
_USED = frozenset({"history", "chat_model", "task_type", "task_context", "profile"})
_BOOKKEEPING = ("complete_tid",)
"""Keys of the profile about the survey's tasks, not about the user."""
_USER = re.compile(r"User_\w+")


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


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    return isinstance(record, dict) and isinstance(record.get("history"), list) and "task_context" in record


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or "history" not in record:
        raise fault_in(entry, f"the record is {excerpt(record)}: no session with a 'history'")
    conversation_id, user = _names(entry)
    reader = MessageReader(entry, label_keys=MESSAGE_KEYS | {"hallucination", "reason"})
    messages = reader.read(record["history"])
    context, (profile, bookkeeping) = record.get("task_context"), _profile(record)
    return Conversation(
        conversation_id,
        messages,
        user_id=user,
        scenario=text_at(record, "task_type"),
        context=context if isinstance(context, str) else None,
        profile=profile,
        candidate=text_at(record, "chat_model"),
        language="zh",
        ratings=(
            *_ratings(conversation_id, user, messages, reader.rated, entry),
            *_answers(conversation_id, user, record.get("questionnaire"), entry),
        ),
        metadata={key: value for key, value in record.items() if key not in _USED} | bookkeeping,
        place=Place(entry.place.file, entry.place.line, conversation_id),
    )


def _profile(record: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Separate the user's profile from the survey's bookkeeping, which no judge should read."""
    profile = record.get("profile")
    if not isinstance(profile, dict):
        return None, {}
    user = {key: value for key, value in profile.items() if key not in _BOOKKEEPING}
    return user, {key: profile[key] for key in _BOOKKEEPING if key in profile}


def _names(entry: Entry) -> tuple[str, str | None]:
    path = entry.context.source.path
    parts = path.resolve().parts[-3:] if path is not None else ()
    if len(parts) == 3 and _USER.fullmatch(parts[0]):
        return "__".join((*parts[:2], parts[2].removesuffix(".gz"))), parts[0]
    entry.assume("sessions are outside User_N/<task>/<k>.json: their ids are made from the file name")
    return entry.made_id, None


def _ratings(
    conversation_id: str, user: str | None, messages: tuple[Message, ...], rated: Rated, entry: Entry
) -> tuple[Rating, ...]:
    """Return every label of an assistant message as its user's rating of the turn."""
    turns = message_turns(messages)
    out: list[Rating] = []
    for index, labels in rated:
        for dimension in _LABELS if messages[index].role == "assistant" else ():
            if labels.get(dimension) is None:
                continue
            turn = turns[index]
            score = score_at(entry.place, f"turn {turn}, {dimension}", labels[dimension])
            reason = labels.get("reason") if dimension == "satisfaction" else None
            note = reason if reason is None or isinstance(reason, str) else excerpt(reason)
            out.append(Rating(conversation_id, dimension, score, turn, user, note=note))
    return tuple(out)


def _answers(conversation_id: str, user: str | None, questions: object, entry: Entry) -> list[Rating]:
    """Return the answers to the questionnaire as the user's ratings of the conversation, in its words."""
    out: list[Rating] = []
    for one in questions if isinstance(questions, list) else [] if questions is None else [questions]:
        name, option = (one.get("summary"), one.get("option")) if isinstance(one, dict) else (None, None)
        if isinstance(name, str) and name and isinstance(option, str) and option.strip():
            score = score_at(entry.place, f"questionnaire, {name}", option)
            out.append(Rating(conversation_id, name, score, None, user))
        else:
            entry.assume("answers to the questionnaire without a name or an option were left out")
    return out


RECLLMSIM = RecordFormat("recllmsim", _recognises, _convert)
