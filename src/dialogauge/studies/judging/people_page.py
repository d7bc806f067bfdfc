"""What people said, as a part of a page: every figure, those of the light, and the rectified means."""

from __future__ import annotations

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Missing,
    Number,
    Percent,
    Section,
    TableColumn,
    data_table,
    words,
)
from dialogauge.stats import Estimate
from dialogauge.studies.judging.people import Light, People, PeopleFigure, Rectified
from dialogauge.text import counted


def people_section(people: People) -> Section:
    """Lay out what people said, or what came of tasks, and what the light stands on."""
    tasks = all(f.raters == "environment" or f.dimension == "reward" for f in people.figures)
    low = "failed" if tasks else "dissatisfied"
    mean = "mean, or how many" if any(figure.scale is None for figure in people.figures) else "mean"
    heads = ("", TableColumn("of", "text"), "ratings", "conversations", "users", mean, low)
    rows = [_figure(figure) for figure in people.figures]
    title = "What came of the tasks" if tasks else "What people said"
    figures = data_table(title, heads, rows, captioned=False)
    what = "Rewards and flags" if tasks else "Ratings"
    lead = f"{what} taken from the data. The judge has no part in them."
    rules = dict.fromkeys(
        f"{figure.rule} ({figure.what})" if figure.scale is None else f"{figure.what} of {figure.rule}"
        for figure in people.figures
        if figure.rule
    )
    remarks = [f"{low.capitalize()} means: {'; '.join(rules)}."] if rules else []
    remarks += weighting(people)
    rule = [Callout(tuple(remarks))] if remarks else []
    blocks: list[Block] = [figures, *rule, _light(people.light, tasks=tasks)]
    if people.rectified:
        blocks.append(rectified_section(people))
    return Section(title, tuple(blocks), lead, "Outcomes" if tasks else "People", "people")


def weighting(people: People) -> list[str]:
    """Say of which ratings the means are weighted, and of which they are not although some say how."""
    what: dict[str, list[str]] = {}
    for figure in people.figures:
        what.setdefault(figure.weights, []).append(f"{figure.what} of {figure.level}s")
    out = []
    if used := what.get("used"):
        out.append(
            f"Weighted by the chance of being chosen: {', '.join(used)}. What was less likely to be chosen "
            "counts for more, so means and shares are of all, not of the chosen ones alone."
        )
    if partly := what.get("not of all"):
        out.append(f"Not weighted, because some ratings do not say their weight: {', '.join(partly)}.")
    return out


def _figure(figure: PeopleFigure) -> tuple[Cell, ...]:
    if figure.scale is None:
        mean: Cell = ", ".join(f"{words.name(name)} {n:,}" for name, n in figure.commonest)
    else:
        mean = _number(figure.mean)
    share = figure.dissatisfied
    return (
        figure.what,
        f"{figure.level}s",
        max(figure.ratings, figure.n),
        figure.rated_conversations,
        figure.users,
        mean,
        None if share is None else Percent(share.value, share.interval),
    )


def _light(light: Light, *, tasks: bool) -> Section:
    title = "The judge compared with the outcomes" if tasks else "The judge compared with people"
    if light.judge.value is None:
        return Section(title, (Callout((light.sentence,)),))
    heads = (TableColumn("", "text"), TableColumn(light.measure.upper()), "targets")
    rows: list[tuple[Cell, ...]] = [(f"the judge: {light.judged_by}", _number(light.judge, 3), light.judge.n)]
    rows += [(name, _number(one, 3), one.n) for name, one in light.controls.items()]
    for within in light.within:
        there = f"within one {within.of.removesuffix('s')}"
        rows.append((f"{there}: the judge", _number(within.judge, 3), within.judge.n))
        rows += [(f"{there}: {name}", _number(one, 3), one.n) for name, one in within.controls.items()]
    table = data_table("The judge and the controls", heads, rows, captioned=False)
    difference = light.difference
    sentence = (
        f"The judge minus {light.control}: {words.decimal(difference.value, 3, signed=True)} "
        f"{words.interval(difference.interval, 3)}, {difference.method}."
    )
    pair = (
        "a task that failed below one that did not"
        if tasks
        else "a target that people were dissatisfied with below one that they were satisfied with"
    )
    return Section(title, (table, Callout((sentence,))), f"How often each ranks {pair} (AUC).")


def rectified_section(people: People) -> Section:
    """Lay out the means of targets of which some are rated and many are only judged."""
    heads = ("", "the judge’s mean", "people’s, rated only", "people’s, estimated for all")
    rows = [
        (
            f"{words.name(one.dimension)} of {one.level}s",
            _number(one.judge, with_n=True) if one.judge.n else Missing("not comparable"),
            _number(one.rated_only, with_n=True),
            _number(one.rectified, with_n=True),
        )
        for one in people.rectified
    ]
    weighted = any(one.weights == "used" for one in people.rectified)
    title = "People’s mean over all targets, rated or not"
    lead = (
        "The last column, the rectified mean, estimates what people would say of all targets. It combines "
        "their ratings with the judge’s scores of what they did not rate (prediction-powered inference). It "
        "holds however good or bad the judge is, provided that the rated targets were chosen at random"
    )
    lead += ", or are weighted by their chance." if weighted else "."
    blocks = [data_table(title, heads, rows, captioned=False)]
    notes = tuple(_fitted_note(one) for one in people.rectified if one.fitted)
    return Section(title, (*blocks, *([Callout(notes)] if notes else [])), lead)


def _fitted_note(one: Rectified) -> str:
    ratings = f"{counted(one.rated_only.n, 'rating')} of {words.name(one.dimension)}"
    if one.judge_is_used:
        return f"The judge was fitted to {one.fitted:,} of {ratings}: only the others say how far it is used."
    return f"The judge was fitted to all {ratings}, so the last figure does without it."


def _number(estimate: Estimate, digits: int = 2, *, with_n: bool = False) -> Number:
    notes = ["no interval"] if estimate.reason else []
    notes += [f"n {estimate.n:,}"] if with_n else []
    return Number(estimate.value, digits, estimate.interval, notes=tuple(notes))
