"""Ground floor: the records that everything else speaks in.

Names load on first use: a command starts with the errors and settings alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.core.conversation import (
        ROLES,
        Conversation,
        Message,
        PairRating,
        Rating,
        Role,
        ToolCall,
        Turn,
    )
    from dialogauge.core.errors import (
        BudgetSpent,
        ConfigError,
        DialogaugeError,
        EndpointError,
        FileFault,
        InputError,
        MissingExtra,
        NotConverged,
        Place,
        RecordFault,
        RubricError,
        StoreError,
        UsageError,
    )
    from dialogauge.core.judgement import (
        Evidence,
        FailureKind,
        Judged,
        JudgeFailure,
        Judgement,
        Level,
        Target,
        Usage,
        Verdict,
        VerdictBasis,
    )
    from dialogauge.core.protocols import Agent, DimensionSpec, Judge, PlainDimension, Record, Request
    from dialogauge.core.scores import (
        NOT_APPLICABLE,
        ONE_TO_FIVE,
        NotApplicable,
        Number,
        Scale,
        Score,
        as_scores,
        score_of,
        whole_score,
    )
    from dialogauge.core.unit import WorkUnit, conversation_digest, digest, digest_text

__all__ = [
    "NOT_APPLICABLE",
    "ONE_TO_FIVE",
    "ROLES",
    "Agent",
    "BudgetSpent",
    "ConfigError",
    "Conversation",
    "DialogaugeError",
    "DimensionSpec",
    "EndpointError",
    "Evidence",
    "FailureKind",
    "FileFault",
    "InputError",
    "Judge",
    "JudgeFailure",
    "Judged",
    "Judgement",
    "Level",
    "Message",
    "MissingExtra",
    "NotApplicable",
    "NotConverged",
    "Number",
    "PairRating",
    "Place",
    "PlainDimension",
    "Rating",
    "Record",
    "RecordFault",
    "Request",
    "Role",
    "RubricError",
    "Scale",
    "Score",
    "StoreError",
    "Target",
    "ToolCall",
    "Turn",
    "Usage",
    "UsageError",
    "Verdict",
    "VerdictBasis",
    "WorkUnit",
    "as_scores",
    "conversation_digest",
    "digest",
    "digest_text",
    "score_of",
    "whole_score",
]

__getattr__ = loading(__name__)
