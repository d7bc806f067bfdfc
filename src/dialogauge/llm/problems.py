"""Problems with an endpoint's answer: their kinds, their remedies, and the parameter that one names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from dialogauge.core.judgement import FailureKind
from dialogauge.core.patterns import lazy_pattern
from dialogauge.llm.waits import wait_in_words
from dialogauge.llm.wire import first_choice, is_broken, parse_json

Remedy = Literal["mend", "wait", "retry", "give_up", "confirm", "endpoint"]
"""Change the request, wait, try again, fail this item, or stop because all items would fail.

`confirm` stops only if the endpoint refuses the barest question as well; else the item is to blame.
"""

_TOO_LONG = lazy_pattern(
    r"context_length_exceeded|exceed_context_size|max_model_len"
    r"|reduce (?:the|your) (?:length|message|prompt)"
    r"|(?:maximum|max|available|model'?s?|loaded with) (?:context|prompt|input|sequence)"
    r"|context (?:length|window|size|limit)"
    r"|(?:prompt|input|request|messages?) (?:is |are )?too (?:long|large)"
    r"|too many (?:input )?tokens|max_new_tokens|request too large|input length|length of input"
    r"|^(?!.*max_(?:completion_)?tokens).*\b(?:input|prompt|request|messages?)\b.{0,40}"
    r"\b(?:exceed\w*|more than|longer than)\b.{0,40}\b(?:tokens?|length|limit|allowed)",
    re.IGNORECASE,
)
_TOO_LARGE = lazy_pattern(r"request too large|tokens must be reduced", re.IGNORECASE)
"""More at once than a limit by the minute lets through at all, so that no wait helps."""
_FILTER = lazy_pattern(
    r"content[ _-]?(?:filter|management polic|polic|exists risk|violat)|moderation|flagged"
    r"|safety[ _]?(?:polic|check)|inappropriate content|data_inspection_failed|ResponsibleAI|guardrail"
    r"|不安全或敏感|敏感内容|违规内容",
    re.IGNORECASE,
)
_OF_ACCOUNT = lazy_pattern(
    r"(?:account|organi[sz]ation|project)\b.{0,40}\b(?:flagged|suspended|disabled|deactivated|banned)",
    re.IGNORECASE,
)
_NO_MODEL = lazy_pattern(
    r"model_not_found|model\b.{0,80}\b(?:not found|does not exist|not exist|unknown)"
    r"|(?:unknown|invalid|no such) model|not a valid model|model_not_available",
    re.IGNORECASE | re.DOTALL,
)
_NO_MONEY = lazy_pattern(
    r"insufficient[_ ](?:quota|balance|credit|fund)|exceeded your current quota|billing"
    r"|credit balance|out of credit|payment required|arrearage|in good standing"
    r"|budget has been exceeded|余额不足|欠费",
    re.IGNORECASE,
)
_UNNUMBERED = (
    (429, lazy_pattern(r"rate[ _-]?limit|too many requests", re.IGNORECASE)),
    (400, lazy_pattern("|".join(p.pattern for p in (_TOO_LONG, _FILTER, _NO_MONEY)), re.IGNORECASE)),
    (404, _NO_MODEL),
    (
        401,
        lazy_pattern(r"authenticat|unauthori[sz]ed|invalid[ _](?:x-)?api[ _-]?key|login fail", re.IGNORECASE),
    ),
)
"""The status that an error without one would have, by its words."""
_FAULTY_REPLY = "json_validate_failed"
"""Groq's code for a reply of the model that failed its own validation."""
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_SHOWN = 400
_TAG = 60
_ERROR = 1000
"""Bytes up to which an answer of any form may be an error in words."""
_READ = 20_000
"""Characters of an answer that are searched for a wait."""
_KEPT = 1 << 16
"""Bytes of an answer without a reply that are read and kept."""


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

    @property
    def is_of_account(self) -> bool:
        """Whether it is about limits or money."""
        limited = self.kind == "rate_limited" or self.status == 402
        return limited or (self.status is not None and _NO_MONEY.search(self.message) is not None)

    @property
    def words(self) -> str:
        """The message in full, without the status."""
        return _message_in(self.payload) or self.raw or self.message


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


