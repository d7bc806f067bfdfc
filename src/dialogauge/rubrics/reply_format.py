"""The JSON schema of a reply, and the reply format in the prompt, both generated from the rubric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dialogauge.core.judgement import Level
from dialogauge.core.scores import NOT_APPLICABLE, Scale
from dialogauge.rubrics.rubric import Dimension, ItemList, Label, Option, Rubric, Scope
from dialogauge.rubrics.templates import phrase

VERDICTS = ("excellent", "good", "borderline", "poor")
_MOST_ENUMERATED = 12

Schema = dict[str, Any]


def reply_schema(rubric: Rubric, scope: Scope, language: str) -> Schema:
    """Return the schema of the reply to one call.

    Every object is closed and every key required, for the strict modes of endpoints; descriptions are in
    `language`. Notes come before scores. Entries of turns stand under the turns' numbers: so a grammar can
    ask for each once.
    """
    if rubric.level in ("turn", "pair"):
        return closed_object(_entry(rubric, rubric.level, scope, language))
    fields: Schema = {}
    if "turn" in scope.levels and rubric.at("turn"):
        entry = closed_object(_entry(rubric, "turn", scope, language))
        fields["per_turn"] = closed_object({str(turn): entry for turn in scope.turns})
    if rubric.level in scope.levels:
        fields.update(_whole(rubric, scope, language))
    return closed_object(fields)


def closed_object(fields: Schema) -> Schema:
    """Return the schema of an object that has all of these fields and no others."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _entry(rubric: Rubric, level: Level, scope: Scope, language: str) -> Schema:
    """Return the fields of one judged turn."""
    fields: Schema = {}
    if rubric.reply.note:
        fields["note"] = _string(phrase(language, "hint_note"))
    fields.update({x.name: _items(x, scope, language) for x in rubric.items if x.level == level})
    if rubric.reply.issues:
        fields["issues"] = {"type": "array", "items": _string(phrase(language, "hint_issue"))}
    fields.update(_labels(rubric, level, language, first=True))
    asked = rubric.asked(level)
    if rubric.reply.evidence:
        fields["evidence"] = {"type": "array", "items": _quote(asked, language), "maxItems": 2}
    if asked:
        noted = rubric.reply.notes
        fields["scores"] = _noted(asked, language) if noted else _scores(asked, language)
    fields.update(_labels(rubric, level, language, first=False))
    return fields


def _scores(dimensions: tuple[Dimension, ...], language: str) -> Schema:
    return closed_object({d.name: _score(d, language) for d in dimensions})


def _noted(dimensions: tuple[Dimension, ...], language: str) -> Schema:
    note = _string(phrase(language, "hint_note"))
    return closed_object(
        {d.name: closed_object({"note": note, "score": _score(d, language)}) for d in dimensions}
    )


def _labels(rubric: Rubric, level: Level, language: str, *, first: bool) -> Schema:
    mine = (x for x in rubric.labels if (x.level, x.first) == (level, first))
    return {x.name: _choice(x.options, language) for x in mine}


def _whole(rubric: Rubric, scope: Scope, language: str) -> Schema:
    """Return the fields of the conversation or the window."""
    level = rubric.level
    fields: Schema = {x.name: _items(x, scope, language) for x in rubric.items if x.level == level}
    fields.update(_labels(rubric, level, language, first=True))
    asked = rubric.asked(level)
    if asked:
        fields[f"{level}_level"] = _noted(asked, language)
    fields.update(_labels(rubric, level, language, first=False))
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


def _quote(dimensions: tuple[Dimension, ...], language: str) -> Schema:
    hint = phrase(language, "hint_dimension")
    names: Schema = {"type": "string", "enum": [d.name for d in dimensions], "description": hint}
    return closed_object({"dimension": names, "quote": _string(phrase(language, "hint_quote"))})


def _items(items: ItemList, scope: Scope, language: str) -> Schema:
    if items.adds_up:
        names = ", ".join(o.name for o in items.options)
        hint = phrase(language, "hint_criterion", names=names)
        number = {"type": "integer", "enum": list(scope.turns), "description": phrase(language, "hint_turns")}
        fields = {
            "criterion": {"type": "string", "enum": [o.name for o in items.options], "description": hint},
            "turns": {"type": "array", "items": number, "minItems": 1},
            "quote": _string(phrase(language, "hint_words")),
        }
        return {"type": "array", "items": closed_object(fields)}
    fields = {items.key: _string(phrase(language, "hint_item"))}
    if items.quoted:
        names = ", ".join(items.quoted)
        fields["quote"] = _string(phrase(language, "hint_item_quote", names=names))
    fields["label"] = _choice(items.options, language)
    return {"type": "array", "items": closed_object(fields)}


