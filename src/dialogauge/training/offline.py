"""Training on rows: SFT on dialogues, DPO on replies and DSPO on segments (DynSess, equation 5).

DPO and DSPO differ in their rows alone. Both are TRL's `DPOTrainer` with our tokens and our mask: its own
makes of everything behind the prompt what is trained on, the user's words included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from dialogauge.core import DialogueTooLong, UsageError
from dialogauge.core.files import shown_path
from dialogauge.training.losses import Tensor, dspo_loss, sft_loss, token_divergence, token_log_probs
from dialogauge.training.masks import DialogueTokenizer, MaskedTokens
from dialogauge.training.plain import Padded, batches_of, padded, train_plain
from dialogauge.training.policy import Policy
from dialogauge.training.row_files import FileRow, read_pair_file
from dialogauge.training.train_settings import PairSettings, TrainSettings
from dialogauge.training.trl_backend import PAIR_FIGURES, quietly, train_with_trl, trl_arguments, trl_silenced
from dialogauge.training.tuning import UNCHECKED_ROWS, Trained, TuneFolder, TuneJob

Sides = tuple[MaskedTokens, ...]
"""A dialogue, or the two sides of a pair, the winner first."""
_LOGITS: Final = 1 << 28
"""Logits of a batch that is measured, at most."""
_TOO_LONG: Final = "does not fit"
_NO_WINNER: Final = "no winner"
_METHODS: Final[Mapping[str, str]] = {"sft": "sft", "dpo": "dpo", "segment": "dspo"}
"""By kind of rows: the method that takes them."""


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows in tokens, and what was left out."""

    rows: list[Sides]
    left_out: Counter[str] = field(default_factory=Counter)
    """By reason."""
    turns_dropped: int = 0
    """Oldest turns that did not fit."""
    unchecked: int = 0
    """Rows that rest on a judge that nobody checked."""

    def counts(self, steps: int) -> dict[str, int]:
        """Return what a manifest says of them."""
        trained = sum(sum(e.mask) for sides in self.rows for e in sides)
        left_out = {f"left out: {why}": n for why, n in self.left_out.items()}
        plain = {"rows": len(self.rows), "character tokens": trained, "steps": steps}
        unchecked = {UNCHECKED_ROWS: self.unchecked} if self.unchecked else {}
        return {**plain, **unchecked, "turns dropped": self.turns_dropped, **left_out}


