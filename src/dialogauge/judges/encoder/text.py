"""What an encoder reads of a target: the user and how they rated, the task, the messages, the reply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import Score
from dialogauge.core.protocols import BlockView, Reply
from dialogauge.core.values import Value
from dialogauge.text import has_chinese

ENCODER_JUDGES: Final = ("encoder", "encoder-ordinal")
"""Five classes, or four thresholds between the scores."""


class EncoderSettings(Value):
    """Model, text and training."""

    model: str = "bert-base-chinese"
    """A folder with config, weights and tokenizer, or a name that transformers finds."""
    ordinal: bool = False
    """Four sigmoids, one for each step between two scores, instead of a softmax over five."""
    max_tokens: int = 512
    messages: int = 12
    """The last messages of the conversation that it reads, the reply among them."""
    epochs: int = 5
    batch_size: int = 16
    eval_batch_size: int = 32
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    warmup: float = 0.06
    """Share of the steps in which the learning rate rises; it falls to 0 over the others."""
    dropout: float = 0.1
    clip: float = 1.0
    """Longest gradient."""
    threshold: float = 0.5
    """Probability above which a step is taken, where ordinal."""
    validation: float = 0.2
    """Share of the training users whose error chooses the epoch."""
    seed: int = 42


def decoded_score(probabilities: Sequence[float], settings: EncoderSettings) -> Score:
    """Decode five class probabilities, or those of the four steps where ordinal.

    The value is the expected score; the whole score the most probable class, the lowest of several, or 1
    and one more for each step above the threshold.
    """
    if settings.ordinal:
        steps = sum(p > settings.threshold for p in probabilities)
        return Score(1 + sum(probabilities), 1 + steps)
    best = max(range(len(probabilities)), key=lambda i: probabilities[i])
    expected = sum((i + 1) * p for i, p in enumerate(probabilities)) / sum(probabilities)
    return Score(expected, best + 1)


_WORDS: Final = {
    "profile": ("User", "用户"),
    "history": ("Rated before", "过往评分"),
    "none": ("nothing", "无"),
    "mean": ("mean", "均分"),
    "task": ("Task", "任务"),
    "context": ("Situation", "背景"),
    "user": ("User", "用户"),
    "assistant": ("Assistant", "助手"),
}


@dataclass(frozen=True, slots=True)
class EncoderText:
    """The three parts of the input."""

    about: str
    """Summary of the history's scores, task and its context, profile."""
    dialogue: str
    """The messages before the reply."""
    reply: str


def encoder_text(view: BlockView, reply: Reply, *, messages: int) -> EncoderText:
    """Write the parts of one target; nothing after the reply is read.

    Args:
        view: The block, of which the history's scores are read and no text.
        reply: The target.
        messages: How many of the last messages are shown, the reply among them.
    """
    chinese = has_chinese(reply.request)
    words = {name: pair[chinese] for name, pair in _WORDS.items()}
    about = [
        f"{words['history']}: {_scores(view, words)}",
        f"{words['task']}: {view.scenario}",
        f"{words['context']}: {reply.context}",
        f"{words['profile']}: {_profile(view.profile or {})}",
    ]
    shown = reply.before[-(messages - 1) :] if messages > 1 else ()
    lines = [f"{words.get(m.role, m.role)}: {m.text}" for m in shown]
    return EncoderText("\n".join(about), "\n".join(lines), f"{words['assistant']}: {reply.text}")


def _profile(profile: Mapping[str, Any]) -> str:
    return "; ".join(f"{key} {_flat(value)}" for key, value in profile.items() if value)


def _flat(value: object) -> str:
    return ", ".join(str(v) for v in value) if isinstance(value, list | tuple) else str(value)


def _scores(view: BlockView, words: Mapping[str, str]) -> str:
    if not view.history:
        return words["none"]
    by_scenario: defaultdict[str, list[float]] = defaultdict(list)
    for rated in view.history:
        by_scenario[str(rated.reply.conversation.scenario)].append(rated.score)
    counts = ", ".join(f"{s}×{sum(round(x) == s for x in view.scores)}" for s in range(1, 6))
    means = ", ".join(f"{name} {_mean(scores)}" for name, scores in by_scenario.items())
    return f"{len(view.scores)}; {words['mean']} {_mean(view.scores)}; {counts}; {means}"


def _mean(scores: Sequence[float]) -> str:
    return f"{sum(scores) / len(scores):.2f}"


def fitted_tokens(
    about: Sequence[int], dialogue: Sequence[int], reply: Sequence[int], room: int
) -> tuple[list[int], list[int]]:
    """Cut three runs of tokens to `room` in all; return what is about the user, and dialogue with reply.

    The reply is what is judged, so it keeps up to half of the room (cut in the middle), what is about the
    user up to a quarter (its beginning), and the dialogue what is left (its end). Room that one of them
    does not need goes to the others, the reply first.
    """
    most_reply = max(room // 2, room - len(about) - len(dialogue))
    kept_reply = _cut_middle(reply, min(len(reply), most_reply))
    left = room - len(kept_reply)
    kept_about = list(about[: max(min(room // 4, left), left - len(dialogue))])
    left -= len(kept_about)
    return kept_about, [*(dialogue[-left:] if left else ()), *kept_reply]


def _cut_middle(tokens: Sequence[int], most: int) -> list[int]:
    if len(tokens) <= most:
        return list(tokens)
    head = (most + 1) // 2
    tail = most - head
    return [*tokens[:head], *(tokens[-tail:] if tail else ())]
