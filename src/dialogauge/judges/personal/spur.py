"""The first two phases of SPUR (Lin et al., 2024): name what single replies were rated for, then merge.

Phase 1 asks of each drawn reply why its user rated it so, and takes up to three criteria from it. Phase 2
merges the criteria of each side, in chunks and then into ten. Phase 3 judges by them, turn by turn: that is
the rubric `spur`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final, Literal

from dialogauge.core import JudgeFailure, StoreError, Usage, conversation_digest, digest
from dialogauge.core.protocols import BlockView, Notes, Population, RatedReply, Reads, Reply
from dialogauge.core.shape import read_as
from dialogauge.judges.personal.judge import PromptContext
from dialogauge.judges.rubric.prompt import ROLE, as_json, dialogue_text, gathered, messages_of, reasker
from dialogauge.judges.rubric.reply import ReplyFault
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest, ReplySchema
from dialogauge.llm.structured import ask
from dialogauge.rubrics import closed_object, own_template, phrase, split_template

Side = Literal["satisfied", "dissatisfied"]

SIDES: Final[tuple[Side, ...]] = ("satisfied", "dissatisfied")
BOUNDARY: Final = 4
"""The lowest score of a satisfied user."""


def draw_examples(
    population: Population, *, most: int = 150, seed: int = 42
) -> Mapping[Side, tuple[RatedReply, ...]]:
    """Draw up to `most` rated replies of each side, without replacement.

    The draw of the published code: one generator, the satisfied ones first, rows in the order of the blocks.
    """
    rows = [rated for block in population.blocks for rated in block.ratings]
    generator = random.Random(seed)
    sides = {
        "satisfied": [r for r in rows if r.score >= BOUNDARY],
        "dissatisfied": [r for r in rows if r.score < BOUNDARY],
    }
    return {side: tuple(generator.sample(sides[side], min(most, len(sides[side])))) for side in SIDES}


FIND: Final = "spur_find"
MERGE: Final = "spur_merge"
_MAX_SHARE_FAILED: Final = 0.5


@dataclass(frozen=True, slots=True)
class InductionSettings:
    """How many of what; the numbers are the published ones."""

    examples: int = 150
    """Rated replies that are drawn of each side."""
    each: int = 3
    """Criteria that one reply may give."""
    chunk: int = 80
    """Criteria that are merged in one call."""
    kept: int = 10
    """Criteria of each side in the end; twice as many from each chunk."""
    turns: int = 3
    """Turns of the dialogue that are shown, the rated one included."""
    tool_chars: int = 2000
    seed: int = 42


@dataclass(frozen=True, slots=True)
class SideCriteria:
    """The criteria of one side, with the counts that they stand on."""

    criteria: tuple[str, ...]
    examples: int
    """Rated replies that were asked about."""
    failed: int
    """Of these, the ones whose call failed: they gave no criteria."""
    found: int
    """Different criteria before they were merged."""


@dataclass(frozen=True, slots=True)
class SpurCriteria:
    """What was induced."""

    by_side: Mapping[Side, SideCriteria]

    def to_json(self) -> dict[str, Any]:
        """Write it as plain JSON values."""
        return {side: {**asdict(c), "criteria": list(c.criteria)} for side, c in self.by_side.items()}

    @classmethod
    def from_json(cls, value: object) -> SpurCriteria:
        """Read what `to_json` wrote; ValueError for anything else."""
        data = read_as(value, dict[str, Any])
        return cls({side: read_as(data.get(side), SideCriteria) for side in SIDES})


@dataclass
class _Induction:
    client: ChatClient
    language: str
    settings: InductionSettings
    usage: Usage = field(default_factory=Usage)

    async def side(self, side: Side, drawn: Sequence[RatedReply]) -> SideCriteria | ChatFailure:
        """Both phases for one side."""
        answers = await gathered([self.find(rated, side) for rated in drawn])
        failed = [a for a in answers if isinstance(a, ChatFailure)]
        if len(failed) > _MAX_SHARE_FAILED * len(answers):
            return failed[0]
        texts = list(dict.fromkeys(text for a in answers if not isinstance(a, ChatFailure) for text in a))
        merged = await self.merge(texts, side)
        if isinstance(merged, ChatFailure):
            return merged
        return SideCriteria(tuple(merged), len(answers), len(failed), len(texts))

    async def find(self, rated: RatedReply, side: Side) -> list[str] | ChatFailure:
        """Phase 1: why was this reply rated so?"""
        reply = rated.reply
        turns = reply.conversation.until(reply.turn).turns[-self.settings.turns :]
        rating = {"score": rated.score} | ({"reason": rated.reason} if rated.reason else {})
        values = {
            "side": phrase(self.language, side),
            "each": str(self.settings.each),
            "scenario": as_json({"kind": reply.conversation.scenario, "description": reply.context}),
            "dialogue": dialogue_text(turns, tool_chars=self.settings.tool_chars).text,
            "rating": as_json(rating),
        }
        return await self._criteria(FIND, values, self.settings.each)

    async def merge(self, texts: Sequence[str], side: Side) -> Sequence[str] | ChatFailure:
        """Phase 2: few criteria that stand for all."""
        s = self.settings
        if len(texts) <= s.kept:
            return texts
        if len(texts) > s.chunk:
            chunks = [texts[i : i + s.chunk] for i in range(0, len(texts), s.chunk)]
            merged = await gathered([self._merge(c, side, min(2 * s.kept, len(c))) for c in chunks])
            texts = []
            for part in merged:
                if isinstance(part, ChatFailure):
                    return part
                texts += part
        return await self._merge(texts, side, s.kept)

    async def _merge(self, texts: Sequence[str], side: Side, most: int) -> list[str] | ChatFailure:
        values = {
            "side": phrase(self.language, side),
            "most": str(most),
            "criteria": "\n".join(as_json(text) for text in texts),
        }
        return await self._criteria(MERGE, values, most)

    async def _criteria(self, name: str, values: Mapping[str, str], most: int) -> list[str] | ChatFailure:
        template = split_template(own_template(name, self.language))
        texts = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": most}
        schema = ReplySchema(name, closed_object({"criteria": texts}))
        request = ChatRequest(messages_of(template, values), role=ROLE, schema=schema)
        outcome = await ask(self.client, request, _reader(most), reask=reasker(self.language))
        self.usage += outcome.usage
        return outcome if isinstance(outcome, ChatFailure) else outcome.value


async def induce(
    client: ChatClient, population: Population, language: str, settings: InductionSettings
) -> tuple[SpurCriteria | JudgeFailure, Usage]:
    """Induce criteria of both sides from the ratings of the training users.

    A reply whose call fails gives no criteria and is counted. When more than half of the calls of a side
    fail, or a merge fails, or nobody rated anything, there are no criteria: a failure, and none are made up.
    A side that nobody was on has no criteria.

    Raises `EndpointError` or `BudgetSpent` from the client.
    """
    drawn = draw_examples(population, most=settings.examples, seed=settings.seed)
    work = _Induction(client, language, settings)
    if not any(drawn.values()):
        return JudgeFailure("judge_error", "nobody is known whose ratings could give criteria"), work.usage
    sides = await gathered([work.side(side, drawn[side]) for side in SIDES])
    by_side: dict[Side, SideCriteria] = {}
    for side, outcome in zip(SIDES, sides, strict=True):
        if isinstance(outcome, ChatFailure):
            message = f"the criteria of {side} users could not be induced: {outcome.message}"
            return JudgeFailure(outcome.kind, message, outcome.raw), work.usage
        by_side[side] = outcome
    return SpurCriteria(by_side), work.usage


def _reader(most: int) -> Callable[[dict[str, Any]], list[str]]:
    def read(data: dict[str, Any]) -> list[str]:
        value = data.get("criteria")
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            msg = "criteria: expected a list of texts"
            raise ReplyFault(msg)
        texts = list(dict.fromkeys(text.strip() for text in value if text.strip()))
        if not 1 <= len(texts) <= most:
            msg = f"criteria: expected 1 to {most} different texts, found {len(texts)}"
            raise ReplyFault(msg)
        return texts

    return read


_CODES: Mapping[str, str] = {"satisfied": "S", "dissatisfied": "D"}


@dataclass(frozen=True)
class InducedCriteria:
    """Induces criteria when the first turn is judged, and keeps them with the run.

    Where they cannot be induced every turn that stands on them fails, and they are not tried again before
    the next run: a failure costs what an induction costs.
    """

    reads: ClassVar[frozenset[Reads]] = frozenset({"others"})

    client: ChatClient
    settings: InductionSettings = field(default_factory=InductionSettings)
    _known: dict[str, SpurCriteria | JudgeFailure] = field(default_factory=dict, repr=False, compare=False)
    _keys: dict[tuple[int, str], tuple[Population, str]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """The key by identity of a population and language; the population stays, so its identity is its own."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False, compare=False)

    def describe(self) -> Mapping[str, Any]:
        """Return settings and prompt digests."""
        prompts = {
            name: digest([own_template(name, lang) for lang in ("en", "zh")]) for name in (FIND, MERGE)
        }
        return {"induced": "spur", "settings": asdict(self.settings), "prompts": prompts}

    async def context_for(
        self, reply: Reply, view: BlockView, others: Population, notes: Notes, language: str
    ) -> PromptContext:
        """Return the criteria, each with its code; a failure when there are none."""
        del view, reply
        criteria, usage = await self._criteria(others, notes, language)
        spent = {ROLE: usage} if usage != Usage() else {}
        if isinstance(criteria, JudgeFailure):
            return PromptContext(usage=spent, failure=criteria)
        shown = {
            side: {f"{_CODES[side]}{i}": text for i, text in enumerate(criteria.by_side[side].criteria, 1)}
            for side in SIDES
        }
        return PromptContext({"induced_criteria": as_json(shown)}, usage=spent)

    async def _criteria(
        self, others: Population, notes: Notes, language: str
    ) -> tuple[SpurCriteria | JudgeFailure, Usage]:
        key = self._key(others, language)
        async with self._lock:
            if key in self._known:
                return self._known[key], Usage()
            stored = notes.get(key)
            if stored is not None:
                try:
                    self._known[key] = SpurCriteria.from_json(stored)
                except ValueError as error:
                    msg = f"the induced criteria in this run cannot be used: {error}"
                    raise StoreError(msg, hint="start again with --fresh") from error
                return self._known[key], Usage()
            criteria, usage = await induce(self.client, others, language, self.settings)
            if isinstance(criteria, SpurCriteria):
                notes.put(key, criteria.to_json())
            self._known[key] = criteria
            return criteria, usage

    def _key(self, others: Population, language: str) -> str:
        """Name the criteria by all that they are made from; a population is read once, not per target."""
        place = id(others), language
        if place not in self._keys:
            read = {r.reply.conversation.id: r.reply.conversation for b in others.blocks for r in b.ratings}
            texts = [conversation_digest(conversation) for conversation in read.values()]
            rated = [[r.reply.id, r.score, r.reason] for b in others.blocks for r in b.ratings]
            made_from = [dict(self.describe()), dict(client_identity(self.client)), language, rated, texts]
            self._keys[place] = others, f"criteria:{digest(made_from)}"
        return self._keys[place][1]
