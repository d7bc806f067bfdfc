"""Fine-tuning on the training users; the epoch is chosen by users held out. Imports torch."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dialogauge.calibrate import half_up
from dialogauge.judge.encoder.decode import said
from dialogauge.judge.encoder.network import Encoded, Network, load_network
from dialogauge.judge.encoder.settings import EncoderSettings
from dialogauge.judge.encoder.text import encoder_text
from dialogauge.judge.personal import Population, RatedBlock

__all__ = ["Fit", "fit_encoder"]

_NO_DECAY = ("bias", "norm.weight")


@dataclass(frozen=True, slots=True)
class Fit:
    """A fine-tuned network, and how it came about."""

    network: Network
    record: Mapping[str, Any]
    """Users, examples, the validation error of each epoch and which was chosen: plain JSON values."""


@dataclass(frozen=True, slots=True)
class _Example:
    encoded: Encoded
    score: float
    """What the user gave; learnt is the whole score."""


def fit_encoder(population: Population, settings: EncoderSettings) -> Fit:
    """Fine-tune an encoder; the same population and settings give the same network on the same machine.

    The users, in the order of a seeded shuffle, are cut into those that are learnt from and those whose
    mean absolute error chooses the epoch. With a single user the last epoch is taken.

    Raises:
        UsageError: The encoder cannot be loaded.
    """
    cuda = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=cuda):
        torch.manual_seed(settings.seed)
        network = load_network(settings)
        learnt, held_out = _split(population, settings)
        train, validation = _examples(network, learnt), _examples(network, held_out)
        errors, chosen = _train(network, train, validation)
    return Fit(
        network,
        {
            "users": len({b.view.user for b in learnt}),
            "validation_users": len({b.view.user for b in held_out}),
            "examples": len(train),
            "validation_examples": len(validation),
            "validation_mae": errors,
            "epoch": chosen,
            "device": network.device,
        },
    )


def _split(population: Population, settings: EncoderSettings) -> tuple[list[RatedBlock], list[RatedBlock]]:
    users = sorted({block.view.user for block in population.blocks})
    random.Random(settings.seed).shuffle(users)
    held = max(1, round(len(users) * settings.validation)) if len(users) > 1 else 0
    apart = frozenset(users[len(users) - held :])
    blocks = population.blocks
    return [b for b in blocks if b.view.user not in apart], [b for b in blocks if b.view.user in apart]


def _examples(network: Network, blocks: Sequence[RatedBlock]) -> list[_Example]:
    return [
        _Example(
            network.encode(encoder_text(block.view, rated.reply, messages=network.settings.messages)),
            rated.score,
        )
        for block in blocks
        for rated in block.ratings
    ]


def _train(
    network: Network, train: Sequence[_Example], validation: Sequence[_Example]
) -> tuple[list[float | None], int]:
    """Train, and leave the network with the weights of the best epoch; return the errors and its number."""
    settings = network.settings
    optimizer, schedule = _optimizer(network, math.ceil(len(train) / settings.batch_size) * settings.epochs)
    order = random.Random(settings.seed)
    errors: list[float | None] = []
    best: tuple[float, int, list[Any]] | None = None
    for epoch in range(1, settings.epochs + 1):
        shuffled = order.sample(train, len(train))
        _epoch(network, shuffled, optimizer, schedule)
        error = _error(network, validation)
        errors.append(error)
        # Without users held out there is nothing to choose by, and the last epoch stands.
        if best is None or error is None or error < best[0]:
            best = (math.inf if error is None else error, epoch, _weights(network))
    if best is not None:
        for module, state in zip(network.modules, best[2], strict=True):
            module.load_state_dict(state)
    return errors, best[1] if best else 0


def _epoch(
    network: Network,
    examples: Sequence[_Example],
    optimizer: Any,  # noqa: ANN401 (torch has no types here)
    schedule: Any,  # noqa: ANN401
) -> None:
    network.train(on=True)
    size = network.settings.batch_size
    for start in range(0, len(examples), size):
        batch = examples[start : start + size]
        logits = network.logits([e.encoded for e in batch])
        loss = network.loss(logits, [half_up(e.score) for e in batch])
        optimizer.zero_grad()
        loss.backward()
        weights = [p for module in network.modules for p in module.parameters()]
        torch.nn.utils.clip_grad_norm_(weights, network.settings.clip)
        optimizer.step()
        schedule.step()


def _optimizer(network: Network, steps: int) -> tuple[Any, Any]:
    settings = network.settings
    named = [(name.lower(), p) for module in network.modules for name, p in module.named_parameters()]
    plain = [p for name, p in named if name.endswith(_NO_DECAY)]
    decayed = [p for name, p in named if not name.endswith(_NO_DECAY)]
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": plain, "weight_decay": 0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate)
    warm = math.ceil(steps * settings.warmup)

    def rate(step: int) -> float:
        return step / max(1, warm) if step < warm else max(0.0, (steps - step) / max(1, steps - warm))

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, rate)


def _error(network: Network, examples: Sequence[_Example]) -> float | None:
    if not examples:
        return None
    found = network.probabilities([e.encoded for e in examples])
    if not all(math.isfinite(p) for probabilities in found for p in probabilities):
        return math.inf
    errors = [abs(said(p, network.settings).score - e.score) for p, e in zip(found, examples, strict=True)]
    return sum(errors) / len(errors)


def _weights(network: Network) -> list[Any]:
    return [
        {key: value.detach().clone() for key, value in module.state_dict().items()}
        for module in network.modules
    ]
