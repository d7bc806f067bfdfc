"""The file of a replay run: what is kept there beside its units, and what its units say.

The conversations of the items are kept up to the last of them: what followed is not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from dialogauge.core import Conversation, StoreError, UsageError, conversation_digest, digest
from dialogauge.core.protocols import Reply
from dialogauge.runs import Row, RunDatabase, RunDirectory, expect_study
from dialogauge.stats import ScoreHistory
from dialogauge.studies.rated import replies_of
from dialogauge.studies.replay.items import ItemSet, ReplayItem, Stage, read_items
from dialogauge.studies.satisfaction.blocks import cut_behind

REPLAY: Final = "replay"
"""The kind of run."""
_STATES: Final = "states"
"""Under this name stand the keys of the conversations that the items are of."""


def replies_digest(candidate: str, made_by: str) -> str:
    """Return the digest under which a candidate's replies stand: its name, and what they are made by."""
    return digest([candidate, made_by])


def shown_key(evaluator: str) -> str:
    """Return the name under which the items stand that an evaluator's page shows."""
    return f"shown:{evaluator}"


@dataclass(frozen=True, slots=True)
class StoredReplies:
    """What a run file holds of one candidate's replies; an item without any is in none of it."""

    keys: Mapping[str, bytes]
    """By item: the key of the unit."""
    failures: Mapping[str, str]
    """By item that the candidate failed on: the kind."""
    cut_short: frozenset[str]
    """Items to which the reply ended at the limit of tokens or in a filter."""

    def reply(self, item: str) -> bytes | None:
        """Return the key of a reply that is there to be scored."""
        return None if item in self.failures else self.keys.get(item)


class _Candidate(TypedDict):
    digest: str
    kind: str


class _Evaluator(TypedDict):
    name: str
    asked_for: str
    judge: dict[str, Any]


class _Shown(TypedDict):
    item: str
    request: str
    original: str


