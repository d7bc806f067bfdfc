"""The calls of a search, bare: `bare_lookahead.py URL SCENARIOS STEPS TURNS CONCURRENCY ALONE`.

Each step has two rollouts side by side, and of each the four calls of a judge at once. Unless ALONE is 0 each
call has a connection of its own, as those of the package have.
"""

from __future__ import annotations

import asyncio
import sys

import aiohttp
from bare_sessions import ask

_SYSTEM = {"role": "system", "content": "You are a guide who shows visitors the old harbour. " * 10}
_RUBRIC = {"role": "system", "content": "You judge the session as a whole, by criteria that you quote. " * 60}


async def _main(url: str, scenarios: int, steps: int, turns: int, concurrency: int, alone: int) -> None:
    slots = asyncio.Semaphore(concurrency)
    connector = aiohttp.TCPConnector(limit=0, force_close=bool(alone))
    async with aiohttp.ClientSession(connector=connector) as client:

        async def reply(messages: list[dict[str, str]]) -> str:
            async with slots:
                return await ask(client, url, messages)

        async def rollout(prefix: list[dict[str, str]]) -> list[dict[str, str]]:
            talk = list(prefix)
            for _ in range(turns):
                for role in ("user", "assistant"):
                    talk.append({"role": role, "content": await reply([_SYSTEM, *talk])})
            await asyncio.gather(*(reply([_RUBRIC, *talk]) for _ in range(4)))
            return talk

        async def search() -> None:
            talk: list[dict[str, str]] = []
            for _ in range(steps):
                talk, _ = await asyncio.gather(rollout(talk), rollout(talk))

        await asyncio.gather(*(search() for _ in range(scenarios)))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], *map(int, sys.argv[2:])))
