"""Logs of Inspect: the `.json` document of a whole evaluation, or the samples in the zip file `.eval`.

A scorer is no person: its scores go into the metadata, as `evaluations`, where `C`, `P`, `I` and `N` count
as they do in Inspect. The target and the metadata of a sample go there too; no judge sees them. People's
ratings, and rewards, are those that an export of ours keeps under its scorer `people`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.core import Conversation, Place, Rating, RecordFault
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, fault_in
from dialogauge.data.formats.beside import read_beside
from dialogauge.data.formats.documents import listed
from dialogauge.data.formats.fields import rating_in, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream

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
_KEPT: Final = ("target", "metadata", "error", "limit", "choices", "total_time")


def _recognises(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict):
        return False
    log = isinstance(record.get("samples"), list) and isinstance(record.get("eval"), dict)
    return log or ({"id", "epoch", "input", "messages"} <= record.keys())


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    for head, sample, entry in listed(stream, context, "samples", ("eval",), _UNREAD):
        try:
            yield sample if isinstance(sample, RecordFault) else _convert(sample, head, entry)
        except RecordFault as fault:
            yield fault


def _convert(sample: Any, head: Mapping[str, Any], entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON
    raw = sample.get("messages") if isinstance(sample, dict) else None
    if not isinstance(raw, list):
        raise fault_in(entry, f"the sample is {excerpt(sample)}: no object with messages")
    task, model = _about(sample, head.get("eval"), entry)
    names = (task, sample.get("id"), model, sample.get("epoch"))
    id = "__".join(str(name) for name in names if name is not None)
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
        | {key: sample[key] for key in _KEPT if sample.get(key)}
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


INSPECT = TextFormat("inspect", _recognises, _read)
