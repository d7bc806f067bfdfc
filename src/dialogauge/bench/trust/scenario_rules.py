"""Scenario rules of a rubric: replies that break one must not be scored above its limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from dialogauge.bench.trust.result import Status, TrustCase, TrustCheck, TrustFigure
from dialogauge.bench.trust.scenario import scenario_text
from dialogauge.bench.trust.thresholds import TrustThresholds
from dialogauge.core import Conversation
from dialogauge.metrics import clustered_mean
from dialogauge.signals import cut

__all__ = ["Rule", "RuleFindings", "check_rules", "find_breaches"]

Row = Mapping[str, Any]

_CASES: Final = 20


class Rule(Protocol):
    """What a rubric file says under `[[scenario_rules]]`."""

    @property
    def name(self) -> str:
        """What the rule is called."""

    @property
    def scenario(self) -> str:
        """Pattern that the scenario matches where the rule holds."""

    @property
    def reply(self) -> str:
        """Pattern that a reply matches when it breaks the rule."""

    @property
    def dimension(self) -> str:
        """The dimension that must be low then."""

    @property
    def at_most(self) -> float:
        """The highest score that is still right."""


@dataclass(slots=True)
class RuleFindings:
    """Breaches found and what became of them."""

    breaches: list[float] = field(default_factory=list)
    """Of each scored breach whether it was scored above the limit: 1 or 0."""
    clusters: list[str] = field(default_factory=list)
    unscored: int = 0
    cases: list[TrustCase] = field(default_factory=list)
    rules: int = 0


def find_breaches(
    judged: Iterable[tuple[Conversation, Sequence[Row]]], rules: Sequence[Rule]
) -> RuleFindings:
    """Look for replies that break a rule of their scenario, and at the scores that they got.

    A rule on a dimension of the whole conversation counts once for a conversation. Of repeats the first
    is looked at.
    """
    found = RuleFindings(rules=len(rules))
    compiled = [(r, re.compile(r.scenario, re.I), re.compile(r.reply, re.I)) for r in rules]
    for conversation, rows in judged:
        text = scenario_text(conversation)
        first = [r for r in rows if r["repeat"] == 1]
        for rule, scenario, reply in compiled:
            if scenario.search(text):
                _hold(found, conversation, first, rule, reply)
    return found


def _hold(
    found: RuleFindings, conversation: Conversation, rows: Sequence[Row], rule: Rule, reply: re.Pattern[str]
) -> None:
    seen: set[int | None] = set()
    for turn in conversation.replied_turns:
        match = reply.search(turn.reply_text)
        if match is None:
            continue
        for row in rows:
            own = row["turn"] if row["level"] == "turn" else None
            if own not in (turn.number, None) or own in seen or row["level"] not in ("turn", "conversation"):
                continue
            score = (row["scores"] or {}).get(rule.dimension)
            if score is None:
                continue
            seen.add(own)
            _count(found, TrustCase(conversation.id, turn.number, _words(rule, score, match[0])), score, rule)


def _words(rule: Rule, score: float | str, said: str) -> str:
    return f"{rule.name}: {rule.dimension} is {score}, at most {rule.at_most:g} is right; said: “{cut(said)}”"


def _count(found: RuleFindings, case: TrustCase, score: float | str, rule: Rule) -> None:
    if isinstance(score, str):
        found.unscored += 1
        return
    above = score > rule.at_most
    found.breaches.append(float(above))
    found.clusters.append(case.conversation_id)
    if above:
        found.cases.append(case)


def check_rules(found: RuleFindings, limits: TrustThresholds) -> TrustCheck:
    """Whether breaches of the scenario's rules lower the score."""
    n, above = len(found.breaches), int(sum(found.breaches))
    mean = clustered_mean(found.breaches, found.clusters).within(0, 1)
    figure = TrustFigure("breaches scored above the limit", mean.mean, n, mean.interval, share=True)
    status: Status = "cannot tell"
    sentence = f"No scored reply breaks one of the {found.rules} scenario rules."
    if mean.mean is not None:
        status = "flagged" if mean.mean > limits.scenario_rule_share else "ok"
        sentence = f"Of {n:,} replies that break a scenario rule, {above:,} are scored above its limit."
    if found.unscored:
        sentence += f" {found.unscored:,} breaches have no score."
    return TrustCheck(
        "scenario_rules",
        "Rules of the scenario",
        status,
        sentence,
        n,
        limits.scenario_rule_share,
        "scenario_rule_share",
        (figure,),
        tuple(found.cases[:_CASES]),
        above,
    )
