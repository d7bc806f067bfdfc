"""The protocol: blocks of one user and one scenario, judged from what the user rated in the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, islice, zip_longest
from typing import Any, Literal, TypeVar

from dialogauge.core import ONE_TO_FIVE, Conversation, Rating, RecordFault, UsageError, WorkUnit
from dialogauge.core.protocols import BlockView, Population, RatedBlock, RatedReply, Reply, Sight, block_id
from dialogauge.data import RECLLMSIM_TASKS, Mask, RatedDimensions, UserSplit, split_users
from dialogauge.studies.rated import assistant_messages, latest_of_each, replies_of


@dataclass(slots=True)
class CollectedRatings:
    """The rated replies of one conversation, and the ratings that are no scores."""

    replies: list[RatedReply] = field(default_factory=list)
    faults: list[RecordFault] = field(default_factory=list)


def collect_rated(conversation: Conversation, dimension: str) -> CollectedRatings:
    """Return the rated replies of a conversation, in order.

    A turn usually has one assistant message. Where it has several and one rater rated each, the ratings go
    to them in order; else the mean of all ratings of the turn goes to its last assistant message.
    """
    out = CollectedRatings()
    valid: list[Rating] = []
    for rating in conversation.ratings:
        if rating.dimension == dimension and rating.turn is not None:
            fault = _fault(conversation, rating)
            if fault is None:
                valid.append(rating)
            else:
                out.faults.append(fault)
    ratings, repeated = latest_of_each(conversation, valid)
    out.faults += repeated
    by_turn: dict[int, list[Rating]] = defaultdict(list)
    for rating in ratings:
        by_turn[rating.turn or 0].append(rating)
    for turn, group in groupby(replies_of(conversation), key=lambda reply: reply.turn):
        replies = tuple(group)
        dealt = zip(replies, _dealt(by_turn.pop(turn, []), len(replies)), strict=True)
        out.replies += [RatedReply(reply, *rated) for reply, rated in dealt if rated is not None]
    for rating in (r for ratings in by_turn.values() for r in ratings if r.turn):
        msg = "a rating of a turn that has no reply"
        out.faults.append(RecordFault(msg, place=conversation.place_of(rating), hint="it is left out"))
    return out


def _unnamed_together(conversation: Conversation, dimension: str) -> int:
    """Count the turns that have more ratings without a rater than replies: they are averaged."""
    ratings = Counter(
        r.turn for r in conversation.ratings if r.dimension == dimension and r.rater is None and r.turn
    )
    if all(n < 2 for n in ratings.values()):
        return 0
    replies = assistant_messages(conversation.messages)
    return sum(n > len(replies[turn]) for turn, n in ratings.items() if turn in replies)


def _dealt(ratings: Sequence[Rating], replies: int) -> list[tuple[float, str | None] | None]:
    """Deal the ratings of one turn to its assistant messages."""
    scores = [float(r.score) for r in ratings]
    if len({r.rater for r in ratings}) == 1 and len(ratings) == replies:
        return [(score, r.note) for score, r in zip(scores, ratings, strict=True)]
    if not ratings:
        return [None] * replies
    note = next((r.note for r in ratings if r.note), None)
    return [*[None] * (replies - 1), (sum(scores) / len(scores), note)]


def _fault(conversation: Conversation, rating: Rating) -> RecordFault | None:
    score, scale = rating.score, ONE_TO_FIVE
    if isinstance(score, str):
        msg = f"the rating {score!r} is a text: satisfaction is a number from {scale.low:g} to {scale.high:g}"
    elif not scale.low <= score <= scale.high:
        msg = f"the rating {score:g} is off the scale {scale}"
    else:
        return None
    return RecordFault(msg, place=conversation.place_of(rating), hint="the turn counts as unrated")


def rated_as_session(
    conversation: Conversation, dimension: str
) -> tuple[Conversation, tuple[RecordFault, ...]]:
    """Return the conversation with its ratings of the whole, in one dimension, as ratings of its last reply.

    Ratings of turns in that dimension are dropped; other dimensions stay.

    Args:
        conversation: With its ratings.
        dimension: The rated one.

    Returns:
        The conversation, and its ratings of the whole that cannot be used: there is no reply.
    """
    last = max((t.number for t in conversation.turns if t.number and t.reply), default=None)
    kept: list[Rating] = []
    faults: list[RecordFault] = []
    for rating in conversation.ratings:
        if rating.dimension != dimension:
            kept.append(rating)
        elif rating.turn is None and last is None:
            msg = "a rating of a session that has no reply"
            faults.append(RecordFault(msg, place=conversation.place_of(rating), hint="it is left out"))
        elif rating.turn is None:
            kept.append(replace(rating, turn=last))
    return replace(conversation, ratings=tuple(kept)), tuple(faults)


MAX_SESSIONS = 8
"""Above so many conversations the published prompt keeps the first of each scenario."""

_Session = tuple[Mapping[str, Any] | None, Sequence[RatedReply]]
"""The profile that a conversation states, and its rated replies."""


def collect_blocks(
    conversations: Iterable[Conversation], *, dimension: str = "satisfaction", sight: Sight = "foresight"
) -> tuple[tuple[RatedBlock, ...], tuple[RecordFault, ...], Counter[str]]:
    """Build the blocks of all users, with whole histories.

    Users come in plain string order, their scenarios in the order of the published data, else by name;
    the conversations of a scenario in the order of the data. A block without a history is built too.

    Returns:
        The blocks, the ratings that cannot be used, and how many conversations were left out and why.
    """
    users: dict[str, dict[str, list[_Session]]] = {}
    faults: list[RecordFault] = []
    left_out: Counter[str] = Counter()
    for conversation in conversations:
        rated = collect_rated(conversation, dimension)
        faults += rated.faults
        if conversation.user_id is None or conversation.scenario is None:
            left_out["no user" if conversation.user_id is None else "no scenario"] += 1
            continue
        left_out["no rating"] += not rated.replies
        sessions = users.setdefault(conversation.user_id, {}).setdefault(conversation.scenario, [])
        sessions.append((conversation.profile, rated.replies))
    blocks = [block for user in sorted(users) for block in _blocks_of(user, users[user], sight)]
    return tuple(blocks), tuple(faults), +left_out


def _blocks_of(user: str, scenarios: Mapping[str, list[_Session]], sight: Sight) -> Iterable[RatedBlock]:
    known = {task: place for place, task in enumerate(RECLLMSIM_TASKS)}
    ordered = sorted(scenarios, key=lambda name: (known.get(name, len(known)), name))
    profile = next((profile for n in ordered for profile, _ in scenarios[n] if profile), None)
    for target in ordered:
        rated = [r for _, replies in scenarios[target] for r in replies]
        if not rated:
            continue
        history = tuple(r for n in ordered if n != target for _, replies in scenarios[n] for r in replies)
        shown = tuple(r.reply if sight == "hindsight" else cut_behind(r.reply) for r in rated)
        plain = None if profile is None else dict(profile)
        view = BlockView(block_id(user, target), user, target, plain, history, shown, sight)
        yield RatedBlock(view, tuple(replace(r, reply=s) for r, s in zip(rated, shown, strict=True)))


def cut_behind(reply: Reply) -> Reply:
    """Return the reply in its conversation as it ends with it: what followed may not be read."""
    cut = reply.conversation.messages[: reply.message + 1]
    return replace(reply, conversation=replace(reply.conversation, messages=cut))


def kept_sessions(history: Sequence[RatedReply]) -> tuple[RatedReply, ...]:
    """Cut a history as the published memory prompt does.

    Up to 8 conversations stay; of more, the first floor(8 / number of scenarios) of each scenario.
    """
    sessions: dict[str, str] = {r.reply.conversation.id: str(r.reply.conversation.scenario) for r in history}
    if len(sessions) <= MAX_SESSIONS:
        return tuple(history)
    each = max(1, MAX_SESSIONS // len(set(sessions.values())))
    seen: Counter[str] = Counter()
    kept: set[str] = set()
    for session, scenario in sessions.items():
        seen[scenario] += 1
        if seen[scenario] <= each and len(kept) < MAX_SESSIONS:
            kept.add(session)
    return tuple(r for r in history if r.reply.conversation.id in kept)


Part = Literal["train", "test", "all"]
HistoryCut = Literal["all", "prompt"]


@dataclass(frozen=True, slots=True)
class StudyData:
    """What is judged, by whom it is known, and what was left out."""

    blocks: tuple[RatedBlock, ...]
    """The blocks of the part that was asked for; those without history at the end."""
    population: Population
    """The blocks of the training users."""
    split: UserSplit
    history_turns: Mapping[str, int]
    """By block: rated replies of the whole history, also where `--history prompt` cuts it."""
    faults: tuple[RecordFault, ...]
    """Ratings that are no scores."""
    left_out: Mapping[str, int]
    """What takes no part, by the reason: conversations without user, scenario or rating, blocks outside the
    split."""
    part: Part
    dimension: str
    sight: Sight
    history: HistoryCut
    split_given: bool
    """Whether the split was given; else users without history are judged with the test part."""
    together: int
    """Turns with several ratings without a rater, which are read as several people's mean."""

    @property
    def others(self) -> Population:
        """What is known of users other than the one at hand, who may be the only one that is judged."""
        alone = {block.view.user for block in self.blocks}
        return self.population.without(*alone) if len(alone) == 1 else self.population

    @property
    def targets(self) -> int:
        """Replies that are judged."""
        return sum(len(block.view.targets) for block in self.blocks)


