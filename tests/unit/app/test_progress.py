"""The live line of progress, in a terminal and in a notebook."""

from __future__ import annotations

import io
import time

import pytest

from dialogauge.app.progress import ProgressObserver
from dialogauge.runs import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, **settings: bool) -> str:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("dialogauge.app.progress._LIVE_SECONDS", 0.01)
    observer = ProgressObserver(**settings)
    with observer.watching(Progress(total=2), lambda: None):
        until = time.monotonic() + 10
        while "0/2 done" not in stream.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    observer.interrupted(first=True)
    return stream.getvalue()


def test_a_notebook_is_given_no_escape_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = written(monkeypatch, io.StringIO(), live=True)
    assert "\x1b" not in text
    line = next(part for part in text.split("\r") if "0/2 done" in part)
    assert f"\r{' ' * len(line)}\r" in text  # what stood there is written over


def test_a_terminal_clears_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\r\x1b[2K0/2 done" in written(monkeypatch, Terminal())
