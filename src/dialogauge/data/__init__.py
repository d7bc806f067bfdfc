"""Reading and writing conversations and ratings: formats, field maps, data sets."""

from __future__ import annotations

from dialogauge.data.field_map import FieldMap, read_field_map
from dialogauge.data.reader import ConversationReader, FileRead, read_conversations

__all__ = ["ConversationReader", "FieldMap", "FileRead", "read_conversations", "read_field_map"]
