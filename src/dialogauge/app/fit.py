"""`dialogauge fit DATA -o RUN`: a model of people's ratings, and what it is worth on left-out examples."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dialogauge.app.settings import FitOptions
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.settings import recorded
from dialogauge.core.unit import conversation_digest, digest, words_digest
from dialogauge.data import RatingTable, read_conversations, read_field_map, read_ratings, read_split
from dialogauge.data.ratings import usable_ratings
from dialogauge.judges.fitted import (
    CrossValidation,
    Example,
    FittedOn,
    cross_validate,
    examples_of,
    fit_ratings,
)
from dialogauge.judges.fitted.cross_validation import RIDGES, line_folds
from dialogauge.judges.fitted.model import Table, table_of
from dialogauge.judges.local.fit import fit_local, group_folds
from dialogauge.runs.directory import write_whole
from dialogauge.runs.manifest import versions
from dialogauge.runs.records import json_document, json_line
from dialogauge.studies.fit import CONTROLS, FIGURES, Said, controls_of, figures_of
from dialogauge.text import LanguageTally, counted


def read_rated(options: FitOptions, faults: list[InputError]) -> Iterator[Conversation]:
    """Read the conversations with all their ratings; what cannot be read goes to `faults`.

    Raises ConfigError for a faulty split file.
    """
    mapping = read_field_map(options.map_file) if options.map_file is not None else None
    ratings = RatingTable()
    if options.ratings_file is not None:
        ratings = read_ratings(options.ratings_file, mapping=mapping)
    faults += ratings.faults
    users = None if options.split_file is None else read_split(options.split_file).train
    for item in read_conversations(options.inputs, format=options.format, mapping=mapping):
        if not isinstance(item, Conversation):
            faults.append(item)
        elif users is None or item.user_id in users:
            yield replace(item, ratings=(*item.ratings, *ratings.for_conversation(item.id)))


def fit_file(options: FitOptions) -> dict[str, Any]:
    """Fit, write the coefficients, and return them with their out-of-fold figures and the faults met.

    Raises UsageError when there is too little to fit, ConfigError for a faulty split file.
    """
    faults: list[InputError] = []
    usable = (_usable(c, options.dimension, faults) for c in read_rated(options, faults))
    fitted = fit_local(usable, dimension=options.dimension, folds=options.folds)
    text = fitted.to_json()
    write_whole(Path(options.out), [text.encode()])
    return {**json.loads(text), "faults": [str(f) for f in faults]}


def _usable(conversation: Conversation, dimension: str, faults: list[InputError]) -> Conversation:
    """Return the conversation without the ratings of the dimension that are none, which go to `faults`."""
    usable, wrong = usable_ratings(conversation, dimension)
    faults += wrong
    others = (r for r in conversation.ratings if r.dimension != dimension)
    return replace(conversation, ratings=(*others, *(rating for rating, _ in usable)))


Whole = npt.NDArray[np.int64]
_LEAST = 50
_TOLD = ("kappa", "uar", "f1_below3")
_BESIDE = ("constant", "reply length")
"""The controls that go with the model."""
FOLDS = {
    "lines": "consecutive examples, as published for USS; a conversation may lie across two parts",
    "conversations": "whole conversations, or whole users where they are known",
}


def fit_run(options: FitOptions, *, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Validate, fit, and write `summary.json`, `predictions.jsonl`, `model.json` and `manifest.json`.

    Returns:
        The summary, as the file holds it.

    Raises:
        UsageError: Too few examples, or fewer conversations than parts.
        StoreError: The directory cannot be written.
    """
    started = time.process_time()
    faults: list[InputError] = []
    examples: list[Example] = []
    for conversation in read_rated(options, faults):
        found, wrong = examples_of(conversation, options.dimension)
        examples += found
        faults += wrong
    _check(examples, options)
    table = table_of(examples)
    groups = [e.group for e in examples]
    numbers = {g: i for i, g in enumerate(dict.fromkeys(groups))}
    by_group = group_folds(np.array([numbers[g] for g in groups], dtype=np.int64), options.folds)
    folds = {"lines": line_folds(len(examples), options.folds), "conversations": by_group}
    validated = {name: cross_validate(table, fold, progress=progress) for name, fold in folds.items()}
    chosen = validated["conversations"]
    summary = _summary(examples, table, validated, options)
    model = fit_ratings(
        table,
        chosen.cuts,
        chosen.boundaries,
        chosen.ridge,
        dimension=options.dimension,
        fitted_on=_fitted_on(examples, summary),
    )
    summary["seconds"] = round(time.process_time() - started, 1)
    summary["faults"] = [str(f) for f in faults]
    out = Path(options.out)
    write_whole(out / "model.json", [model.to_json().encode()])
    write_whole(out / "predictions.jsonl", _predictions(examples, table, validated))
    write_whole(out / "summary.json", [json_document(summary)])
    write_whole(out / "manifest.json", [json_document(_manifest(options, examples))])
    return summary


def _check(examples: Sequence[Example], options: FitOptions) -> None:
    groups = len({e.group for e in examples})
    if len(examples) < _LEAST or groups < max(3, options.folds):
        talks = counted(len({e.conversation.id for e in examples}), "conversation")
        msg = (
            f"too little to fit: {counted(len(examples), 'place')} rated for {options.dimension!r} "
            f"in {talks} of {counted(groups, 'user')}"
        )
        least = f"at least {_LEAST} of {max(3, options.folds)} users are needed"
        hint = f"{least}; a conversation without a user counts as one"
        raise UsageError(msg, hint=hint)
    if options.folds < 3:
        msg = "a run needs three parts or more: one to judge, one to choose the settings on, one to fit"
        raise UsageError(msg, hint="--cv 3, or more")


