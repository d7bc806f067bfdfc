"""The settings of `pairs`."""

# Without the future import: annotations are read when commands are made, and must be types by then.

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from dialogauge.app.merging import FileConfig, references, resolved
from dialogauge.app.option_groups import SEEDS, JudgedAgainOptions, PrivacyOptions, UncheckedOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.settings import argument, setting


class PairOptions(UncheckedOptions, JudgedAgainOptions, PrivacyOptions):
    """Write training rows, or list what to label next.

    Rows are preference pairs, KTO, SFT, pairs of segments, or prompts, of runs, or of what people chose and
    wrote on rating pages. What the pairs reward is said before they are written.
    """

    asks: ClassVar[tuple[str, ...]] = ("repair", "judge")

    inputs: tuple[str, ...] = argument(
        "RUN... | FOLDER...", "Runs, and folders of annotate with choices or better replies."
    )
    out: str = setting(..., "JSONL file to write.", "-o", "--out", metavar="FILE")
    kind: Literal["dpo", "kto", "sft", "active", "segment", "rl"] = setting("dpo", "What to write.")
    target: Literal["trl", "sharegpt", "llamafactory", "verl", "openrlhf"] = setting(
        "trl", "Trainer whose files are written, with a configuration for it.", "--to"
    )
    trained: str | None = setting(
        None,
        "Model that is to be trained: configurations name it, and LLaMA-Factory gets rows in its tokens.",
        "--for-model",
        metavar="DIR",
    )
    chosen_field: str | None = setting(None, "Key of the better reply in your records (dpo).", metavar="KEY")
    model: str | None = setting(None, "Model that writes the better reply (dpo).", metavar="MODEL")
    models: tuple[str, ...] = setting(
        (),
        "As --role of judge; repair writes better replies, judge judges anew.",
        "--role",
        metavar="ROLE=M@U#K",
    )
    recheck: bool = setting(False, "Judge pairs anew, and leave out those whose chosen side is not better.")
    min_margin: float | None = setting(
        None,
        "Points of 1 to 5 between chosen and rejected at least (ratings: 1; lookahead: as searched).",
        low=0,
        high=4,
    )
    min_verdict: Literal["excellent", "good", "borderline", "poor"] = setting(
        "good", "Lowest verdict to learn from (sft)."
    )
    per_user: int | None = setting(None, "At most N rows of one user, or persona.", low=1)
    limit: int | None = setting(None, "At most N rows (active: default 50).", low=1)
    split_by: Literal["user", "persona"] | None = setting(
        None, "Write a part of the users, or personas, to NAME.held_out.jsonl."
    )
    held_out: float | None = setting(
        None, "Share of users, or personas, that are held out.", low=0.001, high=0.999, otherwise="0.1"
    )
    seed: int = setting(0, "Seed of what is drawn.", low=0, high=SEEDS)

    @property
    def model_folder(self) -> Path | None:
        """Where the model is that is to be trained."""
        return None if self.trained is None else Path(self.trained)

    @property
    def grouped_by(self) -> Literal["user", "persona"]:
        """Whose rows belong together."""
        return self.split_by or "user"

    @property
    def splits(self) -> bool:
        """Whether a part is held out."""
        return self.split_by is not None or self.held_out is not None


@resolved.register
def _(settings: PairOptions, config: FileConfig, explicit: Mapping[str, Any]) -> PairOptions:
    del config, explicit
    named = references(settings)
    if "repair" in named and settings.chosen_field is not None:
        msg = "the better reply is to come from a model and from a column"
        raise UsageError(msg, hint="give the model or --chosen-field, not both")
    pairs = settings.kind in ("dpo", "segment")
    needless = {
        "--recheck": settings.recheck and not pairs,
        "--min-margin": settings.min_margin is not None and not pairs,
        "--role judge=": "judge" in named and not settings.recheck,
        "--split-by": settings.splits and settings.kind == "active",
    }
    if option := next((name for name, in_vain in needless.items() if in_vain), None):
        msg = f"{option} says nothing of what is asked for"
        hint = "--recheck and --min-margin are for pairs (--kind dpo, segment), --role judge= for --recheck"
        raise UsageError(msg, hint=f"{hint}, and --split-by for rows to train on")
    return settings
