"""The store: one SQLite file a run, and the directory around it."""

from dialogauge.store.codec import decode_conversation, encode_conversation
from dialogauge.store.database import RunDatabase, StoredUnit
from dialogauge.store.directory import FILES, RunDirectory
from dialogauge.store.replay import REFERENCE, ReplayDatabase, StoredReply, StoredScore
from dialogauge.store.rows import ROW_FIELDS, judged_of, row_json, usage_json

__all__ = [
    "FILES",
    "REFERENCE",
    "ROW_FIELDS",
    "ReplayDatabase",
    "RunDatabase",
    "RunDirectory",
    "StoredReply",
    "StoredScore",
    "StoredUnit",
    "decode_conversation",
    "encode_conversation",
    "judged_of",
    "row_json",
    "usage_json",
]
