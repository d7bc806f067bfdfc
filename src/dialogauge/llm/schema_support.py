"""A probe, once per endpoint and model, of how a reply's schema can be enforced.

Some endpoints refuse a schema, others answer 200 and ignore it. So the schema of the probe has a key and a
value that are not in the prompt and that no model would guess; the reply must contain them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import orjson

from dialogauge.core.judgement import Usage
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest, ReplySchema
from dialogauge.llm.wire import Rung

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
QUESTIONS: Final[Mapping[Rung, str]] = {
    "json_schema": "Reply with a JSON object.",
    "json_object_schema": "Reply with a JSON object.",
    "json_object": "Which city is the capital of France? The format of the reply is JSON.",
}
_UNSETTLED_PROBES = 2

Ask = Callable[[ChatRequest, Rung], Awaitable[ChatReply | ChatFailure]]


def obeys(rung: Rung, text: str) -> bool:
    """Say whether the reply to the probe proves that the endpoint enforces the rung."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    if rung in ("json_schema", "json_object_schema"):
        return bool(value == {_KEY: _VALUE})
    return isinstance(value, dict)


class SchemaLadder:
    """The highest rung that works: JSON schema in one of two forms, any JSON object, else the prompt alone.

    The first request with a schema probes, and the others wait for it. If the endpoint refuses a rung later,
    a lower one replaces it.
    """

    def __init__(self, forced: Rung | None = None) -> None:
        self._rung: Rung | None = forced
        self._findings: dict[str, str] = {} if forced is None else {forced: "set by the user"}
        self._lock = asyncio.Lock()
        self._unsettled = 0

    @property
    def rung(self) -> Rung:
        """The rung to use; the prompt alone before the probe."""
        return self._rung or "prompt"

    @property
    def settled(self) -> bool:
        """Whether nobody need probe."""
        return self._rung is not None

    def describe(self) -> dict[str, Any]:
        """Return the rung (None before the probe) and the finding on each rung."""
        return {"rung": self._rung, "findings": dict(self._findings)}

    async def settle(self, ask: Ask, role: str = "judge") -> Usage:
        """Probe if nobody has yet; return the usage of the probe, or none.

        `ask` sends one request on one rung; its failure means that the endpoint refuses the rung.
        """
        async with self._lock:  # other requests wait for the one that probes
            return Usage() if self._rung is not None else await self._probe(ask, role)

    def replace(self, refused: Rung, rung: Rung, reason: str) -> None:
        """Use a lower rung from now on."""
        if self._rung in (None, refused):
            self._rung = rung
            self._findings[refused] = f"refused later: {reason}"

    def reopen(self) -> None:
        """Probe again if a rung was refused: what was refused may have been another part of the request."""
        if any(finding.startswith("refused:") for finding in self._findings.values()):
            self._rung = None
            self._findings.clear()

    async def _probe(self, ask: Ask, role: str) -> Usage:
        usage = Usage()
        answered = False
        for rung, question in QUESTIONS.items():
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
