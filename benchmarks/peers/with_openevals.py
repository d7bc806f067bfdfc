"""openevals: its judge over the messages of a conversation; it has no runner, so the loop is ours.

python with_openevals.py LOG URL AT_ONCE default|tolerant
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from openai import AsyncOpenAI
from openevals.llm import create_async_llm_as_judge


async def main(lines: list[str], url: str, at_once: int, how: str) -> None:
    judge = create_async_llm_as_judge(
        prompt="Read every reply in its conversation. Does it help the user?\n\n{outputs}",
        judge=AsyncOpenAI(base_url=url, api_key="none"),
        model="stub-model",
        feedback_key="helpful",
    )
    free = asyncio.Semaphore(at_once)

    async def one(line: str) -> object:
        async with free:
            return (await judge(outputs=json.loads(line)["messages"]))["score"]

    scores = await asyncio.gather(*map(one, lines), return_exceptions=how == "tolerant")
    known = [float(s) for s in scores if isinstance(s, bool | int | float)]
    print(
        json.dumps(
            {
                "mean_of_list": sum(known) / len(known),
                "scored": len(known),
                "unscored": len(scores) - len(known),
            }
        )
    )


if __name__ == "__main__":
    log, url, at_once, how = sys.argv[1:]
    asyncio.run(main(Path(log).read_text().splitlines(), url, int(at_once), how))
