"""What a reader of a judged run sees first: how many, what people say, what the light is, what was found.

No score and no verdict of the judge stands here, unless people were found to agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from dialogauge.core.values import Value
from dialogauge.judges.local.evidence import HERE, load_evidence
from dialogauge.report import (
    Block,
    Callout,
    Card,
    Cards,
    Count,
    Definitions,
    Number,
    Percent,
    Prose,
    Span,
    Tile,
    Tiles,
    Transcript,
    words,
)
from dialogauge.stats import Estimate
from dialogauge.studies.evidence import NOTHING_CHECKED, UNCHECKED_FIRST, RunEvidence
from dialogauge.studies.judging.agents import AgentFacts
from dialogauge.studies.judging.findings import FindingsSummary, KindSummary, Missed
from dialogauge.studies.judging.people import Agreement, Light, People, PeopleFigure, Raters, Rectified
from dialogauge.studies.judging.summary import DimensionSummary, Summary
from dialogauge.studies.judging.worst import WorstGroup
from dialogauge.studies.trust.result import Trust
from dialogauge.text import counted

_KINDS: Final = 3
_PLACES: Final = 3
_QUOTE_CHARS: Final = 140
_LIGHTS: Final[Mapping[Agreement, tuple[Literal["good", "warn", "info"], str]]] = {
    "agrees": ("good", "The judge agrees with {}{}."),
    "which users": ("warn", "The judge tells which users are dissatisfied, and no more."),
    "which conversations": ("warn", "The judge tells which conversations went badly, and no more."),
    "does not": ("warn", "The judge does not agree with {}{}."),
    "cannot tell": ("info", "We cannot tell yet whether the judge agrees with {}{}."),
}
_RATERS: Final[Mapping[Raters, tuple[str, str, str]]] = {
    "users": ("your users", "users’ {}", "rated dissatisfied"),
    "people": ("the people who rated", "people’s {}", "rated dissatisfied"),
    "environment": ("what came of the tasks", "mean {}", "failed"),
}
"""Who they are, what their figure is called, and what the low end of it is."""


class Known(Value):
    """What is known of a run beside the judge's scores."""

    trust: Trust | None = None
    """The checks of its judge; None where none were made."""
    people: People | None = None
    """What people said; None where the data holds no ratings."""
    findings: FindingsSummary | None = None
    """What the judge found by kind; None for a judge that names no kinds."""
    worst: WorstGroup | None = None
    """The group that stands out for the worse; None where none does."""
    agents: tuple[AgentFacts, ...] = ()
    """What is known of agents that are named."""
    evidence: RunEvidence = NOTHING_CHECKED
    """Which dimensions are checked: no other heads anything."""

    def counted(self, summary: Summary) -> tuple[DimensionSummary, ...]:
        """Return the dimensions that may head and rank: what is checked, or all where that was asked for."""
        return tuple(d for d in summary.dimensions if self.evidence.counts(d.name))


_MAKE: Final = "dialogauge annotate make RUN --choose mixed -o DIR"


def opening(
    summary: Summary, known: Known, first: Sequence[Transcript], places: Mapping[str, str] | None = None
) -> tuple[Block, ...]:
    """Lay out the first screen.

    Args:
        summary: Of the run.
        known: What is known beside its scores.
        first: The turns to read first.
        places: The anchors of conversations by id, on a page; None on a terminal.
    """
    findings, people = known.findings, known.people
    kinds = () if findings is None else findings.kinds[:_KINDS]
    cards: Block = Definitions(tuple(map(_line, kinds)))
    if places is not None:
        cards = Cards(tuple(_card(kind, places) for kind in kinds))
    shown = first[:_PLACES]
    pairs: list[tuple[str, Prose]] = []
    for number, one in enumerate(shown):
        place = Span(f"{one.title}, turn {one.turns[0].number}", link=one.link)
        reason = one.reason if isinstance(one.reason, str) else words.prose_words(one.reason)
        pairs.append(("" if number else "read first", (place, f": {_short(reason)}")))
    rest = [*([] if known.worst is None else [("worst group", known.worst.sentence)]), *pairs]
    unchecked = [Callout((Span(UNCHECKED_FIRST, "strong"),), "warn")] if known.evidence.unchecked else []
    return (
        *unchecked,
        _how_many(summary, findings, people),
        _UNREAD if people is None and _is_unread(findings) else light_callout(people),
        *([cards] if kinds else []),
        *([Definitions(tuple(rest))] if rest else []),
    )


_UNREAD: Final = Callout(
    (
        (
            Span(
                "This data is in a language that the judge was not checked on: none of it was judged.",
                "strong",
            ),
            " Name a language model that reads it: ",
            Span("dialogauge judge LOG --model MODEL", "code"),
            ".",
        ),
    ),
    "warn",
)


def _is_unread(findings: FindingsSummary | None) -> bool:
    return findings is not None and not findings.conversations and any(findings.not_judged.values())


def _how_many(summary: Summary, findings: FindingsSummary | None, people: People | None) -> Tiles:
    counts = summary.conversations
    figure = people.figures[0] if people is not None and people.figures else None
    known = summary.users is not None and " and " not in summary.clustered_by
    users = f"of {counted(summary.users or 0, 'user')}" if known else ""
    tiles = [Tile("conversations judged", Count(counts.judged, counts.requested), users)]
    if people is not None and figure is not None:
        tiles += _said(figure, people.over_all(figure))
    if findings is not None:
        share = Count(findings.with_finding, findings.conversations)
        tiles.append(Tile("with a finding", share, _missed(findings.missed)))
        unread = sum(findings.not_judged.values())
        named = ", ".join(words.language(code) for code in findings.not_judged if code != "other")
        of = f"in a language that the judge was not checked on{f' ({named})' if named else ''}"
        of += "; a language model (--model) can judge them"
        tiles += [Tile("not judged", unread, of)] if unread else []
    return Tiles(tuple(tiles))


