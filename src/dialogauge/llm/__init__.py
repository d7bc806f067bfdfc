"""Language models: clients, cache, limits, structured output, usage and cost.

Names are loaded when they are used: a client that speaks HTTP costs its import only where one is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.llm.budget import Budget, BudgetedClient
    from dialogauge.llm.cache import CachedClient, ResponseCache, client_identity
    from dialogauge.llm.doctor import EndpointCheck, EndpointReport, examine
    from dialogauge.llm.http import HttpChatClient, HttpSettings
    from dialogauge.llm.json_text import Extracted, NoJsonObject, TruncatedJson, extract_object
    from dialogauge.llm.limits import AdaptiveLimiter, LimiterState
    from dialogauge.llm.patience import PatienceSettings, Timing
    from dialogauge.llm.prices import Price, PriceTable
    from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest, ReplySchema
    from dialogauge.llm.sampling import SamplingParameters
    from dialogauge.llm.scripted import CallableClient, ScriptedClient
    from dialogauge.llm.structured import Structured, ask
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
    "budget": ("Budget", "BudgetedClient"),
    "cache": ("CachedClient", "ResponseCache", "client_identity"),
    "doctor": ("EndpointCheck", "EndpointReport", "examine"),
    "http": ("HttpChatClient", "HttpSettings"),
    "json_text": ("Extracted", "NoJsonObject", "TruncatedJson", "extract_object"),
    "limits": ("AdaptiveLimiter", "LimiterState"),
    "patience": ("PatienceSettings", "Timing"),
    "prices": ("Price", "PriceTable"),
    "protocol": ("ChatClient", "ChatFailure", "ChatReply", "ChatRequest", "ReplySchema"),
    "sampling": ("SamplingParameters",),
    "scripted": ("CallableClient", "ScriptedClient"),
    "structured": ("Structured", "ask"),
    "transformers_client": ("TransformersClient",),
}
__getattr__ = loading(__name__, _HOMES)
