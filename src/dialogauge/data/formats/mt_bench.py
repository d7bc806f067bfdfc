"""Answers to MT-Bench, as FastChat keeps them: a file for each model, `question.jsonl` beside or above."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place
from dialogauge.data.formats.base import Context, Entry, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.payloads import CHOICES_LEFT_OUT
from dialogauge.data.json_values import JsonValue, json_values
from dialogauge.data.sources import LineStream

_QUESTIONS: Final = "question.jsonl"
_ABOVE: Final = 2
"""So many folders above the answers the questions may be."""


def _turns(value: Any) -> list[str]:  # noqa: ANN401  # any JSON value
    """Return the texts under `turns`; none where there are none, or others among them."""
    turns = value.get("turns") if isinstance(value, dict) else None
    return turns if isinstance(turns, list) and all(isinstance(one, str) for one in turns) else []


def is_answer(record: Mapping[str, Any]) -> bool:
    """Say whether a record is what one model answered to a question."""
    choices = record.get("choices")
    known = {"question_id", "model_id"} <= record.keys() and isinstance(choices, list) and bool(choices)
    return known and bool(_turns(record["choices"][0]))


def _questions(context: Context) -> Mapping[object, dict[str, Any]]:
    """Return the questions by their ids; none where there is no such file."""
    if _QUESTIONS not in context.memo:
        source = context.source.beside(_QUESTIONS, _ABOVE)
        values = json_values(LineStream(source)) if source is not None else ()
        rows = (one.value for one in values if isinstance(one, JsonValue) and isinstance(one.value, dict))
        context.memo[_QUESTIONS] = {str(row.get("question_id")): row for row in rows}
    questions: Mapping[object, dict[str, Any]] = context.memo[_QUESTIONS]
    return questions


def answered(record: Mapping[str, Any], entry: Entry) -> Conversation:
    """Return an answer behind its question; raises `RecordFault` where the question is not at hand."""
    choices: list[Any] = record["choices"]
    replies = _turns(choices[0])
    number, model = str(record.get("question_id")), text_at(record, "model_id")
    question = _questions(entry.context).get(number, {})
    prompts = _turns(question)
    if len(prompts) < len(replies):
        what = f"question {number} has {len(prompts)} turns here, and its answer {len(replies)}"
        hint = f"put MT-Bench's {_QUESTIONS} beside the answers or up to {_ABOVE} folders above"
        raise fault_in(entry, what, hint)
    if len(choices) > 1:
        entry.context.notes.recognise(CHOICES_LEFT_OUT, entry.place, count=len(choices) - 1)
    entry.recognise(f"answers were put behind the questions of {_QUESTIONS}")
    pairs = zip(prompts, replies, strict=False)
    messages = [(Message("user", prompt), Message("assistant", reply)) for prompt, reply in pairs]
    name = f"{number}__{model or entry.made_id}"
    used = ("question_id", "model_id", "choices")
    return Conversation(
        name,
        tuple(message for pair in messages for message in pair),
        scenario=text_at(question, "category"),
        candidate=model,
        metadata={key: value for key, value in record.items() if key not in used},
        place=Place(entry.place.file, entry.place.line, name),
    )
