"""What `dialogauge arena` is asked to do."""

from typing import ClassVar, Literal

from dialogauge.app.replay.settings import AgentsOptions
from dialogauge.app.settings import SEEDS, JudgingOptions, LanguageOptions, ModelOptions, RatingOptions
from dialogauge.core.settings import argument, setting


class ArenaOptions(RatingOptions, LanguageOptions, ModelOptions, JudgingOptions, AgentsOptions):
    """`dialogauge arena`."""

    from_file: ClassVar[bool] = True

    inputs: tuple[str, ...] = argument(
        "INPUT...",
        "A judged run or a file of conversations of each agent; or files of votes; or arenas to put "
        "together. NAME= before an agent's names it.",
    )
    judge: Literal["people", "scores", "local", "llm"] | None = setting(
        None,
        "people: votes; scores: means of the scores in the runs; local: without a model; llm: a model.",
        otherwise="llm where a model is given, people where there are votes, else scores",
    )
    ratings_file: str | None = setting(
        None, "People's votes between the agents: a, b, winner.", "--ratings", metavar="PAIRS"
    )
    dimensions: tuple[str, ...] = setting(
        (), "A dimension of the runs to compare by (scores; default: all of one level).", "--dimension"
    )
    rubric: str = setting("pair", "Shipped rubric of the level pair, or a file (llm).", metavar="NAME|FILE")
    schedule: Literal["all", "adaptive"] = setting(
        "all",
        "all: every two agents on every dialogue; adaptive: what tells most of the first three (llm).",
    )
    budget: int | None = setting(None, "At most N comparisons (llm).", low=1)
    until: float | None = setting(
        None,
        "Stop once the ratings of the first three are known within so many points (adaptive).",
        low=0,
        metavar="POINTS",
    )
    ties: Literal["davidson", "half"] = setting(
        "davidson", "Ties are an outcome of their own, or half a win of each."
    )
    equal_length: bool = setting(False, "Rate agents as if what they said were equally long.")
    draws: int = setting(0, "Percentiles of N clustered draws beside the intervals.", low=0, high=100_000)
    seed: int = setting(0, "Seed of draws, of the coin and of the orders of online Elo.", low=0, high=SEEDS)
