"""Ground floor: the records that everything else speaks in.

Names load on first use: a command starts with the errors and settings alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.core.conversation import ROLES as ROLES
    from dialogauge.core.conversation import Conversation as Conversation
    from dialogauge.core.conversation import Message as Message
    from dialogauge.core.conversation import PairRating as PairRating
    from dialogauge.core.conversation import Rating as Rating
    from dialogauge.core.conversation import Role as Role
    from dialogauge.core.conversation import ToolCall as ToolCall
    from dialogauge.core.conversation import Turn as Turn
    from dialogauge.core.errors import BudgetSpent as BudgetSpent
    from dialogauge.core.errors import ConfigError as ConfigError
    from dialogauge.core.errors import DialogaugeError as DialogaugeError
    from dialogauge.core.errors import EndpointError as EndpointError
    from dialogauge.core.errors import FileFault as FileFault
    from dialogauge.core.errors import InputError as InputError
    from dialogauge.core.errors import MissingExtra as MissingExtra
    from dialogauge.core.errors import NotConverged as NotConverged
    from dialogauge.core.errors import Place as Place
    from dialogauge.core.errors import RecordFault as RecordFault
    from dialogauge.core.errors import RubricError as RubricError
    from dialogauge.core.errors import StoreError as StoreError
    from dialogauge.core.errors import UsageError as UsageError
    from dialogauge.core.judgement import Evidence as Evidence
    from dialogauge.core.judgement import FailureKind as FailureKind
    from dialogauge.core.judgement import Judged as Judged
    from dialogauge.core.judgement import JudgeFailure as JudgeFailure
    from dialogauge.core.judgement import Judgement as Judgement
    from dialogauge.core.judgement import Level as Level
    from dialogauge.core.judgement import Target as Target
    from dialogauge.core.judgement import Usage as Usage
    from dialogauge.core.judgement import Verdict as Verdict
    from dialogauge.core.protocols import DimensionSpec as DimensionSpec
    from dialogauge.core.protocols import Judge as Judge
    from dialogauge.core.protocols import PlainDimension as PlainDimension
    from dialogauge.core.protocols import Record as Record
    from dialogauge.core.protocols import Request as Request
    from dialogauge.core.scores import NOT_APPLICABLE as NOT_APPLICABLE
    from dialogauge.core.scores import ONE_TO_FIVE as ONE_TO_FIVE
    from dialogauge.core.scores import NotApplicable as NotApplicable
    from dialogauge.core.scores import Number as Number
    from dialogauge.core.scores import Scale as Scale
    from dialogauge.core.scores import Score as Score
    from dialogauge.core.scores import as_scores as as_scores
    from dialogauge.core.scores import whole_score as whole_score
    from dialogauge.core.unit import WorkUnit as WorkUnit
    from dialogauge.core.unit import conversation_digest as conversation_digest
    from dialogauge.core.unit import digest as digest
    from dialogauge.core.unit import digest_text as digest_text

__getattr__ = loading(__name__)
