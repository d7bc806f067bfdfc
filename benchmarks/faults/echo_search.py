"""A search for secrets in what a command left, which shares no code with the product's masking."""

from __future__ import annotations

import base64
import binascii
import html
import itertools
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

__all__ = ["marked", "secrets_in", "texts_in"]

_DEEP = 3
_GAP = re.compile("[\\s\0:\u200b-\u200f\u2060\ufeff\u00ad-]")
_CODED = re.compile(r"[A-Za-z0-9+/_-]{15,}")
_HEX = re.compile(r"[0-9a-fA-F]{16,}")
_CODE = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<four>[0-9a-fA-F]{4})|\\U(?P<eight>[0-9a-fA-F]{8})|\\u\{(?P<any>[0-9a-fA-F]{1,6})\}"
    r"|\\x(?P<two>[0-9a-fA-F]{2})|\\(?P<octal>[0-7]{3})|\\(?P<sign>[^ux0-7])",
    re.DOTALL,
)


def secrets_in(text: str, secrets: Sequence[str], *, thorough: bool = True) -> dict[str, str]:
    """Return the secrets that can be read out of a text, or half of them, each with the way in which.

    A `thorough` search undoes escapes of each kind alone too; it is for short texts.
    """
    left = {secret: _Blocks(secret) for secret in secrets}
    ways: dict[str, str] = {}
    seen: set[str] = set()
    layer = {text}
    for depth in range(_DEEP + 1):
        for one in layer:
            for way, reading in _readings(one):
                for secret in [s for s, blocks in left.items() if blocks.stand_in(reading)]:
                    ways[secret] = f"{way}, unescaped {depth} times"
                    del left[secret]
        seen |= layer
        layer = {new for one in layer for new in _unescaped(one, alone=thorough)} - seen
    return ways


class _Blocks:
    """A secret in pieces: one of them stands in every part that is half of it or more."""

    def __init__(self, secret: str) -> None:
        self.secrets = {_GAP.sub("", one) for one in (secret.casefold(), secret.upper().casefold())}
        self.secrets = {one for one in self.secrets if one}

    def stand_in(self, text: str) -> bool:
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


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield all that stands in a text, without gaps and in small letters: as it is, and decoded."""
    joined = _GAP.sub("", text)
    runs = {run for kept in {text, re.sub(r"\s", "", text), joined} for run in _CODED.findall(kept)}
    coded = {inner for run in runs for inner in _decoded(run)}
    coded |= {new for inner in coded if any(sign in inner for sign in "%&\\") for new in _unescaped(inner)}
    digits = {run[start:] for run in _HEX.findall(joined) for start in (0, 1)}
    bare = {inner for one in digits for inner in _read(bytes.fromhex(one[: len(one) // 2 * 2]))}
    for way, texts in (("as text", {joined}), ("base64", coded), ("hex", bare)):
        yield way, _GAP.sub("", "\n;".join(texts)).casefold()


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


def _unescaped(text: str, *, alone: bool = True) -> set[str]:
    percent = unquote_to_bytes(text.encode("utf-8", "surrogatepass"))
    whole = html.unescape(_CODE.sub(_sign, percent.decode("utf-8", "replace")))
    if not alone:
        return {whole}
    singles = {*_read(percent), *_read(percent.replace(b"+", b" "))}
    return {whole, html.unescape(text), _CODE.sub(_sign, text)} | singles


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
        yield where, f"{path.name}\n{raw.decode('utf-8', 'replace')}"
        values = list(_values(path)) if raw.startswith(b"SQLite format 3") else []
        dictionaries = {zlib.adler32(value): value for value in values if isinstance(value, bytes)}
        if values:
            yield f"{where}, values", "\n".join(_text(value, dictionaries) for value in values)
        if packed := "\n".join(_streams(raw, dictionaries)):
            yield f"{where}, packed", packed


def _values(path: Path) -> Iterator[object]:
    with sqlite3.connect(path) as db:
        for (one,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f'SELECT * FROM "{one}"'):
                yield from row
    db.close()


def _text(value: object, dictionaries: Mapping[int, bytes]) -> str:
    if not isinstance(value, bytes):
        return str(value)
    return "\n".join((value.decode("utf-8", "replace"), *_streams(value, dictionaries)))


def _streams(raw: bytes, dictionaries: Mapping[int, bytes]) -> Iterator[str]:
    """Yield what is packed by zlib or gzip in these bytes, wherever it begins; the end may be missing."""
    for start in re.finditer(rb"(?=[\x08\x18\x28\x38\x48\x58\x68\x78]|\x1f\x8b\x08)", raw):
        packed = raw[start.start() :]
        if packed[:1] != b"\x1f" and int.from_bytes(packed[:2]) % 31:
            continue
        known = dictionaries.get(int.from_bytes(packed[2:6])) if packed[1:2] >= b" " else None
        reader = zlib.decompressobj(47) if known is None else zlib.decompressobj(zdict=known)
        piece = b""
        try:
            for at in range(0, min(len(packed), 1 << 20), 256):
                piece += reader.decompress(packed[at : at + 256])
        except zlib.error:
            pass
        if len(piece) > 8:
            yield piece.decode("utf-8", "replace")


def marked(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number in each mark `~N~`, and what stands behind it up to the next."""
    marks = list(re.finditer(r"~(\d{1,6})~", text))
    for mark, after in itertools.zip_longest(marks, marks[1:]):
        end = len(text) if after is None else after.start()
        yield int(mark[1]), text[mark.end() : min(end, mark.end() + 20_000)]
