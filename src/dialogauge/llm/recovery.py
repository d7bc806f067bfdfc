"""Recovery from refusals by one rule, whatever their wording.

A request that is refused without a clear reason loses what is optional in it, one thing at a time and each
once. What does not help is taken back, what helps is remembered for the endpoint and the model. The words of
the refusal only say what to try first. Once a request of the same shape was answered, a refusal is the fault
of its own text: only what the words name is tried then, and for this request alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.llm.problems import Problem, refused_parameter
from dialogauge.llm.protocol import ChatRequest, ReplySchema
from dialogauge.llm.wire import Rung, encode, fold_system, join_roles, request_body, with_schema

_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_SHORTEST_REPLY = 64
"""Tokens; a reply that must be shorter is of no use."""
_OF_PROMPT = lazy_pattern(r"prompt|input|messages", re.IGNORECASE)
_SHORTER = 3
"""Attempts with shorter replies."""
_DOUBT = 5
"""So many refusals in a row of a shape that was answered say that the endpoint has changed its mind."""
_SEARCHES = 3
"""Searches for one shape; after as many in vain its requests fail at once."""
_SUSPECTS = 3
"""Steps for a request whose shape was answered before."""
_AGAIN = 2
"""Repetitions after a faulty reply; one less than `_SUSPECTS`."""


@dataclass(frozen=True, slots=True)
class Form:
    """How requests are written for one endpoint and model."""

    rung: Rung | None = None
    """How a schema is enforced; None sends none."""
    limit_name: str | None = "max_tokens"
    """The name of the token limit; None sends none."""
    longest: int | None = None
    """The most tokens of a reply that may be asked for."""
    dropped: frozenset[str] = frozenset()
    folded: bool = False
    """Whether system messages are part of the user message."""
    joined: bool = False
    """Whether neighbours of one role are one message."""

    def parameters(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return model and parameters as the endpoint takes them."""
        taken = {name: value for name, value in base.items() if name not in self.dropped}
        limits = [taken.pop(name) for name in _LIMITS if name in taken]
        if limits and self.limit_name is not None:
            taken[self.limit_name] = limits[0]
        return taken

    def write(self, base: Mapping[str, Any], request: ChatRequest) -> dict[str, Any]:
        """Return the body of a request; `base` has model and parameters."""
        body = request_body(self.parameters(base), request, self.limit_name)
        body = {name: value for name, value in body.items() if name not in self.dropped}
        limit = body.get(self.limit_name or "")
        if isinstance(limit, int) and self.longest is not None and self.limit_name is not None:
            body[self.limit_name] = min(limit, self.longest)
        if self.folded:
            body["messages"] = fold_system(body["messages"])
        if self.joined:
            body["messages"] = join_roles(body["messages"])
        if request.schema is not None and self.rung is not None:
            body = with_schema(body, request.schema, self.rung)
        return body


Body = Mapping[str, Any]


class Step(Value):
    """One thing that a request can do without."""

    name: str
    """What changes, for the list of what the endpoint refuses."""
    becomes: str
    """What happens to it."""
    change: Callable[[Form, Body], Form | None]
    """Returns the new form; None where there is nothing to change."""
    suspected: Callable[[Problem, Body], bool]
    """Says whether the words of a refusal point here."""
    lasting: bool = True
    """Whether it can be remembered."""


def _named(*names: str) -> Callable[[Problem, Body], bool]:
    return lambda problem, body: refused_parameter(problem, body) in names


def _worded(pattern: str) -> Callable[[Problem, Body], bool]:
    words = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda problem, _: words.search(problem.message) is not None


def _lowered(rung: Rung, *above: Rung) -> Callable[[Form, Body], Form | None]:
    return lambda form, _: replace(form, rung=rung) if form.rung in above else None


def _renamed(old: str, new: str) -> Callable[[Form, Body], Form | None]:
    return lambda form, body: replace(form, limit_name=new) if form.limit_name == old in body else None


def _without_limit(form: Form, body: Body) -> Form | None:
    return replace(form, limit_name=None) if form.limit_name in body else None


def _folded(form: Form, body: Body) -> Form | None:
    has_system = any(m.get("role") == "system" for m in body["messages"])
    return replace(form, folded=True) if has_system and not form.folded else None


def _joined(form: Form, body: Body) -> Form | None:
    roles = [m.get("role") for m in body["messages"]]
    neighbours = any(a == b for a, b in pairwise(roles))
    return replace(form, joined=True) if neighbours and not form.joined else None


def _without(name: str) -> Callable[[Form, Body], Form | None]:
    return lambda form, _: replace(form, dropped=form.dropped | {name})


def _barest(form: Form, body: Body) -> Form:
    dropped = form.dropped | set(_optional(body))
    rung: Rung | None = None if form.rung is None else "prompt"
    return Form(rung, limit_name=None, dropped=dropped, folded=True, joined=True)


def _optional(body: Body) -> list[str]:
    return [name for name in body if name not in ("model", "messages", "response_format", *_LIMITS)]


