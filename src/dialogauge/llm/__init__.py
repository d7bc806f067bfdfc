"""Language models: clients, cache, limits, structured output, usage and cost.

Names are loaded when they are used: a client that speaks HTTP costs its import only where one is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.llm.budget import Budget, BudgetedClient, Price, PriceTable
    from dialogauge.llm.cache import CachedClient, ResponseCache, client_identity
    from dialogauge.llm.doctor import EndpointCheck, EndpointReport, examine
    from dialogauge.llm.http import HttpChatClient, HttpSettings
    from dialogauge.llm.limiter import AdaptiveLimiter, LimiterState
    from dialogauge.llm.protocol import (
        ChatClient,
        ChatFailure,
        ChatReply,
        ChatRequest,
        ReplySchema,
        SamplingParameters,
    )
    from dialogauge.llm.retry import PatienceSettings, Timing
    from dialogauge.llm.scripted import CallableClient, ScriptedClient
    from dialogauge.llm.structured import (
        Extracted,
        NoJsonObject,
        Structured,
        TruncatedJson,
        ask,
        extract_object,
    )
    from dialogauge.llm.transformers_client import TransformersClient

__all__ = [
    "AdaptiveLimiter",
    "Budget",
    "BudgetedClient",
    "CachedClient",
    "CallableClient",
    "ChatClient",
    "ChatFailure",
    "ChatReply",
    "ChatRequest",
    "EndpointCheck",
    "EndpointReport",
    "Extracted",
    "HttpChatClient",
    "HttpSettings",
    "LimiterState",
    "NoJsonObject",
    "PatienceSettings",
    "Price",
    "PriceTable",
    "ReplySchema",
    "ResponseCache",
    "SamplingParameters",
    "ScriptedClient",
    "Structured",
    "Timing",
    "TransformersClient",
    "TruncatedJson",
    "ask",
    "client_identity",
    "examine",
    "extract_object",
]

_HOMES = {
    "budget": ("Budget", "BudgetedClient", "Price", "PriceTable"),
    "cache": ("CachedClient", "ResponseCache", "client_identity"),
    "doctor": ("EndpointCheck", "EndpointReport", "examine"),
    "http": ("HttpChatClient", "HttpSettings"),
    "limiter": ("AdaptiveLimiter", "LimiterState"),
    "protocol": (
        "ChatClient",
        "ChatFailure",
        "ChatReply",
        "ChatRequest",
        "ReplySchema",
        "SamplingParameters",
    ),
    "retry": ("PatienceSettings", "Timing"),
    "scripted": ("CallableClient", "ScriptedClient"),
    "structured": ("Extracted", "NoJsonObject", "Structured", "TruncatedJson", "ask", "extract_object"),
    "transformers_client": ("TransformersClient",),
}
__getattr__ = loading(__name__, _HOMES)
