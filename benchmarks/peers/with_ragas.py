"""RAGAS: AspectCritic on samples of several turns, in its own `evaluate`.

python with_ragas.py LOG URL AT_ONCE default|tolerant|resumable|again
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from openai import AsyncOpenAI
from ragas import EvaluationDataset, MultiTurnSample, RunConfig, evaluate
from ragas.cache import DiskCacheBackend
from ragas.llms import llm_factory
from ragas.messages import AIMessage, HumanMessage
from ragas.metrics import AspectCritic


def sample(line: str) -> MultiTurnSample:
    speak = {"user": HumanMessage, "assistant": AIMessage}
    return MultiTurnSample(
        user_input=[speak[m["role"]](content=m["content"]) for m in json.loads(line)["messages"]]
    )


if __name__ == "__main__":
    log, url, at_once, how = sys.argv[1:]
    cache = DiskCacheBackend() if how in ("resumable", "again") else None
    judge = llm_factory("stub-model", client=AsyncOpenAI(base_url=url, api_key="none"), cache=cache)
    result = evaluate(
        EvaluationDataset([sample(line) for line in Path(log).read_text().splitlines()]),
        metrics=[AspectCritic(name="helpful", definition="Do the replies help the user?", llm=judge)],
        llm=judge,
        run_config=RunConfig(max_workers=int(at_once)),
        show_progress=False,
    )
    values = [row["helpful"] for row in result.scores]
    print(
        json.dumps(
            {
                "printed": str(result),
                "scored": sum(v == v for v in values),
                "unscored": sum(v != v for v in values),
            }
        )
    )
