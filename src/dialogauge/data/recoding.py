"""Files in UTF-16, which spreadsheets call Unicode text, read as UTF-8."""

from __future__ import annotations

import codecs
import errno
import io
from typing import Any, Final

UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""How such a file begins."""
_BLOCK: Final = 1 << 18


class Recoded(io.RawIOBase):
    """UTF-16 as UTF-8; raises `OSError` where it does not go on as it begins."""

    def __init__(self, file: io.BufferedReader) -> None:
        """Take a file that is open at its beginning."""
        self._file, self._decoder, self._left = file, codecs.getincrementaldecoder("utf-16")(), b""

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        """Write the next bytes into a buffer and return how many."""
        ended = False
        while not self._left and not ended:
            block = self._file.read1(_BLOCK)
            ended = not block
            try:
                self._left = self._decoder.decode(block, final=ended).encode()
            except UnicodeError as error:
                raise OSError(errno.EILSEQ, "it begins as UTF-16 and does not go on so") from error
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
