"""Pages in a notebook's cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True, slots=True)
class Frame:
    """A page in a frame of its own: its style and its script stay inside, and it loads nothing."""

    title: str
    html: str = field(repr=False)
    """A whole document."""
    height: int
    """In pixels."""

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )
