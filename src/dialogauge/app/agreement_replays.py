"""Replay runs in, which of two replies their evaluators prefer out: beside what people chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dialogauge.core.conversation import PairRating
from dialogauge.core.errors import UsageError
from dialogauge.data import votes_in
from dialogauge.runs import open_run
from dialogauge.studies.agreement.targets import Panel
from dialogauge.studies.replay.answers import ANSWER


def is_replay(path: str) -> bool:
    """Whether a run is one of `replay`."""
    with open_run(path) as run:
        return run.manifest.study == ANSWER


def add_replays(paths: Sequence[str], out: Panel) -> None:
    """Add the evaluators of replay runs, on whatever people were asked about the replies.

    Raises:
        UsageError: Nobody scored a run, or no person chose between two replies.
    """
    asked = dict.fromkeys(vote.dimension for vote in out.people_votes)
    for path in paths:
        if not asked:
            msg = f"{path} is a replay run, and there are no choices of people between two replies"
            hint = f"dialogauge annotate make {path} --pairs --raters 2 -o DIR; then --ratings DIR"
            raise UsageError(msg, hint=hint)
        for dimension in asked:
            pairs = (replace(pair, dimension=dimension) for pair in _preferences(path))
            out.judge_votes += votes_in(pairs)


def _preferences(path: str) -> list[PairRating]:
    from dialogauge.studies.replay.preferred import preferences

    with open_run(path) as run:
        return list(preferences(run))
