"""What a judge returns: a judgement or a failure, never a number in place of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from dialogauge.core.json_keys import keys
from dialogauge.core.scores import NotApplicable, Number, Score

if TYPE_CHECKING:
    from dialogauge.core.conversation import Conversation
    from dialogauge.core.unit import WorkUnit

Level = Literal["turn", "window", "conversation", "pair"]
Verdict = Literal["excellent", "good", "borderline", "poor"]
VerdictBasis = Literal["full", "partial"]

FailureKind = Literal[
    "unreadable",  # the record itself could not be read
    "no_reply",  # there is no assistant reply to judge
    "absent",  # there is no message at all: the run failed at its source
    "unsupported_language",  # the judge was never checked on it
    "invalid_json",  # no JSON object in the reply, after repair and one re-ask
    "invalid_schema",  # JSON, but not the one asked for: missing, extra or off-scale values
    "truncated",  # cut off at the token limit, also with more tokens
    "empty_reply",
    "refused",  # the model declined, or a filter did
    "timeout",
    "rate_limited",
    "server_error",  # 5xx
    "connection",
    "rejected",  # 4xx that no change of parameters mends
    "too_long",  # the prompt does not fit the model
    "window_failed",  # a window that this score stands on failed
    "unmet",  # what had to be done before failed, or never came
    "judge_error",  # a judge of the user's own raised
]

_NO_SCORES: Mapping[str, Score | NotApplicable] = MappingProxyType({})


@keys(repeated_share="repeated_share")
@dataclass(frozen=True, slots=True)
class Usage:
    """What calls were made and what they took; sums with `+`."""

    calls: int = 0
    """Requests that were sent to an endpoint, re-asks and retries included, cache hits not.

    One that had no answer before its deadline counts too, with the cost that was expected of it.
    """
    cached: int = 0
    """Answers taken from the response cache."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """In the currency of the price table; None as soon as one call has no known price."""
    prompt_chars: int = 0
    """Characters of the prompts sent; 0 where a client does not count them."""
    repeated_chars: int = 0
    """Of these, how many repeat the beginning of the previous prompt to the same endpoint."""

    @property
    def repeated_share(self) -> float | None:
        """What a prefix cache can save at the least, as a share of the prompts; None without any."""
        return self.repeated_chars / self.prompt_chars if self.prompt_chars else None

    def __add__(self, other: Usage) -> Usage:
        """Add two usages; an unknown cost makes the sum unknown."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            cost,
            self.prompt_chars + other.prompt_chars,
            self.repeated_chars + other.repeated_chars,
        )


NO_USAGE = Usage()
"""What a row carries whose call is booked elsewhere."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in the conversation that a score stands on."""

    turn: int | None
    quote: str
    source: str
    """The name of the signal or criterion that points there."""
    kind: Literal["signal", "criterion"] = "criterion"
    """A signal is read off the text by us, a criterion is what a model was asked about."""


