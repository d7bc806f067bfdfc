"""Compressing small texts, tens of thousands of them."""

from __future__ import annotations

import zlib

# Level 1 halves chat text at about 100 MB/s; higher levels cost three times that for a few per cent.
_LEVEL = 1
_SMALL = 1 << 14
_WINDOW, _MEMORY = 13, 6


def squeeze(data: bytes) -> bytes:
    """Compress to the zlib format, for `zlib.decompress`.

    zlib prepares a quarter of a megabyte of tables for every call. For a text of a few kB that takes more
    time than the text does, so small texts get small tables; they come out equally short.
    """
    if len(data) > _SMALL:
        return zlib.compress(data, _LEVEL)
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY)
    return packer.compress(data) + packer.flush()
