"""The readers under attack: each makes one broken input from a generator and reads it.

A case passes when the input is read, or refused with an error of ours that says where. Everything else, any
other exception or a place that is missing, is a fault of the code.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

import dialogauge
from dialogauge.app.config import parse_role, with_defaults
from dialogauge.app.merging import load_config
from dialogauge.core import (
    Conversation,
    DialogaugeError,
    InputError,
    Message,
    Place,
    Request,
    Scale,
    conversation_digest,
)
from dialogauge.core.json_keys import as_json
from dialogauge.data import (
    Mask,
    RatedDimensions,
    admission_for,
    inspect_conversations,
    read_conversations,
    read_field_map,
    read_ratings,
)
from dialogauge.data.tasks import read_logs, read_tasks
from dialogauge.judges.fitted.model import Cuts, FittedOn, RatingsModel
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.local.model import LocalCoefficients, load_coefficients
from dialogauge.judges.rubric.reply import ReplyFault, parse_reply
from dialogauge.llm import PriceTable
from dialogauge.llm.json_text import NoJsonObject, extract_object
from dialogauge.llm.problems import read_problem, refused_parameter
from dialogauge.llm.wire import read_completion
from dialogauge.report import to_html, to_text
from dialogauge.rubrics import Scope, built_in_values, load_rubric, reply_schema
from dialogauge.rubrics.load import shipped_rubrics
from dialogauge.runs.records import decode_conversation, encode_conversation, json_document
from dialogauge.studies.judging.gate import parse_gate
from dialogauge.studies.judging.summary import summarise
from dialogauge.studies.learning.published import published_blocks, read_published
from dialogauge.text import redact
from fuzzing import mutate, seeds
from fuzzing.logs import ENDINGS, broken_log
from rubric_samples import ideal
from talks import Spec

__all__ = ["TARGETS", "Case"]

_MASK = Mask(redact=True, hash_ids=True, salt=b"salt")
_RUBRICS = {name: load_rubric(name) for name in shipped_rubrics()}
_FOLDER = Path(dialogauge.__file__).parent / "rubrics/files/rubrics"
_RUBRIC_TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in _FOLDER.glob("*.toml")}
_TEMPLATES = {path.stem: path.read_text(encoding="utf-8") for path in _FOLDER.glob("*.md")}
_COEFFICIENTS = load_coefficients().to_json()
_RATINGS = RatingsModel(
    (2, 3),
    np.array([3, 8]),
    np.array([[0.5, -0.5], [0.25, 0.0]]),
    (0.1, 0.9),
    Cuts(3, {2: 0.5}, {3: 0.5}),
    50.0,
    "satisfaction",
    FittedOn(60, 20, 20, 60, 0, ("en",), 5, {"model": {"kappa": 0.5, "uar": None}}),
).to_json()
_SUMMARY = summarise([], dimensions=[Spec("helpfulness"), Spec("coherence", "conversation")])

Case = Callable[[random.Random, Path], str]
"""Makes an input, reads it, and says what came of it: `read`, or the name of the error."""


class Unplaced(AssertionError):
    """An error of ours that does not say where."""


def placed(error: DialogaugeError, file: Path | None = None) -> str:
    if error.place is None and (file is None or file.name not in str(error)):
        raise Unplaced(f"{type(error).__name__} without a place: {error}")
    if not error.message.strip():
        raise Unplaced(f"{type(error).__name__} without a message")
    return type(error).__name__


def _write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def conversations(format: str) -> Case:
    """Reading a file of conversations of one format."""

    def case(rng: random.Random, folder: Path) -> str:
        path = _write(folder, f"0.{ENDINGS[format]}", broken_log(rng, format))
        return _read(path, format if rng.random() < 0.3 else None, strict=rng.random() < 0.1)

    return case


def _read(path: Path, format: str | None, *, strict: bool, mapping: Any = None) -> str:
    try:
        reader = read_conversations([str(path)], format=format, strict=strict, mapping=mapping)
        outcomes = list(reader)
        as_json(inspect_conversations(reader, 2, mask=_MASK))
    except InputError as error:
        return placed(error)
    seen = "read"
    for outcome in outcomes:
        if isinstance(outcome, Conversation):
            use(outcome)
        else:
            seen = placed(outcome)
            _MASK.fault(outcome)
    return seen


def use(conversation: Conversation) -> None:
    """What every run does with a conversation before a judge sees it."""
    conversation_digest(conversation)
    conversation.turns  # noqa: B018 - derived when asked for
    kept = decode_conversation(encode_conversation(conversation))
    if kept != conversation:
        raise AssertionError("the store changed the conversation")
    masked = _MASK.conversation(conversation)
    encode_conversation(masked)
    conversation_digest(masked)


def local_judge(rng: random.Random, folder: Path) -> str:
    """Judging whatever can be read with the local judge: there are rows or failures, and nothing else."""
    record = mutate.structure(rng, rng.choice(seeds.RECORDS["openai"][:2]), most=6)
    path = _write(folder, "log.jsonl", mutate.as_bytes(mutate.as_text(rng, record)))
    try:
        found = [c for c in read_conversations([str(path)], format="openai") if isinstance(c, Conversation)]
    except InputError as error:
        return placed(error)
    for conversation in found:
        messages = tuple(_stirred(rng, m) for m in conversation.messages)
        rubric = rng.choice(("card", "roleplay"))
        judge = LocalJudge(rng.choice(("hindsight", "foresight")), rubric_id=rubric)
        stirred = replace(conversation, messages=messages)
        if not asyncio.run(judge.judge(Request(stirred))):
            raise AssertionError("no row at all")
    return "read" if found else "RecordFault"


def _stirred(rng: random.Random, message: Message) -> Message:
    if rng.random() < 0.5 or not isinstance(message.content, str):
        return message
    return replace(message, content=mutate.text(rng, message.content))


def ratings(rng: random.Random, folder: Path) -> str:
    """Reading a file of ratings, long, wide or of pairs, as JSON or a table."""
    if rng.random() < 0.35:
        data = mutate.as_bytes(mutate.text(rng, seeds.RATINGS_CSV, ',;\t"\r\n\x004aé'))
    else:
        rows = [
            mutate.structure(rng, row) if rng.random() < 0.5 else row
            for row in rng.choice((seeds.LONG_RATINGS, seeds.WIDE_RATINGS, seeds.THUMBS, seeds.PAIRS))
        ]
        data = mutate.lines_or_array(rng, rows)
    path = _write(folder, "ratings.csv", mutate.spoil(rng, data))
    try:
        table = read_ratings(path)
    except InputError as error:
        return placed(error)
    counts = RatedDimensions()
    counts.add(Conversation("t", (), ratings=table.ratings))
    counts.listed()
    for of_dimension in counts.counts.values():
        admission = admission_for(of_dimension, Scale())
        admission.remark(of_dimension, Scale())
        for rating in table.ratings:
            _ = admission.read(rating.score), admission.fault(rating, rating.place or Place("ratings"))
    for name in table.ids:
        table.for_conversation(name)
    for fault in table.faults:
        placed(fault)
    return "RecordFault" if table.faults else "read"


def field_map(rng: random.Random, folder: Path) -> str:
    """Reading a field map, and a record through it."""
    if rng.random() < 0.7:
        data = mutate.as_bytes(mutate.toml(rng, seeds.FIELD_MAP))
        path = _write(folder, "map.toml", mutate.spoil(rng, data) if rng.random() < 0.3 else data)
    else:
        given = {
            "conversation_id": "session",
            "ratings": ["stars"],
            "roles": {"visitor": "user"},
            "messages": "log",
        }
        path = _write(folder, "map.json", mutate.as_bytes(mutate.as_text(rng, mutate.structure(rng, given))))
    try:
        found = read_field_map(path)
    except DialogaugeError as error:
        return placed(error)
    record = mutate.structure(rng, seeds.MAPPED) if rng.random() < 0.5 else seeds.MAPPED
    log = _write(folder, "log.jsonl", mutate.as_bytes(mutate.as_text(rng, record)))
    # A map that describes a format of its own stands beside no other.
    format = rng.choice((None, "openai", "csv"))
    return _read(log, None if found.forms else format, strict=False, mapping=found)


def rubric(rng: random.Random, folder: Path) -> str:
    """Loading a rubric file; what loads must also make a prompt and a schema."""
    name = rng.choice(sorted(_RUBRIC_TEXTS))
    for language in ("en", "zh"):
        template = _TEMPLATES[f"{name}.{language}"]
        changed = mutate.text(rng, template, "{}\n a中") if rng.random() < 0.1 else template
        _write(folder, f"{name}.{language}.md", mutate.as_bytes(changed))
    data = mutate.as_bytes(mutate.toml(rng, _RUBRIC_TEXTS[name]))
    path = _write(folder, f"{name}.toml", mutate.spoil(rng, data) if rng.random() < 0.15 else data)
    try:
        found = load_rubric(path)
    except DialogaugeError as error:
        return placed(error, path)
    for language in found.languages:
        scope = Scope((1, 2), ("turn", found.level) if found.level == "conversation" else (found.level,))
        reply_schema(found, scope, language)
        built_in_values(found, scope, language)
    return "read"


def config(rng: random.Random, folder: Path) -> str:
    """Loading a configuration file."""
    data = mutate.as_bytes(mutate.toml(rng, seeds.CONFIG))
    path = _write(folder, "dialogauge.toml", mutate.spoil(rng, data) if rng.random() < 0.3 else data)
    try:
        found = load_config(str(path))
    except DialogaugeError as error:
        return placed(error, path)
    try:
        for role, settings in found.roles.items():
            with_defaults(settings, role)
    except DialogaugeError as error:
        return type(error).__name__
    return "read"


def role(rng: random.Random, folder: Path) -> str:
    """Reading how a model is given on the command line."""
    del folder
    try:
        parse_role(mutate.text(rng, rng.choice(seeds.ROLES), "@#:/ \x00aé"), {})
    except DialogaugeError as error:
        return type(error).__name__
    return "read"


def prices(rng: random.Random, folder: Path) -> str:
    """Loading a table of prices."""
    data = mutate.as_bytes(mutate.toml(rng, seeds.PRICES))
    path = _write(folder, "prices.toml", mutate.spoil(rng, data) if rng.random() < 0.3 else data)
    try:
        table = PriceTable.load(path)
    except DialogaugeError as error:
        return placed(error, path)
    table.cost("m", 10, 10, 5)
    return "read"


def tasks(rng: random.Random, folder: Path) -> str:
    """Reading a file of tasks and their corpora."""
    rows = rng.choice((seeds.TASKS, rng.sample(list(seeds.PUBLIC_TASKS.values()), 2)))
    lines = [mutate.as_text(rng, mutate.structure(rng, one)).encode("utf-8", "surrogatepass") for one in rows]
    data = b"\n".join(lines)
    path = _write(folder, "tasks.jsonl", mutate.spoil(rng, data) if rng.random() < 0.3 else data)
    try:
        read = read_tasks(str(path))
    except DialogaugeError as error:
        return placed(error, path)
    for task in read.tasks:
        assert isinstance(task.question, str)
        assert all(isinstance(id, str) for id in task.evidence)
    return "read"


def task_logs(rng: random.Random, folder: Path) -> str:
    """Reading a log of dialogues about tasks."""
    row = seeds.PUBLIC_TASKS["MemoryBench"]
    feedback = [{"round": 1, "implicit_actions": ["copy"], "satisfaction_score": 9, "terminated": False}]
    row = row | rng.choice(({}, {"implicit_feedback": feedback}, {"dialog_bm25": row["dialog"]}))
    text = mutate.as_text(rng, mutate.structure(rng, row))
    path = _write(folder, "logs.jsonl", mutate.spoil(rng, mutate.as_bytes(text)))
    try:
        read = read_logs(str(path))
    except DialogaugeError as error:
        return placed(error, path)
    for one in read:
        use(one.conversation)
    return "read"


def published_results(rng: random.Random, folder: Path) -> str:
    """Reading published results, and laying them out."""
    data = mutate.as_bytes(mutate.as_text(rng, mutate.structure(rng, seeds.PUBLISHED)))
    path = _write(folder, "published.json", mutate.spoil(rng, data) if rng.random() < 0.2 else data)
    try:
        tables = read_published(path)
    except DialogaugeError as error:
        return placed(error, path)
    json_document(as_json(tables))
    assert to_text(published_blocks(tables))
    assert to_html(tables.page)
    return "read"


def coefficients(rng: random.Random, folder: Path) -> str:
    """Loading the coefficients of the local judge."""
    import json

    text = _COEFFICIENTS
    if rng.random() < 0.6:
        text = mutate.as_text(rng, mutate.structure(rng, json.loads(text)))
    else:
        text = mutate.text(rng, text)
    del folder
    try:
        LocalCoefficients.from_json(text, file="model.json")
    except DialogaugeError as error:
        return placed(error)
    return "read"


def ratings_model(rng: random.Random, folder: Path) -> str:
    """Loading a model of ratings."""
    import json

    text = mutate.as_text(rng, mutate.structure(rng, json.loads(_RATINGS)))
    del folder
    try:
        RatingsModel.from_json(text, file="model.json")
    except DialogaugeError as error:
        return placed(error)
    return "read"


def reply(rng: random.Random, folder: Path) -> str:
    """Reading a judge model's reply: the object found, and held against the rubric."""
    del folder
    found = rng.choice(list(_RUBRICS.values()))
    levels: tuple[Any, ...] = ("turn", found.level) if found.level == "conversation" else (found.level,)
    scope = Scope((1, 2) if found.level == "conversation" else (1,), levels)
    given = ideal(reply_schema(found, scope, found.languages[0]))
    text = mutate.as_text(rng, mutate.structure(rng, given) if rng.random() < 0.8 else given)
    around = (
        "{0}",
        "Here:\n```json\n{0}\n```",
        "<think>{0}</think>{0}",
        "{0}\n{0}",
        '{{"a": 1}} {0}',
        "{0}</think>",
    )
    text = rng.choice(around).format(text)
    if rng.random() < 0.5:
        text = mutate.text(rng, text, "{}[]\"':,\\<>/\n` 0a中“")
    try:
        parse_reply(found, scope, extract_object(text).value)
    except (NoJsonObject, ReplyFault) as error:
        if not str(error).strip():
            raise Unplaced("a fault without a word") from error
        return type(error).__name__
    return "read"


