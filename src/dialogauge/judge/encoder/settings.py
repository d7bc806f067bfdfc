"""How an encoder is fine-tuned; the defaults are those of PersTurnBench's appendix D.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULT_ENCODER", "ENCODER_JUDGES", "EncoderSettings"]

DEFAULT_ENCODER: Final = "bert-base-chinese"
ENCODER_JUDGES: Final = ("encoder", "encoder-ordinal")
"""Five classes, or four thresholds between the scores."""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """Model, text and training."""

    model: str = DEFAULT_ENCODER
    """A folder with config, weights and tokenizer, or a name that transformers finds."""
    ordinal: bool = False
    """Four sigmoids, one for each step between two scores, instead of a softmax over five."""
    max_tokens: int = 512
    messages: int = 12
    """The last messages of the conversation that are shown, the reply among them."""
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
