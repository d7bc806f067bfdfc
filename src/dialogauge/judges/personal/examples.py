"""The contexts of `few-shot` and `rag`: rated replies of others, and the same user's most like the target."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from dialogauge.core import digest, whole_score
from dialogauge.core.protocols import BlockView, Notes, Population, RatedReply, Reads, Reply
from dialogauge.judges.personal.baselines import Strategy, likeness, retrieve
from dialogauge.judges.personal.judge import PromptContext
from dialogauge.judges.rubric.prompt import rated_line
from dialogauge.rubrics import phrase

_SEED: Final = 42
_SCORES: Final = (1, 2, 3, 4, 5)
_REQUEST: Final = 400
_REPLY: Final = 1200
"""Characters of a text that are shown; the middle of a longer one is cut."""


def draw_examples(population: Population, n: int = 10) -> tuple[RatedReply, ...]:
    """Draw n rated turns, as many of each score as there are alike; fewer where a score is rare."""
    rng = random.Random(_SEED)
    pools: dict[int, list[RatedReply]] = {score: [] for score in _SCORES}
    for block in population.blocks:
        for rated in block.ratings:
            pools[whole_score(rated.score)].append(rated)
    drawn: list[RatedReply] = []
    for score in _SCORES:
        rng.shuffle(pools[score])
        drawn += pools[score][: -(-n // len(_SCORES))]
    rng.shuffle(drawn)
    return tuple(drawn[:n])


@dataclass
class FewShotContext:
    """Fills `rated_examples`; implements `judges.personal.judge.ContextSource`."""

    reads: ClassVar[frozenset[Reads]] = frozenset({"others"})

    n: int = 10
    _latest: tuple[Population, str, str] | None = None
    """The population of the latest target, the examples from it, and their digest."""

    def describe(self) -> Mapping[str, Any]:
        """Return the number and the draw."""
        return {"examples": self.n, "seed": _SEED, "cut": [_REQUEST, _REPLY]}

    async def context_for(
        self, reply: Reply, view: BlockView, others: Population, notes: Notes, language: str
    ) -> PromptContext:
        """Return the examples, one JSON object a line."""
        del view, reply, notes
        if self._latest is None or self._latest[0] is not others:
            text = "\n".join(
                rated_line(rated, request_chars=_REQUEST, reply_chars=_REPLY)
                for rated in draw_examples(others, self.n)
            )
            self._latest = others, text, digest(text)
        _, text, name = self._latest
        return PromptContext({"rated_examples": text or phrase(language, "none")}, {"examples": name})


_Retrieved = tuple[tuple[RatedReply, float], ...]
"""Rated replies, each with its cosine, the most similar first."""


@dataclass(frozen=True)
class RetrievedExamples:
    """Retrieves rated replies of the user's other scenarios, as the judge `episodic-nearest` does."""

    reads: ClassVar[frozenset[Reads]] = frozenset({"history"})

    strategy: Strategy = "topk"
    k: int = 4
    request_chars: int = 300
    reply_chars: int = 800
    """Longer texts are cut in the middle."""
    _blocks: dict[str, Mapping[tuple[str, str], _Retrieved]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def describe(self) -> Mapping[str, Any]:
        """Return the settings."""
        return {
            "retrieved": "episodic",
            "strategy": self.strategy,
            "k": self.k,
            "request_chars": self.request_chars,
            "reply_chars": self.reply_chars,
        }

    async def context_for(
        self, reply: Reply, view: BlockView, others: Population, notes: Notes, language: str
    ) -> PromptContext:
        """Return the examples of one target, the most similar first; none of a user without a history."""
        del others, notes
        if not view.history:
            return PromptContext({"rated_examples": phrase(language, "none")}, {"sources": []})
        if _key(reply) not in self._blocks.get(view.id, {}):
            self._blocks[view.id] = self._retrieved(view)
        examples = self._blocks[view.id][_key(reply)]
        text = "\n".join(
            rated_line(rated, request_chars=self.request_chars, reply_chars=self.reply_chars)
            for rated, _ in examples
        )
        sources = [{"turn_id": rated.reply.id, "cosine": round(cosine, 6)} for rated, cosine in examples]
        return PromptContext({"rated_examples": text}, {"sources": sources})

    def _retrieved(self, view: BlockView) -> dict[tuple[str, str], _Retrieved]:
        """Retrieve for all targets of a block at once: the index is made for the block, and not kept."""
        out: dict[tuple[str, str], _Retrieved] = {}
        for target, cosines in zip(view.targets, likeness(view), strict=True):
            chosen = retrieve(view, cosines, self.strategy, self.k)
            ordered = sorted(chosen, key=lambda i: -cosines[i])
            out[_key(target)] = tuple((view.history[i], float(cosines[i])) for i in ordered)
        return out


def _key(reply: Reply) -> tuple[str, str]:
    # Several candidates may answer in one state, and each is judged by what is like its own reply.
    return reply.id, reply.text
