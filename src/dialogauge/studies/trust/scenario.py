"""Whether the judge looks at the scenario: a sample judged again without it, and with another's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dialogauge.core import NOT_APPLICABLE, Conversation, Message, digest_text
from dialogauge.rubrics import ScenarioRule
from dialogauge.runs.records import own_scores
from dialogauge.signals import cut
from dialogauge.stats import cluster_labels, mean_estimate
from dialogauge.studies.trust.checks import conclude, only, share_figure
from dialogauge.studies.trust.figures import Seen
from dialogauge.studies.trust.result import Status, TrustCase, TrustCheck, TrustFigure, TrustThresholds

Row = Mapping[str, Any]
Changes = Mapping[str, Mapping[str, Sequence[tuple[str, float]]]]
"""By kind and dimension: conversations, and by how much their scores change."""

_TITLE: Final = "Scenario ignored"
_NAME: Final = "scenario_ignored"
_ENOUGH: Final = 10
_WORDS: Final = {"without": "without its scenario", "another": "with another conversation’s"}


@dataclass(frozen=True, slots=True)
class Variant:
    """A conversation to be judged again."""

    kind: str
    """`without` or `another`."""
    conversation: Conversation


def scenario_text(conversation: Conversation) -> str:
    """Return all that tells a judge what kind of conversation it is: kind, description, instructions."""
    parts = (conversation.scenario, conversation.context, conversation.instructions)
    return "\n".join(p for p in parts if p)


def draw_variants(conversations: Iterable[Conversation], size: int, seed: int) -> list[Variant]:
    """Draw `size` conversations that have a scenario, by seed and id; return two variants of each.

    One has no kind, description and instructions; the other has those of the next conversation drawn
    whose differ, and is left out where there is none.
    """
    able = [c for c in conversations if scenario_text(c) and c.replied_turns]
    drawn = sorted(able, key=lambda c: digest_text(f"{seed}\x1f{c.id}"))[:size]
    out: list[Variant] = []
    for at, conversation in enumerate(drawn):
        out.append(Variant("without", _with_scenario(conversation, None)))
        others = (*drawn[at + 1 :], *drawn[:at])
        mine = scenario_text(conversation)
        other = next((c for c in others if scenario_text(c) != mine), None)
        if other is not None:
            out.append(Variant("another", _with_scenario(conversation, other)))
    return out


def _with_scenario(conversation: Conversation, other: Conversation | None) -> Conversation:
    instructions = () if other is None else _head(other)
    rest = conversation.messages[len(_head(conversation)) :]
    return replace(
        conversation,
        messages=(*instructions, *rest),
        scenario=None if other is None else other.scenario,
        context=None if other is None else other.context,
    )


def _head(conversation: Conversation) -> tuple[Message, ...]:
    """The instructions that stand before the dialogue."""
    for at, message in enumerate(conversation.messages):
        if message.role not in ("system", "developer"):
            return conversation.messages[:at]
    return conversation.messages


def not_checked(*, shown: bool = True) -> TrustCheck:
    """Say that this was not checked: it takes judging a sample again."""
    sentence = (
        "Not checked yet. To check: `dialogauge trust RUN --scenario-sample 50` judges a sample without it."
    )
    if not shown:
        sentence = "The rubric does not show the judge a scenario."
    return TrustCheck(_NAME, _TITLE, "cannot tell", sentence, 0, None, None)


def check_scenario(
    before: Iterable[Row], again: Iterable[Row], names: Sequence[str], *, span: float = 4.0, missing: int = 0
) -> TrustCheck:
    """Compare the scores with those of the same conversations without, or with another's, scenario.

    Args:
        before: Rows of the run; of repeats the first counts, and other conversations do not.
        again: Rows of the variants, each with its `variant`.
        names: The dimensions.
        span: From the lowest to the highest score of the widest of their scales.
        missing: How many variants are still to be judged.
    """
    old = {_target(row): own_scores(row) for row in before if row["repeat"] == 1}
    moved: dict[tuple[str, str, str | None], dict[str, list[float]]] = {}
    users: dict[str, str | None] = {}
    failed = 0
    for row in again:
        users[row["conversation_id"]] = row.get("user_id")
        failed += row["failure"] is not None
        earlier, now = old.get(_target(row), {}), own_scores(row)
        for name in names:
            a, b = earlier.get(name), now.get(name)
            if a is None or b is None or NOT_APPLICABLE in (a, b):
                continue
            of_one = moved.setdefault((row["variant"], row["conversation_id"], row["candidate"]), {})
            of_one.setdefault(name, []).append(float(b) - float(a))
    changes = _changes(moved)
    figures = tuple(_figures(changes, names, span, users))
    status, sentence = _conclusion(figures, changes, failed)
    if missing:
        sentence += f" {missing:,} of the sample are still to be judged: the same command goes on."
    n = max((len(of[""]) for of in changes.values()), default=0)
    return TrustCheck(_NAME, _TITLE, status, sentence, n, None, None, figures)


def _target(row: Row) -> tuple[str, str | None, str, int | None]:
    return row["conversation_id"], row["candidate"], row["level"], row["turn"]


def _changes(
    moved: Mapping[tuple[str, str, str | None], Mapping[str, Sequence[float]]],
) -> Changes:
    """By kind and dimension the mean change of each conversation; under the empty name that of all."""
    out: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for (kind, conversation, _), by_name in moved.items():
        means = {name: sum(values) / len(values) for name, values in by_name.items()}
        for name, change in {**means, "": sum(means.values()) / len(means)}.items():
            out.setdefault(kind, {}).setdefault(name, []).append((conversation, change))
    return out


def _figures(
    changes: Changes, names: Sequence[str], span: float, users: Mapping[str, str | None]
) -> Iterable[TrustFigure]:
    for kind, words in _WORDS.items():
        of_kind = changes.get(kind, {})
        for name in ("", *names):
            if name in of_kind:
                talks = [conversation for conversation, _ in of_kind[name]]
                clusters, unit = cluster_labels([users[c] for c in talks], talks)
                values = [change for _, change in of_kind[name]]
                mean = mean_estimate(values, clusters, limits=(-span, span), unit=unit)
                label = f"{kind}: {name.replace('_', ' ')}" if name else f"change {words}"
                yield TrustFigure(label, mean.value, mean.n, mean.interval)
        if "" in of_kind:
            moved = [(users[id], id, abs(change) > 1e-9) for id, change in of_kind[""]]
            yield share_figure(f"{kind}: conversations that change", Seen.of_each(moved))


def _conclusion(figures: Sequence[TrustFigure], changes: Changes, failed: int) -> tuple[Status, str]:
    overall = {
        kind: next((f for f in figures if f.name == f"change {words}"), None)
        for kind, words in _WORDS.items()
    }
    lost = f" {failed:,} of the new judgements failed and are left out." if failed else ""
    if all(f is None or f.n < _ENOUGH for f in overall.values()):
        n = max((len(of.get("", ())) for of in changes.values()), default=0)
        seen = only(n, "conversation with a scenario was", "conversations with a scenario were")
        return "cannot tell", f"{seen} judged again.{lost}"
    changed, sure = [], False
    for kind, figure in overall.items():
        if figure is not None and figure.value is not None:
            ends = figure.interval
            sure = sure or (ends is not None and (ends[0] > 0 or ends[1] < 0))
            interval = "" if ends is None else f" [{ends[0]:+z.2f}, {ends[1]:+z.2f}]"
            changed.append(f"{_WORDS[kind]} they move by {figure.value:+z.2f}{interval}")
    start = "The scores depend on the scenario" if sure else "No sign that the judge looks at the scenario"
    end = "" if sure else "; neither is distinguishable from no change"
    return ("ok" if sure else "flagged"), f"{start}: {', '.join(changed)} on average{end}.{lost}"


@dataclass(slots=True)
class RuleFindings:
    """Breaches found and what became of them."""

    scored: list[tuple[str | None, str, bool]] = field(default_factory=list)
    """Of each scored breach user and conversation, and whether it was scored above the limit."""
    unscored: int = 0
    cases: list[TrustCase] = field(default_factory=list)
    rules: int = 0


def find_breaches(
    judged: Iterable[tuple[Conversation, Sequence[Row]]], rules: Sequence[ScenarioRule]
) -> RuleFindings:
    """Look for replies that break a rule of their scenario, and at the scores that they got.

    A rule on a dimension of the whole conversation counts once for a conversation. Of repeats the first
    is looked at.
    """
    findings = RuleFindings(rules=len(rules))
    compiled = [(r, re.compile(r.scenario, re.I), re.compile(r.reply, re.I)) for r in rules]
    for conversation, rows in judged:
        text = scenario_text(conversation)
        first = [r for r in rows if r["repeat"] == 1]
        for rule, scenario, reply in compiled:
            if scenario.search(text):
                _check_turns(findings, conversation, first, rule, reply)
    return findings


def _check_turns(
    findings: RuleFindings,
    conversation: Conversation,
    rows: Sequence[Row],
    rule: ScenarioRule,
    reply: re.Pattern[str],
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
            score = own_scores(row).get(rule.dimension)
            if score is None:
                continue
            seen.add(own)
            if isinstance(score, str):
                findings.unscored += 1
                continue
            above = score > rule.at_most
            findings.scored.append((conversation.user_id, conversation.id, above))
            if above:
                most = f"{rule.dimension} is {score}, but should be at most {rule.at_most:g}"
                quote = f"{rule.name}: {most}: “{cut(match[0])}”"
                findings.cases.append(TrustCase(conversation.id, turn.number, quote))


def check_rules(findings: RuleFindings, limits: TrustThresholds) -> TrustCheck:
    """Whether breaches of the scenario's rules lower the score."""
    seen = Seen.of_each(findings.scored)
    n, above, figure = seen.n, seen.hits, share_figure("breaches scored above the limit", seen)
    status: Status = "cannot tell"
    sentence = f"No scored reply breaks one of the {findings.rules} scenario rules."
    if figure.value is not None:
        status = "flagged" if figure.value > limits.scenario_rule_share else "ok"
        sentence = f"{above:,} of {n:,} replies that break a scenario rule are scored above its limit."
    if findings.unscored:
        sentence += f" {findings.unscored:,} breaches have no score."
    return conclude("scenario_rules", limits, status, sentence, n, (figure,), findings.cases)
