"""Rows as TRL's trainers read them: conversational form, the prompt explicit.

TRL masks the prompt alone, so a pair holds one assistant message on each side: a longer continuation
would train on the user's words too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dialogauge.optimise.forks import Fork, plain_message, prompt_and_reply
from dialogauge.optimise.judged import JudgedConversation

__all__ = ["VERDICTS", "dpo_row", "kto_rows", "sft_row"]

VERDICTS: Final = ("poor", "borderline", "good", "excellent")

# On a 1-5 scale these are a mean of 4 and more, and of 2.6 and less; what lies between teaches neither.
_DESIRABLE = 0.75
_UNDESIRABLE = 0.4


def dpo_row(fork: Fork, chosen: str) -> dict[str, Any]:
    """Return a preference pair: `prompt`, `chosen`, `rejected`."""
    return {
        "prompt": list(fork.prompt),
        "chosen": [{"role": "assistant", "content": chosen}],
        "rejected": [{"role": "assistant", "content": fork.rejected}],
    }


def kto_rows(judged: JudgedConversation) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield turn number and row (`prompt`, `completion`, `label`) of every turn that is clear enough.

    A reply is undesirable when it is the weakest turn or its mean score is low, desirable when its mean
    score is high and no issue was raised.
    """
    for figures in judged.turns:
        turn = judged.conversation.turn(figures.turn)
        label = _label(judged, figures.turn)
        parted = prompt_and_reply(judged.conversation, turn)
        if label is None or parted is None:
            continue
        prompt, reply = parted
        completion = [{"role": "assistant", "content": reply}]
        yield turn.number, {"prompt": list(prompt), "completion": completion, "label": label}


def _label(judged: JudgedConversation, number: int) -> bool | None:
    figures = judged.turn(number)
    if number == judged.weakest_turn:
        return False
    if figures is None or figures.quality is None:
        return None
    if figures.quality <= _UNDESIRABLE:
        return False
    return True if figures.quality >= _DESIRABLE and not figures.issues else None


def sft_row(judged: JudgedConversation, min_verdict: str) -> dict[str, Any] | None:
    """Return the whole conversation as `messages`, if its verdict is at least `min_verdict`."""
    if judged.verdict is None or VERDICTS.index(judged.verdict) < VERDICTS.index(min_verdict):
        return None
    messages = [plain_message(m) for m in judged.conversation.messages]
    while messages and (messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls")):
        messages.pop()  # what was left unanswered teaches nothing
    return {"messages": messages} if messages else None
