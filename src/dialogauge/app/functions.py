"""Functions of the user's own that stand for a model: `py:MODULE:NAME`."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dialogauge.core.errors import ConfigError, Place
from dialogauge.core.protocols import Environment
from dialogauge.core.settings import nearest
from dialogauge.llm import takes_session


def load_function(reference: str, *, sessions: bool = False) -> Callable[..., Any]:
    """Load `py:MODULE:NAME`; the module is looked for in the current directory first.

    With `sessions`, one that needs the id of a session too will do.

    Raises ConfigError, with file and line where the module itself fails, and for what is no function that
    takes messages.
    """
    function, module = _load(reference)
    if not callable(function):
        msg = f"{reference} is not callable: it is {type(function).__name__}"
        raise ConfigError(msg, place=_place_of(module), hint=_TAKES)
    _expect_signature(function, reference, module, sessions=sessions)
    return function  # type: ignore[no-any-return]


_ENVIRONMENT: Final = (
    "dialogauge.core.protocols.Environment says what one has; TableEnvironment is one for tables"
)


def load_environment(reference: str) -> Environment:
    """Load an environment, or what makes one: `py:MODULE:NAME`, as `load_function` looks for it.

    Raises ConfigError for anything else.
    """
    environment, module = _load(reference)
    if inspect.isclass(environment) or (callable(environment) and not hasattr(environment, "after")):
        try:
            inspect.signature(environment).bind()
        except (TypeError, ValueError) as error:  # it takes arguments, or nobody knows; or it is no function
            msg = f"{reference} is no environment, and nothing that makes one: {error}"
            raise ConfigError(msg, place=_place_of(module), hint=_ENVIRONMENT) from error
        environment = environment()
    if missing := [name for name in ("after", "final", "digest") if not hasattr(environment, name)]:
        msg = f"{reference} is no environment: it has no {', '.join(missing)}"
        raise ConfigError(msg, place=_place_of(module), hint=_ENVIRONMENT)
    return environment  # type: ignore[no-any-return]


def load_memory(reference: str) -> Callable[[], Any]:
    """Load the class or function that makes a memory system, as `load_function` looks for it.

    Raises ConfigError where it makes none, or what it makes is no memory system.
    """
    from dialogauge.agents.memory import own_memory

    make, module = _load(reference)
    try:
        own_memory(make, reference)
    except Exception as error:
        msg = f"{reference} makes no memory system: {error}"
        hint = "it needs retrieve(question, k), and add_dialogue(dialogue) or add_corpus(sessions)"
        raise ConfigError(msg, place=_place_of(module), hint=hint) from error
    return make  # type: ignore[no-any-return]


def _load(reference: str) -> tuple[Any, ModuleType]:
    """Return what `py:MODULE:NAME` names, and its module."""
    module_name, _, name = reference.removeprefix("py:").partition(":")
    if not name.isidentifier() or not all(part.isidentifier() for part in module_name.split(".")):
        msg = f"{reference!r} has not the form py:MODULE:NAME"
        raise ConfigError(msg, hint="for the function answer in judges.py write py:judges:answer")
    module = _imported(module_name, reference)
    value = getattr(module, name, None)
    if value is None:
        names = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
        meant = nearest(name, names)
        msg = f"{reference}: the module {module_name!r} has no {name!r}"
        hint = f"did you mean {meant!r}?" if meant else "it must stand at the top of the module"
        raise ConfigError(msg, place=_place_of(module), hint=hint)
    return value, module


_TAKES = "give a function that takes OpenAI messages, a list, and returns a text"


def _imported(name: str, reference: str) -> ModuleType:
    if sys.path[:1] != [""]:
        sys.path.insert(0, "")
    folder = Path.cwd()
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        words = traceback.format_exception_only(error)[-1].strip()
        absent = isinstance(error, ModuleNotFoundError) and name.startswith(error.name or "\0")
        hint = "the module must be importable from here" if absent else "mend the module"
        msg = f"{reference} cannot be loaded: {words}"
        raise ConfigError(msg, place=_failing_place(error, name), hint=hint) from error
    finally:
        os.chdir(folder)


def _failing_place(error: BaseException, module: str) -> Place | None:
    """Return where foreign code failed; None where there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        return Place(error.filename, error.lineno)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename != __file__ and "importlib" not in f.filename]
    if own:
        return Place(own[-1].filename, own[-1].lineno)
    spec = find_spec(module.partition(".")[0])
    return None if spec is None or spec.origin is None else Place(spec.origin)


def _place_of(module: ModuleType) -> Place | None:
    return None if module.__file__ is None else Place(module.__file__)


def _expect_signature(
    function: Callable[..., Any], reference: str, module: ModuleType, *, sessions: bool
) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # one written in C may not say what it takes
    try:
        signature.bind(*([[], ""] if sessions and takes_session(function) else [[]]))
    except TypeError as error:
        msg = f"{reference} cannot be called with the messages alone: {error}"
        code = getattr(function, "__code__", None)
        place = _place_of(module) if code is None else Place(code.co_filename, code.co_firstlineno)
        raise ConfigError(msg, place=place, hint=_TAKES) from None