def study_data(
    conversations: Iterable[Conversation],
    *,
    part: Part = "test",
    split: UserSplit | None = None,
    dimension: str = "satisfaction",
    sight: Sight = "foresight",
    history: HistoryCut = "all",
) -> StudyData:
    """Build blocks, split the users, and say what is judged.

    Args:
        conversations: With user, scenario and ratings; read once.
        part: Whose blocks are judged. With `all` and `train` a user is still never part of their own prior.
        split: Which users are for training; None splits by seed the users that have a history, or all users
            where nobody has one.
        dimension: The rated dimension.
        sight: Whether what followed a target may be read.
        history: `prompt` cuts histories as the published prompt does.

    Raises:
        UsageError: Nothing is left to judge, or there are too few users to split.
    """
    rated, together = RatedDimensions(), 0

    def watched() -> Iterator[Conversation]:
        nonlocal together
        for conversation in rated.watch(conversations):
            together += _unnamed_together(conversation, dimension)
            yield conversation

    blocks, faults, left_out = collect_blocks(watched(), dimension=dimension, sight=sight)
    rated.expect_one_to_five(dimension)
    if not blocks:
        raise _nothing(dimension, left_out)
    rated.expect_order(dimension)
    # A seeded split knows only users with a history, where there are any; the others are judged with the
    # test part.
    users = frozenset(b.view.user for b in blocks)
    known = frozenset(b.view.user for b in blocks if b.view.history) or users
    parts = split or _split(known, part)
    test = parts.test if split is not None else parts.test | (users - known)
    wanted = {"train": parts.train, "test": test, "all": users}[part]
    judged = [b for b in blocks if b.view.user in wanted]
    if not judged:
        msg = f"no user of the part {part!r} has rated conversations"
        raise UsageError(msg, hint="check the split file against the user ids, or give --split all")
    placed = wanted | parts.train | parts.test
    left_out["block of a user outside the split"] = sum(b.view.user not in placed for b in blocks)

    def cut(block: RatedBlock) -> RatedBlock:
        if history == "all":
            return block
        return replace(block, view=replace(block.view, history=kept_sessions(block.view.history)))

    return StudyData(
        blocks=tuple(cut(b) for b in sorted(judged, key=lambda b: not b.view.history)),
        population=Population(tuple(cut(b) for b in blocks if b.view.user in parts.train)),
        split=parts,
        history_turns={b.view.id: len(b.view.history) for b in blocks},
        faults=faults,
        left_out=dict(+left_out),
        part=part,
        dimension=dimension,
        sight=sight,
        history=history,
        split_given=split is not None,
        together=together,
    )


