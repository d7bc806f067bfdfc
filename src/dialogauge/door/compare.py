"""Comparison from Python: two runs, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialogauge.core.json_keys import as_json
from dialogauge.door.library import AnyPath
from dialogauge.door.paged import Paged
from dialogauge.door.run import Run, RunSummary

if TYPE_CHECKING:
    from dialogauge.app.compare import CompareOutcome


@dataclass(frozen=True, slots=True, repr=False)
class RunChange(Paged):
    """What changed from one run to another; true where every gate was met."""

    figures: RunSummary
    """The content of `compare.json`: `findings`, `ratings`, `dimensions`, `verdicts`, `down`, `up` ..."""
    answers: tuple[str, ...]
    """In sentences, what changed most first."""
    gates: tuple[str, ...]
    """How each gate ended, in a sentence."""
    met: bool
    """Whether every gate was met; without gates it is."""
    _outcome: CompareOutcome = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.met

    def __repr__(self) -> str:
        return f"<RunChange: {' '.join((*self.answers[: 1 + self._outcome.result.unchecked], *self.gates))}>"

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(one)}</p>" for one in (*self.answers, *self.gates))


def compare(
    a: AnyPath | Run,
    b: AnyPath | Run,
    *,
    by: Sequence[str] = (),
    gates: Sequence[str] = (),
    out: AnyPath | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> RunChange:
    """Compare two finished runs of one rubric, on the same conversations or not.

    Args:
        a: A run, or its directory: what was.
        b: What is new.
        by: `scenario`, `user`, `language`: differences by group too.
        gates: Such as `findings.delta<=0.05`.
        out: A folder for `compare.json` and `compare.html`.
        settings: Every other setting of `dialogauge compare`, by its name in docs/library.md.

    Raises:
        UsageError: One of the two is no run, the rubrics differ, or a gate asks for what they lack or what is
            not checked.
        StoreError: A run cannot be read.
    """
    from dialogauge.app.compare import compare_runs
    from dialogauge.app.merging import settings_from
    from dialogauge.app.settings import TwoRunsOptions

    paths = {name: fspath(of.path if isinstance(of, Run) else of) for name, of in (("a", a), ("b", b))}
    chosen = {**settings, **paths, "gates": tuple(gates)}
    chosen |= {"by": ",".join(by)} if by else {}
    chosen |= {} if out is None else {"out": fspath(out)}
    outcome = compare_runs(settings_from(TwoRunsOptions, **chosen), _names(a, b))
    sentences = tuple(gate.sentence for gate in outcome.gates)
    return RunChange(RunSummary(as_json(outcome)), outcome.answer, sentences, outcome.met, outcome)


def _names(a: AnyPath | Run, b: AnyPath | Run) -> tuple[str, str] | None:
    """Name two runs where the path of one is made up; None where both have a path of their own."""
    if not any(isinstance(run, Run) and run.temporary for run in (a, b)):
        return None
    first, second = _name(a, "A"), _name(b, "B")
    return ("A", "B") if first == second else (first, second)


def _name(run: AnyPath | Run, letter: str) -> str:
    if not isinstance(run, Run) or not run.temporary:
        return Path(run.path if isinstance(run, Run) else run).name
    inputs: Sequence[str] = run.manifest.settings.get("inputs") or ()
    return Path(inputs[0]).stem if len(inputs) == 1 and Path(inputs[0]).is_file() else letter
