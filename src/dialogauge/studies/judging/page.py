"""The page of a judged run, laid out in blocks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import Usage
from dialogauge.report import (
    Axis,
    Bars,
    Block,
    Callout,
    Card,
    Cards,
    Cell,
    Code,
    Column,
    Count,
    Curve,
    DataTable,
    Definitions,
    Figure,
    Fold,
    Interval,
    Items,
    Number,
    Page,
    Part,
    Percent,
    Point,
    Prose,
    Section,
    Span,
    StackedBar,
    TableColumn,
    TableRow,
    Text,
    Tile,
    Tiles,
    Transcript,
    data_table,
    words,
)
from dialogauge.runs import Manifest, StoredRun
from dialogauge.studies.evidence import VERDICT
from dialogauge.studies.judging.agents_page import agents_section, group_row, policies_section
from dialogauge.studies.judging.counts import marked
from dialogauge.studies.judging.findings import FindingsSummary
from dialogauge.studies.judging.opening import Known, opening
from dialogauge.studies.judging.people_page import people_section
from dialogauge.studies.judging.repeats import spread_of
from dialogauge.studies.judging.sampling import Case
from dialogauge.studies.judging.summary import ConversationCounts, DimensionSummary, Summary
from dialogauge.studies.judging.transcripts import (
    ID_CHARS,
    ShownConversations,
    anchor_of,
    cut,
    tone_of,
    verdict_of,
)
from dialogauge.studies.simulator.page import simulator_section
from dialogauge.studies.trust.page import trust_section
from dialogauge.studies.trust.result import Trust
from dialogauge.text import counted

_CURVE_TURNS: Final = 24
_LISTED_FIRST: Final = 40
_LIST_BYTES: Final = 500_000
"""What the table of scores takes at most."""
_ROW_BYTES: Final = 130
"""Of a conversation, beside its scores."""
_CELL_BYTES: Final = 16
"""Of a score."""
_UNREADABLE_SHOWN: Final = 5
_WHAT_IT_IS_NOT: Final = (
    Span("What this page is not.", "strong"),
    " These are the opinions of a judge, not of your users. They show where to look. They do not replace "
    "asking the people who had these conversations.",
)
# What a reader does not need on a page: it stands in the manifest.
_UNSHOWN: Final = frozenset({"inputs", "role", "out", "rubric", "judge", "mode", "trust"})


def report_page(
    run: StoredRun,
    summary: Summary,
    sample: ShownConversations,
    known: Known | None = None,
    *,
    against_users: Sequence[Section] = (),
) -> Page:
    """Lay out a run.

    Args:
        run: Its directory and manifest.
        summary: Of its rows.
        sample: What is shown of its conversations.
        known: What is known beside its scores; None where nothing is.
        against_users: What the users themselves said in a study of them, for the place before the scores.
    """
    known = known or Known()
    manifest, trust, people = run.manifest, known.trust, known.people
    dimensions, graded = known.counted(summary), known.evidence.counts(VERDICT)
    about = (_WHAT_IT_IS_NOT, _checked(summary, manifest, known, with_users=bool(against_users)))
    before = [Callout((*about, *manifest.judge.get("notes", ())), "info")]
    # Of several candidates the anchor of that to be read first.
    first = opening(
        summary,
        known,
        sample.weak_turns,
        {case.conversation_id: anchor_of(case.key) for case in reversed(sample.survey.shown)},
    )
    talks = sample.transcripts
    blocks: list[Block] = [talks] if talks.transcripts else []
    table = _scores_table(summary, sample, graded=graded and summary.verdicts is not None)
    blocks.append(Fold("Their scores as a table", (table,)))
    lead = conversations_lead(sample, summary.repeats)
    sections = [
        *([simulator_section(trust.simulator)] if trust is not None and trust.simulator else []),
        *(against_users or [Section("At a glance", first, short="Glance", anchor="glance")]),
        *([_weak_section(summary, sample.weak_turns, known.findings)] if sample.weak_turns else []),
        *([] if people is None or not people.figures else [people_section(people)]),
        Section("Before you rely on this", tuple(before), short="Before relying", anchor="before"),
        *([trust_section(trust)] if trust is not None and summary.conversations.judged else []),
        _counts_section(summary, manifest.facts.get("left_out", {}), graded=graded),
        _scores_section(summary, dimensions, trust),
        *agents_section(summary, known.agents, dimensions, overall=manifest.facts.get("overall", {})),
        *_drift(run, dimensions),
        *_curves_section(dimensions),
        *_groups_section(summary, dimensions, with_agents=bool(known.agents)),
        Section("Conversations", tuple(blocks), lead, anchor="conversations"),
        *policies_section(sample),
        _cost_section(summary),
        _settings_section(manifest),
    ]
    return run_page(run, sections, _lead(summary, manifest, with_users=bool(against_users)))


def run_page(run: StoredRun, sections: Sequence[Section], lead: Prose) -> Page:
    """Put the page of a run together, under the name of its folder."""
    name, version = run.directory.path.resolve().name, run.manifest.versions["dialogauge"] or ""
    return Page(name, tuple(sections), lead=lead, created=run.manifest.written[:10], version=version)


def settings_section(manifest: Manifest, names: Sequence[str]) -> Section:
    """Show some of a run's settings, and its command."""
    pairs = [(name, manifest.settings.get(name)) for name in names]
    listed = [(k, ", ".join(v) if isinstance(v, list | tuple) else str(v)) for k, v in pairs if v]
    blocks: list[Block] = [Definitions((*listed, ("made", manifest.written[:10])))]
    blocks += [Code(manifest.command)] if manifest.command else []
    return Section("How this was made", tuple(blocks), short="Settings", anchor="settings")


