"""OpenAssistant conversations (`oasst1`, `oasst2`): trees of messages, one a line, or a message a line.

Each path from the prompt to a last message is a conversation. A reply stands on several paths, and its labels
rate it on the first alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault, Role
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import unknown_role
from dialogauge.data.formats.order import branch, leaves
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream
from dialogauge.data.splits import message_turns

_ROLES: Final[Mapping[str, Role]] = {"prompter": "user", "assistant": "assistant"}
_TREE: Final = "message_tree_id"
_OF_TREE: Final = (_TREE, "tree_state")
_RATED: Final = ("quality", "helpfulness", "creativity")
"""Labels of which more is better, from 0 to 1; the others say what is amiss."""

Node = Mapping[str, Any]


def _recognises(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict) or _TREE not in record:
        return False
    return isinstance(record.get("prompt"), dict) or {"message_id", "role", "text"} <= record.keys()


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    for tree in _trees(stream, context):
        if isinstance(tree, RecordFault):
            yield tree
            continue
        entry, nodes = tree
        try:
            yield from _paths(nodes, entry)
        except RecordFault as fault:
            yield fault


def _trees(stream: LineStream, context: Context) -> Iterator[RecordFault | tuple[Entry, list[Node]]]:
    """Yield the messages of each tree; those of one tree stand together."""
    ended: set[str] = set()
    nodes: list[Node] = []
    first: Entry | None = None
    for value, entry in entries(stream, context):
        prompt = value.get("prompt") if isinstance(value, dict) else None
        tree = text_at(value, _TREE) if isinstance(value, dict) else None
        if isinstance(value, RecordFault):
            yield value
        elif isinstance(prompt, dict):
            yield entry, _flat(prompt, {key: value[key] for key in _OF_TREE if key in value})
        elif tree is None or text_at(value, "message_id") is None:
            yield fault_in(entry, f"the message is {excerpt(value)}: it has no {_TREE} or no message_id")
        elif tree in ended:
            hint = f"sort the file by {_TREE}"
            yield fault_in(entry, "the message stands apart from the others of its tree", hint)
        else:
            if first is not None and nodes and nodes[0][_TREE] != tree:
                ended.add(nodes[0][_TREE])
                yield first, nodes
                first, nodes = None, []
            first = first or entry
            nodes.append(value)
    if first is not None:
        yield first, nodes


def _flat(prompt: Node, tree: Node) -> list[Node]:
    """Return the messages of a nested tree, a message before its replies, the best of these first."""
    out: list[Node] = []
    waiting: list[tuple[Node, str | None]] = [(prompt, None)]
    while waiting:
        node, parent = waiting.pop()
        out.append({**node, **tree, "parent_id": parent})
        replies = node.get("replies")
        listed = replies if isinstance(replies, list) else [replies] if replies else []
        own = [r if isinstance(r, dict) else {} for r in listed]  # one without an id makes no tree
        own.sort(key=lambda r: r["rank"] if isinstance(r.get("rank"), int) else len(own))
        waiting += [(reply, text_at(node, "message_id")) for reply in reversed(own)]
    return out


def _paths(nodes: Sequence[Node], entry: Entry) -> Iterator[Conversation]:
    """Yield the conversations of a tree; raises `RecordFault` for one that is none."""
    by_id = {id: node for node in nodes if (id := text_at(node, "message_id")) is not None}
    parents = {id: text_at(node, "parent_id") for id, node in by_id.items()}
    if len(by_id) < len(nodes) or not any(parent not in by_id for parent in parents.values()):
        raise fault_in(entry, "the messages make no tree: ids are missing or double, or there is no prompt")
    messages = {id: _message(node, entry) for id, node in by_id.items()}
    rated: set[str] = set()
    for last in leaves(parents):
        try:
            path = branch(parents, last)
        except ValueError as error:
            raise fault_in(entry, str(error)) from error
        yield _conversation(path, by_id, tuple(messages[id] for id in path), rated, entry)
        rated.update(path)
    entry.recognise("trees were read as conversations, one for each path to a last message")


def _message(node: Node, entry: Entry) -> Message:
    role, text = node.get("role"), node.get("text")
    if not isinstance(role, str) or role not in _ROLES:
        raise fault_in(entry, *unknown_role(1, role))
    if not isinstance(text, str):
        raise fault_in(entry, f"message {excerpt(node.get('message_id'))} has the text {excerpt(text)}")
    marks = {key: node[key] for key in ("message_id", "created_date") if node.get(key)}
    return Message(_ROLES[role], text, extra=marks)


def _conversation(
    path: Sequence[str],
    by_id: Mapping[str, Node],
    messages: tuple[Message, ...],
    rated: set[str],
    entry: Entry,
) -> Conversation:
    prompt, name = by_id[path[0]], path[-1]
    ratings: list[Rating] = []
    for id, message, turn in zip(path, messages, message_turns(messages), strict=True):
        if message.role == "assistant" and id not in rated:
            for label, value in _labels(by_id[id].get("labels")):
                entry.recognise("messages have labels of quality, helpfulness, creativity: read as ratings")
                ratings.append(Rating(name, label, score_at(entry.place, f"label {label}", value), turn))
    models = {model for id in path if (model := text_at(by_id[id], "model_name")) is not None}
    return Conversation(
        name,
        messages,
        user_id=text_at(prompt, "user_id"),
        candidate="+".join(sorted(models)) or None,
        language=text_at(prompt, "lang"),
        ratings=tuple(ratings),
        metadata={key: prompt[key] for key in _OF_TREE if prompt.get(key)},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _labels(labels: object) -> Iterator[tuple[str, object]]:
    """Yield the labels that rate, of either form: name -> value, or lists of names and values."""
    if not isinstance(labels, dict):
        return
    names, values = labels.get("name"), labels.get("value")
    if isinstance(names, list) and isinstance(values, list):
        labels = {n: {"value": v} for n, v in zip(names, values, strict=False) if isinstance(n, str)}
    for label in _RATED:
        value = labels.get(label)
        if isinstance(value, dict) and value.get("value") is not None:
            yield label, value["value"]


OASST = TextFormat("oasst", _recognises, _read)
