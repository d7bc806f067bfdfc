"""The findings of a run by kind, with what is known of each kind, and where to read first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from dialogauge.core.values import Value
from dialogauge.judges.local.evidence import (
    HERE,
    OF_TOOLS,
    TELLING,
    TITLES,
    KindEvidence,
    load_evidence,
)
from dialogauge.stats import Basis, divided, parse_rule
from dialogauge.stats.rows import Entries, Labels, Row, Table
from dialogauge.stats.table import Mask
from dialogauge.studies.judging.people import People
from dialogauge.studies.judging.worst import dialogue_weights, said_of, weights_of


class FindingExample(Value):
    """One finding, with its words."""

    conversation_id: str
    turn: int
    quote: str
    note: str
    """What is wrong, in the conversation's language."""


class KindSummary(Value):
    """One kind of finding in a run."""

    kind: str
    title: str
    """In plain English: `The user doubts the reply`."""
    turns: int
    conversations: int
    evidence: KindEvidence | None
    """By this run's ratings; where it has none, by rated data on which nothing was chosen; else None."""
    example: FindingExample


class ReadFirst(Value):
    """A turn to read, and why."""

    conversation_id: str
    turn: int
    reason: str


class Missed(Value):
    """Of what people rated poor, or what failed, how much has no finding."""

    what: str
    """`conversations`; of shipped figures `turns` or `runs`."""
    poor: int
    without: int
    source: str
    """`this data`, or the data that the figure is of."""
    share: float
    """Of the poor without a finding, 0 to 1: of a drawn sample weighted by the chance of being chosen."""


class FindingsSummary(Value):
    """What a judge that names kinds of findings saw in a run."""

    conversations: int
    """Requested, with a reply, and in a language that the judge was checked on."""
    with_finding: int
    """Of these, conversations with at least one named finding."""
    not_judged: Mapping[str, int]
    """Language -> conversations in a language that the judge was not checked on."""
    kinds: tuple[KindSummary, ...]
    """Commonest first; those that people's ratings or blind reading bear out before all others."""
    first: tuple[ReadFirst, ...]
    """The turns to read first, best first; of every three each kind of finding has one at most, if it can."""
    missed: Missed | None = None
    """What the findings miss."""


_FIRST: Final = 60
"""Turns to read first that are kept."""
_KEPT: Final = 4 * _FIRST
"""Turns of which these are taken, so that not all are of one kind."""
_TENTH: Final = 10
OTHER: Final = "other"
"""The language of a row that names none."""
_PLAIN: Final = "No finding: by the fitted model the least satisfying of the turns without one."


