from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from servers.openai_stub import OpenAIStub

from dialogauge.llm import ChatRequest, HttpChatClient, HttpSettings, PatienceSettings, Timing


@pytest.fixture
def serve() -> Iterator[Callable[..., OpenAIStub]]:
    """Starts stubs that stop at the end of the test."""
    with ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(OpenAIStub(*args, **options))


def quick(**changes: Any) -> PatienceSettings:
    """Patience that is soon at its end."""
    plain = {"attempt_deadline": 2.0, "item_deadline": 5.0, "backoff_base": 0.002, "backoff_cap": 0.01}
    return PatienceSettings(**{**plain, **changes})


@pytest.fixture
async def connect():
    """Makes clients with little patience; they are closed at the end of the test."""
    clients: list[HttpChatClient] = []

    def make(
        url: str, model: str = "stub-model", *, patience: Any = None, settings: Any = None, **options: Any
    ):
        chosen = HttpSettings(patience=patience or quick(), **(settings or {}))
        options.setdefault("timing", Timing(rng=random.Random(1)))
        clients.append(HttpChatClient(model, url, settings=chosen, **options))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()


def question(text: str = "How good was it?", **options: Any) -> ChatRequest:
    return ChatRequest(({"role": "user", "content": text},), **options)
