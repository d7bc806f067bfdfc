"""Secrets: which settings are some, and masking them in whatever form a server sends them back."""

from __future__ import annotations

import base64
import html
import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from dialogauge.core.patterns import lazy_pattern

MASK: Final = "***"

_LEAST: Final = 4
"""Characters: what is shorter is no secret, and masking it would spoil every text."""
_PART: Final = 8
"""Characters of a secret, at its beginning or end, that are masked where a text was cut."""
_LEVELS: Final = 3
"""How often a text may have been escaped."""

_TELLING: Final = lazy_pattern(
    r"(?:api|access|auth|subscription)?keys?|token|auth|authorization|authentication|secret|pass|passwd|pwd"
    r"|pass(?:word|phrase|code)|credentials?|cookies?|session|sessionid|sig|signature|jwt|bearer|code"
)
"""Words in a name whose value is a secret; those of the next make a "token" or "key" one of the model's."""
_OF_TEXTS: Final = lazy_pattern(r"stop|eos|bos|pad|cache")
_HARMLESS: Final = lazy_pattern(
    r"version|title|referr?er|agent|accept|type|region|location|language|locale|deployment|model|beta|origin"
    r"|name|format|encoding"
)
_OF_HEADERS: Final = lazy_pattern("headers")
_PLAIN: Final = lazy_pattern(r"[A-Za-z]{1,15}|[\d.:/-]{1,12}|.{0,7}", re.DOTALL)
"""One word, a number or a date, and what is short: these occur in every text."""

_ESCAPE: Final = re.compile(
    rb"%[0-9a-fA-F]{2}|&#[0-9]{1,9};?|&#[xX][0-9a-fA-F]{1,8};?|&[a-zA-Z]{2,12};"
    rb"|\\+u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}|\\+u[0-9a-fA-F]{4}"
    rb"|\\+U[0-9a-fA-F]{8}|\\+u\{[0-9a-fA-F]{1,6}\}|\\+x[0-9a-fA-F]{2}|\\+[0-7]{3}|\\+[^\\0-9uUx%&]|\\{2,}",
    re.DOTALL,
)
"""One escape. However many backslashes begin it, it is one: each time that a text is escaped doubles them."""
_LONGEST: Final = 64
"""Bytes: more than an escape has."""
_AT_A_TIME: Final = 1 << 16
"""Bytes that are searched for escapes at a time."""
_CUT: Final = re.compile(rb'\s*(?:\Z|\.\.|\xe2\x80\xa6|\xa6\x80\xe2|\*\*|[][<>"])')
"""What stands where a text was cut, read forward or backward."""
_BETWEEN: Final = (re.compile(rb"[^a-z0-9]+"), re.compile(rb"(?:<[^<>]{0,80}>|0x|[^a-z0-9])+"))
"""What may stand between the signs of a secret: anything but letters and digits; tags and `0x` as well."""
_SIGNS: Final = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz0123456789"))
"""The bytes that are none of them."""
_ALPHABETS: Final = (None, bytes.maketrans(b"+/", b"-_"))
"""Base64 as it is, and for URLs."""
_TOKEN: Final = re.compile(rb"[A-Za-z0-9+/_-]{24,}")
_HEX: Final = re.compile(rb"(?:[0-9a-fA-F]{2})+")
_LONG: Final = 12
"""Characters in a row: of fewer, spread over words, nothing would be told from prose."""
_URLS: Final = lazy_pattern(r"(?<=://).*?(?=,[^,]*@https?://|\Z)", re.DOTALL)
"""What follows each scheme, in one URL or in a list of `MODEL@URL`."""


def is_credential(name: str) -> bool:
    """Say whether the name of a header, a query value or a parameter tells that its value is a secret."""
    return _has(name, _TELLING) and not _has(name, _OF_TEXTS)


