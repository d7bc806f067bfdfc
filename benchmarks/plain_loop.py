"""A loop of training in plain torch, without TRL: the oracle that TRL is compared with.

    tune(job, plain_offline, folder)
    tune(job, PlainOnlineTrainer(prompts, player, run), folder)

AdamW without weight decay, gradients cut to a norm of 1, a learning rate that rises and then falls in
straight lines: what TRL does. It writes no checkpoints: a run that is killed begins again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dialogauge.core import UsageError
from dialogauge.stats import Estimate
from dialogauge.training.losses import Advantages, Tensor, token_log_probs
from dialogauge.training.masks import MaskedTokens
from dialogauge.training.offline import OfflineObjective, Padded, Sides, encoded_rows, padded
from dialogauge.training.online import OnlineTrainer, SessionRounds
from dialogauge.training.policy import Policy
from dialogauge.training.rollouts import Rollout
from dialogauge.training.train_settings import PairSettings, TrainSettings
from dialogauge.training.tuning import Trained, TuneFolder, TuneJob

B = TypeVar("B")


def train_plain(
    model: Any,  # noqa: ANN401 - a torch module
    batches: Callable[[int], Sequence[B]],
    objective: Callable[[Any, B], tuple[Tensor, Mapping[str, float]]],
    settings: TrainSettings,
    folder: TuneFolder,
    steps: int,
) -> None:
    """Train a model.

    Args:
        model: Whose parameters are trained, those that want a gradient.
        batches: From a step, counted from 0, to the batches of which the mean loss makes it.
        objective: From the model and a batch to its loss and its figures; the loss has the gradient.
        settings: Learning rate, warm-up and seed.
        folder: Where the log is kept: a line for each step.
        steps: Updates of the optimiser.

    Raises UsageError where a loss is no number.
    """
    import torch

    weights = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.0)
    rising = round(settings.warmup * steps)
    torch.manual_seed(settings.seed)
    sums: dict[str, list[float]] = {}
    model.train()
    for step in range(steps):
        falling = (steps - step) / max(steps - rising, 1)
        rate = settings.learning_rate * (step / rising if step < rising else falling)
        for group in optimiser.param_groups:
            group["lr"] = rate
        parts = batches(step)
        for part in parts:
            loss, figures = objective(model, part)
            if not torch.isfinite(loss):
                msg = f"the loss of step {step + 1} is no number"
                raise UsageError(msg, hint="lower --learning-rate, or compute with --precision fp32")
            (loss / len(parts)).backward()
            for name, value in {"loss": loss.item(), **figures}.items():
                sums.setdefault(name, []).append(value)
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        if (step + 1) % folder.updates == 0:
            means = {name: sum(values) / len(values) for name, values in sums.items()}
            folder.log(step + 1, {**means, "learning_rate": rate})
            sums.clear()


def _with_adapter(policy: Policy) -> Any:  # noqa: ANN401
    """Return the model with the adapter that is to be trained, or itself."""
    if policy.adapter is None:
        return policy.model
    from peft import get_peft_model

    return get_peft_model(policy.model, policy.adapter)


# On rows


def plain_offline(job: TuneJob, policy: Policy, folder: TuneFolder) -> Trained:
    """Train on the rows of a job by `sft`, `dpo` or `dspo`, as `train_offline` does."""
    settings = job.settings
    data = encoded_rows(job.data, job.method, policy.tokenizer)
    steps = settings.total_steps(len(data.rows))
    paired = isinstance(settings, PairSettings) and policy.adapter is None
    reference = deepcopy(policy.model).eval() if paired else None
    objective, model = OfflineObjective(policy, settings, reference), _with_adapter(policy)

    def measured() -> dict[str, Estimate]:
        if job.held_out is None:
            return {}
        return objective.measure(model, encoded_rows(job.held_out, job.method, policy.tokenizer))

    before = measured()
    train_plain(model, _batches_of(data.rows, settings), objective, settings, folder, steps)
    return Trained(model=model, counts={**data.counts, "steps": steps}, before=before, after=measured())


def _batches_of(rows: Sequence[Sides], settings: TrainSettings) -> Callable[[int], list[Sequence[Sides]]]:
    """Return a function from a step, counted from 0, to its batches: each epoch in an order of its own."""
    size = settings.batch_size * settings.accumulation
    per_epoch = -(-len(rows) // size)

    def of_step(step: int) -> list[Sequence[Sides]]:
        epoch, place = divmod(step, per_epoch)
        order = random.Random(f"{settings.seed} {epoch}").sample(range(len(rows)), len(rows))
        chosen = [rows[i] for i in order[place * size : (place + 1) * size]]
        return [chosen[i : i + settings.batch_size] for i in range(0, len(chosen), settings.batch_size)]

    return of_step


# On played sessions


@dataclass(frozen=True, slots=True)
class SessionTokens:
    """Log probabilities of the tokens of sessions, each (sessions, tokens)."""

    policy: Tensor
    """With a gradient."""
    sampled: Tensor
    """Of the policy that sampled the sessions; equal to `policy` at the first update."""
    reference: Tensor | None
    """Of the policy before training; None without a penalty."""
    mask: Tensor
    """1 at the character's tokens."""


