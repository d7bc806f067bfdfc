"""The columns of rows as a table: of judgements, of votes, and of answers with a memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

import orjson

from dialogauge.core.values import Value
from dialogauge.runs import StoredRun
from dialogauge.studies.judging.people import stored_people

# The columns that are taken over from a row as they are, in their order; lists are written as JSON.
_TARGET = ("conversation_id", "user_id", "scenario", "candidate", "level", "turn", "repeat")
_VERDICT = ("verdict", "verdict_basis", "weakest_turn")
_LISTS = ("issues", "evidence")
_JUDGE = ("rationale", "judge", "prompt_digest")
_USAGE = ("calls", "cached", "prompt_tokens", "completion_tokens", "cost")
_VOTE = ("conversation_id", "arena", "a", "b", "winner", "rater", "shown_first", "judge")
_SIDES = ("a", "b")


class ExportColumns(Protocol):
    """The columns of a table, and how a row fills them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""

    @property
    def whole(self) -> Collection[str]:
        """Columns of whole numbers."""

    @property
    def fractions(self) -> Collection[str]:
        """Columns of other numbers; the rest are texts."""

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write a row as one level of plain values."""


class VoteColumns(Value):
    """Those of votes; where a model was asked, its answers with `a` and with `b` first."""

    whole = frozenset({"length_a", "length_b", *_USAGE[:-1]})
    fractions = frozenset({"quality_a", "quality_b", "cost"})

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        empty = dict.fromkeys((*_VOTE, "lengths", "qualities", "failure"))
        return tuple(self.flat({**empty, "orders": (), "usage": dict.fromkeys(_USAGE)}))

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write a vote as one level of plain values."""
        flat = {k: row.get(k) for k in _VOTE}
        for what in ("length", "quality"):
            both = row["lengths" if what == "length" else "qualities"] or (None, None)
            flat |= {f"{what}_{side}": value for side, value in zip(_SIDES, both, strict=True)}
        for side in _SIDES:
            order: Mapping[str, Any] = next((one for one in row["orders"] if one["first"] == side), {})
            flat |= {f"{side}_first_winner": order.get("winner"), f"{side}_first_reason": order.get("reason")}
        failure = row["failure"] or {}
        flat |= {"failure_kind": failure.get("kind"), "failure_message": failure.get("message")}
        return flat | {k: row["usage"][k] for k in _USAGE}


class AnswerColumns(Value):
    """Those of answers with a memory: what each earned, what was recalled for it, and what it took."""

    _texts = ("dataset", "corpus", "category", "metric")
    whole = frozenset({"step", "disputed", "items", "tokens", *_USAGE[:-1]})
    """`disputed` is 0 or 1, and empty where nobody has looked."""
    fractions = frozenset({"score", "recall", "session_recall", "share", "retrieve_s", "answer_s", "cost"})

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        blank = dict.fromkeys(("conversation_id", "candidate", "failure"))
        return tuple(self.flat({**blank, "details": {}, "usage": dict.fromkeys(_USAGE)}))

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write an answer as one level of plain values."""
        details, failure = row["details"], row["failure"] or {}
        flat = {key: row[key] for key in ("conversation_id", "candidate")}
        keys = (*self._texts, "step", "disputed", "score", "recall", "session_recall", "items", "tokens")
        flat |= {key: details.get(key) for key in (*keys, "share", "retrieve_s", "answer_s")}
        flat["disputed"] = None if flat["disputed"] is None else int(flat["disputed"])
        flat |= {"failure_kind": failure.get("kind"), "failure_message": failure.get("message")}
        return flat | {key: row["usage"][key] for key in _USAGE}


class JudgementColumns(Value):
    """Those of judgements, by their dimensions."""

    judged: Sequence[str]
    rated: Mapping[str, bool] = field(default_factory=dict)
    """Those that people rated, and whether only in numbers."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        single = (*_TARGET, *_VERDICT, *_JUDGE, "scores", "whole", "raw", "overall", "failure")
        blank = {**dict.fromkeys(single), **dict.fromkeys(_LISTS, ()), "usage": dict.fromkeys(_USAGE)}
        return tuple(self.flat(blank))

    @property
    def whole(self) -> frozenset[str]:
        """Columns of whole numbers."""
        counts = ("turn", "repeat", "weakest_turn", "raters", *_USAGE[:-1])
        return frozenset({*counts, *(f"whole_{name}" for name in self.judged)})

    @property
    def fractions(self) -> frozenset[str]:
        """Columns of other numbers."""
        scores = {f"{what}_{name}" for what in ("score", "raw") for name in self.judged}
        rated = {f"rating_{name}" for name, number in self.rated.items() if number}
        return frozenset({*scores, *rated, "overall", "cost"})

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write a judgement as one level of plain values."""
        scores = row["scores"] or {}
        failure, usage = row["failure"] or {}, row["usage"]
        flat, dimensions = {k: row[k] for k in _TARGET}, self.judged
        for name in dimensions:
            value = scores.get(name)
            flat[f"score_{name}"] = None if value is None or isinstance(value, str) else float(value)
        flat |= {f"whole_{name}": _whole(row, name) for name in dimensions}
        flat |= {f"raw_{name}": (row["raw"] or {}).get(name) for name in dimensions}
        flat["overall"] = row["overall"]
        flat |= _ratings(row.get("rating") or {}, self.rated)
        flat["not_applicable"] = " ".join(k for k, v in scores.items() if isinstance(v, str)) or None
        flat["failure_kind"], flat["failure_message"] = failure.get("kind"), failure.get("message")
        flat |= {k: row[k] for k in _VERDICT}
        flat |= {k: orjson.dumps(row[k]).decode() for k in _LISTS}
        flat |= {k: row[k] for k in _JUDGE}
        return flat | {k: usage[k] for k in _USAGE}


def judgement_columns(run: StoredRun) -> JudgementColumns:
    """Return the columns of a run of judgements: its dimensions, and what people rated."""
    people = stored_people(run)
    rated: dict[str, bool] = {}
    for figure in () if people is None else people.figures:
        rated[figure.dimension] = rated.get(figure.dimension, True) and figure.scale is not None
    return JudgementColumns([d.name for d in run.dimensions], rated)


def _ratings(rating: Mapping[str, Any], rated: Mapping[str, bool]) -> dict[str, Any]:
    scores = {rating.get("dimension"): rating.get("score"), **rating.get("others", {})}
    flat: dict[str, Any] = {}
    for name, number in rated.items():
        score = scores.get(name)
        if score is not None:
            score = float(score) if number else score if isinstance(score, str) else f"{score:g}"
        flat[f"rating_{name}"] = score
    return flat | ({"raters": rating.get("raters")} if rated else {})


def _whole(row: Mapping[str, Any], name: str) -> int | None:
    value = (row["whole"] or {}).get(name, (row["scores"] or {}).get(name))
    return value if isinstance(value, int) else None
