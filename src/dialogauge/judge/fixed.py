"""What the calls of a judge have in common, made once for each scope instead of once for each call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from dialogauge.llm.protocol import ReplySchema
from dialogauge.prompts import Rubric, Scope, built_in_values, placeholders, render, reply_schema

__all__ = ["FixedParts", "FixedPrompts"]

# Conversations of up to ten turns have ten scopes, windows and single turns as many as there are lengths.
_KEPT = 256


@dataclass(frozen=True, slots=True)
class FixedParts:
    """The parts of a call's prompt that do not depend on the conversation."""

    schema: ReplySchema
    values: Mapping[str, str]
    """Of the built-in placeholders; to be copied, not changed."""
    instructions: str | None
    """The system message, if it stands on built-in placeholders alone."""


class FixedPrompts:
    """The fixed parts of one rubric's prompts, by scope and language; the latest 256 are kept."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self._name = re.sub(r"[^A-Za-z0-9_-]", "_", rubric.id)[:64]
        self.parts = lru_cache(maxsize=_KEPT)(self._make)

    def _make(self, scope: Scope, language: str) -> FixedParts:
        values = built_in_values(self.rubric, scope, language)
        schema = ReplySchema(self._name, reply_schema(self.rubric, scope, language))
        template = self.rubric.templates[language].instructions
        fixed = template and set(placeholders(template)) <= values.keys()
        return FixedParts(schema, values, render(template, values) if fixed else None)