# The head


def _lead(summary: Summary, manifest: Manifest, *, with_users: bool) -> Prose:
    n = summary.conversations.requested
    model = (manifest.settings.get("role") or {}).get("model")
    levels = {d.level for d in summary.dimensions}
    ways = {"turn": "turn by turn", "window": "window by window", "conversation": "as a whole"}
    how = " and ".join(way for level, way in ways.items() if level in levels)
    how = "each judged for its own user" if with_users else f"judged {how}".strip()
    return (
        "The rated replies of " if with_users else "",
        Span(f"{n:,}", "strong"),
        f" conversation{'' if n == 1 else 's'}, {how} by ",
        Span(manifest.judge["name"], "strong"),
        *((" with ", Span(model, "strong")) if model else ()),
        ", rubric ",
        Span(manifest.settings["rubric"], "strong"),
        f", in {manifest.settings['mode']}.",
    )


def _checked_languages(judge: Mapping[str, Any], trust: Trust | None) -> tuple[str, ...]:
    """Return the languages that the judge names, and those of enough rated dialogues in this run."""
    named = dict.fromkeys(str(code) for code in judge.get("checked_languages", ()))
    if trust is not None and trust.calibration is not None:
        needed = trust.thresholds.calibration_dialogues
        named |= {code: None for code, n in trust.calibration.languages.items() if n >= needed}
    return tuple(named)


def _checked(summary: Summary, manifest: Manifest, known: Known, *, with_users: bool) -> str:
    """Say how far the judge was compared with people."""
    trust = known.trust
    if trust is None or trust.calibration is None:
        dialogues = {}
    else:
        dialogues = {d.name: d.dialogues for d in trust.calibration.dimensions if d.kappa is not None}
    needed = 0 if trust is None else trust.thresholds.calibration_dialogues
    few = {name: n for name, n in dialogues.items() if n < needed}
    languages = ", ".join(map(words.language, _checked_languages(manifest.judge, trust)))
    if with_users:
        sentence = (
            "This page also shows what these users said themselves. Their agreement with the judge holds for "
            "these users and scenarios; for others it must be measured again."
        )
    elif known.people is not None and known.people.light.judge.value is None:
        sentence = "In this run the judge could not be compared with people; the reason is given above."
    elif known.people is not None:
        sentence = (
            f"In this run one figure of the judge was compared with people: {known.people.light.judged_by}. "
            "The result is given above. It says nothing about the judge’s other scores."
        )
    elif languages:
        sentence = (
            f"The judge was compared with people’s ratings in {languages}. In other languages its scores are "
            "unchecked."
        )
    elif dialogues:
        sentence = (
            "The judge was compared with people’s ratings on too few dialogues of any one language. Treat "
            "its scores as unchecked."
        )
    else:
        sentence = (
            "The judge was not compared with people’s ratings in any language. Treat its scores as unchecked."
        )
    if few:
        listed = ", ".join(f"{words.name(name)} ({n:,})" for name, n in few.items())
        sentence += f" Compared on fewer than {counted(needed, 'dialogue')}, too few to conclude: {listed}."
    never = [words.name(d.name) for d in summary.dimensions if d.n and not d.checked]
    return f"{sentence} Unchecked: {', '.join(never)}." if never else sentence


