"""What is wrong with a memory, worded so that a model can be asked again."""

from __future__ import annotations

__all__ = ["MemoryFault"]


class MemoryFault(ValueError):
    """A memory, or a reply that should become one, is not of the form that was asked for."""
