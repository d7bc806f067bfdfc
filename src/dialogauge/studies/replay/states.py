"""A replay run read back state by state: what was said there, and what its evaluator made of each reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

from dialogauge.core import Conversation, PairRating, Scale, Usage, UsageError
from dialogauge.core.judgement import usage_json
from dialogauge.core.protocols import Reply
from dialogauge.runs import Row, StoredRun
from dialogauge.runs.privacy import hidden_turn, mask_row
from dialogauge.studies.replay.gathered import dimensions_of
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem, replaced
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.replay.stored import ReplayRun
from dialogauge.studies.replay.table import EvaluatorKind
from dialogauge.studies.satisfaction.answers import SATISFACTION

_NOTHING_USED: Final = {**usage_json(Usage()), "by_role": dict[str, Any]()}
_NO_REPLY: Final = "no reply of the candidate's"
_EQUAL: Final = 1e-9
"""Means nearer than this differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class ReplayState:
    """One item, with all that was replied and scored there."""

    item: ReplayItem
    original: Reply
    """The reply of the log; its conversation ends with it."""
    replies: Mapping[str, str]
    """By candidate, those that there are."""
    failures: Mapping[str, str]
    """By candidate without a reply: the kind of the failure, or `pending`."""
    rows: Mapping[str, Row]
    """What the evaluator gave, by candidate; the original reply is one."""

    @property
    def texts(self) -> dict[str, str]:
        """Every reply, the original one first."""
        return {ORIGINAL: self.original.text, **self.replies}

    def conversations(self) -> Iterator[Conversation]:
        """Yield a conversation for each reply, under the item's id: all begin with the same messages."""
        for name, text in self.texts.items():
            reply = self.original if name == ORIGINAL else replaced(self.original, text)
            yield replace(reply.conversation, id=self.item.id, candidate=name)


@dataclass(frozen=True, slots=True)
class ReplayStates:
    """The states of a run, and who scored them."""

    run: ReplayRun
    evaluator: str | None
    """Its digest: that of the last comparison, else the latest; None where nobody scored the run."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What the evaluator is."""

    @classmethod
    def of(cls, run: StoredRun) -> ReplayStates:
        """Find out who scored a run."""
        replay = ReplayRun(run.database)
        known = replay.evaluators
        compared = run.manifest.judge.get("digest")
        digest = compared if compared in known else next(reversed(known), None)
        return cls(replay, digest, {} if digest is None else known[digest])

    @classmethod
    def scored(cls, run: StoredRun) -> ReplayStates:
        """Return the same of a run that somebody scored; UsageError for another."""
        states = cls.of(run)
        if states.evaluator is None:
            path = run.directory.path
            msg = f"nobody has scored the replies of {path}"
            raise UsageError(msg, hint=f"dialogauge replay score {path} --rubric RUBRIC")
        return states

    @property
    def judge(self) -> str:
        """The evaluator's name; empty where nobody scored."""
        return str(self.about.get("name", ""))

    @property
    def by_pairs(self) -> bool:
        """Whether replies were held against the original ones, and got no scores of their own."""
        return self.about.get("by") == "pair"

    @property
    def dimensions(self) -> tuple[tuple[str, Scale, EvaluatorKind], ...]:
        """What the evaluator scores; nothing where nobody scored, or pairs were judged."""
        return () if self.evaluator is None or self.by_pairs else dimensions_of(self.about)

    def __iter__(self) -> Iterator[ReplayState]:
        """Yield the states that were in the data, in the order of the items; planted candidates left out."""
        names = [name for name, about in self.run.candidates.items() if about["kind"] != PLANTED]
        stored = {name: self.run.replies(name) for name in names}
        whose = {key: name for name, of in stored.items() for key in of.keys.values()}
        scored: dict[str, dict[str, Row]] = {}
        for key, row in () if self.evaluator is None else self.run.scores(self.evaluator):
            name = ORIGINAL if row.get("candidate") is None else whose.get(key)
            if name is not None:
                scored.setdefault(row["item"], {})[name] = row
        for item, original in self.run.originals():
            keys = {name: stored[name].reply(item.id) for name in names}
            failures = {
                n: stored[n].failures.get(item.id, "pending") for n, key in keys.items() if key is None
            }
            replies = {name: self.run.text(key) for name, key in keys.items() if key is not None}
            yield ReplayState(item, original, replies, failures, scored.get(item.id, {}))

    def quality(self, row: Row) -> float | None:
        """Return the mean of a reply's scores, from 0 the worst to 1 the best; None without one."""
        scores = scores_of_row(row)
        known = ((scale, scores.get(name)) for name, scale, _ in self.dimensions)
        values = [scale.quality(score) for scale, score in known if isinstance(score, int | float)]
        return sum(values) / len(values) if values else None


