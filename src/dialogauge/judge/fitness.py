"""Whether a model is fit to judge, by its known answers: a rule, and what of it does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dialogauge.core.scales import NOT_APPLICABLE, Score
from dialogauge.judge.known_answers import KnownAnswerReport, KnownCase, is_right, known_cases

__all__ = ["best_constants", "unfit"]

_ANSWERS: tuple[Score, ...] = (1, 2, 3, 4, 5, NOT_APPLICABLE)


def best_constants(cases: Sequence[KnownCase]) -> dict[str, int]:
    """Return for each thing that is checked in how many cases the best single answer is right."""
    right: dict[str, Counter[object]] = {}
    for case in cases:
        for what, band in case.bands.items():
            right.setdefault(what, Counter()).update(a for a in _ANSWERS if is_right(a, band))
        if case.weakest is not None:
            right.setdefault("weakest_turn", Counter()).update(case.weakest or (None,))
    return {what: max(counts.values()) for what, counts in right.items()}


def unfit(report: KnownAnswerReport) -> tuple[str, ...]:
    """Say what speaks against judging with a model; empty when it is fit.

    Fit is who answers every conversation in the form asked for, is right about each thing more often than
    whoever always gives the best single answer, and does not return the average of its turns.
    """
    out = []
    if report.failures:
        out.append(f"{len(report.failures)} of {report.asked} conversations have no valid judgement")
    found = report.by_kind()
    for what, constant in best_constants(known_cases()).items():
        right, total = found.get(what, (0, 0))
        if right <= constant:
            name = what.replace("_", " ")
            out.append(f"{name} is right in {right} of {total}, the best single answer in {constant}")
    if report.returns_turn_average:
        out.append("it returns the average of its turns")
    return tuple(out)
