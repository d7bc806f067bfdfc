"""Training on rows: SFT on dialogues, DPO on replies and DSPO on segments (DynSess, equation 5).

DPO and DSPO differ in their rows alone. Both are TRL's `DPOTrainer` with our tokens and our mask: its own
makes of everything behind the prompt what is trained on, the user's words included.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from dialogauge.core import DialogueTooLong, UsageError
from dialogauge.core.files import shown_path
from dialogauge.stats import LEVEL, Basis, Estimate, Gain, divided, mean_estimate
from dialogauge.training.losses import Tensor, dspo_loss, sft_loss, token_divergence, token_log_probs
from dialogauge.training.masks import DialogueTokenizer, MaskedTokens
from dialogauge.training.policy import Policy
from dialogauge.training.row_files import FileRow, read_pair_file
from dialogauge.training.train_settings import PairSettings, TrainSettings
from dialogauge.training.trl_backend import quietly, train_with_trl, trl_arguments, trl_silenced
from dialogauge.training.tuning import SHARED_PERSONAS, UNCHECKED_ROWS, Trained, TuneFolder, TuneJob

Sides = tuple[MaskedTokens, ...]
"""A dialogue, or the two sides of a pair, the winner first."""
_LOGITS: Final = 1 << 28
"""Logits of a batch that is measured, at most."""
_NO_WINNER: Final = "left out: no winner"
_METHODS: Final[Mapping[str, str]] = {"sft": "sft", "dpo": "dpo", "segment": "dspo"}
"""By kind of rows: the method that takes them."""


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows in tokens, and what was left out."""

    rows: list[Sides]
    personas: list[str | None]
    """Of each row; None where it names none."""
    counts: dict[str, int]
    """Rows, their tokens, and what was left out by its reason; what there is none of is not named."""


def encoded_rows(path: Path, method: str, tokenizer: DialogueTokenizer) -> EncodedRows:
    """Read the rows of a file for a method, and return them in tokens.

    Those that do not fit, and pairs without a winner, are left out and counted.

    Raises:
        UsageError: No row is left, the rows are for another method, or the template would make a wrong mask.
        InputError: The file is no file of rows.
    """
    rows, personas, last = list[Sides](), list[str | None](), ""
    counts = Counter({"rows": 0, "character tokens": 0})
    for row in read_pair_file(path):
        try:
            sides = _sides(row, method, tokenizer)
        except DialogueTooLong as error:
            last = str(error)
            counts["left out: does not fit"] += 1
            continue
        if sides is None:
            counts[_NO_WINNER] += 1
            continue
        if len({tuple(e.ids[: e.prefix]) for e in sides}) != 1:
            msg = f"{row.place}: the two sides do not share what stands before them"
            raise UsageError(msg, hint="give the model a template that only appends")
        rows.append(sides)
        personas.append(row.data.get("persona_id"))
        counts["rows"] += 1
        counts["character tokens"] += sum(sum(e.mask) for e in sides)
        counts["turns dropped"] += sides[0].dropped
        counts[UNCHECKED_ROWS] += row.unchecked
    if not rows:
        why = last or f"none of {counts[_NO_WINNER]:,} pairs has a winner"
        msg = f"{shown_path(path)}: no row is left to train on: {why}"
        raise UsageError(msg, hint="shorten personas, raise --max-length, or give pairs that differ")
    return EncodedRows(rows, personas, {what: n for what, n in counts.items() if n})


def _sides(row: FileRow, method: str, tokenizer: DialogueTokenizer) -> Sides | None:
    """Return a row in tokens; None for a pair whose scores name no winner."""
    data, fit = row.data, _METHODS.get(row.kind)
    if method != fit:
        msg = f"{row.place}: rows of the kind {row.kind}, and tune {method} takes others"
        other = f"`dialogauge tune {fit}` takes them"
        raise UsageError(msg, hint=other if fit else "write others with `dialogauge pairs --kind ...`")
    if row.kind == "sft":
        return (tokenizer.encode(data["messages"], tools=row.tools),)
    chosen, rejected = data.get("score_chosen"), data.get("score_rejected")
    if chosen is not None and rejected is not None and chosen <= rejected:
        return None
    return tokenizer.pair(data["prompt"], data["chosen"], data["rejected"], tools=row.tools)


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


