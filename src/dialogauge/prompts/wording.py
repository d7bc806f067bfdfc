"""The fixed wording that comes with the package: frame phrases, the re-ask, the window summary."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from dialogauge.prompts.render import render

__all__ = ["frame", "memory_words", "own_template", "phrase"]

_FILES = Path(__file__).parent / "files"


@cache
def frame(language: str) -> Mapping[str, str]:
    """Return the phrases of a language; the English ones where we have none of that language."""
    return _words("frame", language)


@cache
def memory_words(language: str) -> Mapping[str, str]:
    """Return the words in which memories of users are asked for and shown; likewise."""
    return _words("user_memory", language)


def _words(name: str, language: str) -> Mapping[str, str]:
    table: dict[str, dict[str, str]] = tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8"))
    return table.get(language, table["en"])


def phrase(language: str, key: str, **values: str) -> str:
    """Return one phrase with its placeholders filled."""
    return render(frame(language)[key], values)


@cache
def own_template(name: str, language: str) -> str:
    """Return a template of ours (`reask`, `summary`); English where there is none of that language."""
    path = _FILES / f"{name}.{language}.md"
    if not path.exists():
        path = _FILES / f"{name}.en.md"
    return path.read_text(encoding="utf-8").strip()
