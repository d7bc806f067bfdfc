"""Trees of messages, of which each names the one it follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def branch(parents: Mapping[str, str | None], last: str) -> list[str]:
    """Return the ids from the root of a tree to its node `last`, which is in `parents`.

    Args:
        parents: Node -> the one before it. A node whose parent is not among them is a root.
        last: Where the branch ends.

    Raises:
        ValueError: The branch comes back to a node: there is no root.
    """
    out: list[str] = []
    seen: set[str] = set()
    at: str | None = last
    while at is not None and at in parents:
        if at in seen:
            msg = f"the messages before {at!r} lead back to it"
            raise ValueError(msg)
        seen.add(at)
        out.append(at)
        at = parents[at]
    return out[::-1]


def leaves(parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the nodes that no other follows, in their order."""
    inner = set(parents.values())
    return (node for node in parents if node not in inner)
