"""Planted candidates: replies that nobody should like better than the original, one of each kind an item.

They test the evaluator, not a model. One that likes the original better once polite phrases or padding stand
around it, or likes a refusal, an echo or general phrases better than an answer, can be gamed, and so can its
leaderboard.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dialogauge.core import digest
from dialogauge.core.protocols import AgentReply, AgentTurn
from dialogauge.studies.planted.faults import FAULTS, PADDING, POLITE, Fault, Spot, plant
from dialogauge.studies.replay.items import Stage

PLANTED: Final = "planted"
"""The kind of a candidate that is."""
_VERSION: Final = 2

MAKERS: Final[Mapping[str, Fault]] = {
    f"planted: {name}": fault
    for name, fault in (
        ("polite phrases", POLITE),
        ("padding", PADDING),
        ("echo", FAULTS["echo"]),
        ("refusal", FAULTS["refusal"]),
        ("filler", FAULTS["filler"]),
    )
}
"""By name what each says in place of the original reply."""


def planted_replies(name: str, stage: Stage) -> dict[str, AgentTurn]:
    """Return what a planted candidate says to each item, in English or, where Chinese is spoken, in Chinese.

    The wording is drawn by the item's id. Where the original allows no such reply it stands as it is.
    """
    turns: dict[str, AgentTurn] = {}
    for item in stage.items:
        reply = stage.originals[item.id]
        text = plant(MAKERS[name], Spot(reply.request, reply.text), random.Random(item.id))
        turns[item.id] = AgentTurn(AgentReply(reply.text if text is None else text))
    return turns


def about_planted(turns: Mapping[str, AgentTurn]) -> dict[str, Any]:
    """Say what a planted candidate is: its digest changes with what it says."""
    texts: Sequence[str] = [t.outcome.text for t in turns.values() if isinstance(t.outcome, AgentReply)]
    return {"digest": digest([PLANTED, _VERSION, *texts]), "kind": PLANTED, "context": None}
