"""The settings: groups that commands share, and what each command is asked to do.

Each setting is declared here and nowhere else: the command line, the configuration file and Python read
these classes (`app/merging`). A field without `setting(...)` is no setting: it holds what was made of
settings, or what a group needs and only some commands let the user choose.
"""

# Without the future import: annotations are read when commands are made, and must be types by then.

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dialogauge.core.settings import setting

if TYPE_CHECKING:
    from dialogauge.app.config import RoleSettings
    from dialogauge.app.privacy import Privacy
    from dialogauge.studies.replay.comparison import CompareSettings
    from dialogauge.studies.trust import TrustThresholds

NO_RUBRIC = "none"
"""Stands for the rubric where a judge has none."""


def _thresholds() -> Any:  # noqa: ANN401 - of a study, which is loaded where it is used
    from dialogauge.studies.trust import TrustThresholds

    return TrustThresholds()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What all settings have in common."""

    from_file: ClassVar[bool] = False
    """Whether the table `[judge]` of a configuration file holds for them."""


# Groups


@dataclass(frozen=True, kw_only=True)
class RunInput(Settings):
    """A run to read."""

    run: str = setting(argument=True, metavar="RUN", help="A run directory.")


@dataclass(frozen=True, kw_only=True)
class RatingSettings(Settings):
    """People's ratings in a file of their own."""

    ratings_file: str | None = setting(None, "--ratings", help="People's ratings, joined by id.")
    map_file: str | None = setting(None, "--map", help="TOML file: your field names.")


@dataclass(frozen=True, kw_only=True)
class DataSettings(RatingSettings):
    """Conversations to read."""

    inputs: tuple[str, ...] = setting(
        argument=True, metavar="INPUT...", help="Files, folders, or - for stdin."
    )
    format: str | None = setting(None, help="Force a format instead of recognising it.")


@dataclass(frozen=True, kw_only=True)
class StrictSettings(Settings):
    """How much is forgiven."""

    strict: bool = setting(False, help="Stop at the first oddity in the input.")


@dataclass(frozen=True, kw_only=True)
class RatedDataSettings(DataSettings):
    """Rated conversations to read, and of which users."""

    inputs: tuple[str, ...] = setting(argument=True, metavar="DATA...", help="Rated conversations, or a run.")
    dimension: str = setting("satisfaction", help="The rated dimension.")
    part: Literal["test", "train", "all"] = setting(
        "test",
        "--split",
        help="Whose turns are judged or chosen. The training users are what judges know of other users.",
    )
    split_file: str | None = setting(None, help="JSON {train: [users], test: [users]}, else by seed.")
    level: Literal["turn", "session"] = "turn"
    """Whether replies are judged, or sessions as a whole."""
    mode: Literal["foresight", "hindsight"] = "foresight"
    """Whether the next user message may be read."""
    history: Literal["all", "prompt"] = "all"
    """How much of a user's history is read."""


@dataclass(frozen=True, kw_only=True)
class ConfigSettings(Settings):
    """The configuration file."""

    config_file: str | None = setting(
        None, "--config", recorded=False, help="Configuration file (else ./dialogauge.toml)."
    )


@dataclass(frozen=True, kw_only=True)
class ModelSettings(ConfigSettings):
    """A model to ask."""

    asks: ClassVar[tuple[str, ...]] = ("judge",)
    """The roles that a model may be given for; `model` is the first one's."""

    model: str | None = setting(
        None,
        recorded=False,
        help="Model at an OpenAI-compatible endpoint; short for --role judge=MODEL@URL#KEYVAR.",
    )
    base_url: str | None = setting(None, recorded=False, help="The endpoint, e.g. http://localhost:8000/v1.")
    api_key_env: str | None = setting(None, recorded=False, help="Variable that holds the key.")
    models: tuple[str, ...] = setting(
        (),
        "--role",
        metavar="judge=M@U#K",
        recorded=False,
        help="judge=MODEL@URL#KEYVAR, judge=NAME (from [roles]), judge=file:PATH or judge=py:MODULE:NAME.",
    )


