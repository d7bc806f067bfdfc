"""From the answer of a call to the rows of its targets; the usage is booked once per call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from dialogauge.core.conversation import Turn
from dialogauge.core.judgement import (
    NO_USAGE,
    Evidence,
    Judged,
    JudgeFailure,
    Judgement,
    Level,
    Target,
    Usage,
    Verdict,
    VerdictBasis,
)
from dialogauge.core.scores import (
    NOT_APPLICABLE,
    Number,
    Score,
    as_scores,
    round_score,
    whole_score,
)
from dialogauge.judges.card import card_verdict
from dialogauge.judges.rubric.evidence import proven, supported
from dialogauge.judges.rubric.prompt import ROLE, CallResult, ConversationCalls
from dialogauge.judges.rubric.reply import Item, ParsedPart, ParsedReply
from dialogauge.llm.structured import Structured
from dialogauge.rubrics import VERDICTS, Rubric


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rubric's rules make of the scores of one target."""

    verdict: Verdict | None = None
    basis: VerdictBasis | None = None
    name: str | None = None
    """The class, where the rubric has names of its own (SAT, DSAT): a verdict is one of four words."""
    overall: float | None = None
    """The weighted mean, where the rubric has weights or its verdict stands on the mean."""


def turn_judgement(
    rubric: Rubric, part: ParsedPart, turn: Turn, details: Mapping[str, Any] | None = None
) -> Judgement:
    """Make the judgement of one turn; quotes that do not occur in it are dropped and counted."""
    part = with_means(rubric, "turn", part)
    evidence, unsupported = supported(part.quotes, turn)
    evidence = (*evidence, *part.evidence)
    more: dict[str, Any] = {"quotes_unsupported": unsupported} if unsupported else {}
    if (cap := rubric.cap(part.labels)) is not None:
        more["cap"] = int(cap) if cap.is_integer() else cap
    own = rubric.level == "turn"
    decided = decide(rubric, [], part.scores) if own else Decision(overall=_mean(rubric, "turn", part.scores))
    notes = {name: note for name, note in part.notes.items() if name}
    if notes:
        more["notes"] = notes
    rationale = part.notes.get("") or _joined(notes)
    return judgement_of(part, decided, {**more, **(details or {})}, rationale, evidence=evidence)


def with_means(rubric: Rubric, level: Level, part: ParsedPart) -> ParsedPart:
    """Add the dimensions that are means of others: of the numbers alone, `n/a` where there is none."""
    if not (means := [d for d in rubric.at(level) if d.mean_of]):
        return part
    scores, whole = dict(part.scores), dict(part.whole)
    averaged = dict(part.averaged)
    for d in means:
        numbers = [v for name in d.mean_of if not isinstance(v := part.scores[name], str)]
        averaged[d.name] = len(numbers)
        mean = sum(numbers) / len(numbers) if numbers else NOT_APPLICABLE
        scores[d.name] = mean
        if d.scale.integer and not isinstance(mean, str):
            whole[d.name] = whole_score(mean, d.scale)
    return replace(part, scores=scores, whole=whole, averaged=averaged)


def judgement_of(
    part: ParsedPart,
    decided: Decision,
    more: Mapping[str, Any],
    rationale: str | None,
    *,
    evidence: tuple[Evidence, ...] = (),
    weakest_turn: int | None = None,
) -> Judgement:
    """Make a judgement of a part of a reply; its details are labels, items and class, and `more`."""
    details: dict[str, Any] = {}
    if part.labels:
        details["labels"] = dict(part.labels)
    if part.items:
        details["items"] = {name: [_item_json(item) for item in items] for name, items in part.items.items()}
    if part.averaged:
        details["averaged"] = dict(part.averaged)
    details |= part.dropped
    if decided.name is not None:
        details["class"] = decided.name
    return Judgement(
        scores=as_scores(part.scores) | {n: Score(float(part.scores[n]), w) for n, w in part.whole.items()},
        verdict=decided.verdict,
        verdict_basis=decided.basis,
        issues=part.issues,
        evidence=evidence,
        weakest_turn=weakest_turn,
        rationale=rationale,
        details={**details, **more},
        overall=decided.overall,
    )


