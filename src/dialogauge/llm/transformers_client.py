"""A transformers model in this process: no server, one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dialogauge.core.errors import EndpointError
from dialogauge.core.judgement import Usage
from dialogauge.llm.device import alone, chosen_device, pretrained
from dialogauge.llm.identity import folder_digest
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest, SamplingParameters
from dialogauge.llm.wire import request_body, with_schema
from dialogauge.text import split_reasoning

_MAX_TOKENS = 1024


class TransformersClient:
    """Generates with a causal language model from a folder or a model name.

    The model is loaded at the first request. Temperature 0 or None is greedy. A schema goes into the prompt.
    Calls cost nothing.
    """

    def __init__(
        self,
        model: str,
        *,
        parameters: SamplingParameters | None = None,
        device: str = "auto",
        name: str | None = None,
    ) -> None:
        """Loads nothing yet.

        Of the parameters, only `temperature`, `top_p`, `max_tokens` and `seed` have an effect. The device is
        `auto` (a GPU where there is one), `cpu`, `cuda` or `mps`; replies are not told apart by it.
        """
        self._model_name = model
        folder = Path(model)
        self._files = folder_digest(folder) if folder.is_dir() else None
        self._parameters = parameters or SamplingParameters()
        self._device = device
        self.name = name or model
        self._loaded: tuple[Any, Any, str] | None = None
        # One thread: torch uses all cores for one request, and its random state is shared.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="transformers")

    def describe(self) -> Mapping[str, Any]:
        """Return model and parameters, and a digest of the model's folder."""
        return {
            "kind": "transformers",
            "model": self._model_name,
            "files": self._files,
            "parameters": self._parameters.to_body(),
        }

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Generate a reply in a thread.

        Raises `MissingExtra` without torch and transformers, `EndpointError` if the model cannot be loaded.
        """
        body = request_body({}, request, None)
        if request.schema is not None:
            body = with_schema(body, request.schema, "prompt")
        messages = [dict(message) for message in body["messages"]]
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._generate, messages, request)

    async def close(self) -> None:
        """Release the model."""
        self._loaded = None
        self._thread.shutdown(wait=False)

    def _load(self) -> tuple[Any, Any, str]:
        if self._loaded is None:
            tokenizer = pretrained("AutoTokenizer", self._model_name)
            model = pretrained("AutoModelForCausalLM", self._model_name)
            import torch

            device = chosen_device(self._device, torch)
            if not tokenizer.chat_template:
                message = f"the model {self._model_name!r} has no chat template"
                raise EndpointError(message, hint="give the folder of a model that was made for chats")
            self._loaded = (model.to(device).eval(), tokenizer, device)
        return self._loaded

    def _generate(self, messages: list[dict[str, Any]], request: ChatRequest) -> ChatReply | ChatFailure:
        model, tokenizer, device = self._load()
        import torch
        from jinja2 import TemplateError

        try:
            prompt = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_tensors="pt", return_dict=True
            ).to(device)
        except TemplateError as error:
            message = f"the chat template of {self.name} does not take the messages: {error}"
            return ChatFailure("rejected", message)
        length = int(prompt["input_ids"].shape[1])
        room = int(getattr(model.config, "max_position_embeddings", None) or 1_000_000_000) - length
        if room <= 0:
            message = f"the prompt has {length} tokens, more than the model takes"
            return ChatFailure("too_long", message)
        limit = min(request.max_tokens or self._parameters.max_tokens or _MAX_TOKENS, room)
        try:
            with alone(), torch.inference_mode():
                if self._parameters.seed is not None or request.salt:
                    torch.manual_seed((self._parameters.seed or 0) + request.salt)
                output = model.generate(
                    **prompt,
                    max_new_tokens=limit,
                    pad_token_id=int(
                        tokenizer.pad_token_id
                        if tokenizer.pad_token_id is not None
                        else tokenizer.eos_token_id
                    ),
                    **self._sampling(),
                )
        except RuntimeError as error:  # no memory left, or no finite probabilities
            message = f"{self.name} could not generate: {error}"
            return ChatFailure("server_error", message, Usage(1, 0, length, 0, 0.0))
        tokens = output[0, length:].tolist()
        ended = bool(tokens) and tokens[-1] == tokenizer.eos_token_id
        usage = Usage(1, 0, length, len(tokens), 0.0)
        text, reasoning = split_reasoning(tokenizer.decode(tokens, skip_special_tokens=True))
        cut = len(tokens) >= limit and not ended
        if not text.strip() and not cut:
            return ChatFailure("empty_reply", "the reply is empty", usage, reasoning)
        return ChatReply(text, "length" if cut else "stop", usage, reasoning, self.name)

    def _sampling(self) -> dict[str, Any]:
        if not self._parameters.temperature:
            # The model's generation config may set sampling parameters, which greedy decoding rejects.
            return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        chosen = {"do_sample": True, "temperature": self._parameters.temperature}
        return chosen if self._parameters.top_p is None else {**chosen, "top_p": self._parameters.top_p}
