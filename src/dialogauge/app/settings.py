"""The settings: what each command is asked to do.

Each setting is declared here, or in the groups that commands share (`app/option_groups`), and nowhere else:
the command line, the configuration file and Python read these classes (`app/merging`). A field without
`setting(...)` is no setting: it holds what was made of settings, or what a group needs and only some commands
let the user choose.
"""

# Without the future import: annotations are read when commands are made, and must be types by then.

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dialogauge.app.option_groups import (
    SEEDS,
    AgentsOptions,
    ConfigOptions,
    DataOptions,
    FreshOptions,
    JudgingOptions,
    LanguageOptions,
    LimitOptions,
    ModelOptions,
    Options,
    PlantingOptions,
    PrivacyOptions,
    RatedDataOptions,
    RatingOptions,
    ReplaceOptions,
    RetryOptions,
    RubricJudgeOptions,
    RuleOptions,
    RunInput,
    RunOptions,
    ShuffleOptions,
    StrictOptions,
    TiesOptions,
    UncheckedOptions,
    UserJudgeOptions,
)
from dialogauge.core.settings import argument, setting

if TYPE_CHECKING:
    from dialogauge.app.config import RoleSettings
    from dialogauge.studies.trust.result import TrustThresholds


def _thresholds() -> Any:  # noqa: ANN401 - of a study, which is loaded where it is used
    from dialogauge.studies.trust.result import TrustThresholds

    return TrustThresholds()


class JudgeOptions(
    RubricJudgeOptions,
    DataOptions,
    RuleOptions,
    UncheckedOptions,
    StrictOptions,
    LanguageOptions,
    ModelOptions,
    JudgingOptions,
    ReplaceOptions,
):
    """Judge a log, turn by turn and as a whole.

    Without a model the local judge is used: no key, no network.
    """

    inputs: tuple[str, ...] = argument("INPUT... | RUN", "Files, folders, - for stdin, or a run.")
    rubric: str = setting(
        "card",
        "Shipped rubric (card, satisfaction, session, session-guarded, survey, task, single, factuality, "
        "td-turn, td-dialogue, td-unit, td-unit-dialogue, roleplay, roleplay-plain, roleplay-turn), or a "
        "file. For answers to tasks: answer, grade, checklist, criteria, limitation, merge, "
        "satisfaction-ten.",
        key="rubric",
        metavar="NAME|FILE",
    )
    judge: Literal["local", "llm", "fitted"] = setting(
        "local",
        "No model, a language model, or a model fitted to ratings.",
        otherwise="llm with a model, fitted with --fitted-model, else local",
    )
    mode: Literal["hindsight", "foresight"] = setting(
        "hindsight", "Whether the next user message may be read.", key="mode"
    )
    limit: int | None = setting(None, "Judge the first N conversations.", low=1)
    sample: int | None = setting(None, "Judge N random conversations.", low=1)
    first_turns: int | None = setting(
        None, "Judge the first N turns of each conversation, and do not show the rest.", low=1
    )
    repeats: int = setting(1, "Judge everything N times.", low=1, high=1_000, key="repeats")
    seed: int = setting(
        0,
        "Sampling seed; unless 0 also sent to the model, plus one per repeat.",
        low=0,
        high=SEEDS,
        key="seed",
    )
    window: int = setting(6, "Turns per window of a long conversation.", low=4, high=6, key="window")
    gates: tuple[str, ...] = setting(
        (),
        "A condition, e.g. 'findings.share<=0.2'; exit code 100 if not met.",
        "--gate",
        metavar="EXPR",
        key="gate",
    )
    checked_by: tuple[str, ...] = setting(
        (),
        "A rated run, or the folder of `agreement -o`, that shows that this judge agrees with people.",
        "--checked-by",
        metavar="RUN|DIR",
    )
    weights_file: str | None = setting(
        None,
        "Weights of the rubric's criteria, from `dialogauge fit RUN -o FILE.toml`.",
        "--weights",
        metavar="FILE.toml",
    )
    junit: str | None = setting(None, "Also write JUnit XML, for build servers.", metavar="FILE")
    role: "RoleSettings | None" = None
    """The judge's model; None with a judge that asks none."""
    trust: "TrustThresholds" = field(default_factory=_thresholds)
    """From which figure on the checks of the judge are flagged."""


