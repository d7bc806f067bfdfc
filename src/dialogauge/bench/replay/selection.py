"""Choosing the turns of a benchmark, and saying what the choice does to the mix of ratings."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from dialogauge.bench.replay.hard import hard_picks
from dialogauge.bench.replay.items import ItemSet, ReplayItem
from dialogauge.bench.replay.states import asked, state_digest
from dialogauge.calibrate import half_up
from dialogauge.core import UsageError
from dialogauge.judge.personal import RatedBlock, RatedReply
from dialogauge.text import counted, detect_language

__all__ = ["RULES", "Rule", "gold_mix", "select_items", "selected_on_gold"]

Rule = Literal["hard", "random", "stratified", "all"]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
"""`hard`: the published choice, made with the ratings in hand. `random`: every turn alike. `stratified`: the
whole's mix of scores and scenarios, users in turn. `all`: every turn."""

_Entry = tuple[RatedBlock, RatedReply]


def select_items(
    blocks: Sequence[RatedBlock],
    rule: Rule,
    size: int,
    *,
    seed: int = 0,
    data: Mapping[str, Any],
    source: Mapping[str, Any],
) -> ItemSet:
    """Choose turns of blocks whose users have a history.

    Args:
        blocks: In any order; those without history are left out.
        rule: One of `RULES`.
        size: How many turns at most; `all` takes every one.
        seed: Of `random` and `stratified`.
        data: How to read the conversations again.
        source: What is known of the data set, for the card.

    Raises:
        UsageError: There is no turn to choose.
    """
    known = [b for b in blocks if b.view.history]
    entries = [(b, r) for b in known for r in b.ratings if r.reply.before]
    if rule == "hard":
        items = [
            _item(p.block, p.rated, p.user, weight=p.weight, reasons=p.reasons)
            for p in hard_picks(known, size)
        ]
    else:
        found = [e for e in entries if asked(e[1].reply)]
        # Chance draws from turns in an order of their own: that of the data makes no difference.
        found.sort(key=lambda e: (e[0].view.id, e[1].reply.id))
        chosen = found if rule == "all" else _CHOICES[rule](found, size, random.Random(seed))
        items = [_item(b.view.id, r, b.view.user) for b, r in chosen]
    if not items:
        among = counted(len(entries), "rated reply", "rated replies")
        msg = f"the rule {rule!r} finds no turn to replay among {among}"
        hint = "conversations need user_id, scenario, ratings, and users with several scenarios"
        raise UsageError(msg, hint=hint)
    return ItemSet(tuple(items), rule, seed, data, _card(items, known, entries, source))


def _item(
    block: str, rated: RatedReply, user: str, weight: float | None = None, reasons: tuple[str, ...] = ()
) -> ReplayItem:
    reply = rated.reply
    return ReplayItem(
        id=reply.id,
        conversation=reply.conversation.id,
        block=block,
        user=user,
        scenario=str(reply.conversation.scenario),
        position=reply.position,
        gold=rated.score,
        state=state_digest(reply.before),
        weight=weight,
        reasons=reasons,
    )


def _random(entries: Sequence[_Entry], size: int, rng: random.Random) -> list[_Entry]:
    kept = set(rng.sample(range(len(entries)), min(size, len(entries))))
    return [e for i, e in enumerate(entries) if i in kept]


def _stratified(entries: Sequence[_Entry], size: int, rng: random.Random) -> list[_Entry]:
    """Give each stratum (score and scenario) its share, by largest remainder; within it, users in turn."""
    size = min(size, len(entries))
    strata: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for index, (block, rated) in enumerate(entries):
        strata[half_up(rated.score), block.view.scenario].append(index)
    exact = {key: size * len(held) / len(entries) for key, held in strata.items()}
    taken = {key: int(share) for key, share in exact.items()}
    by_rest = sorted(exact, key=lambda key: (taken[key] - exact[key], key))
    for key in by_rest[: size - sum(taken.values())]:
        taken[key] += 1
    used: Counter[str] = Counter()
    kept: set[int] = set()
    for key in sorted(strata):
        kept.update(
            _users_in_turn([(i, entries[i][0].view.user) for i in strata[key]], taken[key], used, rng)
        )
    return [e for i, e in enumerate(entries) if i in kept]


def _users_in_turn(
    held: Sequence[tuple[int, str]], n: int, used: Counter[str], rng: random.Random
) -> list[int]:
    """Take n, always one of a user that has fewest so far; chance decides among equals."""
    left: defaultdict[str, list[int]] = defaultdict(list)
    for index, user in rng.sample(held, len(held)):
        left[user].append(index)
    order = {user: i for i, user in enumerate(left)}
    out = []
    for _ in range(n):
        user = min(left, key=lambda name: (used[name], order[name]))
        out.append(left[user].pop())
        used[user] += 1
        if not left[user]:
            del left[user]
    return out


_CHOICES: Final = {"random": _random, "stratified": _stratified}


def gold_mix(scores: Sequence[float]) -> dict[str, Any]:
    """Return how often each score was given, their mean, and the share of 3 and less."""
    whole = Counter(half_up(s) for s in scores)
    n = len(scores)
    return {
        "counts": {str(s): whole[s] for s in range(1, 6)},
        "mean": sum(scores) / n if n else None,
        "dissatisfied": sum(s < 4 for s in scores) / n if n else None,
    }


def selected_on_gold(rule: str) -> bool:
    """Say whether a rule looks at what the users gave in a way that changes the mix."""
    return rule == "hard"


def _card(
    items: Sequence[ReplayItem],
    blocks: Sequence[RatedBlock],
    entries: Sequence[_Entry],
    source: Mapping[str, Any],
) -> dict[str, Any]:
    """Describe the set: source, languages, users, gold mix, licence. The digest stands beside it."""
    texts = {r.reply.id: r.reply.request for b in blocks for r in b.ratings}
    languages = Counter(detect_language(texts[i.id]) for i in items)
    return {
        **source,
        "turns": len(items),
        "turns_in_data": len(entries),
        "users": len({i.user for i in items}),
        "blocks": len({i.block for i in items}),
        "conversations": len({i.conversation for i in items}),
        "languages": dict(languages.most_common()),
        "scenarios": dict(Counter(i.scenario for i in items).most_common()),
        "positions": {str(k): v for k, v in sorted(Counter(i.position for i in items).items())},
        "gold": gold_mix([i.gold for i in items]),
        "gold_of_all": gold_mix([r.score for _, r in entries]),
    }
