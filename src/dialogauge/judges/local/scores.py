"""From findings to whole-number scores: one table, the same for every dimension.

Certainty of a fault in a dimension (`dialogauge.signals.certainty`) -> score::

    below 0.40           5, or 4 where nothing speaks for the turn either
    0.40 to below 0.60   4   a hint
    0.60 to below 0.75   3   from 0.70 a fault that is named
    0.75 and above       2   a grave fault
    0.85 and above, and a second finding of 0.60 from another source: 1

A finding about the one turn dimension counts for the other with 0.25 less. Satisfaction, where nothing but
findings is known of its level, is at most 4: that no fault was seen is no sign that nothing was missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from dialogauge.core import NOT_APPLICABLE, Number
from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals import (
    HINT,
    Dialogue,
    Dimension,
    FaultKind,
    Signal,
    TurnView,
    asks_something,
    certainty,
    failed_tools,
    is_fault,
    knows_nothing,
    overlap,
    react,
    read_repairs,
    suffices,
)
from dialogauge.text import Language

_WORDS: dict[str, tuple[str, str]] = {
    "fits": ("Every turn fits what came before.", "每一轮都与前文衔接。"),
    "small_breaks": ("Only minor flaws.", "只有小的不连贯。"),
    "breaks": ("Turns with a fault: {n} of {of}.", "{of} 轮中有 {n} 轮打断了对话。"),
    "no_task": ("No task was implied.", "对话中没有任务。"),
    "no_progress": ("No turn moved the user forward.", "没有一轮推进了用户的问题。"),
    "ends_on_fault": ("The conversation ends with a faulty turn.", "对话以一处故障结束。"),
    "handed_over": (
        "The user was handed over to somebody else, which may be right.",
        "用户被转交给他人处理,这也可能是对的。",
    ),
    "tool_failed": ("A tool failed along the way.", "中途有工具出错。"),
    "worth_reading": ("One of the turns is worth reading.", "途中有值得一读之处。"),
    "left_open": ("The last request was not settled.", "最后一个请求没有下文。"),
    "mostly_faulty": ("Most turns have a fault.", "多数轮次有故障。"),
    "content": ("The user ends the conversation content.", "用户满意地结束了对话。"),
    "answered": (
        "The last request is answered; the user does not say whether it was enough.",
        "最后一个请求得到了回答,用户没有说是否满意。",
    ),
    "nothing_corrected": ("The user corrected nothing.", "用户没有更正任何内容。"),
    "taken_up": (
        "The assistant took up {n} of {of} corrections or objections.",
        "{of} 处更正或异议中有 {n} 处得到采纳。",
    ),
    "turn": ("Turn {n}", "第 {n} 轮"),
}


_LANGUAGES = {"en": "English", "zh": "Chinese"}


def level_note(turns: int, languages: Sequence[str], spoken: Mapping[str, int] | None = None) -> str:
    """Say what the level of whole scores of satisfaction stands on.

    Args:
        turns: Fitted turns.
        languages: Those that the level holds for.
        spoken: Turns of every language, where they were counted.
    """
    fitted = " and ".join(_LANGUAGES.get(code, code) for code in languages) or "no language"
    if spoken and tuple(spoken) != tuple(languages):
        counts = (f"{n:,} {_LANGUAGES.get(code, code)}" for code, n in spoken.items())
        fitted = f"{', '.join(counts)}; the level is known for {fitted}"
    return (
        f"The level of the whole scores rests on {turns:,} rated turns ({fitted}) where language and form of "
        "the replies are like theirs (level from: fitted cuts). Elsewhere it rests on what was found against "
        "a reply: 4 without a finding, down to 1, never 5. Read the order of the turns there, not the level."
    )


def say(name: str, language: Language, **facts: object) -> str:
    """Return a wording, in Chinese where that is asked for and in English otherwise."""
    english, chinese = _WORDS[name]
    return (chinese if language == "zh" else english).format(**facts)


def join(sentences: list[str], language: Language) -> str:
    """Return sentences as one text; Chinese has no spaces between them."""
    return ("" if language == "zh" else " ").join(sentences)


_NOTED, _GRAVE, _UTTER = 0.6, 0.75, 0.85
_HANDED_OVER = lazy_pattern(r"transfer_to|escalat|hand_?off|hand_?over|human_agent", re.IGNORECASE)


def score_turn(turn: TurnView, signals: Sequence[Signal], *, approved: bool) -> dict[str, Number]:
    """Score context_use and helpfulness of one turn, 1-5, by the findings about it.

    `approved`: whether the next user message thanks or approves (False in foresight).
    """
    used = approved or turn.number == 1 or overlap(turn) > 0
    helped = approved or overlap(turn) >= 0.2 or bool(turn.tools and not failed_tools(turn))
    return {
        "context_use": _score(signals, "context_use", spoken_for=used),
        "helpfulness": _score(signals, "helpfulness", spoken_for=helped or len(turn.user.terms) < 3),
    }


def score_satisfaction(signals: Sequence[Signal]) -> int:
    """Score the satisfaction with one turn by its findings alone, 1-4, whatever they are about."""
    return _score(signals, None, spoken_for=False)


def _score(signals: Sequence[Signal], dimension: Dimension | None, *, spoken_for: bool) -> int:
    sure = round(certainty(signals, dimension), 9)
    if sure < HINT:
        return 5 if spoken_for else 4
    if sure < _NOTED:
        return 4
    if sure < _GRAVE:
        return 3
    sources = {s.source for s in signals if s.strength >= _NOTED}
    return 1 if sure >= _UTTER and len(sources) > 1 else 2


def weakest(by_turn: dict[int, list[Signal]]) -> int | None:
    """Return the turn whose findings are surest of a fault, the earliest of equals; None where none suffice.

    It is where to look first and accuses nobody, so that findings without a name count too. Turns that have
    a named fault come first.
    """
    sure = {n: round(certainty(signals), 6) for n, signals in by_turn.items() if suffices(signals)}
    return max(sure, key=lambda n: (is_fault(by_turn[n]), sure[n], -n)) if sure else None


def faults(dialogue: Dialogue, by_turn: dict[int, list[Signal]]) -> list[tuple[int, FaultKind]]:
    """Name the kind of fault of every faulty turn: findings in the reply before those of later messages."""
    faulty = _faulty(by_turn)
    repairs = {r.turn for r in read_repairs(dialogue)} if faulty else set()
    turns = {t.number: t for t in dialogue.turns}
    out: list[tuple[int, FaultKind]] = []
    for number in sorted(faulty):
        strong = [s for s in by_turn[number] if s.strength >= HINT]
        out.append((number, _kind(strong, turns[number], corrected=number in repairs)))
    return out


def _kind(strong: Sequence[Signal], turn: TurnView, *, corrected: bool) -> FaultKind:
    of_kind = [s for s in strong if s.kind]
    of_kind = [s for s in of_kind if s.named] or of_kind
    in_reply = [s for s in of_kind if not s.hindsight]
    kind = max(in_reply or of_kind, key=lambda s: s.strength).kind if of_kind else None
    if corrected and not in_reply and kind in (None, "non_answer", "forgotten_fact"):
        return "ignored_correction"
    if kind is None and turn.tools:
        return "tool_error"
    return kind or "non_answer"


def score_conversation(dialogue: Dialogue, by_turn: dict[int, list[Signal]]) -> dict[str, tuple[Number, str]]:
    """Score coherence, task_completion and repair_handling, 1-5 or n/a, each with a short note."""
    return {
        "coherence": _coherence(dialogue, by_turn),
        "task_completion": _completion(dialogue, by_turn),
        "repair_handling": _repairs(dialogue, by_turn),
    }


def _faulty(by_turn: dict[int, list[Signal]]) -> list[int]:
    return [n for n, signals in by_turn.items() if is_fault(signals)]


def _coherence(dialogue: Dialogue, by_turn: dict[int, list[Signal]]) -> tuple[Number, str]:
    broken = _faulty(by_turn)
    replies, language = len(dialogue.replied), dialogue.notes_in
    if not broken:
        hints = sum(any(s.strength >= HINT for s in signals) for signals in by_turn.values())
        small = hints > replies / 3
        return (4, say("small_breaks", language)) if small else (5, say("fits", language))
    share = len(broken) / replies
    score = 1 if share > 0.6 else 2 if share > 0.34 else 3
    return score, say("breaks", language, n=len(broken), of=replies)


def _completion(dialogue: Dialogue, by_turn: dict[int, list[Signal]]) -> tuple[Number, str]:
    if not any(asks_something(t.user.edges) for t in dialogue.turns):
        return NOT_APPLICABLE, say("no_task", dialogue.notes_in)
    broken = set(_faulty(by_turn))
    if len(broken) == len(dialogue.replied):
        return 1, say("no_progress", dialogue.notes_in)
    last, final = dialogue.replied[-1], dialogue.turns[-1]
    end = react(final.user)
    pending = final is not last and not end.thanks and not end.closing
    score, outcomes = (5, ["content"]) if end.thanks or end.closing else (4, ["answered"])
    if last.number in broken or (pending and end.complaints):
        score, outcomes = 2, ["ends_on_fault"]
    elif any(_HANDED_OVER.search(name) for name in (*last.called, *final.called)):
        score, outcomes = 4, ["handed_over"]
    elif failed_tools(last) or pending or (final is last and knows_nothing(last)):
        score, outcomes = 3, ["left_open"]
    elif len(broken) > len(dialogue.replied) / 2:
        score, outcomes = 3, ["mostly_faulty"]
    if any(t.called or t.tools for t in dialogue.turns):
        # How a talk ends says little of what was done with tools.
        failed = any(failed_tools(t) for t in dialogue.replied)
        named = any(s.named for signals in by_turn.values() for s in signals)
        on_the_way = [*(["tool_failed"] if failed else []), *(["worth_reading"] if named else [])]
        score, outcomes = max(1, min(score, 4) - len(on_the_way)), outcomes + on_the_way
    return score, join([say(outcome, dialogue.notes_in) for outcome in outcomes], dialogue.notes_in)


def _repairs(dialogue: Dialogue, by_turn: dict[int, list[Signal]]) -> tuple[Number, str]:
    repairs = read_repairs(dialogue)
    if not repairs:
        return NOT_APPLICABLE, say("nothing_corrected", dialogue.notes_in)
    # What the user says next, or a fault seen in the reply, outweighs fine words.
    marks = [min(r.handled, 0.1) if is_fault(by_turn.get(r.turn, [])) else r.handled for r in repairs]
    well = sum(m >= 0.5 for m in marks)
    mean = sum(marks) / len(marks)
    score = 1 + round(4 * mean)
    if min(marks) <= 0.2:
        score = min(score, 3 if well else 2)
    return score, say("taken_up", dialogue.notes_in, n=well, of=len(marks))


TaskName = Literal["professional", "retrieval", "text", "advice", "creative", "leisure", "other"]
FailureName = Literal["unmet", "wrong", "refused", "constraint", "generic", "unfinished", "asks_again"]

CAPS: Mapping[FailureName, int] = {
    "unmet": 2,
    "wrong": 2,
    "refused": 2,
    "constraint": 3,
    "generic": 3,
    "unfinished": 3,
    "asks_again": 3,
}
"""The highest score that a session with the failure may have, 1 to 5."""

_ALWAYS: tuple[FailureName, ...] = ("unmet", "wrong", "refused")
TASKS: Mapping[TaskName, tuple[FailureName, ...]] = {
    "professional": (*_ALWAYS, "generic", "unfinished", "asks_again"),
    "retrieval": (*_ALWAYS, "constraint", "asks_again"),
    "text": (*_ALWAYS, "constraint", "unfinished", "asks_again"),
    "advice": (*_ALWAYS, "constraint", "generic", "asks_again"),
    "creative": (*_ALWAYS, "constraint", "unfinished"),
    "leisure": (*_ALWAYS, "constraint", "generic"),
    "other": (*_ALWAYS, "constraint", "asks_again"),
}
"""What each type of task fails on; other failures do not cap it."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A score after the guard."""

    score: int
    task: TaskName
    failed: tuple[FailureName, ...]
    """The failures that count for this task."""
    cap: int
    """The highest score that they allow; 5 where nothing failed."""
    capped: bool
    """Whether the score was lowered."""


