"""`dialogauge show`: one conversation of a run."""

from __future__ import annotations

from dialogauge.app.settings import ShowOptions
from dialogauge.app.sources import SHOWN
from dialogauge.report import Block, Callout, words
from dialogauge.runs import StoredRun, open_run
from dialogauge.studies.arena.stored import shown_votes
from dialogauge.studies.evidence import evidence_of
from dialogauge.studies.judging.shown import show_conversation


def conversation_of(options: ShowOptions) -> tuple[Block, ...]:
    """Return what `shown_of` does, of a run at a path; raises StoreError where there is none."""
    with open_run(options.run, options.privacy, studies=SHOWN) as run:
        return shown_of(run, options.id, options.turn)


def shown_of(run: StoredRun, id: str, turn: int | None) -> tuple[Block, ...]:
    """Return a conversation of a finished run with what is said of it, for each candidate one.

    Of an arena the dialogue as each agent led it, with the votes on it; of a replay what came before a reply,
    and every reply with its scores.

    Raises UsageError where the run holds no such conversation or turn.
    """
    if run.manifest.study == "arena":
        return shown_votes(run, id, turn)
    if run.manifest.study == "replay":
        from dialogauge.studies.replay.shown import show_states

        return show_states(run, id, turn)
    evidence, transcripts = evidence_of(run), show_conversation(run, id, turn)
    unchecked = [words.name(d.name) for d in run.dimensions if not evidence.of(d.name).checked]
    notice = f"Unchecked scores, to choose what to read: {', '.join(unchecked)}."
    return (*transcripts, Callout((notice,))) if unchecked else transcripts
