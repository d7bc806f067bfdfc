"""The settings of `dialogauge annotate`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from typing import Literal

from dialogauge.app.option_groups import SEEDS, DataOptions, Options, PrivacyOptions
from dialogauge.core.settings import argument, setting


class AnnotateMakeOptions(DataOptions, PrivacyOptions):
    """`dialogauge annotate make`."""

    inputs: tuple[str, ...] = argument(
        "INPUT... | RUN | ACTIVE.jsonl",
        "Conversations, a run (with --pairs also of replay), or what `pairs --kind active` wrote.",
    )
    rubric: str | None = setting(
        None,
        "What is asked: survey, card, satisfaction, session, single, or a file.",
        otherwise="survey; with --pairs which of the two is better",
        metavar="NAME|FILE",
    )
    raters: int = setting(..., "Number of raters.", low=1, high=1_000)
    shared: int | None = setting(
        None,
        "Items for every rater; they show how far raters agree.",
        otherwise="as many as --each, at most 20 and half of all",
        low=0,
        high=100_000,
    )
    each: int | None = setting(
        None,
        "Further items for each rater.",
        otherwise="all there are, divided; 20 with --choose random, active or mixed",
        low=0,
        high=100_000,
    )
    choose: Literal["all", "random", "active", "mixed"] | None = setting(
        None,
        "active: the lowest-scored and most uncertain; mixed: half of those, half at random, with weights.",
        otherwise="all; random where --each leaves some out",
    )
    pairs: bool = setting(False, "Compare candidates two by two.")
    blind: bool = setting(False, "Hide candidates and ids.")
    language: Literal["en", "zh"] = setting("en", "Language of the pages.")
    seed: int = setting(0, "Seed of all random choices.", low=0, high=SEEDS)
    ratings_file: str | None = None
    """None: the ratings are still to come."""
    label_studio: bool = setting(False, "Also write tasks for Label Studio.")
    out: str = setting(..., "Folder to write.", "-o", "--out", metavar="DIR", recorded=False)


class AnnotateStatusOptions(Options):
    """`dialogauge annotate status`."""

    folder: str = argument("DIR", "The folder that `annotate make` wrote.")


class AnnotateImportOptions(Options):
    """`dialogauge annotate import`."""

    folder: str = argument("DIR", "The folder that `annotate make` wrote.")
    files: tuple[str, ...] = argument("FILES...", "What raters saved (JSONL, CSV), or Label Studio exports.")
