"""An endpoint: its base URL, key and headers, and what may be shown of them."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from dialogauge.core.errors import ConfigError, EndpointError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.llm.problems import Problem
from dialogauge.llm.secrets import (
    Secrets,
    is_credential,
    parameter_secrets,
    query_values,
    secret_values,
    url_secrets,
    without_credentials,
)

_LISTED: Final = 12
_HEADER_NAME: Final = lazy_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = lazy_pattern(r"[\t\x20-\x7e\xa0-\xff]*")
_HOST: Final = lazy_pattern(r".*:.*|([^.]{1,63}\.)*[^.]{1,63}\.?")
"""A name of parts as the DNS has them, or an address with colons."""
_LIKE_URL: Final = "it looks like http://localhost:8000/v1"


@dataclass(frozen=True, repr=False)
class Endpoint:
    """An OpenAI-compatible base URL with key and headers.

    Raises `ConfigError` for an invalid URL, and for a key or header that HTTP cannot carry.
    """

    base_url: str
    """For example ``https://api.example.org/v1``; requests keep its query, and its user info is a key."""
    api_key: str | None = None
    key_variable: str | None = None
    """The environment variable with the key, for messages only."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of the requests: the keys among them are secrets too."""

    def __post_init__(self) -> None:
        if (why := _fault(self.base_url)) is not None:
            message = f"{without_credentials(self.base_url)!r} is no base URL of an endpoint: {why}"
            raise ConfigError(message, hint=_LIKE_URL)
        if self.api_key is not None and not _HEADER_VALUE.fullmatch(self.api_key):
            place = "" if self.key_variable is None else f" in the environment variable {self.key_variable}"
            message = f"the key{place} holds a line break or another character that HTTP cannot carry"
            raise ConfigError(message, hint="set it anew, without anything before or after it")
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name):
                message = f"{name!r} is no name of an HTTP header"
                raise ConfigError(message, hint="letters, digits and hyphens make one")
            if not _HEADER_VALUE.fullmatch(value):
                message = f"the value of the header {name!r} holds a character that HTTP cannot carry"
                raise ConfigError(message, hint="leave out line breaks; percent-encode what is not Latin")

    def __repr__(self) -> str:
        """Without secrets."""
        return f"Endpoint({self.shown_url!r})"

    @property
    def shown_url(self) -> str:
        """The base URL without user info and query, which may be secrets."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, _host(parts), parts.path.rstrip("/"), "", ""))

    def url(self, path: str) -> str:
        """Return the URL of a path below the base, with the query and without user info."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, _host(parts), parts.path.rstrip("/") + path, parts.query, ""))

    def request_headers(self) -> dict[str, str]:
        """Return the headers of every request, including the key; those that were set win."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        parts = urlsplit(self.base_url)
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        elif parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        named = {name.lower() for name in self.headers}
        return {n: v for n, v in headers.items() if n.lower() not in named} | dict(self.headers)

    @property
    def variant(self) -> str | None:
        """A digest of the query and the headers without credentials, which may change the answers.

        None where there are none, so another key alone changes nothing.
        """
        query = query_values(urlsplit(self.base_url).query)
        named = [("?", n, v) for n, v in query if (n or v) and not is_credential(n)]
        named += [(":", n.lower(), v) for n, v in self.headers.items() if not is_credential(n)]
        return hashlib.sha256(repr(sorted(named)).encode()).hexdigest()[:16] if named else None

    @cached_property
    def secrets(self) -> Secrets:
        """All that must not be shown: keys, user info, and what the names of other values tell."""
        return Secrets(self._secret_values())

    def _secret_values(self) -> Iterator[str]:
        yield self.api_key or ""
        yield from url_secrets(self.base_url)
        yield from secret_values(self.request_headers().items())
        yield from parameter_secrets(self.extra)

    def redact(self, text: str) -> str:
        """Return the text without secrets."""
        return self.secrets.mask(text)

    def error(self, problem: Problem, model: str, listed: Sequence[str] | None = None) -> EndpointError:
        """Return the error for an unusable endpoint, with a hint what to do.

        `listed` are the models that the endpoint lists; None without a list.
        """
        message = f"{self.shown_url}: {self.redact(problem.message)}"
        return EndpointError(message, hint=self._hint(problem, model, listed))

    def _hint(self, problem: Problem, model: str, listed: Sequence[str] | None) -> str:
        status = problem.status
        if problem.is_of_account:
            return "the limit or the credit of the account is used up: wait, pay, or use another endpoint"
        if status in (401, 403):
            return self._key_hint()
        if status in (400, 404):
            if listed and model not in listed:
                more = ", ..." if len(listed) > _LISTED else ""
                return f"model {model!r} is not listed; the endpoint has {', '.join(listed[:_LISTED])}{more}"
            return f"check the model name {model!r} and the base URL, which mostly ends in /v1"
        if status is not None:
            down = "the server answers nobody: look into its log, and give the command again once it does"
            return down if status >= 500 else "check the base URL; it mostly ends in /v1"
        return "is the server running, and are host and port right?"

    def _key_hint(self) -> str:
        if self.key_variable is None:
            return "the endpoint wants a key: put it into an environment variable, name it by --api-key-env"
        if not self.api_key:
            return f"the environment variable {self.key_variable} is not set: put the key there"
        return f"check the key in the environment variable {self.key_variable}"


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _fault(url: str) -> str | None:
    """Return what is wrong with a URL; None for one that can be used."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "the host or the port cannot be read; @, /, ? and # in a password must be percent-encoded"
    sent = "".join((_host(parts), parts.path, parts.query))
    if re.search(r"[\x00-\x1f\x7f]", url) or not re.fullmatch(r"[!-\[\]-~]*", sent):
        return "a space, or another character that no URL may hold, must be percent-encoded"
    if parts.scheme not in ("http", "https") or port == 0:
        return "there is no port 0" if port == 0 else "it begins with http:// or https://"
    if not _HOST.fullmatch(parts.hostname or ""):
        return "it names no host, or one with a part that is empty or has more than 63 characters"
    if parts.fragment or "@" in parts.path:
        return "# and @ behind the host must be percent-encoded"
    return None