_LIMIT_NAMED = _named(*_LIMITS)
_SCHEMA_WORDED = _worded(r"response_format|schema|grammar|guided|structured|json")
_NO_SCHEMA: Final = Step(
    "response_format",
    "sent without its schema",
    _lowered("json_object", "json_schema", "json_object_schema"),
    _SCHEMA_WORDED,
)
_PROMPT_ONLY: Final = Step(
    "response_format",
    "the schema is in the prompt only",
    _lowered("prompt", "json_schema", "json_object_schema", "json_object"),
    _SCHEMA_WORDED,
)
_OTHER_NAMES: Final = tuple(
    Step("max_tokens", f"sent as {new}", _renamed(old, new), _LIMIT_NAMED)
    for old, new in (_LIMITS, _LIMITS[::-1])
)
_LAST: Final = (
    Step(
        "system role",
        "sent as part of the user message",
        _folded,
        _worded(r"system\W? (?:role|message|prompt|instruction)|'system'|developer instruction"),
    ),
    Step("roles", "neighbours of one role are joined", _joined, _worded(r"alternat|\broles?\b|consecutive")),
    Step("max_tokens", "dropped", _without_limit, _LIMIT_NAMED),
)
_EVERYTHING: Final = Step("all that is optional", "dropped", _barest, lambda _, __: False)
_REPEAT: Final = Step("again", "asked again", lambda form, _: form, lambda _, __: True, lasting=False)


def _steps(body: Body) -> Iterator[Step]:
    """Yield what a body can do without, in the order of suspicion where the words say nothing."""
    yield from (_NO_SCHEMA, _PROMPT_ONLY, *_OTHER_NAMES)
    for name in _optional(body):
        yield Step(name, "dropped", _without(name), _named(name))
    yield from _LAST


def shorter_reply(problem: Problem, sent: int, most: int) -> tuple[int, bool] | None:
    """Return a limit of at most `most` tokens that may fit in place of `sent`, by the numbers of a refusal.

    The numbers are a limit of every reply, or the sizes of the context, of the prompt, and of both together
    with the reply. The second value says whether it is such a limit. None if the numbers leave no room.
    """
    words = re.sub(r"(?<=\d),(?=\d{3}\b)", "", problem.words)
    numbers = {int(n) for n in re.findall(r"(?<![\w.])\d{2,9}(?![\w.]*\d)", words)}
    numbers.discard(problem.status or 0)
    for prompt in sorted(numbers - {sent}):
        if prompt + sent in numbers:
            sizes = {n for n in numbers - {prompt, prompt + sent, sent} if n < prompt + sent} or {sent}
            room = min(max(sizes) - prompt, most)
            return (room, False) if room >= _SHORTEST_REPLY else None
    others = numbers - {sent}
    room_left = {a - b for a in others for b in others if a > b}
    excesses = room_left | {n - sent for n in others if n > sent}
    groups = [room_left, {sent - excess for excess in excesses}, others, {sent - n for n in others}]
    if _OF_PROMPT.search(words):
        groups[2:] = groups[:1:-1]
    for group in groups:
        fitting = [n for n in group if _SHORTEST_REPLY <= n <= most and n < sent]
        if fitting:
            return max(fitting), group is others
    return None