@dataclass(frozen=True, kw_only=True)
class LimitSettings(ConfigSettings):
    """What asking models may take."""

    prices_file: str | None = setting(
        None, "--prices", key="prices", help="TOML file of prices per million tokens."
    )
    max_concurrency: int = setting(64, low=1, key="max_concurrency", help="Requests in flight at most.")
    max_calls: int | None = setting(None, low=0, key="max_calls", help="Stop after N calls.")
    max_cost: float | None = setting(None, low=0, key="max_cost", help="Stop at this cost; needs prices.")
    cache: bool = setting(True, "--no-cache", help="Do not use the response cache.")


@dataclass(frozen=True, kw_only=True)
class LanguageSettings(Settings):
    """The language of the prompts."""

    language: Literal["auto", "en", "zh"] = setting(
        "auto", "--lang", key="lang", help="Language of the judging."
    )


@dataclass(frozen=True, kw_only=True)
class PrivacySettings(Settings):
    """What of people is hidden before anything is stored, sent or shown."""

    redact: bool = setting(
        False,
        key="redact",
        help="Replace phone numbers, e-mails, card and identity numbers by [phone], [email], [card], [id].",
    )
    hash_ids: bool = setting(
        False,
        key="hash_ids",
        help="Replace the ids of users and conversations by digests that stay the same within a run.",
    )

    @property
    def privacy(self) -> "Privacy":
        """Both as one."""
        from dialogauge.app.privacy import Privacy

        return Privacy(self.redact, self.hash_ids)


@dataclass(frozen=True, kw_only=True)
class RetrySettings(Settings):
    """What becomes of failures when the same command is given again."""

    retry_failed: bool = setting(False, help="Do again what failed.")


@dataclass(frozen=True, kw_only=True)
class RunSettings(LimitSettings, RetrySettings, PrivacySettings):
    """A run that judges conversations."""

    from_file: ClassVar[bool] = True

    out: str | None = setting(
        None, "-o", "--out", otherwise="runs/ and the name of the first input", help="Run directory."
    )
    max_failed: float = setting(
        0.05, low=0, high=1, key="max_failed", help="Share of failures above which the exit code is 3."
    )
    fresh: bool = setting(False, help="Forget what the run holds.")
    command: str = ""
    """The command line that asked for this, without secrets; for the manifest and the page."""


@dataclass(frozen=True, kw_only=True)
class DrawSettings(Settings):
    """Bootstrap intervals."""

    draws: int = setting(1000, low=0, help="Bootstrap draws for the intervals.")
    seed: int = setting(0, help="Of the draws and the shuffled control.")


@dataclass(frozen=True, kw_only=True)
class TiesSettings(Settings):
    """Equal raw scores."""

    ties: Literal["mid", "turn-index", "sample-id"] = setting(
        "mid", help="Equal raw scores: kept equal, or ordered as the published calibrations do."
    )


@dataclass(frozen=True, kw_only=True)
class UserJudgeSettings(LanguageSettings, ModelSettings, LimitSettings, RetrySettings):
    """A judge of satisfaction, who judges for one user."""

    from_file: ClassVar[bool] = True
    asks: ClassVar[tuple[str, ...]] = ("judge", "memory_builder")

    judge: str = setting(
        metavar="NAME",
        help="global-mean, global-majority, task-mean, task-majority, history-mean, history-median, "
        "history-majority, history-cdf-hash, nearest-1, nearest-3, episodic-nearest, local, local-user; "
        "trained here: encoder, encoder-ordinal; with a model: memory, no-memory, zero-shot, few-shot, "
        "task-rubric, prometheus, rag, spur.",
    )
    strategy: Literal["topk", "boundary-paired", "score-balanced"] | None = setting(
        None, help="Of episodic-nearest and rag (else topk)."
    )
    k: int | None = setting(None, low=1, help="Turns that episodic-nearest (else 6) and rag (else 4) take.")
    history: Literal["all", "prompt"] = setting(
        "all", help="The whole history, or what the published prompt keeps."
    )
    models: tuple[str, ...] = setting(
        (),
        "--role",
        metavar="ROLE=M@U#K",
        recorded=False,
        help="judge=... or memory_builder=...: MODEL@URL#KEYVAR, NAME (from [roles]), file:PATH or "
        "py:MODULE:NAME.",
    )
    level: Literal["turn", "session"] = "turn"
    roles: Mapping[str, "RoleSettings"] = field(default_factory=dict)
    """The models of `judge` and `memory_builder`; empty with a judge that asks none."""


