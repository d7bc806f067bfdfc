"""`dialogauge pairs`: training data from what was judged."""

from __future__ import annotations

from typing import Annotated

import typer

from dialogauge.cli import options as option


def pairs(
    run: option.RunDirectory,
    out: Annotated[str, typer.Option("-o", "--out", help="JSONL file to write.")],
    kind: Annotated[str, typer.Option(metavar="dpo|kto|sft|active", help="What to write.")] = "dpo",
    to: Annotated[str, typer.Option(metavar="trl", help="For whom: the trainer's row format.")] = "trl",
    chosen_field: Annotated[
        str | None, typer.Option(help="Key of your records that holds the better reply (dpo).")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model that writes the better reply (dpo).")] = None,
    base_url: option.ItsBaseUrl = None,
    api_key_env: option.ItsKeyEnv = None,
    role: Annotated[list[str] | None, typer.Option(metavar="repair=M@U#K", help="As in judge.")] = None,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.Concurrency = 64,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    no_cache: option.NoCache = False,
    min_verdict: Annotated[
        str,
        typer.Option(metavar="excellent|good|borderline", help="Conversations worth learning from (sft)."),
    ] = "good",
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most N rows (active: 50 if not given).")
    ] = None,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
) -> None:
    """Write training rows: preference pairs at the weakest turns, KTO and SFT rows, or what to label next."""
    from dialogauge.app.pairs import PairOptions, write_pairs
    from dialogauge.cli.judge import model_reference
    from dialogauge.report import plain
    from dialogauge.runs.privacy import Privacy
    from dialogauge.text import counted

    options = PairOptions(
        run=run,
        out=out,
        kind=kind,
        target=to,
        chosen_field=chosen_field,
        model=model_reference(model, base_url, api_key_env, role or [], role="repair"),
        config_file=config,
        prices_file=prices,
        max_concurrency=max_concurrency,
        max_calls=max_calls,
        max_cost=max_cost,
        cache=not no_cache,
        min_verdict=min_verdict,
        limit=limit,
        privacy=Privacy(redact, hash_ids),
    )
    result = write_pairs(options)
    typer.echo(f"{counted(result.written, 'row')}: {out}")
    for reason, number in result.left_out.items():
        typer.echo(plain(f"  {number} left out: {reason}"))
    if result.error is not None:
        typer.echo(f"dialogauge: {plain(str(result.error))}", err=True)
    raise typer.Exit(1 if result.error else 0)
