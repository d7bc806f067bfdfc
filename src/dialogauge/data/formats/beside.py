"""Files that stand beside or above conversations and say more of them."""

from __future__ import annotations

from typing import Any

import orjson

from dialogauge.core import FileFault, Place
from dialogauge.core.files import read_bytes
from dialogauge.data.formats.base import Context
from dialogauge.data.notes import excerpt, file_fault


def read_beside(context: Context, name: str, what: str, kind: type, *, above: int = 0) -> Any:  # noqa: ANN401  # any JSON value
    """Return what a JSON file beside the source holds; an empty value where there is none.

    Args:
        context: The source; the file is read once for all its records.
        name: The file.
        what: The word for its content in messages, in the plural.
        kind: What the file is to hold, `dict` or `list`.
        above: So many folders above are looked into too.

    Raises:
        FileFault: The file is not JSON, or holds something else.
    """
    if name not in context.memo:
        path = context.source.path
        folders = path.resolve().parents[: above + 1] if path is not None else ()
        file = next((folder / name for folder in folders if (folder / name).is_file()), None)
        value = kind()
        if file is not None:
            try:
                value = orjson.loads(read_bytes(file, f"{what} file", FileFault))
            except orjson.JSONDecodeError as error:
                raise file_fault(Place(str(file)), f"the {what} cannot be read: {error}") from error
            if not isinstance(value, kind):
                wanted = "an object" if kind is dict else "a list"
                raise file_fault(Place(str(file)), f"the {what} are {excerpt(value)}: not {wanted}")
        context.memo[name] = value
    return context.memo[name]