def read_problem(status: int, raw: bytes, retry_after: float | None, reset: float | None = None) -> Problem:
    """Classify an answer without a reply; its status is 200 if the body is no completion.

    `retry_after` is the wait that its headers ask for, `reset` when they say that a limit is renewed.
    """
    # What is longer is no message, and to search all of it would stop the other items.
    raw = raw[:_KEPT]
    payload = parse_json(raw)
    if isinstance(payload, list) and payload and isinstance(payload[0], dict):
        payload = payload[0]  # the first of several errors; Gemini wraps the only one in an array
    if 200 <= status < 300:
        return _problem_of_body(raw, payload, retry_after)
    message = f"HTTP {status}: {error_text(raw, payload)}"
    text = raw.decode("utf-8", "replace")
    asked = retry_after
    if asked is None and status in (429, 503, 529):
        asked = wait_in_words(text[:_READ])
    kind, remedy = _classify(status, " ".join((message, *_tags(payload))), asked)
    if remedy in ("wait", "retry"):
        retry_after = asked if asked is not None or status != 429 else reset
    overload = status in (429, 503, 529) and remedy in ("wait", "retry")
    return Problem(kind, message, remedy, status, retry_after, text, payload, overload)


def error_text(raw: bytes, payload: object) -> str:
    """Return the message in an error body, shortened; for HTML the page's title."""
    text = _message_in(payload)
    if text is None:
        text = raw.decode("utf-8", "replace").strip()
        if text[:1] == "<":
            title = _TITLE.search(raw[:4096])
            name = title.group(1).decode("utf-8", "replace").strip() if title else "no title"
            text = f"an HTML page ({name})"
    return text[:_SHOWN] or "no message"


def _problem_of_body(raw: bytes, payload: object, retry_after: float | None) -> Problem:
    error = _error_in(payload)
    if error is not None:
        # Some gateways answer 200 and put the real status into the body.
        return read_problem(_code_of(error) or _status_in(raw) or 502, raw, retry_after)
    text = raw.decode("utf-8", "replace")
    if isinstance(payload, dict) and payload.get("choices") == []:
        return Problem("empty_reply", "the answer has no choices", "retry", 200, raw=text)
    if isinstance(payload, dict) and not payload.get("choices") and len(raw) <= _ERROR:
        status = _status_in(raw)
        if status is not None:
            return read_problem(status, raw, retry_after)
    message = f"the answer is no chat completion but {error_text(raw, None)!r}"
    return Problem("server_error", message, "retry", 200, raw=text)


def _error_in(payload: object) -> object:
    """Return the error in a body of status 200: at its top, or in its only choice; None without one."""
    if not isinstance(payload, dict):
        return None
    choice = first_choice(payload)
    if choice:
        failed = is_broken(choice.get("finish_reason"))
        return choice.get("error") or payload.get("error") or (choice if failed else None)
    return payload.get("error") or (payload if payload.get("object") == "error" else None)


def _code_of(error: object) -> int | None:
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    named = str(code) if isinstance(code, int | str) else ""
    return int(named) if re.fullmatch("[45][0-9]{2}", named) else None


def _status_in(raw: bytes) -> int | None:
    text = raw[:_ERROR].decode("utf-8", "replace")
    return next((status for status, words in _UNNUMBERED if words.search(text)), None)


def _tags(payload: object) -> list[str]:
    """Return the short words by which an error is classified beside its message."""
    error = payload.get("error", payload) if isinstance(payload, dict) else None
    named = [error.get(name) for name in ("type", "code", "status")] if isinstance(error, dict) else []
    return [tag for tag in named if isinstance(tag, str) and len(tag) <= _TAG]


def _classify(status: int, message: str, asked: float | None) -> tuple[FailureKind, Remedy]:
    """Name the kind of problem and its remedy; the words only say what to suspect first."""
    if status == 429 and _TOO_LARGE.search(message):
        return "too_long", "mend"
    if status == 429:
        # A quota by the minute is also called "current quota"; but then the wait is named.
        return "rate_limited", "confirm" if _NO_MONEY.search(message) and asked is None else "wait"
    if status in (408, 409, 425) or (status >= 500 and status != 501 and not _is_too_long(status, message)):
        return "server_error", "retry"
    if status in (401, 402, 405, 407, 410) or status < 400:
        return "rejected", "endpoint"
    if status in (400, 403, 422) and _FILTER.search(message) and not _OF_ACCOUNT.search(message):
        return "refused", "give_up"
    return _blame(status, message)


def _blame(status: int, message: str) -> tuple[FailureKind, Remedy]:
    """Name what a refusal may be about."""
    if _FAULTY_REPLY in message:
        return "invalid_json", "mend"
    if status in (403, 404) or _NO_MONEY.search(message) or _NO_MODEL.search(message):
        return "rejected", "confirm"
    return "too_long" if _is_too_long(status, message) else "rejected", "mend"


def _is_too_long(status: int, message: str) -> bool:
    return status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(message) is not None)


def _message_in(payload: object) -> str | None:
    if not isinstance(payload, dict):
        return None
    if choice := first_choice(payload):
        payload = {"error": choice.get("error") or payload.get("error") or "the reply ended with an error"}
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
