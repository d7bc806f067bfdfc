"""Problems with an endpoint's answer: their kinds, their remedies, and the parameters it refuses."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dialogauge.core.judgement import FailureKind
from dialogauge.llm.wire import parse_json

Remedy = Literal["mend", "wait", "retry", "give_up", "endpoint"]
"""Change the request, wait, try again, fail this item, or stop because all items would fail."""

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
    """Why an attempt had no reply."""

    kind: FailureKind
    message: str
    remedy: Remedy
    status: int | None = None
    retry_after: float | None = None
    """Seconds that the endpoint asked to wait."""
    raw: str | None = None
    payload: object = None
    """The JSON of the answer, if any."""
    overload: bool = False
    """Whether fewer requests at once may help."""
    unreached: bool = False
    """Whether the request never reached the endpoint."""


@dataclass(slots=True)
class ParameterSupport:
    """The parameters that an endpoint has refused, and what is sent instead."""

    changes: dict[str, str] = field(default_factory=dict)
    """Parameter -> what is sent instead, and why."""
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
        """The endpoint's name for the token limit; None if it takes none."""
        if "max_tokens" in self.renamed:
            return self.renamed["max_tokens"]
        return None if "max_tokens" in self.changes else "max_tokens"

    def learn(self, problem: Problem, sent: Collection[str]) -> bool:
        """Record the refusal of a body; False if the message names none of the fields `sent`."""
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
    """Return the field of the body that the endpoint refuses; None if it names none."""
    names = [n for n in sent if n not in ("model", "messages")]
    for name in _names_in(problem.payload):
        if name in names:
            return name
    if "json_schema" in problem.message and "response_format" in names:
        return "response_format"
    mentions = [
        (m.start(), n) for n in names if (m := re.search(rf"(?<!\w){re.escape(n)}(?!\w)", problem.message))
    ]
    # "temperature and top_p cannot both be given": drop the later one.
    if len(mentions) > 1 and re.search(r"\bboth\b", problem.message):
        return max(mentions)[1]
    return min(mentions)[1] if mentions else None


def read_problem(status: int, raw: bytes, retry_after: float | None) -> Problem:
    """Classify an answer without a reply; its status is 200 if the body is no completion."""
    payload = parse_json(raw)
    if status == 200:
        return _problem_of_body(raw, payload, retry_after)
    message = f"HTTP {status}: {error_text(raw, payload)}"
    kind, remedy, overload = _classify(status, message)
    if remedy == "wait" and retry_after is None:
        retry_after = _wait_in_words(message)
    text = raw.decode("utf-8", "replace")
    return Problem(kind, message, remedy, status, retry_after, text, payload, overload)


def error_text(raw: bytes, payload: object) -> str:
    """Return the message in an error body, shortened; for HTML the page's title."""
    text = _message_in(payload)
    if text is None:
        text = raw.decode("utf-8", "replace").strip()
        if text[:1] == "<":
            title = _TITLE.search(raw)
            name = title.group(1).decode("utf-8", "replace").strip() if title else "no title"
            text = f"an HTML page ({name})"
    return text[:400] or "no message"


def _problem_of_body(raw: bytes, payload: object, retry_after: float | None) -> Problem:
    if isinstance(payload, dict) and payload.get("error"):
        # Some gateways answer 200 and put the real status into the body.
        error = payload["error"]
        code = error.get("code") if isinstance(error, dict) else None
        code = code if isinstance(code, int) and 400 <= code < 600 else 502
        return read_problem(code, raw, retry_after)
    text = raw.decode("utf-8", "replace")
    if isinstance(payload, dict) and payload.get("choices") == []:
        return Problem("empty_reply", "the answer has no choices", "retry", 200, raw=text)
    message = f"the answer is no chat completion but {error_text(raw, None)!r}"
    return Problem("server_error", message, "retry", 200, raw=text)


def _classify(status: int, message: str) -> tuple[FailureKind, Remedy, bool]:
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
    """Return the seconds in "try again in 6.2s"; some endpoints send no header."""
    match = re.search(r"(?:try again|retry) in (\d+(?:\.\d+)?)\s*(ms|m\b|s|$)", message, re.IGNORECASE)
    if match is None:
        return None
    factor = {"ms": 0.001, "m": 60.0}.get(match.group(2).lower(), 1.0)
    return float(match.group(1)) * factor


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


def _names_in(payload: object) -> list[str]:
    """Return the field names in the error's data: OpenAI's `param`, pydantic's `loc`."""
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
