"""A judge for every peer: it answers each in its form, after a delay, with faults on request.

    python -m benchmarks.peers.server --form FORM [--fault errors|cut|passing]

prints its URL and serves until its input ends. Conversation n says "order #n" in its first message. Three of
five are good (`is_good`); every tenth, a good one, is hit by the fault:

- errors: each request about it gets HTTP 500;
- cut: each reply about it breaks off before the verdict;
- passing: the first request about it gets HTTP 500, so a retry gets through.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.stub import Connection, Replies, response

__all__ = ["FAULTS", "FORMS", "Verdicts", "is_good"]

FAULTS = ("none", "errors", "cut", "passing")
_ORDER = re.compile(rb"order #(\d+)")
_WHY = "The replies answer what was asked and keep to what the user had said before. " * 2
_FAILING = response(b'{"error": {"message": "overloaded"}}', "500 Internal Server Error")


def is_good(number: int) -> bool:
    return number % 5 < 3


def _field(reason: str, verdict: str, good: object, bad: object) -> Callable[[bool], str]:
    return lambda is_good: json.dumps({reason: _WHY, verdict: good if is_good else bad})


FORMS: Mapping[str, Callable[[bool], str]] = {
    "dialogauge": lambda is_good: json.dumps(
        {"conversation_level": {"helpful": {"note": _WHY, "score": int(is_good)}}}
    ),
    "inspect": lambda is_good: f"{_WHY}\nGRADE: {'C' if is_good else 'I'}",
    "deepeval": _field("reason", "score", 10, 0),
    "ragas": _field("reason", "verdict", 1, 0),
    "phoenix": _field("explanation", "label", "good", "bad"),
    "mlflow": _field("rationale", "result", True, False),  # noqa: FBT003 - a value of JSON
    "openevals": _field("reasoning", "score", True, False),  # noqa: FBT003 - a value of JSON
    "promptfoo": lambda is_good: json.dumps({"reason": _WHY, "pass": is_good, "score": int(is_good)}),
}
"""What a good or a bad verdict looks like to each of them."""


class Verdicts(Replies):
    """Replies by what a request is about; every request is kept."""

    def __init__(self, form: str, fault: str = "none") -> None:
        super().__init__(keep=True)
        self.form = FORMS[form]
        self.fault = fault
        self._failed: set[int] = set()

    def to(self, body: bytes) -> bytes:
        self.count += 1
        assert self.kept is not None
        self.kept.append(body)
        about = _ORDER.search(body)
        number = int(about[1]) if about else -1
        struck = number >= 0 and number % 10 == 0
        if struck and (self.fault == "errors" or (self.fault == "passing" and number not in self._failed)):
            self._failed.add(number)
            return _FAILING
        text = self.form(is_good(number))
        if struck and self.fault == "cut":
            text = text[: len(_WHY) // 2]
        return response(json.dumps(_completion(json.loads(body), text)).encode())


def _completion(asked: Mapping[str, Any], text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if asked.get("tools"):
        call = {"name": asked["tools"][0]["function"]["name"], "arguments": text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        }
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 60, "total_tokens": 560},
    }


async def serve(verdicts: Verdicts, latency: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(verdicts, latency), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--form", choices=FORMS, required=True)
    parser.add_argument("--fault", choices=FAULTS, default="none")
    parser.add_argument("--latency", type=float, default=0.05)
    given = parser.parse_args()
    asyncio.run(serve(Verdicts(given.form, given.fault), given.latency))
