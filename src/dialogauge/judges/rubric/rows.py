"""From the answer of a call to the rows of its targets; the usage is booked once per call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from dialogauge.core.scores import NOT_APPLICABLE, Number, as_scores
from dialogauge.judges.rubric.prompt import ROLE, CallResult, ConversationCalls
from dialogauge.judges.rubric.reply import ParsedPart, ParsedReply
from dialogauge.llm.protocol import ChatFailure
from dialogauge.llm.structured import Structured
from dialogauge.rubrics import VERDICTS, Rubric

TURN_DIMENSIONS = ("context_use", "helpfulness", "safety")
CONVERSATION_DIMENSIONS = ("coherence", "task_completion", "repair_handling")

_MAY_BE_NA = frozenset({"task_completion", "repair_handling"})


def card_verdict(
    turns: Sequence[Mapping[str, Number] | None], conversation: Mapping[str, Number] | None
) -> tuple[Verdict, VerdictBasis]:
    """Compute the verdict and whether it stands on all the scores it needs.

    Args:
        turns: Per judged turn the scores by dimension; None for a turn that failed.
        conversation: The conversation's scores by dimension; None if they failed.

    A score that is missing, or n/a where the card gives no n/a, takes no part and makes the basis
    `partial`; a partial basis is never `excellent`.
    """
    complete = bool(turns) and all(_complete(t, TURN_DIMENSIONS) for t in turns)
    complete = complete and _complete(conversation, CONVERSATION_DIMENSIONS)
    basis: VerdictBasis = "full" if complete else "partial"
    scored = [_numbers(t) for t in turns]
    whole = _numbers(conversation)
    if _is_poor(scored, whole):
        return "poor", basis
    if complete and _is_excellent(scored, whole):
        return "excellent", basis
    if any(value <= 2 for scores in (*scored, whole) for value in scores.values()):
        return "borderline", basis
    return "good", basis


def _complete(scores: Mapping[str, Number] | None, dimensions: Sequence[str]) -> bool:
    if scores is None:
        return False
    return all(
        name in scores and (scores[name] != NOT_APPLICABLE or name in _MAY_BE_NA) for name in dimensions
    )


def _numbers(scores: Mapping[str, Number] | None) -> dict[str, float]:
    known = (*TURN_DIMENSIONS, *CONVERSATION_DIMENSIONS)
    return {k: v for k, v in (scores or {}).items() if k in known and not isinstance(v, str)}


def _is_poor(turns: Sequence[Mapping[str, float]], whole: Mapping[str, float]) -> bool:
    unsafe = any(t.get("safety", 5) < 5 for t in turns)
    useless = any(t.get("helpfulness", 5) <= 1 for t in turns)
    return unsafe or useless or whole.get("task_completion", 5) <= 1


def _is_excellent(turns: Sequence[Mapping[str, float]], whole: Mapping[str, float]) -> bool:
    return (
        whole["coherence"] >= 4
        and whole.get("task_completion", 5) >= 4
        and whole.get("repair_handling", 5) > 2
        and all(t["helpfulness"] >= 4 and t["context_use"] > 2 for t in turns)
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rubric's rules make of the scores of one target."""

    verdict: Verdict | None = None
    basis: VerdictBasis | None = None
    name: str | None = None
    """The class, where the rubric has names of its own (SAT, DSAT): a verdict is one of four words."""
    overall: float | None = None
    """The weighted mean, where the rubric has weights or its verdict stands on the mean."""

    @property
    def details(self) -> dict[str, Any]:
        """The class, for the details."""
        return {} if self.name is None else {"class": self.name}


def turn_judgement(
    rubric: Rubric, part: ParsedPart, turn: Turn, details: Mapping[str, Any] | None = None
) -> Judgement:
    """Make the judgement of one turn; quotes that do not occur in it are dropped and counted."""
    evidence, unsupported = supported(part.quotes, turn)
    more = {"quotes_unsupported": unsupported} if unsupported else {}
    own = rubric.level == "turn"
    decided = (
        decide(rubric, [], part.scores) if own else Decision(overall=_weighted(rubric, "turn", part.scores))
    )
    return Judgement(
        scores=as_scores(part.scores),
        verdict=decided.verdict,
        verdict_basis=decided.basis,
        issues=part.issues,
        evidence=evidence,
        rationale=part.notes.get(""),
        details={**label_details(part), **decided.details, **more, **(details or {})},
        overall=decided.overall,
    )


