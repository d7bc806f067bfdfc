"""What `dialogauge check` prints: what was recognised, assumed and found in an input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from dialogauge.report import Block, Callout, Definitions, Section, words
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.data import InputReport, PersonalReport


_MOST: Final = 12
"""Different ratings of a dimension that are listed: the commonest, in their order."""


def report_blocks(report: InputReport) -> tuple[Block, ...]:
    """Lay out what was found in an input."""
    blocks: list[Block] = [Definitions((*_counts(report), *_groups(report)))]
    blocks += [Callout((warning,), "warn") for warning in _odd_ratings(report)]
    if report.personal is not None:
        blocks.append(Section("Personal data", (Definitions(tuple(_personal(report.personal, report))),)))
    return tuple(blocks)


def _counts(report: InputReport) -> Iterator[tuple[str, str]]:
    yield "conversations", f"{report.conversations:,}"
    yield "messages", f"{report.messages:,}"
    for what, reasons in report.left_out.items():
        why = _listed(reasons) if len(reasons) > 1 else next(iter(reasons))
        yield "left out", f"{sum(reasons.values()):,} {what}: {why}"
    unanswered = _part(report.turns_without_reply, report.turns)
    yield "turns", f"{report.turns:,}, without a reply {unanswered}"
    yield (
        "empty",
        f"{_part(report.empty_conversations, report.conversations)} of the conversations, "
        f"{_part(report.empty_replies, report.replies)} of the replies",
    )
    yield (
        "very short",
        f"{_part(report.short_conversations, report.conversations)} of the conversations (fewer than "
        f"{report.min_turns} turns), {_part(report.short_replies, report.replies)} of the replies",
    )
    for name, lengths in (("user", report.user_messages), ("assistant", report.assistant_messages)):
        if lengths.count:
            yield (
                f"{name} text",
                f"{lengths.mean:,.0f} characters per message on average, median {lengths.median:,.0f}, "
                f"longest {lengths.longest:,}",
            )


def _groups(report: InputReport) -> Iterator[tuple[str, str]]:
    if report.languages:
        yield "languages", _listed(report.languages)
        if unjudged := report.unjudged_languages:
            yield (
                "",
                f"not judged by the local judge: {_listed(unjudged)}; a language model (--model) judges them",
            )
    if report.scenarios:
        yield "scenarios", f"{report.scenario_count}: {_listed(report.scenarios)}"
    if report.candidates:
        yield "candidates", _listed(report.candidates)
    if report.users:
        yield "users", f"{report.users:,}"
    for dimension in report.ratings:
        yield from _rated(report, dimension)


def _rated(report: InputReport, dimension: str) -> Iterator[tuple[str, str]]:
    """Lay out the ratings of one dimension."""
    scores, mean = report.ratings[dimension], report.rating_means[dimension]
    most = sorted(scores, key=lambda score: -scores[score])[:_MOST]
    named = ", ".join(f"{score}: {n:,}" for score, n in scores.items() if score in most)
    others = len(scores) - len(most)
    yield "rated", f"{dimension}: {named}{f' and {others:,} rarer values' if others else ''}"
    if remark := report.rating_remarks.get(dimension):
        yield "", remark
    parts = [] if mean is None else [f"mean {mean:.2f}"]
    if places := report.rated_places.get(dimension):
        parts.append(_listed(places))
    if parts:
        yield "  in all", "; ".join(parts)
    if scenarios := report.ratings_by_scenario.get(dimension):
        yield "  by scenario", _listed(scenarios)
    if users := report.ratings_by_user.get(dimension):
        yield "  by user", _listed(users)


def _odd_ratings(report: InputReport) -> Iterator[str]:
    """Warn of ratings that are no numbers from 1 to 5 where most are."""
    for dimension, scores in report.ratings.items():
        odd = list(report.odd_ratings.get(dimension, {}).items())
        if odd:
            named = ", ".join(f"{s} ({scores[s]:,}; first at {place})" for s, place in odd[:5])
            more = f" and {counted(len(odd) - 5, 'other')}" if len(odd) > 5 else ""
            yield (f"{dimension}: most ratings are whole numbers from 1 to 5, these are not: {named}{more}")


def _personal(personal: PersonalReport, report: InputReport) -> Iterator[tuple[str, str]]:
    if not personal.kinds:
        yield "found", "nothing found that looks like it"
        return
    yield "found", _listed(personal.kinds)
    for role, kinds in personal.roles.items():
        yield f"  {role}", _listed(kinds)
    share = _part(personal.conversations, report.conversations)
    yield "where", f"in {share} of the conversations, {counted(personal.turns, 'turn')}; those with most:"
    for entry in personal.top:
        where = f" ({entry.place})" if entry.place else ""
        turns = "; ".join(
            f"{f'turn {turn}' if turn.isdigit() else turn}: {_listed(kinds)}"
            for turn, kinds in entry.turns.items()
        )
        yield f"  {entry.conversation_id}{where}", turns


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())


def _part(count: int, of: int) -> str:
    return f"{count:,}" if not of else f"{count:,} ({words.percent(count / of)})"
