"""Broken logs in every format."""

from __future__ import annotations

import random
from typing import Final

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
            mutate.structure(rng, r) if rng.random() < 0.7 else r
            for r in rng.choices(seeds.RECORDS[format], k=rng.randint(1, 3))
        ]
        if format in _DOCUMENTS and rng.random() < 0.7:
            whole = records if format == "urs" else records[0]
            data = mutate.as_bytes(mutate.as_text(rng, whole))
        else:
            data = mutate.lines_or_array(rng, records)
    return mutate.spoil(rng, data)
