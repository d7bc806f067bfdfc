"""Rows for training (DPO, KTO, SFT, segments, prompts), and conversations that people should label next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from dialogauge.agents import Scenario, beginning, scenario_json
from dialogauge.core import Conversation, Message
from dialogauge.rubrics import VERDICTS
from dialogauge.training.pairs import (
    Fork,
    JudgedConversation,
    answered_part,
    plain_message,
    prompt_and_reply,
    tools_of,
)
from dialogauge.training.rows import Provenance, Source

_HALF_WAY = 0.5


@dataclass(frozen=True, slots=True)
class ActiveItem:
    """One conversation to label, and why."""

    judged: JudgedConversation
    reason: Literal["lowest", "uncertain", "failed"]

    @property
    def uncertainty(self) -> float:
        """The spread over repeats, the share of failed targets, and how near the mean is to the middle."""
        judged = self.judged
        middle = 0.0 if judged.quality is None else abs(judged.quality - _HALF_WAY)
        return judged.spread + judged.failed / max(judged.targets, 1) + _HALF_WAY - middle

    def to_row(self) -> dict[str, Any]:
        """Return the item with its messages, for a labelling tool; `quality` is scaled to 0..1."""
        judged = self.judged
        return {
            "conversation_id": judged.conversation.id,
            "reason": self.reason,
            "quality": judged.quality,
            "uncertainty": round(self.uncertainty, 6),
            "verdict": judged.verdict,
            "weakest_turn": judged.weakest_turn,
            "messages": [m.to_openai() for m in judged.conversation.messages],
        }


def rank_for_labelling(judged: Iterable[JudgedConversation], limit: int) -> list[ActiveItem]:
    """Return at most `limit` distinct conversations: alternately the lowest and the most uncertain.

    Uncertainty is the spread over repeats, plus the share of failed targets, plus the closeness of the mean
    score to the middle of the scale (0 at the ends, 0.5 in the middle). A conversation without scores is
    `failed` and comes last: its label says nothing about the judge.
    """
    everything = list(judged)
    scored = [j for j in everything if j.quality is not None]
    lowest = sorted(scored, key=lambda j: (j.quality or 0.0, j.conversation.id))
    unsure = sorted(scored, key=lambda j: (-ActiveItem(j, "uncertain").uncertainty, j.conversation.id))
    chosen: dict[str, ActiveItem] = {}
    queues: tuple[tuple[Literal["lowest", "uncertain"], Iterator[JudgedConversation]], ...]
    queues = ("lowest", iter(lowest)), ("uncertain", iter(unsure))
    for reason, queue in queues * len(scored):  # each round adds at least one, if any is left
        best = next((j for j in queue if j.conversation.id not in chosen), None)
        if best is not None and len(chosen) < limit:
            chosen[best.conversation.id] = ActiveItem(best, reason)
    for one in everything:
        if one.quality is None and len(chosen) < limit:
            chosen[one.conversation.id] = ActiveItem(one, "failed")
    return list(chosen.values())


# On a 1-5 scale these are means of 4 and 2.6; turns in between are no training data.
_DESIRABLE = 0.75
_UNDESIRABLE = 0.4


def dpo_row(fork: Fork, chosen: str) -> dict[str, Any]:
    """Return a preference pair: `prompt`, `chosen`, `rejected`, and `tools` where there are any."""
    return {
        "prompt": list(fork.prompt),
        "chosen": [{"role": "assistant", "content": chosen}],
        "rejected": [{"role": "assistant", "content": fork.rejected}],
        **_tools(fork.tools),
    }


def segment_row(
    prompt: Sequence[Mapping[str, Any]],
    chosen: Sequence[Mapping[str, Any]],
    rejected: Sequence[Mapping[str, Any]],
    known: Provenance,
) -> dict[str, Any]:
    """Return a pair of segments under one prefix; both begin with a user message, mostly not the same one.

    Args:
        prompt: The system message and what was said before, in OpenAI form.
        chosen: The better segment.
        rejected: The other one.
        known: Scores in points of 1 to 5, models, persona and step of a search; what nobody knows is null.
    """
    scores = known.scores or (None, None)
    return {
        "prompt": list(prompt),
        "chosen": list(chosen),
        "rejected": list(rejected),
        "score_chosen": scores[0],
        "score_rejected": scores[1],
        "persona_id": known.persona,
        "step": known.details.get("step"),
        "model_chosen": known.model_chosen,
        "model_rejected": known.model_rejected,
    }


def prompt_rows(
    scenario: Scenario, trajectories: Sequence[tuple[Conversation, Sequence[int]]], chance: Random
) -> Iterator[tuple[dict[str, Any], Conversation | None]]:
    """Yield two prompts of a scenario for sessions that are sampled in training: an empty one, and one cut.

    The empty one holds the instructions, and the greeting where there is one. The other one ends at a segment
    boundary, each as likely as the others, of a trajectory drawn by chance; that one comes with it. DynSess
    does not say where the contexts of training come from: half of them are empty here.

    Args:
        scenario: With the persona of its user.
        trajectories: Conversations of it, each with the indexes of messages that it may be cut at.
        chance: Of the draw.
    """
    entry = scenario_json(scenario)

    def row(messages: Sequence[Message]) -> dict[str, Any]:
        prompt = [plain_message(m) for m in messages]
        turns = len(Conversation("", tuple(messages)).replied_turns)
        return {"prompt": prompt, "scenario": entry, "persona_id": scenario.id, "context_turns": turns}

    yield row(beginning(scenario, scenario.id, "").messages), None
    if cut := [(talk, places) for talk, places in trajectories if places]:
        conversation, places = chance.choice(cut)
        yield row(conversation.messages[: chance.choice(places)]), conversation


def corrected_row(fork: Fork, reply: str) -> dict[str, Any]:
    """Return `messages` that end with a better reply than that of a fork, and `tools` if there are any."""
    return {"messages": [*fork.prompt, {"role": "assistant", "content": reply}], **_tools(fork.tools)}


def _tools(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"tools": list(tools)} if tools else {}


def kto_rows(judged: JudgedConversation) -> Iterator[tuple[int, dict[str, Any], Source]]:
    """Yield turn, row (`prompt`, `completion`, `label`, perhaps `tools`) and source of every clear turn.

    What people rated has their label. Of other turns a reply is undesirable in the weakest turn or with a low
    mean score, desirable with a high mean score and without issues; not where people said otherwise of the
    whole conversation.
    """
    tools = _tools(tools_of(judged.conversation))
    for figures in judged.turns:
        turn = judged.conversation.turn(figures.turn)
        label, source = _label(judged, figures.turn)
        parts = prompt_and_reply(judged.conversation, turn)
        if label is None or parts is None:
            continue
        prompt, reply = parts
        completion = [{"role": "assistant", "content": reply}]
        row = {"prompt": list(prompt), "completion": completion, "label": label, **tools}
        yield turn.number, row, source


def _label(judged: JudgedConversation, number: int) -> tuple[bool | None, Source]:
    """Return whether the reply of a turn is desirable, and who says so; None where nobody does clearly."""
    if (rating := judged.rated_turns.get(number)) is not None:
        return rating.satisfied, "people"
    whole, figures, label = judged.people.get(None), judged.turn(number), None
    quality = None if figures is None else figures.quality
    if number == judged.weakest_turn or (quality is not None and quality <= _UNDESIRABLE):
        label = False
    elif quality is not None and quality >= _DESIRABLE and not judged.issues(number):
        label = True
    return (None if whole is not None and whole.satisfied != label else label), "judge"


def worth_learning(judged: JudgedConversation, min_verdict: str) -> tuple[bool | None, Source]:
    """Say whether a conversation is an example to follow, and who says so; None where nobody does.

    What people said of the whole comes first, then what they said of its turns: all are to be good. Else the
    verdict is to be at least `min_verdict`.
    """
    whole, turns = judged.people.get(None), judged.rated_turns
    if whole is not None or turns:
        ratings = [whole] if whole is not None else list(turns.values())
        return all(rating.satisfied for rating in ratings), "people"
    if judged.verdict is None:
        return None, "judge"
    return VERDICTS.index(judged.verdict) <= VERDICTS.index(min_verdict), "judge"


def sft_row(judged: JudgedConversation) -> dict[str, Any] | None:
    """Return the conversation as `messages`, with `tools` where there are any; None without an answer."""
    messages = answered_part(judged.conversation)
    return {"messages": messages, **_tools(tools_of(judged.conversation))} if messages else None
