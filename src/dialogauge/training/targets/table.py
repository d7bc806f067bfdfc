"""Which trainer takes which kind of rows, and how they are written for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from dialogauge.core import UsageError
from dialogauge.training.targets.alternating import dialogue
from dialogauge.training.targets.llamafactory import write_llamafactory
from dialogauge.training.targets.shards import Row, SessionReward, TargetFiles, write_lines
from dialogauge.training.targets.trainers import write_openrlhf, write_trl, write_verl

Writer = Callable[[TargetFiles], dict[str, Path]]
"""Returns what was written, by what it is."""


def _write_sharegpt(to: TargetFiles) -> dict[str, Path]:
    write_lines(to.out, to.kept(dialogue))
    return {"data": to.out}


_LABEL: Final = "conversations that people are to label are no training rows"
_ONE_DIALOGUE: Final = "a ShareGPT row is one dialogue"
_NO_PAIRS: Final = "verl has no trainer of pairs"
_BY_LENGTH: Final = "OpenRLHF trains on all that follows the prompt, what the user says in a segment too"
TARGETS: Final[Mapping[str, Mapping[str, Writer | str]]] = {
    "trl": dict.fromkeys(("sft", "dpo", "kto", "active", "segment", "rl"), write_trl),
    "sharegpt": {
        "sft": _write_sharegpt,
        "dpo": f"{_ONE_DIALOGUE}, and no pair",
        "kto": f"{_ONE_DIALOGUE} without a label",
        "active": _LABEL,
        "segment": f"{_ONE_DIALOGUE}, and no pair",
        "rl": f"{_ONE_DIALOGUE} that was had, and no scenario",
    },
    "llamafactory": {
        "sft": write_llamafactory,
        "dpo": write_llamafactory,
        "kto": "its pairs of one reply are written, and labels of single replies are not: trl takes them",
        "active": _LABEL,
        "segment": write_llamafactory,
        "rl": "LLaMA-Factory has no GRPO: nothing in it plays sessions",
    },
    "verl": {
        "sft": write_verl,
        **dict.fromkeys(("dpo", "kto", "segment"), _NO_PAIRS),
        "active": _LABEL,
        "rl": write_verl,
    },
    "openrlhf": {
        "sft": write_openrlhf,
        **dict.fromkeys(("dpo", "kto", "segment"), _BY_LENGTH),
        "active": _LABEL,
        "rl": write_openrlhf,
    },
}
"""By trainer and kind of rows what writes them, or why they are refused."""


def expect_target(target: str, kind: str, model: Path | None = None) -> Writer:
    """Return what writes rows of a kind for a trainer.

    Raises UsageError where it takes none, with the reason, and where it takes them in tokens of a model that
    is not named.
    """
    writer = TARGETS[target][kind]
    if isinstance(writer, str):
        takes = ", ".join(k for k, entry in TARGETS[target].items() if not isinstance(entry, str))
        msg = f"{target} takes no {kind} rows: {writer}"
        raise UsageError(msg, hint=f"it takes {takes}; --to trl takes all")
    if (target, kind) == ("llamafactory", "segment") and model is None:
        msg = "segments for LLaMA-Factory are written in tokens, and no model is named"
        raise UsageError(msg, hint="name the folder of the model that is to be trained: --for-model DIR")
    return writer


def write_target(
    target: str,
    kind: str,
    rows: Iterable[Row],
    out: Path,
    *,
    model: Path | None = None,
    reward: SessionReward | None = None,
) -> TargetFiles:
    """Write rows for a trainer, and beside them a configuration that runs; shard by shard.

    Args:
        target: One of `TARGETS`.
        kind: What the rows are: `sft`, `dpo`, `kto`, `active`, `segment`, `rl`.
        rows: In TRL's conversational form; read once, in order.
        out: The data file. verl's ends in `.parquet`, and what is written in tokens is the folder
            `NAME.tokens`; what stands beside it begins with its name.
        model: The folder of the model that is to be trained. The configuration names it; rows for
            LLaMA-Factory are then written in its tokens, and segments cannot be written otherwise.
        reward: What the configurations of the kind `rl` name as the score of a session.

    Raises:
        UsageError: The trainer takes no such rows; or they are to be written in tokens and cannot be.
        MissingExtra: pyarrow or transformers is not installed, and needed.
        StoreError: The system refuses to write.
    """
    to = TargetFiles(kind, rows, out, model, reward)
    to.files = expect_target(target, kind, model)(to)
    return to


def write_held_out(
    target: str, kind: str, rows: Iterable[Row], out: Path, *, model: Path | None = None
) -> TargetFiles:
    """Write rows that are not trained on as `write_target` does, and no configuration."""
    to = TargetFiles(kind, rows, out, model, configured=False)
    to.files = expect_target(target, kind, model)(to)
    return to
