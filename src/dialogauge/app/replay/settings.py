"""The settings of `dialogauge replay`, and the groups that its commands share; see `app/settings`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from typing import TYPE_CHECKING, ClassVar, Literal

from dialogauge.app.settings import (
    SEEDS,
    ConfigOptions,
    LimitOptions,
    Options,
    PrivacyOptions,
    RatedDataOptions,
    RetryOptions,
    RunInput,
    TiesOptions,
    UserJudgeOptions,
)
from dialogauge.core.settings import argument, setting

if TYPE_CHECKING:
    from dialogauge.studies.replay.comparison import CompareSettings


class ReplaySeedOptions(Options):
    """Chance in a benchmark."""

    seed: int = setting(0, "Seed of the selection, and of candidate pools and repeats.", low=0, high=SEEDS)


class ItemOptions(ReplaySeedOptions, RatedDataOptions, ConfigOptions, PrivacyOptions):
    """Which turns are chosen."""

    from_file: ClassVar[bool] = True

    rule: Literal["hard", "random", "stratified", "all"] = setting(
        "hard", "How turns are chosen; hard is the published rule, which uses the ratings."
    )
    size: int = setting(300, "Maximum number of turns.", "-n", "--size", low=1)
    licence: str | None = setting(None, "Licence of the data, for the data card.", metavar="TEXT")


class AgentsOptions(Options):
    """What is known of candidates."""

    agents_file: str | None = setting(
        None,
        "agents.toml: organisation, version, licence and family of candidates, and where each is reached.",
        "--agents",
        metavar="FILE",
    )


class CandidateOptions(AgentsOptions, ReplaySeedOptions, LimitOptions, RetryOptions):
    """Who replies, and what each is shown."""

    candidates: tuple[str, ...] = setting(
        (),
        "MODEL@URL#KEYVAR, replies:FILE, pool:REF,REF, py:MODULE:NAME, file:PATH, or a name of agents.toml "
        "or the configuration; NAME= before it names it.",
        "--candidate",
        metavar="[NAME=]REF",
    )
    context: Literal["prefix", "task", "profile", "memory-tfidf", "memory-diverse", "memory-compressed"] = (
        setting(
            "prefix",
            "What a candidate is shown in addition to the messages before the reply; prefix adds nothing.",
        )
    )


class MovedDataOptions(Options):
    """Data that is read again."""

    data: tuple[str, ...] = setting(
        (), "Where the conversations are now, if they have moved since selection.", metavar="PATH"
    )


class EvaluatorOptions(UserJudgeOptions):
    """Who scores: any judge of `satisfaction`, in foresight."""

    reference: str | None = setting(
        None,
        "A run whose scores of the original replies are reused; it must have the same evaluator.",
        metavar="RUN",
    )
    planted: bool = setting(
        True,
        "Do not score the three planted candidates that show whether the evaluator can be gamed (as many "
        "judgements as three candidates take).",
        "--no-planted",
    )


class ComparingOptions(AgentsOptions, TiesOptions):
    """How candidates are compared."""

    judge_family: str | None = setting(
        None, "Model family of the evaluator, to check self-preference.", metavar="NAME"
    )
    margin: float = setting(0.0, "Differences up to this size are ties.", low=0)
    command: str = ""


class SelectOptions(ItemOptions):
    """`dialogauge replay select`."""

    out: str | None = setting(..., "Item set to write (JSON).", "-o", "--out", metavar="ITEMS")


class CollectOptions(CandidateOptions, MovedDataOptions):
    """`dialogauge replay collect`."""

    items: str = argument("ITEMS", "An item set.")
    out: str = setting(..., "Run directory.", "-o", "--out", metavar="RUN")


class ScoreOptions(RunInput, EvaluatorOptions, MovedDataOptions):
    """`dialogauge replay score`."""


class CompareOptions(ComparingOptions):
    """`dialogauge replay compare`."""

    runs: tuple[str, ...] = argument("RUN...", "Run directories of one item set.")
    judge: str | None = setting(
        None, "Which evaluator, if the run has several (default: the latest).", metavar="NAME"
    )
    seed: int = setting(42, "Seed of the shuffled control.", low=0, high=SEEDS)
    out: str | None = setting(
        None, "Folder for summary and page (default: that of a single run).", "-o", "--out", metavar="DIR"
    )

    @property
    def comparison(self) -> "CompareSettings":
        """The part that the figures depend on."""
        from dialogauge.studies.replay.comparison import CompareSettings

        return CompareSettings(seed=self.seed, ties=self.ties, margin=self.margin)


class BenchmarkOptions(EvaluatorOptions, CandidateOptions, ComparingOptions, ItemOptions):
    """`dialogauge replay run`."""

    out: str = setting(..., "Run directory.", "-o", "--out", metavar="RUN")
    draw_seed: int = setting(42, "Seed of the shuffled control.", low=0, high=SEEDS)
