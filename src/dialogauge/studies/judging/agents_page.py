"""Agents on a page and on a terminal: their scores side by side, what is known of them, their policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Card,
    Cards,
    Cell,
    Code,
    Column,
    DataTable,
    DotPlot,
    DotRow,
    Figure,
    Fold,
    Leaderboard,
    LeaderboardRow,
    Number,
    Part,
    Section,
    TableColumn,
    data_table,
    ordinal_tones,
    words,
)
from dialogauge.studies.judging.agents import AgentFacts
from dialogauge.studies.judging.summary import DimensionSummary, GroupSummary, Summary
from dialogauge.studies.judging.transcripts import ShownConversations, cut
from dialogauge.text import counted

_BOARDS: Final = 4
_TONES: Final = 10
"""Bins that have tones of their own."""
_POLICIES_SHOWN: Final = 12
_POLICY_CHARS: Final = 40_000


def agents_section(
    summary: Summary,
    agents: Sequence[AgentFacts],
    dimensions: Sequence[DimensionSummary],
    *,
    whole: bool = True,
    overall: Mapping[str, Sequence[str]] | None = None,
) -> list[Section]:
    """Lay out the agents of a run: their scores, and what is known of them.

    Args:
        summary: Of the run.
        agents: What is known of each.
        dimensions: Those that may rank agents: what is checked.
        whole: Whether there is room for all.
        overall: The dimension of a whole session that is the mean of others, with their names.
    """
    if not agents:
        return []
    groups = [g for g in summary.by.get("candidate", ()) if g.name is not None]
    boards: list[Block] = []
    if len(groups) > 1:
        boards = [_board(d, groups) for d in dimensions if any(g.means[d.name].n for g in groups)]
    lead = (
        f"Means of each agent with 95 % intervals, by {summary.clustered_by}. Where intervals overlap, do "
        "not read an order into the means. Agents can differ because their dialogues do."
        if boards
        else "What the input holds of each agent."
    )
    by_scenario = dimensions and whole and "candidate_scenario" in summary.by
    crossed = [_crossed(summary, [d.name for d in dimensions])] if by_scenario else []
    blocks = [*boards[:_BOARDS], *crossed, agents_table(agents)]
    if overall and boards and (dots := _dots(dimensions, groups, overall)):
        folded = Fold("How often each score was given", tuple(boards))
        blocks = [Cards(dots), folded, agents_table(agents)]
    elif (rest := boards[_BOARDS:]) and whole:
        blocks.append(Fold("The other dimensions", tuple(rest)))
    elif rest:
        blocks.append(Callout((f"The page has {counted(len(rest), 'more dimension')}.",)))
    if any(agent.absent for agent in agents):
        blocks.append(
            Callout(("An absent conversation holds no message (its run may have failed); it has no score.",))
        )
    return [Section("Agents", tuple(blocks), lead, anchor="agents")]


def _board(dimension: DimensionSummary, groups: Sequence[GroupSummary]) -> Leaderboard:
    """Lay out one dimension: agents from the best to the worst, with how often they got each score."""
    scale, name = dimension.scale, dimension.name
    edges = [b.low for b in dimension.bins]
    shown = dimension.scale.integer and len(edges) <= _TONES
    tones = ordinal_tones(len(edges)) if shown else ()
    tones = tones if scale.higher_is_better else tones[::-1]

    def order(group: GroupSummary) -> tuple[float, str]:
        value = group.means[name].value
        return (1.0 if value is None else -scale.quality(value), group.name or "")

    rows = tuple(
        LeaderboardRow(
            group.name or "",
            mean.value,
            mean.interval,
            tuple(
                Part(f"{low:g}", n, tone) for low, n, tone in zip(edges, group.bins[name], tones, strict=True)
            )
            if shown and mean.n
            else (),
            (mean.n, group.n_na[name], group.n_failed[name]),
        )
        for group in sorted(groups, key=order)
        for mean in [group.means[name]]
    )
    return Leaderboard(
        words.name(name),
        rows,
        f"{words.name(name)}, mean",
        Axis(scale.low, scale.high),
        columns=(TableColumn("scored"), TableColumn("n/a"), TableColumn("failed")),
        mix_title=f"how often {edges[0]:g} to {edges[-1]:g}" if shown else "",
        digits=2 if scale.high - scale.low > 1 else 3,
    )


def _dots(
    dimensions: Sequence[DimensionSummary],
    groups: Sequence[GroupSummary],
    overall: Mapping[str, Sequence[str]],
) -> tuple[Card, ...]:
    """Draw candidates by dimension of the session, all in the order of the overall mean.

    Empty where the overall mean does not count.
    """
    head = next((d for d in dimensions if d.name in overall), None)
    if head is None:
        return ()
    name, scale = head.name, head.scale
    values = {g.name: g.means[name].value for g in groups}
    order = sorted(groups, key=lambda g: (values[g.name] is None, -scale.quality(values[g.name] or 0.0)))
    shown = [head, *(d for d in dimensions if d.name in overall[name])]
    return tuple(Card(words.name(d.name), (_dot_plot(d.name, order),)) for d in shown)


def _dot_plot(name: str, groups: Sequence[GroupSummary]) -> DotPlot:
    rows = (DotRow(g.name or "", g.means[name].value, g.means[name].interval, "strong") for g in groups)
    return DotPlot(f"{words.name(name)}, mean", tuple(rows))


def _crossed(summary: Summary, names: Sequence[str]) -> DataTable:
    """Lay out each agent in each scenario, by the dimensions of these names."""
    groups = summary.by["candidate_scenario"]
    gone = any(group.absent for group in groups)
    rows = []
    for group in groups:
        name, *others = group_row(group, names, gone=gone)
        rows.append((name, group.scenario or "", *others))
    heads: tuple[Column, ...] = (
        *("agent", TableColumn("scenario", "text"), "dialogues"),
        *(["absent"] if gone else []),
    )
    return data_table("By agent and scenario", (*heads, *map(words.name, names)), rows)


def group_row(group: GroupSummary, names: Sequence[str], *, gone: bool) -> tuple[Cell, ...]:
    """Lay out a group: its name, conversations, absent ones if `gone`, and the figures of dimensions."""
    figures = []
    for name in names:
        mean, n_na, n_failed = group.means[name], group.n_na[name], group.n_failed[name]
        figures.append(Figure(mean.value, mean.n, mean.n + n_na + n_failed, n_na, n_failed, mean.interval))
    counts = (group.conversations, *([group.absent] if gone else []))
    return ("(unknown)" if group.name is None else group.name, *counts, *figures)


def agents_table(agents: Sequence[AgentFacts]) -> DataTable:
    """Lay out what is known of agents beside their scores."""
    gone = any(agent.absent for agent in agents)
    heads = (
        "agent",
        "dialogues",
        *(["absent"] if gone else []),
        "turns",
        "words a reply",
        "tool calls a turn",
    )
    rows: list[tuple[Cell, ...]] = [
        (
            agent.name,
            agent.dialogues,
            *([agent.absent] if gone else []),
            agent.turns,
            Number(agent.words, 1),
            Number(agent.calls, 2),
        )
        for agent in agents
    ]
    return data_table("Agents", heads, rows, captioned=False)


def policies_section(sample: ShownConversations) -> list[Section]:
    """Show what agents were told to do, where the judge read it as their policy."""
    folds: list[Block] = []
    for text, scenarios in list(sample.policies.items())[:_POLICIES_SHOWN]:
        named = ", ".join(filter(None, scenarios))
        title = f"{named}: " if named else ""
        title += f"{counted(scenarios.total(), 'conversation')}, {len(text):,} characters"
        folds.append(Fold(title, (Code(cut(text, _POLICY_CHARS)),)))
    more = len(sample.policies) - len(folds)
    if more:
        folds.append(
            Callout((f"{counted(more, 'more policy', 'more policies')}: see dialogauge show RUN ID.",))
        )
    lead = (
        "The agents' system prompts in the conversations of this page, which the judge read as their policy."
    )
    return [Section("Policies", tuple(folds), lead, anchor="policies")] if folds else []