class SatisfactionOptions(
    UserJudgeOptions, TiesOptions, JudgingOptions, ReplaceOptions, ShuffleOptions, RatedDataOptions
):
    """Judge each reply for its own user.

    A judge knows how this user rated other scenarios. The results show it raw and under each calibration,
    beside controls and the ceiling.
    """

    level: Literal["turn", "session"] = setting("turn", "Judge replies, or whole sessions.")
    guard: bool = setting(False, "A failed condition caps a session's score (memory, zero-shot, local).")
    mode: Literal["foresight", "hindsight"] = setting(
        "foresight", "Whether the next user message may be read."
    )
    calibrate: Literal[
        "none", "mean-shift", "cdf", "reference-cdf", "reference-mean-shift", "reference-transfer", "pooled"
    ] = setting("none", "Calibration of the scores in rows; the table shows all.", metavar="NAME")
    reference: str | None = setting(
        None,
        "Run with the original replies, for reference-* (default: the judged replies).",
        metavar="RUN",
    )
    signals: tuple[str, ...] = setting(
        (),
        "Run as further input for local-user; its judge must read no ratings.",
        "--signal",
        metavar="RUN",
    )
    out: str | None = setting(
        None,
        "Run directory.",
        "-o",
        "--out",
        otherwise="runs/ and the names of input and judge",
        metavar="DIR",
    )


class PlayOptions(ModelOptions, RunOptions, AgentsOptions):
    """Candidates that talk with simulated users."""

    asks: ClassVar[tuple[str, ...]] = ("simulator",)

    model: str | None = setting(
        None,
        "Model at --base-url (default: OPENAI_BASE_URL); short for --role simulator=MODEL@URL#KEYVAR.",
        recorded=False,
        metavar="MODEL",
    )
    inputs: tuple[str, ...] = argument("SCENARIOS...", "Files of scenarios: TOML, JSON or JSON lines.")
    candidates: tuple[str, ...] = setting(
        (),
        "MODEL@URL#KEYVAR, pool:REF,REF, py:MODULE:NAME, file:PATH, or a name of agents.toml or the "
        "configuration; NAME= before it names it.",
        "--candidate",
        metavar="[NAME=]REF",
    )
    real_persons: bool = setting(False, "Let candidates play real persons.")


class SimulateOptions(PlayOptions):
    """Let candidates talk with simulated users.

    The run holds the conversations: judge, annotate, arena, compare, pairs and export take it. The same
    command with one more candidate plays only what is new.
    """

    models: tuple[str, ...] = setting(
        (),
        "simulator=MODEL@URL#KEYVAR, simulator=NAME (from [roles]), simulator=file:PATH or "
        "simulator=py:MODULE:NAME.",
        "--role",
        metavar="simulator=REF",
        recorded=False,
    )
    turns: int = setting(10, "New turns of a session, at most.", low=1, high=1_000)
    sessions_per: int = setting(
        1, "Sessions of each scenario with each candidate.", "--sessions-per", low=1, high=1_000, metavar="N"
    )
    context_file: str | None = setting(
        None,
        "Conversations that sessions begin with, a file or a run: 0 to 50 turns of one, drawn by scenario "
        "and seed.",
        "--context",
        metavar="FILE|RUN",
    )
    users_file: str | None = setting(
        None,
        "Recorded conversations whose users say their lines, in place of a simulator.",
        "--users",
        metavar="FILE",
    )
    seed: int = setting(0, "Seed of contexts and of both sides.", low=0, high=SEEDS)
    out: str | None = setting(
        None,
        "Run directory.",
        "-o",
        "--out",
        otherwise="runs/, the name of the first file and -sessions",
        metavar="DIR",
    )


class LookaheadOptions(PlayOptions):
    """Search for good sessions, segment by segment.

    At each step a few candidates go on from the same dialogue. A judge scores what each adds; the best is
    committed. The run holds the committed sessions, and every segment with its score.
    """

    asks: ClassVar[tuple[str, ...]] = ("simulator", "judge")

    models: tuple[str, ...] = setting(
        (),
        "simulator=... and judge=...: MODEL@URL#KEYVAR, NAME (of [roles]), file:PATH or py:MODULE:NAME.",
        "--role",
        metavar="ROLE=REF",
        recorded=False,
    )
    segment_turns: int = setting(10, "New turns of a segment, at most.", low=1, high=1_000)
    segments: int = setting(5, "Steps: segments that are committed one after the other.", low=1, high=1_000)
    draw: int = setting(2, "Candidates of a step, drawn from all by seed.", low=1, high=1_000)
    min_margin: float = setting(
        0.25, "How far the best must lie above another to make a pair of the two.", low=0, high=1_000
    )
    rubric: str = setting(
        "roleplay", "Whose dimensions score a segment: a shipped rubric, or a file.", metavar="NAME|FILE"
    )
    weights_file: str | None = setting(
        None,
        "Weights of the rubric's criteria, from `dialogauge fit RUN -o FILE.toml`.",
        "--weights",
        metavar="FILE.toml",
    )
    judge_repeats: int = setting(1, "Judgements of each segment, whose mean is its score.", low=1, high=100)
    seed: int = setting(0, "Seed of the draws, and of all sides.", low=0, high=SEEDS)
    out: str | None = setting(
        None,
        "Run directory.",
        "-o",
        "--out",
        otherwise="runs/, the name of the first file and -lookahead",
        metavar="DIR",
    )


