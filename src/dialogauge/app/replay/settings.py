"""The settings of `dialogauge replay`, and the groups that its commands share; see `app/settings`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from dialogauge.app.merging import (
    FileConfig,
    JudgeName,
    judge_by_rubric,
    references,
    refuse_settings_of_other_judges,
    resolved,
)
from dialogauge.app.option_groups import (
    SEEDS,
    AgentsOptions,
    ConfigOptions,
    LimitOptions,
    Options,
    PrivacyOptions,
    RatedDataOptions,
    RetryOptions,
    RubricJudgeOptions,
    RunInput,
    TiesOptions,
    UncheckedOptions,
    UserJudgeOptions,
)
from dialogauge.core.errors import UsageError
from dialogauge.core.settings import argument, setting, settings_of

if TYPE_CHECKING:
    from dialogauge.studies.replay.comparison import CompareSettings


class ReplaySeedOptions(Options):
    """Chance in a benchmark."""

    seed: int = setting(0, "Seed of selection, candidate pools and repeats.", low=0, high=SEEDS)


class ItemOptions(ReplaySeedOptions, RatedDataOptions, ConfigOptions, PrivacyOptions):
    """Which turns are chosen."""

    from_file: ClassVar[bool] = True

    inputs: tuple[str, ...] = argument("DATA...", "Conversations, rated or not, or a run.")
    rule: Literal["hard", "random", "stratified", "all"] | None = setting(
        None,
        "hard is the published rule, which uses the ratings.",
        otherwise="hard, and stratified without ratings",
    )
    unrated: bool = setting(
        False, "Choose among all replies, without ratings: a rubric scores the candidates."
    )
    size: int = setting(300, "Maximum number of turns.", "-n", "--size", low=1)
    licence: str | None = setting(None, "Licence of the data, for the item set's card.", metavar="TEXT")


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
            "What a candidate sees beside the messages before the reply; prefix adds nothing.",
        )
    )


class MovedDataOptions(Options):
    """Data that is read again."""

    data: tuple[str, ...] = setting((), "Where the conversations are, if they have moved.", metavar="PATH")


class EvaluatorOptions(UserJudgeOptions, RubricJudgeOptions):
    """Who scores, in foresight: any judge of `satisfaction`, a rubric, or a model fitted to ratings."""

    rubric: str | None = setting(
        None,
        "Score by a rubric: card, satisfaction, single, survey, td-turn, td-unit or a file; or pair: each "
        "reply beside the original, in both orders.",
    )
    judge: str = setting(
        "",
        "Any judge of `dialogauge satisfaction`; fitted; with --rubric local or llm.",
        metavar="NAME",
        otherwise="fitted with --fitted-model; with --rubric: llm with a model, else local",
    )
    reference: str | None = setting(
        None,
        "Reuse the scores of the original replies in this run, of the same evaluator.",
        metavar="RUN",
    )
    planted: bool = setting(
        True,
        "Leave out the planted candidates, which show whether the evaluator can be gamed.",
        "--no-planted",
    )


_OF_USERS: Final = ("strategy", "k", "encoder", "reference")
"""Settings of judges that say what one user would rate."""
_OF_RUBRICS: Final = ("local_model", "source_file", "policy_file", "calls")
_BY_RUBRIC: Final[Mapping[str, JudgeName]] = {"local": "local", "llm": "llm", "fitted": "fitted"}


@resolved.register
def _(settings: EvaluatorOptions, config: FileConfig, explicit: Mapping[str, Any]) -> EvaluatorOptions:
    if not settings.judge and settings.fitted_model is not None and not references(settings):
        settings = replace(settings, judge="fitted")
    if settings.rubric is None and settings.judge != "fitted":
        return _of_user(settings, config, explicit)
    for name in (*_OF_USERS, *(("history",) if "history" in explicit else ())):
        if getattr(settings, name) is not None:
            who = "a rubric" if settings.judge != "fitted" else "the judge fitted"
            msg = f"{who} takes no {settings_of(EvaluatorOptions)[name].option}"
            raise UsageError(msg, hint="it belongs to judges of what one user would say: leave it out")
    wanted = _BY_RUBRIC.get(settings.judge)
    if settings.judge and wanted is None:
        msg = f"the judge {settings.judge} has rubrics of its own"
        raise UsageError(msg, hint="with --rubric there are local and llm; or leave --rubric out")
    judge, role = judge_by_rubric(settings, wanted, config)
    refuse_settings_of_other_judges(settings, judge, explicit)
    rubric = settings.rubric
    if judge == "fitted":
        from dialogauge.rubrics import NO_RUBRIC

        rubric = NO_RUBRIC
    return replace(settings, judge=judge, rubric=rubric, roles={} if role is None else {"judge": role})


def _of_user(settings: EvaluatorOptions, config: FileConfig, explicit: Mapping[str, Any]) -> EvaluatorOptions:
    """Return the settings of a judge who says what one user would rate."""
    if not settings.judge:
        msg = "nobody is named who scores the replies"
        hint = (
            "give --rubric RUBRIC or --fitted-model RUN for any conversations, or --judge NAME for those "
            "that users rated"
        )
        raise UsageError(msg, hint=hint)
    chosen = [name for name in _OF_RUBRICS if getattr(settings, name) is not None]
    if settings.fitted_model is not None:
        msg = f"--judge {settings.judge} takes no --fitted-model"
        raise UsageError(msg, hint="say --judge fitted, or leave --fitted-model out")
    if chosen:
        msg = f"the judge {settings.judge} takes no {settings_of(EvaluatorOptions)[chosen[0]].option}"
        raise UsageError(msg, hint="it belongs to judges by a rubric: add --rubric, or leave it out")
    personal: EvaluatorOptions = resolved.dispatch(UserJudgeOptions)(settings, config, explicit)
    return personal


class ComparingOptions(AgentsOptions, TiesOptions, UncheckedOptions):
    """How candidates are compared."""

    judge_family: str | None = setting(
        None, "Model family of the evaluator, to check self-preference.", metavar="NAME"
    )
    margin: float = setting(0.0, "Differences up to this size are ties.", low=0)
    command: str = ""


class SelectOptions(ItemOptions):
    """Choose the turns of a benchmark.

    The item set holds ids, ratings and digests, and no text: collecting and scoring read the conversations
    again.
    """

    out: str | None = setting(..., "Item set to write (JSON).", "-o", "--out", metavar="ITEMS")


class CollectOptions(CandidateOptions, MovedDataOptions):
    """Collect the replies of candidates.

    Each is shown the fixed messages before the reply, and its context. A reply that fails is a failure, never
    the original. Further candidates join the same run.
    """

    items: str = argument("ITEMS", "An item set.")
    out: str = setting(..., "Run directory.", "-o", "--out", metavar="RUN")


class ScoreOptions(RunInput, EvaluatorOptions, MovedDataOptions):
    """Score the original replies, then those of candidates.

    The scores of the original replies are the reference of the calibrated views.
    """


class CompareOptions(ComparingOptions):
    """Compare candidates with the original replies.

    And with each other: raw, shifted, and by reference ranks.

    Writes summary.json, scores.jsonl and report.html.
    """

    runs: tuple[str, ...] = argument("RUN...", "Run directories of one item set.")
    judge: str | None = setting(
        None,
        "Which evaluator, by judge or rubric, if the run has several (default: the latest).",
        metavar="NAME",
    )
    seed: int = setting(42, "Seed of the shuffled control.", low=0, high=SEEDS)
    out: str | None = setting(
        None, "Folder to write (default: that of a single run).", "-o", "--out", metavar="DIR"
    )

    @property
    def comparison(self) -> "CompareSettings":
        """The part that the figures depend on."""
        from dialogauge.studies.replay.comparison import CompareSettings

        return CompareSettings(seed=self.seed, ties=self.ties, margin=self.margin, unchecked=self.unchecked)


class BenchmarkOptions(EvaluatorOptions, CandidateOptions, ComparingOptions, ItemOptions):
    """Run the whole benchmark in one directory.

    Selects, collects, scores and compares. The same command again goes on where it stopped.
    """

    out: str = setting(..., "Run directory.", "-o", "--out", metavar="RUN")
    draw_seed: int = setting(42, "Seed of the shuffled control.", low=0, high=SEEDS)
