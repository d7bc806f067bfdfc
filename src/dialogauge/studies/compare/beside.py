"""Pairs that turned, both replies side by side, from the turn at which the two part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import zip_longest
from typing import Final

from dialogauge.core import Conversation
from dialogauge.report import (
    Block,
    Callout,
    Cards,
    Fold,
    Prose,
    Section,
    Transcript,
    TranscriptTurn,
    words,
)
from dialogauge.runs import StoredRun
from dialogauge.studies.compare.comparison import RunComparison, Turned, TurnedBy
from dialogauge.studies.compare.page import pair_words
from dialogauge.studies.judging.report import stored_findings
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.transcripts import writer_of
from dialogauge.text import counted

_TURNS: Final = 3
_ROOM: Final = 250_000
"""Characters of the pairs on each side."""
_TITLES: Final[dict[TurnedBy, tuple[str, str]]] = {
    "verdict": ("Became worse", "Became better"),
    "findings": ("With new findings", "Without findings that were there before"),
    "scores": ("Scored lower", "Scored higher"),
}


def pairs_beside(
    a: StoredRun,
    b: StoredRun,
    result: RunComparison,
    most: int,
    turns: int = _TURNS,
    *,
    only: tuple[str | None, str | None] = (None, None),
) -> list[Section]:
    """Return pairs that turned down, and those that turned up, the clearest first, as far as there is room.

    Args:
        a: The first run, open.
        b: The second.
        result: What was compared.
        most: So many pairs of each at most.
        turns: So many of each side, from where the two part.
        only: The candidate that was compared on each side; None for all.
    """
    chosen = list(zip(_TITLES[result.turned_by], (result.down, result.up), strict=True))
    shown_a = _transcripts(a, {t.a for _, turned in chosen for t in turned[:most]}, only[0])
    shown_b = _transcripts(b, {t.b for _, turned in chosen for t in turned[:most]}, only[1])
    scored = [d.name for d in result.tested]
    out = []
    for title, turned in chosen:
        room, folds = _ROOM, list[Fold]()
        for t in turned[:most]:
            if t.a in shown_a and t.b in shown_b:
                fold, size = _fold(t, shown_a[t.a], shown_b[t.b], turns, scored)
                room -= size
                if folds and room < 0:
                    break
                folds.append(fold)
        if folds:
            lead = f"The {len(folds):,} clearest, of {len(turned):,}." if len(folds) < len(turned) else ""
            out.append(Section(title, tuple(folds), lead, short=title))
    return out


_Shown = tuple[Conversation, Transcript]


def _fold(turned: Turned, a: _Shown, b: _Shown, turns: int, scored: Sequence[str]) -> tuple[Fold, int]:
    """Return a pair side by side, from where the two part, and how many characters its turns have."""
    same = parting(a[0], b[0])
    # What the conversation is about, of both where they differ; then the means that do.
    first: list[Prose] = list(dict.fromkeys(t.context for _, t in (a, b) if t.context))
    moved = ", ".join(
        f"{words.name(name)} {words.score(before)} to {words.score(after)}"
        for name, (before, after) in turned.means.items()
        if name in scored and before != after
    )
    first += [moved] if moved else []
    if same:
        first.append(f"The first {'turn is' if same == 1 else f'{same:,} turns are'} the same in both.")
    later_a, later_b = ([t for t in one.turns if (t.number or 0) > same] for _, one in (a, b))
    rows = list(zip_longest(later_a[:turns], later_b[:turns]))
    left = max(len(later_a), len(later_b)) - len(rows)
    blocks: list[Block] = [Callout(tuple(first))] if first else []
    blocks += [Cards((_card("A", a[1], x), _card("B", b[1], y)), wide=True) for x, y in rows]
    blocks += [Callout((f"{counted(left, 'later turn')} not shown.",))] if left else []
    size = sum(len(m.text) for c, _ in (a, b) for t in c.turns[same : same + turns] for m in t.messages)
    return Fold(pair_words(turned), tuple(blocks)), size


def _card(name: str, whole: Transcript, turn: TranscriptTurn | None) -> Transcript:
    """Return one turn of a conversation as a card of its own; one that has ended before says so."""
    facts = () if whole.verdict is None else (whole.verdict.text,)
    if turn is None:
        return Transcript(name, (), facts=facts, failure=whole.failure, note="It has ended.", folded=False)
    return Transcript(
        f"{name}, turn {turn.number}", (turn,), facts=facts, failure=whole.failure, folded=False
    )


def parting(a: Conversation, b: Conversation) -> int:
    """Return how many turns at the beginning are the same in both, message by message."""
    same = 0
    for x, y in zip(a.turns, b.turns, strict=False):
        if (x.user_text, x.reply_text) != (y.user_text, y.reply_text):
            break
        same += 1
    return same


def _transcripts(run: StoredRun, ids: Set[str], only: str | None) -> Mapping[str, _Shown]:
    sampler = Sampler(run.dimensions)
    rows = (row for row in run.rows_of(ids) if only in (None, row["candidate"]))
    for _ in sampler.through(rows):
        pass
    cases = {case.conversation_id: case for case in reversed(sampler.result().listed)}
    verdicts = run.directory.read_json("summary").get("verdicts") is not None
    keys = [case.key for case in cases.values()]
    writer = writer_of(run, keys, run.dimensions, stored_findings(run), verdicts=verdicts)
    return {
        id: (text, writer.transcript(case))
        for id, case in cases.items()
        if (text := writer.conversations.get(case.key)) is not None
    }
