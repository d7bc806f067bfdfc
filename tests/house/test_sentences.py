"""Pages are understood at first reading: no sentence has more than 25 words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 25
RESULTS = (
    "agreement",
    "believable",
    "evidence",
    "learn_vendors",
    "optimise_trainers",
    "readers",
    "sessions",
    "spine_two",
    "trust",
)
"""Of the pages of measurements, those that are held to this; the others are older records."""
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / "docs" / "development" / "results" / f"{name}.md" for name in RESULTS),
]
"""Those that `make docs` writes are among them: mend the docstring or help text that they are made of."""

_CODE = re.compile(r"(`+).+?\1")
_NAMES = re.compile(r"Code(?:, Code)+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^()\s]+(?: \"[^\"]*\")?\)")
_INTERVAL = re.compile(r"\[[^\[\]A-Za-z]*\]")
_STARTS = re.compile(r"^ *(?:#+ |[-*+] |\d+\. |\|)")
_ENDS = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")


def texts_of(page: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph, item of a list, heading and cell of a table, with the number of its first line.

    Code and quoted output are left out.
    """
    page = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), page)
    first, text, fenced = 0, "", False
    for number, line in enumerate([*page.splitlines(), ""], start=1):
        fence = re.match(r" *(```|~~~)", line) is not None
        prose = bool(line.strip()) and not (fenced or fence or line.startswith((">", "    ")))
        fenced ^= fence
        if text and (not prose or _STARTS.match(line)):
            cells = text.strip(" |").split("|") if text.startswith("|") else [_STARTS.sub("", text)]
            yield from ((first, cell) for cell in cells)
            text = ""
        if prose:
            line = _CODE.sub("Code", line)
            first, text = (first, f"{text} {line}") if text else (number, line)


def sentences_of(page: str) -> Iterator[tuple[int, str, int]]:
    """Yield each sentence with its line and its number of words.

    Code is one word, and so is a list of names in code; a link counts by its text; an interval is no word.
    """
    for line, text in texts_of(page):
        plain = _INTERVAL.sub("", _LINK.sub(r"\1", text)).replace("*", "")
        for sentence in _ENDS.split(_NAMES.sub("Code", plain)):
            yield line, sentence.strip(), sum(any(map(str.isalnum, word)) for word in sentence.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_are_short(page: Path) -> None:
    sentences = sentences_of(page.read_text(encoding="utf-8"))
    name = page.relative_to(ROOT)
    assert [f"{name}:{line}: {n} words: {text}" for line, text, n in sentences if n > MOST] == []


def test_words_are_counted_as_a_reader_does() -> None:
    page = """\
# One heading

The mean is 3.2 [2.9, 3.5], that is, good. `dialogauge judge log.jsonl` writes
it to [this file](page.md#mean), see `a`, `b`, `c` or `d`. (Is it? Yes.)

- **First**: see [0.5](a.md).
- second; 95 % of it
    code is not read
<!-- nor
is this -->
| what | how many |
|---|---|
| turns | Two. Or three `a|b` |

```
nor this
```
> nor what was printed
"""
    counted = [(line, n) for line, _, n in sentences_of(page) if n]
    paragraph = [(3, 7), (3, 10), (3, 2), (3, 1)]
    items = [(6, 3), (7, 4)]
    cells = [(11, 1), (11, 2), (13, 1), (13, 1), (13, 3)]
    assert counted == [(1, 2), *paragraph, *items, *cells]
