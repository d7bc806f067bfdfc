"""A gate on a difference: one condition that the second run must meet."""

from __future__ import annotations

from typing import Final

from dialogauge.core import UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.settings import nearest
from dialogauge.core.values import Value
from dialogauge.judges.local.evidence import OF_TOOLS, TITLES
from dialogauge.report import words
from dialogauge.studies.compare.comparison import AT_LEAST_GOOD, RunComparison
from dialogauge.studies.compare.figures import ANY_FINDING, Change, finding_share
from dialogauge.studies.compare.talks import FAILED, OF_TURNS
from dialogauge.studies.judging.gate import GateResult, holds

_FORM: Final = lazy_pattern(
    r"((?:finding\.|rating\.)?[\w-]+)\.delta(\.value)?\s*(>=|<=|>|<)\s*([+-]?[0-9]*\.?[0-9]+)"
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


class DeltaGate(Value):
    """One condition; made by `parse_delta_gate`."""

    expression: str
    subject: str
    """`finding.KIND`, `rating.NAME`, a dimension, `good`, `findings` or `failed`."""
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
        shown = f"{self.subject}.delta is {difference_words(change)}"
        met = value is not None and holds(value, self.operator, self.threshold)
        if not (self.plain or met or delta.value is None) and holds(
            delta.value, self.operator, self.threshold
        ):
            why = f"does not show it, because the {'lower' if above else 'upper'} end counts"
            if value is None:
                why = f"cannot show it: {delta.reason or 'there is no interval'}"
            shown += f"; the sample {why}"
        worse = change.answer == "worse"
        if change.share:  # not all shares are tested
            low, high = delta.interval or (0.0, 0.0)
            worse = high < 0 if change.higher_is_better else low > 0
        if met and above == change.higher_is_better and worse:
            shown += ", shown to be worse, but by less than the gate allows"
        least, best = change.detectable_alone, delta.high if above else delta.low
        missed = best is not None and not holds(best, self.operator, self.threshold)
        if not (self.plain or met or missed) and least is not None and least > abs(self.threshold):
            asked, size = f"{abs(self.threshold):g}", f"{least:.2f}"
            if change.share:
                asked, size = f"{abs(self.threshold) * 100:g} points", f"{least * 100:.1f} points"
            shown += f"; it cannot show a change of {asked}: the" if self.threshold else "; the"
            shown += f" least that it shows in 4 of 5 cases is {size}"
        limit = f"required {self.operator} {self.threshold:g}"
        return GateResult(
            met, value, f"gate {self.expression} {'met' if met else 'not met'}: {shown}; {limit}"
        )

    def _subject(self, result: RunComparison) -> Change:
        what, known, named = f"gate {self.expression!r}", may_gate(result), "what may gate here"
        if self.subject in known:
            return known[self.subject]
        names, wanted = list(known), self.subject
        group, _, name = self.subject.rpartition(".")
        msg = f"{what}: the runs have no figure {name!r}"
        if group == "finding" and result.any_finding is not None:
            if name in KINDS and (made := finding_share(result.pairing, name)):
                return made.change  # in neither run: no change
            msg, named, wanted = f"{what}: there is no finding {name!r}", "findings", name
            kinds = [c.name for c in result.kinds]
            names = [*kinds, *sorted(KINDS - {*kinds})]
        elif group:
            msg = f"{what}: the runs have no {group} {name!r} in common"
        elif name in {d.name for d in result.untested} or (name == _GOOD and result.verdicts):
            msg = f"{what}: nothing shows that {name} agrees with people on such conversations"
            listed = ", ".join(f"{one}.delta" for one in known)
            raise UsageError(msg, hint=f"{named}: {listed}; or gate on it all the same: --unchecked")
        meant, hint = nearest(wanted, names), f"{named}: {', '.join(names) or 'nothing'}"
        raise UsageError(msg, hint=hint if meant is None else f"did you mean {meant!r}? {hint}")


def may_gate(result: RunComparison) -> dict[str, Change]:
    """Return what a gate may ask about, by the words of gates without `.delta`."""
    names = {FAILED: FAILED, ANY_FINDING: "findings"} | ({AT_LEAST_GOOD: _GOOD} if result.graded else {})
    shares = (*result.controls, *result.findings, *result.verdicts)
    # People's ratings by dimension; of one rated at both levels that of turns has a longer name.
    rated = {c.name: c for c in result.ratings}
    short = {name: name.removesuffix(OF_TURNS) for name in rated}
    shown = {name: name if brief in rated else brief for name, brief in short.items()}
    return (
        {names[c.name]: c for c in shares if c.name in names}
        | {d.name: d for d in result.tested}
        | {f"finding.{c.name}": c for c in result.kinds}
        | {f"rating.{shown[name].replace(' ', '_')}": c for name, c in rated.items()}
    )


def parse_delta_gate(expression: str) -> DeltaGate:
    """Read a gate such as `findings.delta<=0.05`; raises UsageError for one of another form."""
    match = _FORM.fullmatch(expression.strip())
    if match is None:
        msg = f"cannot read the gate {expression!r}"
        alone = (
            "; other gates ask about one run: dialogauge judge --gate" if ".delta" not in expression else ""
        )
        raise UsageError(msg, hint=_FORMS + alone)
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
