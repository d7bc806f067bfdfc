"""DeepEval: ConversationalGEval with fixed steps and a client that is made once.

python with_deepeval.py LOG URL AT_ONCE default|tolerant|resumable|again
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import ConversationalGEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import ConversationalTestCase, MultiTurnParams, Turn
from openai import AsyncOpenAI


class Stub(DeepEvalBaseLLM):
    def __init__(self, url: str) -> None:
        self.client = AsyncOpenAI(base_url=url, api_key="none")
        super().__init__("stub-model")

    def load_model(self, *args: object, **kwargs: object) -> object:
        del args, kwargs
        return self.client

    def generate(self, prompt: str) -> str:
        raise NotImplementedError

    async def a_generate(self, prompt: str) -> str:
        asked = [{"role": "user", "content": prompt}]
        done = await self.client.chat.completions.create(model="stub-model", messages=asked)
        return done.choices[0].message.content

    def get_model_name(self) -> str:
        return "stub-model"


def case(line: str) -> ConversationalTestCase:
    record = json.loads(line)
    turns = [Turn(role=m["role"], content=m["content"]) for m in record["messages"]]
    return ConversationalTestCase(turns=turns, name=record["id"])


if __name__ == "__main__":
    log, url, at_once, how = sys.argv[1:]
    goes_on = how in ("resumable", "again")
    metric = ConversationalGEval(
        name="helpful",
        evaluation_params=[MultiTurnParams.ROLE, MultiTurnParams.CONTENT],
        evaluation_steps=["Read every reply in its conversation.", "Judge whether it helps the user."],
        model=Stub(url),
    )
    done = evaluate(
        [case(line) for line in Path(log).read_text().splitlines()],
        [metric],
        async_config=AsyncConfig(max_concurrent=int(at_once)),
        cache_config=CacheConfig(use_cache=goes_on, write_cache=goes_on),
        display_config=DisplayConfig(show_indicator=False, results_folder="deepeval_results"),
        error_config=ErrorConfig(ignore_errors=how == "tolerant"),
    )
    measured = [m for result in done.test_results for m in result.metrics_data]
    print(
        json.dumps(
            {
                "passed": sum(result.success for result in done.test_results),
                "results": len(done.test_results),
                "scored": sum(m.score is not None for m in measured),
                "unscored": sum(m.score is None for m in measured),
            }
        )
    )
