"""The items of a replay benchmark: turns of conversations whose reply is to be written anew."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict, get_args

import orjson

from dialogauge.core import (
    FileFault,
    Message,
    Place,
    RecordFault,
    UsageError,
    digest,
    digest_text,
    whole_score,
)
from dialogauge.core.files import read_bytes
from dialogauge.core.protocols import RatedBlock, RatedReply, Reply
from dialogauge.core.shape import read_as
from dialogauge.runs.privacy import StoredMask
from dialogauge.text import counted, detect_language

FORMAT: Final = "dialogauge replay items 1"
ORIGINAL: Final = "original"
"""The replies that stand in the data, as one more candidate."""


@dataclass(frozen=True, slots=True)
class ReplayItem:
    """One frozen state: everything before a reply that a user has rated. It holds no text."""

    id: str
    """The published form of the turn's id, `{conversation}__turn_{i}`."""
    conversation: str
    block: str
    """As `block_id` makes it."""
    user: str
    scenario: str
    position: int
    """The 0-based index of the reply among the conversation's assistant messages."""
    gold: float
    """What the user gave the original reply."""
    state: str
    """The digest of the messages before the reply."""
    weight: float | None = None
    """What the rule `hard` chose it by."""
    reasons: tuple[str, ...] = ()
    """What that weight is made of."""


@dataclass(frozen=True, slots=True)
class ItemSet:
    """The chosen turns, how they were chosen, and where the conversations are."""

    items: tuple[ReplayItem, ...]
    rule: str
    seed: int
    data: Mapping[str, Any]
    """How to read the conversations again: inputs, format, field map, ratings, dimension, part, split."""
    card: Mapping[str, Any]
    """The data card."""

    @property
    def digest(self) -> str:
        """Changes with any turn or any message before one; their order makes no difference."""
        return digest([[i.id, i.state] for i in sorted(self.items, key=lambda i: i.id)])

    @property
    def content(self) -> str:
        """Digest of all that the items hold, ratings and reasons included."""
        items = sorted(self.items, key=lambda i: i.id)
        names = [field.name for field in fields(ReplayItem)]
        return digest([{n: getattr(i, n) for n in names} | {"gold": float(i.gold)} for i in items])

    @property
    def selected_on_gold(self) -> bool:
        """Whether its rule looks at what the users gave in a way that changes the mix."""
        return self.rule == "hard"

    def to_json(self) -> dict[str, Any]:
        """Write the set as its file holds it."""
        return {
            "format": FORMAT,
            "digest": self.digest,
            "content": self.content,
            "rule": self.rule,
            "seed": self.seed,
            "card": dict(self.card),
            "data": dict(self.data),
            "items": [{**asdict(i), "reasons": list(i.reasons)} for i in self.items],
        }


class _Split(TypedDict):
    train: list[str]
    test: list[str]


class _Data(TypedDict):
    """How the conversations are read again."""

    inputs: list[str]
    format: str | None
    map_file: str | None
    ratings_file: str | None
    dimension: str
    part: Literal["test", "train", "all"]
    split: _Split
    privacy: NotRequired[StoredMask]


class _GoldMix(TypedDict):
    counts: dict[str, int]
    mean: float | None
    dissatisfied: float | None


class _Card(TypedDict):
    """What a page says of the set."""

    source: str
    data_set: NotRequired[str | None]
    published_at: NotRequired[str | None]
    licence: str
    turns: int
    turns_in_data: int
    users: int
    blocks: int
    conversations: int
    languages: dict[str, int]
    scenarios: dict[str, int]
    positions: dict[str, int]
    gold: _GoldMix
    gold_of_all: _GoldMix


class _ItemFile(TypedDict):
    """What `ItemSet.to_json` writes."""

    format: str
    digest: str
    content: NotRequired[str]
    rule: Literal["hard", "random", "stratified", "all"]
    seed: int
    card: _Card
    data: _Data
    items: tuple[ReplayItem, ...]


def read_items(path: Path) -> ItemSet:
    """Read a file that `replay select` wrote.

    Raises:
        FileFault: It cannot be read, or holds something else, or an item twice.
    """
    hint = "`dialogauge replay select DATA -o FILE` writes such a file"
    try:
        raw = orjson.loads(read_bytes(path, "item set", FileFault, hint))
        if not isinstance(raw, dict) or raw.get("format") != FORMAT:
            msg = "this is no item set of a replay benchmark"
            raise FileFault(msg, place=Place(str(path)), hint=hint)
        stored = read_as(raw, _ItemFile)
    except FileFault:
        raise
    except ValueError as error:
        msg = f"the item set is damaged: {error}"
        raise FileFault(msg, place=Place(str(path)), hint=hint) from error
    item_set = ItemSet(stored["items"], stored["rule"], stored["seed"], stored["data"], stored["card"])
    _check(item_set, stored["digest"], stored.get("content"), path)
    return item_set


