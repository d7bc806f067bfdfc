"""Ground floor: the records that everything else speaks in.

Names load on first use: a command starts with the errors and settings alone.
"""

from dialogauge.core.facade import loading

TYPE_CHECKING = False  # as in the face of the package
if TYPE_CHECKING:
    from dialogauge.core.conversation import (
        ROLES,
        Conversation,
        Message,
        PairRating,
        Rating,
        Role,
        ToolCall,
        ToolStep,
        Turn,
    )
    from dialogauge.core.errors import (
        BudgetSpent,
        ConfigError,
        DialogaugeError,
        DialogueTooLong,
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
    from dialogauge.core.files import alike_file, read_text, shown_path
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
    )
    from dialogauge.core.protocols import DimensionSpec, Judge, PlainDimension, Record, Request
    from dialogauge.core.scores import (
        DECIMALS,
        NOT_APPLICABLE,
        ONE_TO_FIVE,
        NotApplicable,
        Number,
        Scale,
        Score,
        as_scores,
        round_score,
        whole_score,
    )
    from dialogauge.core.unit import WorkUnit, conversation_digest, digest, digest_text

__getattr__ = loading(__name__)
