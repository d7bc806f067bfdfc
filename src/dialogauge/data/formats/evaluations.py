"""Results of programs that evaluate models: lm-evaluation-harness, Inspect, and promptfoo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.chat import YAML_CHAT, yaml_messages
from dialogauge.data.formats.documents import listed, read_beside
from dialogauge.data.formats.fields import object_at, rating_in, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.payloads import OTHER_CHOICES, asked, messages_in
from dialogauge.data.formats.rendered import is_rendered, unrendered
from dialogauge.data.formats.roles import role_named
from dialogauge.data.json_values import is_message_list, too_deep
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream
from dialogauge.data.splits import message_turns

_OWN: Final = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"}) | {
    *("metrics", "doc_hash", "prompt_hash", "target_hash"),
}
"""Keys of a sample that are no metrics."""
_HASHES: Final = ("doc_hash", "prompt_hash", "target_hash", "arguments", "resps")
_TASK: Final = lazy_pattern(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl?")
_NO_REPLY: Final = "the sample has log-likelihoods of given answers: nobody replied anything"


def _recognises_lm_eval(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict) or not {"doc_id", "doc", "arguments", "resps"} <= record.keys():
        return False
    return isinstance(record["arguments"], list | dict) and isinstance(record["resps"], list)


def _read_lm_eval(stream: LineStream, context: Context) -> Iterator[Outcome]:
    seen: dict[str, set[int]] = {}
    for row, entry in entries(stream, context):
        try:
            if isinstance(row, RecordFault):
                yield row
            elif (conversation := _convert_lm_eval(row, seen, entry)) is not None:
                yield conversation
        except RecordFault as fault:
            yield fault


def _convert_lm_eval(row: Any, seen: dict[str, set[int]], entry: Entry) -> Conversation | None:  # noqa: ANN401  # any JSON value
    """Return the conversation of a sample; None for one that was read with another filter before."""
    if not isinstance(row, dict) or not {"doc_id", "arguments", "resps"} <= row.keys():
        raise fault_in(entry, f"the sample is {excerpt(row)}: it has no doc_id, arguments and resps")
    # The first prompt of a sample, and what stands beside it: the options of a generation.
    arguments = row["arguments"]
    several = [*arguments.values()] if isinstance(arguments, dict) else arguments
    if not isinstance(several, list) or not several:
        raise fault_in(entry, f"the arguments are {excerpt(arguments)}: no prompt")
    first = several[0]
    values = [*first.values()] if isinstance(first, dict) else first
    if not isinstance(values, list) or not values:
        raise fault_in(entry, f"the first arguments are {excerpt(first)}: no prompt")
    if len(values) > 1 and not isinstance(values[1], str) and len(several) > 1:
        entry.assume("samples have several prompts: only the first is read, with its reply")
    prompt, options = values[0], values[1] if len(values) > 1 else None
    reply = _reply_of_lm_eval(row["resps"], options, entry)
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
        reader.read(_messages_of_lm_eval(prompt, reply, entry)),
        scenario=None if task is None else task[1],
        metadata={key: value for key, value in row.items() if key not in _HASHES},
        place=Place(entry.place.file, entry.place.line, id),
    )


def _reply_of_lm_eval(resps: object, options: object, entry: Entry) -> str:
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
        entry.leave_out(OTHER_CHOICES, len(texts) - 1)
    return str(texts[0])


def _messages_of_lm_eval(prompt: object, reply: str, entry: Entry) -> list[dict[str, Any]]:
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


LM_EVAL = TextFormat("lm-eval", _recognises_lm_eval, _read_lm_eval)
"""Samples of lm-evaluation-harness (`samples_*.jsonl`): what was asked, and what the model wrote.

Metrics go into the metadata, which no judge sees. Samples of log-likelihoods hold no reply.
"""


PEOPLE: Final = "people"
"""The scorer under which our export keeps what people said; of another log it is a scorer as any."""
_HEADERS: Final = ("header.json", "_journal/start.json")
_COUNTED: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""What correct, partial, incorrect and no answer count for."""
_NO_MODEL: Final = "none/none"
"""What Inspect calls the model of an evaluation without one."""
_ATTACHED: Final = "attachment://"
_UNREAD: Final = ("events", "events_data", "store", "timelines")
"""Keys of a sample that repeat its messages step by step."""
_INSPECT_LOG_KEPT: Final = ("target", "metadata", "error", "limit", "choices", "total_time")


