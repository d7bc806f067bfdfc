"""Compressing small texts, tens of thousands of them."""

from __future__ import annotations

import zlib
from functools import lru_cache

# Level 1 halves chat text at about 100 MB/s; higher levels cost three times that for a few per cent.
_LEVEL = 1
_SMALL = 1 << 14
_WINDOW, _MEMORY = 13, 6


def squeeze(data: bytes, dictionary: bytes = b"") -> bytes:
    """Compress to the zlib format, for `unsqueeze`; without a dictionary also for `zlib.decompress`.

    zlib prepares a quarter of a megabyte of tables for every call. For a text of a few kB that takes more
    time than the text does, so small texts get small tables, which are copied; they come out equally short.

    Args:
        data: Any bytes.
        dictionary: A text like it: what stands there too costs next to nothing.
    """
    window, memory = (_WINDOW, _MEMORY) if len(data) <= _SMALL else (zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL)
    packer = _packer(window, memory, dictionary).copy()
    return packer.compress(data) + packer.flush()


@lru_cache(maxsize=4)
def _packer(window: int, memory: int, dictionary: bytes) -> zlib._Compress:
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, window, memory, zlib.Z_DEFAULT_STRATEGY, dictionary)


@lru_cache(maxsize=4)
def _unpacker(dictionary: bytes) -> zlib._Decompress:
    return zlib.decompressobj(zdict=dictionary)


def unsqueeze(data: bytes, dictionary: bytes = b"") -> bytes:
    """Return what `squeeze` was given with the same dictionary; zlib.error where the data is damaged."""
    reader = _unpacker(dictionary).copy()
    unpacked = reader.decompress(data)
    if not reader.eof:
        msg = "incomplete or truncated stream"
        raise zlib.error(msg)
    return unpacked
