"""The page of an arena: who stands where, how sure that is, and what reads nothing would have said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import Usage
from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Cell,
    Code,
    Column,
    Count,
    DataTable,
    Interval,
    Leaderboard,
    LeaderboardRow,
    Matrix,
    Number,
    Page,
    Part,
    Percent,
    Reference,
    Section,
    Span,
    TableColumn,
    Tile,
    Tiles,
    Transcript,
    TranscriptList,
    data_table,
    words,
)
from dialogauge.runs import Manifest
from dialogauge.stats import Standing, Votes
from dialogauge.studies.arena.agents import PER_DIALOGUE
from dialogauge.studies.arena.controls import PositionBias
from dialogauge.studies.arena.summary import ArenaResult
from dialogauge.text import counted

_RATING: Final = (
    "A rating is a strength by Bradley and Terry with ties, on the scale of Elo: 1000 is the mean, and 400 "
    "points more are odds of 10 to 1. Its interval comes from leaving out whole {unit} in turn. Ranks: those "
    "that cannot be ruled out; all of these intervals together hold all true ranks in 95 of 100 arenas."
)
_BESIDE: Final = (
    "Rules that read nothing, on the same meetings: how often each names the same winner, where both name "
    "one, and the ratings that its votes would give. If length alone gives the same ranking, the ranking "
    "says nothing about quality."
)
_AGREES: Final = "How often each names the same winner as the judge, where both name one."
_SHOW: Final = "To print one as each agent led it: dialogauge show RUN DIALOGUE"
_AGENTS: Final = "Words, tool calls and cost are means of a dialogue."
_ELO: Final = (
    "Online Elo moves by up to 32 points with each vote, and depends on the order of votes: with some "
    "hundred rounds it wanders by about 30 points. It stands here to compare with published arenas."
)
_TEXTS: Final = ("model", "organisation", "version", "licence", "family", "judged by")
_COLUMNS: Final = (*_TEXTS[:5], "dialogues", "absent", *PER_DIALOGUE, "judged by")
"""What may be known of agents, in the order of the table."""
_SHOWN: Final = 20
"""Agents of the win matrix, from the strongest on."""
_MISSING: Final = 5


def arena_page(result: ArenaResult, manifest: Manifest, dialogues: tuple[Transcript, ...] = ()) -> Page:
    """Lay out the page, with some dialogues."""
    votes, on = (0, "") if result.votes is None else (result.votes.m, _on(result.votes))
    names = counted(len(result.agents.names), "agent")
    lead = f"{names}, {counted(votes, 'vote')}{on}. Judge: {result.referee}."
    command = (Section("How this was made", (Code(manifest.command),)),) if manifest.command else ()
    version = manifest.versions["dialogauge"] or ""
    sentences = result.answers
    head = (Callout((Span(sentences[0], "strong"), *sentences[1:]), "info"),) if sentences else ()
    read = (Section("Dialogues to read", (*_to_read(result), *_folded(dialogues))),) if result.to_read else ()
    body = (*_blocks(result), *read) if result.ranks else (*read, *_blocks(result))
    return Page("Arena", (*head, *body, *command), lead, manifest.written[:10], version)


def brief(result: ArenaResult) -> tuple[Block, ...]:
    """Lay out the result for a terminal."""
    sentences = result.answers
    read = _to_read(result) if not result.ranks else ()
    return (*((Callout(sentences),) if sentences else ()), *_blocks(result), *read)


def _to_read(result: ArenaResult) -> tuple[Block, ...]:
    """Name the meetings to be read, where there are any."""
    rows = [(one.conversation_id, *one.agents) for one in result.to_read]
    heads = (TableColumn(name, "text") for name in ("dialogue", "agent", "other agent"))
    table = data_table("Where the two differ most", tuple(heads), rows)
    return (table, Callout((_SHOW,))) if rows else ()


def _folded(dialogues: tuple[Transcript, ...]) -> tuple[Block, ...]:
    return (TranscriptList("The first of them", dialogues, shown=0),) if dialogues else ()


def _on(votes: Votes) -> str:
    return "" if votes.unit == "votes" else f" on {votes.cluster_count:,} {votes.unit}"


def _blocks(result: ArenaResult) -> Iterator[Block]:
    yield from _warnings(result)
    if result.ranking is None or result.votes is None:
        yield Callout(("No vote: nobody can be ranked.",), "warn")
        return
    if not result.ranks:
        if result.position is not None:
            yield _position(result.position, result.usage)
        yield Section("Simple rules beside it", (_beside(result),), _AGREES)
        return
    board: tuple[Block, ...] = (_board(result), Callout((_RATING.format(unit=result.votes.unit),)))
    if result.settings.draws:
        board = (*board, _drawn(result))
    yield Section("Ranking", board)
    if any(result.agents.about.get(one.agent) for one in result.standings):
        yield Section("Agents", (_agents(result),), _AGENTS)
    yield Section("Each against each", (_matrix(result),), "Won, tied, lost: the row against the column.")
    if result.position is not None:
        yield _position(result.position, result.usage)
    theirs = {f"by {one.name}": one.ratings for one in result.beside}
    others = _ratings("The ratings that they would give", result, theirs)
    yield Section("Simple rules beside it", (_beside(result), others), _BESIDE)
    elo = {"online Elo": result.elo} | (
        {"mean over 100 orders": result.elo_orders} if result.elo_orders else {}
    )
    yield Section("Online Elo", (_ratings("Online Elo", result, elo, captioned=False),), _ELO)


def _warnings(result: ArenaResult) -> Iterator[Block]:
    lines = []
    if result.pending:
        are = "is" if result.pending == 1 else "are"
        of = f"{counted(result.pending, 'meeting')} of {result.pending + result.asked:,}"
        lines.append(f"{of} {are} still to be asked: the same command goes on.")
    if result.n_failed:
        kinds = ", ".join(f"{kind.replace('_', ' ')} {n:,}" for kind, n in result.failures.items())
        lines.append(f"{result.n_failed:,} of {counted(result.asked, 'meeting')} gave no verdict ({kinds}).")
    if result.ranking is not None and len(groups := result.ranking.groups) > 1:
        lists = "; ".join(", ".join(group) for group in groups)
        lines.append(f"Nothing links these groups, and their ratings cannot be compared: {lists}.")
    for name, ids in result.agents.missing.items():
        more = ", ..." if len(ids) > _MISSING else ""
        lacking = f"{', '.join(ids[:_MISSING])}{more}"
        lines.append(f"{name} lacks {counted(len(ids), 'dialogue')} that others have led: {lacking}.")
    if result.agents.absent:
        gone = [f"{name} from {counted(len(ids), 'dialogue')}" for name, ids in result.agents.absent.items()]
        lines.append(
            f"Absent, since the run failed at its source: {', '.join(gone)}. There is no vote on these; "
            "where that is an agent's own fault, its rating flatters it."
        )
    if lines:
        yield Callout(tuple(lines), "warn")


def _board(result: ArenaResult) -> Leaderboard:
    standings = result.standings
    rows = []
    for one in standings:
        parts = (
            Part("won", one.wins, "good"),
            Part("tied", one.ties, "neutral"),
            Part("lost", one.losses, "low"),
        )
        rows.append(
            LeaderboardRow(one.agent, one.rating.value, one.rating.interval, parts, (_ranks(one), one.votes))
        )
    ends = [v for one in standings for v in (one.rating.value, *(one.rating.interval or ())) if v is not None]
    return Leaderboard(
        "Leaderboard",
        tuple(rows),
        "rating, 95 %",
        Axis(min(ends) - 10, max(ends) + 10),
        (Reference(1000, "mean"),),
        (TableColumn("ranks"), TableColumn("votes")),
        "won, tied, lost",
        0,
    )


def _drawn(result: ArenaResult) -> DataTable:
    title = f"Percentiles of {result.settings.draws:,} draws of clusters"
    rows = [(one.agent, Interval(one.drawn, 0)) for one in result.standings]
    return data_table(title, ("agent", "2.5 % and 97.5 %"), rows)


def _agents(result: ArenaResult) -> DataTable:
    about = {one.agent: result.agents.about.get(one.agent, {}) for one in result.standings}
    known = {key for of in about.values() for key in of}
    keys = [key for key in _COLUMNS if key in known]
    heads = (TableColumn(key, "text") if key in _TEXTS else TableColumn(key) for key in keys)
    rows = [(name, *(_about(key, of.get(key)) for key in keys)) for name, of in about.items()]
    return data_table("Agents", ("agent", *heads), rows, captioned=False)


def _about(key: str, value: object) -> Cell:
    if value is None or isinstance(value, str):
        return value or ""
    if key == "cost":
        return words.cost(float(value))  # type: ignore[arg-type]  # a number: `said_of`
    return Number(float(value), 0 if key in ("dialogues", "absent", "words") else 1)  # type: ignore[arg-type]


def _ranks(one: Standing) -> str:
    return f"{one.best}" if one.best == one.worst else f"{one.best}–{one.worst}"


def _matrix(result: ArenaResult) -> Matrix:
    votes: Votes = result.votes  # type: ignore[assignment]  # there are votes where this is asked for
    names = [one.agent for one in result.standings[:_SHOWN]]
    places = [votes.agents.index(name) for name in names]
    cells, shades = [], []
    for i in places:
        numbers = [(votes.wins[i, j], votes.ties[i, j], votes.wins[j, i]) for j in places]
        cells.append(tuple(f"{w:.0f} / {t:.0f} / {x:.0f}" if w + x + t else "" for w, t, x in numbers))
        shades.append(tuple(float((w + t / 2) / (w + x + t)) if w + x + t else 0.0 for w, t, x in numbers))
    totals = tuple(one.votes for one in result.standings[:_SHOWN])
    heads = tuple(names)
    return Matrix("Win matrix", heads, heads, tuple(cells), tuple(shades), totals=totals)


def _position(bias: PositionBias, usage: Usage) -> Section:
    took = f"It took {counted(usage.calls, 'call')}, {counted(usage.cached, 'answer')} came from the cache; "
    return position_section(bias, "Position", (Callout((f"{took}cost {words.cost(usage.cost)}.",)),))


def position_section(bias: PositionBias, title: str, more: tuple[Block, ...] = ()) -> Section:
    """Lay out how often a judge that was asked in both orders changed its mind with the order."""
    tiles = (
        Tile("in both orders", Count(bias.meetings)),
        Tile("changed with the order", Percent(bias.changed.value, bias.changed.interval), "ties"),
        Tile("names who stood first", Percent(bias.first.value, bias.first.interval), "50 % without bias"),
    )
    return Section(title, (Tiles(tiles), *more), "Each meeting was asked in both orders.")


def _beside(result: ArenaResult) -> DataTable:
    heads: list[Column] = ["other", TableColumn("what it does", "prose"), "same winner", "n"]
    rows = [
        (one.name, one.what, Percent(one.agrees.value, one.agrees.interval), one.agrees.n)
        for one in result.beside
    ]
    return data_table("Simple rules", heads, rows, captioned=False)


def _ratings(
    title: str, result: ArenaResult, others: Mapping[str, Mapping[str, float]], *, captioned: bool = True
) -> DataTable:
    """Put other ratings of the agents, by what they are called, beside their own."""
    rows: list[tuple[Cell, ...]] = [
        (one.agent, Number(one.rating.value, 0), *(Number(of.get(one.agent), 0) for of in others.values()))
        for one in result.standings
    ]
    return data_table(title, ("agent", "rating", *others), rows, captioned=captioned)


def agents_overview(summary: Mapping[str, Any]) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Return the columns and rows that a notebook shows: ratings, ranks and votes of the agents."""

    def row(one: Mapping[str, Any]) -> Sequence[str]:
        rating, low, high = (one["rating"][key] for key in ("value", "low", "high"))
        interval = "" if low is None or high is None else f" [{low:,.0f}, {high:,.0f}]"
        outcomes = f"{one['wins']:,} / {one['ties']:,} / {one['losses']:,}"
        ranks = f"{one['best']}–{one['worst']}"
        return (one["agent"], f"{rating:,.0f}{interval}", ranks, outcomes, f"{one['votes']:,}")

    columns = ("agent", "rating", "ranks", "won, tied, lost", "votes")
    return columns, [row(one) for one in summary["agents"]]
