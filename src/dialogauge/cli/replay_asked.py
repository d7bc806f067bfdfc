"""What the commands of `dialogauge replay` are asked for, brought together for `app`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from dialogauge.cli import options as option

if TYPE_CHECKING:
    from dialogauge.app.replay.collecting import CollectOptions
    from dialogauge.app.replay.comparing import CompareOptions
    from dialogauge.app.satisfaction_options import SatisfactionOptions

__all__ = [
    "Limits",
    "code_of",
    "collect_options",
    "compare_options",
    "data_options",
    "judge_options",
    "start",
]


def data_options(
    inputs: list[str],
    *,
    split: tuple[str, str | None],
    ratings: tuple[str | None, str],
    reading: tuple[str | None, str | None],
    hiding: tuple[bool, bool],
    config: str | None,
) -> SatisfactionOptions:
    """Say where rated conversations are, whose turns are wanted, and what is hidden of them.

    Args:
        inputs: Files, folders or a run.
        split: Whose turns, and the file of the split.
        ratings: The file of the ratings, and the rated dimension.
        reading: The format and the file of field names.
        hiding: Whether personal data and whether ids are hidden; the configuration may ask for it too.
        config: The configuration file.
    """
    from dialogauge.app.config import load_config
    from dialogauge.app.satisfaction_merging import merge_privacy
    from dialogauge.app.satisfaction_options import SatisfactionOptions
    from dialogauge.bench.satisfaction import Part

    part, split_file = split
    option.check("--split", part, ("test", "train", "all"))
    hidden = merge_privacy(load_config(config), dict(zip(("redact", "hash_ids"), hiding, strict=True)))
    return SatisfactionOptions(
        inputs=tuple(inputs),
        judge="",
        part=cast("Part", part),
        split_file=split_file,
        dimension=ratings[1],
        ratings_file=ratings[0],
        format=reading[0],
        map_file=reading[1],
        redact=hidden["redact"],
        hash_ids=hidden["hash_ids"],
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """What candidates and the evaluator may take, and what of theirs is kept."""

    config: str | None
    prices: str | None
    max_concurrency: int
    max_calls: int | None
    max_cost: float | None
    retry_failed: bool
    cache: bool
    """Whether replies are kept."""


def collect_options(
    items: str,
    out: str,
    *,
    candidates: list[str] | None,
    context: str,
    agents: str | None,
    data: list[str] | None,
    seed: int,
    limits: Limits,
) -> CollectOptions:
    """Bring together who replies to which items, and what they are shown."""
    from dialogauge.app.replay.collecting import CollectOptions
    from dialogauge.bench.replay import CONTEXTS, Context

    option.check("--context", context, CONTEXTS)
    return CollectOptions(
        items=items,
        out=out,
        candidates=tuple(candidates or ()),
        context=cast("Context", context),
        agents_file=agents,
        data=tuple(data or ()),
        config_file=limits.config,
        prices_file=limits.prices,
        seed=seed,
        max_concurrency=limits.max_concurrency,
        max_calls=limits.max_calls,
        max_cost=limits.max_cost,
        retry_failed=limits.retry_failed,
        cache=limits.cache,
    )


def judge_options(
    judge: str,
    *,
    how: tuple[str | None, int | None, str, str | None],
    models: tuple[str | None, str | None, str | None, list[str] | None],
    limits: Limits,
) -> SatisfactionOptions:
    """Bring together who judges: the command line over the configuration file over defaults.

    Args:
        judge: Its name.
        how: Strategy, k, history and language.
        models: Model, endpoint and key variable of the short form, and roles.
        limits: What it may take.
    """
    from dialogauge.app.satisfaction_merging import merge_satisfaction_options
    from dialogauge.cli.satisfaction import judge_models

    strategy, k, history, lang = how
    option.check("--history", history, ("all", "prompt"))
    model, base_url, key_env, roles = models
    given = {
        "lang": lang,
        "max_concurrency": limits.max_concurrency,
        "max_calls": limits.max_calls,
        "max_cost": limits.max_cost,
        "prices": limits.prices,
    }
    return merge_satisfaction_options(
        judge,
        {name: value for name, value in given.items() if value is not None},
        config_file=limits.config,
        models=judge_models(model, base_url, key_env, roles or []),
        fixed={
            "inputs": (),
            "strategy": strategy,
            "k": k,
            "history": history,
            "retry_failed": limits.retry_failed,
            "cache": limits.cache,
        },
    )


def start() -> None:
    """Settle what must be settled before numpy is loaded."""
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()


_MAX_FAILED = 0.05


def code_of(found: Any, failed: bool) -> int:  # noqa: ANN401 - a collection or a scoring
    """Say how a part ended: interrupted, with an error or a fault, with many failures, or well."""
    if found.ended == "interrupted":
        return 130
    if failed or found.ended != "finished":
        return 1
    return 3 if found.failed_share > _MAX_FAILED else 0


def compare_options(**given: Any) -> CompareOptions:  # noqa: ANN401 - options of several commands
    """Bring together what `compare` and `run` are given."""
    from dialogauge.app.replay.comparing import CompareOptions
    from dialogauge.bench.replay.comparison import CompareSettings
    from dialogauge.calibrate import TIES
    from dialogauge.cli.judge import command_line

    option.check("--ties", given["ties"], TIES)
    settings = CompareSettings(
        draws=given["draws"], seed=given["seed"], ties=given["ties"], margin=given["margin"]
    )
    return CompareOptions(
        runs=given["runs"],
        judge=given["judge"],
        judge_family=given["family"],
        agents_file=given["agents"],
        out=given["out"],
        settings=settings,
        command=command_line(),
    )
