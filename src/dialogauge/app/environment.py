"""The environment: variables are read here and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path


def variable(name: str) -> str | None:
    """Return the value of a variable; None where it is not set, or blank."""
    value = os.environ.get(name, "")
    return value if value.strip() else None


def cache_folder() -> Path | None:
    """Return the user's cache folder for model replies; None for a user without a home folder."""
    if named := variable("DIALOGAUGE_CACHE"):
        return Path(named)
    base = variable("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "dialogauge"
    except RuntimeError:
        return None


def colour_wanted() -> bool:
    """Say whether a terminal may be written to in colour; see https://no-color.org."""
    return variable("NO_COLOR") is None
