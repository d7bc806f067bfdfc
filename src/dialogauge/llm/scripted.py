"""Clients without a model: replies from a script or from a user's function."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import os
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import ConfigError
from dialogauge.core.judgement import Usage
from dialogauge.llm.identity import function_digest
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

    Whatever the function does, it fails one request: it runs in a thread of its own, a coroutine in a loop of
    its own, and whatever it raises, even what would end a program, is taken for its failure. Of one that does
    not return in time the thread is left behind.
    """

    def __init__(
        self,
        function: Callable[..., str | Awaitable[str]],
        *,
        name: str | None = None,
        patience: float = 600.0,
    ) -> None:
        """Call nothing yet.

        Args:
            function: Takes OpenAI messages, of which it gets a copy; one that takes a session too
                (`takes_session`) gets the id of the dialogue.
            name: Else the function's own.
            patience: Seconds that a call may take.
        """
        self._function = function
        self._code = function_digest(function)
        self._takes_session = takes_session(function)
        self.name: str = name or str(getattr(function, "__name__", "callable"))
        self._patience = patience
        # As many as `asyncio.to_thread` would take.
        self._slots = asyncio.Semaphore(min(32, (os.cpu_count() or 1) + 4))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = asyncio.Event()
        self._starting = threading.Lock()
        self._folder = Path.cwd()

    def describe(self) -> Mapping[str, Any]:
        """Return kind, name, the function's module, and a digest of the file that it stands in."""
        module = getattr(self._function, "__module__", None)
        return {"kind": "callable", "model": self.name, "module": module, "code": self._code}

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Call the function with the messages."""
        messages = [copy.deepcopy(dict(message)) for message in request.messages]
        arguments = (messages, request.session or "") if self._takes_session else (messages,)
        loop = asyncio.get_running_loop()
        settled: asyncio.Future[_Settled] = loop.create_future()

        def settle(answer: _Settled) -> None:
            if not settled.done():  # nobody may be waiting any more
                settled.set_result(answer)

        def work() -> None:
            answer = self._call(*arguments)
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, answer)

        async with self._slots:
            threading.Thread(target=work, name=self.name, daemon=True).start()
            try:
                text, error = await asyncio.wait_for(settled, self._patience)
            except TimeoutError:
                message = f"{self.name} has not returned after {self._patience:g} s"
                return ChatFailure("timeout", message, Usage(calls=1))
        if error is not None:
            return self._failed(f"raised {_said(error)}")
        if not isinstance(text, str):
            return self._failed(f"returned {type(text).__name__}, not a string")
        if len(text) > _MAX_CHARS:
            return self._failed(f"returned {len(text):,} characters, more than {_MAX_CHARS:,}")
        return ChatReply(_whole(text), usage=Usage(calls=1), model=self.name)

    async def close(self) -> None:
        """End the loop of coroutines; what still runs in it is dropped."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._over.set)

    def _failed(self, what: str) -> ChatFailure:
        return ChatFailure("judge_error", f"{self.name} {what}", Usage(calls=1))

    def _call(self, *arguments: object) -> _Settled:
        """Return what the function returns or raises; the working directory stays what it was."""
        try:
            answer = self._function(*arguments)
            if inspect.isawaitable(answer):
                return asyncio.run_coroutine_threadsafe(_settled(answer), self._own_loop()).result()
        except BaseException as error:  # noqa: BLE001 - foreign code: whatever it raises fails this request
            return None, error
        finally:
            with contextlib.suppress(OSError):
                if Path.cwd() != self._folder:
                    os.chdir(self._folder)
        return answer, None

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._serve, args=(self._loop,), name=self.name, daemon=True).start()
            return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(self._over.wait())


def takes_session(function: Callable[..., Any]) -> bool:
    """Say whether a function takes the id of a session behind the messages.

    It does where its second parameter has no default, or is called `session` or `session_id`.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False  # one written in C may not say what it takes
    if len(parameters) < 2 or parameters[1].kind not in _POSITIONAL:
        return False
    return parameters[1].default is inspect.Parameter.empty or parameters[1].name in ("session", "session_id")


_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_Settled = tuple[object, BaseException | None]
"""What a function returned, or what it raised."""
_MAX_CHARS: Final = 8 << 20
_SHOWN_CHARS: Final = 500


async def _settled(answer: Awaitable[object]) -> _Settled:
    try:
        return await answer, None
    except BaseException as error:  # noqa: BLE001 - foreign code: whatever it raises fails this request
        return None, error


def _said(error: BaseException) -> str:
    """Return what was raised in words; the error may not be able to say it itself."""
    text = _whole("".join(traceback.format_exception_only(error)).strip())
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"


def _whole(text: str) -> str:
    """Return a text as plain characters: a surrogate without its half becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
