"""What a run was made with."""

from __future__ import annotations

import platform
from importlib import metadata

from dialogauge import __version__

_PACKAGES = ("aiohttp", "numpy", "orjson", "pydantic", "json-repair")


def versions() -> dict[str, str | None]:
    """Return the versions of dialogauge, Python and the libraries that matter; None where one is absent."""
    return {
        "dialogauge": __version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
