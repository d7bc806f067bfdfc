"""Packages whose public names are loaded when they are first used.

A command imports dozens of packages and uses a few names of each. To load modules takes half of the time of
a short run, so those that only other names need are left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def loading(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: it loads a public name from its module.

    `homes` has the names by module of the package.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        if name not in home_of:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        value: object = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
