"""A full disk: the run stops with one message, what was stored is readable, the same command goes on."""

from __future__ import annotations

import contextlib
import json
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Cases
from benchmarks.faults.running import Done, Findings, rows_of, start
from benchmarks.tables import table
from dialogauge.core.errors import StoreError
from dialogauge.runs import RunDirectory
from servers.openai_stub import OpenAIStub

__all__ = ["disk_full", "file_limit", "may_mount"]

_ENOUGH_KB = 200_000


def may_mount(folder: Path) -> bool:
    """Say whether file systems can be mounted here, as for root on Linux."""
    place = folder / "try"
    place.mkdir(exist_ok=True)
    if shutil.which("mount") is None or _mount(place, 64).returncode:
        return False
    subprocess.run(["umount", str(place)], check=True)
    return True


def disk_full(folder: Path, *, sizes_kb: tuple[int, ...], number: int = 300, seed: int = 23) -> Findings:
    """Judge onto small file systems of memory, each in its turn too small; then enlarge them."""
    findings = Findings("disk full")
    place = folder / "disk"
    place.mkdir()

    @contextlib.contextmanager
    def small(size: int) -> Iterator[Callable[[], dict[str, Any]]]:
        """A file system of that size; calling what is yielded makes room."""
        _mount(place, size).check_returncode()
        try:
            yield lambda: _enlarge(place)
        finally:
            subprocess.run(["umount", str(place)], check=True)

    with _Trial(findings, folder, number, seed) as trial:
        for size in sizes_kb:
            with small(size) as enlarge:
                trial.fill(f"{size} kB", "disk/run", enlarge, {})
        trial.tell()
    return findings


def file_limit(folder: Path, *, sizes_kb: tuple[int, ...], number: int = 300, seed: int = 23) -> Findings:
    """The same where nothing can be mounted: no file may grow beyond a size, then it may."""
    findings = Findings("no room for a file")
    with _Trial(findings, folder, number, seed) as trial:
        for size in sizes_kb:
            limit = (size * 1024, resource.RLIM_INFINITY)
            more = {"preexec_fn": lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit)}
            trial.fill(f"{size} kB", f"run{size}", lambda: None, more)
        trial.tell()
    return findings


def _mount(place: Path, size_kb: int) -> subprocess.CompletedProcess[bytes]:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(place)]
    return subprocess.run(command, check=False, capture_output=True)


def _enlarge(place: Path) -> None:
    subprocess.run(["mount", "-o", f"remount,size={_ENOUGH_KB}k", str(place)], check=True)


class _Trial:
    """Fills, looks, makes room, and goes on."""

    def __init__(self, findings: Findings, folder: Path, number: int, seed: int) -> None:
        self.findings = findings
        self.folder = folder
        self.cases = Cases.drawn(number, seed)
        self.cases.write(folder)
        self.lines: list[tuple[object, ...]] = []
        self._server = OpenAIStub(self.cases.reply, latency=0.01)

    def __enter__(self) -> _Trial:
        self._server.__enter__()
        self.findings.hold(self._judge("undisturbed", {}).code == 0, "the undisturbed run failed")
        self.expected = _comparable(self.folder / "undisturbed")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def _judge(self, run: str, more: dict[str, Any]) -> Done:
        process = start(
            self.folder, "judge", self.cases.log, "--rubric", self.cases.rubric, "--model", "stub-model",
            "--base-url", self._server.url, "--no-cache", "--max-concurrency", 16, "-o", run, **more,
        )  # fmt: skip
        out, err = process.communicate(timeout=120)
        return Done(process.returncode, out, err)

    def fill(self, size: str, run: str, make_room: Callable[[], object], more: dict[str, Any]) -> None:
        """Run into the full disk, make room, run again."""
        hold = self.findings.hold
        done = self._judge(run, more)
        said = [line for line in done.err.splitlines() if line.strip()]
        kept = [line for line in said if "are kept" in line]
        hold(done.code in (0, 1), f"{size}: exit code {done.code}: {done.err}")
        hold("Traceback" not in done.err, f"{size}: {done.err}")
        if done.code:
            hold(len(said) - len(kept) == 1, f"{size}: says {said}")
        self._whole(size, run)
        readable = self._stored(run)
        before = len(self._server.asked)
        make_room()
        stored = self._stored(run) or 0
        hold(readable in (stored, None), f"{size}: {readable} stored while full, {stored} with room")
        hold(readable is not None or not stored, f"{size}: {stored} stored cannot be read while full")
        again = self._judge(run, {})
        asked = len(self._server.asked) - before
        hold(again.code == 0, f"{size}, with room: exit code {again.code}: {again.err}")
        hold(_comparable(self.folder / run) == self.expected, f"{size}: other rows than undisturbed")
        hold(asked == len(self.cases.truth) - stored, f"{size}: {asked} asked again with {stored} stored")
        self.lines.append((size, done.code, stored, asked, said[0] if said else ""))

    def _stored(self, run: str) -> int | None:
        """Count what is stored, through a reader of the run file; None if it cannot be read."""
        directory = RunDirectory(self.folder / run)
        if not directory.exists:
            return 0
        try:
            database = directory.open_for_reading()
        except StoreError:
            return None
        try:
            return sum(len(database.finished(judge)) for judge in database.judges())
        finally:
            database.close()

    def _whole(self, size: str, run: str) -> None:
        """Check that the files beside the run file are whole or absent, and that nothing else is left."""
        directory = self.folder / run
        stray = [p.name for p in directory.glob(".*") if p.name != ".lock"]
        self.findings.hold(not stray, f"{size}: leaves {stray}")
        for name in ("summary.json", "manifest.json"):
            if (directory / name).exists():
                json.loads((directory / name).read_text())
        if (directory / "judgements.jsonl").exists():
            rows_of(directory)

    def tell(self) -> None:
        """Say what came of each size."""
        head = ("room", "exit", "stored", "asked with room", "message")
        self.findings.say(table(f"{len(self.cases.truth)} conversations", head, self.lines))
        self.findings.hold(any(line[1] for line in self.lines), "no disk was too small")


def _comparable(run: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "usage"} for row in rows_of(run)]
