"""Folders as `tune` leaves them, without a model: sessions with held-out personas, before and after."""

from __future__ import annotations

import json
from pathlib import Path

from dialogauge.training import TuneFolder, TuneManifest


def write_tuned(folder: Path, score: float = 4.0, *, method: str = "gsrpo", personas: int = 6) -> Path:
    """Write sessions of a model that scores `score` by the reward, and 3 by the second judge."""
    folder.mkdir(parents=True)
    TuneFolder(folder).write(
        TuneManifest(method=method, asked={}, model="model", data="rl.jsonl", versions={}, ended="finished")
    )
    rows = [
        {
            "id": f"p{i}/1.1",
            "candidate": arm,
            "scenario": f"p{i}",
            "messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}],
            "scores": {"voice": value + (i % 2) / 2, "memory": value},
            "second": {"voice": 3.0, "memory": 3.0},
        }
        for arm, value in (("before", 3.0), (folder.name, score))
        for i in range(personas)
    ]
    (folder / "held_out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder
