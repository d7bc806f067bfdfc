"""A gate: one condition that a run must meet, for use in continuous integration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from dialogauge.core import UsageError, Verdict
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.settings import nearest
from dialogauge.core.values import Value
from dialogauge.judges.local.evidence import OF_TOOLS, TITLES
from dialogauge.report import words
from dialogauge.rubrics import NO_RUBRIC, load_rubric
from dialogauge.studies.evidence import NOTHING_CHECKED, RunEvidence
from dialogauge.studies.judging.summary import ANY_KIND, NO_KIND
from dialogauge.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dialogauge.core import Level
    from dialogauge.stats import Estimate
    from dialogauge.studies.judging.people import People
    from dialogauge.studies.judging.summary import Summary

_CARD: Final = get_args(Verdict)

_FORMS: Final = (
    "write a gate as failed<=0.02 (share of failures in this run), findings.share<=0.2 (share of the "
    "conversations that have a finding), finding.refuses.share<=0.05 (of one kind), findings==0 (none), "
    "rating.satisfaction.mean>=4 (people's ratings); and of what is checked helpfulness.mean>=4, "
    "helpfulness.worst>=3.5 (mean if every failure were the worst score), verdict>=good:0.9 (share of "
    "requested conversations that are at least good), verdict<=poor:0.05 (at most poor, or without a "
    "verdict). The 95 % interval must show a share, a mean or a verdict; findings.value<=0.2, "
    "helpfulness.value>=4 and verdict.value>=good:0.9 ask about these conversations alone"
)
_NUMBER = r"([0-9]*\.?[0-9]+)"
_VERDICT = lazy_pattern(rf"verdict(\.value)?\s*(>=|<=)\s*([^\s:][^:]*?)\s*:\s*{_NUMBER}")
_SHARE = lazy_pattern(rf"(failed|findings|finding\.[\w-]+)(\.share|\.value)?\s*(<=|<)\s*{_NUMBER}")
_NONE = lazy_pattern(r"(findings|finding\.[\w-]+)\s*==\s*0")
_RATING = lazy_pattern(rf"rating\.([\w-]+)\.(mean|value)\s*(>=|<=|>|<)\s*(-?{_NUMBER[1:-1]})")
_DIMENSION = lazy_pattern(rf"([\w-]+)\.(mean|value|low|high|worst|best)\s*(>=|<=|>|<)\s*(-?{_NUMBER[1:-1]})")


class GateResult(Value):
    """Whether the gate was met, by which figure, in a sentence."""

    met: bool
    value: float | None
    """None when the figure is undefined; the gate is then not met."""
    sentence: str
    refused: bool = False
    """Whether it asks about what is not checked, and so is no gate of this run."""

    def __bool__(self) -> bool:
        return self.met


class Gate(Value):
    """One condition; made by `parse_gate`."""

    expression: str
    subject: str
    """`verdict`, `finding`, `rating`, `failed` or the name of a dimension."""
    figure: str
    """The verdict, the kind of finding or `any`, what was rated; else mean, value, low, high, worst, best."""
    operator: str
    threshold: float
    verdicts: tuple[str, ...] = _CARD
    """The names that the rubric gives, the best first; empty where it gives none."""
    level: Level = "conversation"
    """Of what is given a verdict: the turns or the conversations."""
    plain: bool = False
    """Whether a share or a rating is that of these conversations alone."""

    def expect(self, dimensions: Sequence[str]) -> None:
        """Raise UsageError where the rubric has no such verdict or dimension; it names those there are."""
        if self.subject == "verdict":
            if not self.verdicts:
                msg = f"gate {self.expression!r}: this rubric gives no verdicts"
                raise UsageError(msg, hint=_FORMS)
            self._expect("verdict", self.figure, self.verdicts, f"; {_FORMS}")
        elif self.subject == "finding":
            self._expect("finding", self.figure, (ANY_KIND, *TITLES, *OF_TOOLS))
        elif self.subject not in ("rating", "failed"):
            self._expect("dimension", self.subject, dimensions)

    def _expect(self, what: str, name: str, known: Sequence[str], more: str = "") -> None:
        if name not in known:
            meant = nearest(name, known)
            msg = f"gate {self.expression!r}: the rubric has no {what} {name!r}"
            hint = f"{what}s: {', '.join(known) or 'none'}{more}"
            raise UsageError(msg, hint=hint if meant is None else f"did you mean {meant!r}? {hint}")

    def evaluate(
        self, summary: Summary, evidence: RunEvidence = NOTHING_CHECKED, people: People | None = None
    ) -> GateResult:
        """Compare the gate with a summary.

        Args:
            summary: Of the run.
            evidence: What is checked of it: a gate on anything else is refused.
            people: What people said of its conversations.

        Raises:
            UsageError: The summary has no such dimension, or the judge gives no verdicts.
        """
        self.expect([d.name for d in summary.dimensions])
        if self.subject == "finding":
            return self._finding(summary.findings_of)
        if self.subject == "rating":
            return self._rating(people)
        if self.subject == "failed":
            share = summary.failed_share
            shown = "undefined" if share is None else words.percent(share)
            return self._result(share, f"failed targets: {shown} of {summary.replied}", share=True)
        try:
            evidence.expect(self.subject, f"gate {self.expression}")
        except UsageError as refusal:
            return GateResult(met=False, value=None, sentence=str(refusal), refused=True)
        if self.subject == "verdict":
            return self._verdict(summary)
        dimension = next(d for d in summary.dimensions if d.name == self.subject)
        counts = f"{dimension.n}/{dimension.requested} scored, {dimension.n_failed} failed"
        if self.figure == "mean":
            mean = dimension.mean
            shown = "undefined" if mean.value is None else f"{mean.value:z.3f}"
            if mean.interval is not None:
                shown += f" [{mean.interval[0]:z.3f}, {mean.interval[1]:z.3f}]"
            return self._shown(mean, f"{self.subject}.mean is {shown} ({counts})")
        estimate, (worst, best) = dimension.mean, dimension.bounds or (None, None)
        ends = {"low": estimate.low, "high": estimate.high, "worst": worst, "best": best}
        value = {"value": estimate.value, **ends}[self.figure]
        shown = "undefined" if value is None else f"{value:z.3f}"
        return self._result(value, f"{self.subject}.{self.figure} is {shown} ({counts})")

    def _shown(self, estimate: Estimate, figure: str, *, share: bool = False) -> GateResult:
        """Hold the end of the interval that speaks against it to the condition: the sample must show it."""
        above = self.operator.startswith(">")
        end = estimate.low if above else estimate.high
        if estimate.value is not None and holds(estimate.value, self.operator, self.threshold):
            if end is None:
                figure += f"; the sample cannot show it: {estimate.reason or 'there is no interval'}"
            elif not holds(end, self.operator, self.threshold):
                figure += (
                    f"; the sample does not show it, because the {'lower' if above else 'upper'} end counts"
                )
        return self._result(end, figure, share=share)

    def _verdict(self, summary: Summary) -> GateResult:
        if set(self.verdicts) <= set(_CARD) and summary.verdicts is None and summary.scored:
            msg = f"gate {self.expression!r}: this rubric gives no verdicts"
            raise UsageError(msg, hint=_FORMS)
        at, word = self.verdicts.index(self.figure), "at least"
        if self.operator == "<=":
            word = "without a verdict or at most"
            share, missing = summary.named.share(self.verdicts[:at], self.level, others=True)
        else:
            share, missing = summary.named.share(self.verdicts[: at + 1], self.level)
        if share.value is None:
            return self._result(None, f"no {self.level} has a verdict", share=True)
        shown = words.percent(share.value)
        if share.interval is not None and not self.plain:
            shown += f" {words.percents(share.interval)}"
        figure = (
            f"{round(share.value * share.n)} of {share.n} requested {self.level}s ({shown}) are "
            f"{word} {self.figure}"
        )
        if missing:
            figure += f"; {missing} have no verdict and count against the gate"
        if self.plain:
            return self._result(share.value, figure, share=True)
        return self._shown(share, figure, share=True)

    def _finding(self, shares: Mapping[str, Estimate]) -> GateResult:
        share = shares.get(self.figure, shares.get(NO_KIND))
        if share is None or share.value is None:
            why = "the judge names no findings" if share is None else "no conversation was judged"
            return self._result(None, why, share=True)
        shown = words.percent(share.value)
        if share.interval is not None and not self.plain:
            shown += f" {words.percents(share.interval)}"
        kind = "a finding" if self.figure == ANY_KIND else f"the finding {self.figure}"
        figure = f"{round(share.value * share.n)} of {share.n} judged conversations ({shown}) have {kind}"
        if self.plain:
            return self._result(share.value, figure, share=True)
        return self._shown(share, figure, share=True)

    def _rating(self, people: People | None) -> GateResult:
        figures = () if people is None else people.figures
        rated = next((f for f in figures if f.dimension == self.figure and f.scale is not None), None)
        if rated is None:
            known = ", ".join(f.dimension for f in figures if f.scale is not None) or "nothing"
            return self._result(None, f"nobody rated {self.figure}; rated: {known}")
        mean = rated.mean
        shown = "undefined" if mean.value is None else f"{mean.value:z.3f}"
        if mean.interval is not None and not self.plain:
            shown += f" [{mean.interval[0]:z.3f}, {mean.interval[1]:z.3f}]"
        figure = f"rating.{self.figure}.mean is {shown} ({counted(rated.n, f'rated {rated.level}')})"
        return self._result(mean.value, figure) if self.plain else self._shown(mean, figure)

    def _result(self, value: float | None, figure: str, *, share: bool = False) -> GateResult:
        met = value is not None and holds(value, self.operator, self.threshold)
        limit = f"{self.threshold * 100:g} %" if share else f"{self.threshold:g}"
        end = f"{'met' if met else 'not met'}: {figure}; required {self.operator} {limit}"
        return GateResult(met, value, f"gate {self.expression} {end}")


def read_gates(expressions: Sequence[str], rubric: str) -> tuple[Gate, ...]:
    """Read gates on what a rubric gives, named as settings name it.

    Raises UsageError for one of no known form, RubricError where the rubric cannot be loaded.
    """
    if not any("verdict" in text for text in expressions) or rubric == NO_RUBRIC:
        verdicts = () if rubric == NO_RUBRIC else _CARD
        return tuple(parse_gate(text, verdicts) for text in expressions)
    loaded = load_rubric(rubric)
    return tuple(parse_gate(text, loaded.verdicts, loaded.level) for text in expressions)


def parse_gate(expression: str, verdicts: Sequence[str] = _CARD, level: Level = "conversation") -> Gate:
    """Read a gate such as `findings.share<=0.2`, `failed<=0.02`, `helpfulness.mean>=4`, `verdict>=good:0.9`.

    Args:
        expression: The gate.
        verdicts: The names that the rubric gives, the best first.
        level: Of what it gives them: `turn` or `conversation`.

    Raises:
        UsageError: The expression has none of the known forms.
    """
    text = expression.strip()
    if match := _VERDICT.fullmatch(text):
        plain, operator, verdict, share = match.groups()
        if (limit := float(share)) <= 1:
            gate = Gate(text, "verdict", verdict, operator, limit, tuple(verdicts), level, bool(plain))
            gate.expect(())
            if not plain and limit == (operator == ">="):
                msg = f"gate {text!r}: no sample shows that a share is {limit:.0%}"
                hint = f"verdict.value{text.removeprefix('verdict').lstrip()} asks these conversations alone"
                raise UsageError(msg, hint=hint)
            return gate
    elif match := _SHARE.fullmatch(text):
        subject, figure, operator, share = match.groups()
        if (limit := float(share)) <= 1 and (subject == "failed") != bool(figure):
            return _share_gate(text, subject, operator, limit, plain=figure == ".value")
    elif match := _NONE.fullmatch(text):
        return _share_gate(text, match[1], "<=", 0.0, plain=True)
    elif match := _RATING.fullmatch(text):
        return Gate(text, "rating", match[1], match[3], float(match[4]), plain=match[2] == "value")
    elif match := _DIMENSION.fullmatch(text):
        return Gate(text, match[1], match[2], match[3], float(match[4]))
    msg = f"cannot read the gate {expression!r}"
    raise UsageError(msg, hint=_FORMS)


def _share_gate(text: str, subject: str, operator: str, limit: float, *, plain: bool) -> Gate:
    if subject == "failed":
        return Gate(text, subject, "share", operator, limit)
    kind = ANY_KIND if subject == "findings" else subject.removeprefix("finding.")
    gate = Gate(text, "finding", kind, operator, limit, plain=plain)
    gate.expect(())
    return gate


def holds(value: float, operator: str, threshold: float) -> bool:
    """Say whether a figure meets a threshold."""
    # shares such as 0.9 are not exact in binary: 9 of 10 must meet 0.9
    if operator in (">=", "<=") and abs(value - threshold) < 1e-12:
        return True
    return value > threshold if operator.startswith(">") else value < threshold
