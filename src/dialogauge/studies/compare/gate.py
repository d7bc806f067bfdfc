"""A gate on a difference: one condition that the second run must meet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.core import UsageError
from dialogauge.core.settings import nearest
from dialogauge.judges.local.evidence import OF_TOOLS, TITLES
from dialogauge.report import words
from dialogauge.studies.compare.comparison import AT_LEAST_GOOD, RunComparison
from dialogauge.studies.compare.figures import ANY_FINDING, Change, finding_share
from dialogauge.studies.compare.talks import FAILED
from dialogauge.studies.judging.gate import GateResult, holds

_FORM: Final = re.compile(
    r"(?:(finding|rating)\.)?([\w-]+)\.delta(\.value)?\s*(>=|<=|>|<)\s*([+-]?[0-9]*\.?[0-9]+)"
)
_FORMS: Final = (
    "write a gate as findings.delta<=0.05 (B less A, share of the conversations with a finding; the 95 % "
    "interval must show it), findings.delta.value<=0.05 (these conversations alone), "
    "finding.refuses.delta<=0.02 (one kind of finding), failed.delta<=0.01 (failed judgements), "
    "rating.satisfaction.delta>=-0.1 (people's ratings); and of what is checked helpfulness.delta>=-0.1 or "
    "good.delta>=-0.05 (share of conversations that are at least good)"
)
_GOOD: Final = "good"
KINDS: Final = frozenset({*TITLES, *OF_TOOLS})
"""The kinds of findings that the local judge may name."""


@dataclass(frozen=True, slots=True)
class DeltaGate:
    """One condition; made by `parse_delta_gate`."""

    expression: str
    group: str
    """`finding` or `rating`, else empty."""
    subject: str
    """A kind of finding, a rating, a dimension, `good`, `findings` or `failed`."""
    plain: bool
    """Whether it asks about these conversations alone."""
    operator: str
    threshold: float

    def evaluate(self, result: RunComparison) -> GateResult:
        """Compare the gate with a comparison; the end of the interval that speaks against it counts.

        Raises:
            UsageError: The runs have no such figure, or nothing showed that it agrees with people.
        """
        change = self._subject(result)
        delta, above = change.delta, self.operator.startswith(">")
        value = delta.value if self.plain else delta.low if above else delta.high
        figure = ".".join(filter(None, (self.group, self.subject, "delta")))
        shown = f"{figure} is {difference_words(change)}"
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
        what = f"gate {self.expression!r}"
        if self.group == "finding" and result.any_finding is not None:
            return self._kind(result)
        if self.group:
            named = {_word(c.name): c for c in result.ratings} if self.group == "rating" else {}
            if self.subject not in named:
                msg = f"{what}: the runs have no {self.group} {self.subject!r} in common"
                raise UsageError(msg, hint=_hint(f"{self.group}.{self.subject}", may_gate(result)))
            return named[self.subject]
        gated = _gated(result)
        if self.subject in gated:
            return gated[self.subject]
        unchecked = {d.name for d in result.untested} | ({_GOOD} if result.verdicts else set())
        if self.subject in unchecked:
            msg = f"{what}: nothing shows that {self.subject} agrees with people on such conversations"
            raise UsageError(msg, hint=f"{_listed(result)}; or gate on it all the same: --unchecked")
        msg = f"{what}: the runs have no figure {self.subject!r}"
        raise UsageError(msg, hint=_hint(self.subject, may_gate(result)))

    def _kind(self, result: RunComparison) -> Change:
        change = next((c for c in result.kinds if c.name == self.subject), None)
        if change is None and self.subject in KINDS and (made := finding_share(result.pairing, self.subject)):
            return made.change  # in neither run: no change
        if change is None:
            msg = f"gate {self.expression!r}: there is no finding {self.subject!r}"
            kinds = [*(c.name for c in result.kinds), *sorted(KINDS - {c.name for c in result.kinds})]
            raise UsageError(msg, hint=_hint(self.subject, kinds, "findings"))
        return change


def _gated(result: RunComparison) -> dict[str, Change]:
    """Return what a gate may ask about without a group: failures, findings and what is checked."""
    names = {FAILED: FAILED, ANY_FINDING: "findings"} | ({AT_LEAST_GOOD: _GOOD} if result.graded else {})
    shares = (*result.controls, *result.findings, *result.verdicts)
    gated = {names[c.name]: c for c in shares if c.name in names}
    return gated | {d.name: d for d in result.tested}


def may_gate(result: RunComparison) -> tuple[str, ...]:
    """Return what a gate may ask about, by the words of gates without `.delta`."""
    findings = tuple(f"finding.{c.name}" for c in result.kinds)
    return (*_gated(result), *findings, *(f"rating.{_word(c.name)}" for c in result.ratings))


def _listed(result: RunComparison) -> str:
    return f"what may gate here: {', '.join(f'{name}.delta' for name in may_gate(result))}"


def _hint(name: str, known: Sequence[str], what: str = "what may gate here") -> str:
    meant = nearest(name, known)
    hint = f"{what}: {', '.join(known) or 'nothing'}"
    return hint if meant is None else f"did you mean {meant!r}? {hint}"


def _word(name: str) -> str:
    return name.replace(" ", "_")


def parse_delta_gate(expression: str) -> DeltaGate:
    """Read a gate such as `findings.delta<=0.05`; raises UsageError for one of another form."""
    match = _FORM.fullmatch(expression.strip())
    if match is None:
        msg = f"cannot read the gate {expression!r}"
        alone = (
            "; other gates ask about one run: dialogauge judge --gate" if ".delta" not in expression else ""
        )
        raise UsageError(msg, hint=_FORMS + alone)
    group, subject, plain, operator, threshold = match.groups()
    return DeltaGate(expression.strip(), group or "", subject, bool(plain), operator, float(threshold))


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