def _missed(missed: Missed | None) -> str:
    """Say of how much of what is poor nothing was found."""
    if missed is None or not missed.poor:
        return ""
    where = "" if missed.source == HERE else f", in other data: {missed.source}"
    share = words.percent(missed.share)
    return (
        f"missed: {share} of the {missed.what} that were rated poorly or failed have none "
        f"({missed.without:,} of {missed.poor:,}{where})"
    )


def _said(figure: PeopleFigure, over_all: Rectified | None) -> list[Tile]:
    several = f" of {counted(figure.n, figure.level)}" if figure.ratings > figure.n else ""
    every = counted(max(figure.ratings, figure.n), "rating")
    rated = f"{every}{several}, {counted(figure.rated_conversations, 'conversation')}"
    rated += "" if figure.users is None else f" of {counted(figure.users, 'user')}"
    if figure.apart is not None:
        rated += f"; several raters of one {figure.level} lie {figure.apart:.1f} apart on average"
    called, bad = (text.format(figure.what) for text in _words_of(figure)[1:])
    if figure.scale is None:
        names = figure.commonest
        tiles = [Tile(f"{figure.what}: {words.name(name)}", Count(n, figure.n)) for name, n in names]
    else:
        weighted = "; weighted by the chance of being chosen" if figure.weights == "used" else ""
        scale = f"of {figure.scale.low:g} to {figure.scale.high:g}; {rated}{weighted}"
        tiles = [_tile(called, figure.mean, scale)]
        if over_all is not None and over_all.judge_is_used:
            note = (
                f"estimated for all {over_all.targets:,} from {counted(over_all.rated_only.n, 'rating')} and "
                "the judge’s scores (rectified mean)"
            )
            tiles.append(_tile(f"{called}, all {figure.level}s", over_all.rectified, note))
    if figure.dissatisfied is not None:
        averaged = "" if figure.apart is None else " by the mean of the raters"
        tiles.append(_tile(bad, figure.dissatisfied, f"meaning {figure.rule}{averaged}", share=True))
    return tiles


def _words_of(figure: PeopleFigure) -> tuple[str, str, str]:
    """Return what is said of a figure: of a reward what came of the tasks, whoever wrote it down."""
    return _RATERS["environment" if figure.dimension == "reward" else figure.raters]


def _tile(label: str, estimate: Estimate, note: str, *, share: bool = False) -> Tile:
    kind = Percent if share else Number
    value = kind(estimate.value, interval=estimate.interval)
    return Tile(label, value, f"{note}; {estimate.reason}" if estimate.reason else note)


def light_callout(people: People | None) -> Callout:
    """Say how far the judge can be trusted, or how to find out."""
    if people is None:
        sentence: Prose = (
            Span("This data has no ratings, so we cannot tell how often the judge is right here.", "strong"),
            " To know, have people rate a few dozen conversations: ",
            Span(_MAKE, "code"),
            " says how to go on.",
        )
        return Callout((sentence,), "info")
    return light_box(people.light, _words_of(people.figures[0])[0] if people.figures else "")


def light_box(light: Light, who: str = "your users") -> Callout:
    """Say whether the judge agrees with people, and why.

    Args:
        light: The answer.
        who: Rated, in words; empty where no rating counts.
    """
    tone, head = _LIGHTS[light.answer]
    on = f" on which {light.level}s are poor" if who and light.dimension != "reward" else ""
    who = who or "people"
    return Callout(((Span(head.format(who, on), "strong"), f" {light.sentence}"),), tone)


def _card(kind: KindSummary, places: Mapping[str, str]) -> Card:
    example = kind.example
    anchor = places.get(example.conversation_id, "")
    place = Span(f"{example.conversation_id}, turn {example.turn}", link=f"{anchor}-{example.turn}")
    seen = f"{counted(kind.turns, 'turn')} in {counted(kind.conversations, 'conversation')}"
    quote = Span(_short(example.quote), "quote")
    measured = _measured(kind).replace(" %", "\u00a0%")
    return Card(kind.title, (Callout((seen, measured, (quote, " ", place))),))


def _line(kind: KindSummary) -> tuple[str, Prose]:
    seen = f"{counted(kind.turns, 'turn')} in {counted(kind.conversations, 'conversation')}"
    example = kind.example
    where = f"{example.conversation_id}, turn {example.turn}"
    return kind.title, f"{seen}. {_measured(kind)} Example: “{_short(example.quote)}” ({where})"


def _measured(kind: KindSummary) -> str:
    """Say how often this kind is right."""
    borne_out = kind.kind in load_evidence().borne_out
    if kind.evidence is not None:
        return kind.evidence.words if borne_out else f"Nothing else supports this. {kind.evidence.words}"
    seen = "No figure: fewer than five rated turns have it"
    return f"{seen}; blind readers bore it out." if borne_out else f"{seen}."


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _QUOTE_CHARS else f"{line[: _QUOTE_CHARS - 1]}…"
