"""A dozen conversations with known answers: is a model fit to judge whole conversations?

Weaker models give the conversation the mean of its turns. Some of these conversations fail although every
turn is fine, others succeed after weak turns; in them the mean of the turns is the wrong answer.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from dialogauge.core.conversation import Conversation, Message
from dialogauge.core.json_keys import keys
from dialogauge.core.judgement import FailureKind, Judged, JudgeFailure, Judgement, Usage
from dialogauge.core.protocols import Request
from dialogauge.core.scores import NOT_APPLICABLE, Number
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.judges.rubric.prompt import gathered
from dialogauge.llm.protocol import ChatClient
from dialogauge.rubrics import load_rubric

_FILE = Path(__file__).with_name("known_answers.toml")
_NEAR = 0.5
_FEWEST = 3
_TELLING_SHARE = 0.5


@dataclass(frozen=True)
class KnownCase:
    """One conversation with what is true of it."""

    conversation: Conversation
    bands: Mapping[str, tuple[float, float] | str]
    """By conversation dimension: lowest and highest right score, or `n/a`."""
    weakest: tuple[int, ...] | None
    """The turns that may be named; empty when none may, None when it is not checked."""
    diverges: str | None
    """The dimension in which the mean of the turns is a wrong answer."""


@keys(answer="found", right=None)
@dataclass(frozen=True, slots=True)
class KnownAnswerCheck:
    """One thing that was checked in one conversation."""

    case: str
    what: str
    """A dimension, or `weakest_turn`."""
    expected: str
    answer: str
    right: bool


@keys(
    checks=None,
    failures=None,
    usage=None,
    answered="answered",
    checked="checks",
    right="right",
    by_kind="by_kind",
    returns_turn_average="returns_turn_average",
    wrong="wrong",
    failure_kinds="failures",
)
@dataclass(frozen=True)
class KnownAnswerReport:
    """How a model does on conversations whose judgement is known."""

    checks: tuple[KnownAnswerCheck, ...]
    failures: Mapping[str, JudgeFailure]
    """By case: what could not be judged, or not whole."""
    diverging: int
    """Cases answered in which the mean of the turns is wrong."""
    like_the_mean: int
    """Of these, cases with a wrong score within 0.5 of that mean."""
    asked: int
    usage: Usage = field(default_factory=Usage)

    @property
    def returns_turn_average(self) -> bool | None:
        """Whether the model seems to average turns; None when fewer than 3 telling cases were answered."""
        if self.diverging < _FEWEST:
            return None
        return self.like_the_mean / self.diverging >= _TELLING_SHARE

    @property
    def right(self) -> int:
        """How many checks came out right, of `len(checks)`."""
        return sum(c.right for c in self.checks)

    @property
    def answered(self) -> int:
        """Cases that were judged."""
        return self.asked - len(self.failures)

    @property
    def checked(self) -> int:
        """Things that were checked in them."""
        return len(self.checks)

    @property
    def wrong(self) -> tuple[KnownAnswerCheck, ...]:
        """The known answers that the model does not give."""
        return tuple(check for check in self.checks if not check.right)

    @property
    def failure_kinds(self) -> dict[str, FailureKind]:
        """By case."""
        return {case: failure.kind for case, failure in self.failures.items()}

    @property
    def by_kind(self) -> dict[str, tuple[int, int]]:
        """How often each was right, and how often it was checked."""
        out: dict[str, tuple[int, int]] = {}
        for check in self.checks:
            right, total = out.get(check.what, (0, 0))
            out[check.what] = (right + check.right, total + 1)
        return out


@cache
def known_cases() -> tuple[KnownCase, ...]:
    """Return the cases, English first."""
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(_case(table) for table in content["case"])


def _case(table: Mapping[str, Any]) -> KnownCase:
    expect = dict(table["expect"])
    weakest = expect.pop("weakest", None)
    diverges = expect.pop("diverges", None)
    messages = tuple(
        message
        for user, assistant in table["turns"]
        for message in (Message("user", user), Message("assistant", assistant))
    )
    conversation = Conversation(table["id"], messages, context=table["context"], language=table["language"])
    bands = {name: band if isinstance(band, str) else (band[0], band[1]) for name, band in expect.items()}
    return KnownCase(conversation, bands, None if weakest is None else tuple(weakest), diverges)


async def known_answers(client: ChatClient) -> KnownAnswerReport:
    """Ask a model about every known case by the card and hold its answers against the truth.

    One call for each case. Raises `EndpointError` or `BudgetSpent` from the client.
    """
    judge = RubricJudge(load_rubric("card"), client)
    cases = known_cases()
    judged = await gathered([judge.judge(Request(c.conversation)) for c in cases])
    checks: list[KnownAnswerCheck] = []
    failures: dict[str, JudgeFailure] = {}
    diverging = like_the_mean = 0
    for case, rows in zip(cases, judged, strict=True):
        outcome = rows[-1].outcome
        failed = [row.outcome for row in rows if isinstance(row.outcome, JudgeFailure)]
        if failed or isinstance(outcome, JudgeFailure):
            failures[case.conversation.id] = failed[0]
            continue
        checks += check_case(case, outcome)
        if case.diverges is not None:
            diverging += 1
            like_the_mean += _is_like_the_mean(case, case.diverges, rows)
    usage = sum((row.usage for rows in judged for row in rows), Usage())
    return KnownAnswerReport(tuple(checks), failures, diverging, like_the_mean, len(cases), usage)


def check_case(case: KnownCase, outcome: Judgement) -> list[KnownAnswerCheck]:
    """Hold one conversation's judgement against the truth."""
    name, numbers = case.conversation.id, outcome.numbers
    checks = []
    for what, band in case.bands.items():
        value = numbers[what]
        expected = band if isinstance(band, str) else " to ".join(dict.fromkeys(f"{end:g}" for end in band))
        checks.append(KnownAnswerCheck(name, what, expected, str(value), is_right(value, band)))
    if case.weakest is not None:
        allowed = case.weakest or (None,)
        expected = " or ".join("none" if n is None else str(n) for n in allowed)
        named = outcome.weakest_turn
        found_text = "none" if named is None else str(named)
        checks.append(KnownAnswerCheck(name, "weakest_turn", expected, found_text, named in allowed))
    return checks


