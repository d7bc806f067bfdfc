"""A scripted judge of satisfaction: replies that fit the schema of whatever a request asks for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from servers.schemas import instance

Body = dict[str, Any]


def contented(score: Callable[[Body], int] | int = 4) -> Callable[[Body], str]:
    """Return a judge that gives this score, with a reason that fits it.

    Args:
        score: The score, or what makes it from the request.
    """

    def reply(body: Body) -> str:
        wanted = body.get("response_format", {}).get("json_schema")
        if wanted is None:
            return "Quite content."
        value = instance(wanted["schema"])
        if "scores" in value:
            given = score if isinstance(score, int) else score(body)
            value["scores"]["satisfaction"] = given
            fits = {"reason": ("other", "satisfied"), "boundary_side": ("dsat", "sat")}
            value |= {name: words[given >= 4] for name, words in fits.items() if name in value}
        return json.dumps(value)

    return reply


def shown_to(body: Body) -> str:
    """Return all that stands in the messages of a request."""
    return "\n".join(m["content"] for m in body["messages"])
