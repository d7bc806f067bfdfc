from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from dialogauge.llm import HttpChatClient, HttpSettings
from dialogauge.llm.retry import Timing
from servers.asking import quick
from servers.openai_stub import OpenAIStub


@pytest.fixture
def serve() -> Iterator[Callable[..., OpenAIStub]]:
    """Starts stubs that stop at the end of the test."""
    with ExitStack() as stack:
        yield lambda *args, **options: stack.enter_context(OpenAIStub(*args, **options))


@pytest.fixture
async def connect():
    """Makes clients with short deadlines; they are closed at the end of the test."""
    clients: list[HttpChatClient] = []

    def make(url: str, model: str = "stub-model", *, retry: Any = None, settings: Any = None, **options: Any):
        chosen = HttpSettings(retry=retry or quick(), **(settings or {}))
        options.setdefault("timing", Timing(rng=random.Random(1)))
        clients.append(HttpChatClient(model, url, settings=chosen, **options))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()
