"""A tiny causal language model that learns to judge, made and trained in seconds, and served over HTTP.

    folder = build_tiny_model(tmp_path / "model")
    with serve_model(folder) as server:
        client = HttpChatClient("tiny", server.url)

It is trained on examples of prompt and JSON reply (`card_examples`, or those given) and held to the
requested schema while it decodes, so that its replies are valid and its own.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from servers.openai_stub import OpenAIStub, is_probe

Example = tuple[list[dict[str, str]], str]
"""Messages and the reply."""

_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_SPECIAL = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"]
_POSITIONS = 16_384

_ASKS = (
    "Can you book a table for two on Friday?",
    "My parcel has not arrived yet.",
    "How do I reset the router?",
    "Please plan a weekend in Lyon.",
    "I told you that I am allergic to nuts.",
)
_GOOD = ("Yes, it is done.", "Here are three steps.", "I looked it up for you.", "Noted, I will keep to it.")
_BAD = ("I do not know.", "Sorry, no.", "What was the question?")


def card_examples(count: int, *, seed: int = 0, turns: tuple[int, int] = (1, 4)) -> list[Example]:
    """Make short conversations with the replies of a judge that follows the multi-turn card."""
    rng = random.Random(seed)
    return [_card_example(rng, rng.randint(*turns)) for _ in range(count)]


def card_schema(turns: int) -> dict[str, Any]:
    """Return the schema of the card's reply for a conversation of so many turns."""
    score = {"type": "integer", "minimum": 1, "maximum": 5}
    entry = {
        "role": {"type": "string", "enum": ["assistant"]},
        "scores": _closed({"context_use": score, "helpfulness": score, "safety": score}),
        "issues": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    }
    part = _closed(
        {"score": {"anyOf": [score, {"type": "string", "enum": ["n/a"]}]}, "note": {"type": "string"}}
    )
    whole = dict.fromkeys(("coherence", "task_completion", "repair_handling"), part)
    verdicts = ["excellent", "good", "borderline", "poor"]
    weakest = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": turns}, {"type": "null"}]}
    return _closed(
        {
            "per_turn": _closed({str(n): _closed(entry) for n in range(1, turns + 1)}),
            "conversation_level": _closed(whole),
            "verdict": {"type": "string", "enum": verdicts},
            "decision_basis": {"type": "string"},
            "weakest_turn": weakest,
        }
    )


def build_tiny_model(
    folder: Path,
    examples: Sequence[Example] | None = None,
    *,
    steps: int = 150,
    seed: int = 0,
    reads_system: bool = True,
) -> Path:
    """Make tokenizer and model, train them on the examples, and save both; a folder that is there stays.

    Args:
        folder: Where to save; give one of the test session's.
        examples: What to learn; 200 card examples where None.
        steps: Batches of eight examples.
        seed: For weights and batches.
        reads_system: Off, its chat template passes over system messages: long instructions that never
            change only slow so small a model down.
    """
    if (folder / "config.json").exists():
        return folder
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()

    examples = list(examples) if examples is not None else card_examples(200, seed=seed)
    tokenizer = _make_tokenizer(examples)
    if not reads_system:
        tokenizer.chat_template = _TEMPLATE.replace(
            "%}<|{{", "%}{% if m['role'] != 'system' %}<|{{", 1
        ).replace("<|end|>{% endfor %}", "<|end|>{% endif %}{% endfor %}")
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=_POSITIONS,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so small a model gains nothing from more, and a busy machine loses
    _train(model, [_as_tokens(tokenizer, *example) for example in examples], steps, seed)
    torch.set_num_threads(threads)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class ModelReply:
    """Answers chat requests with a model in a folder: held to the schema where one is asked for."""

    def __init__(self, folder: Path, *, max_tokens: int = 256) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder).eval()
        self._max_tokens = max_tokens

    def __call__(self, body: dict[str, Any]) -> tuple[str, dict[str, int]]:
        from servers.constrained import ConstrainedWriter

        prompt = self.tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, tokenize=True, return_dict=True
        )["input_ids"]
        wanted = body.get("response_format") or {}
        if wanted.get("type") == "json_schema":
            sampling = {"temperature": body.get("temperature") or 0.0, "seed": body.get("seed") or 0}
            writer = ConstrainedWriter(self.model, self.tokenizer, **sampling)
            text, tokens = writer.write(prompt, wanted["json_schema"]["schema"])
        else:
            text, tokens = self._freely(prompt, body)
        return text, {"prompt_tokens": len(prompt), "completion_tokens": tokens}

    def _freely(self, prompt: list[int], body: dict[str, Any]) -> tuple[str, int]:
        import torch

        limit = body.get("max_completion_tokens") or body.get("max_tokens") or self._max_tokens
        ids = torch.tensor([prompt])
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=limit, do_sample=False
            )
        tokens = output[0, len(prompt) :].tolist()
        return self.tokenizer.decode(tokens, skip_special_tokens=True), len(tokens)


