"""The same dialogues with nothing around them: `bare_sessions.py URL SESSIONS CALLS CONCURRENCY [ALONE]`;
with ALONE each call has a connection of its own."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import aiohttp
import orjson

_SYSTEM = {"role": "system", "content": "You are a guide who shows visitors the old harbour. " * 10}


async def ask(client: aiohttp.ClientSession, url: str, messages: list[dict[str, str]]) -> str:
    """Return the reply to some messages."""
    body = {"model": "stub-model", "messages": messages, "temperature": 1.0, "max_tokens": 1024}
    headers = {"Content-Type": "application/json"}
    async with client.post(f"{url}/chat/completions", data=orjson.dumps(body), headers=headers) as response:
        answer: Any = orjson.loads(await response.read())
    return str(answer["choices"][0]["message"]["content"])


async def _session(client: aiohttp.ClientSession, url: str, calls: int) -> None:
    talk: list[dict[str, str]] = []
    for number in range(calls):
        role = "assistant" if number % 2 else "user"
        talk.append({"role": role, "content": await ask(client, url, [_SYSTEM, *talk])})


async def _main(url: str, sessions: int, calls: int, concurrency: int, alone: int = 0) -> None:
    slots = asyncio.Semaphore(concurrency)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=bool(alone))
    ) as client:

        async def one() -> None:
            async with slots:
                await _session(client, url, calls)

        await asyncio.gather(*(one() for _ in range(sessions)))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], *map(int, sys.argv[2:])))