class ChatOptions(LimitOptions, AgentsOptions):
    """Talk with a candidate yourself, and rate the session."""

    scenarios: str = argument("SCENARIOS", "A file of scenarios, or of one.")
    scenario: str | None = setting(None, "Which of them (default: the first).", "--scenario", metavar="ID")
    candidates: tuple[str, ...] = setting(
        (),
        "As simulate takes them; of several one is drawn, and you are told whom only when you have rated.",
        "--candidate",
        metavar="[NAME=]REF",
    )
    turns: int = setting(10, "New turns, at most; /end ends it earlier.", low=1, high=1_000)
    rubric: str = setting("roleplay", "Whose dimensions you are asked for.", metavar="NAME|FILE")
    rater: str = setting("me", "Who you are, in the ratings.", metavar="NAME")
    real_persons: bool = setting(False, "Let candidates play real persons.")
    seed: int | None = setting(None, "Seed of the draw among candidates.", low=0, high=SEEDS)
    out: str = setting("runs/chat", "Run directory; sessions are added to it.", "-o", "--out", metavar="DIR")


class SuccessOptions(DataOptions, StrictOptions, FreshOptions, ReplaceOptions):
    """Check whether agents solved their tasks.

    Reads goals, databases and rewards; asks no model. With multiwoz: Inform and Success as
    published. With tau: the stored reward, the required outputs, and with --environment the database
    after the calls.
    """

    kind: Literal["multiwoz", "tau"] | None = setting(
        None,
        "multiwoz: goals and a database; tau: rewards, outputs and actions.",
        otherwise="multiwoz with --goals or --database, else tau",
    )
    goals: str | None = setting(
        None,
        "JSON {id: goal}, or lines {id, goal} (multiwoz; default: in the records).",
        metavar="FILE",
    )
    database: str | None = setting(
        None,
        "Folder with restaurant_db.json etc. (multiwoz).",
        metavar="DIR",
    )
    environment: str | None = setting(
        None,
        "Replay the calls in tau_bench, tau_bench:DOMAIN or py:MODULE:NAME (tau).",
        metavar="REF",
    )
    out: str | None = setting(
        None,
        "Run directory.",
        "-o",
        "--out",
        otherwise="runs/, the name of the first input and -success",
        metavar="DIR",
    )
    gates: tuple[str, ...] = setting(
        (),
        "E.g. 'success.mean>=0.6'; exit code 100 if not met.",
        "--gate",
        metavar="EXPR",
    )
    command: str = ""


class ArenaOptions(
    RatingOptions, LanguageOptions, ModelOptions, UncheckedOptions, JudgingOptions, AgentsOptions
):
    """Rank agents by who did better on the same dialogue.

    Dialogues are matched by id. With one more agent, the same command compares only what is new.
    """

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
    role: "RoleSettings | None" = field(default=None, metadata={"recorded": False})
    """The model that compares; None where none is asked."""


class CheckOptions(DataOptions, StrictOptions):
    """`dialogauge check`."""

    min_turns: int = setting(2, "Fewer turns count as very short.", low=0)
    personal: bool = setting(False, "Count personal data, without printing it.", "--pii")


class ReportOptions(RunInput, PrivacyOptions):
    """`dialogauge report`."""

    out: str | None = setting(None, "Output file (default: RUN/report.html).", "-o", "--out", metavar="FILE")
    turns: str | None = setting(
        None, "Show the scores that this run gives the turns of the same conversations.", metavar="RUN"
    )


class ShowOptions(PrivacyOptions):
    """`dialogauge show`."""

    run: str = argument("RUN", "A run directory.")
    id: str = argument("ID", "A conversation's id, as on the page.")
    turn: int | None = setting(None, "Show this turn only.", "--turn", low=0)


class RunsOptions(Options):
    """`dialogauge runs`."""

    folder: str = argument("[DIR]", "Folder of runs.", default="runs")


class TwoRunsOptions(PrivacyOptions, PlantingOptions, UncheckedOptions):
    """Compare two runs of one rubric.

    Says what changed most, and how sure that is. Conversations are paired by id, else by task, else by
    scenario and user; else the runs are two samples. The judge of A also judges a sample of replies with
    planted faults, to say which it would not notice. A model does so with --planted only.
    """

    a: str = argument("A", "The run from before.")
    b: str = argument("B", "The run from after, with the same rubric.")
    by: str | None = setting(None, "Also compare by scenario, user or language.", "--by", metavar="NAME,...")
    candidates: str | None = setting(
        None, "Compare OLD in A with NEW in B, which may be one run.", metavar="OLD,NEW"
    )
    gates: tuple[str, ...] = setting(
        (),
        "E.g. findings.delta<=0.05; exit code 100 unless the interval shows it.",
        "--gate",
        metavar="EXPR",
    )
    pairs: int = setting(0, "How many turned pairs to print of each kind.", low=0)
    verbose: bool = setting(False, "Print all findings, scores and controls.", "-v", "--verbose")
    out: str | None = setting(None, "Folder for compare.json and compare.html.", "-o", "--out", metavar="DIR")
    names: tuple[str, str] | None = None
    """What the runs are called; None names them by their paths."""


