"""Valid values made wrong: in their structure first, then in their bytes."""

from __future__ import annotations

import copy
import gzip
import json
import random
import re
from collections.abc import Sequence
from typing import Any

#: Text that stands for itself in JSON: what Python's json module would not write.
RAW = ("NaN", "-Infinity", "1e999", "-0", "01", "'x'", "undefined", "9" * 400, "9" * 5000, "1" + "0" * 30)

_NESTED = re.compile(r'"\\u0001(list|dict)(\d+)\\u0001"')

_TEXTS = (
    "",
    " ",
    "\x00",
    "\n",
    "\u2028",
    "\u202e",
    "\ufeff",
    "\ud800",
    "²",
    "１２",
    "٣",
    "4.5",
    "1_000",
    "+4",
    "4e1",
    "nan",
    "inf",
    "five",
    "n/a",
    "true",
    "null",
    "=1+1",
    "../../etc/passwd",
    "</script><script>x</script>",
    "{{dialogue}}",
    '{"score": 5}',
    "a" * 5000,
    "[" * 1200,
    "[" * 1200 + "]" * 1200,
    '{"a":' * 400,
    "{a=" * 900,
    "中" * 300,
    "🙂\u200d🙂",
    "user",
    "assistant",
    "tool",
    "system",
    "developer",
    "0",
    "-1",
    "1",
    "up",
    "👎",
)
_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    3,
    5,
    6,
    4.5,
    3.0,
    -0.0,
    1e308,
    2**63,
    2**64,
    -(2**70),
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"text": "x"},
    {"type": "text", "text": "x"},
    {"score": 4},
)
_KEYS = (
    "",
    "role",
    "content",
    "text",
    "turn",
    "id",
    "messages",
    "tool_calls",
    "function_call",
    "name",
    "rating",
    "ratings",
    "satisfaction",
    "score",
    "from",
    "value",
    "system",
    "metadata",
    "profile",
    "scenario",
    "dimension",
    "conversation_id",
)


def value(rng: random.Random) -> Any:
    """Draw a value that may stand anywhere."""
    draw = rng.random()
    if draw < 0.45:
        return rng.choice(_TEXTS)
    if draw < 0.95:
        return copy.deepcopy(rng.choice(_VALUES))
    return nested(rng.choice((3, 90, 130, 200, 260, 400, 980, 1015, 1100)), rng.choice(("list", "dict")))


def nested(depth: int, kind: str) -> str:
    """Return a mark for lists or objects nested so deep; `as_text` writes them."""
    return f"\x01{kind}{depth}\x01"


def _deep(match: re.Match[str]) -> str:
    opening, closing = ("[", "]") if match[1] == "list" else ('{"a":', "}")
    return opening * int(match[2]) + "1" + closing * int(match[2])


