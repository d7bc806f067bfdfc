"""Inspect: a replay solver that calls no model, and its own scorer by a model with the history.

python with_inspect.py LOG URL AT_ONCE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import Generate, Solver, TaskState, solver


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


if __name__ == "__main__":
    log, url, at_once = sys.argv[1:]
    judge = get_model("openai-api/stub/stub-model", base_url=url, api_key="none")
    samples = [sample(line) for line in Path(log).read_text().splitlines()]
    task = Task(
        MemoryDataset(samples), solver=replay(), scorer=model_graded_qa(include_history=True, model=judge)
    )
    (result,) = eval(
        task,
        model=judge,
        display="none",
        log_dir="inspect_logs",
        log_realtime=False,
        max_samples=int(at_once),
        max_connections=int(at_once),
    )
    if (
        result.status != "success"
        or result.results is None
        or result.results.scores[0].scored_samples != len(samples)
    ):
        sys.exit(f"{result.status}: {result.error}")
