"""The data of a benchmark: read for selection, and read again for collection and scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.app.satisfaction_data import chosen_split, masked_words, read_rated
from dialogauge.app.settings import RatedDataOptions
from dialogauge.app.sources import InputData
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.data import Mask, UserSplit
from dialogauge.runs.privacy import OPEN, Privacy, hidden_turn, new_salt
from dialogauge.studies.replay.items import ItemSet, Stage, set_stage, state_digest
from dialogauge.studies.replay.study import ReplyMask
from dialogauge.studies.satisfaction.blocks import HistoryCut, StudyData, study_data
from dialogauge.text import counted

_KEY = "privacy"


def mask_of_items(items: ItemSet) -> Mask | None:
    """Return the mask of an item set; None when it is open."""
    kept = items.data.get(_KEY)
    return None if kept is None else Mask(kept["redact"], kept["hash_ids"], bytes.fromhex(kept["salt"]))


def mask_for_items(asked: Privacy, earlier: ItemSet | None, path: str) -> Mask | None:
    """Return the mask under which turns are chosen; None for an open set.

    Args:
        asked: What is to be hidden.
        earlier: The item set that the run has already: its mask is taken.
        path: The run, for the message.

    Raises:
        UsageError: The run's items were chosen under another setting.
    """
    if earlier is None:
        return None if asked == OPEN else Mask(asked.redact, asked.hash_ids, new_salt())
    mask, before = mask_of_items(earlier), privacy_of(earlier)
    if before != asked:
        msg = f"the items of {path} were chosen {f'with {before.words}' if before.words else 'openly'}"
        change = f"add {before.words}" if before.words else f"drop {asked.words}"
        raise UsageError(msg, hint=f"{change}, or choose another directory with -o")
    return mask


def hidden_items(items: ItemSet, study: StudyData, mask: Mask) -> ItemSet:
    """Return the same turns under hidden ids, with the mask beside them.

    Args:
        items: Chosen from the open data.
        study: The data masked.
        mask: What it was masked with.
    """
    rated = {r.reply.id: (block.view, r.reply) for block in study.blocks for r in block.ratings}
    hidden = []
    for item in items.items:
        view, reply = rated[hidden_turn(mask, item.id)]
        hidden.append(
            replace(
                item,
                id=reply.id,
                conversation=reply.conversation.id,
                block=view.id,
                user=view.user,
                scenario=view.scenario,
                state=state_digest(reply.before),
            )
        )
    kept = {"redact": mask.redact, "hash_ids": mask.hash_ids, "salt": mask.salt.hex()}
    scenarios = dict(Counter(i.scenario for i in hidden).most_common())
    card = {**items.card, "scenarios": scenarios}
    return replace(items, items=tuple(hidden), data={**items.data, _KEY: kept}, card=card)


def privacy_of(items: ItemSet) -> Privacy:
    """Return what an item set hides."""
    kept = items.data.get(_KEY)
    return OPEN if kept is None else Privacy(kept["redact"], kept["hash_ids"])


_KEPT = ("format", "map_file", "ratings_file", "dimension", "part")


def data_settings(options: RatedDataOptions, study: StudyData) -> dict[str, Any]:
    """Return what is needed to read the same study again: inputs, how to read them, and the split."""
    split = {name: sorted(getattr(study.split, name)) for name in ("train", "test")}
    return {"inputs": list(options.inputs), **{k: getattr(options, k) for k in _KEPT}, "split": split}


@dataclass(frozen=True, slots=True)
class ReadStudy:
    """Rated conversations and their blocks, in foresight: a candidate's reply has no sequel."""

    conversations: Mapping[str, Conversation]
    """By id, as they were read: nothing is hidden here."""
    study: StudyData
    """Masked where a mask was given."""
    faults: tuple[InputError, ...]
    """What could not be read or used."""
    notes: tuple[object, ...]
    """What was recognised and assumed."""


def read_study(
    options: RatedDataOptions,
    split: UserSplit | None = None,
    mask: Mask | None = None,
    source: InputData | None = None,
) -> ReadStudy:
    """Read rated conversations and build their blocks.

    Args:
        options: Where they are, and whose turns are wanted.
        split: The users of either side; with a mask their hidden ids. As `options` say when None.
        mask: What is put on before anything is built.
        source: Read in place of what `inputs` and `ratings_file` of the options name.
    """
    split = chosen_split(options) if split is None else split
    data = read_rated(options, source)
    read = data.conversations.values()
    study = study_data(
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

    study: StudyData
    stage: Stage
    faults: tuple[InputError, ...]
    hides: ReplyMask
    """What is put on replies."""


def open_stage(
    items: ItemSet,
    data: Sequence[str] = (),
    history: HistoryCut = "all",
    source: InputData | None = None,
) -> OpenStage:
    """Find the items of a set in the data again, under the set's mask if it has one.

    Args:
        items: The set.
        data: Where the data is now; where it was when the items were selected, when empty.
        history: `prompt` cuts histories as the published prompt does.
        source: The data itself, where it is no file.

    Raises:
        UsageError: No item is left.
    """
    known: Mapping[str, Any] = items.data
    options = RatedDataOptions(
        inputs=tuple(data) or tuple(known["inputs"]),
        history=history,
        **{k: known[k] for k in _KEPT},
    )
    split = UserSplit(*(frozenset(known["split"][name]) for name in ("train", "test")))
    mask = mask_of_items(items)
    read = read_study(options, split, mask, source)
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