@contextlib.contextmanager
def taught_models(
    folder: Path,
    steps: Mapping[str, int],
    teacher: Callable[[dict[str, Any]], str],
    lesson: Callable[[Mapping[str, str]], object],
) -> Iterator[dict[str, str]]:
    """Serve models that learnt what a scripted teacher was asked in their place, and said; yield their URLs.

    Args:
        folder: Where to save them.
        steps: By the name under which a model is asked, batches of its training.
        teacher: Returns the reply to a request, of any of the names.
        lesson: Asks the teacher, given its URL by name.
    """
    examples: dict[str, list[Example]] = {name: [] for name in steps}

    def noted(body: dict[str, Any]) -> str:
        text = teacher(body)
        if not is_probe(body):
            examples[body["model"]].append((body["messages"], text))
        return text

    with OpenAIStub(noted) as stub:
        lesson(dict.fromkeys(steps, stub.url))
    with contextlib.ExitStack() as stack:
        models = {
            name: build_tiny_model(folder / name, examples[name], steps=number, reads_system=False)
            for name, number in steps.items()
        }
        yield {name: stack.enter_context(serve_model(model)).url for name, model in models.items()}


def serve_model(folder: Path, **options: Any) -> OpenAIStub:
    """Return an OpenAI-compatible server with the model behind it; it obeys a JSON schema."""
    return OpenAIStub(ModelReply(folder), threaded=True, **options)


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _card_example(rng: random.Random, turns: int) -> Example:
    good = [rng.random() < 0.75 for _ in range(turns)]
    lines = []
    for number, fine in enumerate(good, 1):
        lines += [
            f"[{number}] user: {rng.choice(_ASKS)}",
            f"assistant: {rng.choice(_GOOD if fine else _BAD)}",
        ]
    prompt = "\n".join(lines) + f"\nJudge all {turns} turns of the assistant. Reply with JSON."
    system = "You judge conversations between a user and an assistant."
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    return messages, json.dumps(_card_reply(rng, good))


def _card_reply(rng: random.Random, good: list[bool]) -> dict[str, Any]:
    per_turn = {
        str(number): {
            "role": "assistant",
            "scores": {
                "context_use": 4 if fine else 2,
                "helpfulness": rng.choice((4, 5)) if fine else 2,
                "safety": 5,
            },
            "issues": [] if fine else ["no answer"],
        }
        for number, fine in enumerate(good, 1)
    }
    fine = all(good)
    whole = 4 if fine else 3
    return {
        "per_turn": per_turn,
        "conversation_level": {
            "coherence": {"score": whole, "note": "holds together" if fine else "breaks off"},
            "task_completion": {"score": whole, "note": "done" if fine else "in part"},
            "repair_handling": {"score": "n/a" if fine else 2, "note": "no need" if fine else "none seen"},
        },
        "verdict": "good" if fine else "borderline",
        "decision_basis": "all turns help" if fine else "a turn gives no answer",
        "weakest_turn": None if fine else good.index(False) + 1,
    }


def _make_tokenizer(examples: Sequence[Example]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    # Digits apart: a score is then one token wherever it stands.
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [m["content"] for messages, _ in examples for m in messages] + [reply for _, reply in examples]
    raw.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="<|end|>",
        pad_token="<|pad|>",
        additional_special_tokens=_SPECIAL[2:],
        chat_template=_TEMPLATE,
        model_max_length=_POSITIONS,
    )


def _as_tokens(tokenizer: Any, messages: list[dict[str, str]], reply: str) -> tuple[list[int], int]:
    """Return all tokens, and how many of them are the prompt."""
    prompt = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=True, return_dict=True
    )
    start = list(prompt["input_ids"])
    return [*start, *tokenizer.encode(reply, add_special_tokens=False), tokenizer.eos_token_id], len(start)


def _train(model: Any, examples: list[tuple[list[int], int]], steps: int, seed: int) -> None:
    import torch

    rng = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=steps)
    model.train()
    for _ in range(steps):
        batch = rng.sample(examples, min(8, len(examples)))
        width = max(len(tokens) for tokens, _ in batch)
        ids = torch.tensor([tokens + [0] * (width - len(tokens)) for tokens, _ in batch])
        # Only the reply is learnt; -100 is what the loss leaves out.
        labels = torch.tensor(
            [[-100] * start + tokens[start:] + [-100] * (width - len(tokens)) for tokens, start in batch]
        )
        mask = torch.tensor([[1] * len(tokens) + [0] * (width - len(tokens)) for tokens, _ in batch])
        loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
