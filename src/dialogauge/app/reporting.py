"""The page of a run: what its head says, and writing it, now or anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from dialogauge.app.privacy import OPEN, Privacy
from dialogauge.app.runs import FinishedRun, open_run
from dialogauge.bench.judging import Summary, summarise, view_of
from dialogauge.core.conversation import Conversation
from dialogauge.report import About, ReportView, render_report
from dialogauge.store import RunDirectory
from dialogauge.store.directory import write_whole

__all__ = ["rebuild_report", "write_report"]

# What a reader does not need on a page: they stand in the manifest.
_UNSHOWN = frozenset({"inputs", "role", "out", "rubric", "judge", "mode"})


def write_report(
    directory: RunDirectory,
    summary: Summary,
    manifest: Mapping[str, Any],
    rows: Callable[[], Iterable[Mapping[str, Any]]],
    fetch: Callable[[Collection[str]], list[Conversation]],
    out: Path | None = None,
) -> ReportView:
    """Write the page of a run; return what it shows."""
    view = view_of(summary, rows, fetch, about=_about(directory, manifest))
    write_whole(out or directory.file("report"), [render_report(view).encode("utf-8", "replace")])
    return view


def rebuild_report(run: str, out: str | None, privacy: Privacy = OPEN) -> Path:
    """Write the page of a finished run anew, from its database and manifest; masked if asked."""
    with open_run(run, privacy) as finished:
        summary = summary_of(finished)
        target = finished.directory.file("report") if out is None else Path(out)
        write_report(
            finished.directory, summary, finished.manifest, finished.rows, finished.conversations, target
        )
        return target


def summary_of(run: FinishedRun) -> Summary:
    """Compute the summary of a finished run from its rows."""
    settings, shown = run.manifest["settings"], run.manifest["unreadable_records"]
    return summarise(
        run.rows(),
        dimensions=run.dimensions,
        # The manifest keeps the first messages; the others still count.
        unreadable=[*shown, *[""] * (run.manifest["unreadable"] - len(shown))],
        pending=-(-run.manifest["pending_units"] // settings["repeats"]),
        repeats=settings["repeats"],
    )


def _about(directory: RunDirectory, manifest: Mapping[str, Any]) -> About:
    settings, judge = manifest["settings"], manifest["judge"]
    role = settings.get("role") or {}
    return About(
        title=directory.path.resolve().name,
        judge=judge["name"],
        rubric=settings["rubric"],
        mode=settings["mode"],
        version=manifest["versions"]["dialogauge"],
        created=manifest["written"][:10],
        model=role.get("model"),
        source=", ".join(settings["inputs"]),
        checked_languages=tuple(judge.get("checked_languages", ())),
        uncalibrated=tuple(judge.get("uncalibrated", ())),
        notes=tuple(judge.get("notes", ())),
        command=manifest.get("command") or "",
        settings=tuple(
            (name, str(value))
            for name, value in sorted(settings.items())
            if name not in _UNSHOWN and value not in (None, False, [], ())
        ),
    )