def _summary(
    examples: Sequence[Example], table: Table, validated: dict[str, CrossValidation], options: FitOptions
) -> dict[str, Any]:
    turns = np.array([e.turn is not None for e in examples])
    out: dict[str, Any] = {
        "study": "fit",
        "dimension": options.dimension,
        "examples": len(examples),
        "conversations": len({e.conversation.id for e in examples}),
        "whole_conversations": int((~turns).sum()),
        "nothing_said": int(table.prior_only.sum()),
        "votes": int(sum(sum(e.votes) for e in examples)),
        "folds": options.folds,
        "figures": FIGURES,
        "controls_are": CONTROLS,
        "parts": {},
    }
    everything = np.ones(turns.size, dtype=bool)
    for name, found in validated.items():
        views = {"all": everything, "without_whole": turns, "whole_only": ~turns}
        out["parts"][name] = {
            "what": FOLDS[name],
            "split_conversations": _split(examples, found.fold),
            "ridges": list(found.ridges),
            **{
                view: _view(examples, table, found, mask, options)
                for view, mask in views.items()
                if mask.any()
            },
        }
    first = out["parts"]["lines"]["all"]
    return {**out, "metrics": first["metrics"], "controls": first["controls"], "ridge_grid": list(RIDGES)}


def _fitted_on(examples: Sequence[Example], summary: dict[str, Any]) -> FittedOn:
    """Return what goes with the model: the figures are those of whole users or conversations left out."""
    seen = {id(e.conversation): e.conversation for e in examples}
    spoken = {key: _language(conversation) for key, conversation in seen.items()}
    often = Counter(spoken[id(e.conversation)] for e in examples)
    found = summary["parts"]["conversations"]["all"]
    shown = {"model": found["metrics"]} | {name: found["controls"][name] for name in _BESIDE}
    return FittedOn(
        examples=len(examples),
        conversations=len(seen),
        users=len({e.group for e in examples}),
        votes=summary["votes"],
        whole=summary["whole_conversations"],
        languages=tuple(sorted(name for name, n in often.items() if n >= _LEAST and name != "other")),
        folds=summary["folds"],
        figures={name: {k: figures[k] for k in _TOLD} for name, figures in shown.items()},
        spoken=dict(often.most_common()),
        seen=tuple(sorted({words_digest(c) for c in seen.values()})),
    )


def _language(conversation: Conversation) -> str:
    tally = LanguageTally()
    for message in conversation.messages:
        tally.add(message.text)
    return tally.language()


def _view(
    examples: Sequence[Example],
    table: Table,
    found: CrossValidation,
    mask: npt.NDArray[np.bool_],
    options: FitOptions,
) -> dict[str, Any]:
    """Return the figures of some of the examples, and of the controls on them."""
    held = [e for e, kept in zip(examples, mask, strict=True) if kept]
    gold, (low, high) = table.gold[mask], (_shares(found, side, mask) for side in (2, 3))
    said = Said(found.called[mask], low, None if high is None else 1 - high)
    clusters = [e.conversation.id for e in held]
    positions = [e.stop for e in held]
    controls = controls_of(gold, said, [e.reply_length for e in held], positions, seed=options.seed)
    drawn = {"draws": options.draws, "seed": options.seed}
    return {
        "metrics": figures_of(gold, said, clusters, **drawn),
        "controls": {name: figures_of(gold, c, clusters, **drawn) for name, c in controls.items()},
    }


def _shares(
    found: CrossValidation, boundary: int, mask: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64] | None:
    """Return the predicted share of votes up to a rating; None where that boundary has no model."""
    if boundary not in found.boundaries:
        return None
    column: npt.NDArray[np.float64] = found.shares[mask, found.boundaries.index(boundary)]
    return column


def _split(examples: Sequence[Example], fold: Whole) -> int:
    """Count the conversations that lie across two parts."""
    parts: dict[str, set[int]] = {}
    for example, part in zip(examples, fold.tolist(), strict=True):
        parts.setdefault(example.conversation.id, set()).add(part)
    return sum(len(p) > 1 for p in parts.values())


def _predictions(
    examples: Sequence[Example], table: Table, validated: dict[str, CrossValidation]
) -> Iterator[bytes]:
    for i, example in enumerate(examples):
        row: dict[str, Any] = {
            "conversation_id": example.conversation.id,
            "turn": example.turn,
            "number": example.number,
            "votes": list(example.votes),
            "majority": int(table.gold[i]),
        }
        for name, found in validated.items():
            shares = dict(zip(map(str, found.boundaries), found.shares[i].round(4).tolist(), strict=True))
            row[name] = {"part": int(found.fold[i]), "called": int(found.called[i]), "share_up_to": shares}
        yield json_line(row)


def _manifest(options: FitOptions, examples: Sequence[Example]) -> dict[str, Any]:
    seen = dict.fromkeys(e.conversation.id for e in examples)
    by_id = {e.conversation.id: e.conversation for e in examples}
    return {
        "versions": versions(),
        "study": "fit",
        "settings": recorded(options),
        "command": options.command,
        "data": digest([conversation_digest(by_id[name]) for name in seen]),
    }
