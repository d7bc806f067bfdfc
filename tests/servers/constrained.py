"""Writes JSON that satisfies a schema with any causal language model: the model chooses, the schema allows.

What the schema leaves no choice about is written for the model; at every choice (a score, one of an
enumeration, one item more or the end of a list, the words of a string) the model's probabilities decide
among what is allowed.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import torch

from servers.schemas import resolve, types_of

_TAIL = re.compile(r"[^\w\s]*\s?[^\w\s]*$")
_MOST_ITEMS = 6
_WIDEST_RANGE = 21
_OPENERS = {
    "object": "{",
    "array": "[",
    "string": '"',
    "null": "null",
    "boolean": "true",
    "integer": "1",
    "number": "1",
}


class ConstrainedWriter:
    """Writes one JSON value after a prompt.

    Args:
        model: A causal model of transformers, in eval mode.
        tokenizer: Its tokenizer; some token must be a double quote.
        temperature: 0 takes the most probable choice.
        seed: For any other temperature.
        string_tokens: The most tokens of a string.
    """

    def __init__(
        self, model: Any, tokenizer: Any, *, temperature: float = 0.0, seed: int = 0, string_tokens: int = 12
    ) -> None:
        self._model = model
        forward = inspect.signature(model.forward).parameters
        self._cache = "cache" if "cache" in forward else "past_key_values"
        """What transformers call what the model has read: since 5.24 it has another name."""
        self._tokenizer = tokenizer
        self._temperature = temperature
        self._random = torch.Generator().manual_seed(seed)
        self._string_tokens = string_tokens
        self._texts = [tokenizer.decode([token]) for token in range(len(tokenizer))]
        self._alike: dict[int, torch.Tensor] = {}
        self._wordy, self._closing = _string_tokens(self._texts, set(tokenizer.all_special_ids))

    @torch.inference_mode()
    def write(self, prompt: Sequence[int], schema: dict[str, Any]) -> tuple[str, int]:
        """Return the JSON text and the number of its tokens.

        Args:
            prompt: Token ids of all that stands before.
            schema: Objects, arrays, strings, numbers, enumerations, anyOf and references within.
        """
        output = self._model(torch.tensor([list(prompt)]), use_cache=True)
        self._past, self._next = output[self._cache], output.logits[0, -1]
        self._length = self._start = len(prompt)
        self._root = schema
        self._written: list[str] = []
        self._unread = ""
        self._value(schema)
        self._read()
        return "".join(self._written), self._length - self._start

    # The grammar

    def _value(self, schema: dict[str, Any]) -> None:
        schema = resolve(schema, self._root)
        finite = self._options(schema)
        if finite is not None:
            self._put(finite[self._choose(finite)])
            return
        branches = self._branches(schema)
        if len(branches) > 1:
            self._value(branches[self._choose([self._opener(branch) for branch in branches])])
            return
        {"object": self._object, "array": self._array, "string": self._string}[types_of(schema)[0]](schema)

    def _options(self, schema: dict[str, Any]) -> list[str] | None:
        """List every value that is allowed, None if they are too many."""
        schema = resolve(schema, self._root)
        if "const" in schema:
            return [json.dumps(schema["const"], ensure_ascii=False)]
        if "enum" in schema:
            return [json.dumps(value, ensure_ascii=False) for value in schema["enum"]]
        branches = self._branches(schema)
        if len(branches) > 1:
            inner = [self._options(branch) for branch in branches]
            return None if any(o is None for o in inner) else [text for o in inner for text in o or ()]
        kind = types_of(schema)[0]
        if kind in ("integer", "number"):
            low = math.ceil(schema.get("minimum", 0))
            high = math.floor(schema.get("maximum", low + 9))
            return [str(n) for n in range(low, min(high, low + _WIDEST_RANGE - 1) + 1)]
        return {"boolean": ["true", "false"], "null": ["null"]}.get(kind)

    def _branches(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return [resolve(option, self._root) for option in schema[key]]
        return [{**schema, "type": kind} for kind in types_of(schema)]

    def _object(self, schema: dict[str, Any]) -> None:
        opening = "{"
        for name, inner in schema.get("properties", {}).items():
            self._put(f"{opening}{json.dumps(name, ensure_ascii=False)}: ")
            self._value(inner)
            opening = ", "
        self._put("{}" if opening == "{" else "}")

    def _array(self, schema: dict[str, Any]) -> None:
        least, most = schema.get("minItems", 0), schema.get("maxItems", _MOST_ITEMS)
        prefix = schema.get("prefixItems", [])
        self._put("[")
        for count in range(most):
            inner = prefix[count] if count < len(prefix) else schema["items"]
            if count >= least and self._choose(["]", "," if count else self._opener(inner)]) == 0:
                break
            if count:
                self._put(", ")
            self._value(inner)
        self._put("]")

    def _opener(self, schema: dict[str, Any]) -> str:
        options = self._options(schema)
        return options[0] if options else _OPENERS[types_of(resolve(schema, self._root))[0]]

    def _string(self, schema: dict[str, Any]) -> None:
        self._put('"')
        longest, text = schema.get("maxLength", 10_000), ""
        for _ in range(self._string_tokens):
            self._read()
            long_enough = len(text) >= schema.get("minLength", 0)
            allowed = self._wordy | self._closing if long_enough else self._wordy
            token = self._draw(self._next.masked_fill(~allowed, -math.inf))
            piece = self._tokenizer.decode([token])
            if self._closing[token] or len(text) + len(piece) > longest:
                break
            text += piece
            self._put(piece, [token])
        self._put("x" * max(0, schema.get("minLength", 0) - len(text)) + '"')

    # The model

    def _put(self, text: str, tokens: list[int] | None = None) -> None:
        """Write text; the model reads it before it is asked again."""
        self._written.append(text)
        if tokens is None:
            self._unread += text
        else:
            self._feed(tokens)

    def _read(self, *, keep: bool = False) -> None:
        """Let the model read what was written; `keep` holds back what may share a token with what comes."""
        text = _TAIL.sub("", self._unread) if keep else self._unread
        self._unread = self._unread[len(text) :]
        if text:
            self._feed(self._ids(text))

    def _feed(self, tokens: list[int]) -> torch.Tensor:
        output = self._model(torch.tensor([tokens]), use_cache=True, **{self._cache: self._past})
        self._past, self._next = output[self._cache], output.logits[0, -1]
        self._length += len(tokens)
        return output.logits[0]

    def _choose(self, texts: list[str]) -> int:
        """Return the position of the text that the model would rather write; nothing is written."""
        if len(texts) == 1:
            return 0
        self._read(keep=True)
        options = [self._ids(self._unread + text) for text in texts]
        while len({tokens[0] for tokens in options}) == 1 and min(map(len, options)) > 1:
            self._unread = self._unread.removeprefix(self._tokenizer.decode([options[0][0]]))
            self._feed([options[0][0]])
            options = [tokens[1:] for tokens in options]
        return self._draw(torch.tensor([self._probability(tokens) for tokens in options]))

    def _probability(self, tokens: list[int]) -> float:
        """Return the log probability that the continuation begins with the text of the tokens."""
        length, before, total = self._length, self._next, 0.0
        if len(tokens) > 1:
            logits = torch.log_softmax(torch.stack([before, *self._feed(tokens[:-1])]), -1)
            total = sum(float(logits[i, token]) for i, token in enumerate(tokens[:-1]))
            self._past.crop(1 - len(tokens))  # as many tokens less
        # The last token may be the beginning of a longer one.
        alike = self._beginning(tokens[-1])
        total += float(torch.log_softmax(self._next, -1)[alike].logsumexp(0))
        self._length, self._next = length, before
        return total

    def _beginning(self, token: int) -> torch.Tensor:
        """Mark the tokens whose text begins with the text of this one."""
        if token not in self._alike:
            text = self._texts[token]
            self._alike[token] = torch.tensor([other.startswith(text) for other in self._texts])
        return self._alike[token]

    def _draw(self, scores: torch.Tensor) -> int:
        if self._temperature <= 0:
            return int(scores.argmax())
        weights = torch.softmax(scores / self._temperature, -1)
        return int(torch.multinomial(weights, 1, generator=self._random))

    def _ids(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False)


def _string_tokens(texts: Sequence[str], special: set[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Mark the tokens that may stand in a JSON string as they are, and those that begin with its end."""
    wordy = [
        bool(text) and text.isprintable() and not set('"\\\ufffd') & set(text) and token not in special
        for token, text in enumerate(texts)
    ]
    return torch.tensor(wordy), torch.tensor([text.startswith('"') for text in texts])
