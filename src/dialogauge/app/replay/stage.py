"""The data of a benchmark: read for selection, and read again for collection and scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialogauge.app.replay.privacy import ReplyMask, mask_of_items
from dialogauge.app.satisfaction_data import chosen_split, read_rated
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.app.satisfaction_privacy import masked_words
from dialogauge.bench.replay import ItemSet, Stage, set_stage
from dialogauge.bench.satisfaction import HistoryCut, Study, plan_study
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.data import Mask, UserSplit
from dialogauge.text import counted

__all__ = ["OpenStage", "ReadStudy", "data_settings", "open_stage", "read_study"]

_KEPT = ("format", "map_file", "ratings_file", "dimension", "part")


def data_settings(options: SatisfactionOptions, study: Study) -> dict[str, Any]:
    """Return what is needed to read the same study again: inputs, how to read them, and the split."""
    split = {name: sorted(getattr(study.split, name)) for name in ("train", "test")}
    return {"inputs": list(options.inputs), **{k: getattr(options, k) for k in _KEPT}, "split": split}


@dataclass(frozen=True, slots=True)
class ReadStudy:
    """Rated conversations and their blocks, in foresight: a candidate's reply has no sequel."""

    conversations: Mapping[str, Conversation]
    """By id, as they were read: nothing is hidden here."""
    study: Study
    """Masked where a mask was given."""
    faults: tuple[InputError, ...]
    """What could not be read or used."""
    notes: tuple[object, ...]
    """What was recognised and assumed."""


def read_study(
    options: SatisfactionOptions, split: UserSplit | None = None, mask: Mask | None = None
) -> ReadStudy:
    """Read rated conversations and build their blocks.

    Args:
        options: Where they are, and whose turns are wanted.
        split: The users of either side; with a mask their hidden ids. As `options` say when None.
        mask: What is put on before anything is built.
    """
    split = chosen_split(options) if split is None else split
    data = read_rated(options)
    read = data.conversations.values()
    study = plan_study(
        read if mask is None else map(mask.conversation, read),
        part=options.part,
        split=split,
        dimension=options.dimension if mask is None else mask.text(options.dimension),
        sight="foresight",
        history=options.history,
    )
    faults, notes = (*data.unreadable, *data.rating_faults), data.notes
    if mask is not None:
        faults, notes = masked_words(faults, notes, mask)
    return ReadStudy(data.conversations, study, (*faults, *study.faults), notes)


@dataclass(frozen=True, slots=True)
class OpenStage:
    """The items of a set, found again in the data."""

    study: Study
    stage: Stage
    faults: tuple[InputError, ...]
    hides: ReplyMask
    """What is put on replies."""


def open_stage(items: ItemSet, data: Sequence[str] = (), history: HistoryCut = "all") -> OpenStage:
    """Find the items of a set in the data again, under the set's mask if it has one.

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
    mask = mask_of_items(items)
    read = read_study(options, split, mask)
    stage = set_stage(items, read.study.blocks)
    if not stage.items:
        msg = f"of {counted(len(items.items), 'item')} none is in the data any more"
        raise UsageError(msg, hint="say with --data where the conversations are now, or select anew")
    return OpenStage(read.study, stage, (*read.faults, *stage.faults), _reply_mask(read, mask))


def _reply_mask(read: ReadStudy, mask: Mask | None) -> ReplyMask:
    if mask is None:
        return ReplyMask()
    talks = read.conversations.values()
    return ReplyMask(mask, {mask.id("conversation", c.id): mask.names(c.id, c.user_id) for c in talks})
