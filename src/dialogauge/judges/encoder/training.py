"""Fine-tuning on the training users; the epoch is chosen by users held out. Imports torch."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from dialogauge.core import whole_score
from dialogauge.core.errors import UsageError
from dialogauge.core.protocols import Population, RatedBlock
from dialogauge.judges.encoder.text import (
    EncoderSettings,
    EncoderText,
    decoded_score,
    encoder_text,
    fitted_tokens,
)
from dialogauge.llm import chosen_device

_SCORES: Final = 5
_PATIENCE: Final = 10.0
"""Seconds that the model hub has to answer."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of one target."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    """0 for what is about the user, 1 for dialogue and reply."""


@dataclass(frozen=True, slots=True)
class Network:
    """Encoder, head and tokenizer; torch modules have no useful types here."""

    settings: EncoderSettings
    tokenizer: Any
    encoder: Any
    dropout: Any
    head: Any
    device: str

    @property
    def modules(self) -> tuple[Any, ...]:
        """All that has weights or a mode."""
        return self.encoder, self.dropout, self.head

    def train(self, *, on: bool) -> None:
        """Turn dropout on or off."""
        for module in self.modules:
            module.train(on)

    def encode(self, text: EncoderText) -> Encoded:
        """Return the tokens of a target, cut to what the encoder takes."""
        about, dialogue, reply = (
            self._tokens(part) for part in (text.about, f"{text.dialogue}\n", text.reply)
        )
        start, end = _edges(self.tokenizer)
        first, second = fitted_tokens(about, dialogue, reply, self._room() - len(start) - 2 * len(end))
        first, second = [*start, *first, *end], [*second, *end]
        return Encoded((*first, *second), (*(0 for _ in first), *(1 for _ in second)))

    def _tokens(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _room(self) -> int:
        positions = getattr(self.encoder.config, "max_position_embeddings", None)
        return min(self.settings.max_tokens, int(positions or self.settings.max_tokens))

    def logits(self, batch: Sequence[Encoded]) -> Any:  # noqa: ANN401 (a torch tensor)
        """Return the head's output, shape (batch, 5) or (batch, 4) where ordinal."""
        width = max(len(e.ids) for e in batch)
        pad = self.tokenizer.pad_token_id or 0
        inputs = {
            "input_ids": _padded([e.ids for e in batch], width, pad),
            "attention_mask": _padded([(1,) * len(e.ids) for e in batch], width, 0),
        }
        if "token_type_ids" in self.tokenizer.model_input_names:
            inputs["token_type_ids"] = _padded([e.types for e in batch], width, 0)
        moved = {name: tensor.to(self.device) for name, tensor in inputs.items()}
        first = self.encoder(**moved).last_hidden_state[:, 0]
        return self.head(self.dropout(first))

    def loss(self, logits: Any, scores: Sequence[int]) -> Any:  # noqa: ANN401 (torch tensors)
        """Return the mean loss against whole scores 1 to 5."""
        gold = torch.tensor(scores, device=self.device)
        if not self.settings.ordinal:
            return torch.nn.functional.cross_entropy(logits, gold - 1)
        steps = gold.unsqueeze(1) > torch.arange(1, _SCORES, device=self.device)
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, steps.to(logits.dtype))

    def probabilities(self, encoded: Sequence[Encoded]) -> list[tuple[float, ...]]:
        """Return for each target the probability of each class, or of each step where ordinal."""
        self.train(on=False)
        size = self.settings.eval_batch_size
        out: list[tuple[float, ...]] = []
        with torch.inference_mode():
            for start in range(0, len(encoded), size):
                logits = self.logits(encoded[start : start + size]).float()
                batch = logits.sigmoid() if self.settings.ordinal else logits.softmax(dim=1)
                out += map(tuple, batch.tolist())
        return out


def load_network(settings: EncoderSettings, device: str = "auto") -> Network:
    """Load the encoder and put a fresh head on it; UsageError when it, or the device, cannot be had.

    What is on this machine comes first. A model that is not is downloaded, if the model hub answers.
    """
    logging.disable_progress_bar()
    tokenizer, config, encoder = _loaded(settings)
    device = chosen_device(device, torch)
    try:
        last, known = max(tokenizer.get_vocab().values()), encoder.get_input_embeddings().num_embeddings
        head = torch.nn.Linear(config.hidden_size, _SCORES - 1 if settings.ordinal else _SCORES)
        dropout = torch.nn.Dropout(settings.dropout)
        network = Network(settings, tokenizer, encoder.to(device), dropout, head.to(device), device)
        network.probabilities([network.encode(EncoderText("a", "b", "c"))])
    except Exception as error:  # noqa: BLE001 - foreign code on a foreign folder: it may raise anything
        raise _unloadable(settings, f"it does not work: {error}") from None
    if last >= known:
        raise _unloadable(settings, f"its tokenizer has tokens up to {last}, and it knows {known}")
    return network


def _loaded(settings: EncoderSettings) -> tuple[Any, Any, Any]:
    try:
        return _pretrained(settings, local=True)
    except Exception as error:  # noqa: BLE001 - foreign code on a foreign folder: it may raise anything
        if Path(settings.model).is_dir():
            raise _unloadable(settings, str(error)) from None
    _ask_hub(settings)
    try:
        return _pretrained(settings, local=False)
    except Exception as error:  # noqa: BLE001 - likewise
        raise _unloadable(settings, str(error)) from None


