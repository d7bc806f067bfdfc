"""A real OpenAI-compatible server on 127.0.0.1 in a thread of its own, with faults on demand.

    with OpenAIStub(lambda request: '{"score": 4}') as stub:
        client = HttpChatClient("stub-model", stub.url)

Alone, as `python -m servers.openai_stub`, it prints its URL and serves until its input ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, Literal

from aiohttp import web

from servers.broken_http import WIRES, Pieces
from servers.faults import FaultPlan
from servers.schemas import conforms, instance

Reply = str | tuple[str, Mapping[str, int]]
"""The text, or text and usage."""

Schema = Literal["obey", "ignore", "refuse", "error", "json_object"]
"""Enforced; accepted and ignored; refused with 400, with 500; refused, but json_object is enforced."""

_PROSE = "The assistant did rather well on the whole."
_THOUGHT = 'The user wants JSON, perhaps {"score": 1}. Let me think.'


_LAST_NUMBER = re.compile(r"(?<=: )-?[0-9]+(?=[^0-9]*$)")
_LAST_MEMBER = re.compile(r'"[^"]*": -?[0-9]+(?=[^0-9]*$)')
_OTHER_NUMBERS = str.maketrans("012345", "154221")


@dataclass(slots=True)
class Exchange:
    """One chat request and what became of it."""

    body: dict[str, Any]
    came: float
    """When, on the monotonic clock."""
    fault: str = ""
    """What the plan dealt it."""
    ended: float | None = None
    """When the answer had been handed over, or had gone wrong; None while it is under way."""
    lost: bool = False
    """Whether the connection was gone by then, so that nobody got the answer."""


class OpenAIStub:
    """Serves `/v1/chat/completions` and `/v1/models`.

    Args:
        reply: Makes the text of a reply from the JSON of a request; a string is always replied.
        latency: Seconds before each reply.
        schema: What the server does with `response_format`.
        faults: Which requests go wrong.
        model: The only model it knows; None knows every model.
        key: The key it asks for, if any.
        refused: Parameters that it refuses with 400, each with the message.
        counts: Whether it reports usage.
        threaded: Whether `reply` is slow and belongs in a thread; it is called one at a time.
    """

    def __init__(
        self,
        reply: str | Callable[[dict[str, Any]], Reply] = '{"score": 4}',
        *,
        latency: float = 0.0,
        schema: Schema = "obey",
        faults: FaultPlan | None = None,
        model: str | None = None,
        key: str | None = None,
        refused: Mapping[str, str] | None = None,
        counts: bool = True,
        threaded: bool = False,
        port: int = 0,
        base: str = "/v1",
    ) -> None:
        self.reply = reply if callable(reply) else (lambda _: reply)
        self.latency = latency
        self.schema = schema
        self.faults = faults or FaultPlan()
        self.model = model
        self.key = key
        self.refused = dict(refused or {})
        self.counts = counts
        self.threaded = threaded
        self.port = port
        self.base = base
        self.requests: list[dict[str, Any]] = []
        """The JSON of every chat request, in order."""
        self.exchanges: list[Exchange] = []
        """The same, with what became of each."""
        self.times: list[float] = []
        """When each came, on the monotonic clock."""
        self.headers: list[Mapping[str, str]] = []
        self.most_at_once = 0
        self.at_once = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}{self.base}"

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The requests without the probes for schema support."""
        return [r for r in self.requests if not is_probe(r)]

    def __enter__(self) -> OpenAIStub:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the stub did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def leave(self) -> None:
        """Go away as soon as the present request is answered; may be called by `reply`."""
        self._over.set()

    def stop(self) -> None:
        """Go away; stopping twice is harmless."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._one_by_one = asyncio.Lock()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post(f"{self.base}/chat/completions", self._chat)
        app.router.add_get(f"{self.base}/models", self._models)
        # Who hangs up is not served any longer.
        runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, keepalive_timeout=600, handler_cancellation=True
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._over.wait()
        await site.stop()
        await asyncio.sleep(0.01)  # What was accepted just now gets its transport, which closes its socket.
        for _ in range(8):  # and takes some rounds of the loop, however long a busy machine slept
            await asyncio.sleep(0)
        await runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self.model or "stub-model"}]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        exchange = Exchange(body, time.monotonic())
        self.exchanges.append(exchange)
        self.times.append(exchange.came)
        self.headers.append(dict(request.headers))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(request, body, exchange)
        except ConnectionResetError:
            # The client has gone, or an earlier reply on this connection was to be the last.
            return web.Response(status=500)
        finally:
            exchange.ended = time.monotonic()
            exchange.lost = request.transport is None or request.transport.is_closing()
            self.at_once -= 1

    async def _answer(
        self, request: web.Request, body: dict[str, Any], exchange: Exchange
    ) -> web.StreamResponse:
        refusal = self._refusal(request, body)
        if refusal is not None:
            return refusal
        name, argument = self.faults.next(body)
        exchange.fault = f"{name}:{argument}" if argument else name
        if name == "hang":
            with contextlib.suppress(asyncio.CancelledError):
                await self._over.wait()
            return web.Response(status=500)
        if self.latency:
            await asyncio.sleep(self.latency)
        failed = _http_fault(name, argument)
        if failed is not None:
            return failed
        if name == "reset":
            request.transport.abort()
            return web.Response()
        payload = await self._payload(body, name, argument)
        if name in WIRES:
            await _put(request, WIRES[name](json.dumps(payload).encode(), argument))
            return web.Response()
        return await _send(request, payload, name, argument)

    def _refusal(self, request: web.Request, body: dict[str, Any]) -> web.Response | None:
        if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
            given = request.headers.get("Authorization", "none")
            return _error(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if self.model is not None and body.get("model") != self.model:
            return _error(404, f"The model `{body.get('model')}` does not exist", "model_not_found")
        for name, message in self.refused.items():
            if name in body:
                return _error(400, message, "unsupported_parameter")
        return self._refused_format((body.get("response_format") or {}).get("type"))

    def _refused_format(self, wanted: str | None) -> web.Response | None:
        if wanted == "json_schema" and self.schema in ("refuse", "json_object"):
            return _error(
                400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported", None
            )
        if wanted == "json_schema" and self.schema == "error":
            return _error(500, "1 validation error: response_format.type must be text or json_object", None)
        if wanted == "json_object" and self.schema == "refuse":
            return _error(400, "response_format is not supported", None)
        return None

    async def _payload(self, body: dict[str, Any], fault: str, argument: str) -> dict[str, Any]:
        if self.threaded:
            async with self._one_by_one:
                reply = await asyncio.to_thread(self.reply, body)
        else:
            reply = self.reply(body)
        text, usage = reply if isinstance(reply, tuple) else (reply, None)
        text = self._enforced(text, body)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        finish = _spoil(message, fault, argument)
        payload: dict[str, Any] = {
            "id": f"stub-{len(self.requests)}",
            "object": "chat.completion",
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        if fault == "no_choices":
            payload["choices"] = []
        if self.counts:
            words = sum(len(str(m.get("content", "")).split()) for m in body["messages"])
            usage = usage or {"prompt_tokens": words, "completion_tokens": len(text.split())}
            payload["usage"] = {**usage, "total_tokens": sum(usage.values())}
        return payload

    def _enforced(self, text: str, body: dict[str, Any]) -> str:
        wanted = body.get("response_format") or {}
        if wanted.get("type") == "json_schema" and self.schema == "obey":
            schema = wanted["json_schema"]["schema"]
            try:
                fits = conforms(json.loads(text), schema)
            except ValueError:
                fits = False
            return text if fits else json.dumps(instance(schema))
        if wanted.get("type") == "json_object" and self.schema in ("obey", "json_object", "error"):
            return text if text.lstrip().startswith("{") else json.dumps({"text": text})
        return text


def is_probe(body: Mapping[str, Any]) -> bool:
    """Say whether a request asks whether a schema is obeyed."""
    return "probe_k7" in json.dumps(body)


def _error(
    status: int, message: str, code: str | None, headers: Mapping[str, str] | None = None
) -> web.Response:
    error = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return web.json_response(error, status=status, headers=headers)


def _http_fault(name: str, argument: str) -> web.Response | None:
    if name == "html":
        return web.Response(text="<html><title>Welcome</title></html>", content_type="text/html")
    if name == "html502":
        page = "<html><title>502 Bad Gateway</title></html>"
        return web.Response(text=page, status=502, content_type="text/html")
    if name == "error200":
        return web.json_response({"error": {"message": "upstream failed", "code": int(argument or 502)}})
    if not name.isdigit():
        return None
    if name in ("429", "503") and (argument == "date" or argument.replace(".", "", 1).isdigit()):
        after = formatdate(time.time() + 1, usegmt=True) if argument == "date" else argument
        return _error(int(name), "slow down", None, {"Retry-After": after})
    return _error(int(name), argument or f"fault {name}", None)


def _spoil(message: dict[str, Any], fault: str, argument: str) -> str:
    """Change the message as the fault asks; returns the finish reason."""
    text = message["content"]
    changed = {
        "empty": "",
        "null": None,
        "cut": text[: len(text) // 2],
        "cut_stop": text[: len(text) // 2],
        "filter": "",
        "wrong_schema": '{"grade": "five"}',
        "prose": _PROSE,
        "think": f"<think>{_THOUGHT}</think>\n{text}",
        "think_orphan": f"{_THOUGHT}</think>\n{text}",
        "two_objects": f'The user said {{"score": 5, "by": "user"}}. My verdict:\n{text}',
        "two_verdicts": f"{text.translate(_OTHER_NUMBERS)}\n{text}",
        "fenced": f"Here it is:\n```json\n{text}\n```\nHope that helps.",
        "value": _LAST_NUMBER.sub(lambda number: argument.replace("N", number[0]), text, count=1),
        "two_keys": _LAST_MEMBER.sub(
            lambda member: f"{member[0]}, {member[0].translate(_OTHER_NUMBERS)}", text, count=1
        ),
        "verdict_again": f"{text}\n{text}",
        "faulty": text.replace('"', "'").replace("}", ",}"),
    }
    message["content"] = changed.get(fault, text)
    if fault == "think_field":
        message["reasoning_content"] = _THOUGHT
    if fault == "refusal":
        message["content"], message["refusal"] = None, "I cannot judge this."
    return {"cut": "length", "filter": "content_filter"}.get(fault, "stop")


async def _send(
    request: web.Request, payload: dict[str, Any], name: str, argument: str
) -> web.StreamResponse:
    content = json.dumps(payload).encode()
    if name not in ("drop", "drip", "close"):
        return web.Response(body=content, content_type="application/json")
    headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    if name == "drop":
        await response.write(content[: len(content) // 2])
        request.transport.abort()
        return response
    pieces = 10 if name == "drip" else 1
    size = len(content) // pieces + 1
    for start in range(0, len(content), size):
        await response.write(content[start : start + size])
        await asyncio.sleep(float(argument or 0.1) / pieces if name == "drip" else 0)
    await response.write_eof()
    if name == "close":
        asyncio.get_running_loop().call_later(0.01, request.transport.abort)
    return response


async def _put(request: web.Request, pieces: Pieces) -> None:
    """Send these very bytes, no faster than they are read, and close."""
    transport = request.transport
    for piece in pieces:
        if transport is None or transport.is_closing():
            return
        if isinstance(piece, bytes):
            transport.write(piece)
            await asyncio.sleep(0)
            while transport.get_write_buffer_size() > 1 << 20:  # noqa: ASYNC110 - no event tells of it
                await asyncio.sleep(0.002)
        else:
            await asyncio.sleep(piece)
    if transport is not None:
        transport.close()


if __name__ == "__main__":
    with OpenAIStub(sys.argv[1] if len(sys.argv) > 1 else '{"score": 4}') as alone:
        print(alone.url, flush=True)
        sys.stdin.read()
