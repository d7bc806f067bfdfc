"""What a terminal is shown, made harmless."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any

from dialogauge.app.progress import ProgressObserver


def plain(text: str) -> str:
    """Make one line harmless for a terminal: what is no visible character is written as its escape.

    A line break too, so that no text can forge a line of ours. Spaces of other scripts and the joiners
    within emoji and words are kept.
    """
    return "".join(c if _harmless(c) else c.encode("unicode_escape").decode() for c in text)


def _harmless(character: str) -> bool:
    return character.isprintable() or character in "\u200c\u200d" or unicodedata.category(character) == "Zs"


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Print a value as indented JSON, with escapes for what a terminal would act on."""
    from dialogauge.runs.records import json_document  # with it comes SQLite, which `--help` does without

    sys.stdout.buffer.write(json_document(value))


class TerminalObserver(ProgressObserver):
    """Shows the progress of a run in a terminal."""

    def shown(self, text: str) -> str:
        """Return a line that a terminal may be given."""
        return plain(text)
