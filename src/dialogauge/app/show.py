"""`dialogauge show`: one conversation of a run."""

from __future__ import annotations

from dialogauge.app.settings import ShowOptions
from dialogauge.app.sources import JUDGED
from dialogauge.report import Transcript
from dialogauge.runs import open_run
from dialogauge.studies.judging.shown import show_conversation


def conversation_of(options: ShowOptions) -> tuple[Transcript, ...]:
    """Return a conversation of a finished run with what is said of it, for each candidate one.

    Raises StoreError where there is no run, UsageError where it holds no such conversation or turn.
    """
    with open_run(options.run, options.privacy, studies=JUDGED) as run:
        return show_conversation(run, options.id, options.turn)
