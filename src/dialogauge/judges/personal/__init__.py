"""User memory: what a judge knows of how one user rates (PersTurnBench, section 3.2)."""

from dialogauge.judges.personal.baselines import (
    HISTORY_JUDGES,
    STRATEGIES,
    Guess,
    HistoryJudge,
    Strategy,
    TurnDimension,
    build_history_judge,
)
from dialogauge.judges.personal.memory import (
    Evidence,
    Findings,
    MemoryFault,
    ScoreScale,
    UserMemory,
    evidence_of,
    findings_schema,
    memory_text,
    read_findings,
    shown_turn,
)
from dialogauge.judges.personal.memory_build import ROLE, MemoryKnowledge, build_memory, memory_version
from dialogauge.judges.personal.spur import (
    Criteria,
    InducedCriteria,
    InductionSettings,
    draw_examples,
    induce,
)

__all__ = [
    "HISTORY_JUDGES",
    "ROLE",
    "STRATEGIES",
    "Criteria",
    "Evidence",
    "Findings",
    "Guess",
    "HistoryJudge",
    "InducedCriteria",
    "InductionSettings",
    "MemoryFault",
    "MemoryKnowledge",
    "ScoreScale",
    "Strategy",
    "TurnDimension",
    "UserMemory",
    "build_history_judge",
    "build_memory",
    "draw_examples",
    "evidence_of",
    "findings_schema",
    "induce",
    "memory_text",
    "memory_version",
    "read_findings",
    "shown_turn",
]
