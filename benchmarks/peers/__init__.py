"""Peers on the same stub: other tools that let a model judge conversations, each in its own environment.

    python -m venv peer && peer/bin/pip install inspect_ai openai
    DIALOGAUGE_PEER_INSPECT=peer/bin/python python -m benchmarks peers

and the same with `deepeval` and DIALOGAUGE_PEER_DEEPEVAL. Without either only our own row is measured.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.judging import Judging, stub
from benchmarks.process import Cost, environment, measured, median_of
from benchmarks.tables import table

__all__ = ["run"]

_HERE = Path(__file__).resolve().parent
_GRADE = "The reply answers what was asked and keeps to what the user had said before.\nGRADE: C"
_PEERS = {"inspect": ("--content", _GRADE), "deepeval": ()}
_QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "ERROR_REPORTING": "NO",
    "INSPECT_DISABLE_UPDATE_CHECK": "1",
}
_SIZES = (20, 1000)
_AT_ONCE = 64


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    del quick
    rows: list[tuple[object, ...]] = []
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with stub() as url:
            judging = Judging(folder, url)
            judging.judge(20, _AT_ONCE)
            found = {n: median_of(times, lambda n=n: judging.judge(n, _AT_ONCE)[0]) for n in _SIZES}
        figures["dialogauge"] = _row("dialogauge", found, rows)
        for peer in _PEERS:
            python = os.environ.get(f"DIALOGAUGE_PEER_{peer.upper()}")
            if python is None:
                print(f"{peer} left out: DIALOGAUGE_PEER_{peer.upper()} names no Python that has it")
                continue
            figures[peer] = _row(peer, _measured(peer, python, judging, times), rows)
    head = ("who", "20: wall s", "1,000: wall s", "CPU s", "marginal CPU ms", "peak MB")
    title = f"One judgement a conversation, stub at 50 ms, {_AT_ONCE} at once, medians of {times}"
    print(table(title, head, rows))
    return figures


def _measured(peer: str, python: str, judging: Judging, times: int) -> dict[int, Cost]:
    script = str(_HERE / f"with_{peer}.py")
    with stub(0.05, *_PEERS[peer]) as url:

        def once(number: int) -> Cost:
            command = [str(Path(python).absolute()), script, str(judging.log(number)), url, str(_AT_ONCE)]
            return measured(command, env=environment(**_QUIET), cwd=judging.folder)

        return {n: median_of(times, lambda n=n: once(n)) for n in _SIZES}


def _row(who: str, found: dict[int, Cost], rows: list[tuple[object, ...]]) -> dict[str, Any]:
    few, many = (found[n] for n in _SIZES)
    marginal = (many.cpu_s - few.cpu_s) / (_SIZES[1] - _SIZES[0]) * 1000
    rows.append((who, few.wall_s, many.wall_s, many.cpu_s, marginal, many.peak_mb))
    return {"20": vars(few), "1000": vars(many), "marginal_cpu_ms": marginal}
