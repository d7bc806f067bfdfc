"""Blocks of made users, for the tests of what a judge knows of them."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.core import Conversation, Message, Rating
from dialogauge.core.protocols import NOBODY, BlockView, Population, RatedBlock, Request, request_for
from dialogauge.studies.satisfaction.blocks import collect_blocks


def request_of(view: BlockView, others: Population = NOBODY) -> Request:
    """The request for all targets of a block."""
    return request_for(view.targets, view, others)


def rated(user: str, scenario: str, number: int, turns: Sequence[tuple[str, str, float]]) -> Conversation:
    """A conversation of (request, reply, score)."""
    id = f"{user}__{scenario}__{number}"
    messages, ratings = [], []
    for turn, (request, reply, score) in enumerate(turns, 1):
        messages += [Message("user", request), Message("assistant", reply)]
        note = "too vague" if score <= 3 else None
        ratings.append(Rating(id, "satisfaction", score, turn, user, note=note))
    return Conversation(
        id,
        tuple(messages),
        user_id=user,
        scenario=scenario,
        context=f"the task {scenario} {number}",
        profile={"occupation": f"baker-{user}"},
        ratings=tuple(ratings),
    )


def block_of(user: str, scenario: str, *talks: Conversation) -> RatedBlock:
    """The block of that user and scenario."""
    blocks, faults, _ = collect_blocks(talks)
    assert not faults
    return next(b for b in blocks if b.view.id == f"{user}__{scenario}")


def view_with(scores: Sequence[float], *, size: int = 1, words: str = "bread") -> BlockView:
    """A block whose history has these scores, one conversation each; replies are `size` words long."""
    past = [
        rated("u", "past", n, [(f"{words} question {n}", f"answer {n} " + "so " * size, score)])
        for n, score in enumerate(scores)
    ]
    ahead = rated("u", "ahead", 0, [("the target question", "the target reply", 4)])
    return block_of("u", "ahead", *past, ahead).view