@dataclass(frozen=True, slots=True)
class OfflineObjective:
    """The loss of rows by our own functions: what is measured, and what TRL's is compared with."""

    policy: Policy
    settings: TrainSettings
    reference: Any = None
    """The model before training; None for SFT, and where an adapter is switched off instead."""

    def __call__(self, model: Any, batch: Sequence[Sides]) -> tuple[Tensor, dict[str, float]]:  # noqa: ANN401
        """Return the loss of rows, with its gradient, and their figures."""
        return self._loss(*self._tensors(model, batch))

    def _tensors(self, model: Any, batch: Sequence[Sides]) -> tuple[Tensor, ...]:  # noqa: ANN401
        """Return what losses are made of, each (sequences, tokens but the first).

        The mask and the log probabilities; of pairs also those before training, and the divergence from then.
        All winners come first, and then their losers.
        """
        import torch

        tokens = padded([side for sides in zip(*batch, strict=True) for side in sides], self.policy)

        def logits(of: Any) -> Tensor:  # noqa: ANN401
            with torch.autocast(self.policy.device, torch.bfloat16, enabled=self.policy.bf16):
                return of(input_ids=tokens.ids, attention_mask=tokens.attention, use_cache=False).logits

        now = logits(model)
        made = (tokens.mask[:, 1:], token_log_probs(now, tokens.ids))
        if not isinstance(self.settings, PairSettings):
            return made
        with torch.no_grad(), model.disable_adapter() if self.reference is None else nullcontext():
            before = logits(self.reference or model)
        return (*made, token_log_probs(before, tokens.ids), token_divergence(now.detach(), before))

    def _loss(self, mask: Tensor, log_probs: Tensor, *before: Tensor) -> tuple[Tensor, dict[str, float]]:
        settings, figures = self.settings, {"length": mask.sum() / len(mask)}
        if isinstance(settings, PairSettings):
            reference, divergence = before
            pairs = dspo_loss(
                log_probs,
                reference,
                mask,
                beta=settings.beta,
                length_norm=settings.length_norm,
                sft_alpha=settings.sft_alpha,
            )
            loss, margin = pairs.loss, pairs.chosen - pairs.rejected
            figures |= {
                "reward_chosen": pairs.chosen.mean(),
                "reward_rejected": pairs.rejected.mean(),
                "margin": margin.mean(),
                "accuracy": (margin.sign().mean() + 1) / 2,  # a tie counts half
                "kl": (divergence * mask).sum() / mask.sum(),
            }
        else:
            loss = sft_loss(log_probs, mask)
        return loss, {name: value.item() for name, value in figures.items()}

    def measure(self, model: Any, data: EncodedRows) -> dict[str, Estimate]:  # noqa: ANN401
        """Return the mean figures of rows, clustered by persona.

        A batch is so small that its logits stay below 1 GiB.
        """
        import torch

        training, values, rows = model.training, dict[str, list[float]](), data.rows
        model.eval()
        longest = max(len(side.ids) for sides in rows for side in sides) * len(rows[0])
        room = _LOGITS // (longest * model.get_input_embeddings().num_embeddings)
        size = min(max(room, 1), self.settings.batch_size)
        with torch.no_grad():
            for start in range(0, len(rows), size):
                part = rows[start : start + size]
                tensors = self._tensors(model, part)
                for i in range(len(part)):
                    loss, figures = self._loss(*(of[i :: len(part)] for of in tensors))
                    for name, value in {"loss": loss.item(), **figures}.items():
                        values.setdefault(name, []).append(value)
        model.train(training)
        return {name: _mean(name, of, data.personas) for name, of in values.items()}


def _mean(name: str, values: Sequence[float], personas: Sequence[str | None]) -> Estimate:
    """Return the mean of a figure over rows; a row that names no persona is a cluster of its own."""
    clusters = [persona or i for i, persona in enumerate(personas)]
    unit = "personas" if any(personas) else "rows"
    if name == "accuracy":
        return mean_estimate(values, clusters, unit=unit)
    mean, groups = float(np.mean(values)), Counter(clusters)
    if np.ptp(values) == 0:  # nothing varies, and the figure has no range that would bound it
        return Estimate(mean, None, None, LEVEL, len(values), len(groups), "none", "all rows are alike")
    sums = dict.fromkeys(groups, 0.0)
    for cluster, value in zip(clusters, values, strict=True):
        sums[cluster] += value
    sizes, totals = (np.array([*of.values()], dtype=float) for of in (groups, sums))
    moved = divided(totals.sum() - totals, len(values) - sizes)
    return Basis.of(sizes, unit).difference(Gain(mean, moved, math.inf))[0]


