"""Memory systems of your own: a class in Python, or a server that speaks a little JSON."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from dialogauge.agents.memory.protocol import (
    Ability,
    Feedback,
    Kind,
    Memory,
    MemoryItem,
    Retrieved,
    Room,
    SystemFault,
)
from dialogauge.core import Conversation, EndpointError, Usage, digest
from dialogauge.core.json_keys import as_json
from dialogauge.llm import JsonEndpoint
from dialogauge.runs.records import conversation_to_json


@dataclass
class _Own(Memory):
    """A class of a user's, which may leave out what it cannot do, and need not be asynchronous.

    It needs `retrieve(question, k)`, which returns texts, mappings with `text` (and `dialogue`, `position`,
    `date`, `speaker`, `score`, `kind`), or `MemoryItem`s. And it needs `add_dialogue(dialogue)`,
    `add_corpus(sessions)` or both. Dialogues come as `{"id", "date", "messages": [{"role", "content"}]}`.
    """

    system: Any
    name: str
    digest: str

    def __post_init__(self) -> None:
        """Look up what it has methods for."""
        self.abilities = frozenset(a for a in get_args(Ability) if callable(getattr(self.system, a, None)))
        if not inspect.iscoroutinefunction(self.system.retrieve):
            self.turn = asyncio.Lock()  # what runs in threads takes one call at a time

    def describe(self) -> Mapping[str, Any]:
        """Return what it says of itself, where it says something."""
        try:
            return {"system": self.name, **getattr(self.system, "describe", dict)()}
        except Exception as error:  # noqa: BLE001 - foreign code; what it says of itself is no answer
            return {"system": self.name, "describe": f"failed: {type(error).__name__}: {error}"}

    async def add_corpus(self, sessions: Sequence[Conversation]) -> Usage:
        """Give it a corpus, at once or one by one."""
        if (add := getattr(self.system, "add_corpus", None)) is None:
            return await super().add_corpus(sessions)
        await called(add, [plain_dialogue(s) for s in sessions])
        return Usage()

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Give it a dialogue, with the feedback where it takes any."""
        add = getattr(self.system, "add_dialogue", None)
        if add is None:
            return await self.add_corpus([conversation])
        more = {"feedback": feedback} if "feedback" in inspect.signature(add).parameters else {}
        await called(add, plain_dialogue(conversation), **more)
        return Usage()

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Ask it, and make items of what it gives."""
        values = await called(self.system.retrieve, question, room.items)
        return as_items(() if values is None else values, self.name, room)

    async def update(self, conversation: Conversation) -> Usage:
        """Let it change a dialogue."""
        await called(self.system.update, plain_dialogue(conversation))
        return Usage()

    async def delete(self, dialogue: str) -> None:
        """Let it forget a dialogue."""
        await called(self.system.delete, dialogue)

    def fork(self) -> _Own:
        """Return one around a fork of it."""
        return _Own(self.system.fork(), self.name, self.digest)

    def save(self, folder: Path) -> None:
        """Let it write itself."""
        self.system.save(folder)

    async def load(self, folder: Path) -> None:
        """Let it read itself."""
        await called(self.system.load, folder)


def own_memory(make: Callable[[], Any], name: str) -> Memory:
    """Return a memory around what a class or function of the user's makes.

    Raises TypeError where it lacks `retrieve`, or anything to take dialogues in with.
    """
    system = make()
    if not callable(getattr(system, "retrieve", None)):
        msg = f"{name} has no method retrieve(question, k)"
        raise TypeError(msg)
    if not any(callable(getattr(system, method, None)) for method in ("add_dialogue", "add_corpus")):
        msg = f"{name} takes nothing in: it has neither add_dialogue nor add_corpus"
        raise TypeError(msg)
    try:
        source = inspect.getsource(make)
    except (OSError, TypeError):
        source = ""
    return _Own(system, name, digest([name, source]))


@dataclass
class EndpointMemory(Memory):
    """A server: `POST /add {"memory", "dialogue"}`, `POST /retrieve {"memory", "question", "k"}`.

    The second answers `{"items": [...]}`; items are as those of a class of one's own. A server holds many
    memories, each under its own name. A dialogue with feedback comes with `feedback`, a list of its rounds as
    logs have them.
    """

    server: JsonEndpoint
    name: str
    memory: str = "memory"

    def __post_init__(self) -> None:
        """Make a digest of name and address: of what runs there nothing is known."""
        self.digest = digest([self.name, self.server.endpoint.shown_url])

    def describe(self) -> Mapping[str, Any]:
        """Return the name."""
        return {"system": self.name, "endpoint": True}

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Send a dialogue, with the feedback where there is any."""
        more = {} if feedback is None else {"feedback": as_json(feedback.rounds)}
        await self._post("/add", {"memory": self.memory, "dialogue": plain_dialogue(conversation), **more})
        return Usage()

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Ask for items."""
        answer = await self._post("/retrieve", {"memory": self.memory, "question": question, "k": room.items})
        items = answer.get("items") if isinstance(answer, dict) else None
        if not isinstance(items, list):
            msg = f"{self.name} answered without a list of items"
            raise SystemFault(msg)
        return as_items(items, self.name, room)

    async def close(self) -> None:
        """Close the connections."""
        await self.server.close()

    async def _post(self, path: str, value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return await self.server.post(path, value)
        except EndpointError as error:  # of a system under test: others go on
            msg = f"{self.name} at {error}"
            raise SystemFault(msg) from error


def plain_dialogue(conversation: Conversation) -> dict[str, Any]:
    """Return a dialogue as systems of one's own get it: plain JSON values."""
    value = conversation_to_json(conversation)
    date = conversation.metadata.get("date")
    return {"id": conversation.id, "date": date, "messages": value["messages"]}


