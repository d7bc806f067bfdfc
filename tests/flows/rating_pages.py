"""Raters who fill in pages without a browser: what a page holds, and the rows that it would save."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Opinion = Callable[[dict[str, Any], dict[str, Any], int | None], Any]
"""(item, question, turn) -> the score, or left, right or tie; None leaves it out."""


def task_of(page: Path) -> dict[str, Any]:
    """Return what a page is made of, as it stands in it."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script id="task"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def answered(
    task: dict[str, Any], opinion: Opinion, *, day: str = "2026-11-23", items: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows that a page saves."""
    for number, item in enumerate(task["items"][:items]):
        common = {"plan": task["plan"], "item": item["id"], "rater": task["rater"]}
        common["conversation_id"] = item["conversation_id"] or item["id"]
        ending = {"seconds": 30.0 + number, "at": f"{day}T10:{number:02}:00.000Z"}
        for question in task["questions"]:
            for turn in item["turns"] if question["level"] == "turn" else [None]:
                value = opinion(item, question, turn)
                if value is None:
                    continue
                row = {**common, "dimension": question["name"]}
                if question["level"] == "pair":
                    yield {**row, "winner": value, **ending}
                    continue
                if value in question["reason_for"] and question["reasons"]:
                    row["reason"] = question["reasons"][0]
                yield {**row, "turn": turn, "score": value, **ending}


def saved(path: Path, rows: Any) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
