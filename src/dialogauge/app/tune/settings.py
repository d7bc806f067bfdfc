"""The settings of `dialogauge tune`; see `app/settings`. Those of training are in `training`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from typing import ClassVar, Literal

from dialogauge.app.option_groups import FreshOptions, LimitOptions, Options, UncheckedOptions
from dialogauge.core.settings import argument, setting
from dialogauge.training import OnlineSettings, PairSettings, PlaySettings, SftSettings


class TuneOptions(LimitOptions, FreshOptions, UncheckedOptions):
    """What every method of training has."""

    from_file: ClassVar[bool] = True
    table: ClassVar[Literal["judge", "tune"]] = "tune"

    policy: str = setting(..., "Folder of the model to train.", "--model", metavar="DIR")
    data: str = setting(..., "Rows to train on, as `pairs` writes them.", metavar="FILE")
    held_out: str | None = setting(None, "Rows to measure on, never trained on.", metavar="FILE")
    out: str = setting(
        ..., "Folder for the model, its log and its checkpoints.", "-o", "--out", metavar="DIR"
    )
    asks: ClassVar[tuple[str, ...]] = ("simulator", "judge", "second")

    models: tuple[str, ...] = setting(
        (),
        "simulator=..., judge=... and second=..., a judge that is no reward: MODEL@URL#KEYVAR, NAME (of "
        "[roles]), file:PATH or py:MODULE:NAME.",
        "--role",
        metavar="ROLE=REF",
        recorded=False,
    )
    rubric: str = setting(
        "roleplay", "Whose dimensions score a session: a shipped rubric, or a file.", metavar="NAME|FILE"
    )
    weights_file: str | None = setting(
        None,
        "Weights of the rubric's criteria, from `dialogauge fit RUN -o FILE.toml`.",
        "--weights",
        metavar="FILE.toml",
    )
    checked_by: tuple[str, ...] = setting(
        (),
        "A rated run, or the folder of `agreement -o`, that shows that the judge agrees with people.",
        "--checked-by",
        metavar="RUN|DIR",
    )
    held_out_sessions: int = setting(2, "Sessions of each held-out persona.", low=1, high=1_000)


class OfflineOptions(TuneOptions, PlaySettings):
    """What training on rows has."""

    held_out_personas: str | None = setting(
        None,
        "Personas to play with before and after, by --role simulator and judge: rows of `pairs --kind rl`, "
        "or scenarios.",
        metavar="FILE",
    )


class OnlineOptions(TuneOptions, OnlineSettings):
    """What training on played sessions has."""

    data: str = setting(
        ..., "What sessions begin with: rows of `pairs --kind rl`, or scenarios.", metavar="FILE"
    )
    held_out: str | None = setting(
        None, "The same of personas to play with before and after, never trained on.", metavar="FILE"
    )


class GrpoOptions(OnlineOptions):
    """Train a model on single turns that it plays (GRPO).

    Several replies to the same message are scored; each is held against the others. The judge of
    --role judge is the reward.
    """


class GsrpoOptions(OnlineOptions):
    """Train a model on whole sessions that it plays (GSRPO).

    The model talks with simulated users. Each session is scored as a whole, by the judge of --role judge, and
    held against the others of its persona.
    """


class TuneCompareOptions(Options):
    """Lay tuned models beside each other, by what they score with held-out personas.

    Each folder is a model that `tune` made and played with the same held-out personas.
    """

    inputs: tuple[str, ...] = argument("OUT...", "Folders of tune, each with sessions of held-out personas.")
    baseline: str | None = setting(
        None, "The arm that others are held against.", metavar="NAME", otherwise="the first"
    )
    ratings_file: str | None = setting(
        None, "People's ratings of the sessions in OUT/held_out.jsonl.", "--ratings", metavar="FILE"
    )
    out: str | None = setting(None, "Folder for JSON and page.", "-o", "--out", metavar="DIR")


class SftOptions(OfflineOptions, SftSettings):
    """Fine-tune a model on dialogues.

    It learns what the assistant says in them, and nothing that anybody else says. Rows are those of
    `pairs --kind sft`.
    """


class DpoOptions(OfflineOptions, PairSettings):
    """Train a model on pairs of replies (DPO).

    Rows are those of `pairs --kind dpo`.
    """


class DspoOptions(OfflineOptions, PairSettings):
    """Train a model on pairs of segments (DSPO).

    A segment begins with a user's turn; the assistant's turns alone are trained on. Rows are those of
    `pairs --kind segment`.
    """
