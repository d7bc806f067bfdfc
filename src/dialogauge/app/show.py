"""`dialogauge show`: one conversation of a run."""

from __future__ import annotations

from dialogauge.app.settings import ShowOptions
from dialogauge.app.sources import SHOWN
from dialogauge.report import Block
from dialogauge.runs import open_run
from dialogauge.studies.arena.stored import shown_votes
from dialogauge.studies.judging.shown import show_conversation


def conversation_of(options: ShowOptions) -> tuple[Block, ...]:
    """Return a conversation of a finished run with what is said of it, for each candidate one.

    Of an arena what was said of the meetings on that dialogue.

    Raises StoreError where there is no run, UsageError where it holds no such conversation or turn.
    """
    with open_run(options.run, options.privacy, studies=SHOWN) as run:
        if run.manifest.study == "arena":
            return shown_votes(run, options.id, options.turn)
        return show_conversation(run, options.id, options.turn)
