"""The environment: variables are read here and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path


def variable(name: str) -> str | None:
    """Return the value of a variable; None where it is not set, or empty."""
    return os.environ.get(name) or None


def cache_folder() -> Path:
    """Return the user's cache folder for model replies."""
    if named := variable("DIALOGAUGE_CACHE"):
        return Path(named)
    base = variable("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dialogauge"


def colour_wanted() -> bool:
    """Say whether a terminal may be written to in colour; see https://no-color.org."""
    return variable("NO_COLOR") is None
