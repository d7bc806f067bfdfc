"""`report` and `show`: the page of a finished run written anew, and one conversation of it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from dialogauge.app.command import entry_of
from dialogauge.app.entries import SHOWN
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.settings import ShowOptions
from dialogauge.core.errors import StoreError
from dialogauge.report import Block, Page, html_bytes
from dialogauge.runs import OPEN, Privacy, StoredRun, open_run
from dialogauge.runs.directory import write_whole
from dialogauge.studies.judging.report import stored_page
from dialogauge.studies.judging.study import JUDGE


def rebuild_report(run: str, out: str | None, privacy: Privacy = OPEN, turns: str | None = None) -> Path:
    """Write the page of a finished run anew, from run file, manifest and summary; masked if asked.

    With `turns`, another run, the scores that it gives single turns stand beside them. Returns the path.
    """
    with ExitStack() as stack:
        finished = stack.enter_context(open_run(run, privacy, studies=SHOWN if turns is None else (JUDGE,)))
        beside = None if turns is None else stack.enter_context(open_run(turns, studies=(JUDGE,)))
        target = finished.directory.file("report") if out is None else output_file(out, but="report")
        spare([target], finished.manifest.settings)
        # One mask for both: each run has a salt of its own, and ids have to meet.
        masked = None if beside is None else replace(beside, mask=finished.mask)
        page = page_of(finished) if masked is None else stored_page(finished, turns=masked)
        write_whole(target, html_bytes(page))
        return target


def page_of(run: StoredRun) -> Page:
    """Return the page of a finished run, whatever its study; StoreError for one that cannot be made anew."""
    page = entry_of(run.manifest.study).page
    if page is None:
        msg = f"the page of a run of {run.manifest.study} cannot be written anew"
        raise StoreError(msg, hint="give its command again")
    return page(run)


def conversation_of(options: ShowOptions) -> tuple[Block, ...]:
    """Return a conversation of a run with what is said of it, for each candidate one.

    Raises:
        StoreError: There is no finished run.
        UsageError: The run holds no such conversation or turn.
    """
    with open_run(options.run, options.privacy, studies=SHOWN) as run:
        return entry_of(run.manifest.study).shown(run, options.id, options.turn)
