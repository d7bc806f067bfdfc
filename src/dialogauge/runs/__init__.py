"""Runs: carrying a study out, keeping what came of it, and reading it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.runs.directory import FILES as FILES
    from dialogauge.runs.directory import RunDirectory as RunDirectory
    from dialogauge.runs.execute import Outcome as Outcome
    from dialogauge.runs.execute import Progress as Progress
    from dialogauge.runs.execute import StopSignal as StopSignal
    from dialogauge.runs.execute import run_work as run_work
    from dialogauge.runs.execute import stop_on_interrupt as stop_on_interrupt
    from dialogauge.runs.manifest import Manifest as Manifest
    from dialogauge.runs.manifest import versions as versions
    from dialogauge.runs.privacy import OPEN as OPEN
    from dialogauge.runs.privacy import Privacy as Privacy
    from dialogauge.runs.privacy import ratings_as_stored as ratings_as_stored
    from dialogauge.runs.records import judged_of as judged_of
    from dialogauge.runs.run import Row as Row
    from dialogauge.runs.run import StoredRun as StoredRun
    from dialogauge.runs.run import expect_study as expect_study
    from dialogauge.runs.run import open_run as open_run
    from dialogauge.runs.run import read_manifest as read_manifest
    from dialogauge.runs.store import RunDatabase as RunDatabase
    from dialogauge.runs.store import StoredUnit as StoredUnit
    from dialogauge.runs.study import Ending as Ending
    from dialogauge.runs.study import Observer as Observer
    from dialogauge.runs.study import RunSettings as RunSettings
    from dialogauge.runs.study import Study as Study
    from dialogauge.runs.study import StudyFacts as StudyFacts
    from dialogauge.runs.study import StudyRun as StudyRun
    from dialogauge.runs.study import run_study as run_study
    from dialogauge.runs.study import units_left as units_left

__getattr__ = loading(__name__)