@dataclass(frozen=True, slots=True)
class Target:
    """What was judged."""

    conversation_id: str
    level: Level
    turn: int | None = None
    """1-based; None for a conversation. For a window its last turn."""
    candidate: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of one target."""

    scores: Mapping[str, Score | NotApplicable] = field(default_factory=lambda: _NO_SCORES)
    """By dimension: a score on the dimension's scale, or `"n/a"`."""
    verdict: Verdict | None = None
    verdict_basis: VerdictBasis | None = None
    """`partial` when a score that the verdict needs is missing."""
    weakest_turn: int | None = None
    issues: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    rationale: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """What a judge adds beyond the common fields; plain JSON values, and nothing that figures are made of."""
    overall: float | None = None
    """The weighted mean of the scores, where the rubric weighs them or its verdict stands on their mean."""

    @property
    def numbers(self) -> dict[str, Number]:
        """By dimension the judge's whole score where it has one, else the value; n/a stays."""
        return {name: s if isinstance(s, str) else s.own for name, s in self.scores.items()}


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """Why there is no judgement."""

    kind: FailureKind
    message: str
    raw: str | None = None
    """What the model replied, when it replied."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One target with its outcome: what a judge hands back, several for a conversation."""

    target: Target
    outcome: Judgement | JudgeFailure
    usage: Usage = field(default_factory=Usage)
    """Booked once per call: on the conversation's row when one call judged all turns."""
    prompt_digest: str | None = None
    role_usage: Mapping[str, Usage] = field(default_factory=dict)
    """`usage` split by role, for the cost table."""

    @property
    def failed(self) -> bool:
        """Whether a judgement failed; of a run that is absent none was asked for."""
        return isinstance(self.outcome, JudgeFailure) and self.outcome.kind != "absent"

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write it as a row of `judgements.jsonl`; see `row_json`."""
        return row_json(unit.conversation, self, repeat=unit.repeat, judge=unit.judge)


def row_json(conversation: Conversation, judged: Judged, *, repeat: int, judge: str) -> dict[str, Any]:
    """Write one judged target as a row of `judgements.jsonl`.

    `scores` is {dimension: value | "n/a"}, or null with a `failure` {kind, message} beside it. `whole` is
    {dimension: whole score} of the scores whose value is not that whole score itself, `raw` {dimension: value
    before calibration} of those that were calibrated: both mostly empty. `overall` is a number or null. On a
    row that did not fail, `failure` is null. Where the judge does not read the language, `details` name it as
    the data do.
    """
    target = judged.target
    row: dict[str, Any] = {
        "conversation_id": target.conversation_id,
        "user_id": conversation.user_id,
        "scenario": conversation.scenario,
        "candidate": target.candidate or conversation.candidate,
        "level": target.level,
        "turn": target.turn,
        "repeat": repeat,
    }
    row.update(_outcome_json(judged.outcome))
    if row["failure"] and row["failure"]["kind"] == "unsupported_language" and conversation.language:
        row["details"] = {"language": conversation.language}
    row["judge"] = judge
    row["prompt_digest"] = judged.prompt_digest
    row["usage"] = _NOTHING_USED
    if judged.usage is not NO_USAGE:
        by_role = {role: usage_json(usage) for role, usage in judged.role_usage.items()}
        row["usage"] = {**usage_json(judged.usage), "by_role": by_role}
    return row


def _outcome_json(outcome: Judgement | JudgeFailure) -> dict[str, Any]:
    if isinstance(outcome, JudgeFailure):
        failure: dict[str, Any] = {"kind": outcome.kind, "message": outcome.message}
        if outcome.raw is not None:
            failure["raw"] = outcome.raw
        outcome, scores = Judgement(), _FAILED
    else:
        failure, scores = {}, scores_json(outcome.scores)
    return {
        **scores,
        "overall": outcome.overall,
        "failure": failure or None,
        "verdict": outcome.verdict,
        "verdict_basis": outcome.verdict_basis,
        "weakest_turn": outcome.weakest_turn,
        "issues": list(outcome.issues),
        "evidence": [{"turn": e.turn, "quote": e.quote, e.kind: e.source} for e in outcome.evidence],
        "rationale": outcome.rationale,
        "details": dict(outcome.details),
    }


_FAILED: Mapping[str, Any] = {"scores": None, "whole": {}, "raw": {}}


def scores_json(scores: Mapping[str, Score | NotApplicable]) -> dict[str, Any]:
    """Write the scores of a row: `scores`, `whole` and `raw`, each by dimension."""
    values: dict[str, Number] = {}
    whole: dict[str, int] = {}
    raw: dict[str, float] = {}
    for name, score in scores.items():
        if isinstance(score, str):
            values[name] = score
            continue
        # A whole number in the row is a whole score: it says both.
        values[name] = score.whole if score.value == score.whole else score.value
        if score.whole is not None and score.value != score.whole:
            whole[name] = score.whole
        if score.raw is not None:
            raw[name] = score.raw
    return {"scores": values, "whole": whole, "raw": raw}


_COUNTED = tuple(f.name for f in fields(Usage))


def usage_json(usage: Usage) -> dict[str, Any]:
    """Write a usage; an unknown cost is null."""
    return {name: getattr(usage, name) for name in _COUNTED}


_NOTHING_USED = {**usage_json(NO_USAGE), "by_role": dict[str, Any]()}
