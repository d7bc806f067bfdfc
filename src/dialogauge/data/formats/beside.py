"""Files that stand beside or above conversations and say more of them."""

from __future__ import annotations

from typing import Any

import orjson

from dialogauge.core import Place
from dialogauge.data.formats.base import Context
from dialogauge.data.notes import excerpt, file_fault
from dialogauge.data.sources import LARGEST, opened


def read_beside(context: Context, name: str, what: str, kind: type, *, above: int = 0) -> Any:  # noqa: ANN401  # any JSON value
    """Return what a JSON file beside the source holds; an empty value where there is none.

    Args:
        context: The source; the file is read once for all its records.
        name: The file, maybe in a folder beside it.
        what: The word for its content in messages, in the plural.
        kind: What the file is to hold, `dict` or `list`.
        above: So many folders above are looked into too.

    Raises:
        FileFault: The file cannot be read, is not JSON, or holds something else.
    """
    if name not in context.memo:
        context.memo[name] = _read(context, name, what, kind, above)
    return context.memo[name]


def _read(context: Context, name: str, what: str, kind: type, above: int) -> Any:  # noqa: ANN401  # any JSON value
    source = context.source.beside(name, above)
    if source is None:
        return kind()
    place = Place(source.name)
    with opened(source, lambda: 1) as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise file_fault(place, f"the {what} are larger than {LARGEST >> 20} MiB")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise file_fault(place, f"the {what} cannot be read: {error}") from error
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise file_fault(place, f"the {what} are {excerpt(value)}: not {wanted}")
    return value
