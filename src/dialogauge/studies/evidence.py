"""The one rule of evidence: whether a dimension of a judge was shown to agree with people or outcomes.

A dimension is *checked* for a run by one of these:

- the run's own ratings or rewards: the judge orders them above chance and above every control, each by its
  interval (`studies/judging/light.py`);
- a stored check of the same judge and rubric on the same kind of data (`--checked-by`);
- of named findings alone, the evidence that ships with the judge.

What is not checked orders what to read. It heads nothing, ranks nobody, gates nothing and makes no training
rows, unless `--unchecked` asks for it; then every output says so first. Every outlet asks here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from dialogauge.core import UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import read_as, reader_of
from dialogauge.core.values import Value
from dialogauge.runs import StoredRun

VERDICT: Final = "verdict"
NOT_RATED: Final = "nobody rated these conversations, and no stored check was named"
NOT_COMPARED: Final = f"{NOT_RATED} (--checked-by)"
BY_OUTCOME: Final = "it is the outcome of the task itself"
UNCHECKED_FIRST: Final = (
    "UNCHECKED: nothing shows that these scores agree with people or outcomes (--unchecked)."
)
"""What every output says first where `--unchecked` was asked for."""


class DimensionEvidence(Value):
    """Whether one dimension is checked, and by what."""

    checked: bool
    by: str = ""
    """What showed it, in words; empty where it is unchecked."""
    why: str = ""
    """What is missing, in words; empty where it is checked."""


UNCHECKED: Final = DimensionEvidence(checked=False, why=NOT_COMPARED)


class RunEvidence(Value):
    """What is checked of one run; `summary.json` holds it under `evidence`."""

    judge: str = ""
    """Digest of the judge."""
    rubric: str = ""
    languages: tuple[str, ...] = ()
    """Those of at least a tenth of the conversations: with `tools`, the kind of data."""
    tools: bool = False
    """Whether most conversations hold tool calls."""
    dimensions: Mapping[str, DimensionEvidence] = field(default_factory=dict)
    """By name; `verdict` too, where the rubric gives one."""
    finds: bool = False
    """Whether the judge names findings: the shipped evidence speaks for these."""
    ratings: tuple[str, ...] = ()
    """The dimensions that people or an environment rated."""
    unchecked: bool = False
    """Whether what is not checked was asked for all the same (`--unchecked`)."""

    def of(self, name: str) -> DimensionEvidence:
        """Return what is known of a dimension, or of `verdict`."""
        return self.dimensions.get(name, UNCHECKED)

    def counts(self, name: str) -> bool:
        """Say whether a dimension may head, rank, gate and make rows: checked, or asked for all the same."""
        return self.unchecked or self.of(name).checked

    @property
    def checked(self) -> tuple[str, ...]:
        """The dimensions that are checked."""
        return tuple(name for name, evidence in self.dimensions.items() if evidence.checked)

    @property
    def may_gate(self) -> tuple[str, ...]:
        """What a gate may ask about, by the words of gates."""
        findings = ("findings.share", "finding.NAME.share") if self.finds else ()
        ratings = tuple(f"rating.{name}.mean" for name in self.ratings)
        checked = tuple(name if name == VERDICT else f"{name}.mean" for name in self.checked)
        return ("failed", *findings, *ratings, *checked)

    def expect(self, name: str, what: str) -> None:
        """Raise UsageError where a dimension is not checked; it lists what may be used in its place.

        Args:
            name: The dimension, or `verdict`.
            what: What was asked for, such as `gate helpfulness.mean>=4`.
        """
        if not self.counts(name):
            msg = f"{what}: {name} is not checked: {self.of(name).why}"
            hint = (
                f"what may stand there: {', '.join(self.may_gate)}; or ask for it all the same: --unchecked"
            )
            raise UsageError(msg, hint=hint)

    def covers(self, other: RunEvidence) -> str:
        """Say why this does not speak for another run; nothing where it does."""
        if self.judge != other.judge:
            return "it is of another judge, model or version"
        if self.rubric != other.rubric:
            return f"it is of the rubric {self.rubric}, not {other.rubric}"
        if missing := [code for code in other.languages if code not in self.languages]:
            return f"it holds no conversations in {', '.join(missing)}"
        if self.tools != other.tools:
            return f"its agents {'use tools, these do not' if self.tools else 'use no tools, these do'}"
        return ""

    def with_stored(self, stored: Iterable[tuple[str, RunEvidence]]) -> RunEvidence:
        """Return this with what stored checks say of dimensions that its own ratings do not decide.

        A check of another judge, rubric or kind of data decides nothing; the dimension says why.

        Args:
            stored: The name of each, and what it holds.
        """
        merged = dict(self.dimensions)
        for name, check in stored:
            reason = check.covers(self)
            for dimension in (d for d in check.checked if not merged.get(d, UNCHECKED).checked):
                merged[dimension] = DimensionEvidence(
                    checked=not reason,
                    by="" if reason else f"{check.of(dimension).by} (stored in {name})",
                    why=f"{name} does not speak for this run: {reason}" if reason else "",
                )
        return replace(self, dimensions=merged)

    def to_json(self) -> dict[str, Any]:
        """Return what `summary.json` holds."""
        values: dict[str, Any] = as_json(self)
        return values


NOTHING_CHECKED: Final = RunEvidence()


def with_verdict(
    dimensions: Mapping[str, DimensionEvidence], scored: Sequence[str]
) -> dict[str, DimensionEvidence]:
    """Return what is known of dimensions, and of the verdict that is made of them.

    A verdict is checked where every dimension is that it stands on.

    Args:
        dimensions: What is known of each.
        scored: Those that have a score in the run.
    """
    missing = [name for name in scored if not dimensions[name].checked]
    whole = DimensionEvidence(checked=True, by="all the dimensions that it is made of are checked")
    if missing:
        whole = DimensionEvidence(checked=False, why=f"it is made of what is unchecked: {', '.join(missing)}")
    elif not scored:
        whole = UNCHECKED
    return {**dimensions, VERDICT: whole}


def evidence_of(run: StoredRun, *, unchecked: bool = False) -> RunEvidence:
    """Return what is checked of a finished run, as its summary says; nothing where it does not say.

    Args:
        run: Any run.
        unchecked: Whether what is not checked was asked for all the same.
    """
    return replace(stored_evidence(run), unchecked=unchecked)


def stored_evidence(run: StoredRun) -> RunEvidence:
    """Return what the summary of a finished run says is checked, and whether `--unchecked` was given then."""
    return run.part("evidence", reader_of(RunEvidence)) or NOTHING_CHECKED


def evidence_in(summary: Mapping[str, Any]) -> RunEvidence:
    """Read what a summary holds under `evidence`; nothing is checked where it holds nothing."""
    value = summary.get("evidence")
    return NOTHING_CHECKED if value is None else read_as(value, RunEvidence)
