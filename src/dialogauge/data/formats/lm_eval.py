"""Samples of lm-evaluation-harness (`samples_*.jsonl`): what was asked, and what the model wrote.

Metrics go into the metadata, which no judge sees. Samples of log-likelihoods hold no reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, Place, RecordFault
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.payloads import CHOICES_LEFT_OUT, messages_in
from dialogauge.data.formats.rendered import is_rendered, unrendered
from dialogauge.data.formats.roles import role_named
from dialogauge.data.json_values import is_message_list, too_deep
from dialogauge.data.notes import excerpt
from dialogauge.data.sources import LineStream

_OWN: Final = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"}) | {
    *("metrics", "doc_hash", "prompt_hash", "target_hash"),
}
"""Keys of a sample that are no metrics."""
_HASHES: Final = ("doc_hash", "prompt_hash", "target_hash", "arguments", "resps")
_TASK: Final = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl?")
_NO_REPLY: Final = "the sample has log-likelihoods of given answers: nobody replied anything"


def _recognises(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict) or not {"doc_id", "doc", "arguments", "resps"} <= record.keys():
        return False
    return isinstance(record["arguments"], list | dict) and isinstance(record["resps"], list)


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    seen: dict[str, set[int]] = {}
    for row, entry in entries(stream, context):
        try:
            if isinstance(row, RecordFault):
                yield row
            elif (conversation := _convert(row, seen, entry)) is not None:
                yield conversation
        except RecordFault as fault:
            yield fault


def _convert(row: Any, seen: dict[str, set[int]], entry: Entry) -> Conversation | None:  # noqa: ANN401  # any JSON value
    """Return the conversation of a sample; None for one that was read with another filter before."""
    if not isinstance(row, dict) or not {"doc_id", "arguments", "resps"} <= row.keys():
        raise fault_in(entry, f"the sample is {excerpt(row)}: it has no doc_id, arguments and resps")
    prompt, options = _request(row["arguments"], entry)
    reply = _reply(row["resps"], options, entry)
    label = entry.context.source.label
    id = f"{label}:{row['doc_id']}"
    digest = hash(orjson.dumps([row["arguments"], row["resps"]]))
    if digest in (read := seen.setdefault(id, set())):
        entry.recognise("samples stand once for each of their filters: read once")
        return None
    if read:
        entry.assume("samples share a doc_id and differ: named by file and line")
        id = f"{entry.made_id} (doc {row['doc_id']})"
    read.add(digest)
    if metrics := sorted(row.keys() - _OWN):
        entry.recognise(f"samples have metrics ({', '.join(metrics)}): kept as metadata, no ratings")
    task = _TASK.fullmatch(label.rpartition("/")[2])
    reader = MessageReader(entry, role_of=lambda name: role_named(name, entry), ordered=True)
    return Conversation(
        id,
        reader.read(_messages(prompt, reply, entry)),
        scenario=None if task is None else task[1],
        metadata={key: value for key, value in row.items() if key not in _HASHES},
        place=Place(entry.place.file, entry.place.line, id),
    )


def _request(arguments: object, entry: Entry) -> tuple[object, object]:
    """Return the first prompt of a sample, and what stands beside it: the options of a generation."""
    several = [*arguments.values()] if isinstance(arguments, dict) else arguments
    if not isinstance(several, list) or not several:
        raise fault_in(entry, f"the arguments are {excerpt(arguments)}: no prompt")
    first = several[0]
    values = [*first.values()] if isinstance(first, dict) else first
    if not isinstance(values, list) or not values:
        raise fault_in(entry, f"the first arguments are {excerpt(first)}: no prompt")
    if len(values) > 1 and not isinstance(values[1], str) and len(several) > 1:
        entry.assume("samples have several prompts: only the first is read, with its reply")
    return values[0], values[1] if len(values) > 1 else None


def _reply(resps: object, options: object, entry: Entry) -> str:
    """Return the first reply; the others are counted."""
    first = resps[0] if isinstance(resps, list) and resps else None
    texts = first if isinstance(first, list) else [first]
    scored = bool(texts) and isinstance(texts[0], list | int | float)
    if isinstance(options, str) or options is None or scored:
        hint = "give samples of a task that generates (output_type: generate_until)"
        raise fault_in(entry, _NO_REPLY, hint)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise fault_in(entry, f"the resps are {excerpt(resps)}: no texts")
    if len(texts) > 1:
        entry.context.notes.recognise(CHOICES_LEFT_OUT, entry.place, count=len(texts) - 1)
    return str(texts[0])


def _messages(prompt: object, reply: str, entry: Entry) -> list[dict[str, Any]]:
    """Return what was asked, as messages or as one text, and the reply."""
    while isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str) and is_rendered(prompt):
        return unrendered(prompt, entry, reply)
    items = _listed(prompt)
    if items is not None:
        entry.recognise("samples have their prompt as a list of messages: read as messages")
    elif isinstance(prompt, str):
        items = [{"role": "user", "content": prompt}]
    else:
        raise fault_in(entry, f"the prompt is {excerpt(prompt)}: neither a text nor messages")
    return [*items, {"role": "assistant", "content": reply}]


def _listed(prompt: object) -> list[dict[str, Any]] | None:
    """Return the messages in a prompt, maybe written as JSON; None where there are none."""
    if isinstance(prompt, str) and prompt.startswith("["):
        try:
            prompt = orjson.loads(prompt)
        except orjson.JSONDecodeError:
            return None
    return messages_in(prompt) if is_message_list(prompt) and not too_deep(prompt) else None


LM_EVAL = TextFormat("lm-eval", _recognises, _read)
