"""Synthetic conversations: six exchanges, about 4.0 kB of text, no two alike."""

from __future__ import annotations

import json
import random
from pathlib import Path

__all__ = ["text_of", "write_log"]

_TEXT = (
    "order parcel delivery address street morning evening train ticket station hotel room night price "
    "restaurant table guests weekend museum garden river bridge recipe garlic pepper butter flour kitchen "
    "bicycle repair engine battery charger screen keyboard printer account password email invoice refund "
    "garage window ceiling paint ladder school teacher lesson exam history novel author chapter music "
    "concert violin piano doctor appointment medicine pharmacy insurance bank transfer balance card please "
    "could would should about before after again maybe thank sorry because although however then there"
)
_WORDS = _TEXT.split()


def write_log(
    path: Path, number: int, *, exchanges: int = 6, message_chars: int = 333, seed: int = 1
) -> None:
    """Write conversations in the form of OpenAI fine-tuning files, one a line."""
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as out:
        for n in range(number):
            messages = [
                {"role": role, "content": text_of(rng, message_chars)}
                for _ in range(exchanges)
                for role in ("user", "assistant")
            ]
            out.write(json.dumps({"id": f"c{n:07d}", "messages": messages}) + "\n")


def text_of(rng: random.Random, chars: int) -> str:
    words = " ".join(rng.choices(_WORDS, k=chars // 6 + 3))[: chars - 1]
    return words[:1].upper() + words[1:] + "."
