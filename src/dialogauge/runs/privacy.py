"""What a run hides: the mask of a run, its salt, and keeping masked and open data out of one run.

The mask is put on right after a conversation is read and its ratings are joined (`Study.plan`), so what
is stored, sent to a model, cached, written and shown was masked before. On a run that was judged openly,
`report`, `export` and `pairs` put it on between the run file and what they write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from secrets import token_bytes
from typing import Any, Final, Literal, TypedDict

from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import UsageError
from dialogauge.core.values import Value
from dialogauge.data import Mask, RatingTable
from dialogauge.runs.store import RunDatabase, store_errors

_META: Final = "privacy"
_SALT_BYTES: Final = 32
_IDS: Final[Mapping[str, Literal["conversation", "user"]]] = {
    "conversation_id": "conversation",
    "user_id": "user",
    "rater": "user",
}
_WRITTEN: Final = frozenset({"rationale", "issues", "evidence", "details", "failure", "text", "orders"})
# Counters, names of ours and of agents: no text of users or models stands in them.
_OURS: Final = frozenset(
    {
        "usage",
        "prompt_digest",
        "level",
        "turn",
        "repeat",
        "verdict",
        "verdict_basis",
        "a",
        "b",
        "arena",
        "shown_first",
    }
)


class Privacy(Value):
    """What `--redact` and `--hash-ids` ask for."""

    redact: bool = False
    hash_ids: bool = False

    @property
    def words(self) -> str:
        """The options that ask for it."""
        return " ".join(w for w, on in (("--redact", self.redact), ("--hash-ids", self.hash_ids)) if on)


OPEN: Final = Privacy()


def new_salt() -> bytes:
    """Return the key of the digests of a new run."""
    return token_bytes(_SALT_BYTES)


def mask_for_writing(database: RunDatabase | None, asked: Privacy) -> Mask | None:
    """Return the mask with which a run is judged; None for an open run.

    The run's salt is made with the run and kept in its file. Raises UsageError when the run holds
    judgements under another setting: open and masked conversations never share a file.
    """
    kept = None if database is None else _kept(database)
    if database is not None and database.judges():
        policy = _policy(kept)
        if policy != asked:
            with_what = f"with {policy.words}" if policy.words else "openly"
            msg = f"the run {database.path.parent} was judged {with_what}"
            hint = f"add {policy.words}" if policy.words else f"drop {asked.words}"
            raise UsageError(msg, hint=f"{hint}, choose another directory with -o, or start with --fresh")
    salt = new_salt() if kept is None else _salt(kept)
    if database is not None and not database.readonly:
        value = {"redact": asked.redact, "hash_ids": asked.hash_ids, "salt": salt.hex()}
        if value != kept:
            database.put_meta(_META, value)
    return Mask(asked.redact, asked.hash_ids, salt) if asked != OPEN else None


def mask_for_reading(database: RunDatabase, asked: Privacy) -> Mask | None:
    """Return the mask for what is written from a finished run; None when nothing is left to hide.

    What the run itself was judged with is not done twice. Raises UsageError for a run without a salt.
    """
    policy = _policy(_kept(database))
    left = Privacy(asked.redact and not policy.redact, asked.hash_ids and not policy.hash_ids)
    return None if left == OPEN else Mask(left.redact, left.hash_ids, key_of(database))


def key_of(database: RunDatabase) -> bytes:
    """Return the key of the digests of a run; raises UsageError where it keeps none."""
    kept = _kept(database)
    if kept is None:
        msg = f"the run {database.path.parent} keeps no salt for its ids"
        raise UsageError(msg, hint="give the same `dialogauge judge` command again; nothing is judged twice")
    return _salt(kept)


def ratings_as_stored(database: RunDatabase, ratings: RatingTable) -> RatingTable:
    """Return ratings under the ids that the run keeps: those of a run with hashed ids join too."""
    kept = _kept(database)
    policy = _policy(kept)
    if kept is None or policy == OPEN:
        return ratings
    mask = Mask(policy.redact, policy.hash_ids, _salt(kept))
    hidden = (
        replace(r, conversation_id=mask.id("conversation", r.conversation_id), place=None)
        for r in ratings.ratings
    )
    return replace(ratings, ratings=(*ratings.ratings, *hidden))


class StoredMask(TypedDict):
    """What a run or an item set keeps of its mask."""

    redact: bool
    hash_ids: bool
    salt: str
    """The key of its digests, in hex digits."""


def _kept(database: RunDatabase) -> StoredMask | None:
    kept: StoredMask | None = database.get_meta(_META, shape=StoredMask | None)
    with store_errors(database.path):
        if kept is not None:
            _salt(kept)
    return kept


def _salt(kept: StoredMask) -> bytes:
    return bytes.fromhex(kept["salt"])


def _policy(kept: StoredMask | None) -> Privacy:
    return OPEN if kept is None else Privacy(kept["redact"], kept["hash_ids"])


def mask_of(database: RunDatabase) -> Mask | None:
    """Return the mask that a run wears; None for an open run."""
    kept = database.get_meta(_META)
    policy = _policy(kept)
    return None if policy == OPEN else Mask(policy.redact, policy.hash_ids, bytes.fromhex(kept["salt"]))


def mask_written(mask: Mask, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with what a model wrote masked: it need not stem from the masked conversation."""
    return {k: mask.value(v) if k in _WRITTEN else v for k, v in row.items()}


def mask_produced(mask: Mask, conversation: Conversation) -> Conversation:
    """Return a conversation that was made in a masked run, with what was said in it masked; its ids are."""
    messages = replace(mask, hash_ids=False).conversation(conversation).messages
    return replace(conversation, messages=messages)


class Hiding(Value):
    """Hides what an agent says of the conversations of a log: it may name what was hidden from it."""

    mask: Mask | None = None
    """None in an open run: nothing changes."""
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By conversation as it is shown: its own ids, and what is shown in their place."""

    def text(self, conversation: str, text: str) -> str:
        """Return what was said in answer to a conversation as it may be stored."""
        return text if self.mask is None else str(self.mask.value(text, self.names.get(conversation)))

    def turn(self, name: str) -> str:
        """Return the id of a turn of the open log as it may be shown."""
        return name if self.mask is None else hidden_turn(self.mask, name)


def mask_row(mask: Mask, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `judgements.jsonl` masked: ids, and every text of users and models in it."""
    names = mask.names(row["conversation_id"], row.get("user_id"))
    if "details" in row:
        row = {**row, "details": _turn_ids_hidden(mask, row["details"])}
    out = {k: v if k in _OURS or k in _IDS else mask.value(v, names) for k, v in row.items()}
    return out | {k: mask.id(kind, row[k]) for k, kind in _IDS.items() if row.get(k) is not None}


def _turn_ids_hidden(mask: Mask, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return details with the ids of turns hidden: they hold the ids of other conversations of the user."""
    if isinstance(value, list):
        return [_turn_ids_hidden(mask, inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: hidden_turn(mask, inner)
        if key == "turn_id" and isinstance(inner, str)
        else _turn_ids_hidden(mask, inner)
        for key, inner in value.items()
    }


def hidden_turn(mask: Mask, name: str) -> str:
    """Return the id of a turn as it may be shown: it begins with the id of its conversation."""
    conversation, mark, position = name.rpartition("__turn_")
    return f"{mask.id('conversation', conversation)}{mark}{position}" if mark else name
