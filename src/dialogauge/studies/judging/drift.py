"""Drift along sessions: what their last third comes to beside their first, by candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dialogauge.core import Conversation
from dialogauge.report import Block, Cell, DotPlot, DotRow, Number, Reference, Section, data_table
from dialogauge.runs import StoredRun
from dialogauge.runs.records import own_scores
from dialogauge.stats import Estimate, cluster_labels, mean_estimate
from dialogauge.studies.judging.summary import DimensionSummary

_SCORES: Final = "mean turn score"
_DEDUCTIONS: Final = "share of turns with a deduction"
_THIRDS: Final = ("first third", "middle", "last third")

Thirds = tuple[float, float, float]


def drift_section(run: StoredRun, dimensions: Sequence[DimensionSummary]) -> list[Section]:
    """Lay out drift, where the dimensions are of turns or are made of quoted criteria.

    Args:
        run: Whose rows and conversations are read once more.
        dimensions: Those that count: of what is unchecked nothing is said about candidates.
    """
    deductions = {name for name, weight in run.manifest.facts.get("criteria", {}).items() if weight < 0}
    turns = [d for d in dimensions if d.level == "turn"]
    # Only of what is judged as sessions: elsewhere the curve along the turns is the whole story.
    if "overall" not in run.manifest.facts or not dimensions or not (turns or deductions):
        return []
    names = [d.name for d in turns]
    sessions: dict[str, list[tuple[Thirds, str | None, str]]] = {}
    for conversation, judged in run.judged():
        if turns:
            thirds = _of_scores(conversation, judged, names)
        else:
            thirds = _of_quotes(conversation, judged, deductions)
        if thirds is not None:
            session = thirds, conversation.user_id, conversation.id
            sessions.setdefault(conversation.candidate or "all", []).append(session)
    # Without any deduction there is nothing to place; a judge without a model quotes none.
    if not any(turns or any(thirds) for of in sessions.values() for thirds, _, _ in of):
        return []
    what = _SCORES if turns else _DEDUCTIONS
    low, high = (turns[0].scale.low, turns[0].scale.high) if turns else (0.0, 1.0)
    estimates = {name: _estimates(of, low, high) for name, of in sorted(sessions.items())}
    dots = (DotRow(name, of[3].value, of[3].interval, "strong") for name, of in estimates.items())
    rows: list[tuple[Cell, ...]] = [
        (name, *(Number(one.value) for one in of[:3]), Number(of[3].value, 2, of[3].interval, signed=True),
         len(sessions[name]))
        for name, of in estimates.items()
    ]  # fmt: skip
    heads = ("candidate", *_THIRDS, "last less first", "sessions")
    blocks: tuple[Block, ...] = (
        DotPlot(f"{what.capitalize()}, last third less first", tuple(dots), (Reference(0.0, "no drift"),)),
        data_table(what.capitalize(), heads, rows),
    )
    lead = (
        f"{what.capitalize()} in the thirds of a session; the dots are the last third less the first, with "
        "95 % intervals. Sessions of fewer than three turns are left out."
    )
    return [Section("Drift along the session", blocks, lead, "Drift", "drift")]


def _third_of(conversation: Conversation) -> Mapping[int, int]:
    """Return for each new turn in which third it lies, 0 to 2; nothing where there are fewer than three."""
    turns = conversation.new_turns
    return {t.number: 3 * i // len(turns) for i, t in enumerate(turns)} if len(turns) > 2 else {}


def _of_scores(
    conversation: Conversation, rows: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> Thirds | None:
    """Return the mean score of each third over turns and repeats; None where one has none."""
    scores: tuple[list[float], ...] = ([], [], [])
    place = _third_of(conversation)
    for row in rows:
        if row["level"] == "turn" and row["scores"] and row["turn"] in place:
            values = own_scores(row)
            scores[place[row["turn"]]].extend(
                float(v) for name in names if isinstance(v := values.get(name), int | float)
            )
    first, middle, last = (float(np.mean(of)) if of else None for of in scores)
    return None if first is None or middle is None or last is None else (first, middle, last)


def _of_quotes(
    conversation: Conversation, rows: Sequence[Mapping[str, Any]], deductions: set[str]
) -> Thirds | None:
    """Return the share of the turns of each third in which a deduction is quoted, the mean over repeats."""
    place, judged = _third_of(conversation), [row for row in rows if row["scores"]]
    if not place or not judged:
        return None
    turns, hits = Counter(place.values()), Counter[int]()
    for row in judged:
        quoted = {e["turn"] for e in row["evidence"] if e.get("criterion") in deductions}
        hits.update(place[turn] for turn in quoted & place.keys())
    first, middle, last = (hits[third] / (turns[third] * len(judged)) for third in range(3))
    return first, middle, last


def _estimates(sessions: Sequence[tuple[Thirds, str | None, str]], low: float, high: float) -> list[Estimate]:
    """Return the mean of each third over sessions, and of the last less the first."""
    values = np.array([thirds for thirds, _, _ in sessions])
    clusters, unit = cluster_labels([user for _, user, _ in sessions], [id for _, _, id in sessions])
    thirds = [mean_estimate(of, clusters, limits=(low, high), unit=unit) for of in values.T]
    change = values[:, 2] - values[:, 0]
    return [*thirds, mean_estimate(change, clusters, limits=(low - high, high - low), unit=unit)]
