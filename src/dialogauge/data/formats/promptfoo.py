"""Results of promptfoo: the document of an evaluation, or one result a line.

What its assertions gave goes into the metadata; a mark that a person gave in its viewer is a rating. Tests of
one conversation repeat the ones before, and are read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.payloads import asked
from dialogauge.data.formats.yaml_chat import YAML_CHAT, yaml_messages
from dialogauge.data.json_values import is_message_list
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream
from dialogauge.data.splits import message_turns

_KEPT: Final = (
    *("testIdx", "promptIdx", "vars", "error", "success", "score", "namedScores", "metadata", "promptId"),
)
_LONGEST_LABEL: Final = 60
"""Characters of a label that may name a prompt: without one it is the prompt itself."""
_BETWEEN: Final = "\n---\n"
"""What stands between the messages in the output of the simulated user."""

Item = Mapping[str, Any]


def _recognises(sample: Sample) -> bool:
    record, mapping = sample.record, sample.mapping
    if mapping.messages or mapping.role or mapping.content:
        return False
    results = _results(record)
    return bool(results) and _is_result(results[0])


def _results(record: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return the results in a document; those without such a list are one itself."""
    inner = record.get("results") if isinstance(record, dict) else None
    inner = inner.get("results") if isinstance(inner, dict) else inner
    return inner if isinstance(inner, list) else [record]


