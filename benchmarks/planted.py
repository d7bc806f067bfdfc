"""Whole logs with every reply broken: what gate and comparison say, and whether it was said to be missed.

    python -m benchmarks planted

Every reply of 80 conversations of tau-bench (retail) and of 87 of RecLLMSim is broken in one way at a time,
judged by the local judge, and compared with the log as it was. A way is *caught* where the gate is not met.
One that is not caught must be declared beside the gate: by its name, or as a kind that was not tried.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.recllmsim import folder

__all__ = ["run"]

GATE = "findings.delta<=0.05"
Way = Callable[[Any, random.Random], "str | None"]
OTHERS: dict[str, Way] = {
    "in capitals": lambda spot, rng: spot.reply.upper(),
    "every name another": lambda spot, rng: re.sub(
        r"\b[A-Z][a-z]+\b|[\u4e00-\u9fff]{2}(?=市|省|店)", "Bryn", spot.reply
    ),
    "first sentence only": lambda spot, rng: re.split(r"(?<=[.!?。！？])", spot.reply)[0],
    "ten characters": lambda spot, rng: spot.reply[:10],
    "the request itself": lambda spot, rng: spot.request,
    "one letter lost in each word": lambda spot, rng: re.sub(r"\b(\w)\w(\w+)", r"\1\2", spot.reply),
    "said three times": lambda spot, rng: "\n".join([spot.reply] * 3),
}
"""Ways that are not among the planted faults."""


def logs() -> dict[str, list[Any]]:
    """Read the two logs from the shared data."""
    from dialogauge import Conversation, read
    from dialogauge.core import digest_text
    from dialogauge.data import read_split

    at = folder()
    if at is None:
        return {}
    tau = at.parent / "tdeval" / "tau_trajectories" / "gpt-4o.retail.jsonl.gz"
    users = set(read_split(str(at / "split.json")).test)
    people = [c for c in read(str(at / "human_exp_V2")) if isinstance(c, Conversation) and c.user_id in users]
    people.sort(key=lambda c: digest_text(c.id))
    return {"tau retail": list(islice(read(str(tau)), 80)), "RecLLMSim": people[:87]}


def broken(log: Sequence[Any], way: Way, name: str) -> Iterator[Any]:
    """Yield the conversations with every reply replaced; where a way does not apply it stands as it is."""
    from dialogauge.studies.planted.faults import Spot, with_reply

    rng = random.Random(name)
    replies = [(c.id, t.number, t.reply_text) for c in log for t in c.replied_turns]
    for c in log:
        new, earlier = c, ""
        for turn in c.replied_turns:
            others = [text for id, number, text in replies if id != c.id and number == turn.number]
            elsewhere = others or [text for id, _, text in replies if id != c.id]
            text = way(Spot(turn.user_text, turn.reply_text, earlier, lambda found=elsewhere: found), rng)
            if text is not None:
                new = with_reply(new, new.turn(turn.number), text)
            earlier = turn.reply_text
        yield replace(new, ratings=())


def trial(name: str, log: Sequence[Any], at: Path) -> list[dict[str, Any]]:
    """Break a log in every way; return a row for each."""
    import dialogauge
    from dialogauge.studies.planted.faults import FAULTS

    old = dialogauge.judge([replace(c, ratings=()) for c in log], out=at / "old", progress=False)
    rows = []
    ways = {fault.name: fault.make for fault in FAULTS.values()} | OTHERS
    for way, make in ways.items():
        new = dialogauge.judge(list(broken(log, make, way)), out=at / way, progress=False)
        change = dialogauge.compare(old, new, gates=[GATE])
        said = change.figures["planted"]["faults"].get(way)
        answer = "not tried" if said is None else said["answer"]
        finding = change.figures["findings"].get("any finding", {}).get("delta", {}).get("value")
        rows.append(
            {
                "log": name,
                "way": way,
                "gate": "met" if change.met else "not met",
                "finding": finding,
                "answer": change.answers[0],
                "declared": answer,
                "share": None if said is None else said["share"]["value"],
                "good": answer != "noticed" or not change.met,
            }
        )
    return rows


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Print a line for each log and way."""
    del times
    rows: list[dict[str, Any]] = []
    for name, log in logs().items():
        with TemporaryDirectory() as at:
            rows += trial(name, log[:20] if quick else log, Path(at))
    print(f"{'log':<11} {'every reply':<29} {'gate':<8} {'finding':>8}  {'planted':<12} what `compare` says")
    for row in rows:
        moved = "" if row["finding"] is None else f"{100 * row['finding']:+.1f}"
        start = f"{row['log']:<11} {row['way']:<29} {row['gate']:<8} {moved:>8}"
        print(f"{start}  {row['declared']:<12} {row['answer']}")
    passed = [row for row in rows if not row["good"]]
    print(f"passed the gate and declared as noticed: {len(passed)} of {len(rows)}")
    return {"rows": rows}
