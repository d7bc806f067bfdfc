"""From several satisfaction runs to what their page shows: every judge under every calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.bench.satisfaction.page import (
    PANELS,
    TABLE,
    calibrated_note,
    figure_cell,
    shown_once,
    table_row,
)
from dialogauge.bench.satisfaction.paired import LOWER_IS_BETTER, PairedComparison
from dialogauge.bench.satisfaction.several import Predictions, SeveralJudges, listed
from dialogauge.report import (
    CalibrationBlock,
    ForestPanel,
    ForestRow,
    PairLine,
    SeveralView,
    TableRow,
)
from dialogauge.text import counted

__all__ = ["several_view"]

Json = Mapping[str, Any]


def several_view(runs: Sequence[Predictions], summaries: Sequence[Json], found: SeveralJudges) -> SeveralView:
    """Return what the page shows.

    Args:
        runs: In the order of the table.
        summaries: The `summary.json` of each.
        found: The judges on the turns that all of them scored.
    """
    sizes = {s["metrics"]["n"] for s in summaries}
    notes = []
    if len(sizes) > 1 or any(found.left_out.values()):
        notes.append(
            f"The judges did not score the same turns. The table has each on its own; compared: "
            f"{counted(found.n, 'turn')} that all scored."
        )
    for r in runs:
        if odd := [id for id in r.scored if not all(id in other.scored for other in runs)]:
            notes.append(f"Scored by {r.name} and not by all: {listed(odd)}")
    if len({r.calibration for r in runs}) > 1:
        told = ", ".join(f"{r.name}: {r.calibration}" for r in runs)
        notes.append(f"The runs show scores under different calibrations ({told}), and are compared so.")
    return SeveralView(
        judges=tuple((r.name, r.judge, r.calibration) for r in runs),
        n=found.n,
        users=found.users,
        notes=tuple(notes),
        columns=tuple(TABLE.values()),
        table=shown_once([_block(name, runs, summaries) for name in summaries[0]["calibrations"]]),
        panels=tuple(_panel(name, runs, summaries, found) for name in PANELS),
        pairs=tuple(_pair(c) for name in PANELS for c in found.comparisons if c.measure == name),
    )


def _block(name: str, runs: Sequence[Predictions], summaries: Sequence[Json]) -> CalibrationBlock:
    under = [s["calibrations"][name] for s in summaries]
    rows = [table_row(r.name, "judge", u["metrics"]) for r, u in zip(runs, under, strict=True)]
    first, ceiling = under[0]["controls"], under[0]["ceiling"]
    rows += [table_row(control, "control", first[control]) for control in first if control != "shuffled"]
    rows += _shuffled(runs, under)
    rows.append(table_row("ceiling", "ceiling", ceiling))
    chosen = all(r.calibration == name for r in runs)
    note = calibrated_note(name, under[0]["calibration"])
    return CalibrationBlock("raw" if name == "none" else name, note, chosen, None, tuple(rows))


def _shuffled(runs: Sequence[Predictions], under: Sequence[Json]) -> list[TableRow]:
    return [
        table_row(f"shuffled: {r.name}", "control", u["controls"]["shuffled"])
        for r, u in zip(runs, under, strict=True)
    ]


def _panel(
    name: str, runs: Sequence[Predictions], summaries: Sequence[Json], found: SeveralJudges
) -> ForestPanel:
    title, what = PANELS[name]
    rows = []
    for run in runs:
        cell = figure_cell(found.figures[run.name].to_json(), name)
        rows.append(ForestRow(run.name, cell.value, cell.interval, judge=True, side=None))
    for control, figures in summaries[0]["controls"].items():
        if control != "shuffled":
            cell = figure_cell(figures, name)
            rows.append(ForestRow(control, cell.value, cell.interval, judge=False, side=None))
    ceiling = summaries[0]["ceiling"][name]
    return ForestPanel(title, what, tuple(rows), ceiling, lower_is_better=name in LOWER_IS_BETTER)


def _pair(c: PairedComparison) -> PairLine:
    title = PANELS[c.measure][0]
    figures = (c.figure_a, c.figure_b, c.difference, c.interval)
    return PairLine(title, c.a, c.b, *figures, c.p_holm, c.side, c.words)
