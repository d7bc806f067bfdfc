"""A gate: one condition that a run must meet, for use in continuous integration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from dialogauge.core import UsageError, Verdict

if TYPE_CHECKING:
    from dialogauge.studies.judging.summary import DimensionSummary, Summary

_ORDER: Final = tuple(reversed(get_args(Verdict)))
"""From poor to excellent."""

_FORMS: Final = (
    "a gate is written as verdict>=good:0.9 (share of requested conversations at least good), "
    "verdict<=poor:0.05 (share at most poor, or without a verdict), helpfulness.mean>=4, "
    "helpfulness.low>=3.8 (lower end of the 95 % interval), helpfulness.worst>=3.5 (mean if every failure "
    "were the worst score), or failed<=0.02"
)
_NUMBER = r"([0-9]*\.?[0-9]+)"
_VERDICT = re.compile(rf"verdict\s*(>=|<=)\s*(\w+)\s*:\s*{_NUMBER}")
_FAILED = re.compile(rf"failed\s*(<=|<)\s*{_NUMBER}")
_DIMENSION = re.compile(rf"([\w-]+)\.(mean|low|high|worst|best)\s*(>=|<=|>|<)\s*(-?{_NUMBER[1:-1]})")


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether the gate was met, by which figure, in a sentence."""

    met: bool
    value: float | None
    """None when the figure is undefined; the gate is then not met."""
    sentence: str

    def __bool__(self) -> bool:
        return self.met


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition; made by `parse_gate`."""

    expression: str
    subject: str
    """`verdict`, `failed` or the name of a dimension."""
    figure: str
    """The verdict, or mean, low, high, worst, best."""
    operator: str
    threshold: float

    def evaluate(self, summary: Summary) -> GateResult:
        """Hold the gate against a summary.

        Raises:
            UsageError: The summary has no such dimension, or the judge gives no verdicts.
        """
        if self.subject == "verdict":
            return self._verdict(summary)
        if self.subject == "failed":
            share = summary.failed_share
            return self._result(
                share, f"failed targets: {_percent(share)} of {summary.requested}", share=True
            )
        found = summary.dimension(self.subject)
        if found is None:
            names = ", ".join(d.name for d in summary.dimensions) or "none"
            msg = f"gate {self.expression!r}: the rubric has no dimension {self.subject!r}"
            raise UsageError(msg, hint=f"dimensions: {names}")
        value = _figure(found, self.figure)
        shown = "undefined" if value is None else f"{value:z.3f}"
        counts = f"{found.n}/{found.requested} scored, {found.n_failed} failed"
        return self._result(value, f"{self.subject}.{self.figure} is {shown} ({counts})")

    def _verdict(self, summary: Summary) -> GateResult:
        verdicts = summary.verdicts
        if verdicts is None and summary.scored:
            msg = f"gate {self.expression!r}: this rubric gives no verdicts"
            raise UsageError(msg, hint=_FORMS)
        if verdicts is None or not verdicts.requested:
            return self._result(None, "no conversation has a verdict", share=True)
        at = _ORDER.index(self.figure)
        wanted = _ORDER[at:] if self.operator == ">=" else _ORDER[: at + 1]
        hits = sum(verdicts.counts.get(v, 0) for v in wanted)
        word = "at least"
        if self.operator == "<=":
            hits, word = hits + verdicts.missing, "without a verdict or at most"
        share = hits / verdicts.requested
        told = (
            f"{hits} of {verdicts.requested} requested conversations ({share:.1%}) are {word} {self.figure}"
        )
        if verdicts.missing:
            told += f"; {verdicts.missing} have no verdict and count against the gate"
        return self._result(share, told, share=True)

    def _result(self, value: float | None, told: str, *, share: bool = False) -> GateResult:
        met = value is not None and _holds(value, self.operator, self.threshold)
        limit = f"{self.threshold:.1%}" if share else f"{self.threshold:g}"
        state = "met" if met else "not met"
        return GateResult(
            met, value, f"gate {self.expression} {state}: {told}; asked {self.operator} {limit}"
        )


def parse_gate(expression: str) -> Gate:
    """Read a gate such as `verdict>=good:0.9`, `helpfulness.mean>=4` or `failed<=0.02`.

    Raises:
        UsageError: The expression has none of the known forms.
    """
    text = expression.strip()
    if match := _VERDICT.fullmatch(text):
        operator, verdict, share = match.groups()
        if verdict in _ORDER and float(share) <= 1:
            return Gate(text, "verdict", verdict, operator, float(share))
    elif match := _FAILED.fullmatch(text):
        if float(match[2]) <= 1:
            return Gate(text, "failed", "share", match[1], float(match[2]))
    elif match := _DIMENSION.fullmatch(text):
        return Gate(text, match[1], match[2], match[3], float(match[4]))
    msg = f"cannot read the gate {expression!r}"
    raise UsageError(msg, hint=_FORMS)


def _figure(dimension: DimensionSummary, figure: str) -> float | None:
    mean, bounds = dimension.mean, dimension.bounds
    figures = {
        "mean": mean.value,
        "low": mean.low,
        "high": mean.high,
        "worst": None if bounds is None else bounds[0],
        "best": None if bounds is None else bounds[1],
    }
    return figures[figure]


def _holds(value: float, operator: str, threshold: float) -> bool:
    # shares such as 0.9 are not exact in binary: 9 of 10 must meet 0.9
    if operator in (">=", "<=") and abs(value - threshold) < 1e-12:
        return True
    return value > threshold if operator.startswith(">") else value < threshold


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"
