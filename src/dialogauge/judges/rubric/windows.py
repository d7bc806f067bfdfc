"""Windows over long conversations: where they lie, and how what they say becomes one.

The choices are argued in `docs/decisions/0002-windows.md`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dialogauge.core.conversation import Turn
from dialogauge.core.errors import UsageError
from dialogauge.core.judgement import Judged, JudgeFailure, Judgement, Usage
from dialogauge.core.scores import NOT_APPLICABLE, Number
from dialogauge.judges.rubric.evidence import added_up, merged_criteria
from dialogauge.judges.rubric.prompt import (
    ROLE,
    Call,
    CallResult,
    ConversationCalls,
    dialogue_text,
    following_turn,
    gathered,
    summarise_before,
)
from dialogauge.judges.rubric.reply import ParsedPart, ParsedReply, share
from dialogauge.judges.rubric.rows import (
    cut_or_ignored,
    decide,
    judgement_of,
    rationale_of,
    row,
    tool_use,
    turn_judgement,
    turn_scores,
    whole_judgement,
    with_means,
)
from dialogauge.llm.protocol import ChatFailure
from dialogauge.llm.structured import Structured
from dialogauge.rubrics import Dimension, Rubric, Scope

SMALLEST: Final = 4
LARGEST: Final = 6
_BYTES_PER_TOKEN: Final = 3
"""Of a prompt, as its cost is estimated: a Chinese character is a token."""

WindowPlan = Sequence[tuple[int, int]]
"""Start (included) and stop (excluded) of each window, by position among the judged turns."""


def plan_windows(count: int, size: int = LARGEST) -> tuple[tuple[int, int], ...]:
    """Lay windows over `count` turns.

    Args:
        count: How many turns are judged.
        size: The longest window, 4 to 6 turns.

    Returns:
        Start (included) and stop (excluded) of each window, by position from 0. One window if all turns
        fit into it; otherwise as few as possible, evenly long, none shorter than 4, each sharing one or
        two turns with the next (three only where 5 turns are laid in windows of 4).
    """
    if not SMALLEST <= size <= LARGEST:
        msg = f"a window of {size} turns"
        raise UsageError(msg, hint=f"give {SMALLEST} to {LARGEST} turns")
    if count <= size:
        return ((0, count),)
    windows = math.ceil((count - 1) / (size - 1))
    total = max(count + windows - 1, SMALLEST * windows)
    sizes = _even(total, windows)
    overlaps = [*_even(total - count, windows - 1), 0]
    plan, start = [], 0
    for length, overlap in zip(sizes, overlaps, strict=True):
        plan.append((start, start + length))
        start += length - overlap
    return tuple(plan)


def _even(total: int, parts: int) -> list[int]:
    """Split a number into whole parts that differ by at most one, the larger first."""
    small, larger = divmod(total, parts)
    return [small + (i < larger) for i in range(parts)]


def plan_segments(calls: ConversationCalls, turns: Sequence[Turn], room: int | None) -> WindowPlan:
    """Lay the judged turns in as few segments as fit into a prompt, of as equal a length as possible.

    Segments share no turn: what came before is shown as history. Where all fits, there is one. Else the
    judged turns have two thirds of what the fixed part of the prompt leaves, and the history the rest.

    Args:
        calls: The conversation, and what asks about it.
        turns: The judged turns.
        room: Tokens that a prompt may have; None for any.

    Returns:
        Start (included) and stop (excluded) of each segment, by position from 0.
    """
    whole, numbers = (0, len(turns)), tuple(t.number for t in turns)
    if room is None:
        return (whole,)
    # As in a segment, with its longer sentence about what is asked.
    scope = Scope(numbers, (calls.rubric.level,), (numbers[0], numbers[-1], numbers[-1]))
    left = max(room * _BYTES_PER_TOKEN - calls.size(Call(scope, ())), 0)
    if _bytes(calls, calls.conversation.turns) <= left:
        return (whole,)
    # A turn that nobody answered is shown with the one before it.
    starts = [*(t.number for t in turns[1:]), math.inf]
    shown = _shown(calls, [turns], turns)
    sizes = [
        _bytes(calls, [t for t in shown if t.number < stop and (t.number >= turn.number or turn is turns[0])])
        for turn, stop in zip(turns, starts, strict=True)
    ]
    low, high = max(sizes), max(left * 2 // 3, *sizes)
    fewest = len(_filled(sizes, high))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(_filled(sizes, middle)) == fewest else (middle + 1, high)
    return _filled(sizes, high)


def _bytes(calls: ConversationCalls, turns: Sequence[Turn]) -> int:
    return len(dialogue_text(turns, tool_chars=calls.tool_chars).text.encode("utf-8", "replace")) + 1


def _filled(sizes: Sequence[int], most: int) -> tuple[tuple[int, int], ...]:
    """Fill segment after segment, each up to `most`, but with one turn at least."""
    plan, start, total = [], 0, 0
    for position, size in enumerate(sizes):
        if position > start and total + size > most:
            plan.append((start, position))
            start, total = position, 0
        total += size
    return (*plan, (start, len(sizes)))


def _with_history(calls: ConversationCalls, call: Call, room: int | None) -> Call:
    """Show what came before as history, the latest turns of it that fit."""
    earlier = [t for t in calls.conversation.turns if t.number < call.shown[0].number]
    if room is None:
        return replace(call, history=tuple(earlier))
    left = room * _BYTES_PER_TOKEN - calls.size(replace(call, history_cut=len(earlier)))
    kept: list[Turn] = []
    for turn in reversed(earlier):
        left -= _bytes(calls, [turn])
        if left < 0:
            break
        kept.insert(0, turn)
    return replace(call, history=tuple(kept), history_cut=len(earlier) - len(kept))


def merge_turn(parts: Sequence[ParsedPart]) -> tuple[ParsedPart, dict[str, float]]:
    """Merge what one or two windows say of the same turn.

    Returns the merged part (scores are means, so they need not be whole; a number goes before n/a) and
    by dimension the difference between the largest and the smallest score, where there were two.
    """
    first = parts[0]
    if len(parts) == 1:
        return first, {}
    scores: dict[str, Number] = {}
    differences: dict[str, float] = {}
    for name in first.scores:
        numbers = [v for p in parts if not isinstance(v := p.scores[name], str)]
        scores[name] = sum(numbers) / len(numbers) if numbers else NOT_APPLICABLE
        if len(numbers) > 1:
            differences[name] = max(numbers) - min(numbers)
    merged = replace(
        first,
        scores=scores,
        issues=tuple(dict.fromkeys(issue for p in parts for issue in p.issues)),
        quotes=tuple(dict.fromkeys(quote for p in parts for quote in p.quotes)),
    )
    return merged, differences


def roll_up(dimension: Dimension, scores: Sequence[Number], lengths: Sequence[int]) -> Number:
    """Make one score of the windows' scores, in the way that the rubric names for the dimension.

    n/a takes no part; if all are n/a, so is the whole. On a scale of whole numbers the result is rounded,
    halves towards the worse score. Scores and lengths (in turns) are one for each window, in order.
    """
    applicable = [(s, n) for s, n in zip(scores, lengths, strict=True) if not isinstance(s, str)]
    if not applicable:
        return NOT_APPLICABLE
    numbers = [s for s, _ in applicable]
    worst = min(numbers) if dimension.scale.higher_is_better else max(numbers)
    mean = sum(s * n for s, n in applicable) / sum(n for _, n in applicable)
    value = {
        "mean": mean,
        "minimum": worst,
        "pulled_mean": (mean + worst) / 2,
        "outcome": (numbers[-1] + worst) / 2,
    }[dimension.rollup]
    if not dimension.scale.integer:
        return value
    # Sums of products are exact here only up to float noise: 3.5 must be a half on every machine.
    value = round(value, 9)
    return math.ceil(value - 0.5) if dimension.scale.higher_is_better else math.floor(value + 0.5)


def merge_whole(rubric: Rubric, parts: Sequence[ParsedPart], lengths: Sequence[int]) -> ParsedPart:
    """Roll up what the windows say of the conversation.

    Lists of items are joined, of an item that is named twice the later says how it stands, and their
    share is computed anew; of criteria each counts once, wherever it was shown; labels are those of the last
    window.
    """
    level = rubric.level
    scores: dict[str, Number] = {
        d.name: roll_up(d, [p.scores[d.name] for p in parts], lengths) for d in rubric.asked(level)
    }
    items = {
        x.name: merged_criteria([p.items[x.name] for p in parts])
        if x.adds_up
        else tuple({item.text: item for p in parts for item in p.items[x.name]}.values())
        for x in rubric.items
        if x.level == level
    }
    for x in (x for x in rubric.items if x.level == level):
        entries = items[x.name]
        scores[x.dimension] = added_up(rubric, x, entries) if x.adds_up else share(x, entries)
    evidence = tuple(e for p in parts for e in p.evidence)
    dropped = sum((Counter(p.dropped) for p in parts), Counter[str]())
    return ParsedPart(scores, labels=parts[-1].labels, items=items, evidence=evidence, dropped=dropped)


def weakest_of(named: Sequence[int | None], turns: Mapping[int, Mapping[str, Number]]) -> int | None:
    """Choose among the weakest turns that the windows named: the one with the lowest scores.

    Compared by their lowest score, then by the mean, then the earlier turn; None if no window named one.
    """

    def standing(turn: int) -> tuple[float, float, int]:
        numbers = [v for v in turns.get(turn, {}).values() if not isinstance(v, str)]
        lowest, mean = (min(numbers), sum(numbers) / len(numbers)) if numbers else (math.inf, math.inf)
        return lowest, mean, turn

    return min({n for n in named if n is not None}, key=standing, default=None)


async def judge_in_windows(
    calls: ConversationCalls,
    turns: Sequence[Turn],
    plan: WindowPlan,
    before: Sequence[Judged],
    *,
    room: int | None = None,
) -> tuple[Judged, ...]:
    """Judge the replied turns and their conversation in windows, and put together what they say.

    A single window is the conversation at once. `before` are the rows of turns that were judged one by one,
    in foresight; else the windows score the turns too, where the rubric does. All usage, that of the
    summaries included, is booked on the conversation's row. `room` is what a prompt may have, in tokens.
    """
    with_turns = not before and bool(calls.rubric.at("turn"))
    whole = calls.standing.get(("conversation", None))
    wanted = [
        whole is None
        or (with_turns and any(("turn", t.number) not in calls.standing for t in turns[start:stop]))
        for start, stop in plan
    ]
    windows, spent = await _ask_windows(calls, turns, plan, wanted, with_turns=with_turns, room=room)
    rows = _turn_rows(calls, turns, windows, several=len(plan) > 1) if with_turns else ()
    usage = sum((w.usage for w in windows), spent)
    scored = before or rows
    if whole is not None:
        # Book usage on the first row that is new, where the conversation's row stands already.
        first = next(
            (i for i, r in enumerate(rows) if (r.target.level, r.target.turn) not in calls.standing), None
        )
        return (
            *[
                replace(r, usage=usage, role_usage={ROLE: usage}) if i == first else r
                for i, r in enumerate(rows)
            ],
            _decided_anew(calls, whole, scored),
        )
    if len(windows) == 1:
        outcome = whole_judgement(calls, windows[0], turn_scores(scored))
    else:
        outcome = _whole(calls, windows, scored)
    return (*rows, row(calls, "conversation", None, outcome, usage))


async def judge_window_level(
    calls: ConversationCalls, turns: Sequence[Turn], plan: WindowPlan
) -> tuple[Judged, ...]:
    """Judge each window as a target of its own, named by its last turn; the first carries the summaries."""
    last = [turns[stop - 1].number for _, stop in plan]
    wanted = [("window", number) not in calls.standing for number in last]
    windows, spent = await _ask_windows(calls, turns, plan, wanted, with_turns=False)
    new: dict[int, Judged] = {}
    for index, w in enumerate(windows):
        usage = w.usage + spent if index == 0 else w.usage
        number = w.call.span[1]
        new[number] = row(calls, "window", number, whole_judgement(calls, w, ()), usage)
    return tuple(calls.standing.get(("window", number)) or new[number] for number in last)


def _decided_anew(calls: ConversationCalls, whole: Judged, turns: Sequence[Judged]) -> Judged:
    """Apply the verdict rule once more to scores that stand: turns that had failed may have theirs now."""
    if not isinstance(whole.outcome, Judgement):
        return whole
    decided = decide(calls.rubric, turn_scores(turns), whole.outcome.numbers)
    details = dict(whole.outcome.details)
    if "model_verdict" in details:
        details["verdict_mismatch"] = details["model_verdict"] != (decided.verdict or decided.name)
    outcome = replace(whole.outcome, verdict=decided.verdict, verdict_basis=decided.basis, details=details)
    return whole if outcome == whole.outcome else replace(whole, outcome=outcome)


async def _ask_windows(
    calls: ConversationCalls,
    turns: Sequence[Turn],
    plan: WindowPlan,
    wanted: Sequence[bool],
    *,
    with_turns: bool,
    room: int | None = None,
) -> tuple[tuple[CallResult, ...], Usage]:
    """Return the windows that are wanted, and what the summaries in front of them took."""
    groups = [turns[start:stop] for start, stop in plan]
    shown = [_shown(calls, groups, group) for group in groups]
    before: Sequence[str | ChatFailure | None] = (None,) * len(groups)
    spent = Usage()
    with_history = "history" in calls.rubric.shows
    parted = len(groups) > 1 or (not with_history and shown[0][0].number > calls.conversation.turns[0].number)
    if parted and "earlier_summary" in calls.rubric.shows:
        read = max((i for i, one in enumerate(wanted, 1) if one), default=0)
        written, spent = await summarise_before(calls, [seen[0].number for seen in shown[:read]])
        before = [*written, *before[read:]]
    end = calls.conversation.turns[-1].number
    coroutines = []
    for group, seen, notes, one in zip(groups, shown, before, wanted, strict=True):
        if not one:
            continue
        part = (max(seen[0].number, 1), seen[-1].number, end) if parted else None
        scope = _scope(calls, tuple(t.number for t in group), part, with_turns=with_turns)
        beyond = following_turn(calls.conversation, seen[-1]) if calls.mode == "hindsight" else None
        call = Call(scope, seen, beyond, notes if isinstance(notes, str) else None)
        if with_history:
            call = _with_history(calls, call, room)
        coroutines.append(_ask(calls, call, notes))
    return tuple(await gathered(coroutines)), spent


def _scope(
    calls: ConversationCalls, turns: tuple[int, ...], part: tuple[int, int, int] | None, *, with_turns: bool
) -> Scope:
    """Return what is asked about a window: its turns, where they are, and the whole; not what stands."""
    level = calls.rubric.level
    left = tuple(n for n in turns if ("turn", n) not in calls.standing) if with_turns else ()
    if not left:
        return Scope(turns, (level,), part)
    if (level, None) in calls.standing:
        return Scope(left, ("turn",), part)
    return Scope(turns, ("turn", level), part)


def _shown(
    calls: ConversationCalls, groups: Sequence[Sequence[Turn]], group: Sequence[Turn]
) -> tuple[Turn, ...]:
    """Return the turns a window sees: the judged ones, unanswered ones between, and both ends whole.

    What was there before is not among them: it is history. But for a greeting alone, where the rubric has no
    place for a history.
    """
    turns = calls.conversation.turns
    old = calls.conversation.history
    if "history" not in calls.rubric.shows and all(t.number < 1 for t in old):
        old = ()
    start = turns[len(old)].number if group is groups[0] else group[0].number
    stop = turns[-1].number if group is groups[-1] else group[-1].number
    return tuple(t for t in turns if start <= t.number <= stop)


async def _ask(calls: ConversationCalls, call: Call, notes: str | ChatFailure | None) -> CallResult:
    """Ask about one window; without the notes that it needs it is not asked about but fails.

    A window judged without its past would score context_use as if there were none: another measurement
    under the same name.
    """
    span = "turns {}-{}".format(*call.span)
    if isinstance(notes, ChatFailure):
        message = f"{span}: the summary of what came before failed ({notes.kind}): {notes.message}"
        return CallResult(call, JudgeFailure("window_failed", message, notes.raw))
    result = await calls.make(call)
    if call.scope.part is None and calls.rubric.level == "conversation":
        return result

    def placed(failure: JudgeFailure) -> JudgeFailure:
        return replace(failure, message=f"window of {span}: {failure.message}")

    if isinstance(result.outcome, JudgeFailure):
        return replace(result, outcome=placed(result.outcome))
    return replace(result, failures={target: placed(f) for target, f in result.failures.items()})


def _turn_rows(
    calls: ConversationCalls, turns: Sequence[Turn], windows: Sequence[CallResult], *, several: bool
) -> tuple[Judged, ...]:
    rows = []
    for turn in turns:
        if (standing := calls.standing.get(("turn", turn.number))) is not None:
            rows.append(standing)
            continue
        holding = [w for w in windows if turn.number in w.call.scope.turns]
        failed = [f for w in holding if (f := w.failure(turn.number)) is not None]
        if len(failed) == len(holding):
            bare = JudgeFailure(failed[0].kind, failed[0].message)
            rows.append(row(calls, "turn", turn.number, bare))
            continue
        judged = [w.reply for w in holding if w.reply is not None]
        parts = [reply.turns[turn.number] for reply in judged if turn.number in reply.turns]
        merged, differences = merge_turn(parts)
        details = _turn_details(turn.number, holding, parts, differences) if several else {}
        judgement = turn_judgement(calls.rubric, merged, turn, details)
        rows.append(row(calls, "turn", turn.number, judgement))
    return tuple(rows)


def _turn_details(
    turn: int, holding: Sequence[CallResult], parts: Sequence[ParsedPart], differences: Mapping[str, float]
) -> dict[str, Any]:
    details: dict[str, Any] = {"windows": [list(w.call.span) for w in holding]}
    if differences:
        details["window_difference"] = dict(differences)
    if len(parts) < len(holding):
        details["windows_failed"] = [list(w.call.span) for w in holding if w.failure(turn) is not None]
    if len({tuple(sorted(p.labels.items())) for p in parts}) > 1:
        details["labels_differ"] = True
    return details


def _whole(
    calls: ConversationCalls, windows: Sequence[CallResult], turns: Sequence[Judged]
) -> Judgement | JudgeFailure:
    failed = [f for w in windows if (f := w.failure(None)) is not None]
    if failed:
        named = "; ".join(f"{f.kind}, {f.message}" for f in failed)
        message = f"{len(failed)} of {len(windows)} windows failed: {named}"
        return JudgeFailure("window_failed", message, failed[0].raw)
    replies = [w.reply for w in windows if w.reply is not None]
    lengths = [len(w.call.scope.turns) for w in windows]
    merged = merge_whole(calls.rubric, [r.whole for r in replies], lengths)
    merged = with_means(calls.rubric, calls.rubric.level, merged)
    scores = turn_scores(turns)
    by_turn = {n: s for r, s in zip(turns, scores, strict=True) if s and (n := r.target.turn)}
    weakest = weakest_of([r.weakest_turn for r in replies], by_turn)
    decided = decide(calls.rubric, scores, merged.scores)
    # The first reply that named the weakest turn, else the one with the lowest score.

    def rank(reply: ParsedReply) -> float:
        if weakest is not None and reply.weakest_turn == weakest:
            return -math.inf
        return min((v for v in reply.whole.scores.values() if not isinstance(v, str)), default=math.inf)

    deciding = min(replies, key=rank)
    answers = [w.outcome for w in windows if isinstance(w.outcome, Structured)]
    details: dict[str, Any] = {
        "language": calls.language,
        "repaired": sum(a.repaired for a in answers),
        "reasked": sum(a.reasked for a in answers),
        "windows": [
            {
                "turns": list(window.call.span),
                "scores": dict(answer.value.whole.scores),
                "notes": dict(answer.value.whole.notes),
                "weakest_turn": answer.value.weakest_turn,
                "decision_basis": answer.value.decision_basis,
            }
            for window, answer in zip(windows, answers, strict=True)
        ],
    }
    if not calls.rubric.windows:
        details["in_segments"] = True
    details |= tool_use(calls, None)
    details |= cut_or_ignored([a.value for a in answers], windows)
    differences = [
        value
        for r in turns
        if isinstance(r.outcome, Judgement)
        for value in r.outcome.details.get("window_difference", {}).values()
    ]
    if differences:
        mean = sum(differences) / len(differences)
        details["window_differences"] = {"n": len(differences), "mean": mean, "max": max(differences)}
    return judgement_of(
        merged,
        decided,
        details,
        rationale_of(deciding),
        evidence=merged.evidence,
        weakest_turn=weakest,
    )
