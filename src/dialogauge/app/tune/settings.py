"""The settings of `dialogauge tune`; see `app/settings`. Those of training are in `training`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from typing import ClassVar, Literal

from dialogauge.app.option_groups import ConfigOptions, FreshOptions
from dialogauge.core.settings import setting
from dialogauge.training import PairSettings, SftSettings


class TuneOptions(ConfigOptions, FreshOptions):
    """What every method of training has."""

    from_file: ClassVar[bool] = True
    table: ClassVar[Literal["judge", "tune"]] = "tune"

    policy: str = setting(..., "Folder of the model to train.", "--model", metavar="DIR")
    data: str = setting(..., "Rows to train on, as `pairs` writes them.", metavar="FILE")
    held_out: str | None = setting(None, "Rows to measure on, never trained on.", metavar="FILE")
    out: str = setting(
        ..., "Folder for the model, its log and its checkpoints.", "-o", "--out", metavar="DIR"
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto", "Where the model runs; auto prefers a GPU.", recorded=False, key="device"
    )


class SftOptions(TuneOptions, SftSettings):
    """Fine-tune a model on dialogues.

    It learns what the assistant says in them, and nothing that anybody else says. Rows are those of
    `pairs --kind sft`.
    """


class DpoOptions(TuneOptions, PairSettings):
    """Train a model on pairs of replies (DPO).

    Rows are those of `pairs --kind dpo`.
    """


class DspoOptions(TuneOptions, PairSettings):
    """Train a model on pairs of segments (DSPO).

    A segment begins with a user's turn; the assistant's turns alone are trained on. Rows are those of
    `pairs --kind segment`.
    """
