"""From a checked reply to the judgement of a target: verdict, evidence, and what else is to be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from dialogauge.core.conversation import Turn
from dialogauge.core.judgement import Evidence, Judgement, Level, Verdict, VerdictBasis
from dialogauge.core.scales import Score
from dialogauge.judge.parsed import ParsedPart
from dialogauge.judge.verdict import card_verdict
from dialogauge.prompts import VERDICTS, Rubric

__all__ = ["Decision", "decide", "label_details", "supported", "turn_judgement"]

Decision = tuple[Verdict | None, VerdictBasis | None, dict[str, Any]]
"""Verdict, its basis, and for the details: the class or the overall score."""


def turn_judgement(
    rubric: Rubric, part: ParsedPart, turn: Turn, details: Mapping[str, Any] | None = None
) -> Judgement:
    """Make the judgement of one turn; quotes that do not occur in it are dropped and counted."""
    evidence, unsupported = supported(part.quotes, turn)
    more = {"quotes_unsupported": unsupported} if unsupported else {}
    own = rubric.level == "turn"
    verdict, basis, decided = decide(rubric, [], part.scores) if own else (None, None, {})
    decided = decided or _overall_details(rubric, "turn", part.scores)
    return Judgement(
        scores=dict(part.scores),
        verdict=verdict,
        verdict_basis=basis,
        issues=part.issues,
        evidence=evidence,
        rationale=part.notes.get(""),
        details={**label_details(part), **decided, **more, **(details or {})},
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
    rubric: Rubric, turns: Sequence[Mapping[str, Score] | None], scores: Mapping[str, Score]
) -> Decision:
    """Apply the rubric's verdict rule to the scores of one target.

    Args:
        rubric: Its rule, if it has one.
        turns: For the card: the scores of the judged turns, None for one that failed.
        scores: The target's own scores.

    Classes with names of the rubric's own (SAT, DSAT) come back as `class` in the details, since a
    verdict is one of four words. A score of n/a has neither verdict nor class.
    """
    rule = rubric.verdict
    if rule is None:
        return None, None, _overall_details(rubric, rubric.level, scores)
    if rule.rule == "card":
        verdict, basis = card_verdict(turns, scores)
        return verdict, basis, _overall_details(rubric, rubric.level, scores)
    overall = _overall(rubric, rubric.level, scores)
    value = scores.get(rule.dimension) if rule.dimension else overall
    details = _overall_details(rubric, rubric.level, scores)
    if rule.dimension is None and overall is not None:
        details["overall"] = overall
    if value is None or isinstance(value, str):
        return None, None, details
    reached = [(low, name) for name, low in rule.at_least.items() if value >= low]
    name = max(reached)[1]
    if name in VERDICTS:
        return cast("Verdict", name), "full", details
    return None, None, {**details, "class": name}


def _overall(rubric: Rubric, level: Level, scores: Mapping[str, Score]) -> float | None:
    """Return the weighted mean of the scores that are numbers; None if there is none."""
    weighted = any(d.weight is not None for d in rubric.at(level))
    total = weight = 0.0
    for d in rubric.at(level):
        share = (d.weight or 0.0) if weighted else 1.0
        value = scores.get(d.name)
        if isinstance(value, int | float) and share:
            total, weight = total + share * value, weight + share
    return total / weight if weight else None


def _overall_details(rubric: Rubric, level: Level, scores: Mapping[str, Score]) -> dict[str, Any]:
    if all(d.weight is None for d in rubric.at(level)):
        return {}
    return {"overall": _overall(rubric, level, scores)}
