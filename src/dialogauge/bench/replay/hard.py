"""The published selection: turns that were rated low, or near the boundary, chosen with the ratings in hand.

PersTurnBench, mode `hard` of its replay script, with its defaults. It is deterministic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dialogauge.bench.replay.states import asked
from dialogauge.calibrate import half_up
from dialogauge.judge.personal import RatedBlock, RatedReply

__all__ = ["QUOTA", "Pick", "hard_picks", "weigh_turn"]

QUOTA: Final[Mapping[int, int]] = {1: 25, 2: 50, 4: 75}
"""So many turns of each score at least, where there are as many, beyond one turn of every user."""

_PER_BLOCK = 3
_PER_CONVERSATION = 1
_FIVES_PER_BLOCK = 1
_FIRST = 1
_CLEAR_REQUEST = 20
_BARE = frozenset({"好的", "好", "可以", "没问题", "明白", "收到", "当然", "当然可以"})
_NO_REASON = frozenset({"", "满意", "其它", "其他", "无", "none", "None"})


@dataclass(frozen=True, slots=True)
class Pick:
    """A turn that may be chosen."""

    rated: RatedReply
    block: str
    user: str
    weight: float
    reasons: tuple[str, ...]

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.rated.reply.id

    @property
    def gold(self) -> int:
        """The whole score that the user gave."""
        return half_up(self.rated.score)


def hard_picks(
    blocks: Iterable[RatedBlock], size: int = 300, *, quota: Mapping[int, int] = QUOTA
) -> tuple[Pick, ...]:
    """Choose turns as the published script does.

    At most one turn of a conversation and three of a block, never the first reply, nor one that nobody asked
    for; one turn of every user, then a quota for each score, then by weight.

    Args:
        blocks: In the order of the data.
        size: How many turns at most.
        quota: Score to number.
    """
    held = sorted((p for b in blocks for p in _of_block(b)), key=lambda p: (-p.weight, p.block, p.id))
    best = _best_of_users(held)[:size]
    taken = {p.id for p in best}
    ordered = [*best, *(p for p in held if p.id not in taken)]
    chosen = list(best)
    for score, n in sorted(quota.items()):
        more = [p for p in ordered if p.gold == score and p.id not in taken][:n]
        chosen += more
        taken |= {p.id for p in more}
    chosen += [p for p in ordered if p.id not in taken]
    return tuple(chosen[:size])


def _best_of_users(held: Sequence[Pick]) -> list[Pick]:
    first: dict[str, Pick] = {}
    for pick in held:
        first.setdefault(pick.user, pick)
    return [first[user] for user in sorted(first)]


def _of_block(block: RatedBlock) -> Iterator[Pick]:
    sessions: defaultdict[str, list[Pick]] = defaultdict(list)
    for rated in block.ratings:
        pick = weigh_turn(rated, block.view.id, block.view.user)
        if (
            rated.reply.position < _FIRST
            or not asked(rated.reply)
            or (pick.gold >= 4 and "non_substantive" in pick.reasons)
        ):
            continue
        sessions[rated.reply.conversation.id].append(pick)
    best = [p for picks in sessions.values() for p in _ranked(picks)[:_PER_CONVERSATION]]
    chosen = _ranked([p for p in best if p.gold <= 4])[:_PER_BLOCK]
    fives = _ranked([p for p in best if p.gold == 5 and "substantive" in p.reasons])
    yield from chosen
    yield from fives[: min(_PER_BLOCK - len(chosen), _FIVES_PER_BLOCK)]


def _ranked(picks: Sequence[Pick]) -> list[Pick]:
    return sorted(picks, key=lambda p: (-p.weight, p.id))


def weigh_turn(rated: RatedReply, block: str, user: str) -> Pick:
    """Return how much the published script wants a turn, and why."""
    score = half_up(rated.score)
    specific = score <= 3 and (rated.reason or "").strip() not in _NO_REASON
    substantive = _substantive(rated)
    parts = (
        ("score_le_3", 3.0, score <= 3),
        ("boundary_3_4", 2.0, score in (3, 4)),
        ("specific_dsat_reason", 1.5, specific),
        ("substantive", 1.0, substantive),
        ("non_substantive", -1.5, not substantive),
        ("clear_user_request", 1.0, len(rated.reply.request.strip()) >= _CLEAR_REQUEST),
        ("positive_control_candidate", -0.5, score == 5),
    )
    held = [(name, weight) for name, weight, true in parts if true]
    return Pick(rated, block, user, sum(w for _, w in held), tuple(name for name, _ in held))


def _substantive(rated: RatedReply) -> bool:
    request, reply = rated.reply.request.strip(), rated.reply.text.strip()
    bare = reply.translate(str.maketrans("", "", "。！!")).strip()
    return len(request) >= 8 and bare not in _BARE and not (len(reply) < 25 and len(request) < 25)