def answer(rng: random.Random, folder: Path) -> str:
    """Reading an endpoint's answer."""
    del folder
    message = {"role": "assistant", "content": "x", "reasoning_content": "y", "refusal": None}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}}
    given = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    try:
        payload = orjson.loads(mutate.as_text(rng, mutate.structure(rng, given)))
    except ValueError:
        return "no JSON"
    return "none" if read_completion(payload) is None else "read"


def error_body(rng: random.Random, folder: Path) -> str:
    """Reading what an endpoint says with an error, and what it may mean by it."""
    del folder
    error = {"message": "Unsupported parameter: 'seed'", "param": "seed", "code": "unsupported", "type": "x"}
    given = rng.choice(
        (
            {"error": error},
            {"detail": [{"loc": ["body", "seed"], "msg": "extra"}]},
            {"message": "try again in 6.2s"},
            {"choices": [], "error": error},
        )
    )
    raw = mutate.spoil(rng, mutate.as_bytes(mutate.as_text(rng, mutate.structure(rng, given))))
    problem = read_problem(rng.choice((200, 400, 401, 404, 413, 422, 429, 500, 503)), raw, None)
    refused_parameter(problem, {"seed", "temperature"})
    return problem.kind


def gate(rng: random.Random, folder: Path) -> str:
    """Reading a gate, and holding it against a summary."""
    del folder
    try:
        parse_gate(mutate.text(rng, rng.choice(seeds.GATES), "<>=.:0159-e ²é\x00")).evaluate(_SUMMARY)
    except DialogaugeError as error:
        return type(error).__name__
    return "read"


def personal(rng: random.Random, folder: Path) -> str:
    """Looking for personal data in anything."""
    del folder
    text = "".join(rng.choices("0123456789 -.()+@xX/:，电话Aa=\u200b\uff11\t", k=rng.randint(0, 120)))
    redact(mutate.text(rng, text))
    return "read"


TARGETS: dict[str, Case] = {
    **{f"read {name}": conversations(name) for name in ENDINGS},
    "ratings": ratings,
    "field map": field_map,
    "rubric": rubric,
    "config": config,
    "role": role,
    "prices": prices,
    "tasks": tasks,
    "task logs": task_logs,
    "published results": published_results,
    "coefficients": coefficients,
    "ratings_model": ratings_model,
    "reply": reply,
    "answer": answer,
    "error body": error_body,
    "gate": gate,
    "personal": personal,
    "local judge": local_judge,
}
