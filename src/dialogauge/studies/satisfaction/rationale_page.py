"""Reasons and rationales on a page and on a terminal, from `rationale` of `summary.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dialogauge.report import (
    Block,
    Callout,
    Card,
    Cards,
    Number,
    Percent,
    Section,
    Span,
    Tile,
    Tiles,
    data_table,
    words,
)
from dialogauge.studies.satisfaction.rationale import KINDS
from dialogauge.text import counted

Json = Mapping[str, Any]

_LEAD: Final = (
    "Whether the judge is dissatisfied for the user’s reason, and whether what it says is about this "
    "conversation or remembered from the user’s others. Words are counted, not understood: read the examples."
)
_RATIONALE_CHARS: Final = 400


def rationale_section(
    rationale: Json, conversation: Callable[[str], str] = str, text: Callable[[str], str] = str
) -> Section:
    """Lay out the reasons against the users' own, and where rationales take their words from.

    Args:
        rationale: `rationale` of `summary.json`.
        conversation: Hides a conversation's id, where a page is to hide it.
        text: Hides what must not be seen of a text.
    """
    cards = (_kind(rationale, kind, meaning, conversation, text) for kind, meaning in KINDS.items())
    blocks = (_tiles(rationale), _counts(rationale), *_reasons(rationale), Cards(tuple(cards), wide=True))
    return Section("Reasons and rationales", blocks, _LEAD, "Reasons", "reasons")


def _tiles(rationale: Json) -> Tiles:
    agreement, terms = rationale["reason_agreement"], rationale["terms"]
    chance = rationale["terms_by_chance"] or {}
    ends = agreement["interval"]
    constant = words.name(f"always {agreement['constant_reason'] or 'the same'}")
    controls = {
        "its own reasons dealt anew": agreement["controls"]["shuffled"],
        constant: agreement["controls"]["constant"],
    }
    off_task = f"of {terms['rationales']:,}"
    if chance.get("off_task") is not None:
        off_task += f", by chance {chance['off_task']:,}"
    return Tiles(
        (
            Tile(
                "the user’s own reason",
                Percent(agreement["agreed"], None if ends is None else (ends[0], ends[1])),
            ),
            *(Tile(f"control: {name}", Percent(value)) for name, value in controls.items()),
            Tile(
                "words of this conversation",
                Percent(_share_here(terms)),
                f"by chance {words.percent(_share_here(chance))}",
            ),
            Tile(
                "words from other scenarios alone",
                Percent(terms["contamination"]),
                f"by chance {words.percent(chance.get('contamination'))}",
            ),
            Tile(
                "of these at home there",
                Percent(terms["contamination_of_sources"]),
                f"by chance {words.percent(chance.get('contamination_of_sources'))}",
            ),
            Tile("off-task rationales", terms["off_task"], off_task),
        )
    )


def _share_here(terms: Json) -> float | None:
    return terms["here"] / terms["terms"] if terms.get("terms") else None


def _counts(rationale: Json) -> Callout:
    agreement = rationale["reason_agreement"]
    kappa = "" if agreement["kappa"] is None else f" (Cohen’s kappa {words.decimal(agreement['kappa'])})"
    return Callout(
        (
            f"Reasons agree in so many of {counted(agreement['n'], 'turn')} that both call dissatisfied and "
            f"give a reason for{kappa}; the user was dissatisfied with "
            f"{counted(rationale['missed'], 'turn')} that the judge was not dissatisfied with. Of "
            f"{counted(rationale['judged'], 'turn')}, without a rationale: "
            f"{rationale['without_rationale']:,}; not comparable: {rationale['not_comparable']:,}. By "
            "chance: the same rationales compared with the history of another user.",
        )
    )


def _reasons(rationale: Json) -> tuple[Block, ...]:
    table = rationale["reasons"]
    columns = [b for b in table if any(row[b] for row in table.values())]
    rows = [
        (
            words.name(name),
            *(Number(row[b], 0, strong=b == name) if row[b] else "" for b in columns),
        )
        for name, row in table.items()
        if any(row.values())
    ]
    if not rows or not columns:
        return ()
    title = "Turns by the user’s reason (rows) and the judge’s (columns)"
    return (data_table(title, ("the user", *map(words.name, columns)), rows),)


def _kind(
    rationale: Json, kind: str, meaning: str, conversation: Callable[[str], str], text: Callable[[str], str]
) -> Card:
    title = {"not_core": "real but not core"}.get(kind, kind.replace("_", "-"))
    examples = (_example(case, conversation, text) for case in rationale["examples"][kind])
    return Card(title, (Callout((meaning,)), *examples), counted(rationale["kinds"][kind], "turn"))


def _example(case: Json, conversation: Callable[[str], str], text: Callable[[str], str]) -> Callout:
    session, mark, position = str(case["turn_id"]).rpartition("__turn_")
    who = (
        f"{conversation(session)}{mark}{position}: the user {case['user_score']:g}, "
        f"{words.name(text(str(case['user_reason'])))}; the judge {case['judge_score']:g}, "
        f"{words.name(text(str(case['judge_reason'])))}"
    )
    said = text(str(case["rationale"]))
    said = said if len(said) <= _RATIONALE_CHARS else f"{said[:_RATIONALE_CHARS]}…"
    sources = ", ".join(text(t) for t in case["of_sources"])
    note = (f"At home in other scenarios: {sources}",) if sources else ()
    return Callout((Span(who, "strong"), said, *note))
