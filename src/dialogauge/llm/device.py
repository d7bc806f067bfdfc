"""Where a model in this process runs."""

from __future__ import annotations

from typing import Any

from dialogauge.core.errors import UsageError


def chosen_device(wanted: str, torch: Any) -> str:  # noqa: ANN401 - the module, loaded where it is used
    """Return the device that torch is to use: `cpu`, `cuda` or `mps`.

    Args:
        wanted: One of these, or `auto`: a GPU where there is one.
        torch: The module.

    Raises UsageError where what is wanted is not there.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(name for name, is_there in there.items() if is_there)
    if not there.get(wanted):
        names = ", ".join(name for name, is_there in there.items() if is_there)
        msg = f"torch finds no device {wanted!r} here"
        raise UsageError(msg, hint=f"there is {names}; auto takes the first")
    return wanted
