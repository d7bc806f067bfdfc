"""Partitions as blocks: systems by partition, systems by data set, and dots with intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

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
from dialogauge.stats import Estimate
from dialogauge.studies.learning.partitions import PartitionScores

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
    """Lay out figures of systems, a row each, by partition.

    Args:
        title: Of the table.
        partitions: By name; a system that is not in one has a dash there.
        figures: Of `FIGURES`; of several each partition has a column for each.
        systems: The order of the rows, where it is not that in which systems first come.
        quiet: Systems that are no candidates.
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
    """Lay out raw means by data set: a group of rows for each partition, a column for each system.

    Args:
        title: Of the table.
        groups: By partition, data set and system.
        systems: The columns.
    """
    names, groups_of_rows = tuple(systems), []
    for group, sets in groups.items():
        rows = []
        for name, of in sets.items():
            rows.append(TableRow((name, *(Number(of.get(system), _DIGITS) for system in names))))
        groups_of_rows.append(RowGroup(tuple(rows), group))
    columns = (TableColumn("data set", "text"), *map(TableColumn, names))
    return DataTable(title, columns, tuple(groups_of_rows))


def partition_dots(partitions: Mapping[str, PartitionScores], figure: str = "minmax_by_case") -> Cards:
    """Draw a figure of systems, partition by partition, with its interval where it has one."""
    cards = []
    for name, scores in partitions.items():
        estimates: dict[str, Estimate] = {of.system: getattr(of, figure) for of in scores.systems}
        dots = (DotRow(system, of.value, of.interval, "strong") for system, of in estimates.items())
        cards.append(Card(name, (DotPlot(f"{name}, {FIGURES[figure]}", tuple(dots)),)))
    return Cards(tuple(cards))
