"""The fit study: rated places in; left-out predictions beside controls, and a model of the ratings, out."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import (
    InputError,
    PlainDimension,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
)
from dialogauge.core.judgement import NO_USAGE
from dialogauge.core.unit import words_digest
from dialogauge.judges.fitted.cross_validation import (
    RIDGES,
    CrossValidation,
    boundaries_to_fit,
    cross_validate,
    line_folds,
)
from dialogauge.judges.fitted.features import RatedPlace, features_digest
from dialogauge.judges.fitted.model import FittedOn, PlaceTable, RatingsModel, fit_ratings, table_of
from dialogauge.judges.local.fit import group_folds
from dialogauge.report import Page
from dialogauge.runs import Ending, Row, StoredRun, Study, StudyFacts
from dialogauge.runs.records import json_line
from dialogauge.runs.store import store_errors
from dialogauge.stats import CONTROLS
from dialogauge.studies.fit.figures import FIGURES, PredictedRatings, figures_with_controls
from dialogauge.studies.fit.page import fit_page
from dialogauge.text import detect_language

Whole = npt.NDArray[np.int64]

FIT: Final = "fit"
"""The kind of run, and the study's part in the identity of a unit."""

LEAST: Final = 50
"""Rated places that a fit needs, and that a language needs to be named."""
WAYS: Final = {
    "lines": "consecutive examples, as published for USS; a conversation may lie across two parts",
    "conversations": "whole conversations, or whole users where they are known",
}
"""How the examples are cut into parts: by each way one cross-validation, which is one unit of the work."""
_VERSION = 1
"""Raised when a cross-validation of the same examples comes out otherwise."""
_SHOWN = ("kappa", "uar", "f1_below3")
_BESIDE = ("constant", "reply length")
"""The controls that go with the model."""


@dataclass(frozen=True, slots=True)
class Validated:
    """A cross-validation, as the record of its unit."""

    way: str
    validation: CrossValidation

    @property
    def failed(self) -> bool:
        """Never: what goes wrong with a fit ends the run."""
        return False

    @property
    def usage(self) -> Usage:
        """No model is asked."""
        return NO_USAGE

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the validation with its `way`."""
        del unit
        return {"way": self.way, **self.validation.to_json()}


@dataclass(frozen=True, slots=True)
class FitResult:
    """What a fit comes to."""

    summary: Mapping[str, Any]
    model: RatingsModel | None
    """Fitted to all examples; None while a cross-validation is missing."""
    validated: Mapping[str, CrossValidation]

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`."""
        return dict(self.summary)


