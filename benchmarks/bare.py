"""The bare client: the same request again and again over aiohttp, nothing done with the replies.

python benchmarks/bare.py URL BODY_FILE NUMBER CONCURRENCY
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp


async def ask(url: str, body: bytes, number: int, concurrency: int) -> None:
    left = iter(range(number))
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for _ in left:
                async with session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
                    await response.json()

        await asyncio.gather(*(work() for _ in range(concurrency)))


if __name__ == "__main__":
    url, file, number, concurrency = sys.argv[1:]
    asyncio.run(ask(url, Path(file).read_bytes(), int(number), int(concurrency)))
