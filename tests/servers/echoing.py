"""A server that gives back the secrets that it was sent, in every form and in every place of a response."""

from __future__ import annotations

import base64
import html
import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, quote_plus

from servers.verdicts import ideal

#: How a text may come back, by name.
FORMS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "upper": str.upper,
    "lower": str.lower,
    "quote": quote,
    "quote_plus": quote_plus,
    "quote, lower hex": lambda s: quote_plus(s).replace("%C3%A9", "%c3%a9"),
    "quote, every byte": lambda s: "".join(f"%{b:02x}" for b in s.encode()),
    "quote twice": lambda s: quote(quote(s, safe="")),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 without padding": lambda s: base64.b64encode(s.encode()).decode().rstrip("="),
    "base64 for URLs": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "base64, percent-encoded": lambda s: quote(base64.b64encode(s.encode()).decode(), safe=""),
    "JSON": lambda s: json.dumps(s)[1:-1],
    "JSON, every sign": lambda s: "".join(f"\\u{ord(c):04x}" for c in s),
    "JSON in JSON": lambda s: json.dumps(json.dumps(s)),
    "HTML": html.escape,
    "HTML, by number": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "HTML, by hex number": lambda s: "".join(f"&#x{ord(c):X};" for c in s),
    "HTML in JSON": lambda s: json.dumps(html.escape(s)),
    "hex": lambda s: s.encode().hex(),
    "Python": repr,
    "bytes in Python": lambda s: repr(s.encode()),
}


def message(text: Any, **more: Any) -> dict[str, Any]:
    """Return a chat completion with this content."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"model": "m", "choices": [choice], **more}


def _note(verdict: str, echo: str) -> str:
    value = json.loads(verdict)
    for whole in value.get("conversation_level", {}).values():
        whole["note"] = f"Seen {echo} there"
    if "decision_basis" in value:
        value["decision_basis"] = f"For {echo}."
    return json.dumps(value, ensure_ascii=False)


def _choice(verdict: str, **changes: Any) -> dict[str, Any]:
    payload = message(verdict)
    payload["choices"][0]["message"].update(changes)
    return payload


def _error(echo: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": f"Bad credentials: {echo} is wrong", "code": echo, "param": echo, **more}}


Place = Callable[[str, str], tuple[int, Any, Mapping[str, str]]]

#: Takes an echo and a sound verdict; returns status, body (JSON unless bytes) and headers.
PLACES: Mapping[str, Place] = {
    "note": lambda e, v: (200, message(_note(v, e)), {}),
    "reasoning": lambda e, v: (200, _choice(v, reasoning_content=f"I was given {e}."), {}),
    "thought": lambda e, v: (200, message(f"<think>My key is {e}</think>{v}"), {}),
    "prose": lambda e, _: (200, message(f"I cannot judge, but {e}"), {}),
    "cut at its end": lambda e, v: (200, message(v[:40] + e[: len(e) - 2]), {}),
    "refusal": lambda e, _: (200, _choice("", content=None, refusal=f"No, {e}"), {}),
    "tool calls": lambda e, _: (
        200,
        _choice("", content=None, tool_calls=[{"id": e, "function": {e: e}}]),
        {},
    ),
    "model and usage": lambda e, v: (
        200,
        {**message(v), "model": e, "usage": {e: 1, "prompt_tokens": e}},
        {},
    ),
    "finish reason": lambda e, v: (200, {"choices": [{"message": {"content": v}, "finish_reason": e}]}, {}),
    "no choices": lambda e, _: (200, {e: e, "choices": e}, {}),
    "error": lambda e, _: (422, _error(e), {}),
    "error of a filter": lambda e, _: (403, _error(e, message=f"moderation: {e}"), {}),
    "too long": lambda e, _: (400, _error(e, message=f"maximum context length {e}"), {}),
    "detail": lambda e, _: (422, {"detail": [{"loc": ["body", e], "msg": f"no {e}", "input": e}]}, {}),
    "page": lambda e, _: (413, f"<html><title>No {e}</title>{e}</html>".encode(), {}),
    "text": lambda e, _: (413, f"Not for {e}".encode(), {}),
    "cut JSON": lambda e, _: (413, json.dumps(_error(e)).encode()[: 48 + len(e) // 2], {}),
    "header": lambda e, v: (200, message(v), {"X-Echo": e, "Retry-After": e}),
}


class Echoes:
    """What the server has done."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self.count = 0
        self.url = ""
        self._turns = itertools.cycle(
            (secret, form, place) for form in FORMS for place in PLACES for secret in secrets
        )
        self._lock = threading.Lock()

    def next(self, body: dict[str, Any]) -> tuple[int, bytes, Mapping[str, str]]:
        """Return the next response."""
        verdict = ideal(body)
        asked = json.dumps(body)
        if "probe_k7" in asked or "the word: yes" in asked:  # what tells whether the endpoint is of use
            return 200, json.dumps(message(verdict)).encode(), {}
        with self._lock:
            # A stride through the product, so that every form and every place comes soon.
            for _ in range(97):
                secret, form, place = next(self._turns)
            self.count += 1
        status, payload, headers = PLACES[place](FORMS[form](secret), verdict)
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return status, raw, headers


@contextmanager
def echoing(secrets: Sequence[str]) -> Iterator[Echoes]:
    """Serve on 127.0.0.1."""
    echoes = Echoes(secrets)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(*echoes.next(body))

        def do_GET(self) -> None:
            listed = [{"id": f"model-of-{secret}"} for secret in secrets]
            self._send(200, json.dumps({"data": listed}).encode(), {})

        def _send(self, status: int, raw: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status, f"Echo {secrets[0]}")
            for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value.encode("ascii", "replace").decode())
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None: ...

    with listening(Handler) as echoes.url:
        yield echoes


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on 127.0.0.1; yields the URL behind its scheme, so that user info can stand before it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
