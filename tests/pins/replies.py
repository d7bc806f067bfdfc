"""What the server replies: valid for whatever schema is asked, and worth what the judged reply says it is.

The replies of `inputs.py` end with `ref` and five digits, of which the last is their worth. A request in
which a user writes `fault=NAME` meets that fault; `fault=once_NAME` only the first time.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

from servers.faults import FaultPlan
from servers.openai_stub import OpenAIStub
from servers.schemas import instance
from servers.verdicts import fill

Body = dict[str, Any]

_WORTH = re.compile(r"ref\d{4}(\d)")
_FAULT = re.compile(r"fault=([a-z_]+)")
_MODELS_VERDICTS = ("poor", "borderline", "good", "good", "excellent")


def pinned_server() -> OpenAIStub:
    """Return a server whose replies depend on the request alone."""
    return OpenAIStub(reply, faults=FaultPlan(choose=_fault_once()))


def reply(body: Body) -> str:
    """Answer a request; without a schema, with a few words as a candidate would."""
    shown = body["messages"][-1]["content"]
    form = body.get("response_format", {}).get("json_schema")
    if form is None:
        return f"Here is my way to do it, number {zlib.crc32(shown.encode()) % 1000}. ref0000{_worth(shown)}"
    schema = form["schema"]
    if "per_turn" in schema.get("properties", {}):
        return json.dumps(_card(schema, shown))
    return json.dumps(_plain(instance(schema), schema, _worth(shown)))


def _worth(shown: str) -> int:
    """What the last reply shown is worth; by its words where it does not say."""
    found = _WORTH.findall(shown)
    return int(found[-1]) if found else zlib.crc32(shown.encode()) % 5 + 1


def _card(schema: Body, shown: str) -> Body:
    value = fill(schema, _worth(shown))
    lines = [json.loads(line) for line in shown.splitlines() if line.startswith('{"turn"')]
    worth = {m["turn"]: _worth(m["text"]) for m in lines if m.get("role") == "assistant"}
    for turn, entry in value["per_turn"].items():
        own = worth.get(int(turn), 3)
        entry["scores"] = dict.fromkeys(entry["scores"], own)
        entry["issues"] = [] if own > 2 else ["It does not answer the question."]
    if "weakest_turn" in value and worth:
        value["weakest_turn"] = min(worth, key=lambda turn: (worth[turn], turn))
    if "verdict" in value:
        value["verdict"] = _MODELS_VERDICTS[_worth(shown) - 1]
    return value


def _plain(value: Body, schema: Body, worth: int) -> Body:
    """Put the worth where the schema asks for a score, and what fits it where it asks for more."""
    properties = schema["properties"]
    for name, allowed in properties.get("scores", {}).get("properties", {}).items():
        value["scores"][name] = min(allowed["enum"], key=lambda option: abs(option - worth))
    for part in value.get("conversation_level", {}).values():
        part["score"] = worth
    for name, key in (("claims", "claim"), ("subgoals", "goal")):
        if name in value:
            fields = properties[name]["items"]["properties"]
            options, quote = fields["label"]["enum"], {"quote": "o"} if "quote" in fields else {}
            value[name] = [
                {key: f"{key} {i}", **quote, "label": options[(i * worth) % len(options)]}
                for i in range(worth - 1)
            ]
    if "criteria" in value:
        value["criteria"] = ["it has steps" if worth > 3 else "it does not answer"]
    if "matches" in value:
        side, code = ("satisfied", "S1") if worth > 3 else ("dissatisfied", "D1")
        value["matches"] = [{"criterion": code, "label": side}]
    if "reply" in value:
        value["reply"] = "Take the train at nine; it is on time."
    return value | _labels(value, worth)


def _labels(value: Body, worth: int) -> Body:
    fits = {
        "reason": ("insufficient_detail", "satisfied"),
        "boundary_side": ("dsat", "sat"),
        "evidence_confidence": ("medium", "high"),
        "failed_condition": ("generic", "none"),
    }
    return {name: words[worth > 3] for name, words in fits.items() if name in value}


def _fault_once() -> Any:
    met: set[str] = set()

    def choose(body: Mapping[str, Any]) -> str | None:
        asked = json.dumps(body["messages"])
        found = _FAULT.search(asked)
        if found is None:
            return None
        name = found.group(1)
        if not name.startswith("once_"):
            return name
        if name in met:
            return None
        met.add(name)
        return name.removeprefix("once_")

    return choose
