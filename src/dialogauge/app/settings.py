"""The settings: groups that commands share, and what each command is asked to do.

Each setting is declared here and nowhere else: the command line, the configuration file and Python read
these classes (`app/merging`). A field without `setting(...)` is no setting: it holds what was made of
settings, or what a group needs and only some commands let the user choose.
"""

# Without the future import: annotations are read when commands are made, and must be types by then.

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, dataclass_transform

from dialogauge.core.settings import argument, setting
from dialogauge.core.values import Value

if TYPE_CHECKING:
    from dialogauge.app.config import RoleSettings
    from dialogauge.runs import Privacy
    from dialogauge.studies.trust.result import TrustThresholds


SEEDS: Final = 2**32 - 1
"""The largest seed: numpy and many servers take 32 bits."""


def _thresholds() -> Any:  # noqa: ANN401 - of a study, which is loaded where it is used
    from dialogauge.studies.trust.result import TrustThresholds

    return TrustThresholds()


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Options(Value):
    """What all settings have in common."""

    from_file: ClassVar[bool] = False
    """Whether the table `[judge]` of a configuration file holds for them."""
    heading: ClassVar[str]
    """What the settings of a group stand under in `--help`; commands have none of their own."""

    def __init_subclass__(cls, *, heading: str | None = None) -> None:
        super().__init_subclass__(kw_only=True)
        if heading is not None:
            cls.heading = heading


# Groups


class RunInput(Options):
    """A run to read."""

    run: str = argument("RUN", "A run directory.")


class RatingOptions(Options, heading="Input"):
    """People's ratings in a file of their own."""

    ratings_file: str | None = setting(None, "People's ratings, joined by id.", "--ratings", metavar="FILE")
    map_file: str | None = setting(
        None,
        "Your field names: a TOML file, or prompt=question,reply=answer.",
        "--map",
        metavar="FILE|KEY=FIELD",
    )


class RuleOptions(Options, heading="Input"):
    """What people's ratings say."""

    dissatisfied: str | None = setting(
        None,
        "What counts as dissatisfied: 3 (3 or less), '<3', '>=4', or a category.",
        metavar="RULE",
    )


class DataOptions(RatingOptions, heading="Input"):
    """Conversations to read."""

    inputs: tuple[str, ...] = argument("INPUT...", "Files, folders, or - for stdin.")
    format: str | None = setting(
        None, "Input format, instead of detecting it; list names all.", metavar="NAME"
    )


class StrictOptions(Options, heading="Input"):
    """How much is forgiven."""

    strict: bool = setting(False, "Stop at the first irregularity in the input.")


class RatedDataOptions(DataOptions, heading="Input"):
    """Rated conversations to read, and of which users."""

    inputs: tuple[str, ...] = argument("DATA...", "Rated conversations, or a run.")
    dimension: str = setting("satisfaction", "The rated dimension.", metavar="NAME")
    part: Literal["test", "train", "all"] = setting(
        "test",
        "Users to judge; judges know others only from the training part.",
        "--split",
    )
    split_file: str | None = setting(
        None, "JSON {train: [users], test: [users]} (default: split by seed).", metavar="FILE"
    )
    level: Literal["turn", "session"] = "turn"
    """Whether replies are judged, or sessions as a whole."""
    mode: Literal["foresight", "hindsight"] = "foresight"
    """Whether the next user message may be read."""
    history: Literal["all", "prompt"] = "all"
    """How much of a user's history is read."""


class ConfigOptions(Options, heading="Run"):
    """The configuration file."""

    config_file: str | None = setting(
        None,
        "Configuration file (default: DIALOGAUGE_CONFIG, then ./dialogauge.toml).",
        "--config",
        recorded=False,
        metavar="FILE",
    )


