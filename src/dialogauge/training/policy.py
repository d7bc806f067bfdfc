"""The model that is trained: loaded from a folder that holds no pickle, and written to another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dialogauge.core import MissingExtra, UsageError
from dialogauge.core.files import shown_path
from dialogauge.llm import chosen_device
from dialogauge.training.masks import DialogueTokenizer
from dialogauge.training.train_settings import TrainSettings

_PICKLES: Final = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True, slots=True)
class Policy:
    """A causal language model with its tokenizer; torch modules have no useful types here."""

    model: Any
    tokenizer: DialogueTokenizer
    device: str
    """`cpu`, `cuda` or `mps`."""
    bf16: bool
    """Whether it computes in 16 bits."""
    adapter: Any = None
    """The configuration of an adapter that is to be trained; None where all weights are."""

    @property
    def pad(self) -> int:
        """The token that fills up a batch."""
        tokenizer = self.tokenizer.tokenizer
        return int(tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id)

    def save(self, model: Any, folder: Path) -> None:  # noqa: ANN401
        """Write a trained model and the tokenizer; an adapter is merged, and kept beside in `adapter`."""
        if hasattr(model, "merge_and_unload"):
            model.save_pretrained(folder / "adapter")
            model = model.merge_and_unload()
        model.save_pretrained(folder)
        self.tokenizer.tokenizer.save_pretrained(folder)


def load_policy(folder: Path, settings: TrainSettings, device: str = "auto") -> Policy:
    """Load a model and its tokenizer for training.

    Raises:
        MissingExtra: torch, transformers, TRL or peft is not installed.
        UsageError: The folder holds no model, its weights are a pickle, its tokenizer is of another model,
            or its template does not mark what the assistant writes.
    """
    _expect_weights(folder)
    try:
        import peft
        import torch
        import transformers
        import trl  # noqa: F401
        from safetensors import SafetensorError
    except ImportError as error:
        msg = f"training needs torch, transformers, trl and peft: {error}"
        raise MissingExtra(msg, hint="pip install 'dialogauge[tune]'") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    device = chosen_device(device, torch)
    capable = device == "cuda" and torch.cuda.is_bf16_supported()
    bf16 = settings.precision == "bf16" or (settings.precision == "auto" and capable)
    dtype = torch.bfloat16 if bf16 and settings.lora else torch.float32
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, dtype=dtype
        )
    except (OSError, ValueError, LookupError, ImportError, SafetensorError) as error:
        msg = f"the model {shown_path(folder)} cannot be loaded: {error}"
        raise UsageError(msg, hint="give a folder with config, weights and tokenizer") from None
    rows = model.get_input_embeddings().num_embeddings
    if (last := max(tokenizer.get_vocab().values())) >= rows:
        msg = f"the tokenizer of {shown_path(folder)} is of another model: it has tokens up to {last:,}, "
        msg += f"and the model knows {rows:,}"
        raise UsageError(msg, hint="put the tokenizer that the model was trained with into its folder")
    room = getattr(model.config, "max_position_embeddings", None) or settings.max_length
    adapter = None
    if settings.lora:
        adapter = peft.LoraConfig(
            r=settings.lora_r,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
    encoder = DialogueTokenizer(tokenizer, min(settings.max_length, room))
    return Policy(model.to(device), encoder, device, bf16, adapter)


def _expect_weights(folder: Path) -> None:
    """Raise UsageError for a folder that holds no model, or weights that may run code when read."""
    if not (folder / "config.json").is_file():
        msg = f"{shown_path(folder)} holds no model: there is no config.json in it"
        hint = "give the folder of a Hugging Face model"
        if (folder / "adapter_config.json").is_file():
            hint = "it holds an adapter: merge it with its model, and give the folder of the result"
        raise UsageError(msg, hint=hint)
    if next(folder.glob("*.safetensors"), None) is not None:
        return
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        msg = f"the weights in {shown_path(folder / pickles[0])} are a pickle, and may run code when read"
        hint = "load the model where you trust it, and write it with save_pretrained: that is safetensors"
        raise UsageError(msg, hint=hint)
    msg = f"{shown_path(folder)} holds no weights: there is no .safetensors file in it"
    raise UsageError(msg, hint="give a folder with config, weights and tokenizer")