def as_items(values: object, name: str, room: Room) -> Retrieved:
    """Return what a system gave. It is not told of tokens: of what comes first, as much as fits is taken."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        msg = f"{name} gave no list of items, but {type(values).__name__}"
        raise SystemFault(msg)
    return Retrieved(Room(None, room.tokens).fill([item_of(value, name) for value in values]))


def item_of(value: object, name: str) -> MemoryItem:
    """Return what a system gave as an item, a text or a mapping with one; SystemFault for anything else."""
    if isinstance(value, MemoryItem):
        return value
    if isinstance(value, str):
        return MemoryItem("", None, value, kind="semantic")
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        position, score, kind = value.get("position"), value.get("score"), value.get("kind") or "episodic"
        if position is not None and type(position) is not int:
            msg = f"{name} gave an item with the position {position!r}: positions are whole numbers from 0"
            raise SystemFault(msg)
        if score is not None and not (isinstance(score, int | float) and math.isfinite(score)):
            msg = f"{name} gave an item with the score {score!r}: scores are numbers, or left out"
            raise SystemFault(msg)
        if kind not in get_args(Kind):
            msg = f"{name} gave an item of the kind {kind!r}: there are {', '.join(get_args(Kind))}"
            raise SystemFault(msg)
        texts = {key: value.get(key) for key in ("speaker", "date", "message", "asked", "why")}
        return MemoryItem(
            str(value.get("dialogue") or ""),
            position,
            value["text"],
            score=score,
            kind=cast("Kind", kind),
            **{key: str(text) if text else None for key, text in texts.items()},
        )
    msg = f"{name} gave an item that is neither a text nor a mapping with one"
    raise SystemFault(msg)


async def called(function: Callable[..., Any], *args: Any, **more: Any) -> Any:  # noqa: ANN401 - foreign code
    """Call a method of foreign code; one that is no coroutine runs in a thread, where it may hang."""
    if inspect.iscoroutinefunction(function):
        return await function(*args, **more)
    loop = asyncio.get_running_loop()
    settled: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def settle(made: Any, error: BaseException | None) -> None:  # noqa: ANN401 - foreign code
        if not settled.done():  # nobody may be waiting any more
            settled.set_result((made, error))

    def work() -> None:
        made, error = None, None
        try:
            made = function(*args, **more)
        except BaseException as caught:  # noqa: BLE001 - SystemExit too is a fault of the system's
            error = caught
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, made, error)

    # A thread of its own: one that hangs takes none from other systems, and does not keep the process.
    threading.Thread(target=work, daemon=True).start()
    made, error = await settled
    if error is not None:
        raise error if isinstance(error, Exception) else RuntimeError(repr(error))
    return await made if isinstance(made, Awaitable) else made