def _item_json(item: Item) -> dict[str, Any]:
    text: dict[str, Any] = {} if item.turns else {"text": item.text}
    turns: dict[str, Any] = {"turns": list(item.turns)} if item.turns else {}
    return {**text, "label": item.option, **turns, **({"quote": item.quote} if item.quote else {})}


def decide(
    rubric: Rubric, turns: Sequence[Mapping[str, Number] | None], scores: Mapping[str, Number]
) -> Decision:
    """Apply the rubric's verdict rule, if it has one, to the scores of one target.

    The card also needs those of the judged turns: None for one that failed. A score of n/a has neither
    verdict nor class.
    """
    rule, overall = rubric.verdict, _mean(rubric, rubric.level, scores)
    if rule is None:
        return Decision(overall=overall)
    if rule.rule == "card":
        return Decision(*card_verdict(turns, scores), overall=overall)
    if rule.dimension is None:
        overall = _mean(rubric, rubric.level, scores, weighted=False)
    value = scores.get(rule.dimension) if rule.dimension else overall
    if value is None or isinstance(value, str):
        return Decision(overall=overall)
    lowest = min(rule.at_least.values())  # its class is for all that lies below the next one
    name = max((low, name) for name, low in rule.at_least.items() if value >= low or low == lowest)[1]
    if name in VERDICTS:
        return Decision(cast("Verdict", name), "full", overall=overall)
    return Decision(name=name, overall=overall)


def _mean(
    rubric: Rubric, level: Level, scores: Mapping[str, Number], *, weighted: bool = True
) -> float | None:
    """Return the mean of the scores that are numbers, by the rubric's weights where it has any at that level.

    None where no score counts, and with `weighted` also where there are no weights.
    """
    has_weights = any(d.weight is not None for d in rubric.at(level))
    if weighted and not has_weights:
        return None
    total = weight = 0.0
    for d in rubric.at(level):
        share = (d.weight or 0.0) if has_weights else 1.0
        value = scores.get(d.name)
        if isinstance(value, int | float) and share:
            total, weight = total + share * value, weight + share
    return total / weight if weight else None


def row(
    calls: ConversationCalls,
    level: Level,
    turn: int | None,
    outcome: Judgement | JudgeFailure,
    usage: Usage | None = None,
) -> Judged:
    """Make a row; the usage, if it is booked here, is the judge's."""
    target = Target(calls.conversation.id, level, turn, calls.conversation.candidate)
    by_role = {} if usage is None else {ROLE: usage}
    return Judged(target, outcome, usage or NO_USAGE, calls.rubric.prompt_digest(calls.language), by_role)


def _call_details(
    calls: ConversationCalls, result: CallResult, answer: Structured[ParsedReply]
) -> dict[str, Any]:
    """Return what is to be told of a call: repair, re-ask, language, and what was cut or ignored."""
    details = {"language": calls.language, "repaired": answer.repaired, "reasked": answer.reasked}
    turn = result.call.shown[-1] if calls.rubric.level == "turn" else None
    details |= tool_use(calls, turn)
    return details | cut_or_ignored([answer.value], [result])


def tool_use(calls: ConversationCalls, turn: Turn | None) -> dict[str, Any]:
    """Return the domain that the policy was chosen by, and counts of what is wrong with the agent's steps.

    They are those of the turn; of all turns where a whole conversation is judged.
    """
    details: dict[str, Any] = {}
    if calls.policy is not None:
        details["domain"] = "+".join(calls.policy.domains(turn))
    if not {"policy", "tool_calls"}.isdisjoint(calls.rubric.shows) and calls.rubric.level != "window":
        turns = calls.conversation.turns if turn is None else (turn,)
        details |= Counter[str](fault for t in turns for step in t.tool_steps for fault in step.faults)
        if unread := sum("parse_failed" in m.extra for t in turns for m in t.messages):
            details["steps_unread"] = unread
    return details


