"""Satisfaction runs in `dialogauge meta`: every judge under every calibration, and each against each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.app.privacy import ratings_as_stored
from dialogauge.app.runs import FinishedRun, open_run
from dialogauge.bench.satisfaction import (
    Predictions,
    SeveralJudges,
    collect_predictions,
    compare_runs,
    several_view,
)
from dialogauge.core.conversation import Conversation
from dialogauge.data import RatingTable
from dialogauge.report import SeveralView

__all__ = ["SatisfactionMeta", "compare_satisfaction_runs"]


@dataclass(frozen=True, slots=True)
class SatisfactionMeta:
    """What was found of the judges, and what their page shows."""

    judges: SeveralJudges
    runs: tuple[Predictions, ...]
    view: SeveralView

    def to_json(self) -> dict[str, Any]:
        """Write the judges, and what each run is."""
        told = [
            {
                "name": r.name,
                "judge": r.judge,
                "calibration": r.calibration,
                "scored": len(r.scored),
                "failed": r.failed,
                "without_history": r.without_history,
            }
            for r in self.runs
        ]
        return {"runs": told, **self.judges.to_json()}


def compare_satisfaction_runs(
    paths: Sequence[str],
    names: Sequence[str],
    ratings: RatingTable | None,
    *,
    rated: str | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> SatisfactionMeta | None:
    """Compare the judges of satisfaction runs; None when one of the runs is of another kind.

    Args:
        paths: Run directories.
        names: What each is called.
        ratings: People's, in place of those inside the runs.
        rated: The rated dimension, where it is not the one that the run was judged on.
        draws: Bootstrap draws of users.
        seed: Of the draws.

    Raises:
        UsageError: The ids of predictions and ratings do not match, or the runs share no turn.
    """
    runs: list[Predictions] = []
    summaries: list[Mapping[str, Any]] = []
    for path, name in zip(paths, names, strict=True):
        with open_run(path) as run:
            settings = run.manifest["settings"]
            if "calibrate" not in settings:
                return None
            about = Predictions(name, run.manifest["judge"]["name"], settings["calibrate"])
            dimension = rated or settings.get("dimension", "satisfaction")
            runs.append(collect_predictions(about, _judged(run, ratings), dimension))
            summaries.append(run.directory.read_json("summary"))
    found = compare_runs(runs, draws=draws, seed=seed)
    return SatisfactionMeta(found, tuple(runs), several_view(runs, summaries, found))


def _judged(
    run: FinishedRun, ratings: RatingTable | None
) -> Iterator[tuple[Conversation, list[Mapping[str, Any]]]]:
    """Yield the conversations with the ratings that count."""
    given = None if ratings is None else ratings_as_stored(run.database, ratings)
    for conversation, rows in run.judged():
        if given is None:
            yield conversation, rows
        else:
            yield replace(conversation, ratings=given.for_conversation(conversation.id)), rows
