"""Task success on a page and on a terminal: by domain and agent, what failed, and the checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Cell,
    Count,
    Items,
    Leaderboard,
    LeaderboardRow,
    Number,
    Page,
    Part,
    Percent,
    Section,
    Span,
    TableColumn,
    data_table,
    words,
)
from dialogauge.runs import StoredRun
from dialogauge.stats import Estimate
from dialogauge.studies.judging.agents import AgentFacts, stored_agents
from dialogauge.studies.judging.agents_page import agents_section
from dialogauge.studies.judging.page import conversations_lead, not_judged, run_page, settings_section
from dialogauge.studies.judging.people import People, stored_people
from dialogauge.studies.judging.people_page import people_section
from dialogauge.studies.judging.report import summary_of
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.summary import Summary
from dialogauge.studies.judging.transcripts import ShownConversations, read_sample
from dialogauge.studies.success.figures import ALL, SuccessFigures, SuccessGroup, SuccessTally
from dialogauge.text import counted

_REASONS: Final = 20
_SETTINGS: Final = ("kind", "inputs", "goals", "database", "environment", "ratings_file")
_TITLES: Final = {
    "inform": "inform",
    "success": "success",
    "joint_goal": "joint goal accuracy",
    "outputs": "outputs told",
    "database": "database right",
}


def success_page(
    run: StoredRun,
    summary: Summary,
    people: People | None,
    sample: ShownConversations,
    figures: SuccessFigures | None,
    agents: Sequence[AgentFacts] = (),
) -> Page:
    """Lay out a run of task success."""
    figures = figures or SuccessTally().result()
    manifest = run.manifest
    sections = [
        Section("Task success", (*_boards(figures), *success_blocks(summary, figures)), anchor="success"),
        *agents_section(summary, agents, ()),
        *([Section("What failed", (_failed(figures),), anchor="failed")] if figures.failed else []),
        *_checks_sections(figures),
        *([] if people is None or not people.figures else [people_section(people)]),
        Section(
            "Conversations",
            (sample.transcripts,),
            conversations_lead(sample),
            anchor="conversations",
        ),
        settings_section(run.manifest, _SETTINGS),
    ]
    lead = (
        Span(f"{summary.conversations.requested:,}", "strong"),
        f" dialogue{'' if summary.conversations.requested == 1 else 's'}, checked by ",
        Span(manifest.judge["name"], "strong"),
        ". No model was asked.",
    )
    return run_page(run, sections, lead)


def stored_page(run: StoredRun) -> Page:
    """Return the page of a finished run."""
    sampler, tally, people = Sampler(run.dimensions), SuccessTally(), stored_people(run)
    summary = summary_of(run, tally.through(sampler.through(run.rows())))
    sample = read_sample(run, sampler.result(), summary.dimensions, None)
    return success_page(run, summary, people, sample, tally.result(), stored_agents(run))


def success_brief(summary: Summary, figures: SuccessFigures) -> tuple[Block, ...]:
    """Lay out a run for a terminal."""
    failed = [Section("What failed", (_failed(figures),))] if figures.failed else []
    return (Section("Task success", success_blocks(summary, figures)), *failed, *_checks_sections(figures))


def success_blocks(summary: Summary, figures: SuccessFigures) -> tuple[Block, ...]:
    """Lay out the figures by domain and agent."""
    groups = figures.groups
    names = list(dict.fromkeys(name for group in groups for name in group.means))
    agents, gone = any(group.agent for group in groups), any(group.absent for group in groups)
    parts = any(group.reward for group in groups)
    heads: tuple[str | TableColumn, ...] = (
        "domain",
        *([TableColumn("agent", "text")] if agents else []),
        "dialogues",
        *(["absent"] if gone else []),
        *(_TITLES.get(name, words.name(name)) for name in names),
        *(["mean reward"] if parts else []),
    )
    rows = [
        (*_group(group, names, agents=agents, gone=gone), *([_reward(group)] if parts else []))
        for group in groups
    ]
    notes = ["Shares with 95 % intervals. Runs of the same task count as one cluster."]
    if gone:
        notes.append(
            "An absent run failed at its source and holds no message. It is neither a success nor a failure."
        )
    if parts:
        notes.append("A success is a reward of 1. A part of a reward is none, and counts in the mean reward.")
    if weighted := ", ".join(group.agent or "(unknown)" for group in groups if group.weighted):
        notes.append(
            f"Rows over all domains: {weighted} weighted to the mix of domains of all agents, since the "
            "dialogues that were checked are another mix."
        )
    if lacking := _lacking(groups):
        notes.append(
            f"Rows over all domains compare agents only where they have the same domains. Missing: {lacking}."
        )
    if left := not_judged(replace(summary.conversations, absent=0), "not done yet"):
        notes.append(", ".join(f"{what}: {n:,}" for what, n in left) + ".")
    return (data_table("By domain and agent", heads, rows, captioned=False), Callout(tuple(notes)))


def _lacking(groups: Sequence[SuccessGroup]) -> str:
    """Name the agents without a domain that others have."""
    domains = {group.domain or "(unknown)" for group in groups if group.domain != ALL}
    of: dict[str, set[str]] = {}
    for group in groups:
        of.setdefault(group.agent or "(unknown)", set()).add(group.domain or "(unknown)")
    missing = {agent: ", ".join(sorted(domains - own)) for agent, own in of.items()}
    return "; ".join(f"{agent} ({names})" for agent, names in missing.items() if names)


def _boards(figures: SuccessFigures) -> list[Block]:
    """Lay out whole dialogues by agent, the best first, where there are several agents."""
    head = figures.groups[0].domain if figures.groups else None
    groups = [g for g in figures.groups if g.domain == head and g.agent]
    if len(groups) <= 1:
        return []

    def order(group: SuccessGroup) -> tuple[float, str]:
        success = group.means.get("success")
        return (1.0 if success is None or success.value is None else -success.value, group.agent or "")

    return [
        Leaderboard(
            "Success by agent",
            tuple(map(_row, sorted(groups, key=order))),
            "success, share",
            Axis(0.0, 1.0),
            columns=(TableColumn("dialogues"), TableColumn("absent")),
            mix_title="dialogues: success, not, absent",
            digits=2,
        )
    ]


def _row(group: SuccessGroup) -> LeaderboardRow:
    success = group.means.get("success")
    value, interval, n = (None, None, 0) if success is None else (success.value, success.interval, success.n)
    parts = (
        Part("success", group.successes, "best"),
        Part("no success", n - group.successes, "worst"),
        Part("absent", group.absent, "none"),
    )
    return LeaderboardRow(group.agent or "", value, interval, parts, (group.dialogues, group.absent))


def _group(group: SuccessGroup, names: Sequence[str], *, agents: bool, gone: bool) -> tuple[Cell, ...]:
    return (
        group.domain or "(unknown)",
        *([group.agent or "(unknown)"] if agents else []),
        group.dialogues,
        *([group.absent] if gone else []),
        *(_share(group.means.get(name)) for name in names),
    )


def _reward(group: SuccessGroup) -> Cell:
    """Write the mean reward; where no reward is a part, it is the share of successes."""
    mean = group.reward or group.means.get("success")
    return None if mean is None else Number(mean.value, interval=mean.interval)


def _share(mean: Estimate | None) -> Cell:
    """Write a share with its interval; where there are too few dialogues for one, as a count."""
    if mean is None or mean.value is None:
        return None
    if mean.interval is None:
        return Count(round(mean.value * mean.n), mean.n)
    return Percent(mean.value, mean.interval)


def _failed(figures: SuccessFigures) -> Block:
    agents = sorted({agent for counts in figures.failed.values() for agent in counts})
    heads = ("what failed", "dialogues", *([a or "(unknown)" for a in agents] if len(agents) > 1 else []))
    rows = [
        (reason, sum(counts.values()), *((counts.get(a, 0) for a in agents) if len(agents) > 1 else ()))
        for reason, counts in figures.failed.items()
    ]
    return data_table("What failed", heads, rows, captioned=False, shown=_REASONS)


def _checks_sections(figures: SuccessFigures) -> list[Section]:
    """Lay out how far the checks themselves are to be taken; nothing where there is nothing to say."""
    blocks: list[Block] = []
    stored, equal = figures.rewards
    if stored:
        blocks.append(Callout((f"{equal:,} of {stored:,} recomputed rewards are equal to the stored ones.",)))
    hits, within = figures.outputs
    if hits:
        sentence = f"The check found {counted(hits, 'required output')} in a reply. "
        sentence += (
            f"Of these {within:,} stand only inside another number or word, or number a point in a list: the "
            "check accepts them, but the reply may say something else."
            if within
            else "None of these stands only inside another number or word."
        )
        blocks.append(Callout((sentence,)))
        items = tuple(
            (
                f"{hit.output!r} in {hit.conversation_id}, turn {hit.turn} (success {_score(hit.success)}): ",
                Span(hit.quote, "quote"),
            )
            for hit in figures.within
        )
        blocks += [Items(items, within - len(items))] if items else []
    if figures.read:
        whose = {"stored": "stored with the data", "own": "made by us"}
        read = ", ".join(f"{whose[name]} in {counted(n, 'dialogue')}" for name, n in figures.read.items())
        sentence = (
            f"Placeholders and states are {read}. Inform and Success read placeholders only, so they cannot "
            "tell a right value from a wrong one."
        )
        blocks.append(Callout((sentence,)))
    return [Section("How reliable the checks are", tuple(blocks), anchor="checks")] if blocks else []


def _score(value: float | None) -> str:
    return "n/a" if value is None else words.score(value)
