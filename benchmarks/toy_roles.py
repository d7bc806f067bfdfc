"""User and judges of the toy as functions, and their rubric: `--role judge=py:benchmarks.toy_roles:judge`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.toy_roleplay import ASSISTANT, PHRASES, USER_LINES

RUBRIC = """
id = "toy"
version = "1"
level = "{level}"
languages = ["en"]
shows = ["scenario", "dialogue"]

[[dimensions]]
name = "in_character"
{rollup}
[dimensions.description]
en = "Does the character say what it always says?"
[dimensions.anchors.en]
5 = "in every reply"
4 = "in some"
3 = "in none"
2 = "an assistant speaks in some"
1 = "an assistant speaks in every reply"
"""
PROMPT = """You judge whether a character says what it always says.

{{dimensions}}

{{reply_format}}
<!-- data -->
Scenario: {{scenario}}

<dialogue>
{{dialogue}}
</dialogue>

{{asked}}
"""
Messages = Sequence[Mapping[str, str]]


def write_rubric(file: Path, level: str) -> None:
    """Write the rubric of a level, `conversation` or `turn`, and its template beside it."""
    rollup = 'rollup = "outcome"' if level == "conversation" else ""
    file.write_text(RUBRIC.format(level=level, rollup=rollup))
    file.with_name(f"{file.stem}.en.md").write_text(PROMPT)


def user(messages: Messages) -> str:
    """Say a line that depends on whom the user talks with, and on how long."""
    return USER_LINES[(len(messages) * 3 + sum(map(ord, messages[0]["content"]))) % len(USER_LINES)]


def judge(messages: Messages) -> str:
    """Score by the catchphrase, as `toy_roleplay.score` does."""
    phrase, replies = _read(messages)
    inside = [phrase in text for text in replies]
    outside = [any(line in text for line in ASSISTANT) for text in replies]
    score = 3 + any(inside) + all(inside) - any(outside) - all(outside) if replies else 3
    return _answer(messages, [score] * len(replies))


def second(messages: Messages) -> str:
    """Score by something else: how many replies are whole sentences that no assistant would say."""
    _, replies = _read(messages)
    own = [text.endswith((".", "!")) and not any(line in text for line in ASSISTANT) for text in replies]
    return _answer(messages, [1 + round(4 * sum(own) / max(len(own), 1))] * len(replies))


def _read(messages: Messages) -> tuple[str, list[str]]:
    text = messages[1]["content"]
    lines = text.partition("<dialogue>")[2].partition("</dialogue>")[0].splitlines()
    said = [json.loads(line) for line in lines if line.startswith("{")]
    stated = re.search(r"You say: ([^\"]*)", text)
    phrase = next(p for p in PHRASES if stated is not None and stated[1].startswith(p))
    return phrase, [m["text"] for m in said if m["role"] == "assistant"]


def _answer(messages: Messages, scores: Sequence[int]) -> str:
    score = scores[-1] if scores else 3
    if "conversation_level" in messages[0]["content"]:
        return json.dumps({"conversation_level": {"in_character": {"note": "As it went.", "score": score}}})
    return json.dumps({"note": "As it went.", "scores": {"in_character": score}})