# Commands


@dataclass(frozen=True, kw_only=True)
class JudgeSettings(DataSettings, StrictSettings, LanguageSettings, ModelSettings, RunSettings):
    """`dialogauge judge`."""

    inputs: tuple[str, ...] = setting(
        argument=True, metavar="INPUT... | RUN", help="Files, folders, - for stdin, or a run."
    )
    rubric: str = setting(
        "card",
        key="rubric",
        help="Shipped rubric (card, satisfaction, session, session-guarded, task, single, factuality), or a "
        "file",
    )
    judge: Literal["local", "llm", "fitted"] = setting(
        "local",
        otherwise="llm when a model is given, fitted with --fitted-model, else local",
        help="Without a model, with one, or by a model of ratings that was fitted to your own.",
    )
    mode: Literal["hindsight", "foresight"] = setting(
        "hindsight", key="mode", help="Whether the next user message may be read."
    )
    local_model: str | None = setting(
        None, help="Coefficients for the local judge, as `dialogauge fit` wrote them."
    )
    fitted_model: str | None = setting(
        None,
        metavar="RUN|FILE.json",
        help="Model of ratings for the judge fitted: the run that `dialogauge fit` wrote, or its model.json.",
    )
    source_file: str | None = setting(
        None, "--source", help="Text file that claims are checked against (rubric factuality)."
    )
    limit: int | None = setting(None, low=1, help="Only the first N conversations.")
    sample: int | None = setting(None, low=1, help="N conversations at random.")
    repeats: int = setting(1, low=1, key="repeats", help="Judge everything N times.")
    seed: int = setting(0, key="seed", help="Seed of sampling and of the model.")
    window: int = setting(6, low=4, high=6, key="window", help="Turns in a window of a long conversation.")
    gates: tuple[str, ...] = setting(
        (),
        "--gate",
        metavar="EXPR",
        key="gate",
        help="A condition on the result, e.g. 'verdict>=good:0.9'; exit code 100 when it is not met.",
    )
    role: "RoleSettings | None" = None
    """The judge's model; None with a judge that asks none."""
    trust: "TrustThresholds" = field(default_factory=_thresholds)
    """From which figure on the checks of the judge are flagged."""


@dataclass(frozen=True, kw_only=True)
class SatisfactionSettings(UserJudgeSettings, TiesSettings, RunSettings, DrawSettings, RatedDataSettings):
    """`dialogauge satisfaction`."""

    level: Literal["turn", "session"] = setting(
        "turn", help="Replies, or sessions as a whole (the ratings without a turn)."
    )
    mode: Literal["foresight", "hindsight"] = setting(
        "foresight", help="Whether the next user message may be read."
    )
    calibrate: Literal[
        "none", "mean-shift", "cdf", "reference-cdf", "reference-mean-shift", "reference-transfer", "pooled"
    ] = setting("none", metavar="NAME", help="The map of the scores in the rows; the table shows every one.")
    reference: str | None = setting(
        None,
        metavar="RUN",
        help="Satisfaction run of the blocks' original replies, for reference-* (else the judged replies).",
    )
    encoder: str | None = setting(
        None, metavar="FOLDER|NAME", help="What encoder judges fine-tune (else bert-base-chinese)."
    )
    signals: tuple[str, ...] = setting(
        (),
        "--signal",
        metavar="RUN",
        help="Satisfaction run of a judge that reads no rating, for local-user to read too.",
    )
    out: str | None = setting(
        None, "-o", "--out", otherwise="runs/ and the names of input and judge", help="Run directory."
    )


@dataclass(frozen=True, kw_only=True)
class CheckSettings(DataSettings, StrictSettings):
    """`dialogauge check`."""

    min_turns: int = setting(2, low=0, help="Fewer turns than this count as very short.")
    personal: bool = setting(False, "--pii", help="Count what looks like personal data, without printing it.")


@dataclass(frozen=True, kw_only=True)
class ReportSettings(RunInput, PrivacySettings):
    """`dialogauge report`."""

    out: str | None = setting(None, "-o", "--out", help="Where to (else RUN/report.html).")