def secret_values(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the secrets among the values of headers or of a query, by their names.

    A value whose name tells nothing is a secret too, unless it is a plain word, a number or short.
    """
    for name, value in named:
        if is_credential(name):
            yield from _parts(value)
        elif not _has(name, _HARMLESS) and not _PLAIN.fullmatch(value):
            yield value


def url_secrets(url: str) -> Iterator[str]:
    """Yield the secrets in a URL: its user info, and those of its query."""
    parts = urlsplit(url)
    if parts.username is not None:
        user, password = unquote(parts.username), unquote(parts.password or "")
        if parts.password is None or len(user) >= _PART:
            yield user
        yield from (password, f"{user}:{password}", parts.netloc.rpartition("@")[0])
    yield from secret_values(query_values(parts.query))


def query_values(query: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a query; a bare value has no name."""
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        yield (unquote_plus(name), unquote_plus(value)) if equals else ("", unquote_plus(name))


def parameter_secrets(value: object, name: str = "") -> Iterator[str]:
    """Yield the secrets among parameters of any depth: the texts under names that tell so."""
    if isinstance(value, Mapping):
        if _has(name, _OF_HEADERS):
            yield from secret_values((str(k), v) for k, v in value.items() if isinstance(v, str))
        for key, inner in value.items():
            yield from parameter_secrets(inner, name if is_credential(name) else str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from parameter_secrets(inner, name)
    elif isinstance(value, str) and is_credential(name):
        yield from _parts(value)


def shown_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the secrets among them masked."""
    hidden = frozenset(parameter_secrets(parameters))
    return {name: _shown(value, hidden) for name, value in parameters.items()}


def _shown(value: object, hidden: frozenset[str]) -> object:
    if isinstance(value, Mapping):
        return {key: _shown(inner, hidden) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(inner, hidden) for inner in value]
    return MASK if isinstance(value, str) and value in hidden else value


def without_credentials(text: str) -> str:
    """Return a text with each URL in it, well formed or not, cut down to host, port and path.

    What stands behind the last @ counts as the host, so that a password with @, / or # is cut too. A key
    variable behind `#` stays.
    """
    return _URLS.sub(lambda url: _address(url.group()), text)


def _address(url: str) -> str:
    rest = url.rpartition("@")[2]
    address, mark, variable = rest.partition("#")
    host, slash, path = address.partition("?")[0].partition("/")
    name, colon, port = host.rpartition(":")
    if colon and not port.isdigit() and not host.endswith("]"):
        host = f"{name}:{MASK}"
    variable = variable if re.fullmatch(r"[A-Za-z_]\w*", variable) else MASK
    return f"{host}{slash}{path}{mark}{variable if mark else ''}"


def _has(name: str, words: re.Pattern[str]) -> bool:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    return any(words.fullmatch(word) for word in re.findall(r"[a-z]+", parted))


def _parts(value: str) -> Iterator[str]:
    """Yield a credential, and what it is made of: `Bearer KEY`, `Basic PAIR`, `name=value; name=value`."""
    yield value
    for part in re.split(r"[\s;,]+", value):
        inner = part.partition("=")[2]
        yield from (one for one in (part, inner) if len(one) >= _PART)
    scheme, _, coded = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(coded).decode()
        except ValueError:
            return
        yield from (pair, pair.partition(":")[2])


class Secrets:
    """Known secrets, which `mask` and its kin replace by `***`.

    They are found plain, percent-encoded, as JSON or HTML escapes (also escaped up to three times over), in
    base64 of either alphabet with whatever stands around them (also in base64 or escaped once before), in
    hexadecimal digits, backward, and in any case of letters. Any 12 letters and digits in a row of one of
    these are masked, whatever other signs or tags stand between them; of one that was cut, the beginning or
    the end from 8 characters on where the text ends or shows a cut.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        """Take the secrets; those of fewer than four characters are ignored."""
        values = [value for value in values if len(value) >= _LEAST]
        self._forms = sorted({form for value in values for form in _forms(value)})
        self._backward = [form[::-1] for form in self._forms]
        starts = {re.escape(value[:n]) for value in values for n in range(_LEAST, _LONG)}
        stops = {re.escape(value[-n:]) for value in values for n in range(_LEAST, _LONG)}
        mask, first, last = re.escape(MASK), *("|".join(sorted(of, reverse=True)) for of in (starts, stops))
        self._ends = re.compile(rf"(?:{first})[\W_]*{mask}|{mask}[\W_]*(?:{last})") if values else None
        self._long = {form: row for value in values for form, row in _rows(value) if len(form) >= _LONG}
        self._blocks = {
            form[i : i + row // 2] for form, row in self._long.items() for i in _starts(form, row)
        }

    def mask(self, text: str) -> str:
        """Return the text without secrets, and without the ends of one beside what was masked before."""
        raw = text.encode("utf-8", "surrogatepass")
        masked = self.mask_bytes(raw)
        shown = text if masked is raw else masked.decode("utf-8", "replace")
        return shown if self._ends is None or MASK not in shown else self._ends.sub(MASK, shown)

    def mask_bytes(self, raw: bytes) -> bytes:
        """Return the bytes of a text without secrets."""
        spans = sorted(self._spans(raw)) if self.may_hold(raw) else []
        if not spans:
            return raw
        pieces, end = [], 0
        for start, stop in spans:
            if start >= end:
                pieces += [raw[end:start], MASK.encode()]
            end = max(end, stop)
        return b"".join(pieces) + raw[end:]

    def mask_json(self, value: Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return a copy of a JSON value without secrets, in keys and numbers too."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, dict):
            return {self.mask(str(key)): self.mask_json(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.mask_json(inner) for inner in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            shown = str(value)
            masked = self.mask(shown)
            return value if masked == shown else masked
        return value

    def may_hold(self, raw: bytes) -> bool:
        """Say whether a text may hold a secret or a part of one; quicker than to mask all strings in it."""
        for level, _ in _levels(raw, placed=False) if self._forms else ():
            low = level.lower()
            if any(form[:_PART] in low or form[-_PART:] in low for form in self._forms):
                return True
            if any(True for _ in self._joinable(low)) or any(True for _ in self._coded(level)):
                return True
        return False

    def _coded(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Yield where base64 or hexadecimal digits of a text that may hold a secret stand."""
        for token in _TOKEN.finditer(text):
            signs = token.group()
            plain = [base64.urlsafe_b64decode(signs.translate(_ALPHABETS[1])[: len(signs) // 4 * 4])]
            if _HEX.fullmatch(signs):
                plain.append(bytes.fromhex(signs.decode()))
            if any(map(self.may_hold, plain)):
                yield token.span()

    def _joinable(self, low: bytes) -> Iterator[re.Pattern[bytes]]:
        """Yield without what of a text it may hold a part of a secret."""
        for between in _BETWEEN:
            joined = low.translate(None, _SIGNS) if between is _BETWEEN[0] else between.sub(b"", low)
            if any(block in joined for block in self._blocks):
                yield between
            if b"<" not in low and b"0x" not in low:
                return

    def _spans(self, raw: bytes) -> Iterator[tuple[int, int]]:
        """Yield where secrets stand, with escapes as a whole."""
        for level, places in _levels(raw, placed=True):
            low = level.lower()
            size = len(low)
            hits = list(self._coded(level))
            hits += _hits(low, self._forms)
            hits += [(size - stop, size - start) for start, stop in _hits(low[::-1], self._backward)]
            for between in self._joinable(low):
                joined, way = _joined(low, between)
                runs = (span for form, row in self._long.items() for span in _runs(joined, form, row))
                hits += [(way.start(start), way.stop(stop - 1)) for start, stop in runs]
            for start, stop in hits:
                first, last = start, stop - 1
                ends = (first, last + 1)
                for place in reversed(places):
                    ends = (place.start(first), place.stop(last))
                    first, last = ends[0], ends[1] - 1
                yield ends


def _forms(value: str) -> Iterator[bytes]:
    raw = value.encode("utf-8", "surrogatepass")
    once = [raw, raw.replace(b" ", b"+")]
    if not value.isascii():
        once += [raw.decode("latin-1").encode(), value.encode("latin-1", "replace")]
        cases = (value.upper(), value.lower(), value.swapcase(), value.title())
        once += [case.encode("utf-8", "surrogatepass") for case in cases]
    for plain in once:
        # A password may look escaped itself, and is found in a text that was unescaped as often.
        yield from (level.lower() for level, _ in _levels(plain, placed=False) if len(level) >= _LEAST)
    for coded in {raw, *_escaped(value)}:
        yield coded.hex().encode()
        yield from (form.translate(kind).lower() for form in _in_base64(coded) for kind in _ALPHABETS)


def _escaped(value: str) -> Iterator[bytes]:
    """Yield a text as URLs, JSON and HTML have it."""
    raw = value.encode("utf-8", "surrogatepass")
    yield from (quote(raw).encode(), quote(raw, safe="").encode(), quote_plus(raw).encode())
    yield from (
        json.dumps(value, ensure_ascii=ascii)[1:-1].encode("utf-8", "surrogatepass")
        for ascii in (True, False)
    )
    yield html.escape(value).encode("utf-8", "surrogatepass")


def _in_base64(raw: bytes) -> Iterator[bytes]:
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).rstrip(b"=")
        # The first and the last sign also hold bits of what stands beside the secret.
        core = coded[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        if len(core) > _LEAST:
            yield core


def _hits(low: bytes, forms: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where a form stands, whole or cut at its end; both are lower case."""
    for form in forms:
        enough = max(_LONG, len(form) // 3)
        at = low.find(form[:_PART])
        while at >= 0:
            if low.startswith(form, at):
                length = len(form)
            else:
                length = _PART
                while low[at + length : at + length + 1] == form[length : length + 1]:
                    length += 1
            shown = length == len(form) or length >= enough or _CUT.match(low, at + length)
            if shown:
                yield at, at + length
            at = low.find(form[:_PART], at + (length if shown else 1))


def _rows(value: str) -> Iterator[tuple[bytes, int]]:
    """Yield what is left of a secret's forms without other signs, and how many in a row show enough of it."""
    raw = value.encode("utf-8", "surrogatepass")
    for form in (*_forms(value), raw[::-1].lower()):
        yield _BETWEEN[0].sub(b"", form), max(_LONG, _LONG * len(form) // len(raw) - 2)


def _starts(form: bytes, row: int) -> range:
    """Return where blocks begin: any so many in a row hold a whole one."""
    return range(0, len(form) - row // 2 + 1, row // 2)


def _runs(low: bytes, form: bytes, row: int) -> Iterator[tuple[int, int]]:
    """Yield where so many characters of a form stand in a row."""
    size = row // 2
    for i in _starts(form, row):
        at = low.find(form[i : i + size])
        while at >= 0:
            start, stop = at, at + size
            while start > max(0, at - i) and low[start - 1] == form[i + start - 1 - at]:
                start -= 1
            while stop < min(len(low), at - i + len(form)) and low[stop] == form[i + stop - at]:
                stop += 1
            if stop - start >= min(row, len(form)):
                yield start, stop
            at = low.find(form[i : i + size], stop)


class _Places:
    """Where each byte of an unescaped text stood before."""

    def __init__(self) -> None:
        self._after = array("Q", [0])
        self._before = array("Q", [0])
        self._whole = bytearray(1)

    def add(self, after: int, before: int, *, whole: bool) -> None:
        """Begin a piece at these places; a `whole` one is an escape."""
        self._after.append(after)
        self._before.append(before)
        self._whole.append(whole)

    def start(self, byte: int) -> int:
        """Return where the sign of a byte began."""
        i = bisect_right(self._after, byte) - 1
        return self._before[i] + (0 if self._whole[i] else byte - self._after[i])

    def stop(self, byte: int) -> int:
        """Return where the sign of a byte ended."""
        i = bisect_right(self._after, byte) - 1
        return self._before[i + 1] if self._whole[i] else self._before[i] + byte - self._after[i] + 1


def _joined(raw: bytes, between: re.Pattern[bytes]) -> tuple[bytes, _Places]:
    """Return a text without what may stand between the signs of a secret, and the way back."""
    pieces, way, end, size = [], _Places(), 0, 0
    for gap in between.finditer(raw):
        pieces.append(raw[end : gap.start()])
        size, end = size + gap.start() - end, gap.end()
        way.add(size, end, whole=False)
    return b"".join(pieces) + raw[end:], way


def _escapes(raw: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the escapes of a text, which is searched a piece at a time: other threads wait for a search."""
    at = 0
    while at < len(raw):
        stop = at + _AT_A_TIME
        if not _may_escape(raw[at:stop]):
            at = stop
            continue
        for escape in _ESCAPE.finditer(raw, at, stop + _LONGEST):
            if escape.start() >= stop:
                break
            yield escape
            at = escape.end()
        at = max(at, stop)


def _may_escape(raw: bytes) -> bool:
    return b"%" in raw or b"&" in raw or b"\\" in raw


def _levels(raw: bytes, *, placed: bool) -> Iterator[tuple[bytes, tuple[_Places, ...]]]:
    """Yield a text as it is, then unescaped once and more, each with the way back if it is to be `placed`."""
    places: tuple[_Places, ...] = ()
    yield raw, places
    for _ in range(_LEVELS):
        if not _may_escape(raw):
            return
        unescaped, way, end = bytearray(), _Places(), 0
        for escape in _escapes(raw):
            unescaped += raw[end : escape.start()]
            if placed:
                way.add(len(unescaped), escape.start(), whole=True)
            unescaped += _unescaped(escape.group())
            end = escape.end()
            if placed:
                way.add(len(unescaped), end, whole=False)
        if not end:
            return
        unescaped += raw[end:]
        raw, places = bytes(unescaped), (*places, way)
        yield raw, places


_SHORT: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def _unescaped(escape: bytes) -> bytes:
    if escape[:1] == b"%":
        return bytes([int(escape[1:], 16)])
    if escape[:1] == b"&":
        return html.unescape(escape.decode()).encode("utf-8", "replace")
    body = escape.lstrip(b"\\")
    if len(body) < 2:
        return _SHORT.get(body, body or b"\\")
    if body.isdigit():
        return bytes([int(body, 8) & 255])
    if b"\\" in body:
        high, low = int(body[1:5], 16), int(body[-4:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00).encode()
    number = int(body.strip(b"uUx{}"), 16)
    return chr(min(number, 0x10FFFF)).encode("utf-8", "replace")
