"""Memory systems by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dialogauge.agents.memory.protocol import Memory
from dialogauge.agents.memory.searchers import Embedder, Meaning, Ranked, Searcher, Words
from dialogauge.agents.memory.systems import FullMemory, IndexedMemory, NoMemory, OracleMemory, Unit
from dialogauge.core.errors import UsageError
from dialogauge.core.settings import nearest

_INDEXED: Final[Mapping[str, tuple[Unit, ...]]] = {
    "bm25": ("message", "session", "both"),
    "ranked": ("message",),
    "embed": ("message", "session"),
}
SYSTEMS: Final[Mapping[str, str]] = {
    "none": "nothing: what the question alone is worth",
    "full": "everything that fits, the first sessions first",
    "oracle": "the evidence itself: the ceiling",
    "bm25-message": "messages by their words",
    "bm25-session": "sessions by their words; what the assistant led, by its first question",
    "bm25-both": "messages and sessions by their words, each dialogue once",
    "ranked-message": "messages by a fitted ranking: words, neighbours, speakers, sessions",
    "embed-message": "messages by the cosine of their embeddings",
    "embed-session": "sessions by the cosine of their embeddings",
}
"""The systems that come with dialogauge, and what each gives to an answer."""


def build_memory(
    name: str,
    *,
    embedder: Embedder | None = None,
    evidence: Mapping[str, Sequence[str]] | None = None,
) -> Memory:
    """Make an empty memory system of a name.

    Args:
        name: One of `SYSTEMS`.
        embedder: For those that embed.
        evidence: For `oracle`, by question the ids of messages.

    Raises UsageError for another name, and where an embedder is needed and none is given.
    """
    plain: dict[str, Callable[[], Memory]] = {
        "none": NoMemory,
        "full": FullMemory,
        "oracle": lambda: OracleMemory(evidence=evidence or {}),
    }
    if name in plain:
        return plain[name]()
    kind, _, unit = name.partition("-")
    units = {u: u for u in _INDEXED.get(kind, ())}
    if unit not in units:
        meant = nearest(name, SYSTEMS)
        msg = f"there is no memory system {name!r}"
        raise UsageError(msg, hint=f"did you mean {meant!r}?" if meant else f"there are {', '.join(SYSTEMS)}")
    if kind == "embed" and embedder is None:
        msg = f"{name} needs a model that embeds"
        raise UsageError(msg, hint="give an endpoint with /embeddings, or the folder of a model")
    made: dict[str, Callable[[], Searcher]] = {"bm25": Words, "ranked": Ranked}
    index = Meaning(embedder) if kind == "embed" and embedder is not None else made[kind]()
    return IndexedMemory(name, units[unit], index)
