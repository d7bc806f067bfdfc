"""A judge against the users themselves, on a page and on a terminal.

Everything is made from `summary.json`, so a page is the same when it is written anew from a finished run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from dialogauge.core.shape import read_as
from dialogauge.data import Mask
from dialogauge.report import (
    Axis,
    Bars,
    Block,
    Callout,
    Card,
    Cards,
    Cell,
    Curve,
    DataTable,
    Definitions,
    DotPlot,
    DotRow,
    Emphasis,
    Ends,
    Matrix,
    Number,
    Page,
    Percent,
    Point,
    Reference,
    RowGroup,
    Section,
    Span,
    TableColumn,
    TableRow,
    data_table,
    shares_of_columns,
    words,
)
from dialogauge.runs import Ending, Manifest, StoredRun
from dialogauge.stats import MEASURES
from dialogauge.studies.judging.brief import mended_and_spent
from dialogauge.studies.judging.opening import light_box
from dialogauge.studies.judging.people import Light
from dialogauge.studies.judging.report import stored_page as judging_page
from dialogauge.studies.judging.summary import Summary
from dialogauge.studies.satisfaction.comparison import COMPARED
from dialogauge.studies.satisfaction.evaluation import CEILING, CONTROLS
from dialogauge.studies.satisfaction.rationale_page import NO_MASK, rationale_section
from dialogauge.studies.satisfaction.signals import signal_words
from dialogauge.text import counted

Json = Mapping[str, Any]

COLUMNS: Final = {
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
"""The figures of the table of calibrations, and their titles."""
_ON_TERMINAL: Final = ("false_sat", "false_dsat", "auc")
"""Figures that a terminal leaves out."""
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
    "pearson": ("Pearson", "all turns together: mostly shows whether the judge tells users apart"),
    "within_user_pearson": (
        "Pearson within users",
        "each user's own mean removed: shows whether the judge tells replies apart",
    ),
    "qwk": ("Quadratic weighted kappa", "agreement on the scale, beyond chance"),
    "f1_dsat": ("F1 of dissatisfied (≤3)", "turns of 3 or less"),
    "mae": ("Mean absolute error", "in points of the scale"),
}
"""The figures that are drawn, with their titles and what they say."""
_SHORT: Final = {**COLUMNS, "within_user_pearson": "Pearson within users"}
_READING: Final = (
    ("●", "the judge, with its 95 % interval"),
    ("○", "a control: it reads nothing and gets the same calibration"),
    ("▲", "the judge is better than this control"),
    ("▼", "the judge is worse"),
    ("≈", "they are not distinguishable"),
    ("…", "too few users to tell"),
    ("?", "undefined"),
)
_USERS_DRAWN: Final = 600
_FAILURES_SHOWN: Final = 5


def stored_page(run: StoredRun) -> Page:
    """Return the page of a finished run: the report of its rows, and what its summary says of the users."""
    summary = run.directory.read_json("summary")
    return judging_page(run, users_sections(summary, run.manifest, run.mask or NO_MASK))


def users_sections(summary: Json, manifest: Manifest, mask: Mask = NO_MASK) -> tuple[Section, ...]:
    """Lay out the judge against the users, as parts of a page.

    Args:
        summary: As `summary.json` holds it.
        manifest: Of the run.
        mask: Hides what the summary holds openly.
    """
    judge, calibration = manifest.judge["name"], manifest.settings["calibrate"]
    metrics, rationale = summary["metrics"], summary["rationale"]
    notes = _notes(summary, mask)
    if not metrics["n"]:
        nothing = Callout(
            ("No turn of a user with a history has a score: there are no other figures.",), "info"
        )
        return (_users_section(summary, calibration, (*light_of(summary), *notes, nothing)),)
    cards = [_panel(name, summary, judge) for name in PANELS]
    blocks: list[Block] = [
        *light_of(summary),
        *notes,
        Callout((finding(judge, summary["against_controls"]),), "info"),
        Cards((*cards, _reading()), wide=True),
    ]
    apart = summary["without_history"]
    if n := apart["n"] + apart["n_failed"]:
        of = f"of users without a history (mean error {words.decimal(apart['mae'])} on {apart['n']:,})."
        blocks.append(Callout((f"Apart, and without a part in this: {counted(n, 'turn')} {of}",)))
    return (
        _users_section(summary, calibration, tuple(blocks)),
        _pictures_section(summary, mask),
        *([] if rationale is None else [rationale_section(rationale, mask)]),
        _calibrations_section(summary, judge, calibration),
        _slices_section(summary, mask),
    )


def light_of(summary: Json) -> tuple[Block, ...]:
    """Return the answer whether the judge agrees with its users; nothing of a run of before it was given."""
    light = summary.get("light")
    return () if light is None else (light_box(read_as(light, Light)),)


def _users_section(summary: Json, calibration: str, blocks: tuple[Block, ...]) -> Section:
    study, metrics = summary["study"], summary["metrics"]
    calibrated = "" if calibration == "none" else f"; calibrated: {calibration}"
    lead = (
        f"The judge's scores of {counted(metrics['n'], 'turn')} beside the ratings of "
        f"{counted(study['users'], 'user')}, in {counted(study['blocks'], 'block')} of one user and one "
        f"scenario{calibrated}."
    )
    if metrics["n_failed"]:
        lead += f" Failed, and without a part in this: {counted(metrics['n_failed'], 'turn')}."
    lead += f" Intervals are 95 % and draw whole {'users' if metrics['n_users'] > 1 else 'conversations'}."
    return Section("Against the users themselves", blocks, lead, "Against users", "users")


def _notes(summary: Json, mask: Mask) -> list[Callout]:
    """Warn of what differs between history and target, and say what was there of signals and of a guard."""
    warnings = [mask.text(w) for w in summary["drift"]["warnings"]]
    signals = [mask.text(signal_words(signal)) for signal in summary.get("signals", ())]
    guarded = []
    if guard := summary.get("guard"):
        failed = f"{counted(guard['capped'], 'session')} failed a condition."
        if guard["lifted"]:
            failed += f" Calibrated without it, {guard['lifted']:,} would stand above the cap."
        guarded = [f"What a session fails on is judged first, and caps its score: {failed}"]
    titled: tuple[tuple[str, list[str], Literal["warn", "info"]], ...] = (
        ("The histories are different.", warnings, "warn"),
        ("Signals.", signals, "info"),
        ("Guarded.", guarded, "info"),
    )
    return [
        Callout(((Span(title, "strong"), f" {paragraphs[0]}"), *paragraphs[1:]), tone)
        for title, paragraphs, tone in titled
        if paragraphs
    ]


# The judge beside its controls


def _panel(name: str, summary: Json, judge: str) -> Card:
    sides = {c["b"]: c["side"] for c in summary["against_controls"] if c["measure"] == name}
    rows = [dot_row(judge, summary["metrics"], name, judge=True)]
    rows += [dot_row(c, figures, name, side=sides.get(c)) for c, figures in summary["controls"].items()]
    return panel(name, rows, summary["ceiling"][name])


def dot_row(label: str, figures: Json, name: str, *, judge: bool = False, side: str | None = None) -> DotRow:
    """Return a judge or a control in one figure, with how the judge stands to it."""
    sign = "" if side is None else words.sign(side)
    means = "" if side is None else f"the judge is {side}"
    emphasis: Emphasis = "strong" if judge else "plain"
    return DotRow(label, figures[name], _ends(figures, name), emphasis, sign, means)


def panel(name: str, rows: Iterable[DotRow], ceiling: float | None) -> Card:
    """Draw one figure of judges and controls, beside the ceiling."""
    title, what = PANELS[name]
    plot = DotPlot(title, tuple(rows), references=(Reference(0.0),))
    top = f"ceiling {words.decimal(ceiling, 3)}"
    aside = "lower is better" if MEASURES[name].better == "low" else ""
    return Card(title, (Callout((what,)), plot, Callout((top,))), aside)


def _reading() -> Card:
    note = (
        "p adjusted by Holm over the whole table. Ceiling: the users’ own "
        "scores through the same calibration."
    )
    return Card("How to read this", (Definitions(_READING), Callout((note,))))


def finding(judge: str, against: Sequence[Json]) -> str:
    """Say by which figures the judge is above every control, where it cannot be told from one, and below."""
    if not against or all(c["side"] in ("undefined", "too few to tell") for c in against):
        too_few = any(c["side"] == "too few to tell" for c in against)
        why = "too few users for so many comparisons" if too_few else "there is no interval"
        return f"We cannot tell whether the judge is better than one that reads nothing: {why}."
    sides = {m: {c["side"] for c in against if c["measure"] == m} for m in COMPARED}
    above = [_SHORT[m] for m, of in sides.items() if "above" in of and of <= {"above", "undefined"}]
    sentences = [f"No figure shows {judge} above every control."]
    if above:
        sentences = [f"{judge} is above every control by {', '.join(above)}."]
    for side, what in (
        ("too few to tell", "Too few users to compare it with"),
        ("not distinguishable", "Not told from"),
        ("below", "By some figure below"),
    ):
        if names := list(dict.fromkeys(c["b"].replace(", ", " by ") for c in against if c["side"] == side)):
            sentences.append(f"{what}: {', '.join(names)}.")
    return " ".join(sentences)


# Where judge and users part


def _pictures_section(summary: Json, mask: Mask) -> Section:
    fractions = summary["metrics_of_fractions"] != summary["metrics"]
    reliability = _reliability(summary["reliability"], fractions=fractions)
    cards = (reliability, _confusion(summary["confusion"]), *_users(summary["users"], mask))
    blocks = (Cards(cards, wide=True), _behaviour(summary))
    lead = "The dashed line is where judge and users agree."
    return Section("Where judge and users differ", blocks, lead, "Pictures", "pictures")


def _square(title: str, points: Sequence[Point], labels: tuple[str, str], *, sized: bool = False) -> Curve:
    values = [v for p in points for v in (p.x, p.y, *(p.interval or ()))]
    # From half a point or less below the lowest value, and at least one point below the highest.
    low = min(4.0, max(1.0, -(-(min(values) - 0.5) * 2 // 1) / 2)) if values else 1.0
    x, y = (Axis(low, 5.0, label) for label in labels)
    return Curve(title, tuple(points), x, y, square=True, sized=sized)


def _reliability(bins: Sequence[Json], *, fractions: bool) -> Card:
    points = []
    for b in bins:
        people = b["people"]
        label = f"judge {b['judge']:z.2f}, people {people['value']:z.2f}, {counted(people['n'], 'turn')}"
        points.append(Point(b["judge"], people["value"], _interval(people), people["n"], label))
    judge = "the judge’s expected rating" if fractions else "the judge’s score"
    plot = _square("Reliability diagram", points, (judge, "the users’ mean"), sized=True)
    note = (
        f"The users’ mean rating for each {'range' if fractions else 'score'} of the judge, with 95 % "
        "intervals; larger dots stand for more turns. Above the line the judge is too strict, below it too "
        "lenient."
    )
    of = ("Of the expected rating (", Span("scores.satisfaction", "code"), "), not of the whole score. ")
    return Card("Reliability", (plot, Callout(((*of, note) if fractions else note,))))


def _confusion(counts: Sequence[Sequence[int]]) -> Card:
    """Draw the judge's 1 to 5 upwards, and people's from left to right."""
    levels = tuple(str(i) for i in range(1, len(counts) + 1))
    rows = tuple(tuple(row) for row in reversed(counts))
    matrix = Matrix(
        "Confusion matrix",
        levels[::-1],
        levels,
        rows,
        shares_of_columns(rows),
        "the judge’s score",
        "the user’s score",
        row_edge=len(levels) - 3,
        column_edge=3,
    )
    note = (
        "Turns by the two scores, shaded by the share of the user’s score. The lines separate satisfied "
        "(4, 5) from dissatisfied."
    )
    return Card("Confusion matrix", (matrix, Callout((note,))))


def _users(users: Sequence[Json], mask: Mask) -> tuple[Card, Card]:
    step = -(-len(users) // _USERS_DRAWN) or 1
    points = [
        Point(
            u["judge"],
            u["gold"],
            n=u["n"],
            label=f"{mask.id('user', u['user'])}: rated {u['gold']:z.2f} on average, "
            f"judged {u['judge']:z.2f}, {counted(u['n'], 'turn')}",
        )
        for u in users[::step]
    ]
    plot = _square("Each user’s mean against the judge’s", points, ("the judge’s mean", "the user’s mean"))
    left_out = len(users) - len(points)
    note = (
        f"Each dot is one user{f' ({left_out:,} are not drawn)' if left_out else ''}. Dots along the line "
        "mean that the judge knows who is strict and who is lenient."
    )
    return Card("User by user", (plot, Callout((note,)))), _within_users([u["pearson"] for u in users])


def _within_users(correlations: Sequence[float | None]) -> Card:
    known = [r for r in correlations if r is not None]
    bins = Counter(min(9, max(0, int((r + 1) * 5))) for r in known)
    bars = Bars(
        "Correlation within each user",
        tuple(f"{-1 + i / 5:z.1f}" for i in range(10)),
        tuple(bins[i] for i in range(10)),
        axis=Axis(-1.0, 1.0),
        at_edges=True,
        reference=Reference(0.0),
        label="Pearson over this user’s own turns",
    )
    below, undefined = sum(r < 0 for r in known), len(correlations) - len(known)
    counts = f"{counted(below, 'user')} of {len(known):,} below zero"
    if undefined:
        counts += f"; {undefined:,} without one (too few turns, or scores that do not vary)"
    note = (
        "Users on the right: the judge tells their better turns from their worse ones. A judge that knows "
        "only a user’s level is at zero."
    )
    return Card("Within each user", (bars, Callout((counts, note))))


def _behaviour(summary: Json) -> DataTable:
    stable, recovery = (summary["behaviour"][name] for name in ("stability", "recovery"))
    metrics, after = summary["metrics"], "satisfied right after a turn"
    by_user, by_judge = "at which the user was dissatisfied", "that the judge scores as dissatisfied"
    shares = (
        ("stable conversations", stable["people"], stable["judge"], "all rated turns satisfied"),
        ("recovery", recovery["people"], recovery["judge_there"], f"{after} {by_user}"),
        ("recovery by the judge's own scores", None, recovery["judge"], f"{after} {by_judge}"),
    )
    rows: list[tuple[Cell, ...]] = [
        (title, "" if users is None else _share(users), _share(judge), judge["n"], what)
        for title, users, judge, what in shares
    ]
    for name, title, what in (
        ("over_rated", "over-rated", "the judge's score is above the user's"),
        ("under_rated", "under-rated", "the judge's score is below the user's"),
        ("far_off", "far off", "by 2 points or more"),
    ):
        rows.append((title, "", Percent(metrics[name], _ends(metrics, name)), metrics["n"], what))
    heads = ("", "users", "judge", "n", TableColumn("the share that is", "prose"))
    return data_table("Along the conversation, and over all turns", heads, rows)


def _share(share: Json) -> Percent:
    return Percent(share["value"], _interval(share))


# Calibrations and slices


def _calibrations_section(summary: Json, judge: str, calibration: str) -> Section:
    marked = summary["boundary_only"] or ()
    table = _calibrations(summary, judge, calibration, COLUMNS)
    legend: list[str | Span] = []
    for name, what in (*CONTROLS.items(), ("ceiling", CEILING)):
        legend += [Span(name, "strong"), f": {what}. "]
    legend += [TABLE_LEGEND, f" {_BOUNDARY_ONLY}" if marked else ""]
    lead = f"The judge, every control and the ceiling {SAME_MAPS}"
    note = Callout((tuple(legend),))
    return Section("Raw, and under each calibration", (table, note), lead, "Calibrations", "calibrations")


SAME_MAPS: Final = "through the same maps. A figure that a control matches shows nothing about the judge."
TABLE_LEGEND: Final = (
    "DSAT: 3 or less. False SAT: dissatisfied turns that were called satisfied. Per user: mean of the users’ "
    "own correlations; within user, within block: after removing their own mean. A dash is undefined: "
    "the scores do not vary."
)


_BOUNDARY_ONLY: Final = (
    "* Boundary only: the judge says only satisfied (4) or dissatisfied (3), so these figures read more into "
    "its scores than they contain."
)


def _calibrations(summary: Json, judge: str, chosen: str, columns: Mapping[str, str]) -> DataTable:
    marked = summary["boundary_only"] or ()
    groups = []
    for name, figures in summary["calibrations"].items():
        rows = (
            figures_row(judge, figures["metrics"], columns, "strong"),
            *(figures_row(control, f, columns) for control, f in figures["controls"].items()),
            figures_row("ceiling", figures["ceiling"], columns, "quiet"),
        )
        groups.append(calibration_group(name, figures["calibration"], rows, chosen=name == chosen))
    titles = {name: title + "*" * (name in marked) for name, title in columns.items()}
    return calibrations_table(groups, titles.values())


def calibrations_table(groups: Sequence[RowGroup], titles: Iterable[str]) -> DataTable:
    """Return the table; calibrations with the same figures in every row are shown once."""
    shown: list[RowGroup] = []
    for group in groups:
        same = next((g for g in shown if g.rows == group.rows), None)
        note = "" if same is None else f"the same figures as {same.title}"
        shown.append(group if same is None else RowGroup((), group.title, note, group.tag))
    columns = (TableColumn("judge or control", "text"), *map(TableColumn, titles))
    return DataTable("Raw, and under each calibration", columns, tuple(shown), captioned=False)


def calibration_group(name: str, run: Json, rows: Sequence[TableRow], *, chosen: bool) -> RowGroup:
    """Put rows under the name of a calibration, with how many blocks it reached."""
    left = "".join(
        f", {n:,} left as they are ({why})".replace("_", " ") for why, n in run["identity"].items()
    )
    note = f"{run['calibrated_blocks']:,} of {counted(run['blocks'], 'block')} calibrated{left}"
    title, note = ("raw", "as the judge says") if name == "none" else (name, note)
    return RowGroup(tuple(rows), title, note, "chosen" if chosen else "")


def figures_row(name: str, figures: Json, columns: Iterable[str], emphasis: Emphasis = "plain") -> TableRow:
    """Return a row of figures; those of a judge (`strong`) come with their intervals."""
    cells = (Number(figures[c], 3, _ends(figures, c), interval_digits=2) for c in columns)
    return TableRow((name, *cells), emphasis)


def _slices_section(summary: Json, mask: Mask) -> Section:
    tables = []
    for key, title in _GROUPS.items():
        groups = summary["metrics_by"][key]
        rows = [(mask.text(n), g["n"], *(Number(g[c]) for c in _GROUP)) for n, g in groups.items()]
        tables.append(data_table(f"By {title}", (title, "turns", *_GROUP.values()), rows))
    lead = (
        "Groups of turns. A user’s reason or score is known only afterwards: such a group shows what the "
        "judge misses, and its correlations mean little."
    )
    title = "Slices: where the judge does well and where it does not"
    return Section(title, tuple(tables), lead, "Slices", "slices")


def _interval(estimate: Json) -> Ends | None:
    return None if estimate["low"] is None else (estimate["low"], estimate["high"])


def _ends(figures: Json, name: str) -> Ends | None:
    ends = figures["intervals"].get(name)
    return None if ends is None else (ends[0], ends[1])


# On a terminal


def brief(
    figures: Json, summary: Summary, manifest: Manifest, ending: Ending, failures: Mapping[str, int]
) -> tuple[Block, ...]:
    """Lay out what was judged and what came of it, for a terminal.

    Args:
        figures: As `summary.json` holds them.
        summary: Of the rows.
        manifest: Of the run.
        ending: How far the run came.
        failures: How many turns failed, by the message.
    """
    judge, calibration = manifest.judge["name"], manifest.settings["calibrate"]
    counts = Definitions(tuple(_counts(figures, judge, ending, failures)))
    spent = Definitions(tuple(mended_and_spent(summary)))
    notes = _notes(figures, NO_MASK)
    if calibration != "none" and not figures["calibrations"][calibration]["calibration"]["calibrated_blocks"]:
        unchanged = (
            f"--calibrate {calibration} changed nothing: no block has a history to calibrate to, so the "
            "scores are as the judge gave them"
        )
        notes.insert(0, Callout((unchanged,), "info"))
    if not figures["metrics"]["n"]:
        nothing = Callout(("no turn of a user with a history has a score: no further figures",))
        return (*light_of(figures), counts, *notes, nothing, *([spent] if spent.pairs else []))
    columns = {name: title for name, title in COLUMNS.items() if name not in _ON_TERMINAL}
    table = _calibrations(figures, judge, calibration, columns)
    rationale = figures["rationale"]
    first = (*light_of(figures), Callout((finding(judge, figures["against_controls"]),)))
    reading = [_BOUNDARY_ONLY] if figures["boundary_only"] else []
    reading.append(
        "Within user: Pearson after removing each user's own mean; within block: after removing the mean of "
        "each user and scenario. Ceiling: the users' own scores after the same calibration. Intervals are 95 "
        "%, clustered by user."
    )
    return (
        *first,
        counts,
        *notes,
        table,
        *([] if rationale is None else [rationale_section(rationale)]),
        Section("", (Callout(tuple(reading)), *([spent] if spent.pairs else []))),
    )


def _counts(
    figures: Json, judge: str, ending: Ending, failures: Mapping[str, int]
) -> Iterable[tuple[str, str]]:
    study, metrics, apart = figures["study"], figures["metrics"], figures["without_history"]
    waiting = f", {ending.pending:,} waiting" if ending.pending else ""
    yield (
        "judged",
        f"{counted(study['turns'], 'turn')} of {counted(study['users'], 'user')} in "
        f"{counted(study['blocks'], 'block')}, by {judge}: {metrics['n']:,} scored, "
        f"{metrics['n_failed']:,} failed{waiting}",
    )
    for message, n in list(failures.items())[:_FAILURES_SHOWN]:
        yield "failed", f"{n:,}, {message}"
    others = study["population"]
    yield (
        "other users",
        f"{counted(others['turns'], 'turn')} of {counted(others['users'], 'training user')}",
    )
    if n := apart["n"] + apart["n_failed"]:
        yield (
            "counted separately",
            f"{counted(n, 'turn')} of users without a history, scored by the training users' prior "
            f"({apart['n']:,} scored, mean error {words.decimal(apart['mae'], 4)})",
        )
    for why, n in study["left_out"].items():
        yield "left out", f"{n:,}, {why}"
