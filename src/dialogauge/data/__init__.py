"""Reading and writing conversations and ratings: formats, field maps, data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.data.datasets import DATA_SETS, DataSet, find_data_set
    from dialogauge.data.field_map import FieldMap, read_field_map
    from dialogauge.data.formats import format_names
    from dialogauge.data.formats.recllmsim import RECLLMSIM_TASKS, published_turn_ids
    from dialogauge.data.formats.tau import tau_conversation_id
    from dialogauge.data.inspection import VERY_SHORT_REPLY, InputReport, Lengths, inspect_conversations
    from dialogauge.data.mask import Mask
    from dialogauge.data.notes import Note, NoteKind
    from dialogauge.data.personal_survey import PersonalConversation, PersonalReport
    from dialogauge.data.rating_files import read_ratings
    from dialogauge.data.ratings import (
        RatedDimensions,
        RatingTable,
        absent_turns,
        off_scale,
        unknown_ids,
        unknown_turns,
    )
    from dialogauge.data.reader import ConversationReader, FileRead, read_conversations
    from dialogauge.data.splits import UserSplit, assistant_turns, message_turns, read_split, split_users
    from dialogauge.data.writer import ReplyRecord, conversation_record, read_replies, write_conversations

__all__ = [
    "DATA_SETS",
    "RECLLMSIM_TASKS",
    "VERY_SHORT_REPLY",
    "ConversationReader",
    "DataSet",
    "FieldMap",
    "FileRead",
    "InputReport",
    "Lengths",
    "Mask",
    "Note",
    "NoteKind",
    "PersonalConversation",
    "PersonalReport",
    "RatedDimensions",
    "RatingTable",
    "ReplyRecord",
    "UserSplit",
    "absent_turns",
    "assistant_turns",
    "conversation_record",
    "find_data_set",
    "format_names",
    "inspect_conversations",
    "message_turns",
    "off_scale",
    "published_turn_ids",
    "read_conversations",
    "read_field_map",
    "read_ratings",
    "read_replies",
    "read_split",
    "split_users",
    "tau_conversation_id",
    "unknown_ids",
    "unknown_turns",
    "write_conversations",
]

_HOMES = {
    "datasets": ("DATA_SETS", "DataSet", "find_data_set"),
    "field_map": ("FieldMap", "read_field_map"),
    "formats": ("format_names",),
    "formats.recllmsim": ("RECLLMSIM_TASKS", "published_turn_ids"),
    "formats.tau": ("tau_conversation_id",),
    "inspection": ("InputReport", "Lengths", "VERY_SHORT_REPLY", "inspect_conversations"),
    "mask": ("Mask",),
    "notes": ("Note", "NoteKind"),
    "personal_survey": ("PersonalConversation", "PersonalReport"),
    "rating_files": ("read_ratings",),
    "ratings": (
        "RatedDimensions",
        "RatingTable",
        "absent_turns",
        "off_scale",
        "unknown_ids",
        "unknown_turns",
    ),
    "reader": ("ConversationReader", "FileRead", "read_conversations"),
    "splits": ("UserSplit", "assistant_turns", "message_turns", "read_split", "split_users"),
    "writer": ("ReplyRecord", "conversation_record", "read_replies", "write_conversations"),
}
__getattr__ = loading(__name__, _HOMES)