def train_offline(job: TuneJob, policy: Policy, folder: TuneFolder) -> Trained:
    """Train on the rows of a job by `sft`, `dpo` or `dspo`.

    Raises UsageError and InputError for rows that cannot be trained on.
    """
    settings, paired = job.settings, isinstance(job.settings, PairSettings)
    data = encoded_rows(job.data, job.method, policy.tokenizer)
    held_out = job.held_out and encoded_rows(job.held_out, job.method, policy.tokenizer)
    steps = settings.total_steps(len(data.rows))
    counts = {**data.counts, "steps": steps}
    if held_out:
        counts["held-out rows"] = len(held_out.rows)
        if shared := sum(p in data.personas for p in held_out.personas if p is not None):
            counts[SHARED_PERSONAS] = shared
    folder.say(", ".join(f"{n:,} {what}" for what, n in counts.items()))
    with trl_silenced():
        reference = deepcopy(policy.model).eval() if paired and policy.adapter is None else None
        objective = OfflineObjective(policy, settings, reference)
        trainer = (pair_trainer if paired else sft_trainer)(objective, folder, data.rows, steps)
        after: dict[str, Estimate] = {}

        def measure() -> dict[str, Estimate]:
            return objective.measure(trainer.model, held_out) if held_out else {}

        def at_save(step: int) -> None:
            nonlocal after
            if after := measure():
                folder.log(step, {name: of.value for name, of in after.items()}, held_out=True)

        before = measure()
        finished = train_with_trl(trainer, folder, at_save)
        after = after or measure()
    if not finished:
        counts["steps"] = folder.last_checkpoint()[0]
    return Trained(model=trainer.model, counts=counts, before=before, after=after, finished=finished)


def sft_trainer(objective: OfflineObjective, folder: TuneFolder, rows: Sequence[Sides], steps: int) -> Any:  # noqa: ANN401 - of TRL
    """Return TRL's trainer of SFT on our tokens and labels."""
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    dataset = Dataset.from_dict(
        {"input_ids": [row[0].ids for row in rows], "labels": [row[0].labels for row in rows]}
    )
    policy = objective.policy
    more = {"max_length": None, "dataset_kwargs": {"skip_prepare_dataset": True}}
    return quietly(SFTTrainer)(
        model=policy.model,
        args=SFTConfig(**trl_arguments(policy, objective.settings, folder, steps, **more)),
        train_dataset=dataset,
        processing_class=policy.tokenizer.tokenizer,
        peft_config=policy.adapter,
    )


def pair_trainer(objective: OfflineObjective, folder: TuneFolder, rows: Sequence[Sides], steps: int) -> Any:  # noqa: ANN401
    """Return TRL's trainer of DPO with our tokens and our mask: for segments that is DSPO."""
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer
    from trl.trainer.dpo_trainer import DataCollatorForPreference
    from trl.trainer.utils import pad

    policy, settings = objective.policy, objective.settings
    assert isinstance(settings, PairSettings)  # noqa: S101 - of `train_offline`
    columns = {
        "prompt_ids": [one.ids[: one.prefix] for one, _ in rows],
        "chosen_ids": [one.ids[one.prefix :] for one, _ in rows],
        "rejected_ids": [other.ids[other.prefix :] for _, other in rows],
        "chosen_mask": [one.mask for one, _ in rows],
        "rejected_mask": [other.mask for _, other in rows],
    }

    class SegmentTrainer(quietly(DPOTrainer)):  # type: ignore[misc]
        def _prepare_dataset(self, dataset: Any, *args: object, **kwargs: object) -> Any:  # noqa: ANN401
            return dataset

        def _set_signature_columns_if_needed(self) -> None:
            self._signature_columns = [*columns]

    class SegmentCollator(DataCollatorForPreference):  # type: ignore[misc]
        def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
            import torch

            output: dict[str, Any] = super().torch_call(examples)
            masks = [torch.tensor(e[name]) for name in ("chosen_mask", "rejected_mask") for e in examples]
            width = self.pad_to_multiple_of
            padding = {"padding_value": 0, "padding_side": "right", "pad_to_multiple_of": width}
            output["completion_mask"] = pad(masks, **padding)
            return output

    kinds = ["sigmoid_norm" if settings.length_norm else "sigmoid"]
    if settings.sft_alpha:
        kinds.append("sft")
    weights = [1.0, settings.sft_alpha][: len(kinds)]
    more = {"max_length": None, "beta": settings.beta, "loss_type": kinds, "loss_weights": weights}
    return SegmentTrainer(
        model=policy.model,
        ref_model=objective.reference,
        args=DPOConfig(**trl_arguments(policy, settings, folder, steps, **more)),
        train_dataset=Dataset.from_dict(columns),
        processing_class=policy.tokenizer.tokenizer,
        data_collator=SegmentCollator(pad_token_id=policy.pad),
        peft_config=policy.adapter,
    )