def _check(items: ItemSet, stored_digest: str, content: str | None, path: Path) -> None:
    twice = next((name for name, n in Counter(i.id for i in items.items).items() if n > 1), None)
    if twice is not None:
        msg = f"the item {twice!r} is in the set twice"
        raise FileFault(msg, place=Place(str(path)), hint="select anew")
    if items.digest != stored_digest or content not in (None, items.content):
        msg = "the items are not those that the file's digest was made of"
        raise FileFault(msg, place=Place(str(path)), hint="it was changed by hand: select anew")


@dataclass(frozen=True, slots=True)
class Stage:
    """The states of an item set, found again in the data."""

    items: tuple[ReplayItem, ...]
    """The items that are there, in the order of the set."""
    blocks: Mapping[str, RatedBlock]
    """The touched blocks, whole, in the order of the data."""
    originals: Mapping[str, RatedReply]
    """By item: the reply that its user rated."""
    faults: tuple[RecordFault, ...]
    """Items whose conversation is gone or is not what it was."""

    by_block: Mapping[str, tuple[ReplayItem, ...]]
    """The items of each touched block."""


def asked(reply: Reply) -> bool:
    """Say whether a reply follows what a user said or a tool gave; else its state asks for nothing.

    What follows a message of the assistant's is a part of one answer, and its state would show the other.
    """
    return bool(reply.before) and reply.before[-1].role in ("user", "tool")


def state_digest(before: Sequence[Message]) -> str:
    """Return the digest of the messages before a reply."""
    messages = (json.dumps(m.to_openai(), sort_keys=True, ensure_ascii=False) for m in before)
    return digest_text("\x1e".join(messages))


def set_stage(items: ItemSet, blocks: Iterable[RatedBlock]) -> Stage:
    """Find the items of a set among the blocks of the data.

    An item that is not there, or whose prefix or rating has changed, is a fault and takes no part.
    """
    by_id = {b.view.id: b for b in blocks}
    rated = {(name, r.reply.id): r for name, b in by_id.items() for r in b.ratings}
    touched: defaultdict[str, list[ReplayItem]] = defaultdict(list)
    originals: dict[str, RatedReply] = {}
    faults: list[RecordFault] = []
    present: list[ReplayItem] = []
    for item in items.items:
        original = rated.get((item.block, item.id))
        if original is None:
            gone = f"the data does not hold it in {item.block!r}: its conversation or its rating is gone"
            faults.append(_fault(item, gone))
        elif state_digest(original.reply.before) != item.state:
            faults.append(_fault(item, "the messages before the reply are not those that were selected"))
        elif original.score != item.gold:
            gold = f"its rating is {original.score:g} in the data, and {item.gold:g} in the item set"
            faults.append(_fault(item, gold))
        else:
            present.append(item)
            touched[item.block].append(item)
            originals[item.id] = original
    return Stage(
        tuple(present),
        {name: block for name, block in by_id.items() if name in touched},
        originals,
        tuple(faults),
        {name: tuple(of_block) for name, of_block in touched.items()},
    )


def _fault(item: ReplayItem, what: str) -> RecordFault:
    place = Place("items", conversation_id=item.conversation)
    return RecordFault(
        f"item {item.id!r}: {what}", place=place, hint="it is left out; select anew to mend it"
    )


def replaced(original: Reply, text: str) -> Reply:
    """Return the reply with another text in the same state; nothing follows it.

    Its conversation gets an id of its own: two items of one conversation are two conversations here, each
    with the original replies before the one that is judged.
    """
    message = Message("assistant", text)
    conversation = replace(original.conversation, id=original.id, messages=(*original.before, message))
    return replace(original, conversation=conversation)


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
    weight: float = 0.0
    """How much the rule `hard` wants it."""
    reasons: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.rated.reply.id

    @property
    def gold(self) -> int:
        """The whole score that the user gave."""
        return whole_score(self.rated.score)


