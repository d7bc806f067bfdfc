"""Judges: what turns a conversation into judgements or failures."""

from dialogauge.judge.parse import parse_reply
from dialogauge.judge.parsed import ParsedPart, ParsedReply, ReplyFault
from dialogauge.judge.rubric_judge import RubricJudge
from dialogauge.judge.verdict import card_verdict
from dialogauge.judge.windows import plan_windows

__all__ = [
    "ParsedPart",
    "ParsedReply",
    "ReplyFault",
    "RubricJudge",
    "card_verdict",
    "parse_reply",
    "plan_windows",
]
