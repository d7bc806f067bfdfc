"""Which dimensions the conversations that pass by are rated in, for a user who asked for another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dialogauge.core import Conversation

__all__ = ["RatedDimensions"]


class RatedDimensions:
    """Counts ratings by dimension while others read the conversations."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def watch(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """Hand the conversations on."""
        for conversation in conversations:
            self._counts.update(r.dimension for r in conversation.ratings)
            yield conversation

    def instead_of(self, dimension: str) -> str | None:
        """Return a hint that names the dimensions there are; None where the wanted one is among them."""
        if dimension in self._counts or not self._counts:
            return None
        most = self._counts.most_common()
        named = ", ".join(f"{name!r} ({n:,})" for name, n in most[:5]) + (" ..." if len(most) > 5 else "")
        return f"the data has ratings of {named}: take one with --dimension {most[0][0]}"
