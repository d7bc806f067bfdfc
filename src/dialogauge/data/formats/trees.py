"""Trees of messages, of which each names the one it follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping


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


def latest(parents: Mapping[str, str | None], time: Callable[[str], float | str]) -> str:
    """Return the node that no other follows and that is the latest by its time.

    Raises:
        ValueError: Each is followed by another: there is no end.
    """
    ends = list(leaves(parents))
    if not ends:
        msg = "each message is followed by another: there is no last one"
        raise ValueError(msg)
    return max(ends, key=time)


def leaves(parents: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the nodes that no other follows, in their order."""
    inner = set(parents.values())
    return (node for node in parents if node not in inner)
