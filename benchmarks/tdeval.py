"""People's ratings and judges' scores of TD-Eval, and the score files that `dialogauge agreement` reads.

    python -m benchmarks.tdeval FOLDER

writes into FOLDER, from the shared data:

- gpt-4o.csv, claude.csv and lmunit.csv: the judges' scores of turns, LMUnit's rounded half to even;
- mean-of-turns.csv: those of GPT-4o as scores of whole dialogues;
- satisfied.csv: whether the rater of a dialogue was satisfied with it;
- success.csv, reward.csv and so on: whether the dialogue succeeded.

human_ratings.csv of the data is read as it is.

A cell is what is scored: a turn of a dialogue (turn 0: the dialogue as a whole) in one dimension.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

SHARED = os.environ.get("DIALOGAUGE_SHARED")
PACK = Path(SHARED or ".") / "data" / "tdeval"
DIMENSIONS = ("cohesion", "backend", "policy")


class Cell(NamedTuple):
    dialogue: str
    turn: int
    dimension: str


class Rating(NamedTuple):
    cell: Cell
    rater: str
    score: int
    phase: str
    survey: str
    source: str
    repeat: int
    planned: bool


Scores = Mapping[Cell, float]


@cache
def ratings() -> tuple[Rating, ...]:
    """Every rating, in the order of the surveys' columns."""
    with (PACK / "human_ratings.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Rating(
                Cell(row["dialogue"], int(row["turn"] or 0), row["dimension"]),
                row["annotator"],
                int(row["score"]),
                row["phase"],
                row["survey"],
                row["source"],
                int(row["repeat"]),
                row["in_batch"] == "1",
            )
            for row in csv.DictReader(file)
        )


@cache
def pilot() -> dict[str, dict[Cell, int]]:
    """By rater the ratings of the pilot: 10 raters of the same 26 turns and 5 dialogues."""
    out: dict[str, dict[Cell, int]] = {}
    for r in ratings():
        if r.phase == "irr":
            out.setdefault(r.rater, {})[r.cell] = r.score
    return out


@cache
def people() -> dict[Cell, int]:
    """The ratings of the 90 planned dialogues, one rater each: the latest where one rated twice."""
    return {r.cell: r.score for r in ratings() if r.phase == "main" and r.planned}


@cache
def sources() -> dict[str, str]:
    """By dialogue the data set that it comes from."""
    return {r.cell.dialogue: r.source for r in ratings() if r.phase == "main" and r.planned}


def turns(of: Scores) -> list[Cell]:
    """The cells of turns, in order."""
    return [cell for cell in of if cell.turn]


def _lines(name: str) -> Iterator[dict[str, Any]]:
    path = PACK / name
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if name.endswith("gz")
        else path.open(encoding="utf-8") as file
    ):
        yield from map(json.loads, file)


@cache
def multiwoz() -> dict[str, dict[str, Any]]:
    """By name the 100 dialogues that were simulated with AutoTOD."""
    return {d["dialogue"]: d for d in _lines("autotod_mwoz.jsonl.gz")}


@cache
def judge(name: str = "gpt-4o") -> dict[Cell, int]:
    """TD-Eval's scores of turns by a judge: of AutoTOD, and by GPT-4o of the tau replies of agent gpt-4o."""
    out = {
        Cell(dialogue, turn["turn"], dimension): turn["judge"][name][dimension]["score"]
        for dialogue, d in multiwoz().items()
        for turn in d["turns"]
        for dimension in DIMENSIONS
    }
    if name == "gpt-4o":
        for row in _lines("judge_scores_tau.jsonl.gz"):
            if row["agent"] == "gpt-4o":
                out[Cell(f"{row['domain']}_{row['task']}", row["turn"], row["dimension"])] = row["score"]
    return out


CLAUDE = "claude-3-5-sonnet-20241022"


@cache
def lmunit() -> dict[Cell, float]:
    """LMUnit's scores of turns, with their fractions."""
    return {
        Cell(row["dialogue"], row["turn"], dimension): row[dimension]
        for row in _lines("lmunit_scores.jsonl")
        for dimension in DIMENSIONS
    }


@cache
def rewards() -> dict[str, float]:
    """By dialogue the reward of tau for agent gpt-4o."""
    return {
        f"{row['domain']}_{row['task_id']}": row["reward"]
        for domain in ("airline", "retail")
        for row in _lines(f"tau_trajectories/gpt-4o.{domain}.jsonl.gz")
    }


def satisfied() -> dict[str, int]:
    """By dialogue 1 where the mean of a rater's three ratings of the whole dialogue is 4 or more."""
    whole: dict[str, list[int]] = {}
    for cell, score in people().items():
        if not cell.turn:
            whole.setdefault(cell.dialogue, []).append(score)
    return {dialogue: int(fmean(scores) >= 4) for dialogue, scores in whole.items()}


def succeeded(multiwoz_field: str, *, tau: bool = True) -> dict[str, int]:
    """By rated dialogue 1 where it succeeded: by a field of AutoTOD's dialogues, and by the reward of tau."""
    out = {}
    for dialogue in satisfied():
        if dialogue in multiwoz():
            said = multiwoz()[dialogue][multiwoz_field]
            out[dialogue] = int(said.get("total", False) if isinstance(said, dict) else said)
        elif tau:
            out[dialogue] = int(rewards()[dialogue])
    return out


def rounded() -> dict[Cell, float]:
    """LMUnit's scores, rounded half to even."""
    return {cell: float(min(max(round(score), 1), 5)) for cell, score in lmunit().items()}


def mean_of_turns() -> dict[Cell, float]:
    """GPT-4o's mean over the turns of each rated dialogue and dimension, rounded half to even."""
    of_turns: dict[Cell, list[int]] = {}
    for cell, score in judge().items():
        of_turns.setdefault(cell._replace(turn=0), []).append(score)
    return {cell: float(round(fmean(of_turns[cell]))) for cell in people() if not cell.turn}


SUCCESS = {
    "success": ("offline_success", False),
    "online-success": ("online_success", False),
    "traditional": ("offline_success", True),
    "inform-and-reward": ("online_inform", True),
}
"""By file the field of AutoTOD's dialogues, and whether the reward of tau stands in it too."""


def write(folder: Path) -> None:
    """Write the score files."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {
        "gpt-4o": judge(),
        "claude": judge(CLAUDE),
        "lmunit": rounded(),
        "mean-of-turns": mean_of_turns(),
    }
    for name, scores in by_name.items():
        _write(folder, name, scores)
    _write(folder, "satisfied", satisfied())
    for name, (field, tau) in SUCCESS.items():
        _write(folder, name, succeeded(field, tau=tau))
    _write(folder, "reward", {d: int(rewards()[d]) for d in satisfied() if d in rewards()})


def _write(folder: Path, name: str, scores: Mapping[Any, float]) -> None:
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("conversation_id", "turn", "dimension", "rater", "score"))
        for of, score in scores.items():
            dialogue, turn, dimension = (of, 0, "satisfied") if isinstance(of, str) else of
            rows.writerow((dialogue, turn or "", dimension, name, f"{score:g}"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
