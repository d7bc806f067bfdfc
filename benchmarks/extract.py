"""What an answerer without a model earns on LoCoMo, beside what needs no answerer.

    python -m benchmarks.extract            # conversations 1-4, on which it may be changed
    python -m benchmarks.extract measured   # conversations 5-7

Reads data/membench below the folder that DIALOGAUGE_SHARED names. Each question is asked of a memory of its
own conversation (`ranked-message`, five items). Beside it: the date of the best session for questions of
time, and the best message, whole, for all others. F1 of LoCoMo by category, with 95 % intervals of the
difference by session of the evidence.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import defaultdict
from pathlib import Path

from benchmarks.tables import table
from dialogauge.agents.memory import MemoryItem, Room, build_memory, extract
from dialogauge.agents.memory.extracting import _written, date_in
from dialogauge.data.tasks import TaskFile, TaskRecord, read_tasks
from dialogauge.judges.answers import locomo_f1
from dialogauge.stats import mean_estimate

NAMES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


def read() -> TaskFile:
    """Read LoCoMo."""
    folder = Path(os.environ["DIALOGAUGE_SHARED"]) / "data" / "membench"
    return read_tasks(str(folder / "locomo_qa.jsonl"), str(folder / "locomo_corpus.jsonl"))


def control(task: TaskRecord, items: tuple[MemoryItem, ...]) -> str:
    """Return what is answered without looking into a message: a date, or the message."""
    heard = date_in(items[0].date)
    return _written(heard) if task.gold["category"] == 2 and heard else items[0].text


async def scores(read: TaskFile, names: list[str]) -> dict[int, list[tuple[float, float, str]]]:
    """Return by category of each question its F1, that of the control, and where its evidence is."""
    out: dict[int, list[tuple[float, float, str]]] = defaultdict(list)
    for name in names:
        memory = build_memory("ranked-message")
        await memory.add_corpus(read.corpora[name])
        for task in read.tasks:
            category = task.gold["category"]
            if task.corpus != name or category == 5:
                continue
            items = (await memory.retrieve(task.question, Room(5))).items
            replies = extract(task.question, items), control(task, items)
            f1, without = (locomo_f1(reply, str(task.gold["answer"]), category) for reply in replies)
            place = (task.evidence or ("",))[0].partition(":")[0]
            out[category].append((f1, without, f"{name}/{place}"))
    return out


def main() -> None:
    """Print a row for each category."""
    locomo = read()
    names = list(locomo.corpora)
    names = names[4:] if sys.argv[1:] == ["measured"] else names[:4]
    rows = []
    for category, of in sorted(asyncio.run(scores(locomo, names)).items()):
        more = mean_estimate([a - b for a, b, _ in of], [place for _, _, place in of], limits=(-1.0, 1.0))
        f1, without = (sum(one[i] for one in of) / len(of) for i in (0, 1))
        interval = "" if more.low is None else f"[{more.low:+.3f}, {more.high:+.3f}]"
        rows.append(
            (NAMES[category], len(of), f"{f1:.3f}", f"{without:.3f}", f"{more.value:+.3f} {interval}")
        )
    print(
        table("F1 of LoCoMo without a model", ("questions", "n", "extracted", "without", "difference"), rows)
    )


if __name__ == "__main__":
    main()