# Counts and scores


def _counts_section(summary: Summary, left_out: Mapping[str, Mapping[str, int]], *, graded: bool) -> Section:
    counts = summary.conversations
    repeats = f"; each was judged {summary.repeats} times" if summary.repeats > 1 else ""
    target = "A target is one reply or one whole conversation; it is not applicable when none of its scores"
    others = "".join(f" Conversations {what}: {n:,}." for what, n in not_judged(counts, "not done yet"))
    blocks: list[Block] = [
        Tiles(
            (
                Tile("conversations judged", Count(counts.judged, counts.requested)),
                Tile("targets requested", summary.requested),
                Tile("scored", summary.scored),
                Tile("not applicable", summary.not_applicable),
                Tile("failed", summary.failed),
            )
        ),
        Callout((f"{target} applied{repeats}.{others}",)),
    ]
    if unreadable := tuple(filter(None, summary.unreadable[:_UNREADABLE_SHOWN])):
        more = max(counts.unreadable - len(unreadable), 0)
        blocks.append(Fold("Why conversations are unreadable", (Items(unreadable, more),)))
    if left_out:
        lines = tuple(f"{n:,} {what}: {why}" for what, of in left_out.items() for why, n in of.items())
        blocks.append(Fold("What of the input was left out", (Items(lines),)))
    if summary.failures:
        reasons = ", ".join(f"{words.name(kind)} {n:,}" for kind, n in summary.failures.items())
        blocks.append(Callout(((Span("Failed, by reason:", "strong"), f" {reasons}."),), "warn"))
    if summary.verdicts is not None and graded:
        verdicts = summary.verdicts
        parts = [Part(name, n, tone_of(name)) for name, n in verdicts.counts.items()]
        if verdicts.missing:
            parts.append(Part("no verdict", verdicts.missing, "none"))
        sentence = "The verdict is computed from the scores."
        if partial := verdicts.basis.get("partial", 0):
            marked_of = f" Verdicts marked * ({partial:,})"
            sentence += f"{marked_of} rest on an incomplete set of scores and are never excellent."
        if verdicts.compared:
            sentence += (
                f" The model’s own verdict differed in {verdicts.mismatched:,} of {verdicts.compared:,}."
            )
        title = f"Verdicts of {counted(verdicts.requested, 'conversation')}"
        blocks.append(Section(title, (StackedBar("Verdicts", tuple(parts)), Callout((sentence,)))))
    if marks := tuple(f"{where.capitalize()}: {what}." for where, what in marked(summary.marks).items()):
        blocks.append(Callout(marks))
    return Section(
        "What was judged, and what was not",
        tuple(blocks),
        "A failure is a missing score, never a number. No mean includes it; the bounds beside a mean show "
        "how far the failures could move it.",
        "Counts",
        "counts",
    )


def not_judged(counts: ConversationCounts, pending: str) -> list[tuple[str, int]]:
    """Return what became of conversations that were not judged, where there are any."""
    kinds = (
        ("failed altogether", counts.failed),
        ("without a reply", counts.without_reply),
        ("absent (no messages)", counts.absent),
        ("unreadable", counts.unreadable),
        (pending, counts.pending),
    )
    return [(what, n) for what, n in kinds if n]


