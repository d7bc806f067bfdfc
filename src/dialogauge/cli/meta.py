"""`dialogauge meta`: judges against people."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option

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
    from dialogauge.cli.terminal import print_blocks, print_faults, print_json
    from dialogauge.report import plain
    from dialogauge.studies.agreement.page import brief

    options = MetaOptions(
        tuple(runs), ratings, map_file, tuple(dimension or ()), dissatisfied, out, draws, seed, config
    )
    outcome = judge_the_judges(options)
    print_faults(outcome.faults)
    if as_json:
        print_json(meta_json(outcome.result, outcome.gates, outcome.satisfaction))
    else:
        for note in outcome.notes:
            typer.echo(plain(note))
        judges = () if outcome.satisfaction is None else outcome.satisfaction.brief()
        print_blocks((*judges, *brief(outcome.result, [g.sentence for g in outcome.gates])))
        typer.echo()
        for file in outcome.files:
            typer.echo(f"written: {file}")
    raise typer.Exit(1 if outcome.faults else 0)
