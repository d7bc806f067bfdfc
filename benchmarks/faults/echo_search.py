"""A search for secrets in what a command left, which shares no code with the product's masking."""

from __future__ import annotations

import base64
import binascii
import html
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

__all__ = ["found", "texts_in"]

_DEEP = 3
_GAP = re.compile("[\\s\0:\u200b-\u200f\u2060\ufeff\u00ad-]")
_CODED = re.compile(r"[A-Za-z0-9+/_-]{11,}")
_HEX = re.compile(r"[0-9a-fA-F]{16,}")
_CODE = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<four>[0-9a-fA-F]{4})|\\U(?P<eight>[0-9a-fA-F]{8})|\\u\{(?P<any>[0-9a-fA-F]{1,6})\}"
    r"|\\x(?P<two>[0-9a-fA-F]{2})|\\(?P<octal>[0-7]{3})|\\(?P<sign>[^ux0-7])",
    re.DOTALL,
)


def found(text: str, secret: str) -> str | None:
    """Say how a secret, or half of it, can be read out of a text; None where it cannot."""
    blocks = _Blocks(secret)
    seen: set[str] = set()
    layer = {text}
    for depth in range(_DEEP + 1):
        for one in layer:
            way = _in_layer(one, blocks)
            if way is not None:
                return f"{way}, unescaped {depth} times" if depth else way
        seen |= layer
        layer = {new for one in layer for new in _unescaped(one)} - seen
    return None


class _Blocks:
    """A secret in pieces: one of them stands in every part that is half of it or more."""

    def __init__(self, secret: str) -> None:
        self.secrets = {_GAP.sub("", one) for one in (secret.casefold(), secret.upper().casefold())}
        self.secrets = {one for one in self.secrets if one}

    def stand_in(self, text: str) -> bool:
        text = _GAP.sub("", text).casefold()
        for secret in self.secrets:
            enough = min(len(secret), max(12, (len(secret) + 1) // 2))
            step = max(1, enough // 2)
            for at in range(0, len(secret) - step + 1, step):
                block = secret[at : at + step]
                place = text.find(block)
                while place >= 0:
                    if self._longest(text, place, secret, at) >= enough:
                        return True
                    place = text.find(block, place + 1)
        return False

    @staticmethod
    def _longest(text: str, place: int, secret: str, at: int) -> int:
        start, place_start = at, place
        while start > 0 and place_start > 0 and text[place_start - 1] == secret[start - 1]:
            start, place_start = start - 1, place_start - 1
        end, place_end = at, place
        while end < len(secret) and place_end < len(text) and text[place_end] == secret[end]:
            end, place_end = end + 1, place_end + 1
        return end - start


def _in_layer(text: str, blocks: _Blocks) -> str | None:
    joined = _GAP.sub("", text)
    ways = {"as text": iter((joined,)), "base64": _in_base64(text, joined), "hex": _in_hex(joined)}
    return next((way for way, read in ways.items() if any(map(blocks.stand_in, read))), None)


def _in_base64(text: str, joined: str) -> Iterator[str]:
    for kept in {text, re.sub(r"\s", "", text), joined}:
        for run in _CODED.findall(kept):
            for inner in _decoded(run):
                yield from (inner, *_unescaped(inner))


def _in_hex(joined: str) -> Iterator[str]:
    for run in _HEX.findall(joined):
        for start in (0, 1):
            digits = run[start:]
            yield from _read(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _decoded(run: str) -> Iterator[str]:
    run = run.replace("-", "+").replace("_", "/")
    for start in range(4):
        part = run[start:]
        part = part[: len(part) // 4 * 4] if len(part) % 4 == 1 else part + "=" * (-len(part) % 4)
        try:
            raw = base64.b64decode(part)
        except binascii.Error:
            continue
        yield from _read(raw)


def _read(raw: bytes) -> set[str]:
    return {raw.decode("utf-8", "replace"), raw.decode("latin-1")}


def _unescaped(text: str) -> set[str]:
    percent = unquote_to_bytes(text.encode("utf-8", "surrogatepass"))
    singles = {
        *_read(percent),
        *_read(percent.replace(b"+", b" ")),
        html.unescape(text),
        _CODE.sub(_sign, text),
    }
    whole = html.unescape(_CODE.sub(_sign, percent.decode("utf-8", "replace")))
    return singles | {whole}


def _sign(escape: re.Match[str]) -> str:
    if escape["pair"]:
        high, low = int(escape["pair"][2:6], 16), int(escape["pair"][8:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    if escape["sign"]:
        return {"n": "\n", "r": "\r", "t": "\t"}.get(escape["sign"], escape["sign"])
    digits = escape["four"] or escape["eight"] or escape["any"] or escape["two"]
    number = int(digits, 16) if digits else int(escape["octal"], 8)
    return chr(number) if number < 0x110000 else ""


def texts_in(folder: Path, leave: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield everything that stands in the files of a folder, with where it stands.

    Each file as it is, so free pages and the journals of databases too; of a database all values, unpacked
    where they are packed.
    """
    names = set(leave)
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name in names:
            continue
        raw = path.read_bytes()
        where = str(path.relative_to(folder))
        yield where, where + "\n" + raw.decode("utf-8", "replace")
        if raw.startswith(b"SQLite format 3"):
            yield f"{where}, values", "\n".join(_values(path))
        packed = "\n".join(_streams(raw))
        if packed:
            yield f"{where}, packed", packed


def _values(path: Path) -> Iterator[str]:
    with sqlite3.connect(path) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, bytes):
                        yield value.decode("utf-8", "replace")
                        yield from _streams(value)
                    else:
                        yield str(value)
    db.close()


def _streams(raw: bytes) -> Iterator[str]:
    """Yield what is packed by zlib, deflate or gzip in these bytes, wherever it begins."""
    for start in re.finditer(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08", raw):
        reader = zlib.decompressobj(47)
        try:
            piece = reader.decompress(raw[start.start() :], 1 << 24)
        except zlib.error:
            continue
        if piece:
            yield piece.decode("utf-8", "replace")