class Search:
    """The search of one request for a form that its endpoint takes."""

    def __init__(
        self, form: Form, *, everything: bool, lasting: bool, probing: bool = False, new_schema: bool = False
    ) -> None:
        self.start = self.form = self.lasting = form
        """`start` was refused, `form` is the present one; `lasting` lacks what suits this request only."""
        self.everything = everything
        """Whether all steps are tried; else only those that the words name."""
        self.remembered = lasting
        """Whether what helps holds for other requests."""
        self._kept = "response_format" if probing else ""
        self._new_schema = new_schema
        self.first: Problem | None = None
        self.reasons: dict[str, str] = {}
        """Name of each step that holds, and why it was taken."""
        self._before = (form, form, self.reasons)
        self._complaint = ""
        self._tried: set[tuple[str, str]] = set()
        self._shortened = 0

    def advance(self, problem: Problem, body: Body) -> bool:
        """Change the form after a refusal; False if nothing is left to change."""
        self.first = self.first or problem
        complaint = re.sub(r"[\w-]*\d[\w-]*", "#", problem.message)[:200]
        if complaint == self._complaint:
            self.form, self.lasting, self.reasons = self._before
        self._complaint = complaint
        for step in self._candidates(problem, body):
            form = step.change(self.form, body)
            if form is None:
                continue
            self._tried.add((step.name, step.becomes))
            self._before = (self.form, self.lasting, self.reasons)
            if step.lasting:
                self.lasting = step.change(self.lasting, body) or self.lasting
                self.reasons = {**self.reasons, step.name: f"{step.becomes}: {problem.message}"}
            self.form = form
            return True
        return False

    def _candidates(self, problem: Problem, body: Body) -> Iterator[Step]:
        if problem.kind == "invalid_json" and len(self._tried) < _AGAIN:
            yield replace(_REPEAT, becomes=str(len(self._tried)))
        yield from self._shorter(problem, body)
        if problem.kind == "too_long":
            return
        if problem.kind == "server_error":
            yield from (s for s in (_NO_SCHEMA, _PROMPT_ONLY) if (s.name, s.becomes) not in self._tried)
            return
        steps = [s for s in _steps(body) if s.name != self._kept and (s.name, s.becomes) not in self._tried]
        suspects = [s for s in steps if s.suspected(problem, body)]
        if not self.everything:
            suspects += [_PROMPT_ONLY] if self._new_schema and _PROMPT_ONLY in steps else []
            yield from (s for s in suspects if s is not _NO_SCHEMA and len(self._tried) < _SUSPECTS)
            return
        yield from suspects
        if not suspects and not self._tried:
            yield _REPEAT  # what passes by itself must not be taken for the work of a step
        yield from (s for s in steps if s not in suspects)
        if len(self._tried) > 1 and (_EVERYTHING.name, _EVERYTHING.becomes) not in self._tried:
            yield _EVERYTHING

    def _shorter(self, problem: Problem, body: Body) -> Iterator[Step]:
        sent = body.get(self.form.limit_name or "")
        if not isinstance(sent, int) or self._shortened == _SHORTER:
            return
        named = _LIMIT_NAMED(problem, body) or re.search(rf"(?<!\d){sent}(?!\d)", problem.words) is not None
        if problem.kind != "too_long" and not named:
            return
        # The first reading of the numbers may be wrong, and "at least so many" is no count.
        shorter = shorter_reply(problem, sent, sent // 2 if self._shortened else sent)
        if shorter is None:
            return
        tokens, lasting = shorter
        self._shortened += 1
        becomes = f"at most {tokens}"
        yield Step(
            "reply length", becomes, lambda form, _: replace(form, longest=tokens), _LIMIT_NAMED, lasting
        )


@dataclass(slots=True)
class _Shape:
    """What is known of requests of one shape."""

    answered: bool = False
    refusals: int = 0
    """Since the last answer."""
    searches: int = 0
    schemas: set[int] = field(default_factory=set)
    """Of the requests that were answered."""
    schema: ReplySchema | None = None
    """The last of them, which mostly is that of the next request too."""


class Recovery:
    """What one endpoint and model takes, as far as it is known."""

    def __init__(self, base: Mapping[str, Any]) -> None:
        self.form = Form(limit_name=next((name for name in _LIMITS if name in base), _LIMITS[0]))
        """Without a rung: that is the ladder's."""
        self.changes: dict[str, str] = {}
        """What is not sent as it was asked for -> what is sent instead, and why."""
        self.lock = asyncio.Lock()
        """Held by the one search whose result others may use."""
        self._shapes: dict[Hashable, _Shape] = {}

    def is_new(self, request: ChatRequest, form: Form) -> bool:
        """Say whether no request of this shape was answered yet, or not for long, so that a search pays."""
        seen = self._of(request, form)
        return (not seen.answered or seen.refusals >= _DOUBT) and seen.searches < _SEARCHES

    def knows_schema(self, request: ChatRequest, form: Form) -> bool:
        """Say whether a request of this shape with the same schema was answered, or it has none."""
        return request.schema is None or _digest(request.schema) in self._of(request, form).schemas

    def note_refusal(self, request: ChatRequest, form: Form) -> None:
        """Count a request that was refused."""
        self._of(request, form).refusals += 1

    def note_answer(self, request: ChatRequest, form: Form) -> None:
        """Count a request that was answered."""
        seen = self._of(request, form)
        seen.answered, seen.refusals = True, 0
        if request.schema is not None and request.schema is not seen.schema:
            seen.schema = request.schema
            seen.schemas.add(_digest(request.schema))

    def search(self, request: ChatRequest, form: Form, problem: Problem, *, probing: bool) -> Search:
        """Begin a search; what a crash of the server suggests is believed only when it happens again."""
        seen = self._of(request, form)
        pays = self.is_new(request, form)
        everything = pays and not probing and problem.kind in ("rejected", "server_error")
        seen.searches += everything
        lasting = (pays or problem.kind == "too_long") and (problem.status != 500 or seen.refusals > 1)
        new = not self.knows_schema(request, form)
        return Search(form, everything=everything, lasting=lasting, probing=probing, new_schema=new)

    def learn(self, search: Search) -> None:
        """Remember what helped."""
        self.form = replace(search.lasting, rung=None)
        self.changes |= search.reasons

    def _of(self, request: ChatRequest, form: Form) -> _Shape:
        roles = [m.get("role") for m in request.messages]
        alternate = all(a != b for a, b in pairwise(roles))
        name = None if request.schema is None else request.schema.name
        form = form if form.longest is None else replace(form, longest=None)
        shape = (form, name, request.max_tokens is None, not request.salt, frozenset(roles), alternate)
        return self._shapes.setdefault(shape, _Shape())


def _digest(schema: ReplySchema) -> int:
    return hash(encode(schema.schema))
