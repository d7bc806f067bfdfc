"""Losses of rows and advantages of sessions, as functions of tensors (DynSess, equations 5 and 6).

Tokens stand as (sequences, tokens). A log probability stands where its token does, without the first token
of a sequence, which nothing predicts. The mask is 1 at the character's tokens and 0 at all others, so that
no other token has a gradient. Nothing here loads torch: it is reached through the tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

Tensor = Any
"""Of torch, which has no useful types where it is not installed."""

FLAT: Final = 1e-6
"""Rewards of a group whose standard deviation is below this say nothing of which session is better."""
FEWEST: Final = 4
"""Sessions with a reward that a group needs."""
_EPSILON: Final = 1e-4
"""Added to the standard deviation, as TRL does."""


def token_log_probs(logits: Tensor, ids: Tensor) -> Tensor:
    """Return the log probability of each token but the first.

    Args:
        logits: (sequences, tokens, vocabulary).
        ids: (sequences, tokens).
    """
    predicted, next_ids = logits[:, :-1].float(), ids[:, 1:]
    chosen = predicted.gather(-1, next_ids.unsqueeze(-1)).squeeze(-1)
    return chosen - predicted.logsumexp(-1)


def token_divergence(logits: Tensor, reference: Tensor) -> Tensor:
    """Return KL(policy || reference) of what comes next at each place but the last, in nats.

    Args:
        logits: Of the policy, (sequences, tokens, vocabulary).
        reference: Of the policy before training.
    """
    ours, theirs = logits[:, :-1].float().log_softmax(-1), reference[:, :-1].float().log_softmax(-1)
    return (ours.exp() * (ours - theirs)).sum(-1)


@dataclass(frozen=True, slots=True)
class PairLoss:
    """The loss of a batch of pairs, and what it is made of."""

    loss: Tensor
    chosen: Tensor
    """Implicit reward of each winner, (pairs,): beta times how much more likely it became."""
    rejected: Tensor


def dspo_loss(
    log_probs: Tensor,
    reference: Tensor,
    mask: Tensor,
    *,
    beta: float = 0.1,
    length_norm: bool = False,
    sft_alpha: float = 0.0,
) -> PairLoss:
    """Return the loss of pairs of segments: the mean of -log sigmoid(r(winner) - r(loser)).

    Args:
        log_probs: Of the policy; the winners are the first half of the sequences, their losers the second.
        reference: Of the policy before training.
        mask: 1 at the tokens of the character in the segment.
        beta: How dear it is to leave the reference.
        length_norm: Divide the reward of a segment by its tokens.
        sft_alpha: Weight of the mean negative log-likelihood of the winners' tokens, which is added.
    """
    from torch.nn.functional import logsigmoid

    mask = mask.to(log_probs.dtype)
    rewards = beta * ((log_probs - reference) * mask).sum(1)
    chosen, rejected = (rewards / mask.sum(1) if length_norm else rewards).chunk(2)
    loss = -logsigmoid(chosen - rejected).mean()
    if sft_alpha:
        loss = loss + sft_alpha * sft_loss(log_probs.chunk(2)[0], mask.chunk(2)[0])
    return PairLoss(loss, chosen.detach(), rejected.detach())


def sft_loss(log_probs: Tensor, mask: Tensor) -> Tensor:
    """Return the mean negative log-likelihood of the tokens of the mask."""
    mask = mask.to(log_probs.dtype)
    return -(log_probs * mask).sum() / mask.sum()


@dataclass(frozen=True, slots=True)
class Advantages:
    """How much better each session is than its group, and what was left out."""

    values: Tensor
    """(sessions,), 0 where left out."""
    kept: Tensor
    """(sessions,), true where the session is trained on."""
    flat: int
    """Groups whose rewards are all alike."""
    few: int
    """Groups with fewer than `FEWEST` rewards."""
    failed: int
    """Sessions without a reward: their judgement failed."""


def group_advantages(rewards: Tensor, group: int) -> Advantages:
    """Return (reward - mean) / (standard deviation + 1e-4) within each group (equation 6).

    Args:
        rewards: (sessions,), the sessions of a group side by side; NaN where a judgement failed, which
            is never a reward of 0.
        group: Sessions of a group.
    """
    import torch

    grid = rewards.reshape(-1, group).double()
    valid = ~grid.isnan()
    n = valid.sum(1, keepdim=True)
    centred = torch.where(valid, grid - grid.nansum(1, keepdim=True) / n.clamp(min=1), 0.0)
    spread = (centred.square().sum(1, keepdim=True) / (n - 1).clamp(min=1)).sqrt()
    few, flat = n < FEWEST, spread < FLAT
    kept = valid & ~few & ~flat
    values = torch.where(kept, centred / (spread + _EPSILON), 0.0)
    return Advantages(
        values.reshape(-1).to(rewards.dtype),
        kept.reshape(-1),
        int((flat & ~few).sum()),
        int(few.sum()),
        int((~valid).sum()),
    )
