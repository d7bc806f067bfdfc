"""Drift along sessions: what their last third comes to beside their first, by candidate."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from dialogauge.core import Conversation
from dialogauge.report import Cell, DotPlot, DotRow, Number, Reference, Section, data_table
from dialogauge.runs import Row, StoredRun
from dialogauge.runs.records import own_scores
from dialogauge.stats import cluster_labels, mean_estimate
from dialogauge.studies.judging.summary import DimensionSummary


def drift_section(run: StoredRun, dimensions: Sequence[DimensionSummary]) -> list[Section]:
    """Lay out drift of whole sessions: of scores of turns, or of the places of quoted deductions.

    Args:
        run: Whose rows and conversations are read once more.
        dimensions: Those that count: of what is unchecked nothing is said about candidates.
    """
    deductions = {name for name, weight in run.manifest.facts.get("criteria", {}).items() if weight < 0}
    turns = [d for d in dimensions if d.level == "turn"]
    if not dimensions or not (turns or deductions):
        return []
    sessions: dict[str, list[tuple[list[float], str | None, str]]] = {}
    for conversation, rows in run.judged():
        thirds = _thirds(conversation, rows, [d.name for d in turns], deductions)
        if all(thirds):
            session = [float(np.mean(of)) for of in thirds], conversation.user_id, conversation.id
            sessions.setdefault(conversation.candidate or "all", []).append(session)
    # Without any deduction there is nothing to place; a judge without a model quotes none.
    if not any(turns or any(means) for of in sessions.values() for means, _, _ in of):
        return []
    what = "Mean turn score" if turns else "Share of turns with a deduction"
    low, high = (turns[0].scale.low, turns[0].scale.high) if turns else (0.0, 1.0)
    dots, table = [], list[tuple[Cell, ...]]()
    for name, of in sorted(sessions.items()):
        means = np.array([session[0] for session in of])
        clusters, unit = cluster_labels([user for _, user, _ in of], [id for _, _, id in of])
        limits = low - high, high - low
        change = mean_estimate(means[:, 2] - means[:, 0], clusters, limits=limits, unit=unit)
        dots.append(DotRow(name, change.value, change.interval, "strong"))
        moved = Number(change.value, 2, change.interval, signed=True)
        table.append((name, *map(Number, means.mean(axis=0).tolist()), moved, len(of)))
    heads = ("candidate", "first third", "middle", "last third", "last less first", "sessions")
    plot = DotPlot(f"{what}, last third less first", tuple(dots), (Reference(0.0, "no drift"),))
    lead = (
        f"{what} in the thirds of a session; the dots are the last third less the first, with 95 % "
        "intervals. Sessions of fewer than three turns are left out."
    )
    return [
        Section("Drift along the session", (plot, data_table(what, heads, table)), lead, "Drift", "drift")
    ]


def _thirds(
    conversation: Conversation, rows: Sequence[Row], names: Sequence[str], deductions: Collection[str]
) -> tuple[list[float], list[float], list[float]]:
    """Return by third of the new turns their scores, or without `names` whether a deduction is quoted there.

    Over all repeats; a third is empty where nothing is known of it.
    """
    thirds: tuple[list[float], list[float], list[float]] = ([], [], [])
    turns, judged = conversation.new_turns, [row for row in rows if row["scores"]]
    for i, turn in enumerate(turns):
        third = thirds[3 * i // len(turns)]
        for row in judged:
            if not names:
                quoted = {e["turn"] for e in row["evidence"] if e.get("criterion") in deductions}
                third.append(float(turn.number in quoted))
            elif row["turn"] == turn.number:
                scores = own_scores(row)
                third += [float(v) for n in names if isinstance(v := scores.get(n), int | float)]
    return thirds