class ModelOptions(ConfigOptions, heading="Model"):
    """A model to ask."""

    asks: ClassVar[tuple[str, ...]] = ("judge",)
    """The roles that a model may be given for; `model` is the first one's."""

    model: str | None = setting(
        None,
        "Model at --base-url (default: OPENAI_BASE_URL); short for --role judge=MODEL@URL#KEYVAR.",
        recorded=False,
        metavar="MODEL",
    )
    base_url: str | None = setting(
        None, "The endpoint, e.g. http://localhost:8000/v1.", recorded=False, metavar="URL"
    )
    api_key_env: str | None = setting(
        None, "Environment variable that holds the key.", recorded=False, metavar="VARIABLE"
    )
    models: tuple[str, ...] = setting(
        (),
        "judge=MODEL@URL#KEYVAR, judge=NAME (from [roles]), judge=file:PATH or judge=py:MODULE:NAME.",
        "--role",
        metavar="judge=M@U#K",
        recorded=False,
    )


class LimitOptions(ConfigOptions, heading="Limits"):
    """What asking models may take."""

    prices_file: str | None = setting(
        None, "Prices per million tokens (TOML).", "--prices", key="prices", metavar="FILE"
    )
    max_concurrency: int = setting(64, "Requests in flight.", low=1, high=10_000, key="max_concurrency")
    max_calls: int | None = setting(None, "Stop after N calls.", low=0, key="max_calls")
    max_cost: float | None = setting(None, "Stop at this cost; needs prices.", low=0, key="max_cost")
    cache: bool = setting(True, "Do not use the response cache.", "--no-cache")
    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto",
        "Where models in this process run; auto prefers a GPU.",
        key="device",
        recorded=False,
    )


class LanguageOptions(Options, heading="Model"):
    """The language of the prompts."""

    language: Literal["auto", "en", "zh"] = setting(
        "auto", "Language of the prompts; auto follows each conversation.", "--lang", key="lang"
    )


class PrivacyOptions(Options, heading="Personal data"):
    """What of people is hidden before anything is stored, sent or shown."""

    redact: bool = setting(
        False,
        "Mask phone numbers, e-mail addresses, card and identity numbers.",
        key="redact",
    )
    hash_ids: bool = setting(
        False,
        "Replace ids of users and conversations by digests.",
        key="hash_ids",
    )

    @property
    def privacy(self) -> "Privacy":
        """Both as one."""
        from dialogauge.runs import Privacy

        return Privacy(self.redact, self.hash_ids)


class RetryOptions(Options, heading="Run"):
    """What becomes of failures when the same command is given again."""

    retry_failed: bool = setting(False, "Judge failures again.")


class FreshOptions(Options, heading="Run"):
    """What becomes of what an earlier run of the same directory left."""

    fresh: bool = setting(False, "Delete stored results first.")


class JudgingOptions(LimitOptions, RetryOptions, FreshOptions, PrivacyOptions, heading="Run"):
    """A run that judges conversations."""

    from_file: ClassVar[bool] = True

    out: str | None = setting(
        None,
        "Run directory.",
        "-o",
        "--out",
        otherwise="runs/ and the name of the first input",
        metavar="DIR",
    )
    max_failed: float = setting(
        0.05, "Above this share of failures the exit code is 3.", low=0, high=1, key="max_failed"
    )
    command: str = ""
    """The command line that asked for this, without secrets; for the manifest and the page."""


class ShuffleOptions(Options):
    """Chance in the controls."""

    seed: int = setting(0, "Seed of the shuffled control.", low=0, high=SEEDS)


class TiesOptions(Options):
    """Equal raw scores."""

    ties: Literal["mid", "turn-index", "sample-id"] = setting(
        "mid", "How calibration treats equal raw scores."
    )