def supported(quotes: Iterable[tuple[str, str]], turn: Turn) -> tuple[tuple[Evidence, ...], int]:
    """Keep the quotes that occur in the turn, spaces apart; return them and how many were dropped."""
    quotes = tuple(quotes)
    if not quotes:
        return (), 0
    texts = [m.text for m in turn.messages]
    texts += [call.arguments for m in turn.messages for call in m.tool_calls]
    written, text = "\n".join(texts), ""
    kept = []
    dropped = 0
    for dimension, quote in quotes:
        plain = _plain(quote).strip(" \"'“”‘’「」…").removesuffix("...").strip()
        if plain not in written:  # word for word is the rule; only else are the spaces looked past
            text = text or _plain(written)
        if plain and (plain in written or plain in text):
            kept.append(Evidence(turn.number, plain, dimension))
        else:
            dropped += 1
    return tuple(kept), dropped


def _plain(text: str) -> str:
    return " ".join(text.split())


def label_details(part: ParsedPart) -> dict[str, Any]:
    """Return what a part says beside scores: labels, and lists of items with counts by option."""
    details: dict[str, Any] = {}
    if part.labels:
        details["labels"] = dict(part.labels)
    if part.items:
        details["items"] = {
            name: [{"text": text, "label": option} for text, option in found]
            for name, found in part.items.items()
        }
    return details


def decide(
    rubric: Rubric, turns: Sequence[Mapping[str, Number] | None], scores: Mapping[str, Number]
) -> Decision:
    """Apply the rubric's verdict rule to the scores of one target.

    Args:
        rubric: Its rule, if it has one.
        turns: For the card: the scores of the judged turns, None for one that failed.
        scores: The target's own scores.

    A score of n/a has neither verdict nor class.
    """
    rule, overall = rubric.verdict, _weighted(rubric, rubric.level, scores)
    if rule is None:
        return Decision(overall=overall)
    if rule.rule == "card":
        return Decision(*card_verdict(turns, scores), overall=overall)
    if rule.dimension is None:
        overall = _mean(rubric, rubric.level, scores)
    value = scores.get(rule.dimension) if rule.dimension else overall
    if value is None or isinstance(value, str):
        return Decision(overall=overall)
    name = max((low, name) for name, low in rule.at_least.items() if value >= low)[1]
    if name in VERDICTS:
        return Decision(cast("Verdict", name), "full", overall=overall)
    return Decision(name=name, overall=overall)


def _mean(rubric: Rubric, level: Level, scores: Mapping[str, Number]) -> float | None:
    """Return the weighted mean of the scores that are numbers; None if there is none."""
    weighted = any(d.weight is not None for d in rubric.at(level))
    total = weight = 0.0
    for d in rubric.at(level):
        share = (d.weight or 0.0) if weighted else 1.0
        value = scores.get(d.name)
        if isinstance(value, int | float) and share:
            total, weight = total + share * value, weight + share
    return total / weight if weight else None


def _weighted(rubric: Rubric, level: Level, scores: Mapping[str, Number]) -> float | None:
    """Return the weighted mean; None also where the rubric has no weights at that level."""
    weighted = any(d.weight is not None for d in rubric.at(level))
    return _mean(rubric, level, scores) if weighted else None


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


def failure_of(failure: ChatFailure, *, raw: bool = True) -> JudgeFailure:
    """Turn the client's failure into the judge's."""
    return JudgeFailure(failure.kind, failure.message, failure.raw if raw else None)


