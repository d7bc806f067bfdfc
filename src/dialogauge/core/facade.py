"""Packages whose public names are loaded when they are first used.

A command imports dozens of packages and uses a few names of each. To load modules takes half of the time of
a short run, so those that only other names need are left alone. The package's source says where each name
lives, once, to us and to type checkers: the way of `lazy_loader`, without its stub files. `import A as A` is
how a type checker is told that a name is public.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module

TYPE_CHECKING = False  # as in the face of the package
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def loading(package: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package: it loads a public name from its module, and makes `__all__`.

    Names and modules are those that the package's `__init__` gives type checkers, under `if TYPE_CHECKING:`.

    Args:
        package: The package's `__name__`.
    """

    @cache
    def homes() -> dict[str, str]:
        import ast

        face = sys.modules[package]
        loader: Any = face.__loader__
        source = loader.get_data(face.__file__)  # pytest's loader of plugins has no get_source
        shown = (node for node in ast.parse(source).body if isinstance(node, ast.If))
        imports = (node for block in shown for node in block.body if isinstance(node, ast.ImportFrom))
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def load(name: str) -> object:
        if name == "__all__":
            return sorted(homes(), key=lambda one: (not one.isupper(), not one[0].isupper(), one))
        if name not in homes():
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        value: object = getattr(import_module(homes()[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
