"""What `dialogauge arena` is asked to do."""

from typing import ClassVar, Literal

from dialogauge.app.option_groups import (
    SEEDS,
    JudgingOptions,
    LanguageOptions,
    ModelOptions,
    RatingOptions,
    UncheckedOptions,
)
from dialogauge.app.replay.settings import AgentsOptions
from dialogauge.core.settings import argument, setting


class ArenaOptions(
    RatingOptions, LanguageOptions, ModelOptions, UncheckedOptions, JudgingOptions, AgentsOptions
):
    """`dialogauge arena`."""

    from_file: ClassVar[bool] = True

    inputs: tuple[str, ...] = argument(
        "INPUT...",
        "A run or a file of conversations per agent (NAME= names it), files of votes, or arenas to combine.",
    )
    judge: Literal["people", "scores", "local", "llm"] | None = setting(
        None,
        "Who votes (scores: those in the runs).",
        otherwise="llm with a model, people with votes, else scores",
    )
    ratings_file: str | None = setting(
        None, "People's votes between the agents: a, b, winner.", "--ratings", metavar="PAIRS"
    )
    dimensions: tuple[str, ...] = setting(
        (), "Compare by this dimension (scores; default: all).", "--dimension"
    )
    rubric: str = setting("pair", "Shipped rubric of the level pair, or a file (llm).", metavar="NAME|FILE")
    schedule: Literal["all", "adaptive"] = setting(
        "all",
        "All comparisons, or the most telling about the top three (llm).",
    )
    budget: int | None = setting(None, "At most N comparisons (llm).", low=1)
    until: float | None = setting(
        None,
        "Stop once the top three's ratings are known within so many points (adaptive).",
        low=0,
        metavar="POINTS",
    )
    ties: Literal["davidson", "half"] = setting(
        "davidson", "Ties are an outcome of their own, or half a win each."
    )
    equal_length: bool = setting(False, "Rate agents as if their replies were equally long.")
    draws: int = setting(0, "Add percentiles of N clustered draws.", low=0, high=100_000)
    seed: int = setting(0, "Seed of all random choices.", low=0, high=SEEDS)
