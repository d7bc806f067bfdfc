"""Scores of a partition: what systems got on several data sets, each brought to one range, in one figure.

A score is brought to a range by a reference, which is made of the cases of all systems on its data set:

- min-max: (score - low) / (high - low), not clipped; 0 where all scores are one.
- z: (score - mean) / sd, by the standard deviation of the whole; 0 where that is at most 1e-6.

Where the scores of no data set differ, the figure of the partition is undefined.

The mean over a partition counts each case once, as MemoryBench prints it, or each data set once. An interval
leaves out cases, or whole clusters of them, one after the other; each data set keeps its weight.

Source: MemoryBench, section 5.1 and appendix A.3.4, and the code of its evaluation.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Final, Literal, TypeVar

import numpy as np

from dialogauge.core import UsageError
from dialogauge.report import (
    Callout,
    Card,
    Cards,
    Cell,
    DataTable,
    DotPlot,
    DotRow,
    Missing,
    Number,
    RowGroup,
    TableColumn,
    TableRow,
    data_table,
    words,
)
from dialogauge.stats import LEVEL, Basis, Estimate, Floats, divided, freedom_of, label_codes

Norm = Literal["minmax", "z"]
F = TypeVar("F", float, Floats)
NORMS: Final[tuple[Norm, ...]] = ("minmax", "z")

_LEAST_SD: Final = 1e-6


@dataclass(frozen=True, slots=True)
class ScoreReference:
    """What all systems got on a data set."""

    low: float
    high: float
    mean: float
    sd: float
    """Of the whole: the sum of squares is divided by `n`."""
    n: int

    def brought(self, scores: F, norm: Norm) -> F:
        """Bring a score, or scores of any shape, to one range."""
        origin, unit = (self.low, self.high - self.low) if norm == "minmax" else (self.mean, self.sd)
        return (scores - origin) / unit if self.differ(norm) else scores * 0.0

    def differ(self, norm: Norm) -> bool:
        """Say whether the scores differ, so that there is a range to bring them to."""
        return self.high > self.low if norm == "minmax" else self.sd > _LEAST_SD


Cases = Mapping[str, Sequence[float]]
"""Scores by data set."""
References = Mapping[str, ScoreReference]


@dataclass(frozen=True, slots=True)
class PartitionFigures:
    """What a system got on a partition; no figure has a value where it lacks a data set."""

    system: str
    cases: int
    missing: tuple[str, ...]
    """Data sets of which it has no case, and others have."""
    minmax_by_case: Estimate
    minmax_by_set: Estimate
    z_by_case: Estimate
    z_by_set: Estimate


@dataclass(frozen=True, slots=True)
class PartitionScores:
    """What systems got on a partition. Figures by other references, or of other data sets, do not compare."""

    datasets: tuple[str, ...]
    """Those that count."""
    left_out: Mapping[str, str]
    """Those that do not, and why."""
    references: References
    """By data set that counts."""
    systems: tuple[PartitionFigures, ...]


def references_of(scores: Cases) -> dict[str, ScoreReference]:
    """Return the reference of each data set, of the scores of all systems on it; none of an empty one."""
    known = {name: of for name, of in scores.items() if len(of)}
    return {n: ScoreReference(min(s), max(s), fmean(s), pstdev(s), len(s)) for n, s in known.items()}


def partition_scores(
    cases: Mapping[str, Cases],
    references: References,
    datasets: Sequence[str],
    *,
    clusters: Mapping[str, Mapping[str, Sequence[Hashable]]] | None = None,
    unmerged: Collection[str] = (),
    unit: str = "cases",
) -> PartitionScores:
    """Bring what systems got on the data sets of a partition into one figure each.

    Args:
        cases: By system and data set the scores of its cases, finite; failed ones are left out.
        references: By data set, of these cases or of an earlier run.
        datasets: Those of the partition.
        clusters: By system and data set the cluster of each case, one label for one cluster in all of them;
            None where each case is one.
        unmerged: Data sets whose several metrics no model merged into one.
        unit: What a cluster is.

    Raises:
        UsageError: There are cases of a data set, and the references are of other ones.
    """
    done = {name for of in cases.values() for name, scores in of.items() if len(scores)}
    left_out = {name: "no case was done" for name in datasets if name not in done}
    left_out |= {name: "no model merged its metrics" for name in datasets if name in done & {*unmerged}}
    used = tuple(name for name in datasets if name not in left_out)
    if missing := [name for name in used if name not in references]:
        msg = f"the references are of other data sets: there is none of {words.listing(missing)}"
        raise UsageError(msg, hint="take them from a run of the same partition, or from this one")
    kept, systems = {name: references[name] for name in used}, list[PartitionFigures]()
    for system, of in cases.items():
        own = {name: of[name] for name in used if len(of.get(name, ()))}
        labels = None if clusters is None else [label for name in own for label in clusters[system][name]]
        systems.append(_figures_of(system, own, kept, labels, unit))
    return PartitionScores(used, left_out, kept, tuple(systems))


def _figures_of(
    system: str, cases: Cases, references: References, labels: Sequence[Hashable] | None, unit: str
) -> PartitionFigures:
    """Return the four figures of a system; labels stand in the order of the cases."""
    sizes = np.array([len(of) for of in cases.values()], dtype=np.float64)
    total, missing = int(sizes.sum()), tuple(name for name in references if name not in cases)
    if missing or not total:
        why = f"no case of {words.listing(missing)}" if missing else "no case at all"
        return PartitionFigures(system, total, missing, *[undefined(total, why)] * 4)
    codes, groups = label_codes(range(total) if labels is None else labels)
    parts = np.split(codes, np.cumsum(sizes).astype(np.intp)[:-1])
    counts, estimates = np.array([np.bincount(of, minlength=groups) for of in parts]), list[Estimate]()
    for norm in NORMS:
        if not any(of.differ(norm) for of in references.values()):
            estimates += [undefined(total, "all scores are equal")] * 2
            continue
        scores = [references[name].brought(np.array(of, np.float64), norm) for name, of in cases.items()]
        sums = np.array([np.bincount(of, s, groups) for of, s in zip(parts, scores, strict=True)])
        ends = (of.brought(np.array([of.low, of.high]), norm) for of in references.values())
        reach = np.concatenate([[0.0, 1.0], *ends, *scores])
        without = divided(sums.sum(1, keepdims=True) - sums, sizes[:, None] - counts)
        for weights in (sizes / total, np.full(sizes.size, 1 / sizes.size)):
            basis = Basis(total, groups, unit, freedom_of(weights / sizes @ counts))
            value = float(weights @ (sums.sum(1) / sizes))
            limits = (float(reach.min()), float(reach.max()))
            estimates.append(basis.estimate(value, weights @ without, limits))
    return PartitionFigures(system, total, (), *estimates)


def undefined(n: int, why: str, value: float | None = None) -> Estimate:
    """Return a figure over so many cases that has no interval, and mostly no value."""
    return Estimate(value, None, None, LEVEL, n, n, "none", why)


FIGURES: Final[Mapping[str, str]] = {
    "minmax_by_case": "min-max, by case",
    "minmax_by_set": "min-max, by data set",
    "z_by_case": "z, by case",
    "z_by_set": "z, by data set",
}
_DIGITS: Final = 4
"""As the paper prints them."""


def figures_table(
    title: str,
    partitions: Mapping[str, PartitionScores],
    *figures: str,
    systems: Iterable[str] = (),
    quiet: Collection[str] = (),
) -> DataTable:
    """Lay out some of `FIGURES` of systems, a row each, by partition.

    `systems` is the order of the rows, where it is not that in which they first come; the `quiet` ones are no
    candidates. A system that is not in a partition has a dash there.
    """
    by_system: dict[str, dict[tuple[str, str], Estimate]] = {system: {} for system in systems}
    for name, scores in partitions.items():
        for row in scores.systems:
            by_system.setdefault(row.system, {}).update({(name, f): getattr(row, f) for f in figures})
    columns = [(name, figure) for name in partitions for figure in figures]
    scales, weights = zip(*(FIGURES[figure].split(", ") for figure in figures), strict=True)
    short = dict(zip(figures, weights if len({*scales}) == 1 else scales, strict=True))
    heads = [n if len(figures) == 1 else f"{n}, {short[f]}" for n, f in columns]
    rows = []
    for system, own in by_system.items():
        cells: list[Cell] = [system]
        for column in columns:
            of, signed = own.get(column), column[1].startswith("z")
            if of is None or of.value is None:
                cells.append(Missing("" if of is None else "n/a"))
            else:
                cells.append(Number(of.value, _DIGITS, of.interval, signed=signed))
        rows.append(TableRow(tuple(cells), "quiet" if system in quiet else "plain"))
    return data_table(title, ("system", *heads), rows)


def left_out_notes(partitions: Mapping[str, PartitionScores]) -> Iterable[Callout]:
    """Name the data sets that do not count, and why, and systems that lack one."""
    notes = []
    for name, scores in partitions.items():
        for why in dict.fromkeys(scores.left_out.values()):
            sets = [one for one, reason in scores.left_out.items() if reason == why]
            notes.append(f"{name} is without {words.listing(sets)}: {why}.")
        notes += [
            f"{of.system} has no score on {name}: no case of {words.listing(of.missing)}."
            for of in scores.systems
            if of.missing
        ]
    return [Callout(tuple(notes), "warn")] if notes else []


def means_table(
    title: str, groups: Mapping[str, Mapping[str, Mapping[str, float]]], systems: Iterable[str]
) -> DataTable:
    """Lay out raw means by partition, data set and system: a group of rows, a row, and a column for each."""
    names, groups_of_rows = tuple(systems), []
    for group, sets in groups.items():
        cells = {name: [Number(of.get(system), _DIGITS) for system in names] for name, of in sets.items()}
        rows = tuple(TableRow((name, *row)) for name, row in cells.items())
        groups_of_rows.append(RowGroup(rows, group))
    columns = (TableColumn("data set", "text"), *map(TableColumn, names))
    return DataTable(title, columns, tuple(groups_of_rows))


def partition_dots(partitions: Mapping[str, PartitionScores]) -> Cards:
    """Draw min-max by case of systems, partition by partition, with its interval where it has one."""
    cards = []
    for name, scores in partitions.items():
        estimates = {of.system: of.minmax_by_case for of in scores.systems}
        dots = (DotRow(system, of.value, of.interval, "strong") for system, of in estimates.items())
        cards.append(Card(name, (DotPlot(f"{name}, {FIGURES['minmax_by_case']}", tuple(dots)),)))
    return Cards(tuple(cards))
