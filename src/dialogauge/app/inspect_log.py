"""A judging run as a log of Inspect (`.eval`): a sample for each conversation, with its scores."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, Message
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.unit import digest
from dialogauge.runs.directory import write_whole
from dialogauge.runs.run import StoredRun

_BLOCK: Final = 1 << 20
_KEPT: Final = ("level", "turn", "repeat", "scores", "verdict", "rationale", "failure")
_OTHER: Final = lazy_pattern(r"[^\w .:@+=,()-]")
_LONGEST: Final = 60
"""Characters of an id in the name of its file."""
_SCORER: Final = "dialogauge"
_RATED: Final = ("dimension", "score", "turn", "rater", "note", "weight")


def write_eval(target: Path, run: StoredRun) -> int:
    """Write the log; return how many conversations it holds.

    The value of a sample has each dimension: the score of the conversation, or the mean over its turns and
    repeats; what is n/a or failed is left out, and stands with all judgements in the metadata. People's
    ratings are scores of a scorer `people`.
    """
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            count = _write(packed, run)
        file.seek(0)
        write_whole(target, iter(lambda: file.read(_BLOCK), b""))
    return count


def _write(packed: zipfile.ZipFile, run: StoredRun) -> int:
    summary = run.directory.read_json("summary")
    about = _about(run)
    packed.writestr("_journal/start.json", orjson.dumps({"version": 2, "eval": about, "plan": _PLAN}))
    summaries, count, names = io.BytesIO(), 0, Counter[str]()
    for count, (conversation, rows) in enumerate(run.judged(), 1):
        sample = _sample(conversation, rows, about["model"])
        names[conversation.id] += 1
        if names[conversation.id] > 1:  # of another candidate: ids of samples are their own
            sample["id"] = f"{conversation.id}__{conversation.candidate or names[conversation.id]}"
        sample["id"] = _member(sample["id"])
        packed.writestr(f"samples/{sample['id']}_epoch_1.json", orjson.dumps(sample))
        brief = {key: sample[key] for key in ("id", "epoch", "input", "target", "scores", "metadata")}
        summaries.write((b"," if count > 1 else b"[") + orjson.dumps(brief | {"completed": True}))
    packed.writestr("summaries.json", summaries.getvalue() + (b"]" if count else b"[]"))
    about["dataset"]["samples"] = count
    header = {
        "version": 2,
        "status": "success" if run.manifest.ended == "finished" else "cancelled",
        "eval": about,
        "plan": _PLAN,
        "results": {
            "total_samples": count,
            "completed_samples": count,
            "scores": list(_results(summary.get("dimensions") or {})),
        },
        "stats": {"started_at": run.manifest.written, "completed_at": run.manifest.written},
    }
    packed.writestr("header.json", orjson.dumps(header))
    return count


def _member(id: str) -> str:
    """Return an id as the name of a file: one of other signs gets a digest, so that no two are alike."""
    name = _OTHER.sub("_", id)[:_LONGEST]
    return id if name == id and id.strip(". ") else f"{name.strip('. ')}-{digest(id)[:12]}"


_PLAN: Final[Mapping[str, Any]] = {"name": "plan", "steps": [], "config": {}}


def _about(run: StoredRun) -> dict[str, Any]:
    manifest = run.manifest
    name = f"{run.directory.path.resolve().name}"
    return {
        "eval_id": digest([manifest.judge_digest, manifest.written])[:22],
        "run_id": manifest.judge_digest[:22],
        "created": manifest.written,
        "task": name,
        "task_id": digest([name, manifest.judge_digest])[:22],
        "task_version": 0,
        "dataset": {"name": name},
        "model": "none/none",
        "config": {"epochs": 1},
        "packages": {"dialogauge": manifest.versions["dialogauge"]},
        "scorers": [{"name": _SCORER, "options": {"judge": manifest.judge.get("name")}}],
        "metadata": {"rubric": manifest.settings.get("rubric"), "judge": dict(manifest.judge)},
    }


def _results(dimensions: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the mean of each dimension with its interval and counts."""
    for name, of in dimensions.items():
        low, high = of["interval95"] or (None, None)
        metrics = {"mean": of["mean"], "low95": low, "high95": high, "failed": of["n_failed"]}
        yield {
            "name": name,
            "scorer": _SCORER,
            "scored_samples": of["n"],
            "unscored_samples": of["requested"] - of["n"],
            "params": {"level": of["level"]},
            "metrics": {k: {"name": k, "value": v} for k, v in metrics.items() if v is not None},
        }


def _sample(conversation: Conversation, rows: Sequence[Mapping[str, Any]], model: str) -> dict[str, Any]:
    messages = [_message(message) for message in conversation.messages]
    model = conversation.candidate or model
    replies = [m for m in messages if m["role"] == "assistant"]
    asked = next((m["content"] for m in messages if m["role"] == "user"), "")
    notes = [
        f"turn {row['turn']}: {signal['note']}"
        for row in rows
        if row["turn"] is not None
        for signal in (row["details"] or {}).get("signals", ())
    ]
    scores: dict[str, Any] = {
        _SCORER: {
            "value": _means(pair for row in rows for pair in (row["scores"] or {}).items()),
            "explanation": "\n".join(notes) or None,
            "metadata": {"judgements": [{k: row[k] for k in _KEPT if row[k] is not None} for row in rows]},
        }
    }
    if conversation.ratings:
        ratings = [{key: getattr(r, key) for key in _RATED} for r in conversation.ratings]
        means = _means((r.dimension, r.score) for r in conversation.ratings)
        scores["people"] = {"value": means, "metadata": {"ratings": ratings}}
    renamed = None if _member(conversation.id) == conversation.id else conversation.id
    known = {"conversation_id": renamed, "user_id": conversation.user_id, "scenario": conversation.scenario}
    return {
        "id": conversation.id,
        "epoch": 1,
        "input": asked,
        "target": "",
        "messages": messages,
        "output": {
            "model": model,
            "choices": [{"message": m, "stop_reason": "stop"} for m in replies[-1:]],
            "completion": replies[-1]["content"] if replies else "",
        },
        "scores": scores,
        "metadata": {k: v for k, v in known.items() if v is not None},
    }


def _means(values: Iterable[tuple[str, float | str]]) -> dict[str, float]:
    """Return the mean by name; what is no number takes no part."""
    by_name: dict[str, list[float]] = {}
    for name, value in values:
        if not isinstance(value, str):
            by_name.setdefault(name, []).append(float(value))
    return {name: sum(of) / len(of) for name, of in by_name.items()}


def _message(message: Message) -> dict[str, Any]:
    """Write a message as Inspect does."""
    role = "system" if message.role == "developer" else message.role
    plain: dict[str, Any] = {"role": role, "content": message.text}
    if message.tool_calls:
        plain["tool_calls"] = [
            {"id": c.id, "function": c.name, "type": "function", **_arguments(c.arguments)}
            for c in message.tool_calls
        ]
    if role == "tool":
        plain |= {"tool_call_id": message.tool_call_id, "function": message.name}
    return plain


def _arguments(text: str) -> dict[str, Any]:
    """Return the arguments as an object; of others the text, and that they could not be read."""
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    if isinstance(arguments, dict):
        return {"arguments": arguments}
    return {"arguments": {}, "parse_error": f"no JSON object: {text}"}
