"""Which turns are chosen: by the published rule, by chance, or all; with the data card of the choice."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from dialogauge.core import Conversation, UsageError, whole_score
from dialogauge.core.protocols import RatedBlock, RatedReply, Reply
from dialogauge.studies.rated import replies_of
from dialogauge.studies.replay.items import (
    ItemSet,
    ReplayItem,
    asked,
    block_of,
    is_answer,
    state_digest,
    user_of,
)
from dialogauge.text import counted, detect_language

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

    reply: Reply
    block: str
    user: str
    score: float | None = None
    """What the user gave it; None where ratings are left out."""
    weight: float = 0.0
    """How much the rule `hard` wants it."""
    reasons: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.reply.id

    @property
    def scenario(self) -> str:
        """Empty where the log states none."""
        return self.reply.conversation.scenario or ""

    @property
    def kind(self) -> str:
        """What a stratum has in common beside the scenario: the whole score, else the language."""
        return detect_language(self.reply.request) if self.score is None else str(whole_score(self.score))


def hard_picks(blocks: Iterable[RatedBlock], size: int = 300) -> tuple[Pick, ...]:
    """Choose rated turns as the published script does.

    At most one turn of a conversation and three of a block, never the first reply, nor one that nobody asked
    for; one turn of every user, then a quota for each score, then by weight.

    Args:
        blocks: In the order of the data.
        size: How many turns at most.
    """
    picks = sorted((p for b in blocks for p in _of_block(b)), key=lambda p: (-p.weight, p.block, p.id))
    of_users: dict[str, Pick] = {}
    for pick in picks:
        of_users.setdefault(pick.user, pick)
    best = [of_users[user] for user in sorted(of_users)][:size]
    taken = {p.id for p in best}
    ordered = [*best, *(p for p in picks if p.id not in taken)]
    chosen = list(best)
    for score, n in sorted(QUOTA.items()):
        more = [p for p in ordered if _gold(p) == score and p.id not in taken][:n]
        chosen += more
        taken |= {p.id for p in more}
    chosen += [p for p in ordered if p.id not in taken]
    return tuple(chosen[:size])


def _of_block(block: RatedBlock) -> Iterator[Pick]:
    sessions: defaultdict[str, list[Pick]] = defaultdict(list)
    for rated in block.ratings:
        pick = weigh_turn(rated, block.view.id, block.view.user)
        if (
            rated.reply.position < _FIRST
            or not asked(rated.reply)
            or (_gold(pick) >= 4 and "non_substantive" in pick.reasons)
        ):
            continue
        sessions[rated.reply.conversation.id].append(pick)
    best = [p for picks in sessions.values() for p in _ranked(picks)[:_PER_CONVERSATION]]
    chosen = _ranked([p for p in best if _gold(p) <= 4])[:_PER_BLOCK]
    fives = _ranked([p for p in best if _gold(p) == 5 and "substantive" in p.reasons])
    yield from chosen
    yield from fives[: min(_PER_BLOCK - len(chosen), _FIVES_PER_BLOCK)]


def _gold(pick: Pick) -> int:
    return 0 if pick.score is None else whole_score(pick.score)


def _ranked(picks: Sequence[Pick]) -> list[Pick]:
    return sorted(picks, key=lambda p: (-p.weight, p.id))


def weigh_turn(rated: RatedReply, block: str, user: str) -> Pick:
    """Return how much the published script wants a turn, and why."""
    score = whole_score(rated.score)
    specific = score <= 3 and (rated.reason or "").strip() not in _NO_REASON
    request, reply = rated.reply.request.strip(), rated.reply.text.strip()
    bare = reply.translate(str.maketrans("", "", "。！!")).strip() in _BARE
    substantive = len(request) >= 8 and not bare and not (len(reply) < 25 and len(request) < 25)
    parts = (
        ("score_le_3", 3.0, score <= 3),
        ("boundary_3_4", 2.0, score in (3, 4)),
        ("specific_dsat_reason", 1.5, specific),
        ("substantive", 1.0, substantive),
        ("non_substantive", -1.5, not substantive),
        ("clear_user_request", 1.0, len(request) >= _CLEAR_REQUEST),
        ("positive_control_candidate", -0.5, score == 5),
    )
    reasons = [(name, weight) for name, weight, true in parts if true]
    weight, names = sum(w for _, w in reasons), tuple(name for name, _ in reasons)
    return Pick(rated.reply, block, user, rated.score, weight, names)


Rule = Literal["hard", "random", "stratified", "all"]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
"""`hard`: the published choice, made with the ratings in hand. `random`: every turn alike. `stratified`: the
whole's mix of scores and scenarios, users in turn. `all`: every turn."""