class UserJudgeOptions(LanguageOptions, ModelOptions, LimitOptions, RetryOptions):
    """A judge of satisfaction, who judges for one user."""

    from_file: ClassVar[bool] = True
    asks: ClassVar[tuple[str, ...]] = ("judge", "memory_builder")

    judge: str = setting(
        ...,
        "global-mean, global-majority, task-mean, task-majority, history-mean, history-median, "
        "history-majority, history-cdf-hash, reply-unread, nearest-1, nearest-3, episodic-nearest, local, "
        "local-user; "
        "trained here: encoder, encoder-ordinal; with a model: memory, no-memory, zero-shot, few-shot, "
        "task-rubric, prometheus, rag, spur.",
        metavar="NAME",
    )
    strategy: Literal["topk", "boundary-paired", "score-balanced"] | None = setting(
        None, "How episodic-nearest and rag select turns (default: topk)."
    )
    k: int | None = setting(None, "Turns for episodic-nearest (default 6) and rag (default 4).", low=1)
    encoder: str | None = setting(
        None, "Model that the encoders fine-tune (default: bert-base-chinese).", metavar="FOLDER|NAME"
    )
    history: Literal["all", "prompt"] = setting(
        "all", "The whole history, or the part in the published prompt."
    )
    models: tuple[str, ...] = setting(
        (),
        "judge=... or memory_builder=...: MODEL@URL#KEYVAR, NAME (of [roles]), file:PATH or py:MODULE:NAME.",
        "--role",
        metavar="ROLE=M@U#K",
        recorded=False,
    )
    level: Literal["turn", "session"] = "turn"
    guard: bool = False
    """Whether failed conditions of a session are named first, and cap its score."""
    roles: Mapping[str, "RoleSettings"] = field(default_factory=dict)
    """The models of `judge` and `memory_builder`; empty with a judge that asks none."""


class RubricJudgeOptions(Options):
    """What judges by a rubric take, and the one that is fitted to ratings."""

    local_model: str | None = setting(
        None, "Coefficients for the local judge, from `dialogauge fit`.", metavar="FILE.json"
    )
    fitted_model: str | None = setting(
        None,
        "Rating model for the fitted judge, from `dialogauge fit`.",
        metavar="RUN|FILE.json",
    )
    source_file: str | None = setting(
        None, "Text file to check claims against (factuality).", "--source", metavar="FILE"
    )
    policy_file: str | None = setting(
        None,
        "Policies by domain, instead of the agent's system prompt (td rubrics); `booking` is shipped.",
        "--policy",
        metavar="FILE.toml",
    )
    calls: Literal["joint", "separate"] = setting("joint", "One call for all dimensions, or one for each.")


# Commands


class JudgeOptions(
    RubricJudgeOptions,
    DataOptions,
    RuleOptions,
    StrictOptions,
    LanguageOptions,
    ModelOptions,
    JudgingOptions,
):
    """`dialogauge judge`."""

    inputs: tuple[str, ...] = argument("INPUT... | RUN", "Files, folders, - for stdin, or a run.")
    rubric: str = setting(
        "card",
        "Shipped rubric (card, satisfaction, session, session-guarded, survey, task, single, factuality, "
        "td-turn, td-dialogue, td-unit, td-unit-dialogue), or a file.",
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
        "A condition, e.g. 'verdict>=good:0.9'; exit code 100 if not met.",
        "--gate",
        metavar="EXPR",
        key="gate",
    )
    junit: str | None = setting(None, "Also write JUnit XML, for build servers.", metavar="FILE")
    role: "RoleSettings | None" = None
    """The judge's model; None with a judge that asks none."""
    trust: "TrustThresholds" = field(default_factory=_thresholds)
    """From which figure on the checks of the judge are flagged."""


class SatisfactionOptions(UserJudgeOptions, TiesOptions, JudgingOptions, ShuffleOptions, RatedDataOptions):
    """`dialogauge satisfaction`."""

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


