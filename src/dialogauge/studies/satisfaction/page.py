"""From the summary of a satisfaction run to what its page shows.

It reads `summary.json`, so that a page can be written anew from a finished run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dialogauge.report import (
    BehaviourLine,
    CalibrationBlock,
    FigureCell,
    ForestPanel,
    ForestRow,
    GroupFigures,
    PairLine,
    RationaleExample,
    RationaleKindView,
    RationaleView,
    ReliabilityPoint,
    SatisfactionView,
    SeveralView,
    TableRow,
    UserDot,
)
from dialogauge.stats import MEASURES, Comparison
from dialogauge.studies.satisfaction.comparison import (
    COMPARED,
    Predictions,
    SeveralJudges,
    listed,
)
from dialogauge.studies.satisfaction.evaluation import CEILING, CONTROLS
from dialogauge.studies.satisfaction.rationale import KINDS
from dialogauge.studies.satisfaction.signals import signal_words
from dialogauge.text import counted

Json = Mapping[str, Any]


def rationale_view(
    found: Json, *, conversation: Callable[[str], str] = str, text: Callable[[str], str] = str
) -> RationaleView:
    """Return what the page shows.

    Args:
        found: `rationale` of `summary.json`.
        conversation: Hides a conversation's id, where a page is to hide it.
        text: Hides what must not be seen of a text.
    """
    table, agreement, terms = found["reasons"], found["reason_agreement"], found["terms"]
    chance = found["terms_by_chance"] or {}
    columns = tuple(b for b in table if any(row[b] for row in table.values()))
    ends = agreement["interval"]
    constant = f"always {agreement['constant_reason'] or 'the same'}".replace("_", " ")
    return RationaleView(
        columns=columns,
        rows=tuple((a, tuple(row[b] for b in columns)) for a, row in table.items() if any(row.values())),
        n=agreement["n"],
        agreed=agreement["agreed"],
        interval=None if ends is None else (ends[0], ends[1]),
        kappa=agreement["kappa"],
        controls=(
            ("its own reasons dealt anew", agreement["controls"]["shuffled"]),
            (constant, agreement["controls"]["constant"]),
        ),
        rationales=terms["rationales"],
        without_rationale=found["without_rationale"],
        not_comparable=found["not_comparable"],
        contamination=(terms["contamination"], chance.get("contamination")),
        at_home=(terms["contamination_of_sources"], chance.get("contamination_of_sources")),
        off_task=(terms["off_task"], chance.get("off_task")),
        missed=found["missed"],
        kinds=tuple(
            RationaleKindView(
                {"not_core": "real but not core"}.get(kind, kind.replace("_", "-")),
                meaning,
                found["kinds"][kind],
                tuple(_example(c, conversation, text) for c in found["examples"][kind]),
            )
            for kind, meaning in KINDS.items()
        ),
    )


def _example(case: Json, conversation: Callable[[str], str], text: Callable[[str], str]) -> RationaleExample:
    session, mark, position = str(case["turn_id"]).rpartition("__turn_")
    return RationaleExample(
        f"{conversation(session)}{mark}{position}",
        f"{case['user_score']:g}",
        text(str(case["user_reason"])),
        f"{case['judge_score']:g}",
        text(str(case["judge_reason"])),
        text(str(case["rationale"])),
        tuple(text(t) for t in case["of_sources"]),
    )


TABLE: Final = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "qwk": "QWK",
    "f1_dsat": "F1 DSAT ≤3",
    "mae": "MAE",
    "false_sat": "false SAT",
    "false_dsat": "false DSAT",
    "auc": "AUC ≤3",
    "per_user_pearson": "per user",
    "within_user_pearson": "within user",
    "within_block_pearson": "within block",
}
"""The figures of the table, and their titles."""
_GROUP: Final = {
    "bias": "bias",
    "mae": "MAE",
    "over_rated": "over-rated",
    "under_rated": "under-rated",
    "far_off": "2 or more off",
    "pearson": "Pearson",
    "f1_dsat": "F1 DSAT ≤3",
    "within_user_pearson": "within user",
}
_GROUPS: Final = {
    "scenario": "scenario",
    "turn_position": "position of the reply, from 0",
    "reason": "the user's reason",
    "gold": "the user's score",
}
PANELS: Final = {
    "pearson": ("Pearson", "all turns together: mostly whether users are told apart"),
    "within_user_pearson": ("Pearson within users", "each user's own mean taken away: whether replies are"),
    "qwk": ("Quadratic weighted kappa", "agreement on the scale, beyond chance"),
    "f1_dsat": ("F1 of dissatisfied (≤3)", "turns of 3 or less"),
    "mae": ("Mean absolute error", "in points of the scale"),
}
"""The figures that are drawn, with their titles and what they tell."""
_WHERE: Final = {
    "pearson": "Pearson",
    "qwk": "QWK",
    "f1_dsat": "F1 DSAT ≤3",
    "mae": "MAE",
    "within_user_pearson": "Pearson within users",
}


def satisfaction_view(
    summary: Json,
    judge: str,
    calibration: str,
    *,
    user: Callable[[str], str] = str,
    conversation: Callable[[str], str] = str,
    text: Callable[[str], str] = str,
) -> SatisfactionView:
    """Return what the page shows.

    Args:
        summary: As `summary.json` holds it.
        judge: The name of the judge.
        calibration: The one that was asked for.
        user: Hides a user's name, where a page is to hide it.
        conversation: Hides a conversation's.
        text: Hides what must not be seen of a scenario or a reason.
    """
    study, metrics = summary["study"], summary["metrics"]
    apart, told = summary["without_history"], summary["rationale"]
    marked = summary["boundary_only"] or ()
    return SatisfactionView(
        judge=judge,
        calibration=calibration,
        users=study["users"],
        blocks=study["blocks"],
        turns=study["turns"],
        n=metrics["n"],
        n_failed=metrics["n_failed"],
        population=(study["population"]["users"], study["population"]["turns"]),
        apart=(apart["n"] + apart["n_failed"], apart["mae"]),
        warnings=tuple(text(w) for w in summary["drift"]["warnings"]),
        signals=tuple(text(signal_words(told)) for told in summary.get("signals", ())),
        finding=finding(judge, summary["against_controls"]),
        panels=tuple(_panel(name, summary, judge) for name in PANELS),
        reliability=tuple(
            ReliabilityPoint(b["judge"], b["people"]["value"], _interval(b["people"]), b["people"]["n"])
            for b in summary["reliability"]
        ),
        confusion=tuple(tuple(row) for row in summary["confusion"]),
        dots=tuple(
            UserDot(user(u["user"]), u["n"], u["gold"], u["judge"], u["pearson"]) for u in summary["users"]
        ),
        columns=tuple(title + "*" * (name in marked) for name, title in TABLE.items()),
        table=_table_of(summary["calibrations"], judge, calibration),
        controls=(*CONTROLS.items(), ("ceiling", CEILING)),
        behaviour=_behaviour(summary),
        group_columns=tuple(_GROUP.values()),
        groups=tuple(
            GroupFigures(
                title,
                tuple(
                    table_row(text(name), "judge", figures, _GROUP)
                    for name, figures in summary["metrics_by"][key].items()
                ),
            )
            for key, title in _GROUPS.items()
        ),
        fractions=summary["metrics_of_fractions"] != metrics,
        boundary_only=bool(marked),
        rationale=None if told is None else rationale_view(told, conversation=conversation, text=text),
    )


def _table_of(calibrations: Json, judge: str, chosen: str) -> tuple[CalibrationBlock, ...]:
    """Lay out judge, controls and ceiling under each calibration."""
    out: list[CalibrationBlock] = []
    for name, found in calibrations.items():
        rows = (
            table_row(judge, "judge", found["metrics"]),
            *(table_row(control, "control", f) for control, f in found["controls"].items()),
            table_row("ceiling", "ceiling", found["ceiling"]),
        )
        note = calibrated_note(name, found["calibration"])
        title = "raw" if name == "none" else name
        out.append(CalibrationBlock(title, note, name == chosen, None, rows))
    return shown_once(out)


def shown_once(blocks: Sequence[CalibrationBlock]) -> tuple[CalibrationBlock, ...]:
    """Say of blocks with the same figures in every row as one above that they are the same."""
    out: list[CalibrationBlock] = []
    for block in blocks:
        same = next((b.name for b in out if b.rows == block.rows), None)
        out.append(replace(block, same_as=same))
    return tuple(out)


def calibrated_note(name: str, found: Json) -> str:
    """Say how many blocks a calibration reached, and why it left others as they are."""
    if name == "none":
        return "as the judge says"
    left = "".join(
        f", {n} left as they are ({why})".replace("_", " ") for why, n in found["identity"].items()
    )
    return f"{found['calibrated_blocks']} of {counted(found['blocks'], 'block')} calibrated{left}"


def table_row(name: str, kind: str, figures: Json, columns: Mapping[str, str] = TABLE) -> TableRow:
    """Return a row of figures; `kind` is `judge`, `control` or `ceiling`."""
    return TableRow(
        name, kind, figures["n"], figures["n_failed"], tuple(figure_cell(figures, c) for c in columns)
    )


def figure_cell(figures: Json, name: str) -> FigureCell:
    """Return one figure with its interval, where it has one."""
    return FigureCell(figures[name], _ends(figures["intervals"].get(name)))


def _ends(found: Sequence[float] | None) -> tuple[float, float] | None:
    return None if found is None else (found[0], found[1])


def _interval(estimate: Json) -> tuple[float, float] | None:
    return None if estimate["low"] is None else (estimate["low"], estimate["high"])


def _panel(name: str, summary: Json, judge: str) -> ForestPanel:
    title, what = PANELS[name]
    sides = {c["b"]: c["side"] for c in summary["against_controls"] if c["measure"] == name}
    mine = figure_cell(summary["metrics"], name)
    rows = [ForestRow(judge, mine.value, mine.interval, judge=True, side=None)]
    for control, figures in summary["controls"].items():
        cell = figure_cell(figures, name)
        rows.append(ForestRow(control, cell.value, cell.interval, judge=False, side=sides.get(control)))
    ceiling = summary["ceiling"][name]
    return ForestPanel(title, what, tuple(rows), ceiling, lower_is_better=MEASURES[name].better == "low")


def finding(judge: str, against: Sequence[Json]) -> str:
    """Say by which figures the judge is above every control, where it cannot be told from one, and below."""
    if not against or all(c["side"] in ("undefined", "too few to tell") for c in against):
        lacking = any(c["side"] == "too few to tell" for c in against)
        why = "too few users or draws for so many comparisons" if lacking else "there is no interval"
        return f"Whether the judge is above a judge that reads nothing cannot be told: {why}."
    sides = {m: {c["side"] for c in against if c["measure"] == m} for m in COMPARED}
    above = [_WHERE[m] for m, found in sides.items() if "above" in found and found <= {"above", "undefined"}]
    told = [f"Above every control: {', '.join(above) or 'by no figure'}."]
    if few := _named(against, "too few to tell"):
        told.append(f"Too few users or draws to tell: {few}.")
    if level := _named(against, "not distinguishable"):
        told.append(f"{judge} is not shown to be above: {level}.")
    if worse := _named(against, "below"):
        told.append(f"It is below: {worse}.")
    return " ".join(told)


def _named(against: Sequence[Json], side: str) -> str:
    """List the figures with this side, each with its controls."""
    found = {
        _WHERE[m]: [c["b"].replace(", ", " by ") for c in against if (c["measure"], c["side"]) == (m, side)]
        for m in COMPARED
    }
    return "; ".join(f"{title} ({', '.join(names)})" for title, names in found.items() if names)


def _behaviour(summary: Json) -> tuple[BehaviourLine, ...]:
    found, metrics = summary["behaviour"], summary["metrics"]
    stable, again = found["stability"], found["recovery"]

    def cell(share: Json) -> FigureCell:
        return FigureCell(share["value"], _interval(share))

    none = FigureCell(None, None)
    return (
        BehaviourLine(
            "stable conversations",
            "all rated turns satisfied",
            cell(stable["people"]),
            cell(stable["judge"]),
            stable["people"]["n"],
        ),
        BehaviourLine(
            "recovery",
            "satisfied right after a turn at which the user was dissatisfied",
            cell(again["people"]),
            cell(again["judge_there"]),
            again["people"]["n"],
        ),
        BehaviourLine(
            "recovery by the judge's own account",
            "satisfied right after a turn that the judge takes for dissatisfied",
            none,
            cell(again["judge"]),
            again["judge"]["n"],
        ),
        *(
            BehaviourLine(title, what, none, figure_cell(metrics, name), metrics["n"])
            for name, title, what in (
                ("over_rated", "over-rated", "the judge's score is above the user's"),
                ("under_rated", "under-rated", "the judge's score is below the user's"),
                ("far_off", "far off", "by 2 points or more"),
            )
        ),
    )


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
        panels=tuple(_panel_of_runs(name, runs, summaries, found) for name in PANELS),
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


def _panel_of_runs(
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
    return ForestPanel(title, what, tuple(rows), ceiling, lower_is_better=MEASURES[name].better == "low")


def _pair(c: Comparison) -> PairLine:
    title, figures = PANELS[c.measure][0], (c.figure_a, c.figure_b)
    return PairLine(
        title, c.a, c.b, *figures, c.difference.value, c.difference.interval, c.p_holm, c.side, c.words
    )