def guard(score: int, failures: Collection[FailureName], scenario: str | None) -> Guarded:
    """Cap a score, 1 to 5, by the failures that count for the task; it is never raised.

    A scenario that is no task of ours counts as `other`.
    """
    task = cast("TaskName", scenario) if scenario in TASKS else "other"
    counted = tuple(name for name in TASKS[task] if name in failures)
    cap = min((CAPS[name] for name in counted), default=5)
    return Guarded(min(score, cap), task, counted, cap, score > cap)


_OF_KIND: dict[FaultKind, FailureName] = {
    "refusal": "refused",
    "forgotten_fact": "constraint",
    "ignored_correction": "constraint",
    "contradiction": "wrong",
    "tool_error": "wrong",
    "loop": "asks_again",
    "non_answer": "generic",
    "drift": "unmet",
}
_MOST = 1 / 3


def local_failures(faults: Sequence[tuple[int, FaultKind]], dialogue: Dialogue) -> frozenset[FailureName]:
    """Return the failures of a session, of at least one reply, from its faulty turns.

    A fault counts when it stands in the last replied turn, where nothing came to mend it, or when more than a
    third of the turns are faulty.
    """
    last = dialogue.replied[-1].number
    many = len({turn for turn, _ in faults}) > _MOST * len(dialogue.replied)
    return frozenset(_OF_KIND[kind] for turn, kind in faults if many or turn == last)
