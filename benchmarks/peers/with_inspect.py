"""Inspect: a replay solver that calls no model, and its own scorer by a model with the history.

python with_inspect.py LOG URL AT_ONCE default|tolerant|resumable|again
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from inspect_ai import Task, eval, eval_retry, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import list_eval_logs
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, solver

MODEL = "openai-api/stub/stub-model"


@solver
def replay() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        state.output = ModelOutput.from_content("replayed", state.metadata["reply"])
        return state

    return solve


def sample(line: str) -> Sample:
    record = json.loads(line)
    speak = {"user": ChatMessageUser, "assistant": ChatMessageAssistant}
    *before, last = record["messages"]
    return Sample(
        id=record["id"],
        input=[speak[m["role"]](content=m["content"]) for m in before],
        target="a helpful reply that keeps to what was said",
        metadata={"reply": last["content"]},
    )


@task
def judged(log: str) -> Task:
    samples = [sample(line) for line in Path(log).read_text().splitlines()]
    scorer = model_graded_qa(include_history=True, model=MODEL)
    return Task(MemoryDataset(samples), solver=replay(), scorer=scorer)


if __name__ == "__main__":
    log, url, at_once, how = sys.argv[1:]
    os.environ |= {"STUB_BASE_URL": url, "STUB_API_KEY": "none"}
    tolerance = {"max_retries": 1, "fail_on_error": False} if how == "tolerant" else {}
    settings = {
        "display": "plain",
        "log_dir": "inspect_logs",
        "max_samples": int(at_once),
        "max_connections": int(at_once),
        **tolerance,
    }
    if how == "again":
        (last,) = list_eval_logs("inspect_logs")
        settings.pop("max_samples")
        (result,) = eval_retry(last, **settings)
    else:
        (result,) = eval(judged(log), model=MODEL, log_realtime=False, **settings)
    scores = result.results.scores[0] if result.results else None
    print(
        json.dumps(
            {
                "status": result.status,
                "mean": scores and scores.metrics["accuracy"].value,
                "stderr": scores and scores.metrics["stderr"].value,
                "scored": scores and scores.scored_samples,
                "unscored": scores and scores.unscored_samples,
                "error": result.error and result.error.message[:200],
            }
        )
    )
