"""Secrets of all kinds, and the forms in which a server may give them back, drawn from a seed."""

from __future__ import annotations

import base64
import html
import json
import random
import string
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

__all__ = ["CUT_FORMS", "FORMS", "SECRETS", "drawn_secret"]

_LETTERS: Final = string.ascii_letters + string.digits
_HOSTILE: Final = "@:/#% \"'\\&<>+=?;,|{}[]~$!é中ßñ€Ж😀"
_GAPS: Final = (" ", "\n", "\r\n\t", ":", " : ", "\u200b", "\ufeff", "\u00ad", "\u2060", "\0")

Rng = random.Random
Form = Callable[[str, Rng], str]


def _signs(rng: Rng, alphabet: str, least: int, most: int) -> str:
    return "".join(rng.choices(alphabet, k=rng.randint(least, most)))


def _for_urls(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _password(rng: Rng, signs: str) -> str:
    return _signs(rng, _LETTERS, 6, 12) + _signs(rng, signs, 2, 8) + _signs(rng, _LETTERS + signs, 8, 40)


def _jwt(rng: Rng) -> str:
    claims = {"sub": _signs(rng, string.digits, 8, 8), "name": _signs(rng, _LETTERS, 4, 20)}
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    return ".".join(map(_for_urls, [*parts, rng.randbytes(32)]))


_ASCII: Final = "".join(sign for sign in _HOSTILE if sign.isascii())

SECRETS: Final[Mapping[str, Callable[[Rng], str]]] = {
    "letters and digits": lambda rng: _signs(rng, _LETTERS, 16, 200),
    "small letters": lambda rng: _signs(rng, string.ascii_lowercase, 16, 64),
    "hex": lambda rng: _signs(rng, "0123456789abcdef", 16, 128),
    "digits": lambda rng: _signs(rng, string.digits, 16, 40),
    "prefixed": lambda rng: (
        rng.choice(("sk-", "sk-proj-", "ghp_", "hf_", "gsk_")) + _signs(rng, _LETTERS + "-_", 16, 160)
    ),
    "with + / =": lambda rng: base64.b64encode(rng.randbytes(rng.randint(16, 100))).decode(),
    "cloud": lambda rng: (
        "AKIA"
        + _signs(rng, string.ascii_uppercase + "234567", 16, 16)
        + "/"
        + _signs(rng, _LETTERS + "/+", 40, 40)
    ),
    "JWT": _jwt,
    "UUID": lambda rng: "-".join(_signs(rng, "0123456789abcdef", n, n) for n in (8, 4, 4, 4, 12)),
    "password": lambda rng: _password(rng, _ASCII),
    "password beyond ASCII": lambda rng: _password(rng, _HOSTILE),
    "pair": lambda rng: f"{_signs(rng, _LETTERS, 3, 12)}:{_password(rng, _ASCII)}",
}
"""How one is drawn, by kind. Those of headers, keys and queries must be ASCII."""


def drawn_secret(rng: Rng, *, plain: bool = False) -> str:
    """Draw a secret; a `plain` one can stand in a header as it is."""
    while True:
        secret = SECRETS[rng.choice(list(SECRETS))](rng).strip()
        if not plain or secret.isascii():
            return secret


def _each(escape: Callable[[str, Rng], str], *, all_signs: float = 0.5) -> Form:
    """Return a form that escapes every sign, or only those that are no letters and some others."""

    def form(text: str, rng: Rng) -> str:
        share = 1.0 if rng.random() < all_signs else rng.random()
        return "".join(
            escape(c, rng) if not c.isalnum() or not c.isascii() or rng.random() < share else c for c in text
        )

    return form


def _percent(sign: str, rng: Rng) -> str:
    digits = rng.choice(("%02x", "%02X"))
    return "".join("%" + digits % byte for byte in sign.encode())


def _units(sign: str) -> list[int]:
    raw = sign.encode("utf-16-be")
    return [int.from_bytes(raw[i : i + 2]) for i in range(0, len(raw), 2)]


def _json(sign: str, rng: Rng) -> str:
    digits = rng.choice(("\\u%04x", "\\u%04X"))
    return "".join(digits % unit for unit in _units(sign))


def _code(sign: str, rng: Rng) -> str:
    number = ord(sign)
    ways = [f"\\U{number:08x}", f"\\u{{{number:x}}}"]
    if number < 128:
        ways += [f"\\x{number:02x}", f"\\{number:03o}"]
    return rng.choice(ways)


def _entity(sign: str, rng: Rng) -> str:
    number = ord(sign)
    named = html.escape(sign)
    ways = [f"&#{number};", f"&#x{number:x};", f"&#X{number:X};", f"&#{number:07d};", f"&#x{number:06x};"]
    return rng.choice([*ways, named] if named != sign else ways)


def _mixed(sign: str, rng: Rng) -> str:
    if sign not in "%&\\" and rng.random() < 0.2:
        return sign
    return rng.choice((_percent, _json, _code, _entity))(sign, rng)


_ESCAPES: Final[Mapping[str, Form]] = {
    "percent": _each(_percent),
    "JSON escapes": _each(_json),
    "code escapes": _each(_code),
    "HTML entities": _each(_entity),
    "mixed escapes": _each(_mixed),
}
_WHOLE: Final[Mapping[str, Form]] = {
    "quoted": lambda s, rng: rng.choice((quote(s), quote(s, safe=""), quote_plus(s))),
    "JSON text": lambda s, _: json.dumps(s)[1:-1],
    "HTML text": lambda s, _: html.escape(s),
}


def _escaped(times: int) -> Form:
    def form(text: str, rng: Rng) -> str:
        ways = [*_ESCAPES.values(), *_WHOLE.values()]
        for _ in range(times):
            text = rng.choice(ways)(text, rng)
        return text

    return form


def _base64(text: str, rng: Rng) -> str:
    """The text anywhere in a longer one, in either alphabet, with or without padding."""
    before, after = (rng.choice((b"", rng.randbytes(rng.randint(1, 40)))) for _ in range(2))
    encode = rng.choice((base64.b64encode, base64.urlsafe_b64encode))
    coded = encode(before + text.encode() + after).decode()
    return coded if rng.random() < 0.5 else coded.rstrip("=")


def _folded(text: str, rng: Rng) -> str:
    width = rng.choice((16, 64, 76))
    return rng.choice(("\n", "\r\n", "\\n")).join(text[i : i + width] for i in range(0, len(text), width))


def _hex(text: str, rng: Rng) -> str:
    digits = text.encode().hex(*rng.choice(((), (" ",), (":",), ("-",))))
    return digits.upper() if rng.random() < 0.5 else digits


def _spread(text: str, rng: Rng) -> str:
    gap, every = rng.choice(_GAPS), rng.choice((1, 1, 2, 4, 10))
    if rng.random() < 0.3:
        return "".join(c + (rng.choice(_GAPS) if rng.random() < 0.3 else "") for c in text)
    return gap.join(text[i : i + every] for i in range(0, len(text), every))


def _cases(text: str, rng: Rng) -> str:
    return rng.choice((str.upper, str.lower, str.swapcase, str.title, str.casefold))(text)


def _then(*forms: Form) -> Form:
    def form(text: str, rng: Rng) -> str:
        for one in forms:
            text = one(text, rng)
        return text

    return form


FORMS: Final[Mapping[str, Form]] = {
    "plain": lambda s, _: s,
    "in other cases": _cases,
    **_ESCAPES,
    **_WHOLE,
    "escaped twice": _escaped(2),
    "escaped three times": _escaped(3),
    "base64": _base64,
    "base64, escaped": _then(_base64, _escaped(1)),
    "base64, in lines": _then(_base64, _folded),
    "base64 of an escaped text": _then(lambda s, rng: rng.choice(list(_WHOLE.values()))(s, rng), _base64),
    "base64, in other cases": _then(_base64, _cases),
    "hex": _hex,
    "hex, escaped": _then(_hex, _escaped(1)),
    "spread": _spread,
    "spread and escaped": _then(_spread, _escaped(1)),
    "spread base64": _then(_base64, _spread),
    "Python": lambda s, rng: rng.choice((repr(s), repr(s.encode()))),
}
"""A whole secret, by how it is written."""


def _beginning(text: str, rng: Rng) -> str:
    return text[: rng.randint(8, max(8, len(text) - 1))] + rng.choice(("...", "…", "***", " ..."))


def _end(text: str, rng: Rng) -> str:
    return rng.choice(("...", "…", "***")) + text[-rng.randint(8, max(8, len(text) - 1)) :]


CUT_FORMS: Final[Mapping[str, Form]] = {
    "its first half": lambda s, _: s[: max(12, (len(s) + 1) // 2)],
    "its last half": lambda s, _: s[-max(12, (len(s) + 1) // 2) :],
    "base64 of its first half": lambda s, rng: _base64(s[: max(16, (len(s) + 1) // 2)], rng),
    "cut at its end": _beginning,
    "cut at its start": _end,
}
"""A part of one."""
