"""Models in this process: loading them, and where they run."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import DialogaugeError, EndpointError, MissingExtra, UsageError

_ALONE: Final = threading.Lock()


def alone() -> threading.Lock:
    """Return the lock that is held by whoever loads, samples or trains a model in this process.

    transformers loads by a state of the whole process, and torch draws all models' samples from one.
    """
    return _ALONE


def pretrained(
    kind: str, source: str | Path, fault: type[DialogaugeError] = EndpointError, *, local: bool = False
) -> Any:  # noqa: ANN401 - of transformers
    """Return what a class of transformers, such as `AutoModel`, makes of a folder or a name.

    With `local` nothing is fetched, whatever the name.

    Raises MissingExtra without torch and transformers, and `fault` for what cannot be loaded.
    """
    with alone():
        try:
            import torch  # noqa: F401 - without it transformers says so late
            import transformers
            from safetensors import SafetensorError
        except ImportError as error:
            msg = f"a model in this process needs torch and transformers: {error}"
            raise MissingExtra(msg, hint="pip install 'dialogauge[transformers]'") from None
        try:
            return getattr(transformers, kind).from_pretrained(source, local_files_only=local)
        except (OSError, ValueError, LookupError, RuntimeError, ImportError, SafetensorError) as error:
            msg = f"the model in {str(source)!r} cannot be loaded: {error}"
            raise fault(msg, hint="give a folder with config, weights and tokenizer") from None


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
