"""The figures of a fit on a page and on a terminal, beside controls that read nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Code,
    DataTable,
    Definitions,
    Emphasis,
    Number,
    Page,
    RowGroup,
    Section,
    TableColumn,
    TableRow,
    data_table,
)
from dialogauge.rubrics import FittedWeights
from dialogauge.runs import Manifest
from dialogauge.text import counted

Json = Mapping[str, Any]

_TABLES: Final = (("uar", "kappa", "f1_below3", "f1_below3_published"), ("auc_below3", "auc_above3"))
"""The figures of whole ratings, and those of the ranking."""
_TWO_SIDED: Final = (
    "People said good or bad alone: bad stands as the rating 1, good as 5. Below 3 is bad, both AUCs are the "
    "same, and the mean recall over five ratings is at most 0.4."
)
_VIEWS: Final = {
    "all": "all examples",
    "without_whole": "without ratings of the whole",
    "whole_only": "ratings of the whole only",
}
_FIGURES: Final = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "auc_dissatisfied": "AUC",
    "mean_squared_error": "MSE",
}


def file_brief(fit: Json) -> tuple[Block, ...]:
    """Lay out the out-of-fold figures of the local judge's coefficients."""
    fitted = fit["fitted_on"]
    head = (
        f"fitted {fit['dimension']} on {counted(fitted['turns'], 'rated turn')} of "
        f"{counted(fitted['conversations'], 'conversation')}, {counted(fitted['groups'], 'user')} (or "
        "conversations where no user is known)"
    )
    rows = []
    for mode in ("hindsight", "foresight"):
        figures = fit["measured"][mode]
        rows.append(_figures_row(mode, figures, "strong"))
        rows.append(_figures_row("  reply length", figures["control_reply_length"]))
        rows.append(_figures_row("  constant", figures["control_constant"]))
    table = data_table("left-out figures", ("left-out figures", *_FIGURES.values()), rows, captioned=False)
    note = "AUC: of a dissatisfied turn (3 or less) being scored below a satisfied one"
    return (Callout((head,)), table, Section("", (Callout((note,)),)))


_SOURCES: Final = {
    "fitted": "fitted weights",
    "rubric": "the rubric’s weights",
    "fitted_less_rubric": "  fitted less the rubric’s",
    "constant": "people’s mean",
    "people": "a rater beside the others",
}
_MEANT: Final = {"nmae": "normalised MAE", "bias": "bias", "rank_accuracy": "rank accuracy"}


def weights_brief(fitted: FittedWeights) -> tuple[Block, ...]:
    """Lay out the weights of criteria, and what they are worth on personas left out."""
    groups, criteria = list[RowGroup](), list[RowGroup]()
    for name, of in fitted.dimensions.items():
        about = f"{counted(of.sessions, 'session')} of {counted(of.personas, 'persona')}"
        title = "; ".join(filter(None, (f"{name}: {about}, lambda {of.ridge:g}", of.note)))
        rows = [
            TableRow((shown, *(_numbers(of.figures[key].get(n, ())) for n in _MEANT)))
            for key, shown in _SOURCES.items()
        ]
        groups.append(RowGroup(tuple(rows), title))
        lines: list[tuple[Cell, ...]] = [("base", Number(of.prior), Number(of.base), None)]
        lines += [(n, Number(c.prior), Number(c.weight), c.support) for n, c in of.criteria.items()]
        criteria.append(RowGroup(tuple(map(TableRow, lines)), name))
    heads = (TableColumn("on personas left out", "text"), *map(TableColumn, _MEANT.values()))
    columns = (TableColumn("criterion", "text"), *map(TableColumn, ("rubric", "fitted", "sessions")))
    note = "Distance and bias are of sessions, rank accuracy is of candidates"
    return (
        DataTable("figures", heads, tuple(groups), captioned=False),
        DataTable("weights", columns, tuple(criteria), captioned=False),
        Callout((note,)),
    )


def _numbers(of: Sequence[float]) -> Number:
    return Number(of[0] if of else None, 3, (of[1], of[2]) if of[1:] else None)


def _figures_row(name: str, figures: Json, emphasis: Emphasis = "plain") -> TableRow:
    cells = (Number(figures.get(key), 3) for key in _FIGURES)
    return TableRow((name, *cells), emphasis)


def fit_page(summary: Json, manifest: Manifest) -> Page:
    """Lay out the summary of a fitted run as a page."""
    lead = (
        f"{counted(summary['examples'], 'rated place')} of "
        f"{counted(summary['conversations'], 'conversation')}, {counted(summary['votes'], 'vote')}. Every "
        "figure is of predictions left out."
    )
    if summary.get("two_sided"):
        lead += f" {_TWO_SIDED}"
    parts = [_part(name, part, summary["folds"]) for name, part in summary["parts"].items()]
    meanings = Section("What the figures mean", (Definitions(tuple(summary["figures"].items())),))
    command = (Section("How this was made", (Code(manifest.command),)),) if manifest.command else ()
    version = manifest.versions["dialogauge"] or ""
    title = f"Fitted to ratings: {summary['dimension']}"
    return Page(title, (*parts, meanings, *command), lead, manifest.written[:10], version)


def run_brief(summary: Json) -> tuple[Block, ...]:
    """Lay out the summary of a fitted run."""
    head = (
        f"fitted {summary['dimension']} on {counted(summary['examples'], 'rated place')} of "
        f"{counted(summary['conversations'], 'conversation')} ({counted(summary['votes'], 'vote')}; "
        f"{summary['whole_conversations']:,} of the whole, {summary['nothing_said']:,} before any turn)"
    )
    parts = (_part(name, part, summary["folds"]) for name, part in summary["parts"].items())
    meanings = Definitions(tuple(summary["figures"].items()))
    heads = (head, _TWO_SIDED) if summary.get("two_sided") else (head,)
    return (Callout(heads), *parts, Section("", (meanings,)))


def _part(name: str, part: Json, folds: int) -> Section:
    across = part["split_conversations"]
    split = f" ({counted(across, 'conversation does', 'conversations do')})" if across else ""
    everything = part["all"]["metrics"]["n"]
    views = [v for v in _VIEWS if v == "all" or (v in part and part[v]["metrics"]["n"] < everything)]
    tables = tuple(_table(columns, part, views) for columns in _TABLES)
    return Section(f"{folds} parts of {name}: {part['what']}{split}", tables)


def _table(columns: Sequence[str], part: Json, views: Iterable[str]) -> DataTable:
    groups = []
    for view in views:
        metrics = part[view]["metrics"]
        rows = [TableRow(("model", *_cells(metrics, columns)))]
        rows += [TableRow((f"  {n}", *_cells(f, columns))) for n, f in part[view]["controls"].items()]
        groups.append(RowGroup(tuple(rows), f"{_VIEWS[view]}, n = {metrics['n']:,}"))
    heads = (TableColumn("", "text"), *map(TableColumn, columns))
    return DataTable("figures", heads, tuple(groups), captioned=False)


def _cells(figures: Json, columns: Iterable[str]) -> Iterable[Cell]:
    intervals = figures.get("intervals", {})
    for column in columns:
        low, high = intervals.get(column) or (None, None)
        yield Number(figures[column], 3, None if low is None or high is None else (low, high))
