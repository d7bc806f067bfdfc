"""The items of a replay benchmark: turns of conversations whose reply is to be written anew."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict

import orjson

from dialogauge.core import (
    Conversation,
    FileFault,
    Message,
    Place,
    RecordFault,
    digest,
    digest_text,
)
from dialogauge.core.files import read_bytes
from dialogauge.core.protocols import RatedBlock, Reply, block_id
from dialogauge.core.shape import read_as
from dialogauge.runs.privacy import StoredMask
from dialogauge.studies.rated import replies_of
from dialogauge.studies.satisfaction.blocks import cut_behind

FORMAT: Final = "dialogauge replay items 1"
ORIGINAL: Final = "original"
"""The replies that stand in the data, as one more candidate."""


@dataclass(frozen=True, slots=True)
class ReplayItem:
    """One frozen state: everything before a reply. It holds no text."""

    id: str
    """The published form of the turn's id, `{conversation}__turn_{i}`."""
    conversation: str
    block: str
    """As `block_id` makes it of user and scenario; where the log states none, of the conversation's id."""
    user: str
    """Where the log states none, the conversation."""
    scenario: str
    """Empty where the log states none."""
    position: int
    """The 0-based index of the reply among the conversation's assistant messages."""
    gold: float | None
    """What the user gave the original reply; None in a set that was chosen without ratings."""
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
        return digest(
            [
                {n: getattr(i, n) for n in names} | {"gold": None if i.gold is None else float(i.gold)}
                for i in items
            ]
        )

    @property
    def rated(self) -> bool:
        """Whether its replies were chosen with their users' ratings, and can be scored for these users."""
        return all(item.gold is not None for item in self.items)

    @property
    def clusters(self) -> str:
        """What its replies go together by: users, or conversations where no user is known."""
        return str(self.card.get("clusters", "users"))

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
    clusters: NotRequired[Literal["users", "conversations"]]
    gold: _GoldMix | None
    gold_of_all: _GoldMix | None


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
class Scene:
    """What is known of the user of some items beside the messages before each reply, ratings left out."""

    scenario: str
    """That of the items; the conversation's id where the log states none."""
    profile: Mapping[str, Any] | None = None
    of_user: tuple[Reply, ...] = ()
    """The user's replies, in the order of the data."""

    @property
    def past(self) -> tuple[Reply, ...]:
        """The user's replies in other scenarios; where the log states none, in other conversations."""
        return tuple(r for r in self.of_user if scene_name(r.conversation) != self.scenario)


def scene_name(conversation: Conversation) -> str:
    """Return the scenario of a conversation; one without is a scenario of its own."""
    return conversation.scenario or conversation.id


@dataclass(frozen=True, slots=True)
class Stage:
    """The states of an item set, found again in the data."""

    items: tuple[ReplayItem, ...]
    """The items that are there, in the order of the set."""
    scenes: Mapping[str, Scene]
    """Of the touched blocks, in the order of the data."""
    originals: Mapping[str, Reply]
    """By item: the reply that stands in the data; its conversation ends with it."""
    faults: tuple[RecordFault, ...]
    """Items whose conversation is gone or is not what it was."""
    by_block: Mapping[str, tuple[ReplayItem, ...]]
    """The items of each touched block."""
    rated: Mapping[str, RatedBlock] = field(default_factory=dict)
    """The touched blocks, whole, in the order of the data; none of a set that was chosen without ratings."""


def asked(reply: Reply) -> bool:
    """Say whether a reply follows what a user said or a tool gave; else its state asks for nothing.

    What follows a message of the assistant's is a part of one answer, and its state would show the other.
    """
    return bool(reply.before) and reply.before[-1].role in ("user", "tool")


def is_answer(reply: Reply) -> bool:
    """Say whether a reply answers in words: it has text, calls no tool, and something was asked."""
    message = reply.conversation.messages[reply.message]
    return asked(reply) and not message.tool_calls and bool(message.text.strip())


