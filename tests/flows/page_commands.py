"""What the pages tell their readers to type: the command lines, and the snippets of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"commands.md", "reference.md", "json.md"}
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")))
    if page.name not in GENERATED
]
"""Every page that somebody wrote, but not the records of how it was developed."""

_PROGRAM = re.compile(r"(?:[A-Z_]+=\S+ +)*(dialogauge|make|pip|python|pytest|uvx|cp|export|source)(?= )")
_NAME = re.compile(
    r"(?:dialogauge )?(?:(?:annotate|replay) [a-z]+|check|judge|report|show|runs|export|compare|trust"
    r"|agreement|fit|pairs|arena|success|satisfaction|doctor) (?!-)"
)
_SPAN = re.compile(r"(?<!`)`([^`]+)`")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _pieces(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield each block with its language, and each line of prose with None; lines that go on are joined."""
    language, block = None, ""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines(keepends=True):
        fence = re.match(r" *```(\w*)", line)
        if language is not None and fence:
            yield language, block
            language = None
        elif fence:
            language, block = fence[1], ""
        elif language is not None:
            block += line
        else:
            yield ("indented", line) if re.match(r" {4}\S", line) else (None, line)


def commands_of(page: str) -> list[str]:
    """Return the command lines of a page: those in its blocks, and those with an input in its prose."""
    found = []
    for language, piece in _pieces(text_of(page)):
        if language is None:
            found += [span[1] for span in _SPAN.finditer(piece) if _NAME.match(span[1])]
        elif language in {"", "console", "indented"}:
            lines = (line.strip().removeprefix("$ ") for line in piece.splitlines())
            found += [re.sub(r" +# .*", "", line) for line in lines if _PROGRAM.match(line)]
    return found


def outputs_of(page: str) -> list[str]:
    """Return the blocks of a page that are printed, not typed."""
    pieces = (piece for language, piece in _pieces(text_of(page)) if language == "")
    return [piece for piece in pieces if not _PROGRAM.match(piece)]


def snippets_of(page: str, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return [piece for found, piece in _pieces(text_of(page)) if found == language]
