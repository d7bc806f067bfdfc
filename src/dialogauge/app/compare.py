"""`compare`: two finished runs of one rubric in, what became better and worse out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NotRequired, TypedDict

import numpy as np

from dialogauge.app.command import Measurement
from dialogauge.app.outcome import CommandOutcome, Plan
from dialogauge.app.planted import JUDGE, count_planted, planted_for
from dialogauge.app.settings import TwoRunsOptions
from dialogauge.app.sources import PythonInput, is_run
from dialogauge.core import Conversation, DimensionSpec
from dialogauge.core.errors import UsageError
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.core.values import Value
from dialogauge.core.version import __version__
from dialogauge.llm import Expected
from dialogauge.report import Block, Page, Section
from dialogauge.runs import Privacy, StoredRun, key_of, open_run, under_one_key
from dialogauge.runs.run import Row
from dialogauge.studies.compare.answer import headline
from dialogauge.studies.compare.beside import pairs_beside
from dialogauge.studies.compare.comparison import RunComparison, compare_sides
from dialogauge.studies.compare.gate import parse_delta_gate
from dialogauge.studies.compare.page import brief, comparison_page
from dialogauge.studies.compare.talks import read_sides
from dialogauge.studies.evidence import VERDICT, DimensionEvidence, RunEvidence, evidence_of
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.planted.blind_spots import BlindSpots
from dialogauge.studies.planted.page import UNTRIED, planted_sentences

COMPARED: Final = ("judge", "success")
"""The kinds of run that are compared."""
FIELDS: Final = ("scenario", "user", "language")
_ON_PAGE: Final = 60
"""Pairs on each side that a page shows side by side."""
_SEED: Final = 0
"""Of what corrects for several figures."""


@keys(answer="answer", result=INSIDE, beside=None, few=None, paths=None)
class CompareOutcome(Value):
    """What was compared, and how the gates ended."""

    result: RunComparison
    gates: tuple[GateResult, ...]
    beside: tuple[Section, ...]
    """Pairs side by side, for the page."""
    few: tuple[Section, ...]
    """The same for a terminal: fewer, and of each the turn at which the two part."""
    paths: tuple[str, str]
    """Of the runs."""

    @property
    def answer(self) -> tuple[str, ...]:
        """What changed, in sentences; then what the judge would not notice."""
        planted = self.result.planted
        return (*headline(self.result), *(() if planted is None else planted_sentences(planted)))

    @property
    def page(self) -> Page:
        """The page, as of today."""
        today = datetime.now(UTC).date().isoformat()
        return comparison_page(
            self.result, self.gates, self.beside, paths=self.paths, created=today, version=__version__
        )


class ComparePlanJson(TypedDict):
    """What `compare` would judge."""

    planted: int
    """Conversations with a planted fault."""
    asking: NotRequired[Expected]


def _plan(options: TwoRunsOptions) -> Plan:
    """Count the replies with a planted fault, which the judge of A would judge."""
    only = None if options.candidates is None else options.candidates.partition(",")[0].strip()
    planted, asking = count_planted(options.a, options, only=only)
    return Plan(None, "", {"planted": planted}, planted, (), (), asking)


def _view(outcome: CommandOutcome[CompareOutcome]) -> Iterable[Block]:
    compared, verbose = outcome.result, outcome.options.verbose
    return brief(compared.result, compared.gates, compared.few, paths=compared.paths, verbose=verbose)


def _measure(options: TwoRunsOptions, python: PythonInput) -> CommandOutcome[CompareOutcome]:
    """Compare two runs.

    Raises:
        UsageError: One of the two is no run, the rubrics differ, or a gate asks for what they lack or what is
            not checked.
        StoreError: A run cannot be read.
    """
    del python
    gates = tuple(parse_delta_gate(text) for text in options.gates)
    by = tuple(dict.fromkeys(name.strip() for name in (options.by or "").split(",") if name.strip()))
    if wrong := [name for name in by if name not in FIELDS]:
        msg = f"--by {wrong[0]}: there is no such group"
        raise UsageError(msg, hint=f"groups: {', '.join(FIELDS)}")
    candidates = [name.strip() for name in (options.candidates or "").split(",")]
    if options.candidates is not None and (len({*candidates} - {""}) != 2 or len(candidates) != 2):
        msg = f"--candidates {options.candidates}: it names two, the one from before and the one from after"
        raise UsageError(msg, hint="--candidates OLD,NEW")
    only = (None, None) if options.candidates is None else (candidates[0], candidates[1])
    _expect_runs(options)
    with ExitStack() as stack:
        a, b = (
            stack.enter_context(open_run(path, Privacy(redact=options.redact), studies=COMPARED))
            for path in (options.a, options.b)
        )
        a, b = under_one_key(a, b, hash_ids=options.hash_ids)
        dimensions = [d for d in a.dimensions if d in b.dimensions]
        notes = [*_expect_one_rubric(a, b, dimensions), *_hidden_ids(a, b)]
        names = options.names or _names(options.a, options.b)
        runs = [
            (
                candidate or name,
                _of_candidate(run, candidate),
                run.manifest.unreadable + run.manifest.pending_units,
            )
            for run, name, candidate in zip((a, b), names, only, strict=True)
        ]
        sides, talks = read_sides(runs, dimensions)
        planted = planted_for(options.a, options, only=only[0])
        if planted is None and a.manifest.study == JUDGE:
            notes.append(UNTRIED)
        evidence = _evidence(a, b, planted, unchecked=options.unchecked)
        rng = np.random.default_rng(_SEED)
        result = compare_sides(sides, talks, dimensions, rng=rng, by=by, evidence=evidence)
        result = replace(result, notes=tuple(notes), planted=planted)
        outcomes = tuple(gate.evaluate(result) for gate in gates)
        beside = tuple(pairs_beside(a, b, result, _ON_PAGE, only=only))
        few = tuple(pairs_beside(a, b, result, options.pairs, turns=1, only=only))
    made = CompareOutcome(result, outcomes, beside, few, (options.a, options.b))
    return CommandOutcome(options=options, result=made, gates=outcomes)


ENTRY: Final = Measurement(
    name="compare",
    prints=CompareOutcome,
    plans=ComparePlanJson,
    measure=_measure,
    planned=_plan,
    plan_words=lambda plan, options: f"would judge {plan.left:,} replies with a planted fault",
    view=_view,
)


def _expect_runs(options: TwoRunsOptions) -> None:
    """Raise UsageError where something else stands in place of a run; a log is to be judged first."""
    paths = (options.a, options.b)
    if Path(options.a).resolve() == Path(options.b).resolve() and options.candidates is None:
        msg = f"{options.a} is compared with itself"
        raise UsageError(msg, hint="give two runs, or name two candidates of one: --candidates OLD,NEW")
    foreign = [path for path in paths if not is_run(path)]
    for path in foreign:
        if not Path(path).exists():
            msg = f"there is no run {path}"
            raise UsageError(msg, hint="`dialogauge runs DIR` lists the runs below a folder")
    if foreign:
        runs = {path: path if is_run(path) else f"runs/{Path(path).stem}" for path in paths}
        judge = " && ".join(f"dialogauge judge {path} -o {runs[path]}" for path in foreign)
        what = "is no run" if len(foreign) == 1 else "are no runs"
        msg = f"{' and '.join(foreign)} {what}: only judged conversations can be compared"
        raise UsageError(msg, hint=f"judge first: {judge} && dialogauge compare {' '.join(runs.values())}")


def _expect_one_rubric(a: StoredRun, b: StoredRun, shared: Sequence[DimensionSpec]) -> list[str]:
    """Raise UsageError for runs of different rubrics; return what is to be said of different judges."""
    judges, rubrics = [run.manifest.judge for run in (a, b)], list[str]()
    for run, judge in zip((a, b), judges, strict=True):
        version, name = judge.get("rubric_version"), str(judge.get("rubric") or run.manifest.study)
        by = "" if judge.get("judge") in (None, "rubric") else f" of the judge {judge['judge']}"
        rubrics.append((name if version is None else f"{name}, version {version}") + by)
    # A rubric reads alike in the languages of both; a judge without prompts has none.
    of_a, of_b = (judge.get("prompts") or {} for judge in judges)
    alike = rubrics[0] == rubrics[1] and all(
        of_a[language] == of_b[language] for language in {*of_a} & {*of_b}
    )
    if not alike or not shared:
        places = (f"{rubric} in {run.directory.path}" for rubric, run in zip(rubrics, (a, b), strict=True))
        msg = f"the runs are of different rubrics: {' and '.join(places)}"
        raise UsageError(
            msg, hint="scores of different questions have no difference; judge one of the two again"
        )
    notes = []
    if judges[0].get("digest") != judges[1].get("digest"):
        models = [str((judge.get("client") or {}).get("model") or judge.get("name")) for judge in judges]
        versions = [f", version {judge['version']}" if "version" in judge else "" for judge in judges]
        both = " and ".join(dict.fromkeys(map("".join, zip(models, versions, strict=True))))
        notes.append(f"The judges differ ({both}): a difference may be theirs. Judge both runs by one.")
    for name, run in (("A", a), ("B", b)):
        if run.manifest.ended != "finished":
            notes.append(f"{name} is not whole: the run ended as {run.manifest.ended!r}.")
    return notes


def _evidence(a: StoredRun, b: StoredRun, planted: BlindSpots | None, *, unchecked: bool) -> RunEvidence:
    """Return which dimensions are checked: by either run, if it speaks for the conversations of the other.

    One that a planted fault raises is not: the judge rewards what is no gain.
    """
    of_a, of_b = evidence_of(a, unchecked=unchecked), evidence_of(b)
    dimensions = {name: DimensionEvidence(checked=False, why=of.why) for name, of in of_a.dimensions.items()}
    for evidence, other in ((of_b, of_a), (of_a, of_b)):
        if not evidence.covers(other):
            dimensions |= {name: evidence.of(name) for name in evidence.checked}
    for fault, moved in () if planted is None else planted.rewarded:
        why = f"the judge rewards a planted fault by it: {fault.words}"
        dimensions |= dict.fromkeys((moved.dimension, VERDICT), DimensionEvidence(checked=False, why=why))
    return replace(of_a, dimensions=dimensions)


def _hidden_ids(a: StoredRun, b: StoredRun) -> list[str]:
    """Say what becomes of ids that a run hides."""
    hiding = [name for name, run in (("A", a), ("B", b)) if run.manifest.privacy.get("hash_ids")]
    if len(hiding) == 1:
        other = {"A": "B", "B": "A"}[hiding[0]]
        return [f"{hiding[0]} was judged with --hash-ids: the ids of {other} are hidden by the same key."]
    if hiding and key_of(a.database) != key_of(b.database):
        return [
            "Both were judged with --hash-ids, each by a key of its own: no id of the one is an id of the "
            "other. Judge one of them without it: its ids are then hidden by the key of the other."
        ]
    return []


def _names(a: str, b: str) -> tuple[str, str]:
    """Name two runs by the last part of their paths that differs."""
    parts = [Path(path).resolve().parts for path in (a, b)]
    for x, y in zip(reversed(parts[0]), reversed(parts[1]), strict=False):
        if x != y:
            return x, y
    return a, b


def _of_candidate(run: StoredRun, only: str | None) -> Iterator[tuple[Conversation, list[Row]]]:
    """Yield the conversations of a run, or those of one candidate of it.

    Raises UsageError where the run has no such candidate.
    """
    known = set[str]()
    for conversation, rows in run.judged():
        known.add(conversation.candidate or "")
        if only in (None, conversation.candidate):
            yield conversation, rows
    if only is not None and only not in known:
        msg = f"the run {run.directory.path} has no candidate {only!r}"
        raise UsageError(msg, hint=f"it has {', '.join(sorted(known - {''})) or 'none'}")