def findings_of(
    rows: Table,
    texts: Callable[[Collection[str]], Iterable[Row]],
    *,
    mode: str = "hindsight",
    people: People | None = None,
) -> FindingsSummary | None:
    """Return what a judge whose `details` list findings (`signals`) saw; None where no row lists any.

    Args:
        rows: Of a run; of several repeats the first counts.
        texts: Returns the rows of the conversations of some ids: their words are quoted.
        mode: The judge's, which says which evidence is to the point.
        people: What people rated, which says what is poor; without it shipped figures are cited.
    """
    table = rows.where(repeat=1)
    dialogues, judged = table.dialogues, ~table.failed
    read = dialogues.any(judged)
    # What the last judged row of each dialogue says.
    last = np.full(table.dialogues.size, -1)
    judged_rows = np.flatnonzero(judged)
    np.maximum.at(last, table.dialogues.of[judged_rows], judged_rows)
    languages = Counter(name or OTHER for name in table.language.take(last[last >= 0]).list())
    first = Labels(table.language.codes[dialogues.first], table.language.names).take(~read).list()
    refused = dialogues.any(table.column("failure").mask("unsupported_language"))[~read].tolist()
    unsupported = Counter(name or OTHER for name, no in zip(first, refused, strict=True) if no)
    listed = judged & table.listed & (table.turn >= 0)
    if not listed.any() and not unsupported:
        return None
    entries = table.entries["finding"]
    entries = entries.only(listed[entries.rows])
    language = max(languages, key=lambda name: languages[name], default=OTHER)
    shipped, turns = load_evidence(), entries.tally()
    here = _here(table, listed, entries, people, mode, language)
    order = sorted(Counter(turns).most_common(), key=lambda pair: pair[0] not in shipped.borne_out)
    of_kinds = {kind: entries.of(kind) for kind, _ in order}
    strongest = {kind: int(of.rows[np.argmax(of.numbers)]) for kind, of in of_kinds.items()}
    places = _worth_reading(table, listed, entries)
    words = _Words(table, texts, [*strongest.values(), *(place.row for place in places)])
    kinds = tuple(
        KindSummary(
            kind,
            TITLES.get(kind) or OF_TOOLS.get(kind, kind),
            n,
            int(np.unique(dialogues.of[entries.of(kind).rows]).size),
            shipped.best(kind, mode, language) if here is None else here.get(kind),
            words.example(strongest[kind], kind),
        )
        for kind, n in order
    )
    with_finding = np.zeros(dialogues.size, dtype=np.bool_)
    with_finding[dialogues.of[entries.rows]] = True
    return FindingsSummary(
        int(read.sum()),
        int(with_finding.sum()),
        dict(unsupported),
        kinds,
        tuple(words.place(place.row, place.kind) for place in places),
        _missed(table, with_finding, people, mode, language) if read.any() else None,
    )


class _WorthReading(NamedTuple):
    """A turn that is worth reading."""

    row: int
    kind: str
    """Of the finding that tells the most; empty where there is none."""


