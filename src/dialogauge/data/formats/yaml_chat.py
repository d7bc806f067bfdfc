"""A list of messages as people write it in YAML: `- role: user`, and `content:` in any of its usual forms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

YAML_CHAT: Final = re.compile(r"\s*-[ ]+(role|content):")
"""The beginning of such a list."""
_FIELD: Final = re.compile(r"(role|content|name):(?:[ ]+(.*))?$")
_BLOCK: Final = re.compile(r"([|>])(-?)$")
_UNSAFE: Final = re.compile(r"[\[{&*!%@`]|(?s:.*)(:\s| #|:$|\n:)")
"""Plain texts that YAML may read as something else."""
_NO_TEXT: Final = re.compile(r"(?i)(null|~|true|false|yes|no|on|off|[-+.\d][-+.:_\da-fox]*|=|<<)$")


def yaml_messages(text: str) -> list[dict[str, Any]]:
    """Return the messages of a list in YAML; raises `ValueError` for what is not of that simple form."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    start = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    margin = _indent(lines[start]) if start < len(lines) else 0
    out: list[dict[str, Any]] = []
    at, inner = start, margin + 2
    while at < len(lines):
        line = lines[at]
        if not line.strip() or line.lstrip().startswith("#"):
            at += 1
            continue
        if _indent(line) == margin and line.lstrip().startswith("- "):
            out.append({})
            line = " " * margin + line.lstrip().replace("-", " ", 1)
            inner = _indent(line)
        field = _FIELD.match(line.strip()) if out and _indent(line) == inner else None
        if field is None or field[1] in out[-1]:
            msg = f"line {at + 1} is {line.strip()[:40]!r}"
            raise ValueError(msg)
        end = at + 1
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > inner):
            end += 1
        out[-1][field[1]] = _scalar((field[2] or "").strip(" "), lines[at + 1 : end], at + 1)
        at = end
    if not all({"role", "content"} <= message.keys() for message in out):
        msg = "a message has no role or no content"
        raise ValueError(msg)
    return out


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _scalar(head: str, rest: list[str], number: int) -> str:
    """Return a text: a block, in quotes, or plain."""
    if block := _BLOCK.match(head):
        return _block(block[1], block[2], rest, number)
    if head.startswith("#") or any(line.lstrip(" ").startswith(("\t", "#")) for line in (head, *rest)):
        msg = f"line {number} has a comment or begins with a tab"
        raise ValueError(msg)
    whole = _folded(iter([head, *(line.strip() for line in rest)]))
    if whole[:1] == '"':
        try:
            value = json.loads(whole)
        except ValueError as error:
            msg = f"line {number} has a text in quotes that cannot be read"
            raise ValueError(msg) from error
        return str(value)
    if whole[:1] == "'":
        inner = whole[1:-1]
        if len(whole) < 2 or whole[-1] != "'" or "'" in inner.replace("''", ""):
            msg = f"line {number} has a text in quotes that cannot be read"
            raise ValueError(msg)
        return inner.replace("''", "'")
    if not whole or _UNSAFE.match(whole) or _NO_TEXT.match(whole) or head[:1] in "|>-?#":
        msg = f"line {number} is {whole[:40]!r}: put it in quotes"
        raise ValueError(msg)
    return whole


def _folded(lines: Iterator[str]) -> str:
    """Return lines joined by a space, and by line breaks where empty ones stand between them."""
    out, empty = "", 0
    for line in lines:
        if not line:
            empty += 1
            continue
        out += ("\n" * empty or " " * bool(out)) + line
        empty = 0
    return out


def _block(style: str, chomp: str, rest: list[str], number: int) -> str:
    own = [line for line in rest if line.strip()]
    if not own:
        return ""
    margin = _indent(own[0])
    if any(_indent(line) < margin for line in own) or len(rest[0]) > margin > len(rest[0].strip()) == 0:
        msg = f"line {number} begins a block whose lines stand apart"
        raise ValueError(msg)
    lines = [line[margin:] for line in rest]
    while lines and not lines[-1].strip():
        lines.pop()
    if style == ">" and any(line[:1] in (" ", "\t") for line in lines):
        msg = f"line {number} begins a folded block with lines further in"
        raise ValueError(msg)
    text = "\n".join(lines) if style == "|" else _folded(iter(lines))
    return text if chomp == "-" else text + "\n"
