"""A lean endpoint for benchmarks: raw HTTP/1.1 on asyncio, a fixed delay, a verdict that fits the schema.

    python benchmarks/stub.py --latency 0.05

prints its URL and serves until its input ends. It looks into a request only when it has not made a reply
for that shape of request yet, so that it limits no client. `GET /count` tells how many chat requests came,
`GET /request` gives the last body, `GET /all` with `--keep` all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from contextlib import suppress
from typing import Any

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_SENTENCE = "The reply answers what was asked and keeps to what the user had said before. "
_OTHERS = (
    "Half of this is beside my point, please look at the second shelf. ",
    "You have missed what matters most to somebody in a hurry. ",
    "I wanted a date and a name, and there is neither. ",
)
"""With `--varied`, in the place of the sentence where a dialogue has gone on: nobody says a thing twice."""


def instance(schema: dict[str, Any], position: int = 0, key: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Make a value that satisfies a JSON schema as the rubrics write them, with the best scores.

    Older checkouts, which `benchmarks.pairs` compares with, ask for a list of turns: each has its number.
    """
    schema = schema.get("anyOf", [schema])[0]
    if "enum" in schema:
        options = schema["enum"]
        best = options[0] if isinstance(options[0], str) else options[-1]
        return options[position] if key == "turn" else best
    kind = schema.get("type")
    if kind == "object":
        return {name: instance(value, position, name) for name, value in schema["properties"].items()}
    if kind == "array":
        return [instance(schema["items"], i) for i in range(schema.get("minItems", 1))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return _SENTENCE.strip() if kind == "string" else None


class Replies:
    """The bodies of replies, made once for each shape of request."""

    def __init__(self, *, keep: bool = False, content: str | None = None, varied: bool = False) -> None:
        self.content = content
        self.varied = varied
        self.count = 0
        self.last = b""
        self.kept: list[bytes] | None = [] if keep else None
        self._made: dict[bytes, bytes] = {}

    def to(self, body: bytes) -> bytes:
        self.count += 1
        self.last = body
        if self.kept is not None:
            self.kept.append(body)
        # The schema stands at the end of the bodies; its hash would cost more than its length.
        at = body.rfind(b'"response_format"')
        shape = body[at:] if at >= 0 else b""
        version = body.count(b"assistant") % (1 + len(_OTHERS)) if self.varied else 0
        reply = self._made.get(shape + b"%d" % version)
        if reply is None:
            reply = _reply(body, self.content)
            if version:
                reply = _with(reply, _OTHERS[version - 1])
            self._made[shape + b"%d" % version] = reply
        return reply


def _reply(body: bytes, content: str | None) -> bytes:
    wanted = json.loads(body).get("response_format") or {}
    schema = (wanted.get("json_schema") or {}).get("schema")
    value = {"reason": _SENTENCE * 3, "score": 4} if schema is None else instance(schema)
    message = {"role": "assistant", "content": content or json.dumps(value)}
    tokens = len(body) // 4
    answer = {
        "id": "stub",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 300, "total_tokens": tokens + 300},
    }
    return response(json.dumps(answer).encode())


def _with(reply: bytes, sentence: str) -> bytes:
    body = reply.partition(b"\r\n\r\n")[2]
    return response(body.replace(_SENTENCE.strip().encode(), sentence.strip().encode()))


def response(content: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


class Connection(asyncio.Protocol):
    """One keep-alive connection; a client sends its next request after the reply."""

    def __init__(self, replies: Replies, latency: float) -> None:
        self._replies = replies
        self._latency = latency
        self._buffer = b""
        self._need = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) < self._need:
            return
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end]
        found = _LENGTH.search(head)
        self._need = end + 4 + (int(found.group(1)) if found else 0)
        if len(self._buffer) < self._need:
            return
        body, self._buffer, self._need = self._buffer[end + 4 : self._need], self._buffer[self._need :], 0
        if head.startswith(b"POST"):
            asyncio.get_running_loop().call_later(self._latency, self._send, self._replies.to(body))
        elif head.startswith(b"GET /count"):
            self._send(response(str(self._replies.count).encode()))
        elif head.startswith(b"GET /all"):
            self._send(response(b"[" + b",".join(self._replies.kept or ()) + b"]"))
        else:
            self._send(response(self._replies.last))

    def _send(self, content: bytes) -> None:
        with suppress(RuntimeError):
            self._transport.write(content)  # type: ignore[attr-defined]


async def serve(latency: float, *, keep: bool, content: str | None, varied: bool) -> None:
    loop = asyncio.get_running_loop()
    replies = Replies(keep=keep, content=content, varied=varied)
    server = await loop.create_server(lambda: Connection(replies, latency), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--content", help="what every reply says, whatever was asked")
    parser.add_argument("--varied", action="store_true", help="other words where a dialogue has gone on")
    given = parser.parse_args()
    asyncio.run(serve(given.latency, keep=given.keep, content=given.content, varied=given.varied))
