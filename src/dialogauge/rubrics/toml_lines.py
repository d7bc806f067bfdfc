"""The lines of a TOML file that its keys stand in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_TABLE: Final = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*\]")
_KEY: Final = re.compile(r"\s*\"?([\w.-]+)\"?\s*=")


def line_of(text: str, path: Sequence[int | str]) -> int | None:
    """Return the line of a key, else of the innermost table around it; None where not even that is there.

    Args:
        text: The file.
        path: Keys from the outermost on, and positions from 0 within arrays of tables.
    """
    wanted, seen = tuple(path), Counter[tuple[int | str, ...]]()
    table: tuple[int | str, ...] = ()
    line, depth = None, 0
    for number, written in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(written):
            table = ()
            *outer, last = header[2].split(".")
            for name in outer:
                table += (name,) if not seen[(*table, name)] else (name, seen[(*table, name)] - 1)
            table += (last,)
            if header[1] == "[[":
                seen[table] += 1
                table += (seen[table] - 1,)
            here = table
        elif key := _KEY.match(written):
            here = (*table, *key[1].split("."))
        else:
            continue
        if len(here) > depth and here == wanted[: len(here)]:
            line, depth = number, len(here)
    return line