def _spots(at: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    keys = list(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else ()
    for key in keys:
        found.append((at, key))
        _spots(at[key], found)
    return found


def structure(rng: random.Random, given: Any, most: int = 3, keys: Sequence[str] = ()) -> Any:
    """Return the value with up to `most` changes; the value given stays as it is.

    `keys` are the words that the reader knows: values of any form appear under them.
    """
    holder = [copy.deepcopy(given)]
    for _ in range(rng.randint(1, most)):
        at, key = rng.choice(_spots(holder, []))
        if keys and rng.random() < 0.4:
            at[rng.choice((*keys, *at)) if isinstance(at, dict) else key] = _worded(rng, keys)
        else:
            _change(rng, at, key)
        if not holder:
            holder = [value(rng)]
    return holder[0]


def _worded(rng: random.Random, keys: Sequence[str], deep: int = 0) -> Any:
    draw = rng.random()
    if draw < 0.4 or deep == 3:
        return value(rng)
    if draw < 0.75:
        return {rng.choice(keys): _worded(rng, keys, deep + 1) for _ in range(rng.randint(1, 3))}
    if draw < 0.95:
        return [_worded(rng, keys, deep + 1) for _ in range(rng.randint(0, 3))]
    return rng.choice(keys)


def _change(rng: random.Random, at: Any, key: Any) -> None:
    draw = rng.random()
    if draw < 0.5:
        at[key] = value(rng)
    elif draw < 0.65:
        del at[key]
    elif draw < 0.8 and isinstance(at, dict):
        at[rng.choice((*_KEYS, *at))] = at[key] if rng.random() < 0.5 else value(rng)
    elif draw < 0.9 and isinstance(at, list):
        at.insert(rng.randint(0, len(at)), copy.deepcopy(at[key]))
    elif isinstance(at[key], list):
        at[key] = {"0": at[key]} if rng.random() < 0.5 else at[key][:1]
    else:
        at[key] = [at[key]]


def as_text(rng: random.Random, given: Any) -> str:
    """Write JSON, now and then with a number or a word that no JSON writer would write."""
    marked = given
    if rng.random() < 0.1:
        marked = copy.deepcopy([given])
        at, key = rng.choice(_spots(marked, []))
        at[key] = "\x01RAW\x01"
        marked = marked[0] if marked else None
    text = json.dumps(marked, ensure_ascii=rng.random() < 0.5)
    text = _NESTED.sub(_deep, text)
    return text.replace('"\\u0001RAW\\u0001"', rng.choice(RAW))


def as_bytes(text: str) -> bytes:
    """Encode; half a surrogate pair becomes bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def lines_or_array(rng: random.Random, records: list[Any]) -> bytes:
    """Write records as JSONL, or as one document."""
    texts = [as_text(rng, r) for r in records]
    if rng.random() < 0.75:
        return as_bytes(rng.choice(("\n", "\n", "\r\n", "\n\n")).join(texts))
    if rng.random() < 0.5:
        return as_bytes("[" + ",".join(texts) + "]")
    return as_bytes("[\n" + ",\n".join(texts) + "\n]\n")


def spoil(rng: random.Random, data: bytes) -> bytes:
    """Now and then change bytes, cut the end off, pack it, or put a byte order mark in front."""
    draw = rng.random()
    if draw < 0.6:
        return data
    if draw < 0.72:
        return _flip(rng, data)
    if draw < 0.8:
        return data[: rng.randint(0, len(data))]
    if draw < 0.84:
        at = rng.randint(0, len(data))
        return data[:at] + rng.randbytes(rng.randint(1, 12)) + data[at:]
    if draw < 0.94:
        packed = gzip.compress(data, 1, mtime=0)
        if rng.random() < 0.4:
            packed = packed[: rng.randint(0, len(packed))]
        return _flip(rng, packed) if rng.random() < 0.4 else packed
    if draw < 0.96:
        return rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) + data
    if draw < 0.98:
        return data.decode("utf-8", "replace").encode("utf-16")
    return rng.randbytes(rng.randint(0, 300))


def _flip(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if out:
            out[rng.randrange(len(out))] = rng.choice((rng.randrange(256), *b'"{}[],:\\\n\t\x00'))
    return bytes(out)


_TOML = (
    '""',
    '"x"',
    "-1",
    "0",
    "3",
    "0.5",
    "1e400",
    "nan",
    "-inf",
    "true",
    "[]",
    "{}",
    "[[]]",
    '[1, "x"]',
    "{ a = 1 }",
    "{ en = 'x', zh = 'y' }",
    "1979-05-27",
    "99999999999999999999999999",
    '"{{dialogue}} {{nothing}} {{ }}"',
    '"conversation"',
    '"turn"',
    '"card"',
    '"user"',
)


def toml(rng: random.Random, given: str) -> str:
    """Change a TOML text so that it mostly stays TOML: lines left out, doubled, moved, with other values."""
    if rng.random() < 0.3:
        return text(rng, given)
    lines = given.split("\n")
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(lines))
        draw = rng.random()
        if draw < 0.55 and "=" in lines[at]:
            lines[at] = f"{lines[at].split('=')[0]}= {rng.choice(_TOML)}"
        elif draw < 0.7:
            del lines[at]
        elif draw < 0.8:
            lines.insert(at, lines[at])
        elif draw < 0.9:
            lines.insert(rng.randrange(len(lines)), lines.pop(at))
        else:
            lines.insert(at, f"{rng.choice(('x', *_KEYS[1:]))} = {rng.choice(_TOML)}")
        lines = lines or [""]
    return "\n".join(lines)


def text(rng: random.Random, given: str, alphabet: str = '"{}[],:=.#\n\\ 0159aé中\x00') -> str:
    """Change a text: characters exchanged, pieces doubled, moved or cut off."""
    out = list(given)
    for _ in range(rng.randint(0, 4)):
        draw, at = rng.random(), rng.randint(0, len(out))
        stop = min(len(out), at + rng.choice((1, 3, 20)))
        if draw < 0.4:
            out[at:at] = rng.choice(alphabet)
        elif draw < 0.6:
            del out[at:stop]
        elif draw < 0.75:
            out[at:at] = out[at:stop] * rng.choice((1, 2, 30))
        elif draw < 0.9:
            out[at:at] = rng.choice(_TEXTS)
        else:
            del out[at:]
    return "".join(out)
