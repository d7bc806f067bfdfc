"""Reads what an endpoint says when it does not answer: what went wrong, and what can be done about it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from dialogauge.core.judgement import FailureKind

Remedy = Literal["mend", "wait", "retry", "give_up", "endpoint"]
"""Change the request, wait patiently, try again, fail this item, or stop: no item will fare better."""

_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context|context (?:length|window)|prompt is too long"
    r"|input (?:is )?too long|too many (?:input )?tokens|reduce the length|max_model_len",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content_filter|content management policy|moderation|flagged|safety polic", re.IGNORECASE
)
_NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,80}\b(?:not found|does not exist|not exist|unknown)"
    r"|(?:unknown|invalid|no such) model|not a valid model|model_not_available",
    re.IGNORECASE | re.DOTALL,
)
_NO_MONEY = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|credit balance", re.IGNORECASE
)
_NO_SYSTEM = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,40}not (?:be )?(?:supported|allowed|enabled)"
    r"|developer instruction is not enabled",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an attempt brought no reply."""

    kind: FailureKind
    message: str
    remedy: Remedy
    status: int | None = None
    retry_after: float | None = None
    """Seconds that the endpoint asked to wait."""
    raw: str | None = None
    payload: object = None
    """The JSON of the answer, when there was one."""
    overload: bool = False
    """Whether fewer requests at once may help."""
    unreached: bool = False
    """Whether the request never got to the endpoint."""


