"""The store: one SQLite file a run, and the directory around it."""

from dialogauge.store.codec import decode_conversation, encode_conversation
from dialogauge.store.database import RunDatabase, StoredUnit
from dialogauge.store.directory import FILES, RunDirectory
from dialogauge.store.rows import ROW_FIELDS, judged_of, row_json, usage_json

__all__ = [
    "FILES",
    "ROW_FIELDS",
    "RunDatabase",
    "RunDirectory",
    "StoredUnit",
    "decode_conversation",
    "encode_conversation",
    "judged_of",
    "row_json",
    "usage_json",
]
