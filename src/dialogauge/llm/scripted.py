"""Clients without a model: replies from a script or from a user's function."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from dialogauge.core.errors import ConfigError
from dialogauge.core.judgement import Usage
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest

Line = str | ChatReply | ChatFailure
Script = Sequence[Line] | Mapping[str, Line] | Callable[[ChatRequest], Line]


class ScriptedClient:
    """Replies from a script, for tests and examples.

    A sequence is used once, in order. A mapping replies with the first entry whose key is in the last
    message. A function is called with the request. A string counts as one call without tokens.
    """

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        self._script = script
        self.name = name
        self.requests: list[ChatRequest] = []
        """All requests, in order."""

    def describe(self) -> Mapping[str, Any]:
        """Return kind and name."""
        return {"kind": "scripted", "model": self.name}

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Return the next line; raises `ConfigError` when the script has none."""
        self.requests.append(request)
        line = self._line(request)
        return ChatReply(line, usage=Usage(calls=1), model=self.name) if isinstance(line, str) else line

    async def close(self) -> None:
        """Do nothing."""

    def _line(self, request: ChatRequest) -> Line:
        script = self._script
        if isinstance(script, Mapping):
            text = str(request.messages[-1].get("content", ""))
            entry = next((line for part, line in script.items() if part in text), None)
            if entry is None:
                message = f"the script of {self.name!r} has no entry for {text[:80]!r}"
                raise ConfigError(message)
            return entry
        if not isinstance(script, Sequence):
            return script(request)
        position = len(self.requests) - 1
        if position >= len(script):
            message = f"the script of {self.name!r} has run out after {len(script)} replies"
            raise ConfigError(message)
        line: Line = script[position]
        return line


class CallableClient:
    """Replies from a user's function: messages in, reply out.

    A plain function runs in a thread, a coroutine function in the event loop. An exception fails the one
    request.
    """

    def __init__(
        self,
        function: Callable[[list[dict[str, Any]]], str | Awaitable[str]],
        *,
        name: str | None = None,
    ) -> None:
        self._function = function
        self.name: str = name or str(getattr(function, "__name__", "callable"))

    def describe(self) -> Mapping[str, Any]:
        """Return kind, name and the function's module."""
        module = getattr(self._function, "__module__", None)
        return {"kind": "callable", "model": self.name, "module": module}

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Call the function with the messages."""
        messages = [dict(message) for message in request.messages]
        try:
            text = await self._call(messages)
        except Exception as error:  # noqa: BLE001 (foreign code: any error fails this request only)
            message = f"{self.name} raised {type(error).__name__}: {error}"
            return ChatFailure("judge_error", message, Usage(calls=1))
        if not isinstance(text, str):
            message = f"{self.name} returned {type(text).__name__}, not a string"
            return ChatFailure("judge_error", message, Usage(calls=1))
        return ChatReply(text, usage=Usage(calls=1), model=self.name)

    async def close(self) -> None:
        """Do nothing."""

    async def _call(self, messages: list[dict[str, Any]]) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(messages)
        answer = await asyncio.to_thread(self._function, messages)
        return await answer if inspect.isawaitable(answer) else answer
