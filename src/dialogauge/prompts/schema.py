"""The JSON schema of a reply, generated from the rubric; the format shown to the model comes from it."""

from __future__ import annotations

from typing import Any

from dialogauge.core.judgement import Level
from dialogauge.core.scales import NOT_APPLICABLE, Scale
from dialogauge.prompts.rubric import Dimension, ItemList, Label, Rubric, Scope
from dialogauge.prompts.wording import phrase

__all__ = ["VERDICTS", "reply_schema", "sketch"]

VERDICTS = ("excellent", "good", "borderline", "poor")
_MOST_ENUMERATED = 12

Schema = dict[str, Any]


def reply_schema(rubric: Rubric, scope: Scope, language: str) -> Schema:
    """Return the schema of the reply to one call.

    Every object is closed and every key required, as the strict modes of endpoints ask; the
    descriptions are in `language`. Notes stand before scores.
    """
    if rubric.level in ("turn", "pair"):
        return _closed(_entry(rubric, rubric.level, language))
    fields: Schema = {}
    if "turn" in scope.levels and rubric.at("turn"):
        turn = {"type": "integer", "enum": list(scope.turns), "description": phrase(language, "hint_turn")}
        entry = _closed({"turn": turn, **_entry(rubric, "turn", language)})
        count = len(scope.turns)
        fields["per_turn"] = {"type": "array", "items": entry, "minItems": count, "maxItems": count}
    if rubric.level in scope.levels:
        fields.update(_whole(rubric, scope, language))
    return _closed(fields)


def _closed(fields: Schema) -> Schema:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _entry(rubric: Rubric, level: Level, language: str) -> Schema:
    """Return the fields of one judged turn."""
    fields: Schema = {}
    if rubric.reply.note:
        fields["note"] = _string(phrase(language, "hint_note"))
    fields.update({x.name: _items(x, language) for x in rubric.items if x.level == level})
    if rubric.reply.issues:
        fields["issues"] = {"type": "array", "items": _string(phrase(language, "hint_issue"))}
    asked = rubric.asked(level)
    if rubric.reply.evidence:
        fields["evidence"] = {"type": "array", "items": _quote(asked, language), "maxItems": 2}
    if asked:
        fields["scores"] = _closed({d.name: _score(d, language) for d in asked})
    fields.update({x.name: _label(x, language) for x in rubric.labels if x.level == level})
    return fields


def _whole(rubric: Rubric, scope: Scope, language: str) -> Schema:
    """Return the fields that stand for the conversation or the window."""
    level = rubric.level
    fields: Schema = {x.name: _items(x, language) for x in rubric.items if x.level == level}
    asked = rubric.asked(level)
    if asked:
        note = _string(phrase(language, "hint_note"))
        fields[f"{level}_level"] = _closed(
            {d.name: _closed({"note": note, "score": _score(d, language)}) for d in asked}
        )
    fields.update({x.name: _label(x, language) for x in rubric.labels if x.level == level})
    if rubric.reply.decision_basis:
        fields["decision_basis"] = _string(phrase(language, "hint_basis"))
    if rubric.reply.weakest_turn:
        fields["weakest_turn"] = {
            "anyOf": [{"type": "integer", "enum": list(scope.turns)}, {"type": "null"}],
            "description": phrase(language, "hint_weakest"),
        }
    if rubric.reply.verdict and rubric.verdict is not None and scope.part is None:
        names = list(rubric.verdict.at_least) or list(VERDICTS)
        hint = phrase(language, "hint_verdict", names=", ".join(names))
        fields["verdict"] = {"type": "string", "enum": names, "description": hint}
    return fields


def _string(hint: str) -> Schema:
    return {"type": "string", "description": hint}


def _quote(asked: tuple[Dimension, ...], language: str) -> Schema:
    hint = phrase(language, "hint_dimension")
    names: Schema = {"type": "string", "enum": [d.name for d in asked], "description": hint}
    return _closed({"dimension": names, "quote": _string(phrase(language, "hint_quote"))})


def _items(items: ItemList, language: str) -> Schema:
    fields = {
        items.key: _string(phrase(language, "hint_item")),
        "label": _enum([o.name for o in items.options], language),
    }
    return {"type": "array", "items": _closed(fields)}


def _label(label: Label, language: str) -> Schema:
    return _enum([o.name for o in label.options], language)


def _enum(names: list[str], language: str) -> Schema:
    return {
        "type": "string",
        "enum": names,
        "description": phrase(language, "hint_label", names=", ".join(names)),
    }


def _score(d: Dimension, language: str) -> Schema:
    hint = scale_text(d.scale, language)
    number = _number(d.scale)
    if not d.allow_na:
        return {**number, "description": hint}
    hint = phrase(language, "scale_na", scale=hint)
    return {"anyOf": [number, {"type": "string", "enum": [NOT_APPLICABLE]}], "description": hint}


def _number(scale: Scale) -> Schema:
    if not scale.integer:
        return {"type": "number", "minimum": scale.low, "maximum": scale.high}
    low, high = int(scale.low), int(scale.high)
    if high - low < _MOST_ENUMERATED:
        return {"type": "integer", "enum": list(range(low, high + 1))}
    return {"type": "integer", "minimum": low, "maximum": high}


def scale_text(scale: Scale, language: str) -> str:
    """Return a scale in words."""
    key = "scale_integer" if scale.integer else "scale_number"
    return phrase(language, key, low=f"{scale.low:g}", high=f"{scale.high:g}")


def sketch(schema: Schema, indent: str = "") -> str:
    """Write a schema as the reply it asks for, with what belongs in each place in angle brackets."""
    kind = schema.get("type")
    deeper = indent + "  "
    if kind == "object":
        rows = [f'{deeper}"{key}": {sketch(value, deeper)}' for key, value in schema["properties"].items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if kind == "array":
        return f"[{sketch(schema['items'], indent)}]"
    hint = f"<{schema['description']}>"
    return f'"{hint}"' if kind == "string" else hint
