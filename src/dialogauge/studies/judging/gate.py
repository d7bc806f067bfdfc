"""A gate: one condition that a run must meet, for use in continuous integration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from dialogauge.core import UsageError, Verdict
from dialogauge.report import words

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
        """Compare the gate with a summary.

        Raises:
            UsageError: The summary has no such dimension, or the judge gives no verdicts.
        """
        if self.subject == "verdict":
            return self._verdict(summary)
        if self.subject == "failed":
            share = summary.failed_share
            shown = "undefined" if share is None else words.percent(share)
            return self._result(share, f"failed targets: {shown} of {summary.replied}", share=True)
        dimension = summary.dimension(self.subject)
        if dimension is None:
            names = ", ".join(d.name for d in summary.dimensions) or "none"
            msg = f"gate {self.expression!r}: the rubric has no dimension {self.subject!r}"
            raise UsageError(msg, hint=f"dimensions: {names}")
        value = _figure(dimension, self.figure)
        shown = "undefined" if value is None else f"{value:z.3f}"
        counts = f"{dimension.n}/{dimension.requested} scored, {dimension.n_failed} failed"
        return self._result(value, f"{self.subject}.{self.figure} is {shown} ({counts})")

    def _verdict(self, summary: Summary) -> GateResult:
        verdicts = summary.verdicts
        if verdicts is None and summary.scored:
            msg = f"gate {self.expression!r}: this rubric gives no verdicts"
            raise UsageError(msg, hint=_FORMS)
        if verdicts is None or not verdicts.requested:
            return self._result(None, "no conversation has a verdict", share=True)
        at = _ORDER.index(self.figure)
        hits, word, qualifying = 0, "at least", _ORDER[at:]
        if self.operator == "<=":
            hits, word, qualifying = verdicts.missing, "without a verdict or at most", _ORDER[: at + 1]
        hits += sum(verdicts.counts.get(v, 0) for v in qualifying)
        share, requested = hits / verdicts.requested, verdicts.requested
        figure = (
            f"{hits} of {requested} requested conversations ({words.percent(share)}) are {word} {self.figure}"
        )
        if verdicts.missing:
            figure += f"; {verdicts.missing} have no verdict and count against the gate"
        return self._result(share, figure, share=True)

    def _result(self, value: float | None, figure: str, *, share: bool = False) -> GateResult:
        met = value is not None and _holds(value, self.operator, self.threshold)
        limit = f"{self.threshold * 100:g} %" if share else f"{self.threshold:g}"
        end = f"{'met' if met else 'not met'}: {figure}; asked {self.operator} {limit}"
        return GateResult(met, value, f"gate {self.expression} {end}")


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
    mean, (worst, best) = dimension.mean, dimension.bounds or (None, None)
    figures = {"mean": mean.value, "low": mean.low, "high": mean.high, "worst": worst, "best": best}
    return figures[figure]


def _holds(value: float, operator: str, threshold: float) -> bool:
    # shares such as 0.9 are not exact in binary: 9 of 10 must meet 0.9
    if operator in (">=", "<=") and abs(value - threshold) < 1e-12:
        return True
    return value > threshold if operator.startswith(">") else value < threshold
