"""The store: one SQLite file a run, and the directory around it."""

from dialogauge.runs.directory import FILES, RunDirectory
from dialogauge.runs.execute import (
    Outcome,
    Progress,
    Sink,
    StopSignal,
    Work,
    run_units,
    run_work,
    stop_on_interrupt,
)
from dialogauge.runs.records import (
    ROW_FIELDS,
    decode_conversation,
    encode_conversation,
    judged_of,
    row_json,
    usage_json,
)
from dialogauge.runs.replay import REFERENCE, ReplayDatabase, StoredReply, StoredScore
from dialogauge.runs.store import RunDatabase, StoredUnit

__all__ = [
    "FILES",
    "REFERENCE",
    "ROW_FIELDS",
    "Outcome",
    "Progress",
    "ReplayDatabase",
    "RunDatabase",
    "RunDirectory",
    "Sink",
    "StopSignal",
    "StoredReply",
    "StoredScore",
    "StoredUnit",
    "Work",
    "decode_conversation",
    "encode_conversation",
    "judged_of",
    "row_json",
    "run_units",
    "run_work",
    "stop_on_interrupt",
    "usage_json",
]
