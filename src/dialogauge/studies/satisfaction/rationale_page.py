"""Reasons and rationales on a page and on a terminal, from `rationale` of `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.data import Mask
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
NO_MASK: Final = Mask(redact=False, hash_ids=False, salt=b"")
"""Hides nothing."""


def rationale_section(rationale: Json, mask: Mask = NO_MASK) -> Section:
    """Lay out the reasons against the users' own, and where rationales take their words from.

    Args:
        rationale: `rationale` of `summary.json`.
        mask: Hides what the summary holds openly.
    """
    cards = (_kind(rationale, kind, meaning, mask) for kind, meaning in KINDS.items())
    blocks = (_tiles(rationale), _counts(rationale), *_reasons(rationale), Cards(tuple(cards), wide=True))
    return Section("Reasons and rationales", blocks, _LEAD, "Reasons", "reasons")


def _tiles(rationale: Json) -> Tiles:
    agreement, terms = rationale["reason_agreement"], rationale["terms"]
    chance, ends = rationale["terms_by_chance"] or {}, agreement["interval"]
    reasons = {
        "the user’s own reason": Percent(agreement["agreed"], None if ends is None else (ends[0], ends[1])),
        "control: its own reasons dealt anew": Percent(agreement["controls"]["shuffled"]),
        words.name(f"control: always {agreement['constant_reason'] or 'the same'}"): Percent(
            agreement["controls"]["constant"]
        ),
    }
    shares = {
        "words of this conversation": (_share_here(terms), _share_here(chance)),
        "words from other scenarios alone": (terms["contamination"], chance.get("contamination")),
        "of these at home there": (
            terms["contamination_of_sources"],
            chance.get("contamination_of_sources"),
        ),
    }
    off_task = f"of {terms['rationales']:,}"
    if chance.get("off_task") is not None:
        off_task += f", by chance {chance['off_task']:,}"
    return Tiles(
        (
            *(Tile(title, share) for title, share in reasons.items()),
            *(
                Tile(title, Percent(share), f"by chance {words.percent(by_chance)}")
                for title, (share, by_chance) in shares.items()
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
        (words.name(a), *(Number(row[b], 0, strong=b == a) if row[b] else "" for b in columns))
        for a, row in table.items()
        if any(row.values())
    ]
    if not rows:
        return ()
    title = "Turns by the user’s reason (rows) and the judge’s (columns)"
    return (data_table(title, ("the user", *map(words.name, columns)), rows),)


def _kind(rationale: Json, kind: str, meaning: str, mask: Mask) -> Card:
    title = {"not_core": "real but not core"}.get(kind, kind.replace("_", "-"))
    examples = (_example(case, mask) for case in rationale["examples"][kind])
    return Card(title, (Callout((meaning,)), *examples), counted(rationale["kinds"][kind], "turn"))


def _example(case: Json, mask: Mask) -> Callout:
    session, mark, position = str(case["turn_id"]).rpartition("__turn_")
    reasons = {who: words.name(mask.text(str(case[f"{who}_reason"]))) for who in ("user", "judge")}
    who = (
        f"{mask.id('conversation', session)}{mark}{position}: the user {case['user_score']:g}, "
        f"{reasons['user']}; the judge {case['judge_score']:g}, {reasons['judge']}"
    )
    rationale = mask.text(str(case["rationale"]))
    if len(rationale) > _RATIONALE_CHARS:
        rationale = f"{rationale[:_RATIONALE_CHARS]}…"
    sources = ", ".join(map(mask.text, case["of_sources"]))
    note = (f"At home in other scenarios: {sources}",) if sources else ()
    return Callout((Span(who, "strong"), rationale, *note))