def _scores_section(summary: Summary, dimensions: Sequence[DimensionSummary], trust: Trust | None) -> Section:
    """Lay out the scores: those that count, and folded those that only say what to read."""
    not_ready = () if trust is None or trust.calibration is None else trust.calibration.not_ready
    counting = [_dimension_card(d, not_ready) for d in dimensions]
    cards = [_dimension_card(d, not_ready) for d in summary.dimensions if d not in dimensions]
    for name, counts in summary.labels.items():
        total = sum(counts.values())
        rows = [(words.name(option), n, Percent(n / total)) for option, n in counts.items()]
        table = data_table(words.name(name), ("", "", ""), rows, captioned=False, headed=False)
        cards.append(Card(words.name(name), (table,), f"{total:,} named"))
    blocks: list[Block] = [Cards(tuple(cards))]
    if summary.windows:
        listed = ", ".join(
            f"{words.name(w.dimension)} {w.mean_absolute:.2f} ({counted(w.n, 'turn')})"
            for w in summary.windows
        )
        sentence = (
            "Long conversations were judged in overlapping windows; a turn judged twice has the mean of "
            f"both. Mean difference between the two: {listed}."
        )
        blocks.append(Callout((sentence,)))
    lead = (
        "Bars count the scores. Below them are the mean (ring), its 95 % interval (thick line), and, where "
        "judgements failed, how far the failures could move the mean (brackets). Intervals are "
        f"{summary.intervals}."
    )
    if len(counting) == len(summary.dimensions):
        return Section("Scores", (Cards(tuple(counting)), *blocks), lead, anchor="scores")
    order = (
        "Use unchecked scores to choose what to read. Nothing shows that they agree with people: their level "
        "says nothing about how good the assistant is."
    )
    folded = Fold("The unchecked scores", (Callout((lead,)), *blocks))
    if not counting:
        return Section("The judge’s scores: a ranking, not grades", (folded,), order, "Scores", "scores")
    return Section("Scores", (Cards(tuple(counting)), Callout((order,)), folded), lead, anchor="scores")


def distributions_page(run: StoredRun, summary: Summary, names: Collection[str]) -> Page:
    """Lay out the distributions of some dimensions, and nothing else."""
    cards = tuple(_dimension_card(d, ()) for d in summary.dimensions if d.name in names)
    return Page(run.directory.path.resolve().name, (Cards(cards),))


def figure_of(dimension: DimensionSummary) -> Figure:
    """Return the mean of a dimension with all that belongs to it."""
    # On a scale from 0 to 1 two decimals would hide what they show on one from 1 to 5.
    return Figure(
        dimension.mean.value,
        dimension.n,
        dimension.requested,
        dimension.n_na,
        dimension.n_failed,
        dimension.mean.interval,
        dimension.bounds,
        3 if dimension.scale.high - dimension.scale.low <= 1 else 2,
    )


def _dimension_card(d: DimensionSummary, not_ready: Collection[str]) -> Card:
    tags = [Span("not ready", "warn")] if d.name in not_ready else []
    tags += [] if d.checked else [Span("unchecked", "warn")]
    tags += [] if d.scale.higher_is_better else [Span("lower is better", "tag")]
    blocks: list[Block] = [_distribution(d)] if d.n else [figure_of(d)]
    notes = [] if d.n else ["No score: the judge gave none for this dimension."]
    if d.spread is not None and d.spread.mean_sd is not None:
        notes.append(f"repeats of {counted(d.spread.targets, 'target')}: {spread_of(d.spread)}")
    notes += [f"Checked by {d.checked_by}"] if d.checked else []
    notes += [f"n/a ({n:,}): {reason}" for reason, n in d.reasons.items()]
    if notes:
        blocks.append(Callout(tuple(notes)))
    aside = f"{d.level}, {d.scale.low:g}–{d.scale.high:g}"
    return Card(words.name(d.name), tuple(blocks), aside, tuple(tags))


def _distribution(d: DimensionSummary) -> Bars:
    whole = d.scale.integer
    half = 0.5 if whole else 0.0
    labels = (f"{b.low:g}" if b.low == b.high else f"{b.low:g}{'+' * bool(i)}" for i, b in enumerate(d.bins))
    return Bars(
        f"Distribution of {words.name(d.name)}",
        tuple(labels),
        tuple(b.count for b in d.bins),
        axis=Axis(d.scale.low - half, d.scale.high + half),
        at_edges=not whole,
        figure=figure_of(d),
    )


def _drift(run: StoredRun, dimensions: Sequence[DimensionSummary]) -> Sequence[Section]:
    if "overall" not in run.manifest.facts:
        return ()
    from dialogauge.studies.judging.drift import drift_section  # of whole sessions alone

    return drift_section(run, dimensions)


