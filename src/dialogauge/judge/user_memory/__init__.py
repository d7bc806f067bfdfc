"""User memory: what a judge knows of how one user rates (PersTurnBench, section 3.2)."""

from dialogauge.judge.user_memory.build import ROLE, build_memory, memory_version
from dialogauge.judge.user_memory.evidence import Evidence, evidence_of, shown_turn
from dialogauge.judge.user_memory.faults import MemoryFault
from dialogauge.judge.user_memory.knowledge import MemoryKnowledge
from dialogauge.judge.user_memory.record import Findings, UserMemory, findings_schema, read_findings
from dialogauge.judge.user_memory.scale import ScoreScale
from dialogauge.judge.user_memory.words import memory_text

__all__ = [
    "ROLE",
    "Evidence",
    "Findings",
    "MemoryFault",
    "MemoryKnowledge",
    "ScoreScale",
    "UserMemory",
    "build_memory",
    "evidence_of",
    "findings_schema",
    "memory_text",
    "memory_version",
    "read_findings",
    "shown_turn",
]
