"""Where in a response a server may give something back, and a server that does so at random."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from benchmarks.faults.echo_forms import CUT_FORMS, FORMS
from servers.contented import contented
from servers.echoing import PLACES, listening, message
from servers.verdicts import fill

__all__ = ["Echo", "Echoing", "serving"]

Answer = tuple[int, Any, Mapping[str, str]]
Place = Callable[[str, str], Answer]

_INNOCENT: Final = (
    "It is 100% sure: caf\u00e9 & bar, \\u0041 and &amp; stay; see http://h.example/a%20b?x=1&y=2#z.",
    "1 2 3 4 5 6 7 8 9 10 11 12; 73-6b-2d-4c-69; a-b-c-d-e-f-g-h; A.B.C.D.E.F.G.H.I.J.K.L.M",
    "c2hvcnQ= TG9yZW0gaXBzdW0gZG9sb3Igc2l0IGFtZXQsIGNvbnNlY3RldHVy 4c6f72656d20697073756d20646f6c6f72",
    "def f(x):\n\treturn {'key': x[0], \"token\": '%s' % x}  # \u4e2d\u6587 \u2026 *** ok \U0001f600",
)


def _chosen(verdict: str, **changes: object) -> dict[str, Any]:
    payload = message(verdict)
    payload["choices"][0].update(changes)
    return payload


def _in_texts(value: object, echo: str) -> object:
    if isinstance(value, dict):
        return {key: _in_texts(inner, echo) for key, inner in value.items()}
    if isinstance(value, list):
        return [_in_texts(inner, echo) for inner in value] or [echo]
    return f"{value} {echo}" if isinstance(value, str) and " " in value else value


def _everywhere(echo: str, verdict: str) -> Answer:
    try:
        value = json.loads(verdict)
    except ValueError:
        return 200, message(f"{verdict} {echo}"), {}
    return 200, message(json.dumps(_in_texts(value, echo), ensure_ascii=False)), {}


def _key_in_verdict(echo: str, verdict: str) -> Answer:
    return 200, message(f'{verdict[:-1]}, {json.dumps(echo)}: 1, "more": {{{json.dumps(echo)}: 2}}}}'), {}


def _parts(echo: str, verdict: str) -> Answer:
    text = f"{verdict} {echo}"
    half = len(text) - len(echo) // 2
    pieces = [{"type": "text", "text": piece} for piece in (text[:half], text[half:])]
    return 200, message(pieces), {}


def _error(status: int, words: str) -> Place:
    return lambda echo, _: (status, {"error": {"message": f"{words} {echo}", "code": echo}}, {})


def _stream(echo: str, verdict: str) -> Answer:
    pieces = [{"id": echo, "choices": [{"delta": {"content": text}}]} for text in (verdict, echo)]
    body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
    return 200, body.encode(), {"Content-Type": "text/event-stream"}


_MORE: Final[Mapping[str, Place]] = {
    "texts of the verdict": _everywhere,
    "key of the verdict": _key_in_verdict,
    "parts of the reply": _parts,
    "number": lambda e, v: (200, message(v, created=int(e) if e.isdecimal() else e), {}),
    "id and fingerprint": lambda e, v: (200, message(v, id=e, system_fingerprint=e), {}),
    "reason of an end": lambda e, v: (200, _chosen(v, finish_reason=e), {}),
    "error in a choice": lambda e, v: (200, _chosen(v, error={"message": e, "code": 502}), {}),
    "error with status 200": lambda e, _: (200, {"error": {"message": e, "code": 422}}, {}),
    "401": _error(401, "Incorrect API key provided:"),
    "400": _error(400, "Invalid value for response_format:"),
    "404": _error(404, "No route for"),
    "500": _error(500, "Traceback: KeyError"),
    "429": lambda e, _: (429, {"error": {"message": f"slow down, {e}"}}, {"Retry-After": e}),
    "redirect": lambda e, _: (302, e.encode(), {"Location": f"http://127.0.0.1:9/{e}"}),
    "headers": lambda e, v: (200, message(v), {"Content-Type": f"a/{e}", "X-RateLimit-Reset": e}),
    "reason phrase": lambda e, _: (422, b"", {"REASON": e}),
    "bad status": lambda e, _: (0, f"HTTP/1.1 {e}\r\n\r\n".encode(), {}),
    "bad header": lambda e, _: (0, f"HTTP/1.1 200 OK\r\n{e}\r\n\0\r\n\r\n".encode(), {}),
    "bad chunk": lambda e, _: (
        0,
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{e}\r\nx".encode(),
        {},
    ),
    "stream": _stream,
}
_PLACES: Final = {**{name: place for name, place in PLACES.items() if name != "note"}, **_MORE}
_GENTLE: Final = ("model and usage", "id and fingerprint", "headers", "header", "number", "reasoning")
"""Those that leave a reply whole, so that a question whether the endpoint is of use can be answered."""


_KEPT: Final = (
    *_GENTLE,
    "texts of the verdict",
    "parts of the reply",
    "thought",
    "key of the verdict",
    "detail",
)
"""Those of which most is kept; the others mostly lead to another attempt."""


@dataclass(frozen=True)
class Echo:
    """One secret that was given back."""

    number: int
    secret: str
    form: str
    place: str
    sent: str
    """All that was sent, as text."""

    @property
    def mark(self) -> str:
        """What stands before the echo, wherever it stands."""
        return f"~{self.number}~"


@dataclass
class Echoing:
    """What a server has done."""

    secrets: Mapping[str, Sequence[str]]
    """What it may give back, by the model that it is asked for."""
    rng: random.Random
    url: str = ""
    echoes: list[Echo] = field(default_factory=list)
    innocent: list[str] = field(default_factory=list)
    """Texts without a secret, each as it was replied once."""
    share: float = 0.8
    """Of the responses, those with an echo."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> Answer:
        """Return status (0 for bytes as they are), payload and headers for a request."""
        verdict = _verdict(body)
        asked = json.dumps(body)
        useful = "probe_k7" in asked or "the word: yes" in asked
        with self.lock:
            if self.rng.random() > self.share:
                if body["model"] == "m-judge" or useful:
                    return 200, message(verdict), {}
                text = f"Innocent {len(self.innocent)}: {self.rng.choice(_INNOCENT)}"
                self.innocent.append(text)
                return 200, message(text), {}
            secret = self.rng.choice(self.secrets[body["model"]])
            forms = CUT_FORMS if self.rng.random() < 0.2 else FORMS
            form = self.rng.choice(list(forms))
            kept = self.rng.random() < 0.6
            place = self.rng.choice(_GENTLE if useful else _KEPT if kept else list(_PLACES))
            number = len(self.echoes)
            echo = f"~{number}~ {forms[form](secret, self.rng)}"
            if form in FORMS:
                echo += " ~"
            elif place == "number" and secret.isdecimal():
                echo = secret
            status, payload, headers = _PLACES[place](echo, verdict)
            raw = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else json.dumps(payload)
            sent = "\n".join((raw, *headers.values()))
            self.echoes.append(Echo(number, secret, form, place, sent))
        return status, payload, headers


def _verdict(body: dict[str, Any]) -> str:
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema is None:
        return "It reads well."
    if {"per_turn", "conversation_level"} & schema.get("properties", {}).keys():
        return json.dumps(fill(schema))
    return contented(4)(body)


@contextmanager
def serving(echoing: Echoing) -> Iterator[Echoing]:
    """Serve on 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with suppress(ConnectionError):  # who asked may have met its deadline
                self._send(*echoing.answer(body))

        def do_GET(self) -> None:
            listed = [{"id": f"model-of-{secret}"} for secret in echoing.secrets["m-judge"]]
            self._send(200, {"data": listed}, {})

        def _send(self, status: int, payload: object, headers: Mapping[str, str]) -> None:
            raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
            if status == 0:
                self.wfile.write(raw)
                self.close_connection = True
                return
            self.send_response(status, _line(headers.get("REASON", "Fine")))
            for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                if name != "REASON":
                    self.send_header(name, _line(value))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None: ...

    with listening(Handler) as echoing.url:
        yield echoing


def _line(text: str) -> str:
    """One line of a header: what is not Latin goes as its UTF-8 bytes, as servers do."""
    flat = "".join(c if c.isprintable() or c == "\t" else " " for c in text)
    return flat.encode().decode("latin-1")