class SuccessOptions(DataOptions, StrictOptions, FreshOptions):
    """`dialogauge success`."""

    kind: Literal["multiwoz", "tau"] = setting(
        ..., "multiwoz: goals and a database; tau: rewards, outputs and actions."
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
    reading: Literal["stored", "own"] = setting(
        "stored", "Delexicalised replies and states: those in the records, or our own reading (multiwoz)."
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


class CheckOptions(DataOptions, StrictOptions):
    """`dialogauge check`."""

    min_turns: int = setting(2, "Fewer turns count as very short.", low=0)
    personal: bool = setting(False, "Count personal data, without printing it.", "--pii")


class ReportOptions(RunInput, PrivacyOptions):
    """`dialogauge report`."""

    out: str | None = setting(None, "Output file (default: RUN/report.html).", "-o", "--out", metavar="FILE")


class ShowOptions(PrivacyOptions):
    """`dialogauge show`."""

    run: str = argument("RUN", "A run directory.")
    id: str = argument("ID", "A conversation's id, as on the page.")
    turn: int | None = setting(None, "Show this turn only.", "--turn", low=0)


class RunsOptions(Options):
    """`dialogauge runs`."""

    folder: str = argument("[DIR]", "Folder of runs.", default="runs")


class TwoRunsOptions(PrivacyOptions):
    """`dialogauge compare`."""

    a: str = argument("A", "The run from before.")
    b: str = argument("B", "The run from after, with the same rubric.")
    by: str | None = setting(None, "Also compare by scenario, user or language.", "--by", metavar="NAME,...")
    candidates: str | None = setting(
        None, "Compare OLD in A with NEW in B, which may be one run.", metavar="OLD,NEW"
    )
    gates: tuple[str, ...] = setting(
        (),
        "E.g. helpfulness.delta>=-0.1; exit code 100 unless the interval shows it.",
        "--gate",
        metavar="EXPR",
    )
    pairs: int = setting(2, "How many worse and better conversations to print.", low=0)
    out: str | None = setting(None, "Folder for compare.json and compare.html.", "-o", "--out", metavar="DIR")


class ExportOptions(RunInput, PrivacyOptions):
    """`dialogauge export`."""

    out: str = setting(
        ...,
        "A .jsonl, .csv, .parquet or .eval file (Inspect).",
        "-o",
        "--out",
        metavar="FILE",
    )


class RecheckOptions(RunInput, RatingOptions, ModelOptions, LimitOptions, RetryOptions):
    """`dialogauge trust`."""

    scenario_sample: int | None = setting(
        None, "Judge N conversations again, without and with another scenario.", low=1
    )
    seed: int = setting(0, "Seed of the sample.", low=0, high=SEEDS)
    model: str | None = setting(None, "The model of the run (default: as stored).", metavar="MODEL")


class AgreementOptions(RatingOptions, RuleOptions, ConfigOptions, ShuffleOptions):
    """`dialogauge agreement`."""

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


class PairOptions(RunInput, ModelOptions, LimitOptions, PrivacyOptions):
    """`dialogauge pairs`."""

    asks: ClassVar[tuple[str, ...]] = ("repair",)

    out: str = setting(..., "JSONL file to write.", "-o", "--out", metavar="FILE")
    kind: Literal["dpo", "kto", "sft", "active"] = setting("dpo", "What to write.")
    target: Literal["trl"] = setting("trl", "Row format of the trainer.", "--to")
    chosen_field: str | None = setting(None, "Key of the better reply in your records (dpo).", metavar="KEY")
    model: str | None = setting(None, "Model that writes the better reply (dpo).", metavar="MODEL")
    models: tuple[str, ...] = setting((), "As --role of judge.", "--role", metavar="repair=M@U#K")
    min_verdict: Literal["excellent", "good", "borderline", "poor"] = setting(
        "good", "Lowest verdict to learn from (sft)."
    )
    limit: int | None = setting(None, "At most N rows (active: default 50).", low=1)
    anyway: bool = setting(False, "Use the judge even if people contradict it.")


class FitOptions(ShuffleOptions, DataOptions, FreshOptions):
    """`dialogauge fit`."""

    inputs: tuple[str, ...] = argument("DATA...", "Rated conversations.")
    out: str = setting(
        ...,
        "FILE.json for coefficients of the local judge, else a run with a rating model.",
        "-o",
        "--out",
        metavar="FILE.json|RUN",
    )
    dimension: str = setting("satisfaction", "The rated dimension to fit.", metavar="NAME")
    split_file: str | None = setting(None, "JSON {train: [users]}: fit on these users only.", metavar="FILE")
    folds: int = setting(5, "Cross-validation folds.", "--cv", low=2, high=1_000)
    command: str = ""

    @property
    def is_run(self) -> bool:
        """Whether a run directory was asked for, and not the coefficients' file."""
        return not self.out.endswith(".json")


class DoctorOptions(ModelOptions):
    """`dialogauge doctor`."""

    known_answers: bool = setting(
        True, "Ask questions with known answers too.", "--known-answers/--no-known-answers"
    )
