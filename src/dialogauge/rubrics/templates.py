"""Templates, and the package's own wording: frame phrases, the re-ask, the window summary."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_ANY = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")


def placeholders(template: str) -> tuple[str, ...]:
    """Return the names in double braces, in order of first appearance."""
    return tuple(dict.fromkeys(match.strip() for match in _ANY.findall(template)))


def render(template: str, values: Mapping[str, str]) -> str:
    """Replace every `{{name}}` by its value.

    One pass: braces in values have no effect. Unused values are ignored. Raises KeyError for a name without
    a value.
    """
    return _NAME.sub(lambda match: values[match.group(1)], template)


_FILES = Path(__file__).parent / "files"


@cache
def frame(language: str) -> Mapping[str, str]:
    """Return the phrases of a language, or the English ones."""
    return _words("frame", language)


@cache
def memory_words(language: str) -> Mapping[str, str]:
    """Return the wording about users' memories in a language, or the English one."""
    return _words("user_memory", language)


def _words(name: str, language: str) -> Mapping[str, str]:
    table: dict[str, dict[str, str]] = tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8"))
    return table.get(language, table["en"])


def phrase(language: str, key: str, **values: str) -> str:
    """Return one phrase with its placeholders filled."""
    return render(frame(language)[key], values)


@cache
def own_template(name: str, language: str) -> str:
    """Return a template of the package (`reask`, `summary`) in a language, or the English one."""
    path = _FILES / f"{name}.{language}.md"
    if not path.exists():
        path = _FILES / f"{name}.en.md"
    return path.read_text(encoding="utf-8").strip()
