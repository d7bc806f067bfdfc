"""A judged run on a terminal: the first screen, what to know before one relies on it, and the scores."""

from __future__ import annotations

from typing import Final

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    Count,
    Definitions,
    Interval,
    Missing,
    Number,
    Section,
    TableColumn,
    data_table,
    words,
)
from dialogauge.runs import Manifest
from dialogauge.studies.evidence import VERDICT, RunEvidence
from dialogauge.studies.judging.agents_page import agents_section
from dialogauge.studies.judging.counts import marked
from dialogauge.studies.judging.named import VerdictSummary
from dialogauge.studies.judging.opening import Known, opening
from dialogauge.studies.judging.page import figure_of, not_judged
from dialogauge.studies.judging.people_page import rectified_section
from dialogauge.studies.judging.repeats import spread_of
from dialogauge.studies.judging.summary import DimensionSummary, Summary
from dialogauge.studies.judging.transcripts import ShownConversations
from dialogauge.studies.simulator.page import simulator_brief
from dialogauge.studies.trust.page import trust_brief
from dialogauge.text import counted

_ORDER: Final = (
    "Not shown here, because nothing shows that they agree with people: {}. Use these scores only to choose "
    "what to read; they are on the page and in summary.json."
)
_MESSAGE_CHARS: Final = 300


def brief(
    summary: Summary, sample: ShownConversations, known: Known, manifest: Manifest
) -> tuple[Block, ...]:
    """Lay out a run for a terminal: the first screen, what to know before one relies on it, the scores."""
    notes = Callout(tuple(manifest.judge.get("notes", ())), "info")
    judged = summary.conversations.judged  # without any there is nothing to check
    before = trust_brief(known.trust) if known.trust is not None and judged else ()
    people, simulator = known.people, None if known.trust is None else known.trust.simulator
    return (
        *([simulator_brief(simulator)] if simulator is not None else []),
        *opening(summary, known, sample.weak_turns),
        *before,
        *([rectified_section(people)] if people is not None and people.rectified else []),
        *([Section("", (notes,))] if notes.paragraphs else []),
        *summary_blocks(summary, known.evidence),
        *agents_section(summary, known.agents, known.counted(summary), whole=False),
    )


def summary_blocks(summary: Summary, evidence: RunEvidence) -> tuple[Block, ...]:
    """Lay out the figures of a run for a terminal: counts, and the scores that are checked."""
    counts = summary.conversations
    judged = [f"{counts.requested:,} requested", f"{counts.judged:,} judged"]
    judged += [f"{n:,} {what}" for what, n in not_judged(counts, "pending")]
    targets = (
        f"{summary.requested:,} requested, {summary.scored:,} scored, {summary.not_applicable:,} n/a, "
        f"{summary.failed:,} failed"
    )
    pairs = [("conversations", ", ".join(judged)), ("targets", targets)]
    if counts.judged:
        pairs.append(("intervals", f"95 %, {summary.intervals}"))
    if summary.failures:
        reasons = ", ".join(f"{words.name(kind)} {n:,}" for kind, n in summary.failures.items())
        pairs.append(("failed, by reason", reasons))
    if summary.commonest is not None:
        message, times = summary.commonest
        pairs.append((f"most often ({times:,})", message[:_MESSAGE_CHARS]))
    heads = (
        "dimension",
        TableColumn("level", "text"),
        *("mean", "95 % interval", "scored", "n/a", "failed", "bounds"),
    )
    shown = [d for d in summary.dimensions if evidence.counts(d.name)]
    rows = [_dimension_row(d) for d in shown]
    blocks: list[Block] = [data_table("Scores", heads, rows, captioned=False)] if rows else []
    if hidden := [words.name(d.name) for d in summary.dimensions if d.n and d not in shown]:
        blocks.append(Callout((_ORDER.format(", ".join(hidden)),)))
    verdicts = _verdict_pairs(summary.verdicts) if evidence.counts(VERDICT) else []
    footing = Definitions((*verdicts, *_footing(summary), *mended_and_spent(summary)))
    blocks += [Section("", (footing,))] if footing.pairs else []
    return (Section("What was judged", (Definitions(tuple(pairs)),)), *blocks)


def _dimension_row(d: DimensionSummary) -> tuple[Cell, ...]:
    figure = figure_of(d)
    between: Cell = Interval(figure.interval, figure.digits)
    if d.n and figure.interval is None:
        between = Missing("no interval")
    return (
        words.name(d.name),
        d.level,
        Number(figure.value, figure.digits),
        between,
        Count(d.n, d.requested),
        d.n_na,
        d.n_failed,
        None if figure.bounds is None else words.bounds(figure.bounds, figure.digits),
    )


def _verdict_pairs(verdicts: VerdictSummary | None) -> list[tuple[str, str]]:
    if verdicts is None:
        return []
    counts = {**verdicts.counts, **({"no verdict": verdicts.missing} if verdicts.missing else {})}
    asked = verdicts.requested or 1
    sentence = ", ".join(f"{name} {n:,} ({words.percent(n / asked)})" for name, n in counts.items())
    if partial := verdicts.basis.get("partial", 0):
        sentence += f"; on an incomplete set of scores: {partial:,}"
    if verdicts.compared:
        sentence += f"; {verdicts.mismatched:,} of {verdicts.compared:,} differ from the model’s own verdict"
    return [("verdicts", sentence)]


def _footing(summary: Summary) -> list[tuple[str, str]]:
    pairs = []
    for name, counts in summary.labels.items():
        total = sum(counts.values())
        options = (f"{words.name(o)} {n:,} ({words.percent(n / total)})" for o, n in counts.items())
        pairs.append((words.name(name), ", ".join(options)))
    pairs += [
        (
            "windows",
            f"{words.name(w.dimension)} of {counted(w.n, 'turn')} judged twice, mean difference "
            f"{w.mean_absolute:.2f}",
        )
        for w in summary.windows
    ]
    pairs += [
        (
            "repeats",
            f"{words.name(d.name)}: {spread_of(d.spread)} ({counted(d.spread.targets, 'target')})",
        )
        for d in summary.dimensions
        if d.spread is not None and d.spread.mean_sd is not None
    ]
    return pairs


def mended_and_spent(summary: Summary) -> list[tuple[str, str]]:
    """Say what was mended or cut in the judge's replies, and what each role took."""
    pairs = list(marked(summary.marks).items())
    for role, s in summary.by_role.items():
        sentence = (
            f"{counted(s.calls, 'call')}, {s.cached:,} cached, {s.prompt_tokens:,} + "
            f"{s.completion_tokens:,} tokens, cost {words.cost(s.cost)}"
        )
        if s.repeated_share is not None:
            sentence += f"; {words.percent(s.repeated_share)} of the prompt text repeats the previous prompt"
        pairs.append((role, sentence))
    return pairs