def _choice(options: tuple[Option, ...], language: str) -> Schema:
    names = [o.name for o in options]
    hint = phrase(language, "hint_label", names=", ".join(names))
    return {"type": "string", "enum": names, "description": hint}


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
    """Return the reply that a schema describes, with a hint in angle brackets for each value."""
    kind = schema.get("type")
    deeper = indent + "  "
    if kind == "object":
        rows = [f'{deeper}"{key}": {sketch(value, deeper)}' for key, value in schema["properties"].items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if kind == "array":
        return f"[{sketch(schema['items'], indent)}]"
    hint = f"<{schema['description']}>"
    return f'"{hint}"' if kind == "string" else hint


_ORDER: tuple[Level, ...] = ("turn", "window", "conversation", "pair")


def built_in_values(rubric: Rubric, scope: Scope, language: str) -> dict[str, str]:
    """Return the values of the built-in placeholders for one call."""
    blocks = []
    for level in _ORDER:
        if level not in scope.levels:
            continue
        lists = sorted((x for x in rubric.items if x.level == level), key=lambda x: not x.adds_up)
        texts = [_options_text("items", x, None, language) for x in lists]
        criteria = sum(x.adds_up for x in lists)  # they come before the holistic score, as in the reply
        parts = [*texts[:criteria], *(_dimension_text(d, language) for d in rubric.asked(level))]
        parts += texts[criteria:]
        key = "label" if rubric.asked(level) else "items"  # without scores it stands beside none
        parts += [_options_text(key, x, x.of, language) for x in rubric.labels if x.level == level]
        if parts:
            title = "dialogue" if level == "conversation" and "history" in rubric.shows else level
            blocks.append("\n\n".join((f"### {phrase(language, title)}", *parts)))
    return {
        "dimensions": "\n\n".join(blocks),
        "reply_format": _reply_text(rubric, scope, language),
        "asked": _targets_text(rubric, scope, language),
        "examples": _examples_text(rubric, language),
    }


def _dimension_text(d: Dimension, language: str) -> str:
    lines = [f"**{d.name}** ({scale_text(d.scale, language)}). {d.description[language].strip()}"]
    lines += [f"- {score:g}: {text}" for score, text in sorted(d.anchors[language].items(), reverse=True)]
    if d.allow_na:
        lines.append(f"- {phrase(language, 'or_na')}")
    return "\n".join(lines)


def _options_text(key: str, table: ItemList | Label, of: str | None, language: str) -> str:
    head = phrase(language, key, name=table.name, description=table.description[language].strip())
    if isinstance(table, Label) or not table.adds_up:
        return "\n".join((head, *(_option_text(o, of, language) for o in table.options)))
    lines = [head]
    for side, sign in (("faults", -1), ("merits", 1), ("neither", 0)):
        mine = [o for o in table.options if ((o.weight or 0) > 0) - ((o.weight or 0) < 0) == sign]
        lines += [phrase(language, side)] if mine else []
        lines += [_option_text(o, of, language) for o in mine]
    return "\n".join(lines)


def _option_text(option: Option, of: str | None, language: str) -> str:
    line = f"- {option.name}: {option.description[language]}"
    if option.fits is None or of is None:
        return line
    low, high = (f"{end:g}" for end in option.fits)
    key = "fits_one" if low == high else "fits"
    return f"{line} ({phrase(language, key, of=of, low=low, high=high)})"


def _reply_text(rubric: Rubric, scope: Scope, language: str) -> str:
    fields: Schema = dict(reply_schema(rubric, scope, language)["properties"])
    if "per_turn" in fields:
        entry = next(iter(fields["per_turn"]["properties"].values()))
        fields["per_turn"] = closed_object({f"<{phrase(language, 'hint_turn')}>": entry})
    drawn = sketch(closed_object(fields))
    return "\n\n".join((phrase(language, "reply"), drawn, *_reply_notes(rubric, fields, language)))


def _reply_notes(rubric: Rubric, fields: Schema, language: str) -> Iterator[str]:
    if "per_turn" in fields:
        yield phrase(language, "reply_turns")
    if rubric.reply.evidence and ("per_turn" in fields or "evidence" in fields):
        yield phrase(language, "evidence")
    for name in (x.name for x in rubric.items if x.adds_up and x.name in fields):
        yield phrase(language, "entries", name=name)
    if "verdict" in fields and rubric.verdict is not None:
        yield rubric.verdict.text[language].strip()


def _examples_text(rubric: Rubric, language: str) -> str:
    examples = [e for e in rubric.examples if e.language in (None, language)]
    return "\n\n".join(f"{e.text.strip()}\n\n{e.answer.strip()}" for e in examples)


def _targets_text(rubric: Rubric, scope: Scope, language: str) -> str:
    """Return the sentence about what to judge: turns, the conversation or a part of it."""
    turns = ", ".join(str(n) for n in scope.turns)
    with_turns = "turn" in scope.levels and bool(rubric.at("turn"))
    if rubric.level in ("turn", "pair"):
        return phrase(language, "asked_turn", turns=turns)
    if rubric.level not in scope.levels:
        return phrase(language, "asked_turns", turns=turns)
    first, last, total = scope.part or (scope.turns[0], scope.turns[-1], scope.turns[-1])
    end = phrase(language, "part_ends" if last == total else "part_goes_on")
    where = {"first": str(first), "last": str(last), "total": str(total), "end": end}
    if "history" in rubric.shows:
        return phrase(language, "asked_segment" if scope.part else "asked_dialogue", **where)
    if scope.part is None:
        return phrase(language, "asked_whole" if with_turns else "asked_only_whole", turns=turns)
    return phrase(language, "asked_part" if with_turns else "asked_only_part", turns=turns, **where)
