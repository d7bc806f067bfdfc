"""Who takes part in an arena, and what their own dialogues say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.text import words

PER_DIALOGUE: Final = ("words", "tool calls", "cost")
"""What is known of an agent as a mean over its dialogues."""


@dataclass(frozen=True, slots=True)
class Agents:
    """Who takes part, and what is known of each."""

    names: tuple[str, ...] = ()
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By agent, as `said_of` and the file of agents have it."""
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By agent the dialogues that others have led, and it has not."""
    absent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By agent the dialogues that hold no message: its run failed at the source, which is no vote."""


def said_of(agent: str, dialogues: Iterable[Conversation]) -> dict[str, Any]:
    """Return what the dialogues of an agent say of it.

    Args:
        agent: What the arena calls it.
        dialogues: Each once, also those without a message.

    Returns:
        `model`, where all name one that is called otherwise; how many `dialogues` there are, and how many
        more are `absent`; and of a dialogue the mean of `words` of the agent, of `tool calls`, and of `cost`
        where the metadata of all have it.
    """
    everything = list(dialogues)
    led = [talk for talk in everything if talk.messages]
    models = {talk.candidate for talk in led}
    out: dict[str, Any] = {}
    if len(models) == 1 and (model := models.pop()) not in (None, agent):
        out["model"] = model
    out["dialogues"] = len(led)
    if len(led) < len(everything):
        out["absent"] = len(everything) - len(led)
    if led:
        mine = [[m for m in talk.messages if m.role == "assistant"] for talk in led]
        out["words"] = sum(len(words(m.text)) for of in mine for m in of) / len(led)
        out["tool calls"] = sum(len(m.tool_calls) for of in mine for m in of) / len(led)
        costs = [talk.metadata.get("cost") for talk in led]
        known = [cost for cost in costs if isinstance(cost, int | float) and not isinstance(cost, bool)]
        if len(known) == len(led):
            out["cost"] = sum(known) / len(led)
    return out


def said_together(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Put together what two arenas say of one agent: counts add up, and means count by their dialogues.

    A mean that one of them lacks, and a name that differs, is left out; who judged is listed.
    """
    led = one.get("dialogues", 0), other.get("dialogues", 0)
    out: dict[str, Any] = {}
    for key in dict.fromkeys((*one, *other)):
        both = one.get(key), other.get(key)
        if key in ("dialogues", "absent"):
            out[key] = (both[0] or 0) + (both[1] or 0)
        elif key == "judged by":
            out[key] = ", ".join(dict.fromkeys(filter(None, both)))
        elif key in PER_DIALOGUE and None not in both and sum(led):
            out[key] = (both[0] * led[0] + both[1] * led[1]) / sum(led)
        elif both[0] == both[1]:
            out[key] = both[0]
    return out
