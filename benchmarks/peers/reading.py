"""Which logs a tool reads without code: each of its own file readers on each sample, with their defaults.

    PYTHON reading.py WHO FOLDER

prints, for each file of FOLDER, the conversations as [role, text] pairs from every reader that took it.
Roles in the reader's own words for user and assistant (human, ai) count as these.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Talk = list[list[str]]
_ROLES = {"human": "user", "ai": "assistant"}


def _pair(role: str, text: object) -> list[str]:
    return [_ROLES.get(role, role), str(text).strip()]


def _dialogauge(path: Path) -> Iterator[Talk]:
    from dialogauge.data import read_conversations

    for talk in read_conversations([str(path)]):
        yield [_pair(m.role, m.text) for m in talk.messages if m.role != "tool" and m.text.strip()]


def _inspect_log(path: Path) -> Iterator[Talk]:
    from inspect_ai.log import read_eval_log

    for sample in read_eval_log(str(path)).samples or []:
        yield [_pair(m.role, m.text) for m in sample.messages if m.role != "tool" and m.text.strip()]


def _inspect_rows(path: Path) -> Iterator[Talk]:
    from inspect_ai.dataset import csv_dataset, json_dataset

    for sample in (csv_dataset if path.suffix == ".csv" else json_dataset)(str(path)):
        if isinstance(sample.input, str):
            yield [["user", sample.input]]
        else:
            yield [_pair(m.role, m.text) for m in sample.input]


def _scout(source: str) -> Callable[[Path], Iterator[Talk]]:
    def read(path: Path) -> Iterator[Talk]:
        from inspect_scout import sources

        async def all_of_it() -> list[Any]:
            return [t async for t in getattr(sources, source)(path)]

        for transcript in asyncio.run(all_of_it()):
            yield [_pair(m.role, m.text) for m in transcript.messages if m.role != "tool" and m.text.strip()]

    return read


def _deepeval(path: Path) -> Iterator[Talk]:
    from deepeval.dataset import EvaluationDataset, Golden

    dataset = EvaluationDataset()
    getattr(dataset, f"add_goldens_from_{path.suffix[1:]}_file")(str(path))
    for golden in dataset.goldens:
        if isinstance(golden, Golden):
            yield [_pair("user", golden.input), _pair("assistant", golden.actual_output)]
        else:
            yield [_pair(turn.role, turn.content) for turn in golden.turns or []]


def _ragas(path: Path) -> Iterator[Talk]:
    from ragas import EvaluationDataset

    for sample in getattr(EvaluationDataset, f"from_{path.suffix[1:]}")(path):
        if isinstance(sample.user_input, list):
            yield [_pair(m.type, m.content) for m in sample.user_input if m.type != "tool"]
        else:
            yield [_pair("user", sample.user_input), _pair("assistant", sample.response)]


def _mlflow(path: Path) -> Iterator[Talk]:
    from mlflow.entities import Trace
    from mlflow.genai.utils.trace_utils import resolve_conversation_from_session

    traces = json.loads(path.read_text())
    asked = resolve_conversation_from_session(
        [Trace.from_dict(t) for t in (traces if isinstance(traces, list) else [traces])]
    )
    yield [_pair(m["role"], m["content"]) for m in asked if m["role"] != "tool"]


READERS: dict[str, tuple[Callable[[Path], Iterator[Talk]], ...]] = {
    "dialogauge": (_dialogauge,),
    "inspect": (_inspect_log, _inspect_rows, _scout("claude_code"), _scout("atif")),
    "deepeval": (_deepeval,),
    "ragas": (_ragas,),
    "mlflow": (_mlflow,),
}
"""Phoenix's evals and openevals take objects in memory; promptfoo takes rows as variables of a prompt."""


def read_alike(shape: dict[str, Any], attempts: list[list[Talk]]) -> bool:
    """Return whether one of the readers saw what a person sees: every message, its role and its text."""
    wanted = sorted(
        [[role, text.strip()] for role, text in c["messages"]] for c in shape.get("conversations", [])
    )
    return bool(wanted) and any(sorted(talks) == wanted for talks in attempts)


def _attempts(who: str, path: Path) -> Iterator[list[Talk]]:
    for read in READERS[who]:
        try:
            talks = list(read(path))
        except Exception:  # noqa: BLE001 - a reader may refuse in any way it likes
            continue
        if talks:
            yield talks


if __name__ == "__main__":
    who, folder = sys.argv[1:]
    names = sorted(p for p in Path(folder).iterdir() if p.name != "expected.json")
    print(json.dumps({p.name: list(_attempts(who, p)) for p in names}))
