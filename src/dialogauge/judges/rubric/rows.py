"""From the answer of a call to the rows of its targets; the usage is booked once per call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from dialogauge.core.conversation import Message, Turn
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
    whole_score,
)
from dialogauge.judges.card import card_verdict
from dialogauge.judges.rubric.prompt import ROLE, CallResult, ConversationCalls
from dialogauge.judges.rubric.reply import UNPROVEN, ParsedPart, ParsedReply, share
from dialogauge.llm.structured import Structured
from dialogauge.rubrics import VERDICTS, Rubric

_MOST_QUOTES = 50
"""Of one turn that are looked up; a reply has a few."""


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
    for d in means:
        numbers = [v for name in d.mean_of if not isinstance(v := part.scores[name], str)]
        mean = sum(numbers) / len(numbers) if numbers else NOT_APPLICABLE
        scores[d.name] = mean
        if d.scale.integer and not isinstance(mean, str):
            whole[d.name] = whole_score(mean, d.scale)
    return replace(part, scores=scores, whole=whole)


def supported(quotes: Iterable[tuple[str, str]], turn: Turn) -> tuple[tuple[Evidence, ...], int]:
    """Keep the quotes that occur in the turn, spaces apart; return them and how many were dropped."""
    quotes = tuple(quotes)
    if not quotes:
        return (), 0
    material = Material(turn.messages)
    places = [(dimension, material.place(quote)) for dimension, quote in quotes]
    kept = tuple(Evidence(turn.number, plain, dimension) for dimension, plain in places if plain)
    return kept, len(quotes) - len(kept)


class Material:
    """Texts in which quotes are looked up."""

    def __init__(self, messages: Iterable[Message], *texts: str) -> None:
        """Take messages with the arguments of their tool calls, and further texts."""
        messages = tuple(messages)
        arguments = (call.arguments for m in messages for call in m.tool_calls)
        self._written = "\n".join((*(m.text for m in messages), *arguments, *texts))
        self._left = _MOST_QUOTES

    @cached_property
    def _plain(self) -> str:
        return _plain(self._written)

    def place(self, quote: str) -> str | None:
        """Return the words that occur, without what surrounds a quote; None where they do not.

        Only so many are looked up, so that a reply of thousands of quotes holds nobody up.
        """
        if self._left <= 0:
            return None
        self._left -= 1
        plain = _plain(quote).strip(" \"'“”‘’「」…").removesuffix("...").strip()
        if not plain or plain in self._written:
            return plain or None
        # Word for word is the rule; only else are the spaces looked past, where its words occur at all.
        occurs = max(plain.split(" "), key=len) in self._written and plain in self._plain
        return plain if occurs else None


def _plain(text: str) -> str:
    return " ".join(text.split())


def _proven(rubric: Rubric, part: ParsedPart, turn: Turn, calls: ConversationCalls) -> tuple[ParsedPart, int]:
    """Let the items that need a quote count only where it occurs; return how many do not.

    It must occur in the source or before the end of the turn, and not in the reply itself.
    """
    lists = {x.name: x for x in rubric.items if x.quoted and x.name in part.items}
    if not lists:
        return part, 0
    before = (*calls.conversation.messages[: turn.start], *turn.user, *turn.steps)
    material = Material(before, calls.source or "")
    scores, items, dropped = dict(part.scores), dict(part.items), 0
    for name, x in lists.items():
        looked_up = [
            item
            if item.option not in x.quoted or material.place(item.quote)
            else item._replace(option=UNPROVEN)
            for item in items[name]
        ]
        dropped += sum(item.option == UNPROVEN for item in looked_up)
        items[name] = tuple(looked_up)
        scores[x.dimension] = share(x, items[name])
    return replace(part, scores=scores, items=items), dropped


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
        details["items"] = {
            name: [
                {"text": item.text, "label": item.option} | ({"quote": item.quote} if item.quote else {})
                for item in items
            ]
            for name, items in part.items.items()
        }
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
    return details | cut_or_ignored([answer.value], result.tool_results_cut)


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


def cut_or_ignored(replies: Sequence[ParsedReply], tool_results_cut: int) -> dict[str, int]:
    """Return the counts of what was cut in prompts and replies, and of unknown keys, where there are any."""
    counted = {
        "basis_cut": sum(r.basis_cut for r in replies),
        "extra_keys": sum(r.extra_keys for r in replies),
        "tool_results_cut": tool_results_cut,
    }
    return {key: count for key, count in counted.items() if count}


def turn_row(calls: ConversationCalls, result: CallResult, turn: Turn) -> Judged:
    """Make the row of a turn that had a call of its own."""
    outcome: Judgement | JudgeFailure
    if isinstance(result.outcome, JudgeFailure):
        outcome = result.outcome
    else:
        details = _call_details(calls, result, result.outcome)
        part, unproven = _proven(calls.rubric, result.outcome.value.turns[turn.number], turn, calls)
        if unproven:
            details["quotes_unsupported"] = unproven
        outcome = turn_judgement(calls.rubric, part, turn, details)
    return row(calls, "turn", turn.number, outcome, result.usage)


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
    return judgement_of(whole, decided, details, rationale_of(reply), weakest_turn=reply.weakest_turn)


def rationale_of(reply: ParsedReply) -> str | None:
    """Return what the model gives as its basis, else the notes of the dimensions; None without either."""
    return reply.decision_basis or _joined(reply.whole.notes)


def _joined(notes: Mapping[str, str]) -> str | None:
    return " ".join(f"{name}: {note}" for name, note in notes.items()) or None
