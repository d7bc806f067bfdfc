"""The items of a benchmark: chosen into a file, and found again in the data for collection and scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialogauge.app.option_groups import RatedDataOptions
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.replay.settings import SelectOptions
from dialogauge.app.satisfaction import RatedData, chosen_split, masked_words, read_rated
from dialogauge.app.sources import InputData, input_data
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.unit import words_digest
from dialogauge.data import DATA_SETS, Mask, UserSplit, format_names, pipe_of
from dialogauge.runs.directory import write_whole
from dialogauge.runs.privacy import OPEN, Hiding, Privacy, hidden_turn, new_salt
from dialogauge.runs.records import json_document
from dialogauge.studies.replay.items import (
    ItemSet,
    Stage,
    scene_name,
    set_plain_stage,
    set_stage,
)
from dialogauge.studies.replay.selection import Pick, item_of, plain_picks, select_items
from dialogauge.studies.satisfaction.blocks import HistoryCut, StudyData, masked_data, study_data
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


def hidden_items(items: ItemSet, hidden: Iterable[Pick], mask: Mask) -> ItemSet:
    """Return the same turns under hidden ids, with the mask beside them.

    Args:
        items: Chosen from the open data.
        hidden: The turns of the data masked.
        mask: What it was masked with.
    """
    by_id = {pick.id: pick for pick in hidden}
    out = [
        replace(
            item_of(by_id[hidden_turn(mask, item.id)]),
            gold=item.gold,
            weight=item.weight,
            reasons=item.reasons,
        )
        for item in items.items
    ]
    kept = {"redact": mask.redact, "hash_ids": mask.hash_ids, "salt": mask.salt.hex()}
    scenarios = dict(Counter(i.scenario for i in out if i.scenario).most_common())
    card = {**items.card, "scenarios": scenarios}
    return replace(items, items=tuple(out), data={**items.data, _KEY: kept}, card=card)


def privacy_of(items: ItemSet) -> Privacy:
    """Return what an item set hides."""
    kept = items.data.get(_KEY)
    return OPEN if kept is None else Privacy(kept["redact"], kept["hash_ids"])


_KEPT = ("format", "map_file", "ratings_file", "dimension", "part")


def data_settings(options: RatedDataOptions, split: UserSplit) -> dict[str, Any]:
    """Return what is needed to read the same data again: inputs, how to read them, and the split."""
    users = {name: sorted(getattr(split, name)) for name in ("train", "test")}
    return {"inputs": list(options.inputs), **{k: getattr(options, k) for k in _KEPT}, "split": users}


def read_study(
    data: RatedData, options: RatedDataOptions, split: UserSplit | None = None, mask: Mask | None = None
) -> tuple[StudyData, tuple[InputError, ...]]:
    """Build the blocks of rated conversations, in foresight: a candidate's reply has no sequel.

    Args:
        data: What was read.
        options: Whose turns are wanted.
        split: The users of either side; with a mask their hidden ids. As `options` say when None.
        mask: What is put on before anything is built.

    Returns the blocks, and what could not be read or used.
    """
    study = study_data(
        shown_talks(data, mask),
        part=options.part,
        split=chosen_split(options) if split is None else split,
        dimension=options.dimension if mask is None else mask.text(options.dimension),
        sight="foresight",
        history=options.history,
    )
    return study, (*faults_of(data, mask), *study.faults)


def shown_talks(data: RatedData, mask: Mask | None) -> tuple[Conversation, ...]:
    """Return the conversations as they may be shown."""
    talks = data.conversations.values()
    return tuple(talks if mask is None else map(mask.conversation, talks))


def faults_of(data: RatedData, mask: Mask | None) -> tuple[InputError, ...]:
    """Return what could not be read of conversations and ratings, without excerpts of the data."""
    return masked_words((*data.unreadable, *data.rating_faults), (), mask)[0]


@dataclass(frozen=True, slots=True)
class OpenStage:
    """The items of a set, found again in the data."""

    stage: Stage
    scenarios: Mapping[str, str]
    """By conversation that a memory may stem from."""
    faults: tuple[InputError, ...]
    hides: Hiding
    """What is put on replies."""
    words: Mapping[str, str]
    """By conversation of the items: the digest of what was said in it, as fitted models keep it."""
    study: StudyData | None = None
    """What is known of users; None of a set that was chosen without ratings."""


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
    mask, read = mask_of_items(items), read_rated(options, source or input_data(options))
    talks, faults, study = shown_talks(read, mask), faults_of(read, mask), None
    if items.rated:
        split = UserSplit(*(frozenset(known["split"][name]) for name in ("train", "test")))
        study, faults = read_study(read, options, split, mask)
        stage = set_stage(items, study.blocks)
        rated = ((b.view.scenario, r.reply.conversation) for b in stage.rated.values() for r in b.ratings)
        scenarios = {conversation.id: scenario for scenario, conversation in rated}
    else:
        stage = set_plain_stage(items, talks)
        scenarios = {conversation.id: scene_name(conversation) for conversation in talks}
    if not stage.items:
        msg = f"of {counted(len(items.items), 'item')} none is in the data any more"
        raise UsageError(msg, hint="say with --data where the conversations are now, or select anew")
    wanted, read_talks = {item.conversation for item in stage.items}, read.conversations.values()
    names = {c.id: c.id if mask is None else mask.id("conversation", c.id) for c in read_talks}
    hides = Hiding()
    if mask is not None:
        hides = Hiding(mask, {names[c.id]: mask.names(c.id, c.user_id) for c in read_talks})
    words = {names[c.id]: words_digest(c) for c in read_talks if names[c.id] in wanted}
    return OpenStage(stage, scenarios, (*faults, *stage.faults), hides, words, study)


@dataclass(frozen=True, slots=True)
class Selected:
    """The item set, and what was wrong with the data."""

    items: ItemSet
    path: Path | None
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]


def select(
    options: SelectOptions,
    earlier: ItemSet | None = None,
    path: str = "",
    source: InputData | None = None,
) -> Selected:
    """Choose turns and write the item set.

    Args:
        options: From what, and how.
        earlier: The item set that a run has already: its mask is taken.
        path: That run, for messages.
        source: Read in place of what `inputs` and `ratings_file` of the options name.

    Raises UsageError when there is nothing to choose or the run was masked otherwise, StoreError when the
    file cannot be written.
    """
    file = None if options.out is None else output_file(options.out)
    spare([] if file is None else [file], options)
    for name in () if source is not None else options.inputs:
        if pipe_of(name) or shown_path(name) != name:
            what = "comes through a pipe" if pipe_of(name) else "has a name that is not UTF-8"
            msg = f"{shown_path(name)} {what}: an item set could not say where its data is"
            raise UsageError(msg, hint="give a file that can be read again under its name")
    mask = mask_for_items(options.privacy, earlier, path)
    data = read_rated(options, source or input_data(options))
    rated = any(c.ratings for c in data.conversations.values())
    kept: dict[str, Any] = {"seed": options.seed, "source": _source(options, data.notes)}
    hidden: Iterable[Pick] = ()
    if rated and not options.unrated:
        try:
            study, faults = read_study(data, options)
            how = data_settings(options, study.split)
            items = select_items(study.blocks, options.rule or "hard", options.size, data=how, **kept)
        except UsageError as error:
            either = "; or --unrated: all replies, scored by a rubric"
            raise UsageError(str(error), hint=f"{error.hint or ''}{either}".lstrip("; ")) from error
        if mask is not None:
            _, study = masked_data(data.conversations, study, mask)
            hidden = (Pick(r.reply, b.view.id, b.view.user) for b in study.blocks for r in b.ratings)
            items = replace(items, data=data_settings(options, study.split))
    else:
        talks, how = shown_talks(data, None), data_settings(options, UserSplit(frozenset(), frozenset()))
        rule = options.rule or "stratified"
        items = select_items((), rule, options.size, data=how, unrated=talks, **kept)
        faults, hidden = faults_of(data, None), plain_picks(shown_talks(data, mask))
    if mask is not None:
        items = hidden_items(items, hidden, mask)
    shown, words = masked_words(faults, data.notes, mask)
    if rated and options.unrated:
        words = (*words, "ratings are left out: candidates are scored without them")
    if file is not None:
        write_whole(file, [json_document(items.to_json())])
    return Selected(items, file, shown, words)


def _source(options: SelectOptions, notes: Sequence[object]) -> dict[str, Any]:
    """Say what is known of the data set: by its format where the format is of one data set alone."""
    text = " ".join(map(str, notes))
    names = [d for d in DATA_SETS if [e.format for e in DATA_SETS].count(d.format) == 1]
    known = next(
        (d for d in names if d.format in format_names() and (options.format == d.format or d.format in text)),
        None,
    )
    licence = options.licence or (known.licence if known else None)
    return {
        "source": ", ".join(options.inputs),
        "data_set": known.title if known else None,
        "published_at": known.source if known else None,
        "licence": licence or "not stated",
    }