def encoded_rows(path: Path, method: str, tokenizer: DialogueTokenizer) -> EncodedRows:
    """Read the rows of a file for a method, and return them in tokens.

    Those that do not fit, and pairs without a winner, are left out and counted.

    Raises:
        UsageError: No row is left, the rows are for another method, or the template would make a wrong mask.
        InputError: The file is no file of rows.
    """
    encoded, left_out, dropped, unchecked, last = list[Sides](), Counter[str](), 0, 0, ""
    for row in read_pair_file(path):
        try:
            sides = _sides(row, method, tokenizer)
        except DialogueTooLong as error:
            left_out[_TOO_LONG], last = left_out[_TOO_LONG] + 1, str(error)
            continue
        if sides is None:
            left_out[_NO_WINNER] += 1
            continue
        if len({tuple(e.ids[: e.prefix]) for e in sides}) != 1:
            msg = f"{row.place}: the two sides do not share what stands before them"
            raise UsageError(msg, hint="give the model a template that only appends")
        encoded.append(sides)
        dropped += sides[0].dropped
        unchecked += row.unchecked
    if not encoded:
        why = last or f"none of {left_out[_NO_WINNER]:,} pairs has a winner"
        msg = f"{shown_path(path)}: no row is left to train on: {why}"
        raise UsageError(msg, hint="shorten personas, raise --max-length, or give pairs that differ")
    return EncodedRows(encoded, left_out, dropped, unchecked)


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
class OfflineObjective:
    """The loss of rows by our own functions: trained on by the plain loop, and measured."""

    policy: Policy
    settings: TrainSettings
    reference: Any = None
    """The model before training; None for SFT, and where an adapter is switched off instead."""

    def __call__(self, model: Any, batch: Sequence[Sides]) -> tuple[Tensor, dict[str, float]]:  # noqa: ANN401
        """Return the loss of rows, with its gradient, and their figures."""
        tokens = padded([side for sides in zip(*batch, strict=True) for side in sides], self.policy)
        mask, settings = tokens.mask[:, 1:], self.settings
        logits = self.logits(model, tokens)
        log_probs = token_log_probs(logits, tokens.ids)
        length = {"length": float(mask.sum() / len(mask))}
        if not isinstance(settings, PairSettings):
            return sft_loss(log_probs, mask), length
        before = self.before(model, tokens)
        pairs = dspo_loss(
            log_probs,
            token_log_probs(before, tokens.ids),
            mask,
            beta=settings.beta,
            length_norm=settings.length_norm,
            sft_alpha=settings.sft_alpha,
        )
        margin = pairs.chosen - pairs.rejected
        figures = {
            "reward_chosen": pairs.chosen.mean(),
            "reward_rejected": pairs.rejected.mean(),
            "margin": margin.mean(),
            "accuracy": (margin > 0).float().mean(),
            "kl": (token_divergence(logits.detach(), before) * mask).sum() / mask.sum(),
        }
        return pairs.loss, {**{name: value.item() for name, value in figures.items()}, **length}

    def logits(self, model: Any, tokens: Padded) -> Tensor:  # noqa: ANN401
        """Return what a model makes of each place, (sequences, tokens, vocabulary)."""
        import torch

        with torch.autocast(self.policy.device, torch.bfloat16, enabled=self.policy.bf16):
            return model(input_ids=tokens.ids, attention_mask=tokens.attention, use_cache=False).logits

    def before(self, model: Any, tokens: Padded) -> Tensor:  # noqa: ANN401
        """Return what the model before training makes of each place."""
        import torch

        with torch.no_grad(), model.disable_adapter() if self.reference is None else nullcontext():
            return self.logits(self.reference or model, tokens)

    def measure(self, model: Any, rows: Sequence[Sides]) -> dict[str, float]:  # noqa: ANN401
        """Return the mean figures of rows; a batch is so small that its logits stay below 1 GiB."""
        import torch

        training, sums = model.training, dict[str, float]()
        model.eval()
        longest = max(len(side.ids) for sides in rows for side in sides) * len(rows[0])
        room = _LOGITS // (longest * model.get_input_embeddings().num_embeddings)
        size = min(max(room, 1), self.settings.batch_size)
        with torch.no_grad():
            for start in range(0, len(rows), size):
                part = rows[start : start + size]
                loss, figures = self(model, part)
                for name, value in {"loss": loss.item(), **figures}.items():
                    sums[name] = sums.get(name, 0.0) + value * len(part) / len(rows)
        model.train(training)
        return sums


def train_offline(job: TuneJob, policy: Policy, folder: TuneFolder) -> Trained:
    """Train on the rows of a job by `sft`, `dpo` or `dspo`.

    Raises UsageError and InputError for rows that cannot be trained on.
    """
    settings = job.settings
    paired = isinstance(settings, PairSettings)
    data = encoded_rows(job.data, job.method, policy.tokenizer)
    files = () if job.held_out is None else (job.held_out,)
    held_out = [r for file in files for r in encoded_rows(file, job.method, policy.tokenizer).rows]
    steps = settings.total_steps(len(data.rows))
    counts = data.counts(steps)
    folder.say(", ".join(f"{n:,} {what}" for what, n in counts.items()))
    with trl_silenced():
        reference = deepcopy(policy.model).eval() if paired and policy.adapter is None else None
        objective = OfflineObjective(policy, settings, reference)
        if settings.backend == "plain":
            model: Any = policy.with_adapter()
        else:
            trainer = (pair_trainer if paired else sft_trainer)(objective, folder, data.rows, steps)
            model = trainer.model

        def measured(step: int) -> dict[str, float]:
            if not held_out:
                return {}
            figures = objective.measure(model, held_out)
            if step:
                folder.log(step, figures, held_out=True)
            return figures

        before = measured(0)
        if settings.backend == "plain":
            batches = batches_of(data.rows, settings)
            known = replace(settings, steps=steps)
            finished = train_plain(model, batches, objective, known, folder, at_save=measured)
        else:
            finished = train_with_trl(trainer, folder, PAIR_FIGURES, measured)
        lines = [line for line in folder.lines() if line.held_out]
        after = lines[-1].figures if lines else {}
    return Trained(model=model, counts=counts, before=before, after=after, finished=finished)


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
