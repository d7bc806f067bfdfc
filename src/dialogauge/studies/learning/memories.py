"""The memories of a study: each built once from what its step holds, kept in the run, and measured."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, Literal

from dialogauge.agents.memory import (
    CheckedMemory,
    Feedback,
    Memory,
    OracleMemory,
    SystemFault,
    about_tokens,
    items_of,
    whole,
)
from dialogauge.core import Conversation, Usage, conversation_digest, digest
from dialogauge.core.json_keys import as_json
from dialogauge.core.protocols import NO_NOTES, Notes
from dialogauge.data import Mask
from dialogauge.data.tasks import LoggedDialogue, TaskRecord
from dialogauge.runs.privacy import mask_produced

BUILT: Final = "memory:"
"""What stands before the keys of the notes on memories."""
_KEPT: Final = 4
"""Memories that stay in this process: those of the units in flight, and one to go on from."""
_POINTS: Final = 40
"""Of the growth of one memory."""

Control = Literal["shuffled", "echo", "last", "other-case"]
"""What a system is told apart from, with the same memory; see `controls`."""


@dataclass(frozen=True)
class Chunk:
    """What a memory takes in together: a corpus, or a batch of dialogues that the assistant led."""

    name: str
    dialogues: tuple[tuple[Conversation, Feedback | None], ...]
    corpus: bool = False

    def masked(self, mask: Mask) -> Chunk:
        """Return it with what was said masked, and of logs the ids too: evidence names those of a corpus."""
        masked = partial(mask_produced, mask) if self.corpus else mask.conversation
        return replace(self, dialogues=tuple((masked(c), f) for c, f in self.dialogues))

    @cached_property
    def digest(self) -> str:
        """Of what is said in it, and of the feedback."""
        parts = [[conversation_digest(c), None if f is None else as_json(f)] for c, f in self.dialogues]
        return digest([self.corpus, parts])

    @cached_property
    def tokens(self) -> int:
        """About how many tokens it has."""
        return sum(about_tokens(whole(c).shown) for c, _ in self.dialogues)

    @cached_property
    def messages(self) -> int:
        """How many messages it has."""
        return sum(1 for c, _ in self.dialogues for _ in items_of(c))


def chunk_of(name: str, dialogues: Sequence[LoggedDialogue]) -> Chunk:
    """Return dialogues as what a memory takes in together."""
    pairs = ((d.conversation, Feedback(d.feedback) if d.feedback else None) for d in dialogues)
    return Chunk(name, tuple(pairs))


def masked_task(mask: Mask, task: TaskRecord) -> TaskRecord:
    """Return a task with question and gold masked; its id, by which runs and logs join, stays."""
    asked = mask_produced(mask, Conversation(task.id, task.messages)).messages
    ids = {"evidence": task.gold["evidence"]} if "evidence" in task.gold else {}
    return replace(task, messages=asked, gold={**mask.value(dict(task.gold)), **ids})


def digest_of(chunks: Sequence[Chunk]) -> str:
    """Return the digest of the dialogues that a memory holds, in their order."""
    return digest([chunk.digest for chunk in chunks])


@dataclass(frozen=True, slots=True)
class LearningSystem:
    """A memory system under test."""

    name: str
    make: Callable[[str | None, str], Memory]
    """Returns an empty memory, of the id of the corpus that will be asked about and of a name of its own."""
    logs: tuple[Chunk, ...] = ()
    """What the assistant led before, batch by batch."""
    leads: bool = True
    """Whether it leads dialogues of its own, where systems do."""
    control: Control | None = None
    """Of which it is the twin."""

    def masked(self, mask: Mask) -> LearningSystem:
        """Return it with its logs masked, and evidence under masked questions."""

        def make(corpus: str | None, name: str) -> Memory:
            memory = self.make(corpus, name)
            if isinstance(memory, OracleMemory):
                memory.evidence = {mask.text(asked): ids for asked, ids in memory.evidence.items()}
            return memory

        return replace(self, make=make, logs=tuple(chunk.masked(mask) for chunk in self.logs))

    def empty(self) -> Memory:
        """Return an empty one: of whom it says what it is."""
        return self.make(None, "")

    def about(self) -> dict[str, Any]:
        """Return what it says of itself, with the control of a twin."""
        return {**self.empty().describe(), **({"control": self.control} if self.control else {})}


@dataclass(slots=True)
class BuiltMemory:
    """A memory that holds what it should, and what it took."""

    memory: CheckedMemory
    usage: Usage = field(default_factory=Usage)
    """What models took to build it; the first who asks books it."""
    cost: dict[str, Any] = field(default_factory=dict)

    def booked(self) -> Usage:
        """Return what is not booked yet."""
        usage, self.usage = self.usage, Usage()
        return usage


@dataclass
class Memories:
    """Builds memories: where a system can be forked, from the one that holds all but its last chunk."""

    folder: Path | None = None
    """Where they are kept; None for nowhere."""
    hours: float | None = None
    """Of one system, after which it is not asked any more."""
    deadline: float = 60.0
    """Seconds of one call of a system."""
    notes: Notes = NO_NOTES
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds by system, those of earlier calls included."""
    _tasks: dict[tuple[str, str], asyncio.Task[BuiltMemory]] = field(default_factory=dict)

    def late(self, system: str) -> bool:
        """Say whether a system has had its time."""
        if system not in self.spent:
            self.spent[system] = float(self.notes.get(f"spent:{system}") or 0.0)
        return self.hours is not None and self.spent[system] >= 3600 * self.hours

    def took(self, system: str, seconds: float) -> None:
        """Book seconds of a system."""
        self.spent[system] = self.spent.get(system, 0.0) + seconds

    async def of(self, system: LearningSystem, chunks: tuple[Chunk, ...]) -> BuiltMemory:
        """Return the memory that holds the chunks; whoever comes while it is built waits for it.

        Raises SystemFault where the system broke its word, the same for everybody who asks for this memory.
        """
        key = (system.name, digest_of(chunks))
        task = self._tasks.pop(key, None) or asyncio.create_task(self._build(system, chunks))
        self._tasks[key] = task  # now the latest
        for old in [k for k, t in self._tasks.items() if t.done()][: max(0, len(self._tasks) - _KEPT)]:
            if old != key:
                del self._tasks[old]
        return await asyncio.shield(task)

    async def _build(self, system: LearningSystem, chunks: tuple[Chunk, ...]) -> BuiltMemory:
        name = digest_of(chunks)
        corpus = next((c.name for c in chunks if c.corpus), None)
        empty = system.make(corpus, f"{system.name}-{name}")
        known = {c.id: len(c.messages) for chunk in chunks for c, _ in chunk.dialogues}
        kept = None if self.folder is None else self.folder / system.name.replace("/", "_") / name[:16]
        cost = self.notes.get(f"{BUILT}{system.name}:{name}")
        if kept is not None and kept.is_dir() and cost is not None and cost.get("digest") == empty.digest:
            memory = CheckedMemory(empty, self.deadline, known=known)
            await memory.load(kept)
            await memory.learn()
            return BuiltMemory(memory, cost=cost)
        cost, usage, new = _no_cost(system, chunks, empty.digest), Usage(), chunks
        if len(chunks) > 1 and "fork" in empty.abilities:
            base = await self.of(system, chunks[:-1])
            memory, new = base.memory.fork(), chunks[-1:]
            usage += base.booked()
            cost |= {k: base.cost[k] for k in ("seconds", "calls", "tokens")}
            cost["points"] = [*base.cost["points"]]  # each fork goes on by itself
        else:
            memory = CheckedMemory(empty, self.deadline)
        own = Usage()
        try:
            for chunk in new:
                for dialogue in chunk.dialogues:
                    own += await self._take(system, memory, dialogue, cost, corpus=chunk.corpus)
            begun = time.monotonic()
            await memory.learn()
            cost["seconds"] += (seconds := time.monotonic() - begun)
            self.took(system.name, seconds)
            cost |= {
                "calls": cost["calls"] + own.calls + own.cached,
                "tokens": cost["tokens"] + own.prompt_tokens + own.completion_tokens,
                "points": cost["points"][:: 1 + len(cost["points"]) // _POINTS],
            }
            if kept is not None and "save" in empty.abilities:
                cost["bytes"] = await asyncio.to_thread(_save, memory, kept)
        except SystemFault as fault:
            fault.usage += usage + own
            raise
        self.notes.put(f"{BUILT}{system.name}:{name}", cost)
        self.notes.put(f"spent:{system.name}", self.spent[system.name])
        return BuiltMemory(memory, usage + own, cost)

    async def _take(
        self,
        system: LearningSystem,
        memory: CheckedMemory,
        dialogue: tuple[Conversation, Feedback | None],
        cost: dict[str, Any],
        *,
        corpus: bool,
    ) -> Usage:
        """Let a memory take in a dialogue, and measure it."""
        if self.late(system.name):
            msg = f"{system.name} is not finished: its {self.hours:g} h were over before all was taken in"
            raise SystemFault(msg)
        begun = time.monotonic()
        usage = await (memory.add_corpus(dialogue[:1]) if corpus else memory.add_dialogue(*dialogue))
        seconds = time.monotonic() - begun
        self.took(system.name, seconds)
        cost["seconds"] += seconds
        before = cost["points"][-1][0] if cost["points"] else 0
        new = sum(1 for _ in items_of(dialogue[0]))
        cost["points"].append([before + new, seconds, new])
        return usage


def _save(memory: CheckedMemory, kept: Path) -> int:
    """Keep a memory, whole or not at all; return its bytes."""
    part = kept.with_name(f"{kept.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        memory.save(part)
    except Exception as error:
        shutil.rmtree(part, ignore_errors=True)
        msg = f"{memory.name} failed to save: {type(error).__name__}: {error}"
        raise SystemFault(msg) from error
    shutil.rmtree(kept, ignore_errors=True)
    part.rename(kept)
    return sum(file.stat().st_size for file in kept.rglob("*") if file.is_file())


def _no_cost(system: LearningSystem, chunks: tuple[Chunk, ...], made_by: str) -> dict[str, Any]:
    """Return the note on a memory before anything is taken in."""
    about: Mapping[str, Any] = {
        "system": system.name,
        "digest": made_by,
        "memory": digest_of(chunks),
        "step": sum(not chunk.corpus for chunk in chunks),
        "dialogues": sum(len(chunk.dialogues) for chunk in chunks),
        "messages": sum(chunk.messages for chunk in chunks),
    }
    return {**about, "seconds": 0.0, "calls": 0, "tokens": 0, "bytes": None, "points": []}


@dataclass(frozen=True, slots=True)
class MemoryCost:
    """What it took to fill the memories of a system, over all of them."""

    memories: int
    dialogues: int
    messages: int
    seconds_a_dialogue: float
    calls_a_dialogue: float
    tokens_a_dialogue: float
    bytes: int | None
    """Of what it keeps; None where it cannot be saved."""
    growth: float | None
    """Seconds of a message in the last quarter, over those in the first; None of too few dialogues."""


def memory_cost(notes: Sequence[Mapping[str, Any]]) -> MemoryCost:
    """Bring the notes on a system's memories to one cost: of those of the last step, which hold the most."""
    last = max(note["step"] for note in notes)
    notes = [note for note in notes if note["step"] == last]
    dialogues = sum(note["dialogues"] for note in notes)
    known = [note["bytes"] for note in notes if note["bytes"] is not None]
    parts = ("seconds", "calls", "tokens")
    mean = {key: sum(note[key] for note in notes) / max(1, dialogues) for key in parts}
    return MemoryCost(
        len(notes),
        dialogues,
        sum(note["messages"] for note in notes),
        mean["seconds"],
        mean["calls"],
        mean["tokens"],
        sum(known) if len(known) == len(notes) else None,
        _growth(notes),
    )


def _growth(notes: Sequence[Mapping[str, Any]]) -> float | None:
    """Return how much longer the last messages took than the first ones, over all memories together.

    A point of a note is a dialogue: messages up to its end, seconds, and messages of its own.
    """
    seconds, messages = [0.0, 0.0], [0, 0]
    for note in notes:
        points = note["points"]
        total = points[-1][0] if points else 0
        quarters = (
            [point for point in points if 4 * point[0] <= total],
            [point for point in points if 4 * (point[0] - point[2]) >= 3 * total],
        )
        if min(map(len, quarters)) > 1:
            for n, quarter in enumerate(quarters):
                seconds[n] += sum(point[1] for point in quarter)
                messages[n] += sum(point[2] for point in quarter)
    if not (seconds[0] and all(messages)):
        return None
    return seconds[1] / messages[1] / (seconds[0] / messages[0])