def _worth_reading(table: Table, listed: Mask, entries: Entries) -> list[_WorthReading]:
    """Return the turns to read first; of a large log few, of a small one not all."""
    order = table.value("satisfaction")
    faulty = np.zeros(table.n, dtype=np.bool_)
    faulty[entries.rows] = True
    able = np.flatnonzero(listed & ~np.isnan(order) & (faulty | ~table.ordered))
    worth = min(_FIRST, max(int(faulty[able].sum()), -(-able.size // _TENTH)))
    if able.size > _KEPT:
        able = able[order[able] <= np.partition(order[able], _KEPT - 1)[_KEPT - 1]]
    ids = table.column("conversation_id")
    rows = sorted(able.tolist(), key=lambda row: (order[row], ids[row], table.turn[row], row))[:_KEPT]
    weights, best = load_evidence().weights, dict[int, tuple[float, str]]()
    for row, code, strength in zip(*entries.among(rows), strict=True):
        kind = entries.names[code]
        best[row] = max(best.get(row, (0.0, "")), (weights.get(kind, 0.0) + strength / 100, kind))
    # Of every three each kind of finding has one, where there are others. A turn without a finding keeps
    # its place.
    left = [_WorthReading(row, best.get(row, (0.0, ""))[1]) for row in rows]
    chosen: list[_WorthReading] = []
    counts: Counter[str] = Counter()
    while left and len(chosen) < worth:
        fits = (i for i, place in enumerate(left) if place.kind and counts[place.kind] <= len(chosen) // 3)
        place = left.pop(next(fits, 0) if left[0].kind else 0)
        counts[place.kind] += 1
        chosen.append(place)
    return chosen


class _Words:
    """What some rows say, in words, which the table does not hold."""

    def __init__(
        self, table: Table, texts: Callable[[Collection[str]], Iterable[Row]], rows: Sequence[int]
    ) -> None:
        ids, candidates = table.column("conversation_id"), table.column("candidate")
        self._keys = {row: (ids[row], candidates[row], int(table.turn[row])) for row in rows}
        wanted = set(self._keys.values())
        self._rows = {
            key: row
            for row in (texts({str(key[0]) for key in wanted}) if wanted else ())
            if row["repeat"] == 1
            and (key := (row["conversation_id"], row["candidate"], row["turn"])) in wanted
        }

    def example(self, row: int, kind: str) -> FindingExample:
        """Return the finding of a kind in a row."""
        stored = self._rows[self._keys[row]]
        quotes = {e.get("signal"): e["quote"] for e in reversed(stored["evidence"])}
        finding = max((f for f in stored["details"]["signals"] if f["name"] == kind), key=_strength)
        return FindingExample(
            stored["conversation_id"], stored["turn"], quotes.get(kind, ""), finding["note"]
        )

    def place(self, row: int, kind: str) -> ReadFirst:
        """Return a turn to read, and why."""
        stored = self._rows[self._keys[row]]
        mine = [(_strength(f), f["note"]) for f in stored["details"]["signals"] if f["name"] == kind]
        return ReadFirst(stored["conversation_id"], stored["turn"], max(mine)[1] if mine else _PLAIN)


def _strength(finding: Mapping[str, Any]) -> float:
    return float(finding["strength"])


def _here(
    table: Table, listed: Mask, entries: Entries, people: People | None, mode: str, language: str
) -> dict[str, KindEvidence] | None:
    """Return by kind how many turns with it the ratings of this data call poor; None without any."""
    figure = None if people is None else people.main("turn")
    if figure is None:
        return None
    rated = table.entries["rating"].of(figure.dimension)
    rated = rated.only(listed[rated.rows] & ~np.isnan(rated.numbers))
    poor = parse_rule(figure.cut).classes(rated.numbers)
    users, ids = table.column("user_id").codes, table.column("conversation_id").codes
    whose = np.where(users >= 0, users, users.max(initial=-1) + 1 + ids)[rated.rows]
    names, codes = np.unique(whose, return_inverse=True)
    weights = weights_of(table, rated.rows)
    base = np.bincount(codes, weights * poor, names.size), np.bincount(codes, weights, names.size)
    out = {}
    for kind in entries.names:
        has = np.isin(rated.rows, entries.of(kind).rows)
        if has.sum() < TELLING or not poor.any():
            continue
        fires = has * weights
        hits, seen = np.bincount(codes, fires * poor, names.size), np.bincount(codes, fires, names.size)
        shares = divided(hits.sum() - hits, seen.sum() - seen)
        moved = divided(shares, divided(base[0].sum() - base[0], base[1].sum() - base[1]))
        share, usual = float(hits.sum() / seen.sum()), float(base[0].sum() / base[1].sum())
        basis = Basis(int(has.sum()), names.size, "users")
        lift = basis.estimate(share / usual, moved, (0.0, 1 / usual), support=int((seen > 0).sum()))
        out[kind] = KindEvidence(HERE, mode, language, int(has.sum()), share, usual, lift)
    return out


def _missed(
    table: Table, with_finding: Mask, people: People | None, mode: str, language: str
) -> Missed | None:
    """Return how many poor conversations have no finding; without ratings the shipped figures."""
    for figure in people.figures if people is not None else ():
        rated, kind = said_of(table), (figure.level, figure.dimension)
        mine = rated.kind == (rated.kinds.index(kind) if kind in rated.kinds else -2)
        mine &= table.dialogues.any(~table.failed)
        if figure.cut and mine.any():
            poor = mine & (parse_rule(figure.cut).classes(rated.lowest) > 0)
            weights, without = dialogue_weights(table, mine), poor & ~with_finding
            share = float(weights[without].sum() / weights[poor].sum()) if poor.any() else 0.0
            return Missed("conversations", int(poor.sum()), int(without.sum()), HERE, share)
    shipped = [m for m in load_evidence().missed if m.mode == mode and not m.chosen_on]
    best = max(shipped, key=lambda m: (m.language == language, m.poor), default=None)
    if best is None:
        return None
    return Missed(best.what, best.poor, best.without, best.source, best.without / best.poor)
