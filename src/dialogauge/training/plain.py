"""A loop of training in plain torch, without TRL: the oracle that TRL is compared with.

AdamW without weight decay, gradients cut to a norm of 1, a learning rate that rises and then falls in
straight lines: what TRL does. A checkpoint is safetensors and JSON alone.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from dialogauge.core import UsageError
from dialogauge.core.files import shown_path
from dialogauge.runs.directory import write_whole
from dialogauge.training.losses import Tensor
from dialogauge.training.masks import MaskedTokens
from dialogauge.training.policy import Policy
from dialogauge.training.train_settings import TrainSettings
from dialogauge.training.tuning import TuneFolder

T = TypeVar("T")
B = TypeVar("B")

KEPT = 2
"""Checkpoints that are kept."""
_STATE = "state.safetensors"


@dataclass(frozen=True, slots=True)
class Padded:
    """Dialogues side by side, each (sequences, tokens)."""

    ids: Tensor
    attention: Tensor
    mask: Tensor
    """1 where a token is trained on."""


def padded(encoded: Sequence[MaskedTokens], policy: Policy) -> Padded:
    """Put dialogues side by side on the device, filled up at the right."""
    import torch

    width = max(len(e.ids) for e in encoded)

    def filled(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
        return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], device=policy.device)

    return Padded(
        filled([e.ids for e in encoded], policy.pad),
        filled([[1] * len(e.ids) for e in encoded], 0),
        filled([e.mask for e in encoded], 0),
    )


def batches_of(rows: Sequence[T], settings: TrainSettings) -> Callable[[int], list[Sequence[T]]]:
    """Return a function from a step, counted from 0, to its batches: each epoch in an order of its own."""
    size = settings.batch_size * settings.accumulation
    per_epoch = -(-len(rows) // size)

    def of_step(step: int) -> list[Sequence[T]]:
        epoch, place = divmod(step, per_epoch)
        order = random.Random(f"{settings.seed} {epoch}").sample(range(len(rows)), len(rows))
        chosen = [rows[i] for i in order[place * size : (place + 1) * size]]
        return [chosen[i : i + settings.batch_size] for i in range(0, len(chosen), settings.batch_size)]

    return of_step


def train_plain(
    model: Any,  # noqa: ANN401 - a torch module
    batches: Callable[[int], Sequence[B]],
    objective: Callable[[Any, B], tuple[Tensor, Mapping[str, float]]],
    settings: TrainSettings,
    folder: TuneFolder,
    *,
    at_save: Callable[[int], object] = lambda step: None,
) -> bool:
    """Train a model, and say whether it came to the last step; a Ctrl-C leaves a checkpoint.

    Args:
        model: Whose parameters are trained, those that want a gradient.
        batches: From a step, counted from 0, to the batches of which the mean loss makes it.
        objective: From the model and a batch to its loss and its figures; the loss has the gradient.
        settings: Learning rate, warm-up, lines and checkpoints; and the number of steps.
        folder: Where checkpoints and log are kept; it continues from the last of them.
        at_save: Is told the number of steps done after each checkpoint.

    Raises UsageError where a loss is no number.
    """
    import torch

    weights = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.0)
    steps = settings.total_steps(0)
    rising = round(settings.warmup * steps)
    torch.manual_seed(settings.seed)
    done = _resumed(model, optimiser, folder)
    sums: dict[str, list[float]] = {}
    model.train()
    for step in range(done, steps):
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
        stopping = folder.stops_after(step + 1)
        last = step + 1 == steps or stopping
        if last or (step + 1) % settings.log_every == 0:
            means = {name: sum(values) / len(values) for name, values in sums.items()}
            folder.log(step + 1, {**means, "learning_rate": rate})
            sums.clear()
        if last or (step + 1) % settings.save_every == 0:
            save_checkpoint(model, optimiser, folder, step + 1)
            at_save(step + 1)
        if stopping and step + 1 < steps:
            return False
    return True


def save_checkpoint(model: Any, optimiser: Any, folder: TuneFolder, step: int) -> None:  # noqa: ANN401
    """Write weights, the state of the optimiser and of chance, and last the step; older ones go."""
    import torch
    from safetensors.torch import save_file

    target = folder.checkpoints / f"checkpoint-{step}"
    target.mkdir(parents=True, exist_ok=True)
    state = {"chance": torch.get_rng_state()}
    for i, weights in enumerate(optimiser.param_groups[0]["params"]):
        own = {"weights": weights.detach(), **optimiser.state[weights]}
        state |= {f"{name}.{i}": value for name, value in own.items()}
    save_file({name: tensor.contiguous().cpu() for name, tensor in state.items()}, target / _STATE)
    write_whole(target / "trainer_state.json", [orjson.dumps({"global_step": step})])
    for old in list(folder.whole_checkpoints().values())[:-KEPT]:
        shutil.rmtree(old)


def _resumed(model: Any, optimiser: Any, folder: TuneFolder) -> int:  # noqa: ANN401
    """Take weights and states of the last checkpoint, and return its step; 0 where there is none."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    step, checkpoint = folder.go_on()
    if checkpoint is None:
        return step
    try:
        state = load_file(checkpoint / _STATE)
        torch.set_rng_state(state["chance"])
        with torch.no_grad():
            for i, weights in enumerate(optimiser.param_groups[0]["params"]):
                weights.copy_(state[f"weights.{i}"])
                moments = {
                    name: state[f"{name}.{i}"].to(weights.device) for name in ("exp_avg", "exp_avg_sq")
                }
                optimiser.state[weights] = {"step": state[f"step.{i}"], **moments}
    except (OSError, KeyError, RuntimeError, SafetensorError) as error:
        msg = f"the checkpoint {shown_path(checkpoint)} cannot be read: {error}"
        raise UsageError(msg, hint="delete it; the one before it is taken then") from None
    return step
