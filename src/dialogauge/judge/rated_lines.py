"""How a rated reply is shown to a judge: one JSON object a line."""

from __future__ import annotations

from dialogauge.judge.dialogue_text import as_json, cut_middle
from dialogauge.judge.personal import RatedReply

__all__ = ["rated_line"]


def rated_line(rated: RatedReply, *, request_chars: int, reply_chars: int) -> str:
    """Write kind of task, request, reply, score and, where there is one, the reason.

    Args:
        rated: The reply and its rating.
        request_chars: A longer request is cut in the middle.
        reply_chars: A longer reply is cut in the middle.
    """
    reply, score = rated.reply, rated.score
    line = {
        "kind": reply.conversation.scenario,
        "request": cut_middle(reply.request, request_chars)[0],
        "reply": cut_middle(reply.text, reply_chars)[0],
        "score": int(score) if float(score).is_integer() else score,
        "reason": rated.reason,
    }
    return as_json({key: value for key, value in line.items() if value is not None})
