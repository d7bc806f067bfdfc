"""`runs`: the runs below a folder, each on one line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dialogauge.app.settings import RunsOptions
from dialogauge.core.errors import InputError, StoreError
from dialogauge.report import words
from dialogauge.runs import RunDirectory
from dialogauge.runs.run import stored_manifest


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A finished run, or one that broke off."""

    path: str
    study: str
    judge: str
    """Its name, and the rubric where it has one."""
    conversations: int
    ended: str
    """`finished`, `interrupted`, `budget` or `error`."""
    written: str
    """When, in ISO 8601."""
    headline: str
    """One figure with its n; empty where there is none."""


@dataclass(frozen=True, slots=True)
class RunList:
    """The runs below a folder."""

    runs: tuple[ListedRun, ...]
    """Newest first."""
    skipped: tuple[str, ...]
    """What looks like a run and cannot be read, with why."""


def list_runs(options: RunsOptions) -> RunList:
    """List the runs below a folder; raises InputError where there is no such folder."""
    folder = Path(options.folder)
    if not folder.is_dir():
        msg = f"there is no folder {folder}"
        raise InputError(msg, hint="give the folder that holds your runs, `runs` where -o did not say")
    runs: list[ListedRun] = []
    skipped: list[str] = []
    for path in _run_folders(folder):
        try:
            runs.append(_listed(RunDirectory(path)))
        except StoreError as error:
            skipped.append(str(error))
    return RunList(tuple(sorted(runs, key=lambda run: (run.written, run.path), reverse=True)), tuple(skipped))


def _run_folders(folder: Path) -> Iterator[Path]:
    """Yield what looks like a run; what a run holds is its own, and hidden folders are left alone."""
    for place, folders, _ in os.walk(folder):
        if RunDirectory(Path(place)).exists:
            yield Path(place)
            folders.clear()
        folders[:] = sorted(name for name in folders if not name.startswith("."))


def _listed(directory: RunDirectory) -> ListedRun:
    manifest = stored_manifest(directory)
    part = manifest.facts.get("part")
    judge, rubric = str(manifest.judge.get("name", "")), manifest.judge.get("rubric")
    if part == "replies":  # whose name is a candidate's
        judge = ""
    return ListedRun(
        str(directory.path),
        manifest.study,
        judge if rubric is None or judge.startswith(f"{rubric}/") else f"{judge}, {rubric}",
        manifest.conversations,
        manifest.ended,
        manifest.written,
        _UNCOMPARED.get(str(part)) or _headline(directory.read_json("summary")),
    )


_UNCOMPARED: Final = {"replies": "replies are collected, not scored", "scores": "scored, not compared"}
"""Of a replay, by the part that was done last: what stands where a comparison has its figure."""


def _headline(summary: Mapping[str, Any]) -> str:
    """Return what people said, what was found, or the first checked mean of a run; else its first answer."""
    figures = (summary.get("people") or {}).get("figures") or []
    if figures and (mean := figures[0]["mean"]["value"]) is not None:
        return f"rated {figures[0]['what']} {mean:.2f} (n {figures[0]['n']:,})"
    if findings := summary.get("findings"):
        return f"{findings['with_finding']:,} of {findings['conversations']:,} with a finding"
    dimensions = summary.get("dimensions")
    for name, of in dimensions.items() if isinstance(dimensions, dict) else ():
        checked = isinstance(of, dict) and of.get("checked")
        if checked and isinstance(mean := of.get("mean"), int | float):
            return f"{words.name(name)} {mean:.2f} (n {of.get('n', 0):,})"
    if dimensions and "scored" in summary:
        return f"scored {summary['scored']:,}, failed {summary['failed']:,}; nothing is checked"
    replay = next(iter(dimensions.values())) if dimensions else summary
    if replay.get("ranked") is False:
        return "not ranked: the evaluator is not checked"
    if isinstance(views := replay.get("views"), dict):
        return _against_the_log(views["raw"], next(iter(dimensions), "") if dimensions else "satisfaction")
    answers = [str(answer) for answer in summary.get("answers") or ()]
    first = answers[0].partition(": ")[0] if answers else ""
    return f"unchecked: {answers[1]}" if first == "UNCHECKED" else first


def _against_the_log(view: Mapping[str, Any], dimension: str) -> str:
    """Return the best candidate of a replay beside the replies of the log; empty where none was scored."""
    means = {name: of["user_macro"] for name, of in view["candidates"].items()}
    best = next((name for name, mean in means.items() if name != "original" and mean is not None), None)
    if best is None:
        return ""
    n = f"(n {view['candidates'][best]['n']:,})"
    own = "" if dimension == "preferred" else f", original {words.decimal(means['original'], 2)}"
    return f"{words.name(dimension)}: {best} {means[best]:.2f}{own} {n}"
