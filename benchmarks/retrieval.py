"""Retrieval: how fast the indexes are, and what they find of LoCoMo's evidence.

    python -m benchmarks retrieval             # times, on made-up text
    python -m benchmarks.retrieval left-out    # weights of three of conversations 1-4 on the fourth
    python -m benchmarks.retrieval fit         # weights of all four, into retrieval/ranked.json
    python -m benchmarks.retrieval recall      # those weights on conversations 5-7

The last three read data/membench below the folder that DIALOGAUGE_SHARED names. With the folder of a
sentence-transformers model behind them they embed messages and questions too.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.process import ROOT, in_process
from benchmarks.tables import table
from dialogauge.retrieval import (
    EARLY,
    EMBEDDED,
    FEATURES,
    LexicalIndex,
    RankedIndex,
    VectorIndex,
)

SHARED = os.environ.get("DIALOGAUGE_SHARED")
FITTED, MEASURED = (0, 4), (4, 7)
"""Conversations of LoCoMo in the order of the file: from, to."""
_WEIGHTS = ROOT / "src/dialogauge/retrieval/ranked.json"
_RIDGE = 30.0
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


def ranked(messages: Sequence[Message], model: str | None = None) -> RankedIndex:
    index = RankedIndex()
    for m in messages:
        index.add(m.id, m.text, speaker=m.speaker, group=m.session, header=m.date)
    if model is not None:
        for m, vector in zip(
            messages, embedded(model, [f"{m.speaker}: {m.text}" for m in messages]), strict=True
        ):
            index.embed(m.id, vector)
    return index


_VECTORS: dict[str, Floats] = {}


def embedded(model: str, texts: Sequence[str]) -> list[Floats]:
    """Return the mean of the last layer for each text, by a model in a folder; of at most 128 tokens."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    new = sorted({text for text in texts if text not in _VECTORS}, key=len)
    tokenizer, encoder = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()
    for start in range(0, len(new), 64):
        batch = new[start : start + 64]
        tokens = tokenizer(batch, padding=True, truncation=True, max_length=128, return_tensors="pt")
        with torch.no_grad():
            states = encoder(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        means = (states * mask).sum(1) / mask.sum(1)
        _VECTORS.update(zip(batch, means.double().numpy(), strict=True))
    return [_VECTORS[text] for text in texts]


Recalls = dict[str, list[tuple[str, float]]]
"""By method: the category of each question, and the share of its evidence among the first five."""


def recalls(talks: Sequence[Talk], model: str | None = None) -> Recalls:
    """Search for each question in its own conversation, with the weights that ship."""
    out: Recalls = defaultdict(list)
    for talk in talks:
        messages, sessions, own = (make(talk.messages) for make in (by_message, by_session, ranked))
        if model is not None:
            vectors = dict(
                zip(texts := [q.text for q in talk.questions], embedded(model, texts), strict=True)
            )
            both = ranked(talk.messages, model)
        searches: dict[str, Callable[[str, int], list[tuple[str, float]]]] = {
            "bm25 message": messages.search,
            "bm25 session": sessions.search,
            "ranked message": own.search,
            "ranked session": own.search_groups,
        }
        if model is not None:
            searches["embedded message"] = lambda q, k, v=vectors, i=both: i.search(q, k, v[q])
            searches["embedded session"] = lambda q, k, v=vectors, i=both: i.search_groups(q, k, v[q])
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
    sessions: Sequence[str]
    """Of the messages."""
    question: Question

    def recall(self, weights: Floats) -> float:
        top = np.argsort(-(weights @ self.features), kind="stable")[:5]
        return float(self.gold[top].sum() / len(self.question.evidence))

    def session_recall(self, weights: Floats) -> float:
        order = np.argsort(-(weights @ self.features), kind="stable")
        top = list(dict.fromkeys(self.sessions[n] for n in order))[:5]
        return len(self.question.sessions.intersection(top)) / len(self.question.sessions)


def choices(talk: Talk, model: str | None = None) -> list[Choice]:
    index, out = ranked(talk.messages, model), []
    texts = [question.text for question in talk.questions]
    vectors = [None] * len(texts) if model is None else embedded(model, texts)
    for question, vector in zip(talk.questions, vectors, strict=True):
        numbers, features = index.features(question.text, len(index), vector)
        messages = [talk.messages[number] for number in numbers]
        gold = np.array([float(m.id in question.evidence) for m in messages])
        out.append(Choice(features, gold, [m.session for m in messages], question))
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


def fit(talks: Sequence[Talk], names: Sequence[str] = FEATURES, model: str | None = None) -> dict[str, float]:
    """Return the weights of some features, of which the first of `FEATURES` may stand alone."""
    rows = [choice for talk in talks for choice in choices(talk, model)]
    weights = fitted([replace(row, features=row.features[: len(names)]) for row in rows])
    return dict(zip(names, weights.round(4).tolist(), strict=True))


def write(talks: Sequence[Talk], model: str | None) -> None:
    """Without a model the weights with embeddings stay."""
    weights = {
        **json.loads(_WEIGHTS.read_text(encoding="utf-8")),
        "early": fit(talks, EARLY),
        "all": fit(talks),
    }
    if model is not None:
        weights["embedded"] = fit(talks, EMBEDDED, model)
    lines = (f'"{name}": {json.dumps(of)}' for name, of in weights.items())
    _WEIGHTS.write_text("{" + ",\n ".join(lines) + "}\n", encoding="utf-8")


def left_out(talks: Sequence[Talk], model: str | None = None) -> Iterator[tuple[str, int, float, float]]:
    """Give for each conversation its questions, and the recall by weights of the others.

    Of messages, and of sessions by their best message.
    """
    names = FEATURES if model is None else EMBEDDED
    for talk in talks:
        by_name = fit([other for other in talks if other is not talk], names, model)
        weights = np.array([by_name[name] for name in names])
        rows = choices(talk, model)
        yield (
            talk.id,
            len(rows),
            statistics.fmean(choice.recall(weights) for choice in rows),
            statistics.fmean(choice.session_recall(weights) for choice in rows),
        )


_FUNCTION_WORDS = "the a and to of in is it that you for on with was i my so we have be this are".split()  # noqa: SIM905 - quotes would hide the words


class Writer:
    """Makes up messages whose words are spread as in LoCoMo: 22 words each, every second a function word.

    The others follow Zipf's law over 30,000 words; a tenth of the messages ask. Sessions have 21 messages
    and two speakers of 400.
    """

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._vocabulary = np.array([self._word(rank) for rank in range(30_000)])
        weights = 1 / np.arange(10, 30_010)
        self._weights = np.cumsum(weights / weights.sum())
        self._number = 0

    @staticmethod
    def _word(rank: int) -> str:
        """Spell a number in syllables, frequent words shorter; no two are alike."""
        syllables, number = "", rank + 20
        while number:
            number, digit = divmod(number, 60)
            syllables += "bdfgklmnprtv"[digit // 5] + "aeiou"[digit % 5]
        return syllables

    def text(self, words: int) -> str:
        picked = self._vocabulary[np.searchsorted(self._weights, self._rng.random(words))]
        plain = self._rng.choice(_FUNCTION_WORDS, words)
        kinds = self._rng.random(words) < 0.5
        return " ".join(np.where(kinds, picked, plain))

    def message(self) -> tuple[str, str, str, str, str]:
        """Return the arguments of `RankedIndex.add`."""
        session, place = divmod(self._number, 21)
        self._number += 1
        end = "?" if self._rng.random() < 0.1 else "."
        text = self.text(max(3, int(self._rng.normal(22, 9)))) + end
        speaker = f"Zo{self._word(500 + 2 * (session % 200) + place % 2)}"
        return f"m{self._number}", text, speaker, f"s{session}", f"{1 + session % 28} May, 2023"

    def question(self) -> str:
        speaker = f"Zo{self._word(500 + int(self._rng.integers(400)))}"
        return f"What did {speaker} say of {self.text(9)}?"


def _milliseconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return (time.perf_counter() - began) * 1e3


def lexical_of(message: tuple[str, str, str, str, str]) -> tuple[str, str]:
    id, text, speaker, _, header = message
    return id, f"{header} {speaker}: {text}"


def measure(size: int) -> dict[str, Any]:
    """Fill the indexes with so many messages; return milliseconds, medians of 50 (of copies 5)."""
    writer = Writer()
    words, ranker = LexicalIndex(), RankedIndex()
    for message in (writer.message() for _ in range(size)):
        words.add(*lexical_of(message))
        ranker.add(*message)
    out: dict[str, list[float]] = defaultdict(list)
    for _ in range(50):
        dialogue, question = [writer.message() for _ in range(12)], writer.question()
        plain = [lexical_of(message) for message in dialogue]
        out["add 12"].append(_milliseconds(lambda plain=plain: [words.add(*m) for m in plain]))
        out["add 12, ranked"].append(_milliseconds(lambda rows=dialogue: [ranker.add(*m) for m in rows]))
        out["search"].append(_milliseconds(lambda q=question: words.search(q, 5)))
        out["search, ranked"].append(_milliseconds(lambda q=question: ranker.search(q, 5)))
    for _ in range(5):
        out["copy"].append(_milliseconds(words.copy))
        out["copy, ranked"].append(_milliseconds(ranker.copy))
    return {"messages": size, **{name: statistics.median(values) for name, values in out.items()}}


def measure_vectors(size: int) -> dict[str, Any]:
    """The same of vectors of 384 numbers."""
    rng, index = np.random.default_rng(0), VectorIndex(384)
    for number in range(size):
        index.add(f"m{number}", rng.normal(size=384))
    queries = rng.normal(size=(20, 384))
    times = [_milliseconds(lambda q=query: index.search(q, 5)) for query in queries]
    return {"vectors": size, "search": statistics.median(times)}


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures, medians of so many processes."""
    out: dict[str, Any] = {}
    for size in (20_000,) if quick else (20_000, 100_000):
        runs = [in_process("benchmarks.retrieval", size) for _ in range(times)]
        out[str(size)] = {name: statistics.median(figures[name] for figures in runs) for name in runs[0]}
        out[str(size)]["vectors"] = measure_vectors(size)["search"]
    head = list(next(iter(out.values())))
    title = f"Retrieval over made-up messages, milliseconds, medians of {times}"
    print(table(title, head, [tuple(figures.values()) for figures in out.values()]))
    return out


def main(word: str, model: str | None = None) -> None:
    if word == "fit":
        write(locomo(*FITTED), model)
    elif word == "left-out":
        rows = list(left_out(locomo(*FITTED), model))
        questions = [row[1] for row in rows]
        means = (float(np.average([row[i] for row in rows], weights=questions)) for i in (2, 3))
        rows.append(("all", sum(questions), *means))
        lines = [(id, n, f"{message:.3f}", f"{session:.3f}") for id, n, message, session in rows]
        print(table("Recall@5, left out", ("conversation", "questions", "message", "session"), lines))
    else:
        of = recalls(locomo(*MEASURED), model)
        categories = sorted({category for category, _ in next(iter(of.values()))})
        rows = [(name, *by_category(values, categories)) for name, values in of.items()]
        print(table("Recall@5 on conversations 5-7", ("method", "all", *categories), rows))


def by_category(values: Sequence[tuple[str, float]], categories: Sequence[str]) -> list[str]:
    """Return the mean, then that of each category, with three digits."""
    parts = [[v for _, v in values], *([v for c, v in values if c == name] for name in categories)]
    return [f"{statistics.fmean(part):.3f}" for part in parts]


if __name__ == "__main__":
    main(*sys.argv[1:])
