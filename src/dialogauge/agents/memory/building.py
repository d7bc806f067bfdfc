"""The memory systems that come with dialogauge, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from dialogauge.agents.memory.feedback_aware import FeedbackMemory
from dialogauge.agents.memory.notes import NotesMemory
from dialogauge.agents.memory.protocol import Memory
from dialogauge.agents.memory.systems import (
    Embedder,
    FullMemory,
    IndexedMemory,
    Meaning,
    NoMemory,
    OracleMemory,
    Ranked,
    Unit,
    Words,
)
from dialogauge.agents.memory.tiers import TiersMemory
from dialogauge.agents.memory.trained import LIKED, TrainedMemory, Tuner
from dialogauge.core import UsageError
from dialogauge.core.settings import nearest
from dialogauge.llm.protocol import ChatClient

MEMORY_SYSTEMS: Final[Mapping[str, str]] = {
    "none": "nothing: what the question alone is worth",
    "full": "everything that fits, the first sessions first",
    "oracle": "the evidence itself: the ceiling",
    "bm25-message": "messages by their words",
    "bm25-session": "sessions by their words; what the assistant led, by its first question",
    "bm25-both": "messages and sessions by their words, each dialogue once",
    "ranked-message": "messages by a fitted ranking: words, neighbours, speakers, sessions",
    "embed-message": "messages by the cosine of their embeddings",
    "embed-session": "sessions by the cosine of their embeddings",
    "feedback-aware": "praised answers as examples and corrections as rules, by words and request",
    "feedback-blind": "the same without clicks and scores, to compare it with",
    "notes": "notes on messages, with those they lead to; one model call for each message taken in",
    "notes-reduced": "the same without a model: keywords by weight of words, links by shared ones",
    "tiers": "pairs, what was said last, and a profile; one model call for three pairs at most",
    "tiers-reduced": "the same without a model: the profile is what people say of themselves, and rules",
    "trained": "nothing: the answerer's model is trained on first replies that were liked or copied",
}
"""The systems that come with dialogauge, and what each gives to an answer."""
WRITTEN: Final = frozenset({"notes", "tiers"})
"""Those for which a model writes what is kept."""


def build_memory(
    name: str,
    *,
    embedder: Embedder | None = None,
    client: ChatClient | None = None,
    tuner: Tuner | None = None,
    liked: Sequence[str] = LIKED,
    evidence: Mapping[str, Sequence[str]] | None = None,
) -> Memory:
    """Make an empty one of `MEMORY_SYSTEMS`.

    Args:
        name: Its name.
        embedder: For those of embeddings.
        client: The model that writes, for `WRITTEN`.
        tuner: What trains, for `trained`.
        liked: For `trained`, what users did about replies that it learns.
        evidence: For `oracle`, by question the ids of messages.

    Raises UsageError for another name, and where the model that one needs is missing.
    """
    if name not in MEMORY_SYSTEMS:
        meant = nearest(name, MEMORY_SYSTEMS)
        hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(MEMORY_SYSTEMS)}"
        msg = f"there is no memory system {name!r}"
        raise UsageError(msg, hint=hint)
    kind, _, unit = name.partition("-")
    if name in WRITTEN and client is None:
        msg = f"{name} needs a model that writes"
        raise UsageError(msg, hint=f"give --role memory=MODEL@URL#KEYVAR, or ask for {name}-reduced")
    if kind in WRITTEN:
        writing = NotesMemory if kind == "notes" else TiersMemory
        return writing(name, client=client if name == kind else None)
    if kind == "feedback":
        return FeedbackMemory(name, "message", heeds=unit == "aware")
    if kind == "oracle":
        return OracleMemory(evidence=evidence or {})
    if kind == "trained":
        if tuner is None:
            msg = "trained needs a model that it can train: one behind an endpoint cannot be trained here"
            raise UsageError(msg, hint="give the folder of a model: --role answerer=file:FOLDER")
        return TrainedMemory(tuner, liked)
    if kind in ("none", "full"):
        return NoMemory() if kind == "none" else FullMemory()
    if kind != "embed":
        return IndexedMemory(name, cast("Unit", unit), Words() if kind == "bm25" else Ranked())
    if embedder is None:
        msg = f"{name} needs a model that embeds"
        raise UsageError(msg, hint="give an endpoint with /embeddings, or the folder of a model")
    return IndexedMemory(name, cast("Unit", unit), Meaning(embedder=embedder))
