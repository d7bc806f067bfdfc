"""User memory: what a judge knows of how one user rates (PersTurnBench, section 3.2)."""

from dialogauge.judges.personal.baselines import (
    HISTORY_JUDGES,
    SATISFACTION,
    STRATEGIES,
    Guess,
    HistoryJudge,
    Strategy,
    build_history_judge,
)
from dialogauge.judges.personal.memory import (
    Findings,
    MemoryFault,
    ScoreScale,
    ShownHistory,
    UserMemory,
    findings_schema,
    memory_text,
    read_findings,
    shown_history,
    shown_turn,
)
from dialogauge.judges.personal.memory_build import ROLE, MemoryContext, build_memory, memory_version
from dialogauge.judges.personal.spur import (
    InducedCriteria,
    InductionSettings,
    SpurCriteria,
    draw_examples,
    induce,
)

__all__ = [
    "HISTORY_JUDGES",
    "ROLE",
    "SATISFACTION",
    "STRATEGIES",
    "Findings",
    "Guess",
    "HistoryJudge",
    "InducedCriteria",
    "InductionSettings",
    "MemoryContext",
    "MemoryFault",
    "ScoreScale",
    "ShownHistory",
    "SpurCriteria",
    "Strategy",
    "UserMemory",
    "build_history_judge",
    "build_memory",
    "draw_examples",
    "findings_schema",
    "induce",
    "memory_text",
    "memory_version",
    "read_findings",
    "shown_history",
    "shown_turn",
]