def is_right(score: Number, band: tuple[float, float] | str) -> bool:
    """Say whether a score is in a band, or `n/a` where that is right."""
    if isinstance(score, str) or isinstance(band, str):
        return score == NOT_APPLICABLE == band
    return band[0] <= score <= band[1]


def _is_like_the_mean(case: KnownCase, dimension: str, rows: tuple[Judged, ...]) -> bool:
    """Say whether the score is wrong and near the mean of helpfulness or of all turn scores."""
    *turns, whole = [row.outcome.numbers for row in rows if isinstance(row.outcome, Judgement)]
    score = whole[dimension]
    if isinstance(score, str) or is_right(score, case.bands[dimension]):
        return False
    numbers = [{name: n for name, n in scores.items() if not isinstance(n, str)} for scores in turns]
    means = [
        _mean([scores["helpfulness"] for scores in numbers]),
        _mean([value for scores in numbers for value in scores.values()]),
    ]
    return any(abs(score - mean) <= _NEAR for mean in means)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


_ANSWERS: tuple[Number, ...] = (1, 2, 3, 4, 5, NOT_APPLICABLE)


def best_constants(cases: Sequence[KnownCase]) -> dict[str, int]:
    """Return for each thing that is checked in how many cases the best single answer is right."""
    right: dict[str, Counter[object]] = {}
    for case in cases:
        for what, band in case.bands.items():
            right.setdefault(what, Counter()).update(a for a in _ANSWERS if is_right(a, band))
        if case.weakest is not None:
            right.setdefault("weakest_turn", Counter()).update(case.weakest or (None,))
    return {what: max(counts.values()) for what, counts in right.items()}


def unfit(report: KnownAnswerReport) -> tuple[str, ...]:
    """Say what speaks against judging with a model; empty when it is fit.

    Fit is who answers every conversation in the form asked for, is right about each thing more often than
    whoever always gives the best single answer, and does not return the average of its turns.
    """
    out = []
    if report.failures:
        out.append(f"{len(report.failures)} of {report.asked} conversations have no valid judgement")
    kinds = report.by_kind
    for what, constant in best_constants(known_cases()).items():
        right, total = kinds.get(what, (0, 0))
        if right <= constant:
            name = what.replace("_", " ")
            out.append(f"{name} is right in {right} of {total}, the best single answer in {constant}")
    if report.returns_turn_average:
        out.append("it returns the average of its turns")
    return tuple(out)
