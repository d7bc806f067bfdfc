"""Short names for models that live beside us, in a function or a folder: another content, another name."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_READ: Final = 1 << 26
"""Bytes up to which a file is read; a larger one is known by its size and the time of its last change."""


def function_digest(function: Callable[..., Any]) -> str | None:
    """Return a digest of a function's qualified name and of the file that it stands in.

    Of an object that can be called, its class counts. None where there is no file to read: a function that
    was typed in.
    """
    inner = inspect.unwrap(getattr(function, "func", function))
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    try:
        text = Path(inspect.getfile(named)).read_bytes()
    except (TypeError, OSError):
        return None
    return hashlib.sha256(f"{named.__module__}:{named.__qualname__}\n".encode() + text).hexdigest()[:32]


def folder_digest(folder: Path) -> str:
    """Return a digest of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        stat = path.stat()
        large = stat.st_size > _READ
        content = f"{stat.st_size} {stat.st_mtime_ns}".encode() if large else path.read_bytes()
        digest.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:32]
