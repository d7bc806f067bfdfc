"""Broken logs in every format."""

from __future__ import annotations

import ast
import random
from functools import cache
from pathlib import Path
from typing import Final

from dialogauge.data import formats
from fuzzing import mutate, samples, seeds

ENDINGS: Final = {
    **dict.fromkeys(seeds.RECORDS, "jsonl"),
    "csv": "csv",
    "uss": "txt",
    "chat": "txt",
    "aider": "md",
    "captions": "vtt",
    "template-text": "txt",
    **dict.fromkeys(("recllmsim", "urs", "inspect", "tau2"), "json"),
}
"""By format: how its files are called."""
_DOCUMENTS: Final = ("recllmsim", "urs", "inspect", "tau2")
"""Formats of which a file is one JSON document."""


@cache
def _words(format: str) -> tuple[tuple[str, ...], ...]:
    """Return the words in the code of the reader, and those in the code of all readers."""
    words: dict[bool, set[str]] = {True: set(), False: set()}
    for path in Path(formats.__file__).parent.glob("*.py"):
        code = path.read_text(encoding="utf-8")
        constants = (one.value for one in ast.walk(ast.parse(code)) if isinstance(one, ast.Constant))
        texts = {one for one in constants if isinstance(one, str) and 0 < len(one) < 30 and " " not in one}
        words[f'"{format}"' in code] |= texts
    return tuple(sorted(words[True])), tuple(sorted(words[True] | words[False])), ()


def broken_log(rng: random.Random, format: str) -> bytes:
    """Make a log of one format, with something wrong in its records, in its bytes, or in both."""
    if format == "csv":
        data = mutate.as_bytes(mutate.text(rng, seeds.CSV, ',;\t"\r\n\x004aé'))
    elif format == "chat":
        lines = rng.sample(seeds.CHAT.splitlines(keepends=True), k=rng.randint(2, 9))
        data = mutate.as_bytes(mutate.text(rng, "".join(lines), ":[]-\n\u200e9,/ A"))
    elif format in ("aider", "captions"):
        seed = seeds.AIDER if format == "aider" else seeds.CAPTIONS
        data = mutate.as_bytes(mutate.text(rng, seed, "#> \n<v>:-.0 A"))
    elif format == "template-text":
        data = mutate.as_bytes(mutate.text(rng, samples.TEMPLATE, "<|_im>\n/s[] "))
    elif format == "uss":
        data = mutate.as_bytes(mutate.text(rng, seeds.USS, "\t\n,4-x\r\x00"))
    else:
        records = [
            mutate.structure(rng, r, keys=rng.choice(_words(format))) if rng.random() < 0.7 else r
            for r in rng.choices(seeds.RECORDS[format], k=rng.randint(1, 3))
        ]
        if format in _DOCUMENTS and rng.random() < 0.7:
            whole = records if format == "urs" else records[0]
            data = mutate.as_bytes(mutate.as_text(rng, whole))
        else:
            data = mutate.lines_or_array(rng, records)
    return mutate.spoil(rng, data)