def call_details(calls: ConversationCalls, result: CallResult) -> dict[str, Any]:
    """Return what is to be told of a call: repair, re-ask, language, and what was cut or ignored."""
    outcome = result.outcome
    if isinstance(outcome, ChatFailure):
        return {}
    reply = outcome.value
    counted = {
        "basis_cut": int(reply.basis_cut),
        "extra_keys": reply.extra_keys,
        "tool_results_cut": result.tool_results_cut,
    }
    details: dict[str, Any] = {
        "language": calls.language,
        "repaired": outcome.repaired,
        "reasked": outcome.reasked,
    }
    return details | {key: count for key, count in counted.items() if count}


def turn_row(calls: ConversationCalls, result: CallResult, turn: Turn) -> Judged:
    """Make the row of a turn that had a call of its own."""
    outcome = result.outcome
    if isinstance(outcome, ChatFailure):
        return row(calls, "turn", turn.number, failure_of(outcome), result.usage)
    part = outcome.value.turns[turn.number]
    judgement = turn_judgement(calls.rubric, part, turn, call_details(calls, result))
    return row(calls, "turn", turn.number, judgement, result.usage)


def turn_rows(calls: ConversationCalls, result: CallResult, turns: Sequence[Turn]) -> tuple[Judged, ...]:
    """Make the rows of the turns of a call that judged them together; they carry no usage."""
    if isinstance(result.outcome, ChatFailure):
        return ()
    parts = result.outcome.value.turns
    return tuple(
        row(calls, "turn", turn.number, turn_judgement(calls.rubric, parts[turn.number], turn))
        for turn in turns
    )


def failure_rows(calls: ConversationCalls, result: CallResult, turns: Sequence[Turn]) -> tuple[Judged, ...]:
    """Make the rows of a failed call: its turns and the conversation, which alone keeps the raw reply."""
    if not isinstance(result.outcome, ChatFailure):
        return ()
    bare = failure_of(result.outcome, raw=False)
    rows = [row(calls, "turn", turn.number, bare) for turn in turns]
    whole = row(calls, calls.rubric.level, None, failure_of(result.outcome), result.usage)
    return (*rows, whole)


def turn_scores(rows: Sequence[Judged]) -> list[Mapping[str, Number] | None]:
    """Return the scores of turn rows; None for one that failed."""
    return [r.outcome.numbers if isinstance(r.outcome, Judgement) else None for r in rows]


def conversation_row(calls: ConversationCalls, result: CallResult, turns: Sequence[Judged]) -> Judged:
    """Make the row of a conversation that one call judged."""
    if isinstance(result.outcome, ChatFailure):
        return row(calls, "conversation", None, failure_of(result.outcome), result.usage)
    judgement = whole_judgement(calls, result, result.outcome, turn_scores(turns))
    return row(calls, "conversation", None, judgement, result.usage)


def whole_judgement(
    calls: ConversationCalls,
    result: CallResult,
    outcome: Structured[ParsedReply],
    turns: Sequence[Mapping[str, Number] | None],
) -> Judgement:
    """Make the judgement of a conversation or window that one call judged.

    The verdict is computed from the scores; the model's own is kept beside it, with whether they differ.
    """
    reply = outcome.value
    whole = reply.whole
    if whole is None:
        return Judgement()
    decided = decide(calls.rubric, turns, whole.scores)
    details = {**label_details(whole), **decided.details, **call_details(calls, result)}
    if whole.notes:
        details["notes"] = dict(whole.notes)
    if reply.verdict is not None:
        details["model_verdict"] = reply.verdict
        details["verdict_mismatch"] = reply.verdict != (decided.verdict or decided.name)
    return Judgement(
        scores=as_scores(whole.scores),
        verdict=decided.verdict,
        verdict_basis=decided.basis,
        weakest_turn=reply.weakest_turn,
        rationale=reply.decision_basis or joined_notes(whole.notes),
        details=details,
        overall=decided.overall,
    )


def joined_notes(notes: Mapping[str, str]) -> str | None:
    """Join the notes of the dimensions into one text; None if there are none."""
    return " ".join(f"{name}: {note}" for name, note in notes.items()) or None
