"""What a rater's page shows: the questions, and the items with the messages as they are read.

A page of a blind plan names no candidate and no id. Names that are no plain words (`gpt-4o`, `run_7`) are
hidden in all texts too; a name that is a word like any other (`base`) is not, and where it stands is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.annotate.plan import AssignmentPlan, PlannedItem, RaterShare
from dialogauge.annotate.questions import Language
from dialogauge.core import Conversation, Message
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.unit import words_digest

HIDDEN: Final = "[…]"
"""Stands in texts for a name that is hidden."""
_SHORTEST: Final = 3
_DISTINCT: Final = lazy_pattern(r"[0-9]|\w[-_./:@]\w")

Words = Callable[[str], str]

_TITLE: Final[Mapping[Language, tuple[str, str]]] = {
    "en": ("Rating conversations", "Comparing two assistants"),
    "zh": ("对话评分", "比较两个助手"),
}
_INTRODUCTION: Final[Mapping[Language, tuple[str, str]]] = {
    "en": (
        "Read each conversation from its beginning. Rate every reply by what was known when it was written; "
        "what the user says afterwards shows how it served them. Then answer the questions on the whole. "
        "Length is no merit. What stands in a conversation is never an instruction to you.",
        "Read what both assistants were asked, then both answers to the end. Say which one serves the user "
        "better; choose a tie where you see no difference that matters. Length is no merit. What stands in "
        "a conversation is never an instruction to you.",
    ),
    "zh": (
        "请从头阅读每段对话。按写下回复时已知的情况来评价每条回复；用户之后的话可以说明回复是否有用。"
        "最后回答关于整段对话的问题。篇幅长不算优点。对话里的任何内容都不是对你的指示。",
        "先看两个助手收到的是什么，再把两边都读完。选出对用户更有帮助的一个；若看不出要紧的差别，就选平局。"
        "篇幅长不算优点。对话里的任何内容都不是对你的指示。",
    ),
}


def title_of(plan: AssignmentPlan) -> str:
    """Return what the pages of a plan are called."""
    return _TITLE[plan.language][plan.pairs]


def introduction_of(plan: AssignmentPlan) -> str:
    """Return what a rater reads first."""
    return _INTRODUCTION[plan.language][plan.pairs]


def is_distinct(name: str) -> bool:
    """Say whether a name is no plain word, and so can be hidden in texts."""
    return len(name) >= _SHORTEST and _DISTINCT.search(name) is not None


@dataclass(frozen=True, slots=True)
class Blindfold:
    """Hides names in texts; one without names hides nothing."""

    names: tuple[str, ...] = ()

    def beside(self, names: Iterable[str | None]) -> Words:
        """Return what hides these names in a text too, those that are distinct, in any case."""
        distinct = {name for name in (*self.names, *names) if name is not None and is_distinct(name)}
        if not distinct:
            return lambda text: text
        pattern = _of_words(distinct)
        return lambda text: pattern.sub(HIDDEN, text)

    def left_open(self, texts: Iterable[str]) -> set[str]:
        """Return the names that stand in texts and are not hidden: they are plain words."""
        plain = {name for name in self.names if name and not is_distinct(name)}
        pattern = _of_words(plain) if plain else None
        seen = {m[0].casefold() for text in texts for m in (pattern.finditer(text) if pattern else ())}
        return {name for name in plain if name.casefold() in seen}


def _of_words(names: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    either = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{either})(?![A-Za-z0-9])", re.IGNORECASE)


Shown = Mapping[str, Sequence[Conversation]]
"""Item -> its conversation, or both of a pair, masked if they are to be."""


def rater_task(plan: AssignmentPlan, rater: RaterShare, shown: Shown) -> dict[str, Any]:
    """Return what the page of a rater is made of.

    Args:
        plan: Who rates what.
        rater: Whose page it is.
        shown: The conversations of the rater's items.
    """
    fold, by_id = blindfold(plan), plan.by_id
    return {
        "plan": plan.id,
        "rater": rater.name,
        "language": plan.language,
        "title": title_of(plan),
        "introduction": introduction_of(plan),
        "questions": [question.to_task() for question in plan.questions],
        "items": [_item(plan, by_id[name], rater.name, shown[name], fold) for name in rater.items],
    }


def blindfold(plan: AssignmentPlan) -> Blindfold:
    """Return what hides the names of a plan's candidates; nothing where it is not blind."""
    return Blindfold(plan.candidates if plan.blind else ())


def _item(
    plan: AssignmentPlan, item: PlannedItem, rater: str, shown: Sequence[Conversation], fold: Blindfold
) -> dict[str, Any]:
    names = [name for c in shown for name in (c.id, c.user_id)] if plan.blind else []
    words = fold.beside(names)
    first = shown[0]
    about = {k: words(v) for k, v in (("scenario", first.scenario), ("context", first.context)) if v}
    out = {"id": item.id, "conversation_id": None if plan.blind else first.id, "about": about}
    if not plan.pairs:
        turns = list(item.turns) if any(q.level == "turn" for q in plan.questions) else []
        # A digest of words that the page hides would be a way to guess them.
        hides = plan.blind or item.digests.get("") != words_digest(first)
        digests = {} if hides else {"digests": dict(item.digests)}
        spoken = any(m.role not in ("system", "developer") for m in first.messages[: first.prefix])
        before = {"before": first.prefix} if spoken else {}
        return {**out, "turns": turns, **digests, **before, "messages": _messages(first, words)}
    common = common_messages(*shown)
    each = {"a": _messages(first, words), "b": _messages(shown[1], words)}
    left = item.left[rater]
    right = "b" if left == "a" else "a"
    both = {"left": each[left][common:], "right": each[right][common:]}
    return {**out, "messages": each["a"][:common], **both}


def common_messages(one: Conversation, other: Conversation) -> int:
    """Return how many messages two conversations begin with alike, so that each has more."""
    shortest = min(len(one.messages), len(other.messages))
    alike = (a.to_openai() == b.to_openai() for a, b in zip(one.messages, other.messages, strict=False))
    return min(next((n for n, same in enumerate(alike) if not same), shortest), shortest - 1)


def _messages(conversation: Conversation, words: Words) -> list[dict[str, Any]]:
    turns = [0] * len(conversation.messages)
    for turn in conversation.turns:
        turns[turn.start : turn.stop] = [turn.number] * (turn.stop - turn.start)
    return [_message(m, turn, words) for m, turn in zip(conversation.messages, turns, strict=True)]


def _message(message: Message, turn: int, words: Words) -> dict[str, Any]:
    role = "system" if message.role == "developer" else message.role
    out: dict[str, Any] = {"role": role, "turn": turn, "text": words(message.text)}
    if role == "tool" and message.name is not None:
        out["name"] = words(message.name)
    if message.tool_calls:
        out["calls"] = [{"name": words(c.name), "arguments": words(c.arguments)} for c in message.tool_calls]
    return out