def scores_of_row(row: Row) -> Mapping[str, float | str]:
    """Return what an evaluator gave a reply, by dimension, with fractions."""
    if "value" in row:
        return {SATISFACTION: row["value"]}
    return {**row.get("scores", {}), **row.get("values", {})}


def replay_rows(run: StoredRun) -> Iterator[Row]:
    """Yield what the evaluator said: of every reply a row as `judge` writes it, or of every pair a vote.

    Masked where the run is shown so. A reply that is not there, or not scored, is a row with its failure.
    """
    states = ReplayStates.of(run)
    for state in states:
        for row in _votes(states, state) if states.by_pairs else _judged(states, state):
            if run.mask is None:
                yield row
            else:
                hidden = mask_row(run.mask, row)
                yield {**hidden, "item": hidden_turn(run.mask, state.item.id)}


def _judged(states: ReplayStates, state: ReplayState) -> Iterator[Row]:
    item, conversation = state.item, state.original.conversation
    for name in (ORIGINAL, *state.replies, *state.failures):
        row: Row = state.rows.get(name, {})
        whole = {SATISFACTION: row["score"]} if "score" in row else row.get("scores", {})
        values = scores_of_row(row)
        failure = _failure(state, name, row)
        yield {
            "conversation_id": item.conversation,
            "user_id": conversation.user_id,
            "scenario": conversation.scenario,
            "candidate": name,
            "level": "turn",
            "turn": state.original.turn,
            "repeat": 1,
            "scores": None if failure else dict(values),
            "whole": {k: v for k, v in whole.items() if values[k] != v},
            "raw": {},
            "overall": None,
            "failure": failure,
            "verdict": None,
            "verdict_basis": None,
            "weakest_turn": None,
            "issues": row.get("issues", []),
            "evidence": row.get("evidence", []),
            "rationale": row.get("rationale"),
            "details": {},
            "judge": states.judge,
            "prompt_digest": row.get("prompt_digest"),
            "usage": {**_NOTHING_USED, **row.get("usage", {})},
            "item": item.id,
            "gold": item.gold,
            "reply": state.texts.get(name),
        }


def _failure(state: ReplayState, name: str, row: Row) -> dict[str, str] | None:
    """Return why a reply has no score; None where it has one."""
    if name in state.failures:
        return {"kind": state.failures[name], "message": _NO_REPLY}
    if "failure" in row:
        return {"kind": row["failure"]["kind"], "message": row["failure"]["message"]}
    return None if row else {"kind": "pending", "message": "not scored"}


def _votes(states: ReplayStates, state: ReplayState) -> Iterator[Row]:
    for name in (*state.replies, *state.failures):
        row: Row = state.rows.get(name, {})
        yield {
            "conversation_id": state.item.conversation,
            "user_id": state.original.conversation.user_id,
            "turn": state.original.turn,
            "arena": None,
            "a": name,
            "b": ORIGINAL,
            "winner": row.get("winner"),
            "rater": None,
            "shown_first": None,
            "orders": row.get("orders", []),
            "qualities": None,
            "lengths": [row["length"], row["original_length"]] if row else None,
            "failure": _failure(state, name, row),
            "judge": states.judge,
            "usage": {**_NOTHING_USED, **row.get("usage", {})},
            "item": state.item.id,
        }


def preferences(states: ReplayStates) -> Iterator[PairRating]:
    """Yield which of two replies the evaluator prefers, wherever it says: its verdicts, else by its scores.

    By scores any two replies to a state are a pair: that with the better mean wins, equal ones tie.
    """
    for state in states:
        for a, b, winner in winners(states, state):
            yield PairRating(
                a, b, winner, states.judge, None, state.item.conversation, turn=state.original.turn
            )


def winners(states: ReplayStates, state: ReplayState) -> Iterator[tuple[str, str, str]]:
    """Yield the names of two replies to a state, and which is preferred: `a`, `b` or `tie`."""
    if states.by_pairs:
        yield from ((name, ORIGINAL, row["winner"]) for name, row in state.rows.items() if "winner" in row)
        return
    qualities = {name: states.quality(row) for name, row in state.rows.items()}
    known = {name: quality for name, quality in qualities.items() if quality is not None}
    for a, b in combinations(known, 2):
        ahead = known[a] - known[b]
        yield a, b, "tie" if abs(ahead) < _EQUAL else "a" if ahead > 0 else "b"