def masked_data(
    conversations: Mapping[str, Conversation], data: StudyData, mask: Mask
) -> tuple[dict[str, Conversation], StudyData]:
    """Return conversations and study masked, with the same users on either side of the split.

    Users are split by their own ids before these are hidden, so the same users are judged as in an open run.

    Args:
        conversations: By id, as they were read.
        data: Made from them.
        mask: What hides.
    """
    masked = {c.id: c for c in map(mask.conversation, conversations.values())}
    without = {b.view.user for b in data.blocks if not b.view.history} - data.split.train
    test = data.split.test | (set() if data.split_given else without)
    again = study_data(
        masked.values(),
        part=data.part,
        split=UserSplit(*(frozenset(mask.id("user", u) for u in side) for side in (data.split.train, test))),
        dimension=mask.text(data.dimension),
        sight=data.sight,
        history=data.history,
    )
    return masked, again


def _split(users: frozenset[str], part: Part) -> UserSplit:
    try:
        return split_users(users)
    except UsageError:
        if part == "all":
            return UserSplit(users, frozenset())
        raise


def _nothing(dimension: str, left_out: Mapping[str, int]) -> UsageError:
    counts = ", ".join(f"{n} with {why}" for why, n in left_out.items()) or "no conversation at all"
    msg = f"there is no rated reply with a user and a scenario to judge ({counts})"
    needed = f"conversations need user_id, scenario and turn ratings of {dimension!r}"
    return UsageError(msg, hint=needed)


U = TypeVar("U", bound=WorkUnit)


def in_turn(blocks: Iterable[Sequence[U]], at_once: int) -> Iterator[U]:
    """Yield the units of so many blocks at a time, one of each block in turn."""
    left = iter(blocks)
    while some := list(islice(left, at_once)):
        yield from (unit for rank in zip_longest(*some) for unit in rank if unit is not None)


def others_of(data: StudyData) -> Callable[[str], Population]:
    """Return what gives the population for a user: a training user is judged by what is known of the rest."""

    @cache
    def without(user: str) -> Population:
        return data.population.without(user)

    return lambda user: without(user) if user in data.split.train else data.population