@dataclass
class FitStudy(Study[FitResult]):
    """Validates a model of ratings in two ways, and fits it; see `runs.Study` for the parts.

    Raises UsageError where there is nothing to validate.
    """

    examples: Sequence[RatedPlace]
    dimension: str
    _: KW_ONLY
    parts: int = 5
    two_sided: bool = False
    """Whether people could say good or bad alone, which stand as 5 and 1."""
    seed: int = 0
    faults: Sequence[InputError] = ()
    """All that could not be used, ratings included."""
    unreadable: Sequence[InputError] = ()
    """Of these, the records that are no conversations."""
    started: float = field(default_factory=time.process_time)
    """On the clock of the processor."""
    table: PlaceTable = field(init=False)
    """Of the examples."""
    _folds: dict[str, Whole] = field(init=False)
    """By way the part of each example."""

    name = FIT
    row_file = None
    judge_digest = digest({"fit": _VERSION, "features": features_digest(), "ridges": list(RIDGES)})

    def __post_init__(self) -> None:
        """Cut the examples into parts."""
        self.table = table_of(self.examples)
        groups = [e.group for e in self.examples]
        numbers = {g: i for i, g in enumerate(dict.fromkeys(groups))}
        by_group = group_folds(np.array([numbers[g] for g in groups], dtype=np.int64), self.parts)
        self._folds = {"lines": line_folds(len(groups), self.parts), "conversations": by_group}
        for fold in self._folds.values():
            boundaries_to_fit(self.table, fold)

    @cached_property
    def source(self) -> str:
        """Digest of the rated places, in their order, and of the parts."""
        talks = {id(e.conversation): e.conversation for e in self.examples}
        digests = {key: conversation_digest(talk) for key, talk in talks.items()}
        places = [[digests[id(e.conversation)], e.turn, e.number, list(e.votes)] for e in self.examples]
        return digest([self.dimension, self.parts, places])

    @property
    def whole_only(self) -> bool:
        """Whether people rated nothing but whole conversations."""
        return all(e.turn is None for e in self.examples)

    @property
    def expected(self) -> int:
        """One unit for each way."""
        return len(self._folds)

    def plan(self) -> Sequence[WorkUnit]:
        """Return a unit for each way of cutting the examples."""
        data = self.source
        return [
            WorkUnit(FIT, None, data, self.judge_digest, part=way, judge=FIT, position=position)
            for position, way in enumerate(self._folds, start=1)
        ]

    async def run(self, unit: WorkUnit) -> tuple[Validated, ...]:
        """Do one cross-validation."""
        way = str(unit.part)
        return (Validated(way, await cross_validate(self.table, self._folds[way])),)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> FitResult:
        """Bring the predictions to figures with controls; with all of them done, fit the model."""
        del ending
        with store_errors(run.database.path):
            validated = {row["way"]: self._validated(row) for row in rows}
        summary = self._summary(validated)
        model = None
        if len(validated) == len(WAYS):
            chosen = validated["conversations"]
            model = fit_ratings(
                self.table,
                chosen.cuts,
                chosen.boundaries,
                chosen.ridge,
                dimension=self.dimension,
                fitted_on=self._fitted_on(summary),
            )
        summary["seconds"] = round(time.process_time() - self.started, 1)
        summary["faults"] = [str(f) for f in self.faults]
        return FitResult(summary, model, validated)

    def _validated(self, row: Row) -> CrossValidation:
        """Read a cross-validation back; ValueError where it is of other examples."""
        validation = CrossValidation.from_json(row)
        if len(validation.called) != len(self.examples):
            msg = f"it holds predictions of {len(validation.called)} examples, not of {len(self.examples)}"
            raise ValueError(msg)
        return validation

    def facts(self) -> StudyFacts:
        """Return what was fitted to what."""
        return StudyFacts(
            judge={"name": FIT, "digest": self.judge_digest},
            dimensions=(PlainDimension(self.dimension, "conversation" if self.whole_only else "turn"),),
            data=self.source,
            conversations=len({e.conversation.id for e in self.examples}),
        )

    def page(self, result: FitResult, run: StoredRun) -> Page:
        """Return the figures as a page."""
        return fit_page(result.summary, run.manifest)

    def files(self, result: FitResult) -> Mapping[str, Iterable[bytes] | None]:
        """Return model and predictions; neither before all is validated."""
        if result.model is None:
            return {"model": None, "predictions": None}
        return {
            "model": [result.model.to_json().encode()],
            "predictions": self._predictions(result.validated),
        }

    def _summary(self, validated: Mapping[str, CrossValidation]) -> dict[str, Any]:
        examples = self.examples
        turns = np.array([e.turn is not None for e in examples])
        views = {"all": np.ones(turns.size, dtype=bool), "without_whole": turns, "whole_only": ~turns}
        parts: dict[str, dict[str, Any]] = {
            way: {
                "what": WAYS[way],
                "split_conversations": _split(examples, validation.fold),
                "ridges": list(validation.ridges),
                **{view: self._view(validation, mask) for view, mask in views.items() if mask.any()},
            }
            for way, validation in validated.items()
        }
        first = parts.get("lines", {}).get("all", {})
        return {
            "study": FIT,
            "dimension": self.dimension,
            **({"two_sided": True} if self.two_sided else {}),
            "examples": len(examples),
            "conversations": len({e.conversation.id for e in examples}),
            "whole_conversations": int((~turns).sum()),
            "nothing_said": int(self.table.prior_only.sum()),
            "votes": int(sum(sum(e.votes) for e in examples)),
            "folds": self.parts,
            "figures": FIGURES,
            "controls_are": CONTROLS,
            "parts": parts,
            "metrics": first.get("metrics"),
            "controls": first.get("controls"),
            "ridge_grid": list(RIDGES),
        }

    def _view(self, validation: CrossValidation, mask: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Return the figures of some of the examples, and of the controls on them."""
        chosen = [e for e, kept in zip(self.examples, mask, strict=True) if kept]
        gold, (low, high) = self.table.gold[mask], (_shares(validation, side, mask) for side in (2, 3))
        predicted = PredictedRatings(
            gold,
            validation.called[mask],
            low,
            None if high is None else 1 - high,
            [e.reply_length for e in chosen],
            [e.stop for e in chosen],
            [e.conversation.user_id for e in chosen],
            [e.conversation.id for e in chosen],
        )
        return figures_with_controls(predicted, seed=self.seed)

    def _fitted_on(self, summary: Mapping[str, Any]) -> FittedOn:
        """Return what goes with the model: the figures are those of whole users or conversations left out."""
        seen = {id(e.conversation): e.conversation for e in self.examples}
        spoken = {key: detect_language(*(m.text for m in talk.messages)) for key, talk in seen.items()}
        often = Counter(spoken[id(e.conversation)] for e in self.examples)
        left_out = summary["parts"]["conversations"]["all"]
        shown = {"model": left_out["metrics"]} | {name: left_out["controls"][name] for name in _BESIDE}
        return FittedOn(
            examples=len(self.examples),
            conversations=len(seen),
            users=len({e.group for e in self.examples}),
            votes=summary["votes"],
            whole=summary["whole_conversations"],
            languages=tuple(sorted(name for name, n in often.items() if n >= LEAST and name != "other")),
            folds=self.parts,
            figures={name: {k: figures[k] for k in _SHOWN} for name, figures in shown.items()},
            spoken=dict(often.most_common()),
            seen=tuple(sorted({words_digest(c) for c in seen.values()})),
            two_sided=self.two_sided,
        )

    def _predictions(self, validated: Mapping[str, CrossValidation]) -> Iterator[bytes]:
        for i, example in enumerate(self.examples):
            row: dict[str, Any] = {
                "conversation_id": example.conversation.id,
                "turn": example.turn,
                "number": example.number,
                "votes": list(example.votes),
                "majority": int(self.table.gold[i]),
            }
            for way, validation in validated.items():
                shares = dict(
                    zip(map(str, validation.boundaries), validation.shares[i].round(4).tolist(), strict=True)
                )
                row[way] = {
                    "part": int(validation.fold[i]),
                    "called": int(validation.called[i]),
                    "share_up_to": shares,
                }
            yield json_line(row)


def _shares(
    validation: CrossValidation, boundary: int, mask: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64] | None:
    """Return the predicted share of votes up to a rating; None where that boundary has no model."""
    if boundary not in validation.boundaries:
        return None
    column: npt.NDArray[np.float64] = validation.shares[mask, validation.boundaries.index(boundary)]
    return column


def _split(examples: Sequence[RatedPlace], fold: Whole) -> int:
    """Count the conversations that lie across two parts."""
    parts: dict[str, set[int]] = {}
    for example, part in zip(examples, fold.tolist(), strict=True):
        parts.setdefault(example.conversation.id, set()).add(part)
    return sum(len(p) > 1 for p in parts.values())
