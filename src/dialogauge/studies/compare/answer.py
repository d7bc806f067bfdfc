"""The answer of a comparison in sentences: what changed most first, then what else is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from dialogauge.judges.local.evidence import OF_TOOLS, TITLES
from dialogauge.report import words
from dialogauge.studies.compare.comparison import RunComparison
from dialogauge.studies.compare.figures import Change
from dialogauge.studies.compare.gate import difference_words
from dialogauge.studies.compare.talks import LENGTH
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.text import counted

Tone = Literal["plain", "info", "warn", "good"]

NOT_CHECKED: Final = "nothing shows that they agree with people on such conversations"
_MANY: Final = 3
"""Conversations that a change must have moved before a scenario is named for it."""


def headline(result: RunComparison) -> tuple[str, ...]:
    """Answer in sentences: what changed most, what else, and what this sample could have shown."""
    names = [words.name(d.name) for d in result.tested if not d.checked]
    unchecked = (f"{UNCHECKED_FIRST} They are {', '.join(names)}.",) if result.unchecked and names else ()
    return (
        *unchecked, *_of_findings(result), *_of_ratings(result), *_of_scores(result), *_by_length(result),
    )  # fmt: skip


def tone_of(result: RunComparison) -> Tone:
    """Return the colour of the answer; fewer findings alone are no praise, for a judge misses some faults."""
    answers = {c.answer for c in (*result.findings, *result.ratings, *result.tested)}
    return "warn" if answers & {"worse", "more"} else "good" if "better" in answers else "info"


def title_of(kind: str) -> str:
    """Return the words of a kind of finding."""
    return TITLES.get(kind) or OF_TOOLS.get(kind) or words.name(kind)


# Findings


def _of_findings(result: RunComparison) -> Iterator[str]:
    first = result.any_finding
    if first is None:
        return
    kinds = [c for c in result.kinds if c.moved]
    if not kinds and not first.moved:
        yield from _nothing_shown(result, first)
        return
    if kinds:
        yield _kind(result, kinds[0])
    if first.moved:
        how = "More" if first.answer == "more" else "Fewer"
        yield f"{how} conversations have a finding: {_counts(first)} ({difference_words(first)})."
    elif kinds:
        yield f"With any finding: {_counts(first)} ({difference_words(first)}); this could be due to chance."
    if rest := [f"“{title_of(c.name)}” {_counts(c)}" for c in kinds[1:]]:
        yield f"Shown as well: {'; '.join(rest)}."
    if not kinds and result.kinds and (most := result.kinds[0]).delta.value:
        yield f"“{title_of(most.name)}” moved most: {_counts(most)}; by itself this could be due to chance."
    yield from _power(result, first)


def _kind(result: RunComparison, change: Change) -> str:
    """Write a change of one kind, with the scenario that holds half of it or more, if a minor one does."""
    how = "More" if change.answer == "more" else "Fewer"
    out = (
        f"{how} conversations have the finding “{title_of(change.name)}”: {_counts(change)} "
        f"({difference_words(change)})."
    )
    pairs, talks = result.pairing.pairs, result.pairing.talks
    scenarios, has = [talks.names["scenario"][i] for i, _ in pairs], talks.having(change.name)
    sizes = Counter(scenarios)
    before, after = (
        Counter(name for name, pair in zip(scenarios, pairs, strict=True) if has[pair[side]])
        for side in (0, 1)
    )
    whole = after.total() - before.total()
    moved = {
        name: (after[name] - before[name]) * (1 if whole > 0 else -1) for name in sizes if name is not None
    }
    most = max(moved, key=lambda name: moved[name], default=None)
    if most is None or abs(whole) < _MANY or 2 * moved[most] < abs(whole) or 2 * sizes[most] > len(pairs):
        return out
    of = f"{after[most]:,} of {sizes[most]:,}, before {before[most]:,}"
    return f"{out} Most of it in “{most}”: {of}."


def _nothing_shown(result: RunComparison, first: Change) -> Iterator[str]:
    a, b = result.a.name, result.b.name
    if first.answer == "too few to tell":
        why = _why_hopeless(result, first)
        yield f"Too few to tell {b} from {a}: {why}. With a finding: {_counts(first)}."
        return
    pairs, kinds = result.pairing.pairs, result.pairing.talks.kinds.values()
    same = all(has[i] == has[j] for has in kinds for i, j in pairs)
    if pairs and not result.a.left_out and same:
        yield f"No difference: {b} has the same findings as {a} in {_sample(result)}."
    else:
        yield (
            f"Cannot tell {b} from {a} by findings: {_counts(first)} conversations have one "
            f"({difference_words(first)}), which could be due to chance."
        )
        if most := next((c for c in result.kinds if c.delta.value), None):
            yield f"“{title_of(most.name)}” moved most: {_counts(most)}; this could be due to chance as well."
    yield from _power(result, first)


def _why_hopeless(result: RunComparison, change: Change) -> str:
    """Say why no result of this size could show a difference."""
    if change.delta.reason:
        return change.delta.reason
    if change.detectable is not None and change.detectable > max(change.room):
        size = f"{100 * change.detectable:.0f} points" if change.share else f"{change.detectable:.2f}"
        return (
            f"with {_sample(result)} only a difference of {size} or more would show, and none can be so large"
        )
    return f"of {_sample(result)} no result has a p below {0.05:g}"


def _power(result: RunComparison, first: Change) -> Iterator[str]:
    if first.detectable is None:
        return
    with_sample = f"With {_sample(result)} a difference of {100 * first.detectable:.1f} points or more"
    out = f"{with_sample} would be shown in 4 of 5 cases (80 % power)"
    fall, rise = first.room
    side = "fall" if fall < first.detectable <= rise else "rise" if rise < first.detectable <= fall else ""
    if side and not first.moved:
        out += f"; a {side} cannot be so large here"
    yield f"{out}."


def _counts(change: Change) -> str:
    a, b = change.a, change.b
    return f"{b.count:,} of {b.n:,}, before {a.count:,} of {a.n:,}"


# Ratings and scores


def _of_ratings(result: RunComparison) -> Iterator[str]:
    for change in result.ratings:
        name = words.name(change.name)
        if change.answer in ("better", "worse"):
            how = "higher" if (change.delta.value or 0) > 0 else "lower"
            yield f"People rated {result.b.name} {how}: {name} {difference_words(change)}."
        elif change.answer == "too few to tell":
            yield f"People’s {name}: too few to tell ({_why_hopeless(result, change)})."
        else:
            yield f"People’s {name}: {difference_words(change)}, which could be due to chance."


def _of_scores(result: RunComparison) -> Iterator[str]:
    changes, a, b = result.tested, result.a.name, result.b.name
    worse, better, unclear, few = (
        [d for d in changes if d.answer == answer]
        for answer in ("worse", "better", "cannot tell", "too few to tell")
    )
    if worse and better:
        yield f"{b} is worse than {a} on {_shown(worse)}; and better on {_shown(better)}."
    elif worse or better:
        names = ", ".join(words.name(d.name) for d in unclear)
        rest = f" On {names} the sample cannot tell." if unclear else ""
        yield f"{b} is {'worse' if worse else 'better'} than {a}: {_shown(worse or better)}.{rest}"
    elif unclear and all(not d.delta.value and d.p == 1.0 for d in unclear):
        yield f"No difference: {b} has the same scores as {a} in {_sample(result)}."
    elif unclear:
        why = "every difference could be due to chance"
        why += (
            f", as {len(changes)} dimensions are tested at once" if any(map(_excludes_zero, unclear)) else ""
        )
        yield f"Cannot tell {b} from {a} by scores: {why} ({_shown(unclear)})."
    if few:
        names = ", ".join(words.name(d.name) for d in few)
        why = _why_hopeless(result, max(few, key=lambda d: d.a.n))
        yield f"Too few to tell {b} from {a} on {names}: {why}."
    if changes:
        if known := [(d.detectable, words.name(d.name)) for d in changes if d.detectable is not None]:
            (least, first), (most, last) = min(known), max(known)
            size = f"{most:.2f} or more on {last}"
            if first != last:
                size = f"{least:.2f} or more on {first}, {size}"
            shown = f"a difference of {size} would be shown in 4 of 5 cases (80 % power)"
            yield f"With {_sample(result)} {shown}."
        moved = [d for d in changes if d.delta.value and d.bounds and d.bounds[0] < 0 < d.bounds[1]]
        if moved:
            names = ", ".join(words.name(d.name) for d in moved)
            yield f"Failed judgements could reverse the difference on {names}: see the bounds."
    elif result.any_finding is None:
        fullest = max(result.dimensions, key=lambda d: d.a.n, default=None)
        reason = "nothing was scored in both runs" if fullest is None else fullest.delta.reason
        reason = reason or "the judge names no findings, and no score of it is checked on such conversations"
        yield f"Cannot tell {b} from {a}: {reason}."
    if result.untested:
        names = ", ".join(words.name(d.name) for d in result.untested)
        yield f"Not tested, because {NOT_CHECKED}: {names}."


def _shown(changes: Iterable[Change]) -> str:
    return "; ".join(f"{words.name(d.name)} {difference_words(d)}" for d in changes)


def _sample(result: RunComparison) -> str:
    p, both = result.pairing, f"{result.a.compared:,} and {result.b.compared:,} conversations"
    if not p.paired:
        return f"{both} (not paired)"
    pairs = counted(len(p.pairs), "pair") if p.pairs else both
    return pairs if p.unit == "conversations" else f"{pairs} ({p.clusters:,} {p.unit})"


def _by_length(result: RunComparison) -> list[str]:
    length = next((c for c in result.controls if c.name == LENGTH), None)
    if length is None or not _excludes_zero(length) or not length.a.mean or length.delta.value is None:
        return []
    share = length.delta.value / length.a.mean
    how = "longer" if share > 0 else "shorter"
    gives = [
        f"{words.decimal(d.by_length, signed=True)} of the {words.decimal(d.delta.value, signed=True)} on "
        f"{words.name(d.name)}"
        for d in result.tested
        if d.by_length is not None and d.moved
    ]
    alone = "By how scores go with length within each run, length alone would give"
    changed = f"Replies are {round(100 * abs(share))} % {how}."
    return [f"{changed} {alone} {', '.join(gives)}." if gives else changed]


def _excludes_zero(change: Change) -> bool:
    ends = change.delta.interval
    return ends is not None and (ends[0] > 0 or ends[1] < 0)