def select_items(  # noqa: PLR0913 - what a choice is made of
    blocks: Sequence[RatedBlock],
    rule: Rule,
    size: int,
    *,
    seed: int = 0,
    data: Mapping[str, Any],
    source: Mapping[str, Any],
    unrated: Sequence[Conversation] | None = None,
) -> ItemSet:
    """Choose turns of blocks whose users have a history; or of conversations, without a look at ratings.

    Args:
        blocks: In any order; those without history are left out.
        rule: One of `RULES`.
        size: How many turns at most; `all` takes every one.
        seed: Of `random` and `stratified`.
        data: How to read the conversations again.
        source: What is known of the data set, for the card.
        unrated: Conversations that are taken in place of blocks.

    Raises:
        UsageError: There is no turn to choose, or the rule needs ratings.
    """
    known = [b for b in blocks if b.view.history]
    rated = [(r, b.view) for b in known for r in b.ratings]
    every = [Pick(r.reply, view.id, view.user, r.score) for r, view in rated if r.reply.before]
    if unrated is not None:
        every = plain_picks(unrated)
    if rule != "hard":
        chosen = _chosen([pick for pick in every if asked(pick.reply)], rule, size, seed)
    elif unrated is None:
        chosen = hard_picks(known, size)
    else:
        msg = "the rule 'hard' chooses by what users rated, and here ratings are missing or left out"
        raise UsageError(msg, hint="--rule stratified, random or all")
    if not chosen and unrated is not None:
        among = counted(len(unrated), "conversation")
        msg = f"no reply to replay in {among}: none has text from an assistant after a user's message"
        raise UsageError(msg, hint="`dialogauge check` says how the conversations were read")
    if not chosen:
        among = counted(len(every), "rated reply", "rated replies")
        msg = f"the rule {rule!r} finds no turn to replay among {among}"
        hint = "conversations need user_id, scenario, ratings, and users with several scenarios"
        raise UsageError(msg, hint=hint)
    items = tuple(item_of(pick, pick.weight if rule == "hard" else None) for pick in chosen)
    if unrated is not None:
        users = any(pick.reply.conversation.user_id for pick in chosen)
        source = {**source, "clusters": "users" if users else "conversations"}
    return ItemSet(items, rule, seed, data, _card(items, chosen, every, source))


def plain_picks(conversations: Iterable[Conversation]) -> list[Pick]:
    """Return every reply that answers in words, whether anybody rated it or not."""
    return [
        Pick(reply, block_of(conversation), user_of(conversation))
        for conversation in conversations
        for reply in replies_of(conversation)
        if is_answer(reply)
    ]


def _chosen(picks: Sequence[Pick], rule: Rule, size: int, seed: int) -> Sequence[Pick]:
    # Chance draws from turns in an order of their own: that of the data makes no difference.
    eligible = sorted(picks, key=lambda p: (p.block, p.id))
    if rule == "all":
        return eligible
    rng = random.Random(seed)
    if rule == "stratified":
        return _stratified(eligible, size, rng)
    kept = sorted(rng.sample(range(len(eligible)), min(size, len(eligible))))
    return [eligible[i] for i in kept]


def item_of(pick: Pick, weight: float | None = None) -> ReplayItem:
    """Return the frozen state of a turn."""
    reply = pick.reply
    return ReplayItem(
        id=reply.id,
        conversation=reply.conversation.id,
        block=pick.block,
        user=pick.user,
        scenario=pick.scenario,
        position=reply.position,
        gold=pick.score,
        state=state_digest(reply.before),
        weight=weight,
        reasons=pick.reasons,
    )


def _stratified(picks: Sequence[Pick], size: int, rng: random.Random) -> list[Pick]:
    """Give each stratum its share, by largest remainder; within it, users in turn.

    A stratum is of one scenario, and of one score or, without ratings, of one language.
    """
    size = min(size, len(picks))
    strata: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for index, pick in enumerate(picks):
        strata[pick.kind, pick.scenario].append(index)
    exact = {key: size * len(members) / len(picks) for key, members in strata.items()}
    taken = {key: int(share) for key, share in exact.items()}
    by_rest = sorted(exact, key=lambda key: (taken[key] - exact[key], key))
    for key in by_rest[: size - sum(taken.values())]:
        taken[key] += 1
    used: Counter[str] = Counter()
    kept: set[int] = set()
    for key in sorted(strata):
        kept.update(_users_in_turn([(i, picks[i].user) for i in strata[key]], taken[key], used, rng))
    return [pick for i, pick in enumerate(picks) if i in kept]


def _users_in_turn(
    members: Sequence[tuple[int, str]], n: int, used: Counter[str], rng: random.Random
) -> list[int]:
    """Take n, always one of a user that has fewest so far; chance decides among equals."""
    left: defaultdict[str, list[int]] = defaultdict(list)
    for index, user in rng.sample(members, len(members)):
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


def gold_mix(scores: Sequence[float]) -> dict[str, Any]:
    """Return how often each score was given, their mean, and the share of 3 and less."""
    whole = Counter(whole_score(s) for s in scores)
    n = len(scores)
    return {
        "counts": {str(s): whole[s] for s in range(1, 6)},
        "mean": sum(scores) / n if n else None,
        "dissatisfied": sum(s < 4 for s in scores) / n if n else None,
    }


def _card(
    items: Sequence[ReplayItem], chosen: Sequence[Pick], every: Sequence[Pick], source: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe the set: source, languages, users, gold mix, licence. The digest stands beside it."""
    languages = Counter(detect_language(pick.reply.request) for pick in chosen)
    return {
        **source,
        "turns": len(items),
        "turns_in_data": len(every),
        "users": len({i.user for i in items}),
        "blocks": len({i.block for i in items}),
        "conversations": len({i.conversation for i in items}),
        "languages": dict(languages.most_common()),
        "scenarios": dict(Counter(i.scenario for i in items if i.scenario).most_common()),
        "positions": {str(k): v for k, v in sorted(Counter(i.position for i in items).items())},
        "gold": _mix(chosen),
        "gold_of_all": _mix(every),
    }


def _mix(picks: Sequence[Pick]) -> dict[str, Any] | None:
    """Return the mix of ratings; None where they are left out."""
    scores = [pick.score for pick in picks if pick.score is not None]
    return gold_mix(scores) if scores else None
