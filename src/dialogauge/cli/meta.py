"""`dialogauge meta`: judges against people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dialogauge.cli import options as option
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.report import SeveralView
    from dialogauge.stats import BootstrapInterval
    from dialogauge.studies.agreement import Comparison, Estimate, JudgeAgreement, MetaResult


def meta_lines(result: MetaResult, gates: Sequence[str]) -> Iterator[str]:
    """Write the agreement of every judge, what the gate says of it, and every comparison."""
    for judge, gate in zip(result.judges, gates, strict=True):
        yield from _judge_lines(judge)
        yield f"  {gate}"
        yield ""
    if result.comparisons:
        yield "Judges against each other (p adjusted by Holm over the pairs of a measure):"
        rules = {j.pair.rated: j.rule for j in result.judges}
        yield from (f"  {_comparison(c, rules.get(c.pair.rated))}" for c in result.comparisons)


def _judge_lines(judge: JudgeAgreement) -> Iterator[str]:
    from dialogauge.studies.agreement import title_of

    yield f"{judge.name}: {judge.judge} judge in {judge.mode}, {judge.pair}"
    yield f"  {_counts(judge)}"
    yield from (f"  WARNING: {warning}" for warning in judge.warnings)
    if judge.rule is not None:
        scored = counted(judge.counts.scored, "target")
        yield f"  dissatisfied: {judge.rule}, {judge.dissatisfied} of {scored}"
    if judge.fractions:
        yield "  the judge's fractional scores are used; its whole ones for kappa, exact, within one, classes"
    if not judge.same_scale:
        yield "  people's ratings are not on the judge's scale: only the order is compared"
    header = ["", "judge", "by conversation", *(["by user"] if judge.users else [])]
    header += [c.name for c in judge.controls]
    rows = [header]
    for name, estimate in judge.figures.items():
        row = [title_of(name, judge.rule), _number(estimate.value), _interval(estimate.by_conversation)]
        row += [_interval(estimate.by_user)] if judge.users else []
        row += [_number(c.figures[name].value) + _mark(c.gains[name]) for c in judge.controls]
        rows.append(row)
    yield from (f"  {line}" for line in _table(rows))
    yield "  + the judge is above that control by an interval, - below it, = not distinguishable"
    yield "  (first by conversation, then by user)" if judge.users else "  (by conversation)"


def _counts(judge: JudgeAgreement) -> str:
    c = judge.counts
    talks = counted(judge.conversations, "conversation")
    parts = [f"{counted(c.rated, 'rated target')}: {c.scored:,} scored in {talks}"]
    if judge.users:
        parts[0] += f" of {counted(judge.users, 'user')}"
    parts += [f"{c.not_applicable:,} n/a", f"{c.failed:,} failed", f"{c.not_judged:,} not judged"]
    if c.undecided:
        parts.append(f"{c.undecided:,} undecided among raters")
    if c.refused:
        parts.append(f"{counted(c.refused, 'rating')} not used")
    if c.several_raters:
        parts.append(f"{c.several_raters:,} by several raters, averaged")
    return ", ".join(parts)


def _mark(gain: Estimate) -> str:
    marks = [_sign(gain.by_conversation)]
    if gain.by_user is not None:
        marks.append(_sign(gain.by_user))
    return " " + "".join(marks)


def _sign(interval: BootstrapInterval) -> str:
    if interval.low is None or interval.high is None:
        return "?"
    return "+" if interval.low > 0 else "-" if interval.high < 0 else "="


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:z.3f}"  # z: no -0.000


def _interval(found: BootstrapInterval | None) -> str:
    if found is None or found.low is None or found.high is None:
        return "–"
    return f"[{found.low:z.3f}, {found.high:z.3f}]"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        yield "  ".join(cells).rstrip()


def _comparison(c: Comparison, rule: str | None) -> str:
    from dialogauge.studies.agreement import title_of

    figures = f"{_number(c.figure_a)} and {_number(c.figure_b)}"
    difference = f"first better by {_number(c.difference.value)} {_interval(c.difference.by_conversation)}"
    if c.difference.by_user is not None:
        difference += f", by user {_interval(c.difference.by_user)}"
    on = f"{title_of(c.measure, rule)} on {counted(c.n, 'shared target')}"
    return f"{on}: {figures}; {difference}, p {_number(c.p_holm)}: {c.words}"


def satisfaction_judge_lines(view: SeveralView) -> Iterator[str]:
    """Write the judges of satisfaction under every calibration, and each against each."""
    what = f"{counted(view.n, 'turn')} of {counted(view.users, 'user')}"
    yield f"Judges of satisfaction, {what} that all of them scored"
    yield from view.notes
    for block in view.table:
        yield ""
        if block.same_as is not None:
            yield f"{block.name}: the same figures as {block.same_as}"
            continue
        yield f"{block.name} ({block.note})"
        rows = [["", "n", *view.columns]]
        rows += [[r.name, f"{r.n:,}", *(_number(c.value) for c in r.cells)] for r in block.rows]
        yield from (f"  {line}" for line in _table(rows))
    if view.pairs:
        yield ""
        yield "Judge against judge on the same turns (p adjusted by Holm over the pairs of a figure):"
    for c in view.pairs:
        between = _interval_of(c.interval)
        figures = f"{_number(c.figure_a)} and {_number(c.figure_b)}, first better by {_number(c.difference)}"
        yield f"  {c.title}: {figures} {between}, p {_number(c.p)}: {c.words}"
    yield ""


def _interval_of(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"[{ends[0]:z.3f}, {ends[1]:z.3f}]"


_DIMENSION = "A dimension of the judge, and after = the rated one if it is called otherwise; repeatable."
_DISSATISFIED = "What counts as dissatisfied: 3 (3 or less), '<3', '>=4', or a category such as DSAT."


def meta(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run directories.")],
    ratings: Annotated[
        str | None, typer.Option(help="People's ratings, joined by id (else those inside the run).")
    ] = None,
    dimension: Annotated[list[str] | None, typer.Option(metavar="JUDGED[=RATED]", help=_DIMENSION)] = None,
    dissatisfied: Annotated[str | None, typer.Option(metavar="RULE", help=_DISSATISFIED)] = None,
    map_file: option.Map = None,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Folder for meta.json and meta.html.")
    ] = None,
    config: option.Config = None,
    draws: Annotated[int, typer.Option(min=100, help="Bootstrap draws.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the draws and the shuffles.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Measure how far judges agree with people, beside judges that know nothing.

    Every figure has an interval clustered by conversation (and by user where users are known) and stands
    beside a constant judge, reply length, and the judge's own scores shuffled. Several runs are compared
    on the targets that they share. Of satisfaction runs every judge stands under every calibration, beside
    its controls and the ceiling, and each against each on the same draws of users.
    """
    from dialogauge.app.agreement import MetaOptions, judge_the_judges, meta_json
    from dialogauge.cli.terminal import plain, print_json

    options = MetaOptions(
        tuple(runs), ratings, map_file, tuple(dimension or ()), dissatisfied, out, draws, seed, config
    )
    outcome = judge_the_judges(options)
    for fault in outcome.faults[:20]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)
    if len(outcome.faults) > 20:
        typer.echo(f"dialogauge: and {len(outcome.faults) - 20:,} more", err=True)
    if as_json:
        print_json(meta_json(outcome.result, outcome.gates, outcome.satisfaction))
    else:
        if outcome.satisfaction is not None:
            for line in satisfaction_judge_lines(outcome.satisfaction.view):
                typer.echo(plain(line))
        for line in (*outcome.notes, *meta_lines(outcome.result, [g.sentence for g in outcome.gates])):
            typer.echo(plain(line))
        for file in outcome.files:
            typer.echo(f"written: {file}")
    raise typer.Exit(1 if outcome.faults else 0)
