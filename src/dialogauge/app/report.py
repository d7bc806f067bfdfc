"""`dialogauge report`: the page of a finished run, written anew."""

from __future__ import annotations

from pathlib import Path

from dialogauge.app.outputs import output_file, spare
from dialogauge.app.sources import SHOWN
from dialogauge.report import Page, html_bytes
from dialogauge.runs import OPEN, Privacy, StoredRun, open_run
from dialogauge.runs.directory import write_whole


def rebuild_report(run: str, out: str | None, privacy: Privacy = OPEN) -> Path:
    """Write the page of a finished run anew, from run file, manifest and summary; masked if asked.

    Returns the path of the page.
    """
    with open_run(run, privacy, studies=SHOWN) as finished:
        target = finished.directory.file("report") if out is None else output_file(out, but="report")
        spare([target], finished.manifest.settings)
        write_whole(target, html_bytes(page_of(finished)))
        return target


def page_of(run: StoredRun) -> Page:
    """Return the page of a finished run, whatever its study."""
    if run.manifest.study == "satisfaction":
        from dialogauge.studies.satisfaction.page import stored_page
    elif run.manifest.study == "success":
        from dialogauge.studies.success.page import stored_page
    elif run.manifest.study == "replay":
        from dialogauge.app.replay.compare import stored_page
    elif run.manifest.study == "arena":
        from dialogauge.studies.arena.stored import stored_page
    else:
        from dialogauge.studies.judging.report import stored_page
    return stored_page(run)