def _curves_section(dimensions: Sequence[DimensionSummary]) -> list[Section]:
    turns = sorted({p.turn for d in dimensions for p in d.curve})
    shown = set(turns[:_CURVE_TURNS])
    curves = [(d, points) for d in dimensions if (points := _points(d, shown))]
    if not curves:
        return []
    cards = tuple(
        Card(
            words.name(d.name),
            (
                Curve(
                    f"{words.name(d.name)} along the turns",
                    points,
                    Axis(points[0].x, points[-1].x, "turn", whole=True),
                    Axis(d.scale.low, d.scale.high),
                ),
            ),
            "by turn",
        )
        for d, points in curves
    )
    rows = [
        ("" if i else words.name(d.name), int(p.x), Number(p.y), Interval(p.interval), p.n)
        for d, points in curves
        for i, p in enumerate(points)
    ]
    heads = ("dimension", "turn", "mean", "95 % interval", "n")
    figures = data_table("Scores by turn", heads, rows, captioned=False)
    lead = (
        "Mean at each turn number with its 95 % interval. Later turn numbers rest on fewer, longer "
        "conversations."
    )
    if len(turns) > _CURVE_TURNS:
        lead += f" {len(turns) - _CURVE_TURNS:,} later turn numbers are not drawn."
    blocks = (Cards(cards), Fold("The figures", (figures,)))
    return [Section("Scores along the turns", blocks, lead, "Along the turns", "turns")]


def _points(dimension: DimensionSummary, turns: Collection[int]) -> tuple[Point, ...]:
    return tuple(
        Point(p.turn, p.mean.value, p.mean.interval, p.mean.n)
        for p in dimension.curve
        if p.turn in turns and p.mean.value is not None
    )


# Groups, conversations, cost


def _groups_section(
    summary: Summary, dimensions: Sequence[DimensionSummary], *, with_agents: bool
) -> list[Section]:
    """Lay out the breakdowns that say something: those with at least two groups; agents have a section."""
    apart = {"candidate_scenario", *(["candidate"] if with_agents else [])}
    several = {f: groups for f, groups in summary.by.items() if len(groups) > 1 and f not in apart}
    if not several or not dimensions:
        return []
    names = [d.name for d in dimensions]
    tables = []
    for field, groups in several.items():
        left_out = summary.groups_left_out.get(field, 0)
        title = f"By {field}" + (f" ({left_out:,} smaller groups are not shown)" if left_out else "")
        gone = any(group.absent for group in groups)
        rows = [group_row(group, names, gone=gone) for group in groups]
        counts = ("conversations", *(["absent"] if gone else []))
        tables.append(data_table(title, (field, *counts, *map(words.name, names)), rows))
    lead = (
        "Differences between groups may come from what their conversations are about. Where intervals "
        "overlap, do not read an order into the means."
    )
    return [Section("Groups", tuple(tables), lead, anchor="groups")]


def conversations_lead(sample: ShownConversations, repeats: int = 1) -> Prose:
    """Say which conversations a page shows, and how to read the others."""
    shown, total = len(sample.transcripts.transcripts), sample.survey.total
    lead, others = "Every conversation, turn by turn, those to read first at the top", ""
    if shown < total:
        lead = (
            f"{shown:,} of {counted(total, 'conversation')}, turn by turn: those to read first, the worst, "
            "examples of findings, and some others, chosen by their id"
        )
        others = f"opens the other {total - shown:,}, and "
    return (
        f"{lead}{f'; of {repeats} repeats the first' if repeats > 1 else ''}. Long messages are cut; ",
        Span("dialogauge show RUN ID", "code"),
        f" {others}prints any conversation whole. Every judgement is in ",
        Span("judgements.jsonl", "code"),
        ".",
    )


