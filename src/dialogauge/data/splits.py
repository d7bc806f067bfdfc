"""Which users are for training and which for testing: a seeded split, or a file that says so."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialogauge.core import ConfigError, Conversation, Message, UsageError
from dialogauge.text import counted


def message_turns(messages: Sequence[Message]) -> list[int | None]:
    """Return the turn number of each message; None for leading system messages."""
    numbers: list[int | None] = [None] * len(messages)
    for turn in Conversation("", tuple(messages)).turns:
        for index in range(turn.start, turn.stop):
            numbers[index] = turn.number
    return numbers


def assistant_turns(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the turn number of each assistant message, by its 0-based index among them.

    Data sets that count replies from 0 (`{id}__turn_{i}`) mean entry `i`. It differs from `i + 1`
    where the assistant speaks first or twice in a row.
    """
    turns = message_turns(messages)
    return tuple(
        turn
        for turn, message in zip(turns, messages, strict=True)
        if message.role == "assistant" and turn is not None
    )


@dataclass(frozen=True, slots=True)
class UserSplit:
    """The users of the two parts; no user is in both."""

    train: frozenset[str]
    test: frozenset[str]


def split_users(users: Iterable[str], *, train_share: float = 0.2, seed: int = 42) -> UserSplit:
    """Split users at random, whole users to one part.

    The same users come out as of scikit-learn's `GroupShuffleSplit(n_splits=1, train_size=train_share,
    random_state=seed)` over rows that are grouped by user: the sorted distinct users are shuffled, the
    first are the test part, and the floor of `train_share` times their number follow as the train part.

    Args:
        users: One for each row, or each once; their order makes no difference.
        train_share: Of the distinct users, in (0, 1).
        seed: Of NumPy's legacy generator, whose stream is frozen.

    Raises:
        UsageError: There are so few users that one of the parts would be empty.
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
    """Read a split file: JSON `{"train": [user ids], "test": [user ids]}`; each list may be left out.

    Raises:
        ConfigError: The file cannot be read, is no such JSON, or has a user in both lists.
    """
    hint = 'it is JSON: {"train": [user ids], "test": [user ids]}'
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"the split file {path} cannot be used: {_why(error)}"
        raise ConfigError(msg, hint=hint) from error
    known = isinstance(value, dict) and ("train" in value or "test" in value)
    parts = [value.get(name, []) for name in ("train", "test")] if known else []
    if not known or not all(isinstance(part, list) for part in parts):
        msg = f"the split file {path} does not hold lists of users under 'train' and 'test'"
        raise ConfigError(msg, hint=hint)
    train, test = (frozenset(str(user) for user in part) for part in parts)
    if both := sorted(train & test):
        msg = f"the split file {path} has {counted(len(both), 'user')} in both lists: {', '.join(both[:5])}"
        raise ConfigError(msg, hint="a user is for training or for testing, never for both")
    return UserSplit(train, test)


def _why(error: OSError | ValueError) -> str:
    """Say in words what keeps a file from being read as JSON."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, OSError):
        return error.strerror or "it cannot be read"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error.msg} in line {error.lineno}"
    return "it is not UTF-8"