def _ask_hub(settings: EncoderSettings) -> None:
    """Raise UsageError unless the hub answers: a download would try again and again for a minute."""
    try:
        HfApi().model_info(settings.model, timeout=_PATIENCE)
    except HfHubHTTPError:
        return  # it answers; what is wrong the download says
    except (OSError, ValueError, *HfHubHTTPError.__bases__) as error:  # the last: of its HTTP library
        why = f"it is not on this machine, and cannot be downloaded: {error}"
        raise _unloadable(settings, why) from None


def _unloadable(settings: EncoderSettings, why: str) -> UsageError:
    first = next(iter(why.splitlines()), "nobody knows why")
    msg = f"the encoder {settings.model!r} cannot be loaded: {first}"
    return UsageError(msg, hint="give a folder with config, weights and tokenizer with --encoder")


def _pretrained(settings: EncoderSettings, *, local: bool) -> tuple[Any, Any, Any]:
    """Load tokenizer, configuration and weights; with `local` without asking the network."""
    tokenizer = AutoTokenizer.from_pretrained(settings.model, local_files_only=local)
    config = AutoConfig.from_pretrained(settings.model, local_files_only=local)
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        if hasattr(config, name):
            setattr(config, name, settings.dropout)
    encoder = AutoModel.from_pretrained(settings.model, config=config, local_files_only=local)
    return tokenizer, config, encoder


def _edges(tokenizer: Any) -> tuple[list[int], list[int]]:  # noqa: ANN401 (a tokenizer has no useful type)
    """Return what stands before the first part and after each."""
    start = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    end = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    return [start] if start is not None else [], [end] if end is not None else []


def _padded(rows: Sequence[Sequence[int]], width: int, pad: int) -> Any:  # noqa: ANN401 (a torch tensor)
    return torch.tensor([[*row, *(pad for _ in range(width - len(row)))] for row in rows])


_NO_DECAY = ("bias", "norm.weight")


@dataclass(frozen=True, slots=True)
class EncoderFit:
    """A fine-tuned network, and how it came about."""

    network: Network
    record: Mapping[str, Any]
    """Users, examples, the validation error of each epoch and which was chosen: plain JSON values."""


@dataclass(frozen=True, slots=True)
class _Example:
    encoded: Encoded
    score: float
    """By the user; the network learns the whole score."""


def fit_encoder(population: Population, settings: EncoderSettings, device: str = "auto") -> EncoderFit:
    """Fine-tune an encoder; the same population and settings give the same network on the same machine.

    The users, in the order of a seeded shuffle, are cut into those that are learnt from and those whose
    mean absolute error chooses the epoch. With a single user the last epoch is taken.

    Raises:
        UsageError: The encoder cannot be loaded.
    """
    cuda = [torch.cuda.current_device()] if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=cuda):
        torch.manual_seed(settings.seed)
        network = load_network(settings, device)
        learnt, held_out = _split(population, settings)
        train, validation = _examples(network, learnt), _examples(network, held_out)
        errors, chosen = _train(network, train, validation)
    record = {
        "users": len({b.view.user for b in learnt}),
        "validation_users": len({b.view.user for b in held_out}),
        "examples": len(train),
        "validation_examples": len(validation),
        "validation_mae": errors,
        "epoch": chosen,
        "device": network.device,
    }
    return EncoderFit(network, record)


def _split(population: Population, settings: EncoderSettings) -> tuple[list[RatedBlock], list[RatedBlock]]:
    users = sorted({block.view.user for block in population.blocks})
    random.Random(settings.seed).shuffle(users)
    size = max(1, round(len(users) * settings.validation)) if len(users) > 1 else 0
    apart = frozenset(users[len(users) - size :])
    blocks = population.blocks
    return [b for b in blocks if b.view.user not in apart], [b for b in blocks if b.view.user in apart]


def _examples(network: Network, blocks: Sequence[RatedBlock]) -> list[_Example]:
    messages = network.settings.messages
    return [
        _Example(network.encode(encoder_text(block.view, rated.reply, messages=messages)), rated.score)
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
        network.train(on=True)
        size = network.settings.batch_size
        for start in range(0, len(shuffled), size):
            batch = shuffled[start : start + size]
            logits = network.logits([e.encoded for e in batch])
            loss = network.loss(logits, [whole_score(e.score) for e in batch])
            optimizer.zero_grad()
            loss.backward()
            weights = [p for module in network.modules for p in module.parameters()]
            torch.nn.utils.clip_grad_norm_(weights, network.settings.clip)
            optimizer.step()
            schedule.step()
        error = _error(network, validation)
        errors.append(error)
        # Without users held out there is nothing to choose by, and the last epoch stands.
        if best is None or error is None or error < best[0]:
            best = (math.inf if error is None else error, epoch, _weights(network))
    if best is None:
        return errors, 0
    for module, state in zip(network.modules, best[2], strict=True):
        module.load_state_dict(state)
    return errors, best[1]


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
    rows = network.probabilities([e.encoded for e in examples])
    if not all(math.isfinite(p) for row in rows for p in row):
        return math.inf
    pairs = zip(rows, examples, strict=True)
    return sum(abs(decoded_score(row, network.settings).own - e.score) for row, e in pairs) / len(examples)


def _weights(network: Network) -> list[Any]:
    return [
        {key: value.detach().clone() for key, value in module.state_dict().items()}
        for module in network.modules
    ]