def hard_picks(blocks: Iterable[RatedBlock], size: int = 300) -> tuple[Pick, ...]:
    """Choose turns as the published script does.

    At most one turn of a conversation and three of a block, never the first reply, nor one that nobody asked
    for; one turn of every user, then a quota for each score, then by weight.

    Args:
        blocks: In the order of the data.
        size: How many turns at most.
    """
    picks = sorted((p for b in blocks for p in _of_block(b)), key=lambda p: (-p.weight, p.block, p.id))
    best = _best_of_users(picks)[:size]
    taken = {p.id for p in best}
    ordered = [*best, *(p for p in picks if p.id not in taken)]
    chosen = list(best)
    for score, n in sorted(QUOTA.items()):
        more = [p for p in ordered if p.gold == score and p.id not in taken][:n]
        chosen += more
        taken |= {p.id for p in more}
    chosen += [p for p in ordered if p.id not in taken]
    return tuple(chosen[:size])


def _best_of_users(picks: Sequence[Pick]) -> list[Pick]:
    first: dict[str, Pick] = {}
    for pick in picks:
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
    score = whole_score(rated.score)
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
    reasons = [(name, weight) for name, weight, true in parts if true]
    return Pick(rated, block, user, sum(w for _, w in reasons), tuple(name for name, _ in reasons))


def _substantive(rated: RatedReply) -> bool:
    request, reply = rated.reply.request.strip(), rated.reply.text.strip()
    bare = reply.translate(str.maketrans("", "", "。！!")).strip()
    return len(request) >= 8 and bare not in _BARE and not (len(reply) < 25 and len(request) < 25)


Rule = Literal["hard", "random", "stratified", "all"]
RULES: Final[tuple[Rule, ...]] = get_args(Rule)
"""`hard`: the published choice, made with the ratings in hand. `random`: every turn alike. `stratified`: the
whole's mix of scores and scenarios, users in turn. `all`: every turn."""


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
    every = [Pick(r, b.view.id, b.view.user) for b in known for r in b.ratings if r.reply.before]
    if rule == "hard":
        items = tuple(_item(pick, pick.weight) for pick in hard_picks(known, size))
    else:
        # Chance draws from turns in an order of their own: that of the data makes no difference.
        eligible = sorted((p for p in every if asked(p.rated.reply)), key=lambda p: (p.block, p.id))
        chosen = eligible if rule == "all" else _CHOICES[rule](eligible, size, random.Random(seed))
        items = tuple(map(_item, chosen))
    if not items:
        among = counted(len(every), "rated reply", "rated replies")
        msg = f"the rule {rule!r} finds no turn to replay among {among}"
        hint = "conversations need user_id, scenario, ratings, and users with several scenarios"
        raise UsageError(msg, hint=hint)
    return ItemSet(items, rule, seed, data, _card(items, known, every, source))


def _item(pick: Pick, weight: float | None = None) -> ReplayItem:
    reply = pick.rated.reply
    return ReplayItem(
        id=reply.id,
        conversation=reply.conversation.id,
        block=pick.block,
        user=pick.user,
        scenario=str(reply.conversation.scenario),
        position=reply.position,
        gold=pick.rated.score,
        state=state_digest(reply.before),
        weight=weight,
        reasons=pick.reasons,
    )


def _random(picks: Sequence[Pick], size: int, rng: random.Random) -> list[Pick]:
    kept = set(rng.sample(range(len(picks)), min(size, len(picks))))
    return [pick for i, pick in enumerate(picks) if i in kept]


def _stratified(picks: Sequence[Pick], size: int, rng: random.Random) -> list[Pick]:
    """Give each stratum (score and scenario) its share, by largest remainder; within it, users in turn."""
    size = min(size, len(picks))
    strata: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for index, pick in enumerate(picks):
        strata[pick.gold, str(pick.rated.reply.conversation.scenario)].append(index)
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


_CHOICES: Final = {"random": _random, "stratified": _stratified}


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
    items: Sequence[ReplayItem],
    blocks: Sequence[RatedBlock],
    every: Sequence[Pick],
    source: Mapping[str, Any],
) -> dict[str, Any]:
    """Describe the set: source, languages, users, gold mix, licence. The digest stands beside it."""
    texts = {r.reply.id: r.reply.request for b in blocks for r in b.ratings}
    languages = Counter(detect_language(texts[i.id]) for i in items)
    return {
        **source,
        "turns": len(items),
        "turns_in_data": len(every),
        "users": len({i.user for i in items}),
        "blocks": len({i.block for i in items}),
        "conversations": len({i.conversation for i in items}),
        "languages": dict(languages.most_common()),
        "scenarios": dict(Counter(i.scenario for i in items).most_common()),
        "positions": {str(k): v for k, v in sorted(Counter(i.position for i in items).items())},
        "gold": gold_mix([i.gold for i in items]),
        "gold_of_all": gold_mix([pick.rated.score for pick in every]),
    }
