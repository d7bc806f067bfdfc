"""The page of a comparison, and the same on a terminal: the answer first, then what it rests on."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from dialogauge.report import (
    Block,
    Callout,
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
    Text,
    data_table,
    p_value,
    words,
)
from dialogauge.studies.compare.answer import NOT_CHECKED, headline, title_of, tone_of
from dialogauge.studies.compare.comparison import RunComparison, Turned
from dialogauge.studies.compare.figures import ANY_FINDING, Change
from dialogauge.studies.compare.talks import FAILED
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.planted.page import planted_callout, planted_section
from dialogauge.text import counted

_KINDS: Final = 12
_LISTED: Final = 5
"""Findings that a terminal shows, and conversations that it lists on each side."""
_ON_PAGE: Final = 2000
"""Conversations that a page lists on each side."""


def comparison_page(
    result: RunComparison,
    gates: Sequence[GateResult],
    beside: Sequence[Section],
    *,
    paths: tuple[str, str],
    created: str,
    version: str,
) -> Page:
    """Lay out a comparison.

    Args:
        result: What was compared.
        gates: With how they ended.
        beside: Pairs that turned, both replies side by side, from `beside`.
        paths: Of the runs, for commands that read a pair.
        created: The day.
        version: Of dialogauge.
    """
    blocks = (
        *_opening(result, gates),
        *_sections(result, whole=True),
        _turned(result, beside, paths, listed=_ON_PAGE),
        *_groups(result),
        *([] if result.planted is None else [planted_section(result.planted)]),
        _controls(result),
        *_unchecked(result),
        _made(result),
    )
    return Page(f"{result.b.name} against {result.a.name}", blocks, "", created, version)


def brief(
    result: RunComparison,
    gates: Sequence[GateResult],
    beside: Sequence[Section],
    *,
    paths: tuple[str, str],
    verbose: bool = False,
) -> tuple[Block, ...]:
    """Lay out a comparison for a terminal; with `verbose` all that the page has, but for most pairs."""
    more = (_controls(result), *_unchecked(result), _made(result)) if verbose else ()
    end = "" if verbose else "More with -v: all findings, scores and controls. "
    return (
        *(replace(b, tone="plain") if isinstance(b, Callout) else b for b in _opening(result, gates)),
        *_sections(result, whole=verbose),
        _turned(result, beside, paths, listed=_ON_PAGE if verbose else _LISTED),
        *_groups(result),
        *more,
        Callout((f"{end}Pairs side by side: --pairs N, or the page (-o DIR).",)),
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
        Span("A", "strong"), f": {a.name}, {counted(a.conversations, 'conversation')}.  ",
        Span("B", "strong"), f": {b.name}, {counted(b.conversations, 'conversation')}.  ",
        f"{f'Paired by {p.by}' if p.paired else 'Not paired: two samples'}. Differences are B less A, with "
        f"95 % intervals by {p.unit}.",
    )  # fmt: skip
    if a.left_out or b.left_out:
        yield f"Without a partner and left out: {a.left_out:,} of A, {b.left_out:,} of B."
    if p.few:
        by, of_a, of_b = p.few
        yield f"{of_a:,} of A and {of_b:,} of B share their {by} with the other run: too few to pair by."
    users = {p.talks.names["user"][at] for at in p.place}
    if len(users) == 1 and None not in users:
        yield "All conversations are of one user: what is shown holds for this user."
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


def _sections(result: RunComparison, *, whole: bool) -> Iterable[Section]:
    if result.findings:
        shown = [c for c in result.findings if whole or c.name == ANY_FINDING or c.delta.value]
        lead = "Share of the conversations with such a finding. Kinds are corrected together (p)."
        most = _KINDS if whole else _LISTED
        table = _shares("Findings", shown if whole else shown[:most], named=True)
        yield Section("Findings that came and went", (table,), lead, "Findings")
    if result.ratings:
        yield Section("What people said", (_plain("People’s ratings", result.ratings),), short="People")
    if result.tested:
        dots = (DotRow(words.name(d.name), d.delta.value, d.delta.interval, "strong") for d in result.tested)
        plot = DotPlot("Difference, B less A", tuple(dots), (Reference(0.0, "no difference"),))
        plots = (plot,) if whole and any(d.delta.interval for d in result.tested) else ()
        lead = "Dimensions that are tested, corrected together (p)."
        yield Section("Scores", (*plots, _scores(result)), lead, short="Scores")
    if result.verdicts and result.graded:
        blocks: list[Block] = [_shares("Verdicts", result.verdicts)]
        verdicts, order = result.pairing.talks.names["verdict"], result.order
        both = [(verdicts[i], verdicts[j]) for i, j in result.pairing.pairs if verdicts[i] and verdicts[j]]
        if whole and both:
            counts = [[both.count((row, column)) for column in order] for row in order]
            shades = tuple(tuple(n / (max(map(max, counts)) or 1) for n in row) for row in counts)
            cells = tuple(map(tuple, counts))
            blocks.append(Matrix("Pairs by verdict", order, order, cells, shades, "A", "B"))
        yield Section("Verdicts", tuple(blocks))


def _controls(result: RunComparison) -> Section:
    lead = "A judge that likes long replies would show an improvement for longer ones."
    shown = [c for c in result.controls if c.name != FAILED or c.a.mean or c.b.mean]
    return Section("Controls", (_plain("Controls", shown),), lead)


def _unchecked(result: RunComparison) -> Iterable[Section]:
    """List what was not tested, folded, without saying which run it speaks for."""
    if not result.untested or result.unchecked:
        return
    blocks: list[Block] = [_plain("Scores", result.untested, tested=False)]
    if result.verdicts and not result.graded:
        blocks.append(_shares("Verdicts", result.verdicts))
    why = f"Not tested: {NOT_CHECKED}. To test them all the same: --unchecked."
    title = "Unchecked: order of reading only"
    yield Section("Unchecked", (Fold(title, (Callout((why,)), *blocks)),))


def _scores(result: RunComparison) -> DataTable:
    answer = TableColumn("answer", "text")
    heads = ("dimension", "A", "B", "B less A", "p", answer, "80 % power from", "by failures")
    rows: list[tuple[Cell, ...]] = []
    for d in result.tested:
        sides = []
        for side in (d.a, d.b):
            counts = ((side.n_na, "n/a"), (side.n_failed, "failed"), (side.left_out, "unmatched"))
            notes = (f"n {side.n:,}", *(f"{n:,} {what}" for n, what in counts if n))
            sides.append(Number(side.mean, 2, notes=notes))
        difference = Number(d.delta.value, 2, d.delta.interval, signed=True, strong=True)
        bounds = Interval(d.bounds) if d.bounds else None
        rows.append((words.name(d.name), *sides, difference, _p(d), d.answer, Number(d.detectable), bounds))
    return data_table("Scores", heads, rows, captioned=False)


def _p(change: Change) -> Number:
    p = change.p if change.p_corrected is None else change.p_corrected
    return p_value(p, at_floor=change.at_floor)


def _shares(title: str, changes: Sequence[Change], *, named: bool = False) -> DataTable:
    heads = (title.lower(), "A", "B", "B less A, points", *(("p",) if named else ()))
    rows: list[tuple[Cell, ...]] = []
    for c in changes:
        name = c.name if not named or c.name == ANY_FINDING else title_of(c.name)
        shares = (
            Missing("–")
            if side.mean is None
            else Text(f"{side.count:,}/{side.n:,}", words.percent(side.mean))
            for side in (c.a, c.b)
        )
        rows.append((name, *shares, _difference(c), *((_p(c),) if named else ())))
    return data_table(title, heads, rows, captioned=False, shown=_KINDS if named else None)


def _plain(title: str, changes: Sequence[Change], *, tested: bool = True) -> DataTable:
    heads = (title.lower(), "A", "B", "B less A", *(("p",) if tested else ()))
    rows: list[tuple[Cell, ...]] = []
    for c in changes:
        by, digits = (100, 1) if c.share else (1, c.digits)
        means = (
            Number(None if side.mean is None else by * side.mean, digits, notes=(f"n {side.n:,}",))
            for side in (c.a, c.b)
        )
        name = words.name(c.name) + (", %" if c.share else "")
        rows.append((name, *means, _difference(c), *((_p(c),) if tested else ())))
    return data_table(title, heads, rows, captioned=False)


_SIDES: Final = {
    "verdict": ("became worse by verdict", "became better"),
    "findings": ("have new findings", "have lost findings"),
    "scores": ("scored lower (unchecked: order of reading only)", "scored higher"),
}


def _turned(
    result: RunComparison, beside: Sequence[Section], paths: tuple[str, str], *, listed: int
) -> Section:
    pairs = result.pairing.pairs
    title = "Conversations that turned"
    if not pairs:
        why = (
            "The runs are not paired."
            if not result.pairing.paired
            else "No conversation stands alone in both."
        )
        return Section(title, (Callout((why,)),), short="Turned")
    down, up = len(result.down), len(result.up)
    first, second = _SIDES[result.turned_by]
    changed = (
        f"Of {counted(len(pairs), 'pair')} {down:,} {first}, {up:,} {second}, "
        f"{len(pairs) - down - up:,} neither."
    )
    lists = [
        Items(tuple(pair_words(t) for t in turned[:listed]), max(0, len(turned) - listed))
        for turned in (result.down, result.up)
        if turned
    ]
    blocks: list[Block] = [Callout((changed,)), *lists]
    if lists:
        read = (f"dialogauge show {shlex.quote(path)} ID" for path in dict.fromkeys(paths))
        blocks.append(Callout((("To read one: ", Span("; ".join(read), "code")),)))
    if beside and listed == _ON_PAGE:
        blocks = [blocks[0], *beside, Fold(f"All {down + up:,} by id", tuple(blocks[1:]))]
    else:
        blocks += beside
    return Section(title, tuple(blocks), short="Turned")


def pair_words(turned: Turned) -> str:
    """Write a pair: `en-support-late-parcel: new: Repeats an earlier reply`."""
    name = turned.a if turned.a == turned.b else f"{turned.a} and {turned.b}"
    news = (("new", turned.new), ("gone", turned.gone))
    moved = [f"{how}: {', '.join(map(title_of, kinds))}" for how, kinds in news if kinds]
    if turned.steps and not moved:
        moved = [f"{turned.verdict_a} to {turned.verdict_b}"]
    if not moved:
        moved = [f"mean quality {words.decimal(100 * turned.quality, 0, signed=True)} points of 100"]
    return f"{name}: {'; '.join(moved)}"


def _groups(result: RunComparison) -> Iterable[Section]:
    fields = dict.fromkeys(g.field for g in result.groups)
    for field in fields:
        groups = [g for g in result.groups if g.field == field]
        shares = {c.name: c.share for g in groups for c in g.changes}
        heads = (
            field,
            "A",
            "B",
            *(words.name(n) + (", points" if share else "") for n, share in shares.items()),
        )
        rows: list[tuple[Cell, ...]] = []
        for group in sorted(groups, key=lambda g: (-g.a - g.b, g.name)):
            by_name = {c.name: c for c in group.changes}
            cells = [_difference(by_name[n]) if n in by_name else Missing() for n in shares]
            rows.append((group.name, group.a, group.b, *cells))
        lead = "Not corrected for the number of groups: of 20 without a difference one shows one by chance."
        yield Section(
            f"By {field}", (data_table(f"By {field}", heads, rows, captioned=False, shown=20),), lead
        )


def _difference(change: Change) -> Number:
    """Return a difference with its interval as a cell, of a share in points."""
    delta, by, digits = change.delta, *((100, 1) if change.share else (1, change.digits))
    ends = None if delta.interval is None else (by * delta.interval[0], by * delta.interval[1])
    return Number(None if delta.value is None else by * delta.value, digits, ends, signed=True)


def _made(result: RunComparison) -> Section:
    how = "The runs are two samples: the interval of a difference is made of both figures’ own intervals."
    if result.pairing.paired:
        how = (
            "A difference leaves the same cluster out of both runs (jackknife, Student’s t). A figure is "
            "compared on conversations that have it in both."
        )
    figures = (
        f"{how} Kinds of findings, ratings and dimensions are each corrected together (Westfall and "
        "Young). For this, the signs of whole clusters are flipped in all of them at once. “80 % power "
        "from” is the least true difference that such a sample shows in 4 of 5 cases. “By failures” is "
        "how far the difference could move if every failed judgement had been the worst or the best "
        "score."
    )
    judge: Prose = (
        "Whether the judge is right about either assistant is another question: ",
        Span("dialogauge agreement", "code"),
        " and ",
        Span("dialogauge trust", "code"),
        " ask it.",
    )
    return Section("How this was made", (Callout((figures, judge)),))
