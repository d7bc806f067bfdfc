"""Every command as a process of its own, with a terminal, streams and signals that misbehave."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pytest

from dialogauge.__main__ import main as _entry
from flows.conftest import Done
from in_process import run_main
from pins.inputs import write_inputs

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMANDS = {
    "help": "--help",
    "help of a command": "judge --help",
    "version": "--version",
    "judge": "judge log.jsonl -o again",
    "judge json": "judge log.jsonl -o again --json",
    "dry run": "judge log.jsonl -o planned --dry-run",
    "check": "check log.jsonl",
    "check json": "check log.jsonl --json",
    "report": "report run -o again.html",
    "trust": "trust run",
    "agreement": "agreement run",
    "export": "export run -o out.csv",
    "pairs": "pairs run --kind kto --unchecked -o kto.jsonl",
    "fit": "fit rated.jsonl --cv 3 -o fitted.json",
    "satisfaction": "satisfaction rated.jsonl --split-file split.json --judge global-mean -o sat",
    "init": "init started",
    "select": "replay select rated.jsonl -o items.json",
}
MISTAKES = {
    "nothing": "",
    "no such command": "jugde log.jsonl",
    "no such option": "judge log.jsonl --nope",
    "no such file": "judge nothing.jsonl",
    "a bad value": "judge log.jsonl --limit many",
    "no model": "doctor",
    "no run": "export nothing -o out.csv",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    write_inputs(folder, "http://127.0.0.1:9")
    assert run(folder, "judge rated.jsonl --rubric satisfaction -o run").returncode == 0
    return folder


Line = str | Sequence[str]


def started(
    folder: Path, line: Line, env: dict[str, str] | None = None, **streams: Any
) -> subprocess.Popen[bytes]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCE),
        "DIALOGAUGE_CACHE": str(folder / "cache"),
        **(env or {}),
    }
    words = [sys.executable, "-m", "dialogauge", *(line.split() if isinstance(line, str) else line)]
    return subprocess.Popen(words, cwd=folder, env=environment, **streams)


def run(
    folder: Path,
    line: Line,
    env: dict[str, str] | None = None,
    stdout: int | IO[bytes] = subprocess.PIPE,
    **more: Any,
) -> subprocess.CompletedProcess[bytes]:
    process = started(folder, line, env, stdout=stdout, stderr=subprocess.PIPE, **more)
    out, err = process.communicate(timeout=60)
    assert b"Traceback" not in err, (line, err.decode(errors="replace"))
    assert b"Exception ignored" not in err, (line, err.decode(errors="replace"))
    return subprocess.CompletedProcess(line, process.returncode, out, err)


def closing(*numbers: int) -> dict[str, Any]:
    return {"preexec_fn": lambda: [os.close(number) for number in numbers]}


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_where_its_words_could_not_go(folder: Path, name: str) -> None:
    line = COMMANDS[name]
    with Path("/dev/full").open("wb") as full:
        done = run(folder, line, stdout=full)
    assert done.returncode == 1
    assert b"the output could not be printed: No space left" in done.stderr
    if name not in ("help", "judge", "check json", "report"):
        return  # what follows is of the process, and the same in all
    done = run(folder, line, **closing(1))
    assert (done.returncode, b"could not be printed: Bad file descriptor" in done.stderr) == (1, True)
    reader, writer = os.pipe()
    os.close(reader)
    done = run(folder, line, stdout=writer)
    os.close(writer)
    assert (done.returncode, b"could not be printed" in done.stderr) == (1, False)


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_ends_quietly_where_nobody_reads_on(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As before `| head`, in this process: one of its own would only take longer."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DIALOGAUGE_CACHE", str(folder / "cache"))
    monkeypatch.setattr(sys, "argv", ["dialogauge", *COMMANDS[name].split()])
    reader, writer = os.pipe()
    os.close(reader)
    out = os.fdopen(writer, "w", encoding="utf-8")
    with monkeypatch.context() as streams:
        streams.setattr(sys, "stdout", out)
        code = run_main()
    with suppress(BrokenPipeError):
        out.close()
    assert (code, capfd.readouterr().err) == (1, "")


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_needs_neither_input_nor_messages(folder: Path, name: str) -> None:
    done = run(folder, COMMANDS[name], **closing(0, 2))
    assert done.returncode == 0
    assert done.stdout


def test_messages_that_nobody_takes_stop_no_command(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = started(folder, "check odd.jsonl", stdout=subprocess.PIPE, stderr=full)
        assert process.communicate(timeout=60)[0]
        assert process.returncode == 1


def test_an_input_that_is_closed_is_named(folder: Path) -> None:
    done = run(folder, "check -", **closing(0))
    assert (done.returncode, b"<stdin>: " in done.stderr) == (1, True)


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-16"])
@pytest.mark.parametrize("name", ["judge", "satisfaction", "judge json"])
def test_an_encoding_that_lacks_a_character_shows_its_escape(folder: Path, name: str, encoding: str) -> None:
    done = run(folder, COMMANDS[name], {"PYTHONIOENCODING": encoding})
    assert done.returncode == 0
    if "json" in name:
        json.loads(done.stdout.decode())


@pytest.mark.long
@pytest.mark.parametrize("columns", ["0", "1", "7", "abc", "100000"])
@pytest.mark.parametrize("name", ["help of a command", "judge", "satisfaction"])
def test_a_terminal_of_any_width_will_do(folder: Path, name: str, columns: str) -> None:
    ours, theirs = pty.openpty()
    process = started(
        folder, COMMANDS[name], {"COLUMNS": columns, "TERM": "dumb"}, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    text = drained(ours)
    assert process.wait(60) == 0, text
    assert b"Traceback" not in text


def drained(terminal: int) -> bytes:
    text = b""
    while True:
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not read:
            break
        text += read
    os.close(terminal)
    return text


@pytest.mark.parametrize("name", ["judge", "check", "help"])
def test_a_terminal_that_is_gone_is_no_traceback(folder: Path, name: str) -> None:
    ours, theirs = pty.openpty()
    process = started(folder, COMMANDS[name], stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    os.close(ours)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"Traceback" not in err


@pytest.mark.long
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said_in_a_line(folder: Path, name: str) -> None:
    code = 1 if name in ("no such file", "no run") else 2
    done = run(folder, MISTAKES[name])
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr
    assert run(folder, MISTAKES[name], **closing(2)).returncode == code
    with Path("/dev/full").open("wb") as full:
        process = started(folder, MISTAKES[name], stderr=full)
        assert process.wait(60) == code


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("annotate make log.jsonl", b"Error: Missing option '--raters'. Number of raters."),
        ("show run", b"Error: Missing argument 'ID'. A conversation's id, as on the page."),
    ],
)
def test_what_is_missing_is_said_with_what_it_takes(folder: Path, line: str, said: bytes) -> None:
    done = run(folder, line)
    assert (done.returncode, said in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "line",
    ["\x1b[31mjudge", "judge log.jsonl --\x1b[2J", "judge a \x1b]0;x\x07 --limit \x9b31m", "judge x\u202ey"],
)
def test_what_was_typed_reaches_no_terminal_raw(folder: Path, line: str) -> None:
    text = run(folder, line).stderr.decode()
    assert not {c for c in text if not (c.isprintable() or c == "\n")}, text


def heeds(process: subprocess.Popen[bytes], number: int) -> bool:
    caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
    return process.poll() is not None or bool(int(caught[1], 16) >> (number - 1) & 1)


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_moment_ends_it_without_a_traceback(folder: Path, sent: int) -> None:
    begun = time.monotonic()
    run(folder, COMMANDS["judge"])
    whole = time.monotonic() - begun
    for part in range(8):
        process = started(folder, COMMANDS["judge"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not heeds(process, signal.SIGHUP):  # until then it is Python that starts, not we
            time.sleep(0.001)
        time.sleep(whole * part / 8)
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 130), (process.returncode, err)
        assert b"Traceback" not in err, err.decode()
        assert b"Exception ignored" not in err, err.decode()
        assert (b"interrupted" in err) == (process.returncode == 130)


HALF_LOADED = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "sqlite3":
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise {error}
sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize(
    "error",
    ["ImportError('half loaded') from error", "LookupError('no validator: KeyboardInterrupt: ') from None"],
)
def test_a_signal_of_which_a_library_makes_an_error_is_heeded(
    folder: Path, tmp_path: Path, error: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(HALF_LOADED.format(error=error))
    path = {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(tmp_path)])}
    done = run(folder, f"judge log.jsonl -o {tmp_path}/run", path)
    assert (done.returncode, done.stderr) == (130, b"dialogauge: interrupted\n")


LATE = """
import os, sys
class Late:
    kill, process = staticmethod(os.kill), os.getpid()
    def __del__(self): self.kill(self.process, {number})
