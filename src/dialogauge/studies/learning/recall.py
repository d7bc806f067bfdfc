"""What was recalled for an answer: how much room it took, and what of the evidence was in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.agents.memory import MemoryItem, Retrieved, about_tokens
from dialogauge.studies.learning.memories import Chunk

Places = Mapping[Any, tuple[str, int, str]]
"""By id of a message its session, its index there, and its text."""


def message_places(chunk: Chunk) -> Places:
    """Return where the messages of a corpus stand."""
    sessions = [session for session, _ in chunk.dialogues]
    return {m.extra.get("id"): (s.id, n, m.text) for s in sessions for n, m in enumerate(s.messages)}


def recalled_details(
    retrieved: Retrieved, holds: int, evidence: Sequence[str], places: Places
) -> dict[str, Any]:
    """Return the details of a row on what was given.

    Args:
        retrieved: What was given, the best first.
        holds: Tokens that the memory holds.
        evidence: Ids of the messages that hold the answer.
        places: Where they stand; without any nothing is said of evidence.
    """
    items = retrieved.items
    tokens = sum(about_tokens(item.shown) for item in items)
    wanted = {id: places[id] for id in evidence if id in places}
    details: dict[str, Any] = {
        "items": len(items),
        "tokens": tokens,
        "share": min(1.0, tokens / holds) if holds else None,
        "retrieve_calls": retrieved.usage.calls + retrieved.usage.cached,
        "retrieve_tokens": retrieved.usage.prompt_tokens + retrieved.usage.completion_tokens,
        "kinds": {kind: sum(i.kind == kind for i in items) for kind in sorted({i.kind for i in items})},
        "whole": any(i.dialogue and i.position is None and i.kind == "episodic" for i in items),
        "retrieved": [[i.dialogue, i.message if i.message else i.position] for i in items[:20]],
    }
    if reasoned := [item for item in items if item.why]:
        details["given"] = [
            {"from": i.dialogue, "kind": i.kind, "why": i.why, "text": i.text[:200]} for i in reasoned
        ]
    # Of texts without an origin nobody knows whether they are the evidence.
    if wanted and (not items or any(item.dialogue or item.message for item in items)):
        details["recall"] = _found(wanted, items)
        details["recall_by_kind"] = {
            kind: _found(wanted, [item for item in items if item.kind == kind])
            for kind in details["kinds"]
            if len(details["kinds"]) > 1
        }
        sessions, asked = {item.dialogue for item in items}, {session for session, *_ in wanted.values()}
        details["session_recall"] = len(asked & sessions) / len(asked)
    return details


def _found(wanted: Places, items: Sequence[MemoryItem]) -> float:
    """Return what share of messages, by dialogue, position and text, is among items or in their text."""
    ids, places = {item.message for item in items}, {(item.dialogue, item.position) for item in items}
    wholes = [item for item in items if item.dialogue and item.position is None]
    hits = [
        id in ids
        or (session, position) in places
        or any(item.dialogue == session and text in item.text for item in wholes)
        for id, (session, position, text) in wanted.items()
    ]
    return sum(hits) / len(hits)