class ExportOptions(RunInput, PrivacyOptions):
    """`dialogauge export`."""

    out: str = setting(
        ...,
        "A .jsonl, .csv, .parquet or .eval file (Inspect).",
        "-o",
        "--out",
        metavar="FILE",
    )
    messages: bool = setting(
        False, "Write the conversations in place of the rows, as OpenAI messages (.jsonl)."
    )


class RecheckOptions(RunInput, RatingOptions, PlantingOptions, RetryOptions):
    """Check a run for known faults of its judge.

    The results are written into its report. The thresholds are in the [trust] table of the configuration
    file. The judge of the run judges a sample of replies with planted faults, and says which it would not
    notice. A model does so with --planted only. --scenario-sample takes two judgements per conversation.
    """

    scenario_sample: int | None = setting(
        None, "Judge N conversations again, without and with another scenario.", low=1
    )
    seed: int = setting(0, "Seed of the sample.", low=0, high=SEEDS)
    model: str | None = setting(None, "The model of the run (default: as stored).", metavar="MODEL")
    real_users: str | None = setting(
        None, "A log of real users, to compare simulated ones with.", metavar="FILE"
    )


class AgreementOptions(RatingOptions, RuleOptions, ConfigOptions, ShuffleOptions):
    """Measure how well raters and judges agree.

    Intervals are clustered by user, else by conversation. Several runs are compared on their common targets;
    satisfaction runs under every calibration.
    """

    sources: tuple[str, ...] = argument(
        "RATINGS...|RUN...", "Ratings and runs; with --ratings also files of judges' scores."
    )
    ratings_file: str | None = setting(
        None, "People's ratings (default: those in the run).", "--ratings", metavar="FILE"
    )
    scale: str | None = setting(
        None,
        "All possible scores: 1-5, 0,1 or good,bad (default: the rubric's).",
        metavar="SCALE",
    )
    dimensions: tuple[str, ...] = setting(
        (),
        "A dimension, and the rated one if its name differs.",
        "--dimension",
        metavar="JUDGED[=RATED]",
    )
    level: Literal["turn", "conversation"] | None = setting(None, "Only these ratings.")
    where: tuple[str, ...] = setting((), "Only rows with this value.", metavar="COLUMN=VALUE")
    by: str = setting(
        "dimension",
        "Figures by dimension, rater, scenario, language, candidate, user, or a column of the ratings.",
        metavar="NAME,...",
    )
    compare: tuple[str, ...] = setting(
        (), "Which of two judges or raters is closer to the rest.", metavar="A B", values=2
    )
    power: bool = setting(False, "Simulate how many targets tell A from B, or judges from a constant.")
    measure: Literal["ac1", "alpha_interval", "qwk", "spearman", "pearson", "exact", "mae"] = setting(
        "ac1", "Measure for --power."
    )
    wide: Literal["dimensions", "raters"] = setting("dimensions", "What the columns of wide tables are.")
    out: str | None = setting(
        None, "Folder for agreement.json and agreement.html.", "-o", "--out", metavar="DIR"
    )


class FitOptions(ShuffleOptions, DataOptions, FreshOptions):
    """Fit a judge to rated conversations.

    The report says how well it does on held-out ones. `judge` takes FILE.json with
    --local-model, a run with --fitted-model, and FILE.toml, fitted to a run judged by criteria, with
    --weights.
    """

    inputs: tuple[str, ...] = argument("DATA...|RUN", "Rated conversations, or a run.")
    out: str = setting(
        ...,
        "FILE.json for coefficients of the local judge, FILE.toml for weights of criteria, "
        "else a run with a rating model.",
        "-o",
        "--out",
        metavar="FILE.json|FILE.toml|RUN",
    )
    dimension: str = setting(
        "satisfaction", "The rated dimension to fit; of weights by default all.", metavar="NAME"
    )
    split_file: str | None = setting(None, "JSON {train: [users]}: fit on these users only.", metavar="FILE")
    folds: int = setting(5, "Cross-validation folds.", "--cv", low=2, high=1_000)
    command: str = ""

    @property
    def is_run(self) -> bool:
        """Whether a run directory was asked for, and not a file."""
        return not self.out.endswith((".json", ".toml"))


class DoctorOptions(ModelOptions):
    """`dialogauge doctor`."""

    known_answers: bool = setting(
        True, "Ask questions with known answers too.", "--known-answers/--no-known-answers"
    )
