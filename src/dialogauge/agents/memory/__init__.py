"""Assistants with a memory: what a memory system must do, systems of ours and of yours, and the agent on top.

`build_memory` makes a system by name, `own_memory` and `EndpointMemory` one of yours. `CheckedMemory` holds
it to its word, and `MemoryAgent` answers from what it gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.agents.memory.agent import MemoryAgent, RecalledDialogue, RecalledTurn
    from dialogauge.agents.memory.building import MEMORY_SYSTEMS, WRITTEN, build_memory
    from dialogauge.agents.memory.checked import CheckedMemory
    from dialogauge.agents.memory.extracting import extract
    from dialogauge.agents.memory.foreign import EndpointMemory, own_memory
    from dialogauge.agents.memory.notes import NotesMemory
    from dialogauge.agents.memory.protocol import (
        Ability,
        Feedback,
        Kind,
        Memory,
        MemoryItem,
        Retrieved,
        Room,
        SystemFault,
        about_tokens,
        items_of,
        whole,
    )
    from dialogauge.agents.memory.systems import (
        FullMemory,
        IndexedMemory,
        MessagesMemory,
        NoMemory,
        OracleMemory,
    )
    from dialogauge.agents.memory.tiers import TiersMemory
    from dialogauge.agents.memory.trained import FirstTurn, TrainedMemory, Tuner
    from dialogauge.agents.memory.vendors.process import VENDORS, start_vendor

__getattr__ = loading(__name__)
