"""The judge `local-user` on one core: its fit, targets a second from raw text, growth with the history."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path
from typing import Any

from benchmarks.conversations import text_of
from benchmarks.process import in_process
from benchmarks.recllmsim import folder, read_study
from benchmarks.tables import table

__all__ = ["run"]

_TARGETS, _EXCHANGES, _CHARS = 20, 5, 1000


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    del quick
    data = folder()
    figures: dict[str, Any] = in_process(__name__, str(data or ""), times)
    if data is not None:
        head = ("fit s", "targets", "history", "targets a second", "and the history read anew for each block")
        rows = [[figures["study"][k] for k in ("fit_s", "targets", "history", "per_s", "cold_per_s")]]
        print(
            table(f"local-user on RecLLMSim, one core, best of {times} (bar: 100, goal: 1,000)", head, rows)
        )
    rows = [(k, v["ms"], v["ms_per_turn"]) for k, v in figures["growth"].items()]
    head = ("history", f"ms for {_TARGETS} targets, nothing read before", "ms a turn read")
    print(table(f"Growth, replies of {_CHARS:,} characters (linear: the last column stays)", head, rows))
    return figures


def measure(path: str, times: int) -> dict[str, Any]:
    """Fit and judge the data set at a path, if one is given, and synthetic histories of growing length."""
    found: dict[str, Any] = {"growth": _growth(times)}
    if path:
        found["study"] = _study(path, times)
    return found


def _study(path: str, times: int) -> dict[str, Any]:
    study = read_study(Path(path))
    found = [_judged(study, cold=cold) for cold in (False, True) for _ in range(times)]
    warm = min(seconds for _, seconds in found[:times])
    cold = min(seconds for _, seconds in found[times:])
    return {
        "fit_s": min(fit for fit, _ in found),
        "targets": study.targets,
        "history": sum(len(b.view.history) for b in study.blocks) / len(study.blocks),
        "per_s": study.targets / warm,
        "cold_per_s": study.targets / cold,
    }


def _judged(study: Any, *, cold: bool) -> tuple[float, float]:  # noqa: ANN401 - imported where measured
    """Return the seconds of the fit, by a block of one target, and of all blocks after it."""
    from dialogauge.judges.local_user.judge import LocalUserJudge

    judge = LocalUserJudge()
    nobody = _nobody(study.blocks[0].view)
    fit = _timed(judge, [nobody], study.population)
    views = [b.view for b in study.blocks]
    if cold:  # another user in between makes the judge forget what it read
        views = [v for view in views for v in (nobody, view)]
    return fit, _timed(judge, views, study.population)


def _growth(times: int) -> dict[str, Any]:
    from dialogauge.data import UserSplit
    from dialogauge.studies.satisfaction.blocks import study_data

    known = [talk for u in range(8) for talk in _talks(f"u{u}", 60)]
    found: dict[str, Any] = {}
    for history in (25, 50, 100, 200, 400):
        split = UserSplit(frozenset(f"u{u}" for u in range(8)), frozenset({"me"}))
        study = study_data([*known, *_talks("me", history)], split=split)
        one = next(b for b in study.blocks if b.view.scenario == "target")
        seconds = min(_alone(one.view, study.population) for _ in range(times))
        found[f"{history} turns"] = {
            "ms": 1000 * seconds,
            "ms_per_turn": 1000 * seconds / (history + _TARGETS),
        }
    return found


def _alone(view: Any, population: Any) -> float:  # noqa: ANN401
    from dialogauge.judges.local_user.judge import LocalUserJudge

    judge = LocalUserJudge()
    _timed(judge, [_nobody(view)], population)
    return _timed(judge, [view], population)


def _nobody(view: Any) -> Any:  # noqa: ANN401
    """Return a block of another user, with one target and no history."""
    from dataclasses import replace

    return replace(view, user="", history=(), targets=view.targets[:1])


def _talks(user: str, history: int) -> list[Any]:
    """One user: conversations of a scenario to judge, and of others with so many rated turns."""
    from dialogauge.core import Conversation, Message, Rating

    out = []
    for scenario, turns in (
        ("target", _TARGETS),
        ("first", history // 2),
        ("second", history - history // 2),
    ):
        rng = random.Random(f"{user} {scenario}")
        for start in range(0, turns, _EXCHANGES):
            number = min(_EXCHANGES, turns - start)
            id = f"{user}-{scenario}-{start}"
            said = [Message(r, text_of(rng, _CHARS)) for _ in range(number) for r in ("user", "assistant")]
            rated = [Rating(id, "satisfaction", rng.randint(1, 5), t + 1, user) for t in range(number)]
            out.append(Conversation(id, tuple(said), user_id=user, scenario=scenario, ratings=tuple(rated)))
    return out


def _timed(judge: Any, views: list[Any], population: Any) -> float:  # noqa: ANN401
    from dialogauge.core.protocols import request_for

    began = time.process_time()
    for view in views:
        asyncio.run(judge.judge(request_for(view.targets, view, population)))
    return time.process_time() - began
