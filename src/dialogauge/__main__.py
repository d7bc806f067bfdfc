"""The command as a process of its own: `dialogauge`, and `python -m dialogauge`."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False  # as in the face of the package: a Ctrl-C is ours from the first lines on
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, NoReturn


def main() -> None:
    """Run the command line with signals and standard streams that leave no traceback.

    SIGTERM and SIGHUP end it as Ctrl-C does. Where Ctrl-C is ignored (behind `nohup`, in the background of a
    script) all three stay as they are.
    """
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        _heed_signals()
    _mend_streams()
    # A command makes many small objects and hardly a cycle: looking for cycles so often costs a tenth.
    gc.set_threshold(50_000, 20, 100)
    out = sys.stdout
    try:
        try:
            from dialogauge.cli import main as command

            if heeded:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            command()
        finally:
            if heeded:
                signal.signal(signal.SIGINT, _leave)
            _release(out)
    except KeyboardInterrupt:
        _leave()
    except (MemoryError, ImportError, RuntimeError) as error:
        _leave_if_interrupted(error)  # a library that a Ctrl-C kept from loading lacks nothing
        _end_if_lacking(error)
        raise
    except SystemExit as end:
        if end.code == 130:  # an interrupt within an `exec` makes Python end with another code
            os._exit(130)
        raise


def _heed_signals() -> None:
    atexit.register(_ignore_signals)  # the first to be registered is the last to be called
    signal.signal(signal.SIGINT, _leave)
    sys.unraisablehook, sys.excepthook = _unraisable, _uncaught
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


def _ignore_signals() -> None:
    """Let the process end with its own code: Python takes our handlers away, and a signal would kill it."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_IGN)


def _leave(*_: object) -> NoReturn:
    """End the process at once: there is nothing yet, or nothing any more, that could be kept."""
    with suppress(OSError):
        os.write(2, b"dialogauge: interrupted\n")
    os._exit(130)


def _end_if_lacking(error: Exception) -> None:
    """End the process where it is the system that lacks or refuses something; else it is a fault of ours."""
    if isinstance(error, MemoryError):
        what = "there is not enough memory"
    elif isinstance(error, ImportError):
        what = f"a library cannot be loaded: {' '.join(str(error).split())[-300:]}"
    elif "start new thread" in str(error):
        what = "the system gives no more threads"
    else:
        return
    with suppress(OSError):
        os.write(2, f"dialogauge: {what}; what is stored is kept\n".encode("ascii", "backslashreplace"))
    sys.exit(1)


def _leave_if_interrupted(error: BaseException | None) -> None:
    """Heed a Ctrl-C that came where Python makes another error of it, or none at all, and would go on.

    A library in another language keeps no more of it than its name: `SchemaError: ... KeyboardInterrupt: `.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt) or KeyboardInterrupt.__name__ in str(error):
            _leave()
        error = error.__cause__ or error.__context__


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    _leave_if_interrupted(what.exc_value)
    sys.__unraisablehook__(what)


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _leave_if_interrupted(error)
    sys.__excepthook__(kind, error, trace)


class _Lossy(io.FileIO):
    """Drops what nobody can take: the disk is full, the terminal is gone."""

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - any buffer
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _mend_streams() -> None:
    """Open what is closed, write what an encoding lacks as its escape, and let standard error never fail.

    A closed input or output is opened the wrong way round: its use is an error that can be reported. Left
    closed, the next file that is opened would take its place.
    """
    for number, way in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, way)  # takes the lowest number that is free: this one
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # the real stream
    encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
    raw = io.BufferedWriter(_Lossy(2, "wb", closefd=False))
    sys.stderr = io.TextIOWrapper(raw, encoding, errors="backslashreplace", line_buffering=True)


def _release(out: Any) -> None:  # noqa: ANN401 - a text stream, or what a test put in its place
    """Empty standard output; what it does not take must not be tried again when the process ends."""
    try:
        out.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
