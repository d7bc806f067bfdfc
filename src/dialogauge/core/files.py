"""Files that the user names: how their names are shown, and small ones read whole."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import tomllib
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import ConfigError, DialogaugeError, Place

LARGEST_FILE: Final = 32 << 20
"""Bytes of a file that is read whole, at most."""
_MOST_NAMES: Final = 5000


def shown_path(path: str | os.PathLike[str]) -> str:
    r"""Return a path as everything that is stored and printed has it: bytes that are not UTF-8 as `\xe4`."""
    text = os.fspath(path)
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def alike_file(path: str | os.PathLike[str]) -> str | None:
    """Return a hint with the name of the file that may have been meant; None where its folder has none."""
    from difflib import get_close_matches  # for messages only

    path = Path(path)
    try:
        files = sorted(path.parent.iterdir())[:_MOST_NAMES]
    except (OSError, ValueError):
        return None
    stems = get_close_matches(path.stem, sorted({file.stem for file in files}), 1)  # endings are alike anyway
    names = [file.name for file in files if file.stem in stems]
    meant = get_close_matches(path.name, names, 1, 0)
    return f"did you mean {shown_path(path.parent / meant[0])}?" if meant else None


def read_bytes(
    path: str | os.PathLike[str],
    what: str,
    fault: type[DialogaugeError] = ConfigError,
    hint: str | None = None,
    *,
    again: bool = False,
) -> bytes:
    """Return the bytes of a small file.

    Args:
        path: The file.
        what: It is called in messages: `the {what} ...`.
        fault: Raised where it cannot be read, or is larger than `LARGEST_FILE`.
        hint: What to do about it.
        again: Whether it will be read again, which a pipe cannot be.
    """
    place = Place(shown_path(path))
    try:
        if again and stat.S_ISFIFO(Path(path).stat().st_mode):
            raise OSError(
                errno.ESPIPE, "it comes through a pipe, and is read more than once: save it to a file"
            )
        with Path(path).open("rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is a device")
            raw = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        if isinstance(error, FileNotFoundError):
            why, hint = "there is no such file", alike_file(path) or hint
        msg = f"the {what} cannot be read: {why}"
        raise fault(msg, place=place, hint=hint) from error
    if len(raw) > LARGEST_FILE:
        msg = f"the {what} is larger than {LARGEST_FILE >> 20} MiB"
        raise fault(msg, place=place, hint=hint)
    return raw


def read_text(
    path: str | os.PathLike[str],
    what: str,
    fault: type[DialogaugeError] = ConfigError,
    hint: str | None = None,
    *,
    again: bool = False,
) -> str:
    """Return the text of a small UTF-8 file, without byte order mark, as `read_bytes` returns its bytes."""
    raw = read_bytes(path, what, fault, hint, again=again)
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        msg = f"the {what} is not UTF-8: byte 0x{raw[error.start]:02x}"
        from dialogauge.core.encodings import utf8_hint  # for messages only

        raise fault(msg, place=Place(shown_path(path), line), hint=utf8_hint(raw)) from error


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file; ConfigError where it cannot be read or is none."""
    text = read_text(path, what)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not a TOML file: {error}"
        raise ConfigError(msg) from error
