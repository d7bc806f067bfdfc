"""What a prompt says of the rubric itself: the dimensions, the reply format, what is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from dialogauge.core.judgement import Level
from dialogauge.prompts.rubric import Dimension, ItemList, Label, Option, Rubric, Scope
from dialogauge.prompts.schema import reply_schema, scale_text, sketch
from dialogauge.prompts.wording import phrase

__all__ = ["asked_text", "built_in_values"]

_ORDER: tuple[Level, ...] = ("turn", "window", "conversation", "pair")


def built_in_values(rubric: Rubric, scope: Scope, language: str) -> dict[str, str]:
    """Return the values of the built-in placeholders for one call."""
    return {
        "dimensions": _dimensions_text(rubric, scope, language),
        "reply_format": _reply_text(rubric, scope, language),
        "asked": asked_text(rubric, scope, language),
        "examples": _examples_text(rubric, language),
    }


def _dimensions_text(rubric: Rubric, scope: Scope, language: str) -> str:
    blocks = []
    for level in _ORDER:
        if level not in scope.levels:
            continue
        parts = [_dimension_text(d, language) for d in rubric.asked(level)]
        parts += [_items_text(x, language) for x in rubric.items if x.level == level]
        parts += [_label_text(x, language) for x in rubric.labels if x.level == level]
        if parts:
            blocks.append("\n\n".join((f"### {phrase(language, level)}", *parts)))
    return "\n\n".join(blocks)


def _dimension_text(d: Dimension, language: str) -> str:
    lines = [f"**{d.name}** ({scale_text(d.scale, language)}). {d.description[language].strip()}"]
    lines += [f"- {score:g}: {text}" for score, text in sorted(d.anchors[language].items(), reverse=True)]
    if d.allow_na:
        lines.append(f"- {phrase(language, 'or_na')}")
    return "\n".join(lines)


def _items_text(items: ItemList, language: str) -> str:
    head = phrase(language, "items", name=items.name, description=items.description[language].strip())
    return "\n".join((head, *(_option_text(o, None, language) for o in items.options)))


def _label_text(label: Label, language: str) -> str:
    head = phrase(language, "label", name=label.name, description=label.description[language].strip())
    return "\n".join((head, *(_option_text(o, label.of, language) for o in label.options)))


def _option_text(option: Option, of: str | None, language: str) -> str:
    line = f"- {option.name}: {option.description[language]}"
    if option.fits is None or of is None:
        return line
    low, high = (f"{end:g}" for end in option.fits)
    key = "fits_one" if low == high else "fits"
    return f"{line} ({phrase(language, key, of=of, low=low, high=high)})"


def _reply_text(rubric: Rubric, scope: Scope, language: str) -> str:
    schema = reply_schema(rubric, scope, language)
    return "\n\n".join((phrase(language, "reply"), sketch(schema), *_reply_notes(rubric, schema, language)))


def _reply_notes(rubric: Rubric, schema: dict[str, object], language: str) -> Iterator[str]:
    fields = schema["properties"]
    if not isinstance(fields, dict):
        return
    if "per_turn" in fields:
        yield phrase(language, "reply_turns")
    if rubric.reply.evidence and ("per_turn" in fields or "evidence" in fields):
        yield phrase(language, "evidence")
    if "verdict" in fields and rubric.verdict is not None:
        yield rubric.verdict.text[language].strip()


def _examples_text(rubric: Rubric, language: str) -> str:
    shown = [e for e in rubric.examples if e.language in (None, language)]
    return "\n\n".join(f"{e.text.strip()}\n\n{e.answer.strip()}" for e in shown)


def asked_text(rubric: Rubric, scope: Scope, language: str) -> str:
    """Say which turns are asked for, and whether the conversation or a part of it is."""
    turns = ", ".join(str(n) for n in scope.turns)
    with_turns = "turn" in scope.levels and bool(rubric.at("turn"))
    if rubric.level in ("turn", "pair"):
        return phrase(language, "asked_turn", turns=turns)
    if rubric.level not in scope.levels:
        return phrase(language, "asked_turns", turns=turns)
    if scope.part is None:
        return phrase(language, "asked_whole" if with_turns else "asked_only_whole", turns=turns)
    first, last, total = scope.part
    end = phrase(language, "part_ends" if last == total else "part_goes_on")
    key = "asked_part" if with_turns else "asked_only_part"
    return phrase(language, key, turns=turns, first=str(first), last=str(last), total=str(total), end=end)
