"""Retrieval: how fast the indexes are, and what they find of LoCoMo's evidence.

`python -m benchmarks retrieval` measures times on made-up text. `python -m benchmarks.retrieval left-out` says
what weights find on conversations 1-4, each left out in turn; `fit` writes the weights of all four; `recall`
measures those that ship on conversations 5-7. The last three need DIALOGAUGE_SHARED.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.process import ROOT
from benchmarks.tables import table
from dialogauge.retrieval import (
    FEATURES,
    GROUP_FEATURES,
    LexicalIndex,
    RankedIndex,
    RankedWeights,
    VectorIndex,
    linear,
    load_weights,
)

SHARED = os.environ.get("DIALOGAUGE_SHARED")
FITTED, MEASURED = (0, 4), (4, 7)
"""Conversations of LoCoMo in the order of the file: from, to."""
_WEIGHTS = ROOT / "src/dialogauge/retrieval/ranked.json"
_RIDGE = 3.0
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Message:
    id: str
    session: str
    date: str
    speaker: str
    text: str
    """With the caption of an image."""


@dataclass(frozen=True)
class Question:
    text: str
    category: str
    evidence: frozenset[str]

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(id.partition(":")[0] for id in self.evidence)


@dataclass(frozen=True)
class Talk:
    id: str
    messages: Sequence[Message]
    questions: Sequence[Question]


def locomo(first: int, last: int) -> list[Talk]:
    """Read some conversations with those of their questions that have evidence."""
    folder = Path(SHARED or "") / "data" / "membench"
    questions = defaultdict(list)
    for line in (folder / "locomo_qa.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["v"]["evidence"]:
            question = Question(row["q"], row["v"]["category_name"], frozenset(row["v"]["evidence"]))
            questions[row["c"]].append(question)
    talks = []
    for line in (folder / "locomo_corpus.jsonl").read_text(encoding="utf-8").splitlines()[first:last]:
        corpus = json.loads(line)
        messages = [
            Message(
                message["id"],
                f"D{session['session']}",
                session["date_time"],
                message["speaker"],
                " ".join(filter(None, (message["text"], message.get("image_caption")))),
            )
            for session in corpus["sessions"]
            for message in session["messages"]
        ]
        talks.append(Talk(corpus["corpus_id"], messages, questions[corpus["corpus_id"]]))
    return talks


def by_message(messages: Sequence[Message]) -> LexicalIndex:
    index = LexicalIndex()
    for m in messages:
        index.add(m.id, f"{m.date} {m.speaker}: {m.text}")
    return index


def by_session(messages: Sequence[Message]) -> LexicalIndex:
    texts: dict[str, list[str]] = defaultdict(list)
    for m in messages:
        texts[m.session].append(f"{m.date} {m.speaker}: {m.text}")
    index = LexicalIndex()
    for session, lines in texts.items():
        index.add(session, "\n".join(lines))
    return index


def ranked(messages: Sequence[Message]) -> RankedIndex:
    index = RankedIndex()
    for m in messages:
        index.add(m.id, m.text, speaker=m.speaker, group=m.session, header=m.date)
    return index


Recalls = dict[str, list[tuple[str, float]]]
"""By method: the category of each question, and the share of its evidence among the first five."""


def recalls(talks: Sequence[Talk]) -> Recalls:
    """Search for each question in its own conversation, with the weights that ship."""
    out: Recalls = defaultdict(list)
    for talk in talks:
        messages, sessions, own = (make(talk.messages) for make in (by_message, by_session, ranked))
        searches: dict[str, Callable[[str, int], list[tuple[str, float]]]] = {
            "bm25 message": messages.search,
            "bm25 session": sessions.search,
            "ranked message": own.search,
            "ranked session": own.search_groups,
        }
        for question in talk.questions:
            for name, search in searches.items():
                gold = question.sessions if name.endswith("session") else question.evidence
                top = {id for id, _ in search(question.text, 5)}
                out[name].append((question.category, len(top & gold) / len(gold)))
    return out


@dataclass(frozen=True)
class Choice:
    """What a question may be answered from, and which of it is evidence."""

    features: Floats
    """Shape (features, n)."""
    gold: Floats
    """Shape (n,); 1 where it is evidence."""
    of: int
    """All evidence, also what no search can return."""

    def recall(self, weights: Floats) -> float:
        top = np.argsort(-(weights @ self.features), kind="stable")[:5]
        return float(self.gold[top].sum() / self.of)


def choices(talk: Talk) -> list[Choice]:
    index, ids, out = ranked(talk.messages), [m.id for m in talk.messages], []
    for question in talk.questions:
        numbers, features = index.features(question.text)
        gold = np.array([float(ids[n] in question.evidence) for n in numbers])
        out.append(Choice(features, gold, len(question.evidence)))
    return out


def group_choices(talk: Talk, weights: Mapping[str, float]) -> list[Choice]:
    index, out = ranked(talk.messages), []
    sessions = list(dict.fromkeys(m.session for m in talk.messages))
    for question in talk.questions:
        codes, features = index.group_features(question.text, weights)
        gold = np.array([float(sessions[code] in question.sessions) for code in codes])
        out.append(Choice(features, gold, len(question.sessions)))
    return out


def fitted(questions: Sequence[Choice]) -> Floats:
    """Return the weights that make evidence likely: softmax over the choices, ridge on scaled weights.

    Newton's method with halved steps; the loss is convex.
    """
    rows = [choice for choice in questions if choice.gold.any()]
    scale = np.concatenate([choice.features for choice in rows], axis=1).std(axis=1) + 1e-12
    scaled = [choice.features / scale[:, None] for choice in rows]
    targets = [choice.gold / choice.gold.sum() for choice in rows]

    def loss(weights: Floats) -> tuple[float, list[Floats]]:
        total, shares = _RIDGE / 2 * float(weights @ weights), []
        for x, gold in zip(scaled, targets, strict=True):
            scores = weights @ x
            powers = np.exp(scores - scores.max())
            total -= float(gold @ scores) - float(scores.max()) - float(np.log(powers.sum()))
            shares.append(powers / powers.sum())
        return total, shares

    weights = np.zeros(len(scale))
    value, shares = loss(weights)
    for _ in range(50):
        gradient, curvature = -_RIDGE * weights, _RIDGE * np.eye(len(scale))
        for x, gold, share in zip(scaled, targets, shares, strict=True):
            mean = x @ share
            gradient += x @ gold - mean
            curvature += (x * share) @ x.T - np.outer(mean, mean)
        step = np.linalg.solve(curvature, gradient)
        before = value
        while True:
            value, shares = loss(weights + step)
            if value <= before or np.abs(step).max() < 1e-9:
                break
            step /= 2
        weights = weights + step
        if before - value < 1e-9 * len(rows):
            break
    return weights / scale


def fit(talks: Sequence[Talk]) -> RankedWeights:
    """Fit messages first, then groups, whose best message has a score by the weights of messages."""
    message = dict(zip(FEATURES, fitted([c for talk in talks for c in choices(talk)]).tolist(), strict=True))
    groups = fitted([c for talk in talks for c in group_choices(talk, message)])
    group = dict(zip(GROUP_FEATURES, groups.tolist(), strict=True))
    return RankedWeights(message, group, "LoCoMo " + ", ".join(talk.id for talk in talks))


def left_out(talks: Sequence[Talk]) -> Iterator[tuple[str, float, float]]:
    """Give for each conversation the recall of messages and sessions by weights of the others."""
    for talk in talks:
        weights = fit([other for other in talks if other is not talk])
        message = np.array([weights.message[name] for name in FEATURES])
        group = np.array([weights.group[name] for name in GROUP_FEATURES])
        yield (
            talk.id,
            statistics.fmean(c.recall(message) for c in choices(talk)),
            statistics.fmean(c.recall(group) for c in group_choices(talk, weights.message)),
        )