sys.late = Late()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_when_all_is_done_changes_nothing(folder: Path, tmp_path: Path, sent: int) -> None:
    (tmp_path / "sitecustomize.py").write_text(LATE.format(number=int(sent)))
    path = {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(tmp_path)])}
    assert run(folder, COMMANDS["check"], path).returncode == 0


def test_the_entry_point_is_there() -> None:
    assert callable(_entry)


@pytest.mark.long
def test_no_path_reaches_a_terminal_raw(
    folder: Path, dialogauge: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    log = folder / "log\x1b[31m\u202e.jsonl"
    log.write_bytes((folder / "log.jsonl").read_bytes())
    hostile = "out\x1b[2J\nreport: forged"
    for words in (
        ("judge", log.name),
        ("judge", log.name, "--dry-run"),
        ("judge", "log.jsonl", "-o", hostile),
        ("check", log.name),
        ("export", "run", "-o", f"{hostile}.csv"),
        ("pairs", "run", "--kind", "kto", "--unchecked", "-o", f"{hostile}.jsonl"),
        ("report", "run", "-o", f"{hostile}.html"),
        ("agreement", "run", "-o", hostile),
        ("init", hostile),
        ("fit", "rated.jsonl", "--cv", "3", "-o", f"{hostile}.json"),
        ("replay", "select", "rated.jsonl", "-o", f"{hostile}.json"),
        ("judge", "log.jsonl", "--rubric", hostile),
        ("judge", "log.jsonl", "--config", hostile),
        ("judge", "log.jsonl", "--gate", hostile),
        ("judge", "log.jsonl", "--model", hostile),
        ("judge", "log.jsonl", "--judge", hostile),
        ("trust", hostile),
        ("doctor", "--model", hostile, "--base-url", "http://127.0.0.1:9/v1", "--api-key-env", hostile),
    ):
        done = dialogauge(*words)
        text = done.out + done.err
        assert text
        assert not {c for c in text if not (c.isprintable() or c == "\n")}, (words, text)
        assert "\nreport: forged" not in text, words


SCARCE = {
    "there is not enough memory": "import dialogauge.core.files as f\n"
    "def no(*a, **k): raise MemoryError\nf.Path.open = no",
    "a library cannot be loaded: ": "import sys\nsys.modules['sqlite3'] = None",
    "the system gives no more threads": "import threading\n"
    'def no(*_, **__): raise RuntimeError("can\'t start new thread")\n'
    "name = '_start_new_thread' if hasattr(threading, '_start_new_thread') else '_start_joinable_thread'\n"
    "setattr(threading, name, no)",
}


@pytest.mark.parametrize("what", SCARCE)
def test_what_the_system_does_not_give_is_said_in_a_line(folder: Path, tmp_path: Path, what: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(SCARCE[what])
    (tmp_path / "slow.py").write_text("def reply(messages): return ''")
    path = {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(tmp_path)])}
    line = f"judge log.jsonl --role judge=py:slow:reply -o {tmp_path}/scarce"
    done = run(folder, line, path)
    assert done.returncode == 1
    assert done.stderr.decode().startswith(f"dialogauge: {what}"), done.stderr


def test_a_start_is_written_whole_or_not_at_all(folder: Path, tmp_path: Path) -> None:
    little = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))}
    done = run(folder, f"init {tmp_path}/begun", {"PYTHONDONTWRITEBYTECODE": "1"}, **little)
    assert (done.returncode, b"dialogauge.toml cannot be written: File too large" in done.stderr) == (1, True)
    assert list((tmp_path / "begun").iterdir()) == []
    assert run(folder, f"init {tmp_path}/begun").returncode == 0
    assert (tmp_path / "begun" / "dialogauge.toml").stat().st_size > 1000
