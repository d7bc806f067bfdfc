"""The shapes of what a run file holds: conversations, and the rows of each kind of run.

A run file may have been damaged, or written by a hand: what is read from it is checked by these
(`core/shape.py`) before anything is made of it. Other keys may stand beside the ones that are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

from dialogauge.core.conversation import Role
from dialogauge.core.judgement import FailureKind, Level, Verdict, VerdictBasis
from dialogauge.core.scores import Number


class _StoredFunction(TypedDict):
    name: str
    arguments: str


class _StoredCall(TypedDict):
    id: str | None
    function: _StoredFunction


class _StoredMessage(TypedDict):
    role: Role
    content: str | list[dict[str, Any]] | None
    tool_calls: NotRequired[list[_StoredCall]]
    tool_call_id: NotRequired[str | None]
    name: NotRequired[str | None]


_StoredRating = (
    tuple[str, str, float | str, int | None, str | None, str | None, str | None]
    | tuple[str, str, float | str, int | None, str | None, str | None, str | None, float]
)
"""The fields of a `Rating` up to its note, and its weight where it has one."""


class StoredConversation(TypedDict):
    """A conversation as `encode_conversation` writes it."""

    id: str
    messages: list[_StoredMessage]
    user_id: NotRequired[str | None]
    scenario: NotRequired[str | None]
    context: NotRequired[str | None]
    candidate: NotRequired[str | None]
    language: NotRequired[str | None]
    profile: NotRequired[dict[str, Any] | None]
    metadata: NotRequired[dict[str, Any]]
    ratings: NotRequired[list[_StoredRating]]


class StoredUsage(TypedDict):
    """What a target took; under `by_role` the same again without it."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


class _UsageByRole(StoredUsage):
    by_role: dict[str, StoredUsage]


class _StoredFailure(TypedDict):
    kind: FailureKind
    message: str


class _RowRating(TypedDict):
    dimension: str
    score: float | str
    raters: int
    others: NotRequired[dict[str, float | str]]


class JudgedRow(TypedDict):
    """A row of a run of `judge` or `satisfaction`, as `row_json` writes it."""

    conversation_id: str
    user_id: str | None
    scenario: str | None
    candidate: str | None
    level: Level
    turn: int | None
    repeat: int
    scores: dict[str, Number] | None
    whole: dict[str, int]
    raw: dict[str, float]
    overall: float | None
    failure: _StoredFailure | None
    verdict: Verdict | None
    verdict_basis: VerdictBasis | None
    weakest_turn: int | None
    issues: list[str]
    evidence: list[dict[str, Any]]
    rationale: str | None
    details: dict[str, Any]
    judge: str
    prompt_digest: str | None
    usage: _UsageByRole
    rating: NotRequired[_RowRating]
    """What people said of the target; absent where they did not rate it."""


class FitRow(TypedDict):
    """A row of a run of `fit`: a cross-validation."""

    way: str


ROWS: Final[Mapping[str, Any]] = {
    "judge": tuple[JudgedRow, ...],
    "satisfaction": tuple[JudgedRow],
    "answer": tuple[JudgedRow],
    "fit": tuple[FitRow],
}
"""By the kind of run: the shape of a unit's rows."""
