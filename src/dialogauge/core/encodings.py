"""Which encoding text is in that is not UTF-8, as far as its characters say it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_CYRILLIC: Final = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфієї"
_JAPANESE: Final = (
    "あいうえおかがきくけこごさしじすせそただちっつてでとどなにのはばまみむもやょよらりるれろわをん"
    "ーアイカクコサシスタッテトドナフマムラリルレロンです。、？"
)
_CHINESE: Final = "的一是不了在人有我他中大上和到你要就出也好以可下自之年能那得後后里裡，。！？"
_COMMON: Final[Mapping[str, str]] = {
    "CP1252": "éèàùâêîôûçëïüöäßñáíóúåæøãõÉÄÖÜÅØ„“”‘’–—…€°£«»¿¡·",
    "CP1250": "ąćęłńśźżčďěňřšťůžáíýéóúőűöüÁÉŁŚŻŠČŘŽ„“”’–—…",
    "MACINTOSH": "éèàùâêîôûçëïüöäßñáíóúåæøÉÄÖÜ„“”‘’–—…",
    "CP1251": _CYRILLIC,
    "KOI8-R": _CYRILLIC,
    "SHIFT_JIS": _JAPANESE,
    "EUC-JP": _JAPANESE,
    "GB18030": _CHINESE + "这个们来为国地说时会对生子过发着吗请问您么没什哪单订",
    "BIG5": _CHINESE + "這個們來為國地說時會對生子過發著嗎請問您麼沒什哪單訂",
    "EUC-KR": "이다는을를의에가하고은나지요니습어시안녕해주세로한도서기그있사게아인제",
}
"""Encoding, as iconv calls it -> frequent characters that are not ASCII, of texts that are in it."""
_LATIN: Final = ("CP1252", "CP1250", "MACINTOSH")
_PYTHONS: Final = {"MACINTOSH": "mac_roman", "SHIFT_JIS": "cp932"}
_ENOUGH: Final = {"CP1251": 0.7, "KOI8-R": 0.7}
"""Of the characters that are not ASCII, the share that must be frequent; of other encodings `_FEW`."""
_FEW: Final = 0.25
_NEAR: Final = 0.1
_LOOKED_AT: Final = 1 << 16


def encodings_of(raw: bytes) -> list[str]:
    """Return the names that iconv has for the encodings that text may be in, the likeliest first.

    Latin-1 is CP1252 but for its control characters, so that is the name for both.
    """
    raw = raw[:_LOOKED_AT]
    apart = 2 * sum(map(len, re.findall(rb"[\x80-\xff]{3,}", raw))) < len(re.findall(rb"[\x80-\xff]", raw))
    texts = {name: _decoded(raw, name) for name in _COMMON if not apart or name not in _ENOUGH}
    shares = {
        name: sum(map(_COMMON[name].__contains__, others)) / len(others)
        for name, text in texts.items()
        if (apart or name not in _LATIN) and (others := [c for c in text if not c.isascii()])
    }
    shares = {name: share for name, share in shares.items() if share >= _ENOUGH.get(name, _FEW)}
    first = {texts[name]: name for name in reversed(shares)}  # one of those that say the same
    likely = sorted(first.values(), key=lambda name: (-round(shares[name], 1), list(shares).index(name)))
    return [name for name in likely if shares[name] > shares[likely[0]] - _NEAR]


def _decoded(raw: bytes, name: str) -> str:
    """Return text by an encoding; nothing where it is not in it."""
    try:
        return raw.decode(_PYTHONS.get(name, name))
    except UnicodeDecodeError as error:
        cut_off = len(raw) == _LOOKED_AT and error.start > len(raw) - 4
        return raw[: error.start].decode(_PYTHONS.get(name, name)) if cut_off else ""


def utf8_hint(raw: bytes) -> str:
    """Return how to write text as UTF-8 that is not."""
    names = encodings_of(raw)
    if not names:
        return "save it as UTF-8: iconv -f ENCODING -t UTF-8, by the encoding of the program that wrote it"
    doubt = ", and look at the text" if len(names) > 1 else ""
    return f"it looks like {' or '.join(names)}: save it as UTF-8, e.g. iconv -f {names[0]} -t UTF-8{doubt}"