@dataclass(frozen=True, slots=True)
class GroupLoss:
    """The loss of a batch of sessions, and what it is made of."""

    loss: Tensor
    kl: Tensor
    """Mean over sessions of the mean k3 estimate of a token, in nats."""
    clipped: Tensor
    """Share of tokens at which the clip holds the update back; mean over sessions."""


def gsrpo_loss(
    tokens: SessionTokens,
    advantages: Advantages,
    *,
    clip: float = 0.2,
    beta: float = 0.02,
    kl_unbiased: bool = False,
) -> GroupLoss:
    """Return the loss of sessions: the mean over sessions of the mean over character tokens.

    Source: DynSess, equation 7.

    Args:
        tokens: Of the sessions.
        advantages: One for each session. Sessions that are left out count in no mean.
        clip: How far a ratio may leave 1.
        beta: Weight of the divergence from the reference.
        kl_unbiased: Weight the divergence of a token by its ratio, as `use_bias_correction_kl` of TRL does.
    """
    import torch

    policy, kept = tokens.policy, advantages.kept.to(tokens.policy.dtype).unsqueeze(1)
    weights = tokens.mask.to(policy.dtype) * kept
    weights = weights / weights.sum(1, keepdim=True).clamp(min=1) / kept.sum().clamp(min=1)
    ratio, a = (policy - tokens.sampled).exp(), advantages.values.to(policy.dtype).unsqueeze(1)
    free, held_back = ratio * a, ratio.clamp(1 - clip, 1 + clip) * a
    kl = torch.zeros_like(policy)
    if tokens.reference is not None:
        apart = tokens.reference - policy
        kl = apart.exp() - apart - 1
    penalty = beta * (ratio * kl if kl_unbiased else kl)
    loss = ((penalty - torch.minimum(free, held_back)) * weights).sum()
    return GroupLoss(loss, (kl * weights).sum().detach(), ((held_back < free) * weights).sum().detach())


@dataclass(frozen=True, slots=True)
class _SessionPart:
    """Sessions that are on the device at once."""

    tokens: Padded
    sampled: Tensor
    """Log probabilities when they were sampled."""
    reference: Tensor | None
    advantages: Advantages
    weight: float
    """By which the loss counts: sessions that are kept, by those of an average part."""
    figures: Mapping[str, float]


def _session_tokens(rollout: Rollout, policy: Policy) -> MaskedTokens:
    """Return the tokens of a session; of one that failed before anything was sampled a single one."""
    tokens = rollout.tokens
    if not tokens.completion:
        end = policy.tokenizer.end_of_turn
        return MaskedTokens([end, end], [0, 0], 1)
    mask = [0] * len(tokens.prompt) + tokens.mask
    return MaskedTokens([*tokens.prompt, *tokens.completion], mask, len(tokens.prompt), tokens.dropped)


class PlainOnlineTrainer(OnlineTrainer):
    """Plays and scores as `OnlineTrainer` does, and trains without TRL."""

    def train(self, rounds: SessionRounds) -> bool:
        """Train to the last step."""
        import torch

        s, policy = rounds.settings, rounds.policy
        model = rounds.model = _with_adapter(policy)
        reference = model if policy.adapter is not None else deepcopy(policy.model).eval()
        parts = list[_SessionPart]()

        def log_probs(of: Any, tokens: Padded) -> Tensor:  # noqa: ANN401
            with torch.autocast(policy.device, torch.bfloat16, enabled=policy.bf16):
                logits = of(input_ids=tokens.ids, attention_mask=tokens.attention, use_cache=False).logits
            return token_log_probs(logits / s.temperature, tokens.ids)

        def before(tokens: Padded) -> Tensor | None:
            if not s.beta:
                return None
            with model.disable_adapter() if policy.adapter is not None else nullcontext():
                return log_probs(reference, tokens)

        def played(update: int) -> list[_SessionPart]:
            step = update // s.iterations
            if parts and update % s.iterations:
                return parts
            numbers = rounds.numbers[step * s.sessions : (step + 1) * s.sessions]
            rollouts, advantages, figures = rounds.play(model, numbers, step)
            average = max(float(advantages.kept.sum()) / (s.sessions / s.batch_size), 1e-9)
            parts.clear()
            for start in range(0, s.sessions, s.batch_size):
                chosen = slice(start, start + s.batch_size)
                own = replace(advantages, values=advantages.values[chosen], kept=advantages.kept[chosen])
                tokens = padded([_session_tokens(r, policy) for r in rollouts[chosen]], policy)
                with torch.no_grad():
                    sampled, of_reference = log_probs(model, tokens), before(tokens)
                weight = float(own.kept.sum()) / average
                parts.append(_SessionPart(tokens, sampled, of_reference, own, weight, figures))
            return parts

        def objective(model: Any, part: _SessionPart) -> tuple[Tensor, Mapping[str, float]]:  # noqa: ANN401
            logs = log_probs(model, part.tokens)
            tokens = SessionTokens(logs, part.sampled, part.reference, part.tokens.mask[:, 1:])
            made = gsrpo_loss(tokens, part.advantages, clip=s.clip, beta=s.beta, kl_unbiased=s.kl_unbiased)
            figures = {"kl": made.kl.item(), "clip_share": made.clipped.item(), **part.figures}
            return made.loss * part.weight, figures

        train_plain(model, played, objective, s, rounds.folder, rounds.steps * s.iterations)
        return True
