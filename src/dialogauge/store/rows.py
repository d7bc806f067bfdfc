"""The public form of a judged target: one JSON row, as `judgements.jsonl` holds it."""

from __future__ import annotations

from typing import Any

from dialogauge.core.conversation import Conversation
from dialogauge.core.judgement import NO_USAGE, Judged, JudgeFailure, Judgement, Usage

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
    row["usage"] = _NOTHING_USED if judged.usage is NO_USAGE else _usage(judged)
    return row


def _usage(judged: Judged) -> dict[str, Any]:
    by_role = {role: usage_json(usage) for role, usage in judged.role_usage.items()}
    return {**usage_json(judged.usage), "by_role": by_role}


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


_NOTHING_USED = {**usage_json(NO_USAGE), "by_role": dict[str, Any]()}
