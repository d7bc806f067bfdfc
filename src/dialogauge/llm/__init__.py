"""Language models: clients, cache, limits, structured replies, usage and cost.

Names load on first use, so a run without HTTP does not import an HTTP client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.llm.budget import (
        Budget,
        BudgetedClient,
        PrefixMeter,
        PriceTable,
    )
    from dialogauge.llm.cache import CachedClient, ResponseCache, client_identity
    from dialogauge.llm.device import alone, chosen_device, pretrained
    from dialogauge.llm.doctor import EndpointCheck, EndpointReport, examine
    from dialogauge.llm.embeddings import HttpEmbedder
    from dialogauge.llm.endpoint import Endpoint
    from dialogauge.llm.expected import CountingClient, Expected
    from dialogauge.llm.folder_embeddings import FolderEmbedder
    from dialogauge.llm.http import HttpChatClient, HttpSettings
    from dialogauge.llm.identity import folder_digest, function_digest
    from dialogauge.llm.json_endpoint import JsonEndpoint
    from dialogauge.llm.json_text import NoJsonObject, extract_object
    from dialogauge.llm.limiter import LimiterState
    from dialogauge.llm.protocol import (
        ChatClient,
        ChatFailure,
        ChatReply,
        ChatRequest,
        ReplySchema,
        SamplingParameters,
    )
    from dialogauge.llm.retry import RetrySettings
    from dialogauge.llm.scripted import CallableClient, ScriptedClient, takes_session
    from dialogauge.llm.secrets import Secrets, shown_parameters, without_credentials
    from dialogauge.llm.structured import Structured, ask
    from dialogauge.llm.transformers_client import TransformersClient


__getattr__ = loading(__name__)
