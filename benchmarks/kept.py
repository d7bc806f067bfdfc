"""What must not rise: judging by a model to a bare loop, the local judge to a pass over the text, its calls.

    python -m benchmarks kept             # what CI runs: ends with 1 where one is over 1.25 of its kept ratio
    python -m benchmarks.kept --write     # keeps what is measured now; the reason belongs in the commit

Both sides of a ratio are CPU of one process, one right after the other, so that a slow or a busy machine
slows both. The best of five counts; a check ends with the first that is within the bound. The same code gives
43 passes on one kind of machine and 54 on another, so the calls that Python makes are counted too: no machine
changes them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.process import ROOT, in_process
from benchmarks.tables import table

__all__ = ["measure", "run"]

_FILE: Final = Path(__file__).with_name("kept.json")
_ROOM: Final = 1.25
_TIMES: Final = 5
_SECONDS: Final = 25.0
"""Of one check: on a busy machine no further round is begun then."""
_JUDGED: Final = 300
_ASKED: Final = 1_500
"""By the bare loop, which takes a tenth of the time."""
_CONCURRENCY: Final = 64


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the ratios. SystemExit(1) where one is above what is kept."""
    del times, quick
    kept = json.loads(_FILE.read_text())
    best = {name: min(in_process(__name__, name, ratio * _ROOM)["ratios"]) for name, ratio in kept.items()}
    rows = [(name, best[name], ratio, ratio * _ROOM) for name, ratio in kept.items()]
    print(table("Kept costs", ("cost", "now", "kept", "at most"), rows))
    if above := [name for name, ratio in kept.items() if best[name] > ratio * _ROOM]:
        print(f"slower than kept: {', '.join(above)}")
        raise SystemExit(1)
    return best


def measure(name: str, enough: float) -> dict[str, Any]:
    """Return the ratios of some rounds, up to the first that is `enough`."""
    rounds = {
        "judging by a model to a bare loop": _model,
        "local judge to one pass over the text": _local,
        "calls of the local judge a turn": _calls,
    }
    ratios: list[float] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for ratio in rounds[name](Path(folder)):
            ratios.append(ratio)
            late = time.monotonic() - began > _SECONDS
            if ratio <= enough or late or len(ratios) == _TIMES:
                break
    return {"ratios": ratios}


def _model(folder: Path) -> Any:  # noqa: ANN401 - yields ratios
    """Yield the CPU of judging a conversation over that of asking the same and doing nothing with it."""
    import dialogauge
    from benchmarks.bare import ask
    from benchmarks.conversations import write_log
    from benchmarks.judging import stub

    write_log(folder / "few.jsonl", 20)
    write_log(folder / "log.jsonl", _JUDGED)
    with stub() as url:
        settings = {"model": "stub-model", "base_url": url, "max_concurrency": _CONCURRENCY}

        def judge(log: str) -> None:
            os.environ["DIALOGAUGE_CACHE"] = tempfile.mkdtemp(dir=folder)
            run = dialogauge.judge(folder / log, rubric="card", progress=False, **settings)
            assert run.summary["conversations"]["judged"] == (_JUDGED if log == "log.jsonl" else 20)

        judge("few.jsonl")  # loads what is loaded once
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/request") as response:
            body = response.read()
        while True:
            bare = _cpu(lambda: asyncio.run(ask(url, body, _ASKED, _CONCURRENCY))) / _ASKED
            yield _cpu(lambda: judge("log.jsonl")) / _JUDGED / bare


def _local(folder: Path) -> Any:  # noqa: ANN401 - yields ratios
    """Yield the CPU of judging the examples over that of finding every word in them."""
    from benchmarks.local_judge import seconds_of_pass

    del folder
    judge_all, read = _examples()
    texts = [message.text for c in read for message in c.messages]
    while True:
        once = seconds_of_pass(texts, 20)
        yield _cpu(judge_all) / once


def _calls(folder: Path) -> Any:  # noqa: ANN401 - yields one number
    """Yield how often Python calls a function, its own or a built-in one, for a turn of the examples."""
    del folder
    judge_all, read = _examples()
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    judge_all()
    sys.setprofile(None)
    yield calls / sum(len(c.replied_turns) for c in read)


def _examples() -> tuple[Callable[[], None], Any]:
    """Return what judges the examples anew, warmed up, and the examples."""
    import dataclasses

    from dialogauge.core import Conversation
    from dialogauge.data import read_conversations
    from dialogauge.judges.local.judge import LocalJudge
    from dialogauge.signals import recent_view

    judge = LocalJudge()
    source = read_conversations([str(ROOT / "src/dialogauge/samples/working.jsonl")])
    read = [c for c in source if isinstance(c, Conversation)]

    def judge_all() -> None:
        recent_view.cache_clear()
        for conversation in [dataclasses.replace(c) for c in read]:  # turns are derived once and then kept
            judge.judge_now(conversation)

    judge_all()
    return judge_all, read


def _cpu(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def main() -> None:
    """Keep what is measured now."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kept")
    parser.add_argument("--write", action="store_true", help="keep what is measured now")
    parser.add_argument("names", nargs="*", help="of the ratios; default: all")
    given = parser.parse_args()
    kept = json.loads(_FILE.read_text())
    for name in given.names or kept:
        ratios = in_process("benchmarks.kept", name, 0)["ratios"]
        print(name, *(f"{ratio:.2f}" for ratio in sorted(ratios)))
        kept[name] = round(min(ratios), 2)
    if given.write:
        _FILE.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()
