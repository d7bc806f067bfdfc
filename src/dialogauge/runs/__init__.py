"""Runs: carrying a study out, keeping what came of it, and reading it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.runs.directory import FILES, RunDirectory
    from dialogauge.runs.execute import Outcome, Progress, StopSignal, run_work, stop_on_interrupt
    from dialogauge.runs.manifest import Manifest, versions
    from dialogauge.runs.privacy import OPEN, Privacy, key_of, ratings_as_stored
    from dialogauge.runs.produced import Produced
    from dialogauge.runs.records import judged_of, standing
    from dialogauge.runs.run import Row, StoredRun, expect_study, open_run, read_manifest, under_one_key
    from dialogauge.runs.store import RunDatabase, StoredUnit
    from dialogauge.runs.study import (
        Ending,
        Observer,
        RunSettings,
        Study,
        StudyFacts,
        StudyRun,
        run_study,
        units_left,
    )

__getattr__ = loading(__name__)
