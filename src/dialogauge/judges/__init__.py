"""Judges: what turns a conversation into judgements or failures."""

from dialogauge.judges.known_answers import KnownAnswerReport, known_answers
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.judges.rubric.reply import ParsedPart, ParsedReply, ReplyFault, parse_reply
from dialogauge.judges.rubric.rows import card_verdict
from dialogauge.judges.rubric.windows import plan_windows

__all__ = [
    "KnownAnswerReport",
    "ParsedPart",
    "ParsedReply",
    "ReplyFault",
    "RubricJudge",
    "card_verdict",
    "known_answers",
    "parse_reply",
    "plan_windows",
]