@dataclass(frozen=True, kw_only=True)
class ExportSettings(RunInput, PrivacySettings):
    """`dialogauge export`."""

    out: str = setting(..., "-o", "--out", help="x.jsonl, x.csv or x.parquet.")


@dataclass(frozen=True, kw_only=True)
class TrustSettings(RunInput, RatingSettings, ModelSettings, LimitSettings):
    """`dialogauge trust`."""

    scenario_sample: int | None = setting(
        None, low=1, help="Judge N conversations again without, and with another's, scenario."
    )
    seed: int = setting(0, help="Seed of the sample.")
    model: str | None = setting(None, help="The run's model (else as the run says).")


@dataclass(frozen=True, kw_only=True)
class AgreementSettings(RatingSettings, ConfigSettings, DrawSettings):
    """`dialogauge meta`."""

    runs: tuple[str, ...] = setting(argument=True, metavar="RUN...", help="Run directories.")
    dimensions: tuple[str, ...] = setting(
        (),
        "--dimension",
        metavar="JUDGED[=RATED]",
        help="A dimension of the judge, and after = the rated one if it is called otherwise.",
    )
    dissatisfied: str | None = setting(
        None,
        metavar="RULE",
        help="What counts as dissatisfied: 3 (3 or less), '<3', '>=4', or a category such as DSAT.",
    )
    ratings_file: str | None = setting(
        None, "--ratings", help="People's ratings, joined by id (else those inside the run)."
    )
    draws: int = setting(1000, low=100, help="Bootstrap draws.")
    out: str | None = setting(None, "-o", "--out", help="Folder for meta.json and meta.html.")


@dataclass(frozen=True, kw_only=True)
class PairSettings(RunInput, ModelSettings, LimitSettings, PrivacySettings):
    """`dialogauge pairs`."""

    asks: ClassVar[tuple[str, ...]] = ("repair",)

    out: str = setting(..., "-o", "--out", help="JSONL file to write.")
    kind: Literal["dpo", "kto", "sft", "active"] = setting("dpo", help="What to write.")
    target: Literal["trl"] = setting("trl", "--to", help="For whom: the trainer's row format.")
    chosen_field: str | None = setting(None, help="Key of your records that holds the better reply (dpo).")
    model: str | None = setting(None, help="Model that writes the better reply (dpo).")
    models: tuple[str, ...] = setting((), "--role", metavar="repair=M@U#K", help="As --role of judge.")
    min_verdict: Literal["excellent", "good", "borderline", "poor"] = setting(
        "good", help="Conversations worth learning from (sft)."
    )
    limit: int | None = setting(None, low=1, help="At most N rows (active: 50 if not given).")


@dataclass(frozen=True, kw_only=True)
class FitSettings(DrawSettings, DataSettings):
    """`dialogauge fit`."""

    inputs: tuple[str, ...] = setting(argument=True, metavar="DATA...", help="Rated conversations.")
    out: str = setting(
        ...,
        "-o",
        "--out",
        metavar="FILE.json|RUN",
        help="FILE.json: coefficients of the local judge. Else a run directory with a model of the ratings.",
    )
    dimension: str = setting("satisfaction", help="The rated dimension to fit.")
    split_file: str | None = setting(None, help="JSON {train: [users]}: fit on these users only.")
    folds: int = setting(5, "--cv", low=2, help="Parts of the cross-validation.")
    command: str = ""

    @property
    def is_run(self) -> bool:
        """Whether a run directory was asked for, and not the coefficients' file."""
        return not self.out.endswith(".json")


@dataclass(frozen=True, kw_only=True)
class DoctorSettings(ModelSettings):
    """`dialogauge doctor`."""

    known_answers: bool = setting(
        True, "--known-answers/--no-known-answers", help="Ask the known-answer set too."
    )


# Commands of `dialogauge replay`, and the groups that they share


@dataclass(frozen=True, kw_only=True)
class ReplaySeedSettings(Settings):
    """Chance in a benchmark."""

    seed: int = setting(0, help="Of the selection, and of pools and repeats of candidates.")