def state_digest(before: Sequence[Message]) -> str:
    """Return the digest of the messages before a reply."""
    messages = (json.dumps(m.to_openai(), sort_keys=True, ensure_ascii=False) for m in before)
    return digest_text("\x1e".join(messages))


def set_stage(items: ItemSet, blocks: Iterable[RatedBlock]) -> Stage:
    """Find the items of a set among the blocks of rated data.

    An item that is not there, or whose prefix or rating has changed, is a fault and takes no part.
    """
    by_id = {b.view.id: b for b in blocks}
    rated = {(name, r.reply.id): r for name, b in by_id.items() for r in b.ratings}

    def original(item: ReplayItem) -> Reply | str:
        there = rated.get((item.block, item.id))
        if there is None:
            return f"the data does not hold it in {item.block!r}: its conversation or its rating is gone"
        if there.score != item.gold and state_digest(there.reply.before) == item.state:
            return f"its rating is {there.score:g} in the data, and {item.gold:g} in the item set"
        return there.reply

    stage = _found(items, original)
    touched = {name: block for name, block in by_id.items() if name in stage.by_block}

    def scene(block: RatedBlock) -> Scene:
        view = block.view
        return Scene(view.scenario, view.profile, tuple(rated.reply for rated in view.history))

    return replace(stage, scenes={name: scene(b) for name, b in touched.items()}, rated=touched)


def set_plain_stage(items: ItemSet, conversations: Iterable[Conversation]) -> Stage:
    """Find the items of a set among conversations, whether anybody rated them or not.

    An item that is not there, or whose prefix has changed, is a fault and takes no part.
    """
    wanted, users = {i.conversation for i in items.items}, {i.user for i in items.items}
    of_user: defaultdict[str, list[Reply]] = defaultdict(list)
    scenarios: dict[str, str] = {}
    profiles: dict[str, Mapping[str, Any]] = {}
    replies: dict[str, Reply] = {}
    for conversation in conversations:
        user, block = user_of(conversation), block_of(conversation)
        if user not in users:
            continue
        own = tuple(filter(is_answer, replies_of(conversation)))
        of_user[user] += own
        if conversation.id in wanted:
            scenarios[block] = scene_name(conversation)
            replies |= {reply.id: reply for reply in own}
        if conversation.profile:
            profiles.setdefault(user, dict(conversation.profile))

    def original(item: ReplayItem) -> Reply | str:
        there = replies.get(item.id)
        if there is None or block_of(there.conversation) != item.block:
            return f"the data does not hold it in {item.block!r}: its conversation is gone"
        return cut_behind(there)

    stage = _found(items, original)
    owners = {item.block: item.user for item in stage.items}
    whole = {user: tuple(replies) for user, replies in of_user.items()}
    scenes = {
        name: Scene(scenario, profiles.get(owners[name]), whole[owners[name]])
        for name, scenario in scenarios.items()
        if name in owners
    }
    return replace(stage, scenes=scenes)


def user_of(conversation: Conversation) -> str:
    """Return the user; where the log states none, a conversation is of a user of its own."""
    return conversation.user_id or conversation.id


def block_of(conversation: Conversation) -> str:
    """Return the block that a conversation belongs to, be it rated or not."""
    return block_id(user_of(conversation), scene_name(conversation))


def _found(items: ItemSet, original: Callable[[ReplayItem], Reply | str]) -> Stage:
    """Return what is there of a set; `original` returns the reply of an item, or what is wrong with it."""
    touched: defaultdict[str, list[ReplayItem]] = defaultdict(list)
    originals: dict[str, Reply] = {}
    faults: list[RecordFault] = []
    for item in items.items:
        reply = original(item)
        if isinstance(reply, str):
            faults.append(_fault(item, reply))
        elif state_digest(reply.before) != item.state:
            faults.append(_fault(item, "the messages before the reply are not those that were selected"))
        else:
            touched[item.block].append(item)
            originals[item.id] = reply
    return Stage(
        tuple(item for item in items.items if item.id in originals),
        {},
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
