"""The tiny policy of the toy, made once for all tests of a process, and rows to train it on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

STEPS = 80
"""Of its training: enough for replies in words, in a third of the time."""


def tiny_policy(base: Path) -> Path:
    """Return the folder of the policy below the tests' temporary folder; it is made by who asks first."""
    from benchmarks.toy_roleplay import build_policy

    return build_policy(base / "tiny_policy", steps=STEPS)


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path
