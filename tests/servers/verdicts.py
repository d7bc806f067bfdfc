"""Replies of a scripted judge: valid for whatever schema a rubric asks for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from servers.schemas import instance


def ideal(body: dict[str, Any]) -> str:
    """Return full scores for every turn that the request asks about; prose where no schema is given."""
    wanted = body.get("response_format", {}).get("json_schema")
    return "It reads well." if wanted is None else json.dumps(fill(wanted["schema"]))


def fill(schema: dict[str, Any], score: int = 5) -> dict[str, Any]:
    """Make an instance of a card schema: one entry for each asked turn, `score` everywhere."""
    value = instance(schema)
    for entry in value.get("per_turn", {}).values():
        entry.update(issues=[], evidence=[], scores=dict.fromkeys(entry["scores"], score))
    for name, whole in value.get("conversation_level", {}).items():
        whole["note"] = "It goes as it should."
        whole["score"] = "n/a" if name == "repair_handling" else score
    said = {"weakest_turn": None, "verdict": "excellent", "decision_basis": "Every turn does its work."}
    value.update({key: text for key, text in said.items() if key in value})
    return value


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], str]:
    """Return a judge whose full scores are changed by a function before they are sent."""

    def reply(body: dict[str, Any]) -> str:
        value = fill(body["response_format"]["json_schema"]["schema"])
        change(value)
        return json.dumps(value)

    return reply
