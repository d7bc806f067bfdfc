"""The page of a satisfaction run: the report of its rows, and what the study says of judge and users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dialogauge.data import Mask
from dialogauge.report import ReportView, render_report
from dialogauge.runs import Manifest, StoredRun
from dialogauge.studies.judging import stored_view
from dialogauge.studies.satisfaction.page import satisfaction_view


def render_page(
    view: ReportView, summary: Mapping[str, Any], manifest: Manifest, mask: Mask | None = None
) -> str:
    """Return the page.

    Args:
        view: The report of the rows.
        summary: As `summary.json` holds it.
        manifest: Of the run.
        mask: Hides what the summary holds openly.
    """
    judge, calibration = manifest.judge["name"], manifest.settings["calibrate"]
    if mask is None:
        shown = satisfaction_view(summary, judge, calibration)
    else:
        shown = satisfaction_view(
            summary,
            judge,
            calibration,
            user=lambda name: mask.id("user", name),
            conversation=lambda name: mask.id("conversation", name),
            text=mask.text,
        )
    return render_report(replace(view, satisfaction=shown))


def stored_page(run: StoredRun) -> str:
    """Return the page of a finished run."""
    return render_page(stored_view(run), run.directory.read_json("summary"), run.manifest, run.mask)
