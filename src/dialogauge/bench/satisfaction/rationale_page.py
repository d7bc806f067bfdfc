"""From the rationale check in a summary to what its part of the page shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dialogauge.bench.satisfaction.rationale_result import KINDS
from dialogauge.report import RationaleExample, RationaleKindView, RationaleView

__all__ = ["rationale_view"]

Json = Mapping[str, Any]


def rationale_view(
    found: Json, *, conversation: Callable[[str], str] = str, text: Callable[[str], str] = str
) -> RationaleView:
    """Return what the page shows.

    Args:
        found: `rationale` of `summary.json`.
        conversation: Hides a conversation's id, where a page is to hide it.
        text: Hides what must not be seen of a text.
    """
    table, agreement, terms = found["reasons"], found["reason_agreement"], found["terms"]
    chance = found["terms_by_chance"] or {}
    columns = tuple(b for b in table if any(row[b] for row in table.values()))
    ends = agreement["interval"]
    constant = f"always {agreement['constant_reason'] or 'the same'}".replace("_", " ")
    return RationaleView(
        columns=columns,
        rows=tuple((a, tuple(row[b] for b in columns)) for a, row in table.items() if any(row.values())),
        n=agreement["n"],
        agreed=agreement["agreed"],
        interval=None if ends is None else (ends[0], ends[1]),
        kappa=agreement["kappa"],
        controls=(
            ("its own reasons dealt anew", agreement["controls"]["shuffled"]),
            (constant, agreement["controls"]["constant"]),
        ),
        rationales=terms["rationales"],
        without_rationale=found["without_rationale"],
        not_comparable=found["not_comparable"],
        contamination=(terms["contamination"], chance.get("contamination")),
        at_home=(terms["contamination_of_sources"], chance.get("contamination_of_sources")),
        off_task=(terms["off_task"], chance.get("off_task")),
        missed=found["missed"],
        kinds=tuple(
            RationaleKindView(
                {"not_core": "real but not core"}.get(kind, kind.replace("_", "-")),
                meaning,
                found["kinds"][kind],
                tuple(_example(c, conversation, text) for c in found["examples"][kind]),
            )
            for kind, meaning in KINDS.items()
        ),
    )


def _example(case: Json, conversation: Callable[[str], str], text: Callable[[str], str]) -> RationaleExample:
    session, mark, position = str(case["turn_id"]).rpartition("__turn_")
    return RationaleExample(
        f"{conversation(session)}{mark}{position}",
        f"{case['user_score']:g}",
        text(str(case["user_reason"])),
        f"{case['judge_score']:g}",
        text(str(case["judge_reason"])),
        text(str(case["rationale"])),
        tuple(text(t) for t in case["of_sources"]),
    )
