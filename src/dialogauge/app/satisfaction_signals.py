"""`--signal RUN`: scores of a judge that reads no rating, taken from another satisfaction run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from dialogauge.app.runs import FinishedRun, open_run
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.app.satisfaction_run import run_directory
from dialogauge.bench.satisfaction import (
    JoinedScores,
    StoredScores,
    Study,
    collect_scores,
    join_scores,
    refuse_strangers,
)
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import UsageError
from dialogauge.judge.user import Signal

__all__ = ["SIGNAL_JUDGES", "join_signals", "read_signals", "signals_of"]

SIGNAL_JUDGES: Final = ("local", "zero-shot", "task-rubric", "prometheus", "no-memory")
"""The judges that read no rating: of others, a score of a turn in a history would tell what its user gave the
target, or what a training user gave that very turn."""


def read_signals(options: SatisfactionOptions, study: Study) -> tuple[StoredScores, ...]:
    """Read what the runs say that were named as signals; nothing where none was.

    Raises:
        UsageError: A run is of another kind or of other data, its judge read ratings or more of a
            conversation than may be read here, or ids are to be hidden.
        StoreError: There is no finished run.
    """
    paths = [Path(run).resolve() for run in options.signals]
    if paths and options.hash_ids:
        msg = "--signal and --hash-ids cannot be combined: every run hides its ids in a way of its own"
        raise UsageError(msg, hint="judge openly, and hide the ids with `dialogauge report RUN --hash-ids`")
    if len(set(paths)) < len(paths):
        msg = "a run is given twice as --signal"
        raise UsageError(msg, hint="a signal counts once")
    if run_directory(options).path.resolve() in paths:
        msg = f"the run would be written over its own signal, {run_directory(options).path}"
        raise UsageError(msg, hint="choose another directory with -o")
    found = tuple(_read(run, options) for run in options.signals)
    for stored in found:
        refuse_strangers(stored, study)
    return found


def join_signals(
    stored: Sequence[StoredScores], study: Study, conversations: Mapping[str, Conversation]
) -> tuple[JoinedScores, ...]:
    """Join what was read with the turns of the study; UsageError when a run is about other words."""
    return tuple(join_scores(run, study, conversations) for run in stored)


def signals_of(joined: Sequence[JoinedScores]) -> tuple[Signal, ...]:
    """Return the scores as `local-user` takes them."""
    return tuple(Signal(run.run, run.scores) for run in joined)


def _read(path: str, options: SatisfactionOptions) -> StoredScores:
    with open_run(path) as run:
        _refuse(path, run, options)
        return collect_scores(path, run.manifest["judge"]["name"], run.judged())


def _refuse(path: str, run: FinishedRun, options: SatisfactionOptions) -> None:
    settings, judge = run.manifest["settings"], run.manifest["judge"]
    who, may = f"{path} (judge {judge['name']})", f"signals are runs of {', '.join(SIGNAL_JUDGES)}"
    if "calibrate" not in settings:
        msg = f"{who} is no satisfaction run"
        raise UsageError(msg, hint=may)
    if "reads" not in judge:
        msg = f"{who} does not say what its judge read"
        hint = "an older version wrote it: give its command again, which asks no model twice"
        raise UsageError(msg, hint=hint)
    if ratings := sorted({"history", "others"} & set(judge["reads"])):
        whose = {"history": "the user's own in other scenarios", "others": "those of other users"}
        told = " and ".join(whose[name] for name in ratings)
        msg = f"{who} was made by reading ratings, {told}: its scores would tell what is to be predicted"
        raise UsageError(msg, hint=may)
    if settings["level"] != "turn":
        msg = f"{who} judged sessions, not replies"
        raise UsageError(msg, hint="judge its data with --level turn")
    if settings["mode"] == "hindsight" and options.mode != "hindsight":
        msg = f"{who} read what followed each reply, which may not be read in foresight"
        raise UsageError(msg, hint="judge with --mode hindsight too, or make the signal without it")