def _is_result(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    prompt = value.get("prompt") if isinstance(value, dict) else None
    return isinstance(prompt, dict) and "raw" in prompt and {"provider", "vars"} <= value.keys()


def _all(stream: LineStream, context: Context) -> Iterator[tuple[str | None, Any, Entry]]:
    """Yield each result, with the id of its evaluation."""
    for value, entry in entries(stream, context):
        if isinstance(value, RecordFault):
            yield None, value, entry
            continue
        results = _results(value)
        alone = len(results) == 1 and results[0] is value
        id = text_at(value, "evalId") if isinstance(value, dict) else None
        for number, one in enumerate(results, start=1):
            place = entry.place if alone else replace(entry.place, file=f"{entry.place.file} record {number}")
            yield id, one, Entry(context, place, entry.made_id if alone else f"{entry.made_id}:{number}")


def _names(stream: LineStream, context: Context) -> dict[str, str]:
    """Return what the prompts are called, by their labels."""
    names: dict[str, str] = {}
    for _, result, _ in _all(stream, context):
        if _is_result(result) and (label := _label(result)) not in names:
            short = len(label) <= _LONGEST_LABEL and "\n" not in label
            names[label] = label if short else f"prompt {len(names) + 1}"
    return names


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    prompts = _names(stream, context)
    waiting: dict[tuple[str, ...], Conversation] = {}
    for id, result, entry in _all(stream, context):
        try:
            if isinstance(result, RecordFault):
                yield result
                continue
            talk = _convert(result, id, prompts, entry)
        except RecordFault as fault:
            yield fault
            continue
        if (thread := _thread(result)) is None:
            yield talk
            continue
        key = (thread, talk.candidate or "", str(result.get("promptIdx")))
        before = waiting.pop(key, None)
        waiting[key] = talk
        if before is not None and _begins(talk, before):
            entry.recognise("results of one conversation repeat those before: read once")
            waiting[key] = _with_ratings(talk, before)
        elif before is not None:
            yield before
    yield from waiting.values()


def _convert(result: Any, eval_id: str | None, prompts: Mapping[str, str], entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON
    if not _is_result(result):
        raise fault_in(entry, f"the result is {excerpt(result)}: without prompt, provider and variables")
    response = result.get("response")
    response = response if isinstance(response, dict) else {}
    spoken = MessageReader(entry, ordered=True).read(_messages(result, response, entry))
    id = _id(result, eval_id, entry)
    kept = {key: result[key] for key in _KEPT if result.get(key) not in (None, {}, "")}
    case, graded = result.get("testCase"), result.get("gradingResult")
    about = text_at(case, "description") if isinstance(case, dict) else None
    reason = text_at(graded, "reason") if isinstance(graded, dict) else None
    if graded or "score" in kept:
        entry.recognise("results have scores of assertions: kept as metadata, no person gave them")
    return Conversation(
        id,
        spoken,
        candidate=_candidate(result, prompts, entry),
        ratings=tuple(_marks(id, graded, spoken, entry)),
        metadata=kept | {key: v for key, v in (("description", about), ("reason", reason)) if v},
        place=Place(entry.place.file, entry.place.line, id),
    )


def _id(result: Item, eval_id: str | None, entry: Entry) -> str:
    if (own := text_at(result, "id")) is not None:
        return own
    numbers = [result.get(key) for key in ("testIdx", "promptIdx")]
    if any(number is None for number in numbers):
        entry.assume("results have no id and no number: made from file name and line")
        return entry.made_id
    return "__".join(str(part) for part in (eval_id, *numbers) if part is not None)


def _label(result: Item) -> str:
    return text_at(result["prompt"], "label") or ""


def _candidate(result: Item, prompts: Mapping[str, str], entry: Entry) -> str | None:
    provider = result["provider"]
    name = text_at(provider, "label") or text_at(provider, "id") if isinstance(provider, dict) else provider
    if not isinstance(name, str) or not name:
        return None
    if len(prompts) == 1:
        entry.recognise("the candidate is the provider of a result")
        return name
    entry.recognise("results compare prompts: the candidate is the provider with the prompt")
    return f"{name} ({prompts[_label(result)] or 'no label'})"


def _thread(result: Item) -> str | None:
    """Return the conversation that several tests are turns of."""
    case = result.get("testCase")
    about = case.get("metadata") if isinstance(case, dict) else None
    return text_at(about, "conversationId") if isinstance(about, dict) else None


def _begins(later: Conversation, earlier: Conversation) -> bool:
    size = len(earlier.messages)
    head = later.messages[:size]
    return len(later.messages) > size and all(
        (a.role, a.text) == (b.role, b.text) for a, b in zip(earlier.messages, head, strict=True)
    )


def _with_ratings(later: Conversation, earlier: Conversation) -> Conversation:
    before = (replace(rating, conversation_id=later.id) for rating in earlier.ratings)
    return replace(later, ratings=(*before, *later.ratings))


def _messages(result: Item, response: Item, entry: Entry) -> list[Any]:
    sent = response.get("prompt") or result["prompt"]["raw"]
    prompt, output = _prompt(sent, entry), response.get("output")
    about = response.get("metadata")
    talk = about.get("messages") if isinstance(about, dict) else None
    if is_message_list(talk) and output == _BETWEEN.join(map(_line, talk)):
        entry.recognise("results of a simulated user: the prompt is the system message, its talk is read")
        return [{"role": "system", "content": sent}, *talk] if isinstance(sent, str) else [*prompt, *talk]
    if output is None:
        entry.recognise("results have an error or nothing as their output: read without a reply")
        return prompt
    return [*prompt, *_reply(output, entry)]


def _line(message: Any) -> str:  # noqa: ANN401  # any JSON value
    """Return a message as the output of the simulated user has it."""
    if not isinstance(message, dict):
        return ""
    return f"{'Assistant' if message.get('role') == 'assistant' else 'User'}: {message.get('content')}"


def _prompt(sent: object, entry: Entry) -> list[Any]:
    if isinstance(sent, str) and YAML_CHAT.match(sent):
        try:
            return yaml_messages(sent)
        except ValueError as error:
            hint = "write the prompt as a JSON list of messages, or save the results again with such a prompt"
            raise fault_in(entry, f"the prompt is YAML that cannot be read: {error}", hint) from error
    items = asked(sent)
    if items is None:
        if isinstance(sent, str):
            return [{"role": "user", "content": sent}]
        raise fault_in(entry, f"the prompt is {excerpt(sent)}: neither a text nor messages")
    return items


def _reply(output: Any, entry: Entry) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return what a provider said: a text, the calls of tools, a message, or a value as JSON."""
    if isinstance(output, str):
        return [{"role": "assistant", "content": output}]
    if isinstance(output, list) and output and all(map(_is_call, output)):
        return [{"role": "assistant", "content": None, "tool_calls": output}]
    if isinstance(output, dict) and (output.get("role") == "assistant" or output.get("tool_calls")):
        return [{"content": None, **output, "role": "assistant"}]
    entry.recognise("outputs were no text: written as JSON")
    return [{"role": "assistant", "content": orjson.dumps(output).decode("utf-8")}]


def _is_call(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    function = value.get("function") if isinstance(value, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def _marks(id: str, graded: object, messages: tuple[Message, ...], entry: Entry) -> Iterator[Rating]:
    """Yield what people gave a reply in the viewer: it stands among the assertions."""
    parts = graded.get("componentResults") if isinstance(graded, dict) else None
    for part in parts if isinstance(parts, list) else ():
        checked = part.get("assertion") if isinstance(part, dict) else None
        if not isinstance(checked, dict) or checked.get("type") != "human":
            continue
        value = part.get("score", part.get("pass"))
        score = score_at(entry.place, "a mark", float(value) if isinstance(value, bool) else value)
        entry.recognise("results have marks that people gave in the viewer: read as ratings of the turn")
        turn = message_turns(messages)[-1]
        yield Rating(
            id, "rating", score, turn, note=text_at(graded, "comment") if isinstance(graded, dict) else None
        )


PROMPTFOO = TextFormat("promptfoo", _recognises, _read)
