"""Servers that refuse as vendors do: status, shape and key words of their answers, as documented or reported.

Each is real HTTP on 127.0.0.1. What they answer to is what a judge's request holds: token limit, temperature,
seed, system message, a schema in one of its forms, and the length of the prompt (four characters a token).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from servers.openai_stub import OpenAIStub
from servers.refusals import (
    Answer,
    Body,
    Rule,
    after,
    at,
    context,
    form,
    form_of,
    google,
    has,
    has_system,
    limit_of,
    openai,
    pydantic,
    real_schema,
    says,
    tokens_of,
    vllm,
    when,
)
from servers.verdicts import fill

LONG: Final = "a very long story "
"""What makes a prompt long."""
_NOTE: Final = "must satisfy this JSON schema:\n"


@dataclass(frozen=True)
class Vendor:
    """What one server refuses, and which forms of a schema it keeps to."""

    name: str
    rules: tuple[Rule, ...] = ()
    obeys: frozenset[str] = frozenset({"json_schema", "json_object"})
    base: str = "/v1"
    query: str = ""
    window: int | None = None
    """Tokens that it counts at most, cutting the rest without a word."""
    ends: str | None = None
    """What the message says that ends the run; None where all is judged."""
    failed: Mapping[str, int] = field(default_factory=dict)
    """Kinds of failures that are due, with their targets."""
    shown: str | None = None
    """What is said at the end of the run."""


class VendorServer(OpenAIStub):
    """A vendor's server; `with VendorServer(VENDORS[0]) as server`."""

    def __init__(self, vendor: Vendor) -> None:
        super().__init__(self._judge, schema="ignore", base=vendor.base)
        self.vendor = vendor

    @property
    def address(self) -> str:
        """The base URL with its query."""
        return self.url + self.vendor.query

    def _refusal(self, request: web.Request, body: Body) -> web.Response | None:
        if self.vendor.query and "?" + request.query_string != self.vendor.query:
            return web.json_response({"error": {"code": "404", "message": "Resource not found"}}, status=404)
        for rule in self.vendor.rules:
            answer = rule(body, len(self.requests) - 1)
            if answer is not None:
                return answer.response()
        return None

    def _judge(self, body: Body) -> tuple[str, dict[str, int]]:
        tokens = min(tokens_of(body), self.vendor.window or 10**9)
        text = self._text(body)
        return text, {"prompt_tokens": tokens, "completion_tokens": len(text) // 4}

    def _text(self, body: Body) -> str:
        wanted = body.get("response_format") or {}
        _, _, note = str(body["messages"][-1]["content"]).rpartition(_NOTE)
        if form_of(body) in self.vendor.obeys and form_of(body) != "json_object":
            schema = wanted.get("schema") or wanted["json_schema"]["schema"]
        elif note.startswith("{"):
            schema = json.loads(note)
        else:
            return '{"city": "Paris"}' if "json_object" in str(wanted) else "It reads well."
        return json.dumps(fill(schema))


_NO_MAX_TOKENS: Final = when(
    has("max_tokens"),
    400,
    openai(
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "max_tokens",
        "unsupported_parameter",
    ),
)
_NO_TEMPERATURE: Final = when(
    has("temperature"),
    400,
    openai("Unsupported value: 'temperature' does not support 0.0 with this model.", "temperature"),
)
_QUOTA: Final = Answer(
    429,
    google(
        "You exceeded your current quota, please check your plan and billing details. Please retry in 0.2s.",
        429,
        "RESOURCE_EXHAUSTED",
        details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0s"}],
    ),
)
_INPUTS_AND_NEW: Final = (
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= {size}. "
    "Given: {prompt} `inputs` tokens and {limit} `max_new_tokens`"
)
_REQUESTED: Final = (
    "This model's maximum context length is {size} tokens. However, you requested {total} tokens "
    "({prompt} in the messages, {limit} in the completion). Please reduce the length of the messages."
)
_TOO_LARGE: Final = (
    "'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context "
    "length is {size} tokens and your request has {prompt} input tokens ({limit} > {size} - {prompt})."
)
_COUNT: Final = (
    "Requested token count exceeds the model's maximum context length of {size} tokens. You requested a "
    "total of {total} tokens: {prompt} tokens from the input messages and {limit} tokens for the completion."
)
_UPSTREAM: Final = {"error": {"code": 502, "message": "Provider returned error"}}
_BROKEN_CHOICE: Final = {
    "choices": [
        {
            "index": 0,
            "finish_reason": "error",
            "message": {"role": "assistant", "content": ""},
            "error": {"code": 502, "message": "Upstream idle timeout exceeded"},
        }
    ]
}
_PAGE: Final = "<html><head><title>{}</title></head><body>Contact your administrator</body></html>"

VENDORS: Final = (
    Vendor("openai"),
    Vendor("openai-o3", (_NO_MAX_TOKENS, _NO_TEMPERATURE)),
    Vendor(
        "openai-o1-mini",
        (
            when(
                has_system,
                400,
                openai(
                    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                    "messages[0].role",
                    "unsupported_value",
                ),
            ),
            _NO_MAX_TOKENS,
            _NO_TEMPERATURE,
            when(
                form("json_schema", "json_object", "json_object_schema"),
                400,
                openai(
                    "Invalid parameter: 'response_format' is not supported with this model.",
                    "response_format",
                ),
            ),
        ),
    ),
    Vendor(
        "openai-no-credit",
        (
            after(
                4,
                429,
                openai(
                    "You exceeded your current quota, check your plan and billing.",
                    None,
                    "insufficient_quota",
                ),
            ),
        ),
        ends="exceeded your current quota",
    ),
    Vendor(
        "azure",
        (
            when(
                says("museum e"),
                400,
                {
                    "error": {
                        "message": "The response was filtered due to the prompt triggering Azure OpenAI's "
                        "content management policy.",
                        "param": "prompt",
                        "code": "content_filter",
                        "status": 400,
                        "innererror": {"code": "ResponsibleAIPolicyViolation"},
                    }
                },
            ),
        ),
        base="/openai/deployments/judge",
        query="?api-version=2024-10-21",
        failed={"refused": 2},
    ),
    Vendor(
        "anthropic",
        (
            when(
                lambda body: limit_of(body) > 2048,
                400,
                openai("max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens for M"),
            ),
            at({3: Answer(429, openai("rate limited"), {"anthropic-ratelimit-requests-remaining": "0"})}),
        ),
        obeys=frozenset(),
    ),
    Vendor(
        "anthropic-no-credit",
        (after(4, 400, openai("Your credit balance is too low to access the API. Go to Plans & Billing.")),),
        obeys=frozenset(),
        ends="credit balance is too low",
    ),
    Vendor(
        "gemini",
        (
            at({1: _QUOTA, 5: _QUOTA}),
            when(
                real_schema,
                400,
                google("Invalid value at 'generation_config.response_schema'", 400, "INVALID_ARGUMENT"),
            ),
            when(
                has("seed"),
                400,
                google('Invalid JSON payload received. Unknown name "seed"', 400, "INVALID_ARGUMENT"),
            ),
        ),
        base="/v1beta/openai",
    ),
    Vendor(
        "gemini-too-many-states",
        (
            when(
                real_schema,
                400,
                google(
                    "The specified schema produces a constraint that has too many states",
                    400,
                    "INVALID_ARGUMENT",
                ),
            ),
        ),
        base="/v1beta/openai",
    ),
    Vendor(
        "mistral",
        (
            when(
                has("seed"),
                422,
                {
                    "object": "error",
                    "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "input": 7}]},
                    "type": "invalid_request_error",
                },
            ),
        ),
    ),
    Vendor(
        "deepseek",
        (
            when(
                form("json_schema"),
                400,
                openai("This response_format type is unavailable now", None, "invalid_request"),
            ),
        ),
    ),
    Vendor(
        "deepseek-no-credit", (after(4, 402, openai("Insufficient Balance")),), ends="Insufficient Balance"
    ),
    Vendor(
        "groq",
        (
            when(
                form("json_schema"), 400, openai("This model does not support response format `json_schema`.")
            ),
            at(
                {
                    4: Answer(
                        400,
                        {
                            "error": {
                                "message": "Failed to validate JSON. See 'failed_generation'.",
                                "code": "json_validate_failed",
                                "failed_generation": "{",
                            }
                        },
                    ),
                    5: Answer(
                        429, openai("Rate limit reached on tokens per minute. Please try again in 120ms.")
                    ),
                }
            ),
        ),
    ),
    Vendor(
        "openrouter",
        (
            at({2: Answer(200, _UPSTREAM), 3: Answer(200, _BROKEN_CHOICE)}),
            when(
                says("museum e"),
                403,
                {
                    "error": {
                        "code": 403,
                        "message": "The model requires moderation and your input was flagged",
                        "metadata": {"reasons": ["violence"]},
                    }
                },
            ),
        ),
        failed={"refused": 2},
    ),
    Vendor(
        "openrouter-no-credit",
        (after(4, 402, {"error": {"code": 402, "message": "This request requires more credits"}}),),
        ends="more credits",
    ),
    Vendor(
        "together",
        (
            context(
                12_000,
                422,
                openai,
                _INPUTS_AND_NEW,
            ),
        ),
    ),
    Vendor(
        "fireworks",
        (when(has("seed"), 400, openai("Extra inputs are not permitted, field: 'seed', value: 7")),),
    ),
    Vendor(
        "xai",
        (
            when(
                has("seed"),
                400,
                {"code": "Client specified an invalid argument", "error": "Argument not supported: seed"},
            ),
        ),
    ),
    Vendor(
        "cohere",
        (when(real_schema, 400, {"id": "7f", "message": "invalid request: schema keyword is not allowed"}),),
        base="/compatibility/v1",
    ),
    Vendor(
        "vllm",
        (
            when(
                real_schema,
                400,
                vllm("The provided JSON schema contains features not supported by xgrammar."),
            ),
            context(
                12_000,
                400,
                vllm,
                _REQUESTED,
            ),
        ),
    ),
    Vendor(
        "vllm-new",
        (
            context(
                12_000,
                400,
                openai,
                _TOO_LARGE,
            ),
        ),
    ),
    Vendor(
        "sglang",
        (
            when(real_schema, 500, vllm("Failed to convert the grammar from JSON schema", 500)),
            context(
                12_000,
                400,
                vllm,
                _COUNT,
            ),
        ),
    ),
    Vendor(
        "tgi",
        (
            when(
                form("json_schema", "json_object", "json_object_schema"),
                422,
                "Failed to deserialize the JSON body: unknown variant, expected `grammar` at column 120",
            ),
            context(
                12_000,
                422,
                lambda words: {"error": words, "error_type": "validation"},
                _INPUTS_AND_NEW,
            ),
        ),
    ),
    Vendor("ollama", window=4096, shown="the endpoint counted 4,096 tokens"),
    Vendor(
        "llama.cpp",
        (
            at(
                {
                    0: Answer(
                        503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
                    )
                }
            ),
            when(
                lambda body: tokens_of(body) > 9_000,
                400,
                {
                    "error": {
                        "code": 400,
                        "message": "request (9999 tokens) exceeds the available context size (9000 tokens)",
                        "type": "exceed_context_size_error",
                        "n_prompt_tokens": 9999,
                        "n_ctx": 9000,
                    }
                },
            ),
        ),
        failed={"too_long": 2},
    ),
    Vendor(
        "llama-cpp-python",
        (
            when(
                form("json_schema"),
                422,
                pydantic(["body", "response_format", "type"], "Input should be 'text' or 'json_object'"),
            ),
        ),
        obeys=frozenset({"json_object_schema", "json_object"}),
    ),
    Vendor(
        "lm-studio",
        (
            when(
                form("json_object", "json_object_schema"),
                400,
                {"error": "'response_format.type' must be 'json_schema' or 'text'"},
            ),
        ),
    ),
    Vendor(
        "lm-studio-no-grammar",
        (
            when(real_schema, 400, {"error": "Failed to process the grammar"}),
            when(
                form("json_object", "json_object_schema"),
                400,
                {"error": "'response_format.type' must be 'json_schema' or 'text'"},
            ),
        ),
    ),
    Vendor(
        "litellm",
        (
            when(
                has("seed"),
                400,
                openai(
                    "litellm.UnsupportedParamsError: m does not support parameters: ['seed']", None, "400"
                ),
            ),
            at(
                {
                    4: Answer(
                        429, openai("No deployments available for selected model, Try again in 0.1 seconds.")
                    )
                }
            ),
        ),
    ),
    Vendor(
        "litellm-wrong-key",
        (after(0, 401, openai("litellm.AuthenticationError: invalid api key", None, "401")),),
        ends="AuthenticationError",
    ),
    Vendor(
        "bedrock-gateway",
        (
            when(
                lambda body: limit_of(body) > 2048,
                400,
                {"detail": "(ValidationException) The maximum tokens you requested exceeds 2048."},
            ),
        ),
        obeys=frozenset(),
        base="/api/v1",
    ),
    Vendor("proxy-hiccups", (at(dict.fromkeys((1, 4), Answer(502, _PAGE.format("502 Bad Gateway")))),)),
    Vendor("proxy-login", (after(0, 407, _PAGE.format("Proxy login")),), ends="Proxy login"),
    Vendor("proxy-blocked", (after(0, 403, _PAGE.format("Site blocked")),), ends="Site blocked"),
    Vendor("proxy-redirect", (after(0, 302, ""),), ends="302"),
)
"""All of them; a name with a dash and words is a state of the server before the dash."""
