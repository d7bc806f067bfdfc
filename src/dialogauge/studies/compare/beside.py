"""Pairs that turned, both replies side by side, from the turn at which the two part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from dialogauge.core import Conversation
from dialogauge.report import Fold, Section, Transcript
from dialogauge.runs import StoredRun
from dialogauge.studies.compare.comparison import RunComparison, Turned
from dialogauge.studies.compare.page import beside, pair_words
from dialogauge.studies.judging.report import stored_findings
from dialogauge.studies.judging.sampling import Sampler
from dialogauge.studies.judging.transcripts import writer_of

_TURNS: Final = 3


def pairs_beside(
    a: StoredRun, b: StoredRun, result: RunComparison, most: int, turns: int = _TURNS
) -> list[Section]:
    """Return the pairs that became worse, and those that became better.

    Args:
        a: The first run, open.
        b: The second.
        result: What was compared.
        most: So many pairs of each at most.
        turns: So many of each side, from where the two part.
    """
    chosen = [("Became worse", result.worse[:most]), ("Became better", result.better[:most])]
    shown_a = _transcripts(a, [t.a.id for _, turned in chosen for t in turned])
    shown_b = _transcripts(b, [t.b.id for _, turned in chosen for t in turned])
    out = []
    for title, turned in chosen:
        folds = [
            _fold(t, shown_a[t.a.id], shown_b[t.b.id], turns)
            for t in turned
            if t.a.id in shown_a and t.b.id in shown_b
        ]
        if folds:
            out.append(Section(title, tuple(folds), short=title))
    return out


_Shown = tuple[Conversation, Transcript]


def _fold(turned: Turned, a: _Shown, b: _Shown, turns: int) -> Fold:
    same = parting(a[0], b[0])
    cut_a, cut_b = (_from(one[1], same, name, turns) for one, name in ((a, "A"), (b, "B")))
    return beside(pair_words(turned), cut_a, cut_b, same)


def parting(a: Conversation, b: Conversation) -> int:
    """Return how many turns at the beginning are the same in both, message by message."""
    same = 0
    for x, y in zip(a.turns, b.turns, strict=False):
        if (x.user_text, x.reply_text) != (y.user_text, y.reply_text):
            break
        same += 1
    return same


def _from(transcript: Transcript, same: int, name: str, turns: int) -> Transcript:
    later = [t for t in transcript.turns if t.number is not None and t.number > same]
    shown = tuple(later[:turns])
    return replace(
        transcript,
        title=f"{name}: {transcript.title}",
        anchor="",
        turns=shown,
        turns_left_out=len(later) - len(shown),
        folded=False,
    )


def _transcripts(run: StoredRun, ids: Sequence[str]) -> Mapping[str, _Shown]:
    wanted = set(ids)
    sampler = Sampler(run.dimensions)
    for _ in sampler.through(run.rows_of(wanted)):
        pass
    cases = {case.conversation_id: case for case in reversed(sampler.result().shown)}
    verdicts = run.directory.read_json("summary").get("verdicts") is not None
    keys = [case.key for case in cases.values()]
    writer = writer_of(run, keys, run.dimensions, stored_findings(run), verdicts=verdicts)
    return {
        id: (text, writer.transcript(case))
        for id, case in cases.items()
        if (text := writer.conversations.get(case.key)) is not None
    }