class _BlockHistory(TypedDict):
    counts: tuple[int, ...]
    mean: float | None
    turns: int


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """The file of a replay run: beside the units its item set, its candidates and its evaluators."""

    database: RunDatabase

    @property
    def path(self) -> Path:
        """The run directory."""
        return self.database.path.parent

    @property
    def items_digest(self) -> str | None:
        """The digest of the item set that the run is of."""
        items: str | None = self.database.get_meta("items", shape=str | None)
        return items

    @property
    def candidates(self) -> dict[str, dict[str, Any]]:
        """What each candidate is, in the order in which they came."""
        return dict(self.database.get_meta("candidates", {}, dict[str, _Candidate]))

    @property
    def evaluators(self) -> dict[str, dict[str, Any]]:
        """Who scored the run, by digest; the latest last."""
        return dict(self.database.get_meta("evaluators", {}, dict[str, _Evaluator]))

    @property
    def present(self) -> set[str]:
        """The items that were in the data when the run was last scored."""
        return set(self.database.get_meta("present", [], list[str]))

    def shown(self, evaluator: str) -> list[dict[str, str]]:
        """Return the items that an evaluator's page shows, with what was asked and the original reply."""
        return list(self.database.get_meta(shown_key(evaluator), [], list[_Shown]))

    def histories(self, evaluator: str) -> dict[str, ScoreHistory]:
        """Return the rated histories by block, as the evaluator met them."""
        stored = self.database.get_meta(f"histories:{evaluator}", {}, dict[str, _BlockHistory])
        return {n: ScoreHistory(h["counts"], h["mean"], h["turns"]) for n, h in stored.items()}

    def item_set(self) -> ItemSet:
        """Read the item set that the run is of."""
        return read_items(RunDirectory(self.path).file("items"))

    def expect_items(self, items: ItemSet) -> None:
        """Raise UsageError when the run is of another item set."""
        if self.items_digest not in (None, items.digest):
            msg = f"the run {self.path} is of another item set"
            raise UsageError(
                msg, hint="candidates are compared on the same items: choose another directory with -o"
            )

    def claim(self, items: ItemSet) -> None:
        """Make the run one of an item set, and of its mask; UsageError when it is of another set."""
        self.expect_items(items)
        if self.items_digest is None:
            RunDirectory(self.path).write_json("items", items.to_json())
            if (mask := items.data.get("privacy")) is not None:
                self.database.put_meta("privacy", mask)
            self.database.put_meta("items", items.digest)

    def keep_states(self, stage: Stage) -> None:
        """Keep the conversations of the items, each up to its last item, without ratings."""
        longest: dict[str, Conversation] = {}
        for item in stage.items:
            conversation = stage.originals[item.id].conversation
            before = longest.setdefault(item.conversation, conversation)
            if len(conversation.messages) > len(before.messages):
                longest[item.conversation] = conversation
        keys = {name: conversation_digest(conversation) for name, conversation in longest.items()}
        for name, conversation in longest.items():
            self.database.keep(bytes.fromhex(keys[name]), conversation)
        self.database.put_meta(_STATES, keys)

    def originals(self) -> Iterator[tuple[ReplayItem, Reply]]:
        """Yield the items that were in the data with their original replies, each ending its conversation.

        Raises StoreError where an older dialogauge wrote the run, and kept none.
        """
        keys = self.database.get_meta(_STATES, shape=dict[str, str] | None)
        if keys is None:
            msg = f"the run {self.path} keeps no conversations: an older dialogauge wrote it"
            raise StoreError(
                msg, hint="give its `dialogauge replay score` command again: it scores nothing twice"
            )
        spoken: dict[str, dict[str, Reply]] = {}
        for item in self.item_set().items:
            if item.conversation not in spoken and item.conversation in keys:
                conversation = self.database.conversation(bytes.fromhex(keys[item.conversation]))
                spoken[item.conversation] = (
                    {} if conversation is None else {r.id: r for r in replies_of(conversation)}
                )
            if (reply := spoken.get(item.conversation, {}).get(item.id)) is not None:
                yield item, cut_behind(reply)

    def replies(self, candidate: str) -> StoredReplies:
        """Return what is there of a candidate's replies; nothing of one that the run does not know."""
        about = self.candidates.get(candidate)
        if about is None:
            return StoredReplies({}, {}, frozenset())
        judge = replies_digest(candidate, about["digest"])
        keys: dict[str, bytes] = {}
        failures: dict[str, str] = {}
        cut_short: set[str] = set()
        for unit in self.database.units(judge, self.database.planned(judge)):
            (row,) = unit.rows
            item = sys.intern(row["item"])
            keys[item] = unit.key
            failures.pop(item, None)
            cut_short.discard(item)
            if row.get("failure") is not None:
                failures[item] = str(row["failure"]["kind"])
            elif row.get("finish") in ("length", "filter"):
                cut_short.add(item)
        return StoredReplies(keys, failures, frozenset(cut_short))

    def text(self, key: bytes) -> str:
        """Return the text of a reply."""
        unit = self.database.unit(key)
        if unit is None:
            msg = f"the run file {self.database.path} has lost a reply"
            raise StoreError(msg)
        return str(unit.rows[0]["text"])

    def scores(self, evaluator: str) -> Iterator[tuple[bytes, Row]]:
        """Yield what an evaluator gave, each with the key of the reply; old replies are among them.

        Rows have `candidate` (null for an original reply), `item`, `block`, `position`, `length`, `score`,
        `value` or `failure`, and where there are any `rationale`, `prompt_digest` and `usage`.
        """
        return ((unit.target, unit.rows[0]) for unit in self.database.units(evaluator))


@contextmanager
def open_replay(path: str) -> Iterator[ReplayRun]:
    """Open a replay run for reading.

    Raises StoreError where the directory holds none, or a run of another study.
    """
    directory = RunDirectory(Path(path))
    refuse_older(directory)
    if not directory.exists:
        msg = f"{path} holds no replay run: there is no {directory.file('database').name} in it"
        raise StoreError(msg, hint="give the directory that `dialogauge replay collect` wrote (its -o)")
    expect_study(directory, (REPLAY,))
    database = directory.open_for_reading()
    try:
        yield ReplayRun(database)
    finally:
        database.close()


def refuse_older(directory: RunDirectory) -> None:
    """Raise StoreError where an older dialogauge kept a replay run in a file of its own kind."""
    if not directory.exists and (directory.path / "replay.db").is_file():
        msg = f"an older dialogauge wrote the replay run {directory.path}"
        raise StoreError(msg, hint="collect and score again, into another directory")
