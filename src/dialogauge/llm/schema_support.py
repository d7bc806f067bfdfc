"""Finds out, once per endpoint and model, how a reply's schema can be enforced.

Some endpoints refuse a schema, others answer 200 and ignore it. So the probe asks for a key and a value
that no model would come upon, without naming them in the prompt, and looks whether they are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import orjson

from dialogauge.core.judgement import Usage
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest, ReplySchema
from dialogauge.llm.wire import Rung

RUNGS: Final[tuple[Rung, ...]] = ("json_schema", "json_object", "prompt")

_KEY, _VALUE = "probe_k7", "qx-41"
PROBE: Final = ReplySchema(
    "probe",
    {
        "type": "object",
        "properties": {_KEY: {"type": "string", "enum": [_VALUE]}},
        "required": [_KEY],
        "additionalProperties": False,
    },
)
_QUESTIONS: Final[Mapping[Rung, str]] = {
    "json_schema": "Reply with a JSON object.",
    "json_object": "Which city is the capital of France? The format of the reply is JSON.",
}
_UNSETTLED_PROBES = 2

Ask = Callable[[ChatRequest, Rung], Awaitable[ChatReply | ChatFailure]]


def obeys(rung: Rung, text: str) -> bool:
    """Say whether the reply to the probe shows that the endpoint enforced what it was asked for."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    if rung == "json_schema":
        return bool(value == {_KEY: _VALUE})
    return isinstance(value, dict)


class SchemaLadder:
    """JSON schema, else any JSON object, else the prompt alone: the highest rung that holds.

    The first request with a schema probes, the others wait for it. A rung that is refused later is left
    for the next lower one, for good.
    """

    def __init__(self, forced: Rung | None = None) -> None:
        self._rung: Rung | None = forced
        self._findings: dict[str, str] = {} if forced is None else {forced: "set by the user"}
        self._lock = asyncio.Lock()
        self._unsettled = 0

    @property
    def rung(self) -> Rung:
        """The rung to use; the prompt alone while nothing is settled."""
        return self._rung or "prompt"

    def describe(self) -> dict[str, Any]:
        """Return the rung (None before the probe) and what was found on each."""
        return {"rung": self._rung, "findings": dict(self._findings)}

    async def settle(self, ask: Ask, role: str = "judge") -> Usage:
        """Probe unless that has been done; returns what the probe took, nothing for those who waited.

        Args:
            ask: Sends one request on one rung. A failure means that the rung is refused.
            role: The role that pays for the probe.
        """
        if self._settled():
            return Usage()
        async with self._lock:
            # Someone else may have probed while this one waited.
            return Usage() if self._settled() else await self._probe(ask, role)

    def demote(self, refused: Rung, reason: str) -> bool:
        """Leave a rung that was refused at run time; False when there is none below it."""
        if refused == "prompt":
            return False
        if self._rung in (None, refused):
            self._rung = RUNGS[RUNGS.index(refused) + 1]
            self._findings[refused] = f"refused later: {reason}"
        return True

    def _settled(self) -> bool:
        return self._rung is not None

    async def _probe(self, ask: Ask, role: str) -> Usage:
        usage = Usage()
        answered = False
        for rung, question in _QUESTIONS.items():
            message = {"role": "user", "content": question}
            outcome = await ask(ChatRequest((message,), role=role, schema=PROBE), rung)
            usage += outcome.usage
            if isinstance(outcome, ChatReply):
                answered = True
                if obeys(rung, outcome.text):
                    self._findings[rung] = "obeyed"
                    self._rung = rung
                    return usage
                self._findings[rung] = "accepted, but ignored"
            else:
                answered = answered or outcome.kind == "rejected"
                self._findings[rung] = f"refused: {outcome.message}"
        self._unsettled += not answered
        if answered or self._unsettled >= _UNSETTLED_PROBES:
            self._rung = "prompt"
        return usage
