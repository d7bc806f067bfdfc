"""Runs: carrying a study out, keeping what came of it, and reading it back."""

from dialogauge.runs.directory import FILES, RunDirectory
from dialogauge.runs.execute import (
    Outcome,
    Progress,
    Sink,
    StopSignal,
    UnitResult,
    Work,
    run_work,
    stop_on_interrupt,
)
from dialogauge.runs.manifest import Manifest, versions
from dialogauge.runs.privacy import OPEN, Privacy, mask_for_writing, ratings_as_stored
from dialogauge.runs.records import (
    ROW_FIELDS,
    decode_conversation,
    encode_conversation,
    judged_of,
)
from dialogauge.runs.run import Row, StoredRun, expect_study, open_run, read_manifest
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

__all__ = [
    "FILES",
    "OPEN",
    "ROW_FIELDS",
    "Ending",
    "Manifest",
    "Observer",
    "Outcome",
    "Privacy",
    "Progress",
    "Row",
    "RunDatabase",
    "RunDirectory",
    "RunSettings",
    "Sink",
    "StopSignal",
    "StoredRun",
    "StoredUnit",
    "Study",
    "StudyFacts",
    "StudyRun",
    "UnitResult",
    "Work",
    "decode_conversation",
    "encode_conversation",
    "expect_study",
    "judged_of",
    "mask_for_writing",
    "open_run",
    "ratings_as_stored",
    "read_manifest",
    "run_study",
    "run_work",
    "stop_on_interrupt",
    "units_left",
    "versions",
]
