"""Splits of users into training and test, by seed or by file; turn numbers of messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import orjson

from dialogauge.core import ConfigError, Conversation, Message, UsageError, read_text, shown_path
from dialogauge.core.values import Value
from dialogauge.text import counted


def message_turns(messages: Sequence[Message]) -> list[int | None]:
    """Return the turn number of each message; None for leading system messages."""
    numbers: list[int | None] = [None] * len(messages)
    for turn in Conversation("", tuple(messages)).turns:
        for index in range(turn.start, turn.stop):
            numbers[index] = turn.number
    return numbers


class UserSplit(Value):
    """The users of the two disjoint parts."""

    train: frozenset[str]
    test: frozenset[str]


def split_users(users: Iterable[str], *, train_share: float = 0.2, seed: int = 42) -> UserSplit:
    """Split users at random.

    The split equals scikit-learn's `GroupShuffleSplit(n_splits=1, train_size=train_share,
    random_state=seed)` over rows grouped by user: of the shuffled sorted users, the last
    floor(`train_share` * users) are the train part, all others the test part.

    Args:
        users: The users, in any order, repeats allowed.
        train_share: Share of the distinct users, in (0, 1).
        seed: Seed of NumPy's legacy generator, whose stream is frozen.

    Raises:
        UsageError: One of the parts would be empty.
    """
    names = sorted(set(users))
    n_train = math.floor(train_share * len(names))
    if not 0 < train_share < 1 or n_train < 1:
        msg = f"{len(names)} users cannot be split with a share of {train_share:g} for training"
        raise UsageError(msg, hint="give a split file (--split-file), or judge all users (--split all)")
    import numpy as np  # most readers of data split nobody

    order = np.random.RandomState(seed).permutation(len(names))
    n_test = len(names) - n_train
    return UserSplit(
        train=frozenset(names[i] for i in order[n_test:]), test=frozenset(names[i] for i in order[:n_test])
    )


def read_split(path: str) -> UserSplit:
    """Read a split file: JSON `{"train": [user ids], "test": [user ids]}`; each list is optional.

    Raises:
        ConfigError: The file is unreadable, has another form, or has a user in both lists.
    """
    hint = 'it is JSON: {"train": [user ids], "test": [user ids]}'
    text = read_text(path, "split file", hint=hint)
    path = shown_path(path)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        msg = f"the split file {path} cannot be used: it is not JSON: {error.msg} in line {error.lineno}"
        raise ConfigError(msg, hint=hint) from error
    is_split = isinstance(value, dict) and ("train" in value or "test" in value)
    parts = [value.get(name, []) for name in ("train", "test")] if is_split else []
    if not is_split or not all(_are_users(part) for part in parts):
        msg = f"the split file {path} does not hold lists of users under 'train' and 'test'"
        raise ConfigError(msg, hint=hint)
    train, test = (frozenset(str(user) for user in part) for part in parts)
    if both := sorted(train & test):
        msg = f"the split file {path} has {counted(len(both), 'user')} in both lists: {', '.join(both[:5])}"
        raise ConfigError(msg, hint="a user is for training or for testing, never for both")
    return UserSplit(train, test)


def _are_users(part: object) -> bool:
    """Say whether a value is a list of user ids: texts or whole numbers."""
    return isinstance(part, list) and all(isinstance(u, str | int) and not isinstance(u, bool) for u in part)