def _scores_table(summary: Summary, sample: ShownConversations, *, graded: bool) -> DataTable:
    survey = sample.survey
    places = {case.key: anchor_of(case.key) for case in survey.shown}
    levels = [d.level for d in summary.dimensions]
    rated = any(case.rating is not None for case in survey.listed)
    heads: tuple[Column, ...] = (
        "conversation",
        *([TableColumn("verdict", "text")] if graded else []),
        *(["people"] if rated else []),
        "weakest turn",
        *(words.name(d.name) for d in summary.dimensions),
    )
    listed = survey.listed[: _LIST_BYTES // (_ROW_BYTES + _CELL_BYTES * len(levels))]
    rows = (
        TableRow(_list_cells(case, levels, places.get(case.key, ""), graded=graded, rated=rated))
        for case in listed
    )
    left_out = survey.total - len(listed)
    title = "A score of a turn dimension is the mean over the turns."
    title += f" {left_out:,} more conversations are not listed." if left_out else ""
    if graded and summary.verdicts is not None and summary.verdicts.basis.get("partial"):
        title += " * verdict on an incomplete set of scores."
    return data_table(title, heads, rows, shown=_LISTED_FIRST)


def _list_cells(
    case: Case, levels: Sequence[str], anchor: str, *, graded: bool, rated: bool
) -> tuple[Cell, ...]:
    id = cut(case.conversation_id, ID_CHARS)
    named = Text(id, case.candidate or "", link=anchor) if anchor or case.candidate else id
    if case.failure:
        verdict: Cell = f"failed: {words.name(case.failure)}"
    else:
        verdict = verdict_of(case) if case.verdict else None
    by_people = None if case.rating is None else words.score(case.rating)
    return (
        named,
        *([verdict] if graded else []),
        *([by_people] if rated else []),
        case.weakest_turn,
        *map(_list_score, case.scores, levels),
    )


def _list_score(value: float | str | None, level: str) -> Cell:
    """Write a whole score as it is, and the mean over turns with two decimals."""
    if value is None or isinstance(value, str):
        return value
    return words.score(value) if level == "conversation" else words.decimal(value)


def _cost_section(summary: Summary) -> Section:
    total = summary.total
    if not total.calls and not total.cached:
        sentence = "No language model was called; nothing was spent and nothing left this machine."
        return Section("Cost", (Callout((sentence,)),), anchor="cost")
    blocks: list[Block] = [cost_table(summary.by_role, total, captioned=False)]
    if total.repeated_share is not None:
        sentence = (
            f"{words.percent(total.repeated_share)} of the prompts' characters repeat the beginning of the "
            "previous prompt; a server with a prefix cache need not read them again."
        )
        blocks.append(Callout((sentence,)))
    lead = "By role. If the price of one call is unknown, the cost is unknown; it is never counted as zero."
    return Section("Cost", tuple(blocks), lead, anchor="cost")


def cost_table(by_role: Mapping[str, Usage], total: Usage, *, captioned: bool = True) -> DataTable:
    """Show what each role took, and all together."""
    heads = ("role", "calls", "from cache", "tokens in", "tokens out", "cost")
    rows = [
        (role, of.calls, of.cached, of.prompt_tokens, of.completion_tokens, words.cost(of.cost))
        for role, of in (*by_role.items(), ("total", total))
    ]
    return data_table("Cost by role", heads, rows, captioned=captioned)


def _settings_section(manifest: Manifest) -> Section:
    settings = manifest.settings
    pairs = {
        "judge": manifest.judge["name"],
        "model": (settings.get("role") or {}).get("model"),
        "rubric": settings["rubric"],
        "mode": settings["mode"],
        "input": ", ".join(settings["inputs"]),
        "made": manifest.written[:10],
        "version": f"dialogauge {manifest.versions['dialogauge'] or ''}",
    }
    others = [
        (k, str(v))
        for k, v in sorted(settings.items())
        if k not in _UNSHOWN and v not in (None, False, [], ())
    ]
    blocks: list[Block] = [Definitions((*((k, str(v)) for k, v in pairs.items() if v), *others))]
    blocks += [Code(manifest.command)] if manifest.command else []
    return Section("How this was made", tuple(blocks), short="Settings", anchor="settings")


def _weak_section(
    summary: Summary, weak: tuple[Transcript, ...], findings: FindingsSummary | None
) -> Section:
    if findings is None:
        lead = "The turn that the judge holds most responsible for lowering a conversation’s quality."
        if not summary.weakest_named:
            lead = "The turn with the lowest scores of its conversation."
        return Section("Weakest turns", (Cards(weak, wide=True),), lead, anchor="weakest")
    lead = (
        "The turns most worth reading by the judge’s findings: what was found, the words that show it, and "
        "people’s ratings where there are any."
    )
    return Section("Turns to read first", (Cards(weak, wide=True),), lead, "Read first", "weakest")
