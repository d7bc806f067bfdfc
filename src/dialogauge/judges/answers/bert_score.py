"""BERTScore: how near the words of two texts are, by the states of a model in a folder.

Zhang, Kishore, Wu, Weinberger and Artzi (2020): each token takes its nearest one of the other text. Without
weights of words and without rescaling, as JuDGE has it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import UsageError
from dialogauge.llm import pretrained

_LAYERS: Final = {("bert", 12): 8, ("roberta", 12): 10, ("deberta", 48): 40}
"""By type and number of layers whose states BERTScore takes for bert-base-chinese, roberta-base and
deberta-xlarge-mnli: the models of MemoryBench."""


def bert_scorer(folder: str) -> Callable[[str, str], float]:
    """Return a function from a text and the right one to F1, mostly 0 to 1; 0 where one of them is empty.

    The folder is that of a Hugging Face model with its tokenizer, which is loaded with the first text. The
    layer whose states are compared is BERTScore's own choice for the models of MemoryBench, else the last.

    Raises:
        UsageError: It is no folder of a model. With the first text also where that cannot be loaded.
        MissingExtra: With the first text: torch and transformers are not installed.
    """
    if not (Path(folder) / "config.json").is_file():
        msg = f"{folder} holds no model: there is no config.json in it"
        raise UsageError(msg, hint="give the folder of an encoder with its weights and tokenizer")

    def score(text: str, right: str) -> float:
        if not text.strip() or not right.strip():
            return 0.0
        a, b = (_states(folder, one) for one in (text, right))
        near = a @ b.T
        precision, recall = near.max(1).values.mean().item(), near.max(0).values.mean().item()
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    return score


@lru_cache(maxsize=2)
def _loaded(folder: str) -> tuple[Any, Any]:
    return pretrained("AutoModel", folder, UsageError).eval(), pretrained("AutoTokenizer", folder, UsageError)


@lru_cache(maxsize=64)
def _states(folder: str, text: str) -> Any:  # noqa: ANN401 - a tensor of torch
    """Return the states of the tokens, of length 1, without those that the tokenizer puts around them."""
    import torch

    model, tokenizer = _loaded(folder)
    layer = _LAYERS.get((model.config.model_type, model.config.num_hidden_layers), -1)
    cut = {"truncation": True, "max_length": min(512, model.config.max_position_embeddings)}
    tokens = tokenizer(text, **cut, return_tensors="pt", return_special_tokens_mask=True)
    own = tokens.pop("special_tokens_mask")[0] == 0
    with torch.inference_mode():
        states = model(**tokens, output_hidden_states=True).hidden_states[layer][0][own]
    return torch.nn.functional.normalize(states.double(), dim=-1)
