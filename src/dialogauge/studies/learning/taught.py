"""Dialogues that were led in a run: what users let show of a system, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialogauge.report import Block, Callout, Cell, Column, Count, Missing, Number, TableColumn, data_table


@dataclass(frozen=True, slots=True)
class TaughtFigures:
    """The dialogues of one system at one step."""

    system: str
    step: int
    dialogues: int
    failed: int
    """Of these: nothing else is counted of them, and no memory took them in."""
    ended: int
    """Those that the user ended."""
    leaked: int
    """Those in which the user gave away a run of words of the task's record."""
    repeated: int
    """Those that ended because the user asked twice what it had asked before."""
    rounds: float | None
    """Mean number of replies."""
    scores: Sequence[float | None]
    """Mean satisfaction by round, 1 to 10, over the dialogues that came so far."""
    actions: Mapping[str, int]
    """Clicks, such as likes, by kind."""
    first_failure: str | None = None
    """What was said of the first that failed."""


def taught_figures(cases: Iterable[Mapping[str, Any]]) -> tuple[TaughtFigures, ...]:
    """Count dialogues by system and step, in the order of both."""
    groups: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for case in cases:
        groups.setdefault((case["system"], case["step"]), []).append(case)
    figures = []
    for (system, step), of in sorted(groups.items()):
        fine = [case for case in of if not case["failure"]]
        rounds = range(max((len(case["scores"]) for case in fine), default=0))
        by_round = [[case["scores"][n] for case in fine if len(case["scores"]) > n] for n in rounds]
        actions = Counter(name for case in fine for clicked in case["actions"] for name in clicked)
        figures.append(
            TaughtFigures(
                system,
                step,
                len(of),
                len(of) - len(fine),
                sum(bool(case["ended"]) for case in fine),
                sum(bool(case["leaked"]) for case in fine),
                sum(bool(case["repeated"]) for case in fine),
                _mean([case["rounds"] for case in fine]),
                tuple(map(_mean, by_round)),
                dict(sorted(actions.items())),
                next((str(case["message"]) for case in of if case["failure"]), None),
            )
        )
    return tuple(figures)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def ratings_table(rows: Sequence[Mapping[str, Any]]) -> Block:
    """Lay out what users made of each reply in training dialogues; the last reply is often not rated."""
    cells: list[Sequence[Cell]] = [
        (row["candidate"], number, score, ", ".join(clicks) or Missing("no click"))
        for row in rows
        for number, (score, clicks) in enumerate(
            zip(row["details"].get("scores", ()), row["details"].get("actions", ()), strict=True), 1
        )
    ]
    heads: list[Column] = ["system", "reply", "satisfaction, 1 to 10", TableColumn("clicks", "text")]
    return data_table("What the user made of each reply", heads, cells)


def taught_tables(taught: Sequence[TaughtFigures]) -> Iterator[Block]:
    """Lay out the dialogues of a run, a row for each system and step, and why the first ones failed."""
    rounds = range(max((len(of.scores) for of in taught), default=0))
    actions = sorted({name for of in taught for name in of.actions})
    heads = ["system", "step", "dialogues", "failed", "ended by the user", "user gave the record away"]
    heads += ["user asked twice", "replies"]
    heads += [f"satisfaction with reply {n + 1}" for n in rounds] + actions
    rows: list[Sequence[Cell]] = [
        (
            of.system,
            of.step,
            Count(of.dialogues),
            Count(of.failed),
            Count(of.ended),
            Count(of.leaked),
            Count(of.repeated),
            Number(of.rounds, 1),
            *(Number(of.scores[n] if n < len(of.scores) else None, 1) for n in rounds),
            *(Count(of.actions.get(name, 0)) for name in actions),
        )
        for of in taught
    ]
    yield data_table("Dialogues that were led in this run; satisfaction is from 1 to 10", heads, rows)
    first = {of.system: of.first_failure for of in reversed(taught) if of.first_failure}
    why = (f"{name}: no memory took in what failed. The first: {fault}." for name, fault in first.items())
    if notes := tuple(why):
        yield Callout(notes, "warn")
