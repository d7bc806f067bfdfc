"""Reading and writing conversations and ratings: formats, field maps, data sets."""

from __future__ import annotations

from dialogauge.data.datasets import DATA_SETS, DataSet, find_data_set
from dialogauge.data.field_map import FieldMap, read_field_map
from dialogauge.data.formats import format_names
from dialogauge.data.formats.recllmsim import RECLLMSIM_TASKS, published_turn_ids
from dialogauge.data.formats.tau import tau_conversation_id
from dialogauge.data.inspection import VERY_SHORT_REPLY, InputReport, Lengths, inspect_conversations
from dialogauge.data.masking import Mask
from dialogauge.data.notes import Note, NoteKind
from dialogauge.data.personal_survey import PersonalConversation, PersonalReport
from dialogauge.data.rating_files import read_ratings
from dialogauge.data.rating_table import RatingTable, off_scale
from dialogauge.data.reader import ConversationReader, FileRead, read_conversations
from dialogauge.data.replies import ReplyRecord, read_replies
from dialogauge.data.splits import UserSplit, read_split, split_users
from dialogauge.data.turn_map import assistant_turns, message_turns
from dialogauge.data.writer import conversation_record, write_conversations

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
    "RatingTable",
    "ReplyRecord",
    "UserSplit",
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
    "write_conversations",
]