@dataclass(frozen=True, kw_only=True)
class ItemSettings(ReplaySeedSettings, RatedDataSettings, ConfigSettings, PrivacySettings):
    """Which turns are chosen."""

    from_file: ClassVar[bool] = True

    rule: Literal["hard", "random", "stratified", "all"] = setting(
        "hard", help="How turns are chosen: hard is the published rule and looks at the ratings."
    )
    size: int = setting(300, "-n", "--size", low=1, help="Turns at most.")
    licence: str | None = setting(None, help="Licence of the data, for the card.")


@dataclass(frozen=True, kw_only=True)
class AgentsSettings(Settings):
    """What is known of candidates."""

    agents_file: str | None = setting(
        None,
        "--agents",
        help="agents.toml: organisation, version, licence and family of candidates, and where each is "
        "reached.",
    )


@dataclass(frozen=True, kw_only=True)
class CandidateSettings(AgentsSettings, ReplaySeedSettings, LimitSettings, RetrySettings):
    """Who replies, and what each is shown."""

    candidates: tuple[str, ...] = setting(
        (),
        "--candidate",
        metavar="[NAME=]REF",
        help="MODEL@URL#KEYVAR, replies:FILE, pool:REF,REF, py:MODULE:NAME, file:PATH, or a name of "
        "agents.toml or the configuration; NAME= before it names it.",
    )
    context: Literal["prefix", "task", "profile", "memory-tfidf", "memory-diverse", "memory-compressed"] = (
        setting(
            "prefix",
            help="What a candidate is shown beside the messages before the reply; prefix is nothing.",
        )
    )


@dataclass(frozen=True, kw_only=True)
class MovedDataSettings(Settings):
    """Data that is read again."""

    data: tuple[str, ...] = setting(
        (),
        metavar="PATH",
        help="Where the conversations are now, if not where they were selected from.",
    )


@dataclass(frozen=True, kw_only=True)
class EvaluatorSettings(UserJudgeSettings):
    """Who scores: any judge of `satisfaction`, in foresight."""

    reference: str | None = setting(
        None,
        metavar="RUN",
        help="A run whose scores of the original replies are taken over; it must be of this very evaluator.",
    )


@dataclass(frozen=True, kw_only=True)
class ComparingSettings(AgentsSettings, TiesSettings):
    """How candidates are compared."""

    judge_family: str | None = setting(None, help="The evaluator's family of models, for self-preference.")
    margin: float = setting(0.0, low=0, help="A difference of no more than this is a tie.")
    draws: int = setting(1000, low=100, help="Bootstrap draws of users.")
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class ReplaySelectSettings(ItemSettings):
    """`dialogauge replay select`."""

    out: str | None = setting(..., "-o", "--out", metavar="ITEMS", help="Item set to write (JSON).")


@dataclass(frozen=True, kw_only=True)
class ReplayCollectSettings(CandidateSettings, MovedDataSettings):
    """`dialogauge replay collect`."""

    items: str = setting(argument=True, metavar="ITEMS", help="An item set.")
    out: str = setting(..., "-o", "--out", metavar="RUN", help="Run directory.")


@dataclass(frozen=True, kw_only=True)
class ReplayScoreSettings(RunInput, EvaluatorSettings, MovedDataSettings):
    """`dialogauge replay score`."""


@dataclass(frozen=True, kw_only=True)
class ReplayCompareSettings(ComparingSettings):
    """`dialogauge replay compare`."""

    runs: tuple[str, ...] = setting(argument=True, metavar="RUN...", help="Run directories of one item set.")
    judge: str | None = setting(None, metavar="NAME", help="Of several evaluators of a run; else the latest.")
    seed: int = setting(42, help="Of the draws and of the shuffled control.")
    out: str | None = setting(
        None, "-o", "--out", help="Folder for summary and page (else a single run's own)."
    )

    @property
    def comparison(self) -> "CompareSettings":
        """The part that the figures depend on."""
        from dialogauge.studies.replay.comparison import CompareSettings

        return CompareSettings(draws=self.draws, seed=self.seed, ties=self.ties, margin=self.margin)


@dataclass(frozen=True, kw_only=True)
class ReplayRunSettings(EvaluatorSettings, CandidateSettings, ComparingSettings, ItemSettings):
    """`dialogauge replay run`."""

    out: str = setting(..., "-o", "--out", metavar="RUN", help="Run directory.")
    draw_seed: int = setting(42, help="Of the draws and of the shuffled control.")
