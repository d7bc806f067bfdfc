"""Groups of settings that commands share; what each command takes is in `app/settings`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Final, Literal, dataclass_transform

from dialogauge.core.settings import argument, setting
from dialogauge.core.values import Value

if TYPE_CHECKING:
    from dialogauge.app.config import RoleSettings
    from dialogauge.runs import Privacy


SEEDS: Final = 2**32 - 1
"""The largest seed: numpy and many servers take 32 bits."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Options(Value):
    """What all settings have in common."""

    from_file: ClassVar[bool] = False
    """Whether a table of a configuration file holds for them."""
    table: ClassVar[Literal["judge", "tune"]] = "judge"
    """Which one."""
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


class UncheckedOptions(Options, heading="Run"):
    """What is done with scores that nobody showed to agree with people or outcomes."""

    unchecked: bool = setting(
        False, "Let unchecked scores head, rank, gate and make rows; every output then says so first."
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
    """The language of the prompts, and of what the judge notes."""

    language: Literal["auto", "en", "zh"] = setting(
        "auto",
        "Language of prompts and of the judge’s notes; auto follows each conversation.",
        "--lang",
        key="lang",
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


class JudgedAgainOptions(ModelOptions, LimitOptions, heading="Model"):
    """The judge of a run, asked once more."""


class PlantingOptions(JudgedAgainOptions, heading="Planted faults"):
    """Faults that are planted in the replies of a run, to see which of them its judge would not notice."""

    planted: int | None = setting(
        None, "Plant each fault in N replies and judge them.", low=0, otherwise="25 without a model, else 0"
    )


class RetryOptions(Options, heading="Run"):
    """What becomes of failures when the same command is given again."""

    retry_failed: bool = setting(False, "Try failures again.")


class FreshOptions(Options, heading="Run"):
    """What becomes of what an earlier run of the same directory left."""

    fresh: bool = setting(False, "Delete stored results first.")


class ReplaceOptions(Options, heading="Run"):
    """What becomes of a finished run of other conversations in the same directory."""

    replace: bool = setting(False, "Let this input take the place of another one in a finished run.")


class RunOptions(LimitOptions, RetryOptions, FreshOptions, heading="Run"):
    """A run in which models are asked."""

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


class JudgingOptions(RunOptions, PrivacyOptions, heading="Run"):
    """A run that judges conversations."""

    from_file: ClassVar[bool] = True


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
        "local-user",
        "global-mean, global-majority, task-mean, task-majority, history-mean, history-median, "
        "history-majority, history-cdf-hash, reply-unread, nearest-1, nearest-3, episodic-nearest, local, "
        "local-user. "
        "Trained here: encoder, encoder-ordinal. With a model: memory, no-memory, zero-shot, few-shot, "
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
    calls: Literal["joint", "separate"] | None = setting(
        None, "One call for all dimensions, or one for each (default: as the rubric says)."
    )


class AgentsOptions(Options):
    """What is known of candidates."""

    agents_file: str | None = setting(
        None,
        "agents.toml: who candidates are, and how to reach them.",
        "--agents",
        metavar="FILE",
    )
