"""Conditions on each turn and each conversation of a run, as tests of an assistant state them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.core import NOT_APPLICABLE, Judged, JudgeFailure, Level, Target, UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.settings import nearest
from dialogauge.report import words
from dialogauge.text import counted

_OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
_FORM: Final = lazy_pattern(r"([\w-]+)\s*(>=|<=|==|>|<)\s*([\w.-]+)")
_HINT: Final = (
    "helpfulness>=4 asks it of every score, verdict>=good of every verdict, findings==0 of every turn; a "
    "gate, such as helpfulness.mean>=4, asks it of all together"
)
FINDINGS: Final = "findings"
VERDICT: Final = "verdict"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; made by `parse_condition`."""

    expression: str
    subject: str
    """`verdict`, `findings` or the name of a dimension."""
    level: Level
    """Of the targets that it is asked of."""
    operator: str
    limit: float
    """Of a verdict its place among the names, counted from the worst."""
    verdicts: tuple[str, ...] = ()
    """The names of verdicts, the worst first."""

    def check(self, judged: Iterable[Judged]) -> Checked:
        """Hold every target that it applies to against it; of n/a nothing is asked."""
        asked, misses, left_out = 0, [], 0
        for one in judged:
            value = self._value(one)
            if value is None:
                continue
            if value == NOT_APPLICABLE:
                left_out += 1
                continue
            asked += 1
            if isinstance(value, str):
                misses.append(Miss(one.target, value, judged=False))
            elif not _OPERATORS[self.operator](value, self.limit):
                misses.append(Miss(one.target, f"{self.subject} {self._shown(value)}"))
        return Checked(self, asked, left_out, tuple(misses))

    def _value(self, judged: Judged) -> float | str | None:
        """Return the value; None for another target, `n/a`, or why there is none."""
        outcome = judged.outcome
        if judged.target.level != self.level:
            return None
        if isinstance(outcome, JudgeFailure):
            return NOT_APPLICABLE if outcome.kind == "absent" else f"not judged: {outcome.message}"
        if self.subject == FINDINGS:
            return float(len(outcome.details.get("signals", ())))
        if self.subject == VERDICT:
            name = outcome.verdict or outcome.details.get("class")
            return float(self.verdicts.index(name)) if name in self.verdicts else None
        score = outcome.scores.get(self.subject)
        return score if score is None or isinstance(score, str) else float(score.value)

    def _shown(self, value: float) -> str:
        return self.verdicts[int(value)] if self.subject == VERDICT else words.score(value)


@dataclass(frozen=True, slots=True)
class Miss:
    """A target that does not meet a condition."""

    target: Target
    reason: str
    """The score that it has, or why it has none."""
    judged: bool = True
    """Whether it was judged, and has something else."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a condition."""

    condition: Condition
    asked: int
    """Targets that it was asked of."""
    left_out: int
    """Targets to which it does not apply (n/a)."""
    misses: tuple[Miss, ...]

    @property
    def met(self) -> bool:
        """Whether it was asked of at least one target, and every one meets it."""
        return self.asked > 0 and not self.misses

    @property
    def sentence(self) -> str:
        """Say what came of it, with the counts."""
        left_out = f" ({self.left_out:,} n/a)" if self.left_out else ""
        if not self.asked:
            return f"{self.condition.expression}: nothing was scored{left_out}"
        met = self.asked - len(self.misses)
        of = counted(self.asked, self.condition.level)
        unjudged = sum(not miss.judged for miss in self.misses)
        without = f"; {unjudged:,} not judged" if unjudged else ""
        return f"{self.condition.expression}: met by {met:,} of {of}{left_out}{without}"


def is_condition(expression: str) -> bool:
    """Say whether it is asked of every target; a gate is asked of all together."""
    return _FORM.fullmatch(expression.strip()) is not None and not expression.strip().startswith("failed")


def parse_condition(
    expression: str, dimensions: Mapping[str, Level], verdicts: Sequence[str], level: Level
) -> Condition:
    """Read a condition such as `helpfulness>=4`, `verdict>=good` or `findings==0`.

    Args:
        expression: The condition.
        dimensions: Those of the run, with the level of each.
        verdicts: The names that its rubric gives, the best first; empty where it gives none.
        level: Of what it gives them.

    Raises:
        UsageError: It has none of these forms, or the run has no such dimension or verdict.
    """
    match = _FORM.fullmatch(expression.strip())
    if match is None:
        msg = f"cannot read the condition {expression!r}"
        raise UsageError(msg, hint=_HINT)
    subject, sign, limit = match.groups()
    text, ordered = "".join(match.groups()), tuple(reversed(verdicts))
    if subject == VERDICT:
        if limit not in ordered:
            msg = f"condition {text!r}: the rubric gives no verdict {limit!r}"
            raise UsageError(msg, hint=f"verdicts: {', '.join(verdicts) or 'none'}")
        return Condition(text, subject, level, sign, float(ordered.index(limit)), ordered)
    if subject != FINDINGS and subject not in dimensions:
        meant = nearest(subject, tuple(dimensions))
        msg = f"condition {text!r}: the run has no dimension {subject!r}"
        hint = f"dimensions: {', '.join(dimensions)}"
        raise UsageError(msg, hint=hint if meant is None else f"did you mean {meant!r}? {hint}")
    try:
        return Condition(text, subject, dimensions.get(subject, "turn"), sign, float(limit))
    except ValueError:
        msg = f"condition {text!r}: {limit!r} is no number"
        raise UsageError(msg, hint=_HINT) from None
