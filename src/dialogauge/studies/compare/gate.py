"""A gate on a difference: one condition that the second run must meet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dialogauge.core import UsageError
from dialogauge.core.settings import nearest
from dialogauge.report import words
from dialogauge.studies.compare.comparison import ANY_FINDING, AT_LEAST_GOOD, Change, RunComparison
from dialogauge.studies.judging.gate import GateResult, holds

_FORM: Final = re.compile(r"([\w-]+)\.delta(\.value)?\s*(>=|<=|>|<)\s*([+-]?[0-9]*\.?[0-9]+)")
_FORMS: Final = (
    "write a gate as helpfulness.delta>=-0.1 (B less A; the 95 % interval must show it), "
    "helpfulness.delta.value>=-0.1 (these conversations alone) or good.delta>=-0.05 (share of conversations "
    "that are at least good; findings.delta: of those with a finding)"
)
_SHARES: Final = {AT_LEAST_GOOD: "good", ANY_FINDING: "findings"}


@dataclass(frozen=True, slots=True)
class DeltaGate:
    """One condition; made by `parse_delta_gate`."""

    expression: str
    subject: str
    """A dimension, `good` or `findings`."""
    plain: bool
    """Whether it asks about these conversations alone."""
    operator: str
    threshold: float

    def evaluate(self, result: RunComparison) -> GateResult:
        """Compare the gate with a comparison; the end of the interval that speaks against it counts.

        Raises:
            UsageError: The runs have no such figure.
        """
        change = self._subject(result)
        delta, above = change.delta, self.operator.startswith(">")
        value = delta.value if self.plain else delta.low if above else delta.high
        shown = f"{self.subject}.delta is {difference_words(change)}"
        if not self.plain and delta.value is not None and holds(delta.value, self.operator, self.threshold):
            if value is None:
                shown += f"; the sample cannot show it: {delta.reason or 'there is no interval'}"
            elif not holds(value, self.operator, self.threshold):
                shown += (
                    f"; the sample does not show it, because the {'lower' if above else 'upper'} end counts"
                )
        met = value is not None and holds(value, self.operator, self.threshold)
        if met and above == change.higher_is_better and _worse(change):
            shown += ", shown to be worse, but by less than the gate allows"
        least, best = change.detectable_alone, delta.high if above else delta.low
        missed = best is not None and not holds(best, self.operator, self.threshold)
        if not (self.plain or met or missed) and least is not None and least > abs(self.threshold):
            asked = f"{abs(self.threshold) * 100:g} points" if change.share else f"{abs(self.threshold):g}"
            shown += f"; it cannot show a change of {asked}: the" if self.threshold else "; the"
            shown += f" least that it shows in 4 of 5 cases is {_size(change, least)}"
        limit = f"required {self.operator} {self.threshold:g}"
        return GateResult(
            met, value, f"gate {self.expression} {'met' if met else 'not met'}: {shown}; {limit}"
        )

    def _subject(self, result: RunComparison) -> Change:
        shares = (c for c in (*result.verdicts, *result.findings) if c.name in _SHARES)
        known = {_SHARES[c.name]: c for c in shares} | {d.name: d for d in result.dimensions}
        if self.subject not in known:
            meant = nearest(self.subject, list(known))
            msg = f"gate {self.expression!r}: the runs have no figure {self.subject!r}"
            hint = f"figures: {', '.join(known)}"
            raise UsageError(msg, hint=hint if meant is None else f"did you mean {meant!r}? {hint}")
        return known[self.subject]


def parse_delta_gate(expression: str) -> DeltaGate:
    """Read a gate such as `helpfulness.delta>=-0.1`; raises UsageError for one of another form."""
    match = _FORM.fullmatch(expression.strip())
    if match is None:
        msg = f"cannot read the gate {expression!r}"
        raise UsageError(msg, hint=_FORMS)
    subject, plain, operator, threshold = match.groups()
    return DeltaGate(expression.strip(), subject, bool(plain), operator, float(threshold))


def difference_words(change: Change) -> str:
    """Write a difference with its interval: `-0.31 [-0.50, -0.12]`; of a share in points."""
    delta, factor = change.delta, 100 if change.share else 1
    digits = 1 if change.share else change.digits
    if delta.value is None:
        return "undefined"
    shown = words.decimal(delta.value * factor, digits, signed=True) + (" points" if change.share else "")
    if delta.interval is None:
        return f"{shown} [no interval]"
    low, high = (words.decimal(end * factor, digits, signed=True) for end in delta.interval)
    return f"{shown} [{low}, {high}]"


def _worse(change: Change) -> bool:
    """Say whether a change for the worse is shown; of a share, which is not tested, by its interval."""
    if not change.share:
        return change.answer == "worse"
    low, high = change.delta.interval or (0.0, 0.0)
    return high < 0 if change.higher_is_better else low > 0


def _size(change: Change, value: float) -> str:
    return f"{value * 100:.1f} points" if change.share else f"{value:.2f}"
