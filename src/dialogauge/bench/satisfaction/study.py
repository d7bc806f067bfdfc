"""What one run of the study judges: whose blocks, what is known of other users, what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dialogauge.bench.satisfaction.blocks import collect_blocks, kept_sessions
from dialogauge.core import Conversation, RecordFault, UsageError
from dialogauge.data import RatedDimensions, UserSplit, split_users
from dialogauge.judge.personal import Population, RatedBlock, Sight

__all__ = ["HistoryCut", "Part", "Study", "plan_study"]

Part = Literal["train", "test", "all"]
HistoryCut = Literal["all", "prompt"]


@dataclass(frozen=True, slots=True)
class Study:
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

    @property
    def users(self) -> int:
        """Users that are judged."""
        return len({block.view.user for block in self.blocks})

    @property
    def others(self) -> Population:
        """What is known of users other than the one at hand, who may be the only one that is judged."""
        alone = {block.view.user for block in self.blocks}
        return self.population.without(*alone) if len(alone) == 1 else self.population

    @property
    def targets(self) -> int:
        """Replies that are judged."""
        return sum(len(block.view.targets) for block in self.blocks)


def plan_study(
    conversations: Iterable[Conversation],
    *,
    part: Part = "test",
    split: UserSplit | None = None,
    dimension: str = "satisfaction",
    sight: Sight = "foresight",
    history: HistoryCut = "all",
) -> Study:
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
    rated = RatedDimensions()
    blocks, faults, left_out = collect_blocks(rated.watch(conversations), dimension=dimension, sight=sight)
    if not blocks:
        raise _nothing(dimension, left_out, rated.instead_of(dimension))
    # A seeded split knows only users with a history, where there are any; the others are judged with the
    # test part.
    known = [b for b in blocks if b.view.history] or blocks
    found = split or _split(known, part)
    lonely = frozenset(b.view.user for b in blocks) - frozenset(b.view.user for b in known)
    wanted = {
        "train": found.train,
        "test": found.test | (lonely if split is None else frozenset()),
        "all": frozenset(b.view.user for b in blocks),
    }[part]
    judged = [b for b in blocks if b.view.user in wanted]
    if not judged:
        msg = f"no user of the part {part!r} has rated conversations"
        raise UsageError(msg, hint="check the split file against the user ids, or give --split all")
    outside = [b for b in blocks if b.view.user not in wanted | found.train | found.test]
    left_out["block of a user outside the split"] = len(outside)
    cut = _cut if history == "prompt" else _whole
    return Study(
        blocks=tuple(cut(b) for b in sorted(judged, key=lambda b: not b.view.history)),
        population=Population(tuple(cut(b) for b in blocks if b.view.user in found.train)),
        split=found,
        history_turns={b.view.id: len(b.view.history) for b in blocks},
        faults=faults,
        left_out=dict(+left_out),
    )


def _split(known: Sequence[RatedBlock], part: Part) -> UserSplit:
    users = {b.view.user for b in known}
    try:
        return split_users(users)
    except UsageError:
        if part == "all":
            return UserSplit(frozenset(users), frozenset())
        raise


def _whole(block: RatedBlock) -> RatedBlock:
    return block


def _cut(block: RatedBlock) -> RatedBlock:
    return replace(block, view=replace(block.view, history=kept_sessions(block.view.history)))


def _nothing(dimension: str, left_out: Mapping[str, int], instead: str | None) -> UsageError:
    told = ", ".join(f"{n} with {why}" for why, n in left_out.items()) or "no conversation at all"
    msg = f"there is no rated reply with a user and a scenario to judge ({told})"
    needed = f"conversations need user_id, scenario and turn ratings of {dimension!r}"
    return UsageError(msg, hint=needed if instead is None else f"{needed}; {instead}")
