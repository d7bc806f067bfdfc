"""The page of a comparison, and the same on a terminal: the answer first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Literal

from dialogauge.judges.local.evidence import TITLES
from dialogauge.report import (
    Block,
    Callout,
    Cards,
    Cell,
    DataTable,
    DotPlot,
    DotRow,
    Fold,
    Interval,
    Items,
    Matrix,
    Missing,
    Number,
    Page,
    Prose,
    Reference,
    Section,
    Span,
    TableColumn,
    TableRow,
    Text,
    data_table,
    p_value,
    words,
)
from dialogauge.studies.compare.comparison import ANY_FINDING, Change, Measured, RunComparison, Turned
from dialogauge.studies.compare.gate import difference_words
from dialogauge.studies.compare.talks import LENGTH
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.planted.page import planted_callout, planted_section
from dialogauge.text import counted

Tone = Literal["plain", "info", "warn", "good"]

_KINDS: Final = 12
_LISTED: Final = 8
"""Conversations that a terminal lists on each side."""


def headline(result: RunComparison) -> tuple[str, ...]:
    """Answer in sentences: better, worse or cannot tell; and what this sample could have shown."""
    tested = result.tested
    if not tested:
        fullest = max((d for d in result.dimensions if d.delta.reason), key=lambda d: d.a.n, default=None)
        why = fullest.delta.reason if fullest else "nothing was scored in both runs"
        return (f"Cannot tell whether {result.b.name} is better or worse than {result.a.name}: {why}.",)
    out = [_answer(result, tested)]
    first = min(tested, key=lambda d: d.detectable or float("inf"))
    last = max(tested, key=lambda d: d.detectable or 0.0)
    if first.detectable is not None and last.detectable is not None:
        size = f"{last.detectable:.2f} or more on {words.name(last.name)}"
        if first is not last:
            size = f"{first.detectable:.2f} or more on {words.name(first.name)}, {size}"
        out.append(
            f"With {_sample(result)} a difference of {size} would be shown in 4 of 5 cases (80 % power)."
        )
    out += [_with_finding(c) for c in result.findings if c.name == ANY_FINDING]
    out += _by_length(result, tested)
    moved = [d for d in tested if d.bounds is not None and _reverses(d)]
    if moved:
        names = ", ".join(words.name(d.name) for d in moved)
        out.append(f"Failed judgements could reverse the difference on {names}: see the bounds.")
    if not any(d.compared for d in tested):
        what = "the pairs below" if result.pairing.pairs else "some conversations of each"
        out.append(f"This judge was never compared with people on these dimensions: read {what}.")
    return tuple(out)


def _answer(result: RunComparison, tested: Sequence[Change]) -> str:
    a, b = result.a.name, result.b.name
    worse, better, unclear = (
        [d for d in tested if d.answer == answer] for answer in ("worse", "better", "cannot tell")
    )
    if worse and better:
        return f"{b} is worse than {a} on {_shown(worse)}; and better on {_shown(better)}."
    if worse or better:
        names = ", ".join(words.name(d.name) for d in unclear)
        rest = f" On {names} the sample cannot tell." if unclear else ""
        return f"{b} is {'worse' if worse else 'better'} than {a}: {_shown(worse or better)}.{rest}"
    if all(not d.delta.value and d.p == 1.0 for d in tested):
        return f"No difference: {b} has the same scores as {a} in {_sample(result)}."
    of = f", as {len(tested)} dimensions are tested at once" if any(map(_excludes_zero, tested)) else ""
    return f"Cannot tell {b} from {a}: every difference could be due to chance{of} ({_shown(tested)})."


def _shown(changes: Iterable[Change]) -> str:
    return "; ".join(f"{words.name(d.name)} {difference_words(d)}" for d in changes)


def _with_finding(change: Change) -> str:
    a, b = (f"{round((side.mean or 0) * side.n):,} of {side.n:,}" for side in (change.a, change.b))
    return f"With a finding: {b} conversations, {a} before ({difference_words(change)})."


def _sample(result: RunComparison) -> str:
    p = result.pairing
    if not p.paired:
        return f"{len(p.a):,} and {len(p.b):,} conversations (not paired)"
    pairs = counted(len(p.pairs), "pair") if p.pairs else f"{len(p.a):,} and {len(p.b):,} conversations"
    return pairs if p.unit == "conversations" else f"{pairs} ({p.clusters:,} {p.unit})"


def _reverses(change: Change) -> bool:
    bounds, value = change.bounds, change.delta.value
    return bool(value) and bounds is not None and bounds[0] < 0 < bounds[1]


def _by_length(result: RunComparison, tested: Sequence[Change]) -> list[str]:
    length = next((c for c in result.controls if c.name == LENGTH), None)
    if length is None or not _excludes_zero(length) or not length.a.mean or length.delta.value is None:
        return []
    share = length.delta.value / length.a.mean
    how = "longer" if share > 0 else "shorter"
    gives = [
        f"{words.decimal(d.by_length, signed=True)} of the {words.decimal(d.delta.value, signed=True)} on "
        f"{words.name(d.name)}"
        for d in tested
        if d.by_length is not None and d.answer != "cannot tell"
    ]
    alone = "By how scores go with length within each run, length alone would give"
    changed = f"Replies are {round(100 * abs(share))} % {how}."
    return [f"{changed} {alone} {', '.join(gives)}." if gives else changed]


def _excludes_zero(change: Change) -> bool:
    ends = change.delta.interval
    return ends is not None and (ends[0] > 0 or ends[1] < 0)


def tone_of(result: RunComparison) -> Tone:
    """Return the colour of the answer."""
    answers = {d.answer for d in result.tested}
    return "warn" if "worse" in answers else "good" if "better" in answers else "info"


def comparison_page(
    result: RunComparison,
    gates: Sequence[GateResult],
    beside: Sequence[Section],
    *,
    created: str,
    version: str,
) -> Page:
    """Lay out a comparison.

    Args:
        result: What was compared.
        gates: With how they ended.
        beside: Pairs that turned, both replies side by side, from `beside`.
        created: The day.
        version: Of dialogauge.
    """
    turned = _turned(result)
    if beside:
        # The pairs themselves stand below: a list of their names would say the same again.
        turned = replace(turned, blocks=(turned.blocks[0], *beside))
    blocks = (
        *_opening(result, gates),
        *_sections(result, whole=True),
        turned,
        *_groups(result),
        *([] if result.planted is None else [planted_section(result.planted)]),
        _made(result),
    )
    return Page(f"{result.b.name} against {result.a.name}", blocks, "", created, version)


def brief(result: RunComparison, gates: Sequence[GateResult], beside: Sequence[Section]) -> tuple[Block, ...]:
    """Lay out a comparison for a terminal."""
    turned = _turned(result)
    return (
        *(replace(b, tone="plain") if isinstance(b, Callout) else b for b in _opening(result, gates)),
        *_sections(result, whole=False),
        replace(turned, blocks=(*turned.blocks, *beside)),
        *_groups(result),
        Callout(("The page (-o DIR) shows more pairs, and all verdicts and findings.",)),
    )


def _opening(result: RunComparison, gates: Sequence[GateResult]) -> list[Block]:
    first, *others = headline(result)
    out: list[Block] = [Callout((Span(first, "strong"), *others), tone_of(result))]
    out += [Callout((gate.sentence,), "good" if gate.met else "warn") for gate in gates]
    out += [] if result.planted is None else [planted_callout(result.planted)]
    out += [Callout(result.notes, "warn")] if result.notes else []
    return [*out, Callout(tuple(_basis(result)), "info")]


def _basis(result: RunComparison) -> Iterable[Prose]:
    p, a, b = result.pairing, result.a, result.b
    yield (
        Span("A", "strong"), f": {a.name}, {counted(len(a.talks), 'conversation')}.  ",
        Span("B", "strong"), f": {b.name}, {counted(len(b.talks), 'conversation')}.  ",
        f"{p.of[0].upper()}{p.of[1:]}. Differences are B less A, with 95 % intervals by {p.unit}.",
    )  # fmt: skip
    if p.left_a or p.left_b:
        yield f"Without a partner and left out: {p.left_a:,} of A, {p.left_b:,} of B."
    if p.few:
        by, of_a, of_b = p.few
        yield f"{of_a:,} of A and {of_b:,} of B share their {by} with the other run: too few to pair by."
    if p.pairs and p.openings < len(p.pairs):
        yield (
            f"{len(p.pairs) - p.openings:,} of {len(p.pairs):,} pairs begin with different messages of the "
            "user: are they the same conversations?"
        )
    for side, of in (("A", a), ("B", b)):
        if of.failures or of.unread:
            kinds = [f"{n:,} {words.name(kind)}" for kind, n in of.failures.items()]
            kinds += [f"{of.unread:,} unread or not done"] if of.unread else []
            yield f"Failed in {side}: {', '.join(kinds)}."
    untested = [words.name(d.name) for d in result.dimensions if not d.compared and d.p_holm is None]
    if untested and any(d.compared for d in result.tested):
        yield f"Never compared with people, and so not tested: {', '.join(untested)}."


def _sections(result: RunComparison, *, whole: bool) -> Iterable[Section]:
    plot = (_plot(result),) if whole and any(d.delta.interval for d in result.dimensions) else ()
    lead = "p adjusted by Holm over the dimensions that are tested."
    yield Section("Scores", (*plot, _scores(result)), lead, short="Scores")
    if result.verdicts:
        yield Section("Verdicts", tuple(_verdicts(result, whole=whole)))
    if result.findings:
        shown = result.findings if whole else [c for c in result.findings if _moved(c)][:_KINDS]
        lead = "Share of the conversations with such a finding; not adjusted for the number of kinds."
        yield Section(
            "Findings that came and went", (_shares("Findings", shown, named=True),), lead, "Findings"
        )
    if result.ratings:
        yield Section("What people said", (_plain("People’s ratings", result.ratings),), short="People")
    lead = "A judge that likes long replies would show an improvement for longer ones."
    yield Section("Controls", (_plain("Controls", result.controls),), lead)


def _moved(change: Change) -> bool:
    return bool(change.delta.value)


def _plot(result: RunComparison) -> DotPlot:
    rows = (
        DotRow(words.name(d.name), d.delta.value, d.delta.interval, "quiet" if d.p_holm is None else "strong")
        for d in result.dimensions
    )
    return DotPlot("Difference, B less A", tuple(rows), (Reference(0.0, "no difference"),))


def _scores(result: RunComparison) -> DataTable:
    heads = (
        "dimension",
        "A",
        "B",
        "B less A",
        "p",
        TableColumn("answer", "text"),
        "80 % power from",
        "by failures",
    )
    rows = []
    for d in result.dimensions:
        answer = d.answer if d.p_holm is not None or d.delta.reason else "not tested"
        cells: tuple[Cell, ...] = (
            words.name(d.name),
            _side(d.a),
            _side(d.b),
            Number(d.delta.value, 2, d.delta.interval, signed=True, strong=True),
            p_value(d.p_holm, at_floor=d.at_floor),
            answer,
            Number(d.detectable),
            Interval(d.bounds) if d.bounds else None,
        )
        rows.append(TableRow(cells, "quiet" if d.p_holm is None else "plain"))
    return data_table("Scores", heads, rows, captioned=False)


def _side(side: Measured) -> Cell:
    counts = ((side.n_na, "n/a"), (side.n_failed, "failed"), (side.left_out, "unmatched"))
    return Number(side.mean, 2, notes=(f"n {side.n:,}", *(f"{n:,} {what}" for n, what in counts if n)))


def _verdicts(result: RunComparison, *, whole: bool) -> Iterable[Block]:
    yield _shares("Verdicts", result.verdicts)
    both = [(a.verdict, b.verdict) for a, b in result.pairing.pairs if a.verdict and b.verdict]
    if whole and both:
        counts = [[both.count((row, column)) for column in result.order] for row in result.order]
        shades = tuple(tuple(n / (max(map(max, counts)) or 1) for n in row) for row in counts)
        yield Matrix(
            "Pairs by verdict", result.order, result.order, tuple(map(tuple, counts)), shades, "A", "B",
        )  # fmt: skip


def _shares(title: str, changes: Sequence[Change], *, named: bool = False) -> DataTable:
    heads = (title.lower(), "A", "B", "B less A, points")
    rows: list[tuple[Cell, ...]] = []
    for c in changes:
        name = TITLES.get(c.name, c.name) if named else c.name
        ends = c.delta.interval
        points = None if ends is None else (100 * ends[0], 100 * ends[1])
        delta = Number(None if c.delta.value is None else 100 * c.delta.value, 1, points, signed=True)
        rows.append((name, _share(c.a), _share(c.b), delta))
    return data_table(title, heads, rows, captioned=False, shown=_KINDS if named else None)


def _share(side: Measured) -> Cell:
    count = None if side.mean is None else round(side.mean * side.n)
    notes = () if count is None else (words.percent(side.mean),)
    return Missing("–") if count is None else Text(f"{count:,}/{side.n:,}", *notes)


def _plain(title: str, changes: Sequence[Change]) -> DataTable:
    heads = (title.lower(), "A", "B", "B less A", "p")
    rows: list[tuple[Cell, ...]] = []
    for c in changes:
        means = (Number(side.mean, c.digits, notes=(f"n {side.n:,}",)) for side in (c.a, c.b))
        delta = Number(c.delta.value, c.digits, c.delta.interval, signed=True)
        rows.append((words.name(c.name), *means, delta, p_value(c.p, at_floor=c.at_floor)))
    return data_table(title, heads, rows, captioned=False)


def _turned(result: RunComparison) -> Section:
    pairs = result.pairing.pairs
    title = "Conversations that turned"
    if not pairs:
        why = (
            "The runs are not paired."
            if not result.pairing.paired
            else "No conversation stands alone in both."
        )
        return Section(title, (Callout((why,)),), short="Turned")
    by = "verdict" if any(t.steps for t in (*result.worse, *result.better)) else "mean score"
    worse, better = len(result.worse), len(result.better)
    changed = (
        f"Of {counted(len(pairs), 'pair')} {worse:,} became worse by {by}, {better:,} better, "
        f"{len(pairs) - worse - better:,} neither."
    )
    lists = [
        Items(tuple(f"{how}: {pair_words(t)}" for t in turned[:_LISTED]), max(0, len(turned) - _LISTED))
        for how, turned in (("worse", result.worse), ("better", result.better))
        if turned
    ]
    return Section(title, (Callout((changed,)), *lists), short="Turned")


def pair_words(turned: Turned) -> str:
    """Write a pair: `en-support-late-parcel, good to poor`."""
    name = turned.a.id if turned.a.id == turned.b.id else f"{turned.a.id} and {turned.b.id}"
    if turned.steps:
        return f"{name}, {turned.a.verdict} to {turned.b.verdict}"
    return f"{name}, mean quality {words.decimal(100 * turned.quality, 0, signed=True)} points of 100"


def beside(turned: Turned, cards: Sequence[Cards], *, same: int, left: int, context: Sequence[str]) -> Fold:
    """Put a pair side by side, from the turn at which the two part.

    Args:
        turned: The pair.
        cards: Turn by turn, A and B.
        same: So many turns before are the same.
        left: So many turns after are not shown.
        context: What the conversation is about; of both, where they differ.
    """
    first: list[Prose] = list(context)
    if moved := _moved_scores(turned):
        first.append(moved)
    if same:
        first.append(f"The first {'turn is' if same == 1 else f'{same:,} turns are'} the same in both.")
    after = (Callout((f"{counted(left, 'later turn')} not shown.",)),) if left else ()
    return Fold(pair_words(turned), (*((Callout(tuple(first)),) if first else ()), *cards, *after))


def _moved_scores(turned: Turned) -> str:
    """Write the means that differ: `coherence 5 to 3, repair handling 5 to 1`."""
    means = {
        name: tuple(s.total / s.n if s.n else None for s in (turned.a.scores[name], turned.b.scores[name]))
        for name in turned.a.scores
    }
    shown = (
        f"{words.name(name)} {words.score(before)} to {words.score(after)}"
        for name, (before, after) in means.items()
        if before != after and before is not None and after is not None
    )
    return ", ".join(shown)


def _groups(result: RunComparison) -> Iterable[Section]:
    fields = dict.fromkeys(g.field for g in result.groups)
    for field in fields:
        groups = [g for g in result.groups if g.field == field]
        names = list(dict.fromkeys(c.name for g in groups for c in g.changes))
        heads = (field, "A", "B", *map(words.name, names))
        rows: list[tuple[Cell, ...]] = []
        for group in sorted(groups, key=lambda g: (-g.a - g.b, g.name)):
            by_name = {c.name: c for c in group.changes}
            deltas = (by_name[n].delta if n in by_name else None for n in names)
            cells: Iterable[Cell] = (
                Number(d.value, 2, d.interval, signed=True) if d else Missing() for d in deltas
            )
            rows.append((group.name, group.a, group.b, *cells))
        lead = "Not adjusted for the number of groups: of 20 without a difference one shows one by chance."
        yield Section(
            f"By {field}", (data_table(f"By {field}", heads, rows, captioned=False, shown=20),), lead
        )


def _made(result: RunComparison) -> Section:
    p = result.pairing
    how = (
        "A difference leaves the same cluster out of both runs (jackknife, Student’s t)."
        if p.paired
        else "The runs are two samples: a difference has the spread of both, and the degrees of freedom of "
        "the smaller."
    )
    scored = " A dimension is compared on conversations that have a score in both." if p.paired else ""
    return Section(
        "How this was made",
        (
            Callout(
                (
                    f"{how}{scored} “80 % power from” is the least true difference that such a sample shows "
                    "in 4 of 5 cases, after the adjustment. “By failures” is how far the difference could "
                    "move if every failed judgement had been the worst or the best score.",
                    "It compares judged scores. Whether the judge is right about either assistant is another "
                    "question: `dialogauge agreement` and `dialogauge trust` ask it.",
                )
            ),
        ),
    )
