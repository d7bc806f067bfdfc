"""Rules by which a test server refuses requests, and the forms that errors have."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Body = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """An answer in place of a reply; a text is a page or plain words."""

    status: int
    body: object
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> web.Response:
        """Return what is sent."""
        if isinstance(self.body, str):
            kind = "text/html" if self.body.startswith("<") else "text/plain"
            return web.Response(text=self.body, status=self.status, content_type=kind, headers=self.headers)
        return web.json_response(self.body, status=self.status, headers=self.headers)


Rule = Callable[[Body, int], Answer | None]
"""Takes the request and its number, from 0; None to let it pass."""


def form_of(body: Body) -> str:
    """Return in which form a request has its schema."""
    wanted = body.get("response_format") or {}
    return "json_object_schema" if "schema" in wanted else str(wanted.get("type", "prompt"))


def tokens_of(body: Body) -> int:
    """Return the tokens of the prompt."""
    return sum(len(str(message["content"])) for message in body["messages"]) // 4


def limit_of(body: Body) -> int:
    """Return the tokens that the reply may have."""
    return int(body.get("max_tokens") or body.get("max_completion_tokens") or 16)


# What refuses


def when(what: Callable[[Body], object], status: int, body: object, **headers: str) -> Rule:
    """Refuse the requests of which something holds."""
    answer = Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})
    return lambda request, _: answer if what(request) else None


def at(numbers: Mapping[int, Answer]) -> Rule:
    """Answer so to the requests of these numbers."""
    return lambda _, number: numbers.get(number)


def after(count: int, status: int, body: object) -> Rule:
    """Answer so to every request after the first ones."""
    return lambda _, number: Answer(status, body) if number >= count else None


def has(name: str) -> Callable[[Body], bool]:
    """Say whether a request has a field."""
    return lambda body: name in body


def form(*names: str) -> Callable[[Body], bool]:
    """Say whether a request has its schema in one of these forms."""
    return lambda body: form_of(body) in names


def says(words: str) -> Callable[[Body], bool]:
    """Say whether the prompt has these words."""
    return lambda body: words in json.dumps(body["messages"])


def has_system(body: Body) -> bool:
    """Say whether a request has a system message."""
    return any(message["role"] == "system" for message in body["messages"])


def real_schema(body: Body) -> bool:
    """Say whether a request has a schema that is more than a probe."""
    return form_of(body) == "json_schema" and "probe_k7" not in json.dumps(body)


def context(size: int, status: int, make: Callable[[str], object], words: str) -> Rule:
    """Refuse what prompt and reply together have no room for."""

    def rule(body: Body, _: int) -> Answer | None:
        prompt, limit = tokens_of(body), limit_of(body)
        if prompt + limit <= size:
            return None
        return Answer(status, make(words.format(size=size, prompt=prompt, limit=limit, total=prompt + limit)))

    return rule


def openai(message: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """Return OpenAI's form of an error."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def google(message: str, code: int, status: str, **more: object) -> list[dict[str, Any]]:
    """Return Google's form of an error, in an array."""
    return [{"error": {"code": code, "message": message, "status": status, **more}}]


def vllm(message: str, code: int = 400) -> dict[str, Any]:
    """Return vLLM's older form of an error."""
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": code}


def pydantic(place: list[object], message: str) -> dict[str, Any]:
    """Return FastAPI's form of an error."""
    return {"detail": [{"type": "literal_error", "loc": place, "msg": message, "input": "x"}]}
