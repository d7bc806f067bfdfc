"""Several judges of the same users, on a page and on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialogauge.core.json_keys import as_json
from dialogauge.report import (
    Block,
    Callout,
    Card,
    Cards,
    DataTable,
    Items,
    RowGroup,
    Section,
    Span,
)
from dialogauge.stats import Comparison
from dialogauge.studies.agreement.page import comparison_table
from dialogauge.studies.satisfaction.answers import listed
from dialogauge.studies.satisfaction.comparison import Predictions, SeveralJudges
from dialogauge.studies.satisfaction.page import (
    COLUMNS,
    PANELS,
    SAME_MAPS,
    TABLE_LEGEND,
    calibration_group,
    calibrations_table,
    dot_row,
    figures_row,
    panel,
)
from dialogauge.text import counted

_PAIRS_FIRST: Final = 40
_SETTLED_SHOWN: Final = 12


def several_sections(judges: SeveralJudges) -> tuple[Section, ...]:
    """Lay out the judges beside each other, as parts of a page."""
    runs, pairs = judges.runs, _pairs(judges)
    cards = [_panel(name, judges) for name in PANELS]
    cards += [_settled(pairs)] if pairs else []
    notes = [Callout((note,), "warn") for note in _notes(judges)]
    lead = (
        f"{counted(len(runs), 'judge')} on {counted(judges.n, 'turn')} of {counted(judges.users, 'user')} "
        f"that {'all of them' if len(runs) > 1 else 'it'} scored, beside controls that read nothing. "
        "Intervals are 95 % and draw whole users."
    )
    head = Section("The judges of satisfaction", (*notes, Cards(tuple(cards), wide=True)), lead, "Judges")
    origin = f"Controls but the shuffled ones, and the ceiling, are those of {runs[0].name}."
    blocks = (_calibrations(judges.runs), Callout((f"{origin} {TABLE_LEGEND}",)))
    maps = f"Every judge, every control and the ceiling {SAME_MAPS}"
    calibrations = Section("Raw, and under each calibration", blocks, maps, "Calibrations")
    return (head, *_pairs_section(pairs), calibrations)


def several_brief(judges: SeveralJudges) -> tuple[Block, ...]:
    """Lay out the judges beside each other, for a terminal."""
    what = f"{counted(judges.n, 'turn')} of {counted(judges.users, 'user')} that all of them scored"
    notes = [Callout((note,), "info") for note in _notes(judges)]
    head = Section("The judges of satisfaction", (*notes, _calibrations(judges.runs)), what)
    return (head, *_pairs_section(_pairs(judges)))


def _pairs(judges: SeveralJudges) -> list[Comparison]:
    return [c for name in PANELS for c in judges.comparisons if c.measure == name]


def _notes(judges: SeveralJudges) -> list[str]:
    runs, notes = judges.runs, []
    if len({run.summary["metrics"]["n"] for run in runs}) > 1 or any(judges.left_out.values()):
        notes.append(
            "The judges did not score the same turns. The table has each on its own; compared: "
            f"{counted(judges.n, 'turn')} that all scored."
        )
    for run in runs:
        if odd := [id for id in run.scored if not all(id in other.scored for other in runs)]:
            notes.append(f"Scored by {run.name} and not by all: {listed(odd)}")
    if len({run.calibration for run in runs}) > 1:
        chosen = ", ".join(f"{run.name}: {run.calibration}" for run in runs)
        notes.append(f"The runs show scores under different calibrations ({chosen}), and are compared so.")
    return notes


def _panel(name: str, judges: SeveralJudges) -> Card:
    rows = [dot_row(run, as_json(figures), name, judge=True) for run, figures in judges.figures.items()]
    first = judges.runs[0].summary
    rows += [dot_row(c, figures, name) for c, figures in first["controls"].items() if c != "shuffled"]
    return panel(name, rows, first["ceiling"][name])


def _settled(pairs: Sequence[Comparison]) -> Card:
    """List the pairs of which one is above the other."""
    settled = [c for c in pairs if c.side in ("above", "below")]
    items = []
    for c in settled[:_SETTLED_SHOWN]:
        better, worse = (c.a, c.b) if c.side == "above" else (c.b, c.a)
        title = PANELS[c.measure][0]
        items.append((Span(better, "strong"), f" above {worse} ", Span(f"({title})", "soft")))
    others = (
        f"{'All other' if settled else 'All'} pairs are not distinguishable on these turns, or undefined. "
        "Filled: judges; rings: controls."
    )
    more = max(len(settled) - _SETTLED_SHOWN, 0)
    named = (Items(tuple(items), more),) if settled else ()
    return Card("What can be told", (*named, Callout((others,))), f"{len(settled):,} of {len(pairs):,}")


def _pairs_section(pairs: Sequence[Comparison]) -> tuple[Section, ...]:
    if not pairs:
        return ()
    lead = (
        "Every two judges on the same turns; p is adjusted by Holm over the whole table. "
        "“Not distinguishable” is an answer."
    )
    table = comparison_table(pairs, (PANELS[c.measure][0] for c in pairs), shown=_PAIRS_FIRST)
    return (Section("Which judge is nearer to the users", (table,), lead, "Pairs"),)


def _calibrations(runs: Sequence[Predictions]) -> DataTable:
    groups = [_group(name, runs) for name in runs[0].summary["calibrations"]]
    return calibrations_table(groups, COLUMNS.values())


def _group(name: str, runs: Sequence[Predictions]) -> RowGroup:
    under = {run.name: run.summary["calibrations"][name] for run in runs}
    first = under[runs[0].name]
    rows = [figures_row(judge, of["metrics"], COLUMNS, "strong") for judge, of in under.items()]
    rows += [figures_row(c, figures, COLUMNS) for c, figures in first["controls"].items() if c != "shuffled"]
    for judge, of in under.items():
        rows.append(figures_row(f"shuffled: {judge}", of["controls"]["shuffled"], COLUMNS))
    rows.append(figures_row("ceiling", first["ceiling"], COLUMNS, "quiet"))
    chosen = all(run.calibration == name for run in runs)
    return calibration_group(name, first["calibration"], rows, chosen=chosen)
