"""A better reply at the fork, written by a model that is shown what the judge found."""

from __future__ import annotations

from typing import Any

import orjson

from dialogauge.llm import ChatClient, ChatFailure, ChatRequest, ReplySchema, Structured, ask
from dialogauge.optimise.forks import Fork
from dialogauge.prompts import own_template, render, split_template

__all__ = ["Repaired", "repair"]

_SCHEMA = ReplySchema(
    "repaired_reply",
    {
        "type": "object",
        "properties": {"reply": {"type": "string"}},
        "required": ["reply"],
        "additionalProperties": False,
    },
)

Repaired = Structured[str] | ChatFailure


async def repair(client: ChatClient, fork: Fork, *, language: str) -> Repaired:
    """Ask a model for the reply that should have stood at the fork.

    Returns a failure when the model gives none, an empty one, or the rejected one again.
    """
    template = split_template(own_template("repair", language))
    values = {
        "dialogue": "\n".join(_json(m) for m in fork.prompt),
        "reply": _json(fork.rejected),
        "issues": _json(list(fork.issues)),
    }
    request = ChatRequest(
        messages=(
            {"role": "system", "content": template.instructions},
            {"role": "user", "content": render(template.data, values)},
        ),
        role="repair",
        schema=_SCHEMA,
    )

    def validate(value: dict[str, Any]) -> str:
        reply = value.get("reply")
        if not isinstance(reply, str) or not reply.strip():
            msg = "reply: a text that is not empty was asked for"
            raise ValueError(msg)
        if reply.strip() == fork.rejected.strip():
            msg = "reply: it is the weak reply again"
            raise ValueError(msg)
        return reply.strip()

    reask = own_template("reask", language)
    return await ask(client, request, validate, reask=lambda error: render(reask, {"error": error}))


def _json(value: object) -> str:
    # "<" is escaped so that a message cannot close the frame that it stands in.
    return orjson.dumps(value).decode().replace("<", "\\u003c")
