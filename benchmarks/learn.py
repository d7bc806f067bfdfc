"""Memory systems on LoCoMo through a real HTTP server, which answers, embeds and counts.

    python -m benchmarks.learn              # the seven conversations, every question
    python -m benchmarks.learn --sample 70  # fewer

The server speaks the OpenAI formats. Its chat model answers in the words of the notes, as `extract` does; its
embeddings are words hashed to 512 numbers. So the figures show what a system costs, that nothing is lost on
the way, and no quality of any model. Reads data/membench below the folder that DIALOGAUGE_SHARED names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.tables import table

WIDTH = 512
_NOTE = re.compile(r"^- \[(?P<date>[^\]]*)\] (?P<speaker>[^:]*): (?P<text>.*)$", re.MULTILINE)


class Server:
    """Answers in a thread of its own, and counts requests by path."""

    def __init__(self, reply: Callable[[dict[str, Any]], str] | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.tokens = 0
        self._reply = reply or (lambda body: answer(body["messages"][-1]["content"]))
        self._loop, self._ready = asyncio.new_event_loop(), threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        self._ready.wait()
        return f"http://127.0.0.1:{self._port}/v1"

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embeddings)
        runner = web.AppRunner(app, access_log=None)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self._port = runner.addresses[0][1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())

    async def _chat(self, request: web.Request) -> web.Response:
        self.counts["chat"] += 1
        body = await request.json()
        tokens = sum(len(m["content"]) for m in body["messages"]) // 4
        reply = self._reply(body)
        message = {"role": "assistant", "content": reply}
        usage = {"prompt_tokens": tokens, "completion_tokens": len(reply) // 4 + 1}
        self.tokens += sum(usage.values())
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return web.json_response({"model": "notes", "choices": [choice], "usage": usage})

    async def _embeddings(self, request: web.Request) -> web.Response:
        self.counts["embeddings"] += 1
        texts = (await request.json())["input"]
        data = [{"index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
        usage = {"prompt_tokens": sum(map(len, texts)) // 4, "total_tokens": sum(map(len, texts)) // 4}
        self.tokens += usage["total_tokens"]
        return web.json_response({"model": "hashed", "data": data, "usage": usage})


def answer(prompt: str) -> str:
    """Answer in the words of the notes of a prompt; without notes nothing tells."""
    from dialogauge.agents.memory import MemoryItem, extract

    notes = [m.groupdict() for m in _NOTE.finditer(prompt)]
    items = [MemoryItem("", None, n["text"], n["speaker"], n["date"]) for n in notes]
    return extract(prompt.rpartition("\n\n")[2], items) or "not mentioned"


def vector(text: str) -> list[float]:
    """Hash the words of a text to numbers of length 1."""
    numbers = [0.0] * WIDTH
    for word in re.findall(r"\w{3,}", text.lower()):
        numbers[zlib.crc32(word.encode()) % WIDTH] += 1.0
    length = math.sqrt(sum(n * n for n in numbers)) or 1.0
    return [n / length for n in numbers]


def measure(sample: int | None, out: Path) -> tuple[dict[str, Any], Counter[str], float]:
    """Run every system through the server; return the summary, what the server counted, and the seconds."""
    import dialogauge

    folder = Path(os.environ["DIALOGAUGE_SHARED"]) / "data" / "membench"
    server = Server()
    os.environ["DIALOGAUGE_CACHE"] = str(out / "cache")
    with server as url:
        begun = time.monotonic()
        run = dialogauge.learn(
            [folder / "locomo_qa.jsonl", folder / "locomo_corpus.jsonl"],
            ["bm25-message", "bm25-session", "bm25-both", "ranked-message", "embed-message", "embed-session"],
            model="notes",
            base_url=url,
            models=(f"embedder=hashed@{url}",),
            disputed_file=str(folder / "locomo_disputed.jsonl"),
            sample=sample,
            out=out / "run",
            progress=False,
        )
        seconds = time.monotonic() - begun
    return json.loads((run.path / "summary.json").read_text()), server.counts, seconds


def main() -> None:
    """Print what each system came to, and what the server saw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learn")
    parser.add_argument("--sample", type=int, help="questions at most")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        summary, counts, seconds = measure(asked.sample, Path(folder))
    (of,) = summary["sets"]
    rows = [
        (
            s["name"],
            s["room"],
            s["asked"] - sum(s["failed"].values()),
            s["score"]["value"],
            s["recall"]["value"],
            s["tokens"],
            s["retrieve_ms"],
            s["answer_tokens"],
            summary["costs"][s["name"]]["calls_a_dialogue"],
            1000 * summary["costs"][s["name"]]["seconds_a_dialogue"],
        )
        for s in of["systems"]
    ]
    heads = ("system", "room", "n", "F1", "evidence", "tokens", "ms", "tokens to answer", "calls in", "ms in")
    print(table("LoCoMo through HTTP", heads, rows))
    taken_in = sum(c["calls_a_dialogue"] * c["dialogues"] for c in summary["costs"].values())
    print(f"the server saw {counts['chat']:,} chats and {counts['embeddings']:,} embeddings")
    answers = sum(row[2] for row in rows)
    print(f"rows and notes say {answers:,} answers, {taken_in:,.0f} calls to take in; {seconds:.0f} s")


if __name__ == "__main__":
    main()