def cut_or_ignored(replies: Sequence[ParsedReply], results: Sequence[CallResult]) -> dict[str, int]:
    """Return the counts of what was cut in prompts and replies, and of unknown keys, where there are any."""
    counted = {
        "basis_cut": sum(r.basis_cut for r in replies),
        "extra_keys": sum(r.extra_keys for r in replies),
        "tool_results_cut": sum(r.tool_results_cut for r in results),
        "history_turns_cut": sum(r.call.history_cut for r in results),
    }
    return {key: count for key, count in counted.items() if count}


def turn_row(calls: ConversationCalls, result: CallResult, turn: Turn) -> Judged:
    """Make the row of a turn that had a call of its own."""
    outcome: Judgement | JudgeFailure
    if isinstance(result.outcome, JudgeFailure):
        outcome = result.outcome
    else:
        details = _call_details(calls, result, result.outcome)
        before = calls.conversation.messages[: turn.start]
        part = result.outcome.value.turns[turn.number]
        part, unproven = proven(calls.rubric, part, turn, before, calls.source)
        if unproven:
            details["quotes_unsupported"] = unproven
        outcome = turn_judgement(calls.rubric, part, turn, details)
    return row(calls, "turn", turn.number, outcome, result.usage)


def mean_of_turns(calls: ConversationCalls, rows: Sequence[Judged]) -> Judged:
    """Make the row of a conversation whose scores are the means of those of its turns, n/a left out."""
    failed = [r.outcome for r in rows if isinstance(r.outcome, JudgeFailure)]
    if failed:
        message = f"{len(failed)} of {len(rows)} turns failed: {failed[0].message}"
        return row(calls, "conversation", None, JudgeFailure("unmet", message))
    scores: dict[str, Number] = {}
    whole: dict[str, int] = {}
    averaged: dict[str, int] = {}
    for d in calls.rubric.at("conversation"):
        if d.turn_mean_of is not None:
            of_turns = [s[d.turn_mean_of] for s in turn_scores(rows) if s is not None]
            numbers = [v for v in of_turns if not isinstance(v, str)]
            averaged[d.name] = len(numbers)
            scores[d.name] = round_score(sum(numbers) / len(numbers)) if numbers else NOT_APPLICABLE
            if d.scale.integer and numbers:
                whole[d.name] = whole_score(sum(numbers) / len(numbers), d.scale)
    part = with_means(calls.rubric, "conversation", ParsedPart(scores, whole=whole, averaged=averaged))
    decided = Decision(overall=_mean(calls.rubric, "conversation", part.scores))
    return row(calls, "conversation", None, judgement_of(part, decided, {"language": calls.language}, None))


def turn_scores(rows: Sequence[Judged]) -> list[Mapping[str, Number] | None]:
    """Return the scores of turn rows; None for one that failed."""
    return [r.outcome.numbers if isinstance(r.outcome, Judgement) else None for r in rows]


def whole_judgement(
    calls: ConversationCalls, result: CallResult, turns: Sequence[Mapping[str, Number] | None]
) -> Judgement | JudgeFailure:
    """Make the judgement of a conversation or window that one call judged.

    The verdict is computed from the scores; the model's own is kept beside it, with whether they differ.
    """
    if isinstance(result.outcome, JudgeFailure):
        return result.outcome
    if None in result.failures:
        return result.failures[None]
    reply = result.outcome.value
    whole = with_means(calls.rubric, calls.rubric.level, reply.whole)
    decided = decide(calls.rubric, turns, whole.scores)
    details = _call_details(calls, result, result.outcome)
    if whole.notes:
        details["notes"] = dict(whole.notes)
    if reply.verdict is not None:
        details["model_verdict"] = reply.verdict
        details["verdict_mismatch"] = reply.verdict != (decided.verdict or decided.name)
    return judgement_of(
        whole,
        decided,
        details,
        rationale_of(reply),
        evidence=whole.evidence,
        weakest_turn=reply.weakest_turn,
    )


def rationale_of(reply: ParsedReply) -> str | None:
    """Return what the model gives as its basis, else the notes of the dimensions; None without either."""
    return reply.decision_basis or _joined(reply.whole.notes)


def _joined(notes: Mapping[str, str]) -> str | None:
    return " ".join(f"{name}: {note}" for name, note in notes.items()) or None
