"""What a judge would not notice, in words and on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dialogauge.report import (
    Callout,
    Cell,
    Items,
    Percent,
    Section,
    TableColumn,
    data_table,
    words,
)
from dialogauge.studies.planted.blind_spots import BlindSpots, FaultSeen, Notice

TITLE: Final = "What this judge would not notice"
_OTHERS: Final = "Faults of other kinds were not tried."
UNTRIED: Final = (
    "It is not known what this judge would not notice: with --planted 25 it judges replies with planted "
    "faults; --dry-run counts the calls."
)
_LISTS: Final[dict[Notice, str]] = {
    "not noticed": "This judge would not notice",
    "cannot tell": "It may miss",
    "noticed": "It notices",
}


def planted_sentences(spots: BlindSpots) -> tuple[str, ...]:
    """Say which planted faults the judge would not notice, may miss, notices and rewards."""
    return tuple(_sentences(spots))


def _sentences(spots: BlindSpots) -> Iterator[str]:
    for answer, start in _LISTS.items():
        if of := spots.of(answer):
            yield f"{start}: {'; '.join(_with_shares(of))}."
    gains = [
        f"{fault.words} ({words.name(m.dimension)} {words.decimal(m.change.value, 2, signed=True)} "
        f"{words.interval(m.change.interval)})"
        for fault, m in spots.rewarded
    ]
    if gains:
        yield f"It rewards: {'; '.join(gains)}."
    idle = spots.of("not tried")
    if none := "; ".join(f.words for f in idle if not f.failed):
        yield f"Not tried, because no reply here allowed it: {none}."
    if failed := "; ".join(f.words for f in idle if f.failed):
        yield f"Not known, because the judge failed on every such reply: {failed}."
    if spots.judged < spots.planted:
        yield f"Only {spots.judged:,} of {spots.planted:,} planted replies were judged."
    yield _OTHERS


def _with_shares(faults: Iterable[FaultSeen]) -> Iterator[str]:
    """Write `an empty reply 100 % [86, 100]`; faults of the same figures together."""
    alike: dict[str, list[str]] = {}
    for fault in faults:
        ends = fault.share.interval
        shown = f"{words.decimal(100 * (fault.share.value or 0.0), 0)} %"
        if ends is not None:
            shown += f" {words.interval((100 * ends[0], 100 * ends[1]), 0)}"
        alike.setdefault(shown, []).append(fault.words)
    for shown, names in alike.items():
        yield f"{words.listing(names)} {shown}{' each' if len(names) > 1 else ''}"


def planted_callout(spots: BlindSpots) -> Callout:
    """Lay the sentences out for a first screen, or beside a gate."""
    return Callout(planted_sentences(spots), "warn" if spots.of("not noticed") or spots.rewarded else "info")


def planted_section(spots: BlindSpots) -> Section:
    """Lay out every fault with its share and what it does to the scores."""
    how = "named by a new finding" if spots.by == "findings" else "scored lower, less those scored higher"
    lead = (
        f"Faults were planted in replies of this log, at most {spots.size:,} of each kind. "
        f"{spots.judge} judged them as it judged the log. Noticed is the share {how}."
    )
    heads = (
        "in place of the reply",
        "noticed",
        "replies",
        TableColumn("scores", "prose"),
        TableColumn("", "text"),
    )
    rows: list[tuple[Cell, ...]] = [
        (f.words, Percent(f.share.value, f.share.interval), f.share.n, _scores(f), f.answer)
        for answer in (*_LISTS, "not tried")
        for f in spots.of(answer)
    ]
    table = data_table(TITLE, heads, rows, captioned=False)
    return Section(TITLE, (Items(planted_sentences(spots)), table), lead, "Blind spots", "blind-spots")


def _scores(fault: FaultSeen) -> str:
    """Write the dimensions that move: `helpfulness -1.20 [-1.61, -0.79]`."""
    return "; ".join(
        f"{words.name(m.dimension)} {words.decimal(m.change.value, 2, signed=True)} "
        f"{words.interval(m.change.interval)}"
        for m in fault.moved
        if m.answer != "cannot tell"
    )
