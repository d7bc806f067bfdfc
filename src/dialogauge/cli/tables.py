"""What the smaller commands print: lines of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.doctor import Examination
    from dialogauge.data import InputReport, PersonalReport

_MARKS = {"ok": "ok     ", "limited": "limited", "failed": "FAILED ", "not_checked": "-      "}


def report_lines(report: InputReport) -> Iterator[str]:
    """Write what was found in an input."""
    for note in report.notes:
        yield str(note)
    yield ""
    yield f"conversations  {report.conversations:,}"
    unanswered = _part(report.turns_without_reply, report.turns)
    yield f"turns          {report.turns:,}, without a reply {unanswered}"
    yield (
        f"empty          {_part(report.empty_conversations, report.conversations)} of the conversations, "
        f"{_part(report.empty_replies, report.replies)} of the replies"
    )
    yield (
        f"very short     {_part(report.short_conversations, report.conversations)} of the conversations "
        f"(fewer than {report.min_turns} turns), {_part(report.short_replies, report.replies)} of the replies"
    )
    for name, lengths in (("user", report.user_messages), ("assistant", report.assistant_messages)):
        if lengths.count:
            yield (
                f"{name + ' text':<14} {lengths.mean:,.0f} characters a message on average, "
                f"median {lengths.median:,.0f}, longest {lengths.longest:,}"
            )
    yield from _groups(report)
    if report.personal is not None:
        yield ""
        yield from _personal(report.personal, report)
    if report.fault_count:
        yield ""
        yield f"NOT READ: {report.fault_count}"
        yield from (f"  {fault}" for fault in report.faults)


def _personal(found: PersonalReport, report: InputReport) -> Iterator[str]:
    if not found.kinds:
        yield "personal data  nothing found that looks like it"
        return
    yield f"personal data  {_counts(found.kinds)}"
    for role, kinds in found.roles.items():
        yield f"  {role}: {_counts(kinds)}"
    share = _part(found.conversations, report.conversations)
    yield f"  in {share} of the conversations, {counted(found.turns, 'turn')}; those with most:"
    for entry in found.top:
        where = f" ({entry.place})" if entry.place else ""
        turns = "; ".join(
            f"{f'turn {turn}' if turn.isdigit() else turn}: {_counts(kinds)}"
            for turn, kinds in entry.turns.items()
        )
        yield f"  {entry.conversation_id}{where}: {turns}"


def _groups(report: InputReport) -> Iterator[str]:
    if report.languages and set(report.languages) != {"undeclared"}:
        yield f"languages      {_counts(report.languages)}"
    if report.scenarios:
        yield f"scenarios      {report.scenario_count}: {_counts(report.scenarios)}"
    if report.candidates:
        yield f"candidates     {_counts(report.candidates)}"
    if report.users:
        yield f"users          {report.users:,}"
    for dimension, scores in report.ratings.items():
        yield f"rated          {dimension}: {', '.join(f'{score}: {n:,}' for score, n in scores.items())}"
        yield from _odd(report.odd_ratings.get(dimension, {}), scores)
    if report.ratings_by_scenario:
        yield f"  by scenario  {_counts(report.ratings_by_scenario)}"
    if report.ratings_by_user:
        yield f"  by user      {_counts(report.ratings_by_user)}"


def _odd(found: Mapping[str, str], scores: Mapping[str, int]) -> Iterator[str]:
    """Warn of ratings that are no numbers from 1 to 5 where most are."""
    if found:
        named = ", ".join(f"{s} ({scores[s]:,}; first at {place})" for s, place in list(found.items())[:5])
        more = f" and {counted(len(found) - 5, 'other')}" if len(found) > 5 else ""
        yield f"  WARNING      most are whole numbers from 1 to 5, these are not: {named}{more}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())


def _part(count: int, of: int) -> str:
    return f"{count:,}" if not of else f"{count:,} ({count / of:.1%})"


def fit_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Write the out-of-fold figures of a fit beside their controls."""
    fitted = found["fitted_on"]
    yield (
        f"fitted {found['dimension']} on {counted(fitted['turns'], 'rated turn')} of "
        f"{counted(fitted['conversations'], 'conversation')}, "
        f"{counted(fitted['groups'], 'user')} (or conversations where no user is known)"
    )
    yield f"{'left-out figures':<18}{'Pearson':>9}{'Spearman':>10}{'AUC':>8}{'MSE':>8}"
    for mode in ("hindsight", "foresight"):
        figures = found["measured"][mode]
        yield _fit_line(mode, figures)
        yield _fit_line("  reply length", figures["control_reply_length"])
        yield _fit_line("  constant", figures["control_constant"])
    yield "AUC: of a dissatisfied turn (3 or less) being scored below a satisfied one"


def _fit_line(name: str, figures: Mapping[str, Any]) -> str:
    keys = (("pearson", 9), ("spearman", 10), ("auc_dissatisfied", 8), ("mean_squared_error", 8))
    return f"{name:<18}" + "".join(f"{_number(figures.get(key)):>{width}}" for key, width in keys)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:z.3f}"


def doctor_lines(examination: Examination) -> Iterator[str]:
    """Write what was found of an endpoint and its model."""
    for check in examination.endpoint.checks:
        yield f"{_MARKS[check.status]} {check.name}: {check.sentence}"
    if examination.answers is not None:
        yield ""
        yield from examination.answers.lines()
    yield ""
    yield examination.verdict