@dataclass(slots=True)
class ParameterSupport:
    """What an endpoint has refused so far, so that it is not asked for again."""

    changes: dict[str, str] = field(default_factory=dict)
    """By parameter, what became of it and why."""
    renamed: dict[str, str] = field(default_factory=dict)
    no_system: bool = False

    def apply(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters as the endpoint takes them."""
        return {
            self.renamed.get(name, name): value
            for name, value in parameters.items()
            if name not in self.changes or name in self.renamed
        }

    @property
    def limit_name(self) -> str | None:
        """The name of the token limit; None when the endpoint takes none."""
        if "max_tokens" in self.renamed:
            return self.renamed["max_tokens"]
        return None if "max_tokens" in self.changes else "max_tokens"

    def learn(self, problem: Problem, sent: Collection[str]) -> bool:
        """Remember what the endpoint refused; False when its message names nothing that was sent.

        Args:
            problem: A problem with the remedy `mend`.
            sent: The fields of the body that was refused.
        """
        if _NO_SYSTEM.search(problem.message) and not self.no_system:
            self.no_system = True
            self.changes["system role"] = f"sent as part of the user message: {problem.message}"
            return True
        name = refused_parameter(problem, sent)
        if name is None or name == "response_format":
            return False
        other = _LIMIT_NAMES[1] if name == _LIMIT_NAMES[0] else _LIMIT_NAMES[0]
        if name in _LIMIT_NAMES and other not in sent and other in problem.message:
            self.renamed["max_tokens"] = other
            self.changes["max_tokens"] = f"sent as {other}: {problem.message}"
            return True
        original = next((old for old, new in self.renamed.items() if new == name), name)
        self.renamed.pop(original, None)
        self.changes[original] = f"dropped: {problem.message}"
        return True


def refused_parameter(problem: Problem, sent: Collection[str]) -> str | None:
    """Return the field of the body that the endpoint objects to, None when it names none."""
    names = [n for n in sent if n not in ("model", "messages")]
    for stated in _stated(problem.payload):
        if stated in names:
            return stated
    if "json_schema" in problem.message and "response_format" in names:
        return "response_format"
    found = [
        (m.start(), n) for n in names if (m := re.search(rf"(?<!\w){re.escape(n)}(?!\w)", problem.message))
    ]
    # "temperature and top_p cannot both be given": give up the later, keep the first.
    if len(found) > 1 and re.search(r"\bboth\b", problem.message):
        return max(found)[1]
    return min(found)[1] if found else None


def read_problem(status: int, raw: bytes, retry_after: float | None) -> Problem:
    """Classify an answer that is no reply.

    Args:
        status: The HTTP status; 200 when the body is not what was asked for.
        raw: The body.
        retry_after: Seconds from the header, if it gave any.
    """
    payload = _json(raw)
    if status == 200:
        return _read_wrong_body(raw, payload, retry_after)
    message = f"HTTP {status}: {said(raw, payload)}"
    kind, remedy, overload = _judge_status(status, message)
    if remedy == "wait" and retry_after is None:
        retry_after = _wait_in_words(message)
    text = raw.decode("utf-8", "replace")
    return Problem(kind, message, remedy, status, retry_after, text, payload, overload)


def said(raw: bytes, payload: object) -> str:
    """Return the message in an error body, shortened; HTML is named by its title."""
    text = _message_in(payload)
    if text is None:
        text = raw.decode("utf-8", "replace").strip()
        if text[:1] == "<":
            title = _TITLE.search(raw)
            name = title.group(1).decode("utf-8", "replace").strip() if title else "no title"
            text = f"an HTML page ({name})"
    return text[:400] or "no message"


def _read_wrong_body(raw: bytes, payload: object, retry_after: float | None) -> Problem:
    if isinstance(payload, dict) and payload.get("error"):
        # Some gateways answer 200 and put the real status into the body.
        error = payload["error"]
        code = error.get("code") if isinstance(error, dict) else None
        code = code if isinstance(code, int) and 400 <= code < 600 else 502
        return read_problem(code, raw, retry_after)
    text = raw.decode("utf-8", "replace")
    if isinstance(payload, dict) and payload.get("choices") == []:
        return Problem("empty_reply", "the answer has no choices", "retry", 200, raw=text)
    message = f"the answer is no chat completion but {said(raw, None)!r}"
    return Problem("server_error", message, "retry", 200, raw=text)


def _judge_status(status: int, message: str) -> tuple[FailureKind, Remedy, bool]:
    kind: FailureKind = "rejected"
    remedy: Remedy = "give_up"
    if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(message)):
        kind = "too_long"
    elif status in (400, 403) and _FILTER.search(message):
        kind = "refused"
    elif status in (400, 422):
        remedy = "endpoint" if _NO_MODEL.search(message) else "mend"
    elif status in (401, 402, 403, 404, 405) or status < 400:
        remedy = "endpoint"
    elif status == 429:
        kind, remedy = "rate_limited", "endpoint" if _NO_MONEY.search(message) else "wait"
    elif status in (408, 409, 425) or (status >= 500 and status != 501):
        kind, remedy = "server_error", "retry"
    return kind, remedy, status in (429, 503, 529) and remedy != "endpoint"


def _wait_in_words(message: str) -> float | None:
    """Read "try again in 6.2s": the true limit sometimes stands in the body only."""
    found = re.search(r"(?:try again|retry) in (\d+(?:\.\d+)?)\s*(ms|m\b|s|$)", message, re.IGNORECASE)
    if found is None:
        return None
    factor = {"ms": 0.001, "m": 60.0}.get(found.group(2).lower(), 1.0)
    return float(found.group(1)) * factor


def _json(raw: bytes) -> object:
    try:
        value = orjson.loads(raw)
        orjson.dumps(value)  # fails for what is nested too deep to be walked through or shown
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return value


def _message_in(payload: object) -> str | None:
    if not isinstance(payload, dict):
        return None
    for key in ("error", "message", "detail"):
        value = payload.get(key)
        if isinstance(value, dict):
            code = value.get("code")
            text = str(value.get("message") or value)
            return f"{text} [{code}]" if isinstance(code, str) and code not in text else text
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            return "; ".join(_complaint(entry) for entry in value)
    return None


def _complaint(entry: object) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    place = entry.get("loc")
    where = ".".join(str(p) for p in place) if isinstance(place, Sequence) else ""
    return f"{where}: {entry.get('msg', entry)}"


def _stated(payload: object) -> list[str]:
    """Collect the names that the error states as data: OpenAI's `param`, pydantic's `loc`."""
    if not isinstance(payload, dict):
        return []
    names: list[str] = []
    error = payload.get("error", payload)
    if isinstance(error, dict) and isinstance(error.get("param"), str):
        names.append(re.split(r"[.\[]", error["param"])[0])
    detail = payload.get("detail")
    for entry in detail if isinstance(detail, list) else []:
        place = entry.get("loc") if isinstance(entry, dict) else None
        if isinstance(place, list):
            names.extend(str(part) for part in place if part != "body")
    return names
