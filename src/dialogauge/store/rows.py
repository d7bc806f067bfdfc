"""The public form of a judged target: one JSON row, as `judgements.jsonl` holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.core.conversation import Conversation
from dialogauge.core.judgement import Judged, JudgeFailure, Judgement, Usage

__all__ = ["ROW_FIELDS", "row_json", "usage_json"]

ROW_FIELDS = (
    "conversation_id",
    "user_id",
    "scenario",
    "candidate",
    "level",
    "turn",
    "repeat",
    "scores",
    "failure",
    "verdict",
    "verdict_basis",
    "weakest_turn",
    "issues",
    "evidence",
    "rationale",
    "details",
    "judge",
    "prompt_digest",
    "usage",
)


def row_json(conversation: Conversation, judged: Judged, *, repeat: int, judge: str) -> dict[str, Any]:
    """Write one judged target as a row with the keys `ROW_FIELDS`.

    `scores` is {dimension: number | "n/a"}, or null with a `failure` {kind, message} beside it. On a
    row that did not fail, `failure` is null.
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
    row["judge"] = judge
    row["prompt_digest"] = judged.prompt_digest
    row["usage"] = {**usage_json(judged.usage), "by_role": _by_role(judged.role_usage)}
    return row


def _outcome_json(outcome: Judgement | JudgeFailure) -> dict[str, Any]:
    if isinstance(outcome, JudgeFailure):
        failure: dict[str, Any] = {"kind": outcome.kind, "message": outcome.message}
        if outcome.raw is not None:
            failure["raw"] = outcome.raw
        outcome, scores = Judgement(), None
    else:
        failure, scores = {}, dict(outcome.scores)
    return {
        "scores": scores,
        "failure": failure or None,
        "verdict": outcome.verdict,
        "verdict_basis": outcome.verdict_basis,
        "weakest_turn": outcome.weakest_turn,
        "issues": list(outcome.issues),
        "evidence": [{"turn": e.turn, "quote": e.quote, e.kind: e.source} for e in outcome.evidence],
        "rationale": outcome.rationale,
        "details": dict(outcome.details),
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    """Write a usage; an unknown cost is null."""
    return {
        "calls": usage.calls,
        "cached": usage.cached,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": usage.cost,
        "prompt_chars": usage.prompt_chars,
        "repeated_chars": usage.repeated_chars,
    }


def _by_role(role_usage: Mapping[str, Usage]) -> dict[str, Any]:
    return {role: usage_json(usage) for role, usage in role_usage.items()}