def _recognises_inspect_log(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict):
        return False
    log = isinstance(record.get("samples"), list) and isinstance(record.get("eval"), dict)
    return log or ({"id", "epoch", "input", "messages"} <= record.keys())


def _read_inspect_log(stream: LineStream, context: Context) -> Iterator[Outcome]:
    for head, sample, entry in listed(stream, context, "samples", ("eval",), _UNREAD):
        try:
            yield sample if isinstance(sample, RecordFault) else _convert_inspect_log(sample, head, entry)
        except RecordFault as fault:
            yield fault


def _convert_inspect_log(sample: Any, head: Mapping[str, Any], entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON
    raw = sample.get("messages") if isinstance(sample, dict) else None
    if not isinstance(raw, list):
        raise fault_in(entry, f"the sample is {excerpt(sample)}: no object with messages")
    task, model = _about(sample, head.get("eval"), entry)
    names = (task, sample.get("id"), model, sample.get("epoch"))
    id = "__".join(str(name) for name in names if name is not None)
    output = sample.get("output")
    if not raw and isinstance(output, dict) and output.get("choices"):
        raise fault_in(entry, f"the sample is {excerpt(sample)}: it has an output and no messages")
    if not raw:
        entry.recognise("samples failed before anything was said: they are absent")
    spoken = [_openai(message) for message in _attached(raw, sample.get("attachments"))]
    return Conversation(
        id,
        MessageReader(entry).read(spoken) if spoken else (),
        user_id=_user(sample.get("metadata")),
        scenario=task,
        candidate=model,
        ratings=tuple(_of_people(id, sample.get("scores"), entry)) if spoken else (),
        metadata={"sample": sample.get("id"), "epoch": sample.get("epoch")}
        | {key: sample[key] for key in _INSPECT_LOG_KEPT if sample.get(key)}
        | ({"evaluations": scored} if (scored := list(_evaluations(sample.get("scores"), entry))) else {}),
        place=Place(entry.place.file, entry.place.line, id),
    )


def _about(sample: Mapping[str, Any], about: object, entry: Entry) -> tuple[str | None, str | None]:
    """Return task and model, of the log or of the header in the zip file; else the model of the output."""
    for name in _HEADERS:
        if not isinstance(about, dict):
            about = read_beside(entry.context, name, "contents of the header", dict, above=1).get("eval")
    about = about if isinstance(about, dict) else {}
    output = sample.get("output")
    models = (text_at(of if isinstance(of, dict) else {}, "model") for of in (about, output))
    return text_at(about, "task"), next((model for model in models if model not in (None, _NO_MODEL)), None)


def _attached(value: Any, attachments: object) -> Any:  # noqa: ANN401  # any JSON
    """Return a value with the texts that were stored apart from it."""
    if not isinstance(attachments, dict) or not attachments:
        return value
    if isinstance(value, str) and value.startswith(_ATTACHED):
        text = attachments.get(value.removeprefix(_ATTACHED), value)
        return text if isinstance(text, str) else value
    if isinstance(value, list):
        return [_attached(one, attachments) for one in value]
    if isinstance(value, dict):
        return {key: _attached(one, attachments) for key, one in value.items()}
    return value


def _openai(message: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a message as OpenAI writes it: in a log the function is a text, of calls and of results."""
    if not isinstance(message, dict):
        return message
    calls = message.get("tool_calls")
    message = _named(message)
    return {**message, "tool_calls": [_named(call) for call in calls]} if isinstance(calls, list) else message


def _named(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    if not isinstance(value, dict) or not isinstance(value.get("function"), str):
        return value
    return {k: v for k, v in value.items() if k != "function"} | {"name": value["function"]}


def _user(metadata: object) -> str | None:
    return text_at(metadata, "user_id") if isinstance(metadata, dict) else None


def _of_people(id: str, scores: object, entry: Entry) -> Iterator[Rating]:
    """Yield what our export wrote down of people's ratings and of rewards, one by one."""
    people = scores.get(PEOPLE) if isinstance(scores, dict) else None
    about = people.get("metadata") if isinstance(people, dict) else None
    rows = about.get("ratings") if isinstance(about, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and "score" in row:
            yield rating_in(row, "rating", id, None, entry)


def _evaluations(scores: object, entry: Entry) -> Iterator[dict[str, Any]]:
    """Yield the scores of a sample; of several values under one scorer each by its own name."""
    for scorer, score in scores.items() if isinstance(scores, dict) else ():
        value, note = (
            (score.get("value"), text_at(score, "explanation")) if isinstance(score, dict) else (score, None)
        )
        values = (
            {f"{scorer}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {scorer: value}
        )
        ours = scorer == PEOPLE and isinstance(score, dict) and score.get("metadata")
        for dimension, one in {} if ours else values.items():
            counted = _counted(one, entry)
            if counted is None or not dimension:
                entry.recognise("samples have scores without a value, or with a list of them: not used")
            else:
                entry.recognise("scores of scorers are no ratings of people: kept under `evaluations`")
                yield {"dimension": dimension, "value": counted, "note": note}


def _counted(value: object, entry: Entry) -> float | str | None:
    if isinstance(value, str) and value in _COUNTED:
        entry.recognise("samples have scores C, P, I or N: read as 1, 0.5, 0 and 0, as Inspect counts them")
        return _COUNTED[value]
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, str | int | float) or (isinstance(value, str) and not value.strip()):
        return None
    return score_at(entry.place, "a score", value)


INSPECT = TextFormat("inspect", _recognises_inspect_log, _read_inspect_log)
"""Logs of Inspect: the `.json` document of a whole evaluation, or the samples in the zip file `.eval`.

A scorer is no person: its scores go into the metadata, as `evaluations`, where `C`, `P`, `I` and `N` count
as they do in Inspect. The target and the metadata of a sample go there too; no judge sees them. People's
ratings, and rewards, are those that an export of ours keeps under its scorer `people`.
"""


_PROMPTFOO_KEPT: Final = (
    *("testIdx", "promptIdx", "vars", "error", "success", "score", "namedScores", "metadata", "promptId"),
)
_LONGEST_LABEL: Final = 60
"""Characters of a label that may name a prompt: without one it is the prompt itself."""
_BETWEEN: Final = "\n---\n"
"""What stands between the messages in the output of the simulated user."""

Item = Mapping[str, Any]


def _recognises_promptfoo(sample: Sample) -> bool:
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


def _read_promptfoo(stream: LineStream, context: Context) -> Iterator[Outcome]:
    prompts = _names(stream, context)
    waiting: dict[tuple[str, ...], Conversation] = {}
    for id, result, entry in _all(stream, context):
        try:
            if isinstance(result, RecordFault):
                yield result
                continue
            talk = _convert_promptfoo(result, id, prompts, entry)
        except RecordFault as fault:
            yield fault
            continue
        # The conversation that several tests are turns of.
        case = result.get("testCase")
        about = case.get("metadata") if isinstance(case, dict) else None
        if (thread := text_at(about, "conversationId") if isinstance(about, dict) else None) is None:
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


def _convert_promptfoo(
    result: Any,  # noqa: ANN401  # any JSON value
    eval_id: str | None,
    prompts: Mapping[str, str],
    entry: Entry,
) -> Conversation:
    if not _is_result(result):
        raise fault_in(entry, f"the result is {excerpt(result)}: without prompt, provider and variables")
    response = object_at(result, "response")
    spoken = MessageReader(entry, ordered=True).read(_messages_of_promptfoo(result, response, entry))
    id = _id(result, eval_id, entry)
    kept = {key: result[key] for key in _PROMPTFOO_KEPT if result.get(key) not in (None, {}, "")}
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


def _begins(later: Conversation, earlier: Conversation) -> bool:
    size = len(earlier.messages)
    head = later.messages[:size]
    return len(later.messages) > size and all(
        (a.role, a.text) == (b.role, b.text) for a, b in zip(earlier.messages, head, strict=True)
    )


def _with_ratings(later: Conversation, earlier: Conversation) -> Conversation:
    before = (replace(rating, conversation_id=later.id) for rating in earlier.ratings)
    return replace(later, ratings=(*before, *later.ratings))


def _messages_of_promptfoo(result: Item, response: Item, entry: Entry) -> list[Any]:
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
    return [*prompt, *_reply_of_promptfoo(output, entry)]


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


def _reply_of_promptfoo(output: Any, entry: Entry) -> list[Any]:  # noqa: ANN401  # any JSON value
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


PROMPTFOO = TextFormat("promptfoo", _recognises_promptfoo, _read_promptfoo)
"""Results of promptfoo: the document of an evaluation, or one result a line.

What its assertions gave goes into the metadata; a mark that a person gave in its viewer is a rating. Tests of
one conversation repeat the ones before, and are read once.
"""
