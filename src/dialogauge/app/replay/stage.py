"""The data of a benchmark: read for selection, and read again for collection and scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.app.satisfaction_data import chosen_split, read_rated
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.bench.replay import ItemSet, Stage, set_stage
from dialogauge.bench.satisfaction import HistoryCut, Study, plan_study
from dialogauge.core.errors import InputError, UsageError
from dialogauge.data import UserSplit

__all__ = ["data_settings", "open_stage", "read_study"]

_KEPT = ("format", "map_file", "ratings_file", "dimension", "part")


def data_settings(options: SatisfactionOptions, study: Study) -> dict[str, Any]:
    """Return what is needed to read the same study again: inputs, how to read them, and the split."""
    split = {name: sorted(getattr(study.split, name)) for name in ("train", "test")}
    return {"inputs": list(options.inputs), **{k: getattr(options, k) for k in _KEPT}, "split": split}


def read_study(
    options: SatisfactionOptions, split: UserSplit | None = None
) -> tuple[Study, tuple[InputError, ...], tuple[str, ...]]:
    """Read rated conversations and build their blocks, in foresight: a candidate's reply has no sequel.

    Returns the study, what could not be read, and what was assumed.
    """
    split = chosen_split(options) if split is None else split
    data = read_rated(options)
    study = plan_study(
        data.conversations.values(),
        part=options.part,
        split=split,
        dimension=options.dimension,
        sight="foresight",
        history=options.history,
    )
    faults = (*data.unreadable, *data.rating_faults, *study.faults)
    return study, faults, tuple(str(note) for note in data.notes)


def open_stage(
    items: ItemSet, data: Sequence[str] = (), history: HistoryCut = "all"
) -> tuple[Study, Stage, tuple[InputError, ...]]:
    """Find the items of a set in the data again.

    Args:
        items: The set.
        data: Where the data is now; where it was when the items were selected, when empty.
        history: `prompt` cuts histories as the published prompt does.

    Raises:
        UsageError: No item is left.
    """
    known: Mapping[str, Any] = items.data
    options = SatisfactionOptions(
        inputs=tuple(data) or tuple(known["inputs"]),
        judge="",
        history=history,
        **{k: known[k] for k in _KEPT},
    )
    split = UserSplit(*(frozenset(known["split"][name]) for name in ("train", "test")))
    study, faults, _ = read_study(options, split)
    stage = set_stage(items, study.blocks)
    if not stage.items:
        msg = f"none of the {len(items.items):,} items is in the data any more"
        raise UsageError(msg, hint="say with --data where the conversations are now, or select anew")
    return study, stage, (*faults, *stage.faults)
