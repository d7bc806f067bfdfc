"""What the judge `spur` is told: criteria induced from the training users' ratings, once for all turns."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dialogauge.core import JudgeFailure, StoreError, Usage, conversation_digest, digest
from dialogauge.judge.asking import ROLE
from dialogauge.judge.dialogue_text import as_json
from dialogauge.judge.personal import BlockView, Kept, Population, Reads, Reply
from dialogauge.judge.personal_rubric import Told
from dialogauge.judge.spur.draw import SIDES
from dialogauge.judge.spur.induce import FIND, MERGE, Criteria, InductionSettings, induce
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient
from dialogauge.prompts import own_template

__all__ = ["InducedCriteria"]

_CODES: Mapping[str, str] = {"satisfied": "S", "dissatisfied": "D"}


@dataclass(frozen=True)
class InducedCriteria:
    """Induces criteria when the first turn is judged, and keeps them with the run.

    Where they cannot be induced every turn that stands on them fails, and they are not tried again before
    the next run: a failure costs what an induction costs.
    """

    client: ChatClient
    settings: InductionSettings = field(default_factory=InductionSettings)
    _known: dict[str, Criteria | JudgeFailure] = field(default_factory=dict, repr=False, compare=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False, compare=False)

    @property
    def reads(self) -> frozenset[Reads]:
        """The training users' ratings."""
        return frozenset({"others"})

    def describe(self) -> Mapping[str, Any]:
        """Return settings and prompt digests."""
        prompts = {
            name: digest([own_template(name, lang) for lang in ("en", "zh")]) for name in (FIND, MERGE)
        }
        return {"induced": "spur", "settings": asdict(self.settings), "prompts": prompts}

    async def tell(
        self, view: BlockView, reply: Reply, population: Population, kept: Kept, language: str
    ) -> tuple[Told, JudgeFailure | None]:
        """Tell the criteria, each with its code; a failure when there are none."""
        del view, reply
        criteria, usage = await self._criteria(population, kept, language)
        spent = {ROLE: usage} if usage != Usage() else {}
        if isinstance(criteria, JudgeFailure):
            return Told(usage=spent), criteria
        shown = {
            side: {f"{_CODES[side]}{i}": text for i, text in enumerate(criteria.by_side[side].criteria, 1)}
            for side in SIDES
        }
        return Told({"induced_criteria": as_json(shown)}, usage=spent), None

    async def _criteria(
        self, population: Population, kept: Kept, language: str
    ) -> tuple[Criteria | JudgeFailure, Usage]:
        key = self._key(population, language)
        async with self._lock:
            if key in self._known:
                return self._known[key], Usage()
            stored = kept.get(key)
            if stored is not None:
                self._known[key] = _read(stored)
                return self._known[key], Usage()
            found, usage = await induce(self.client, population, language, self.settings)
            if isinstance(found, Criteria):
                kept.put(key, found.to_json())
            self._known[key] = found
            return found, usage

    def _key(self, population: Population, language: str) -> str:
        read = {r.reply.conversation.id: r.reply.conversation for b in population.blocks for r in b.ratings}
        texts = [conversation_digest(conversation) for conversation in read.values()]
        rated = [[r.reply.id, r.score, r.reason] for b in population.blocks for r in b.ratings]
        told = [dict(self.describe()), dict(client_identity(self.client)), language, rated, texts]
        return f"criteria:{digest(told)}"


def _read(stored: Any) -> Criteria:  # noqa: ANN401 - any JSON value
    try:
        return Criteria.from_json(stored)
    except (KeyError, TypeError) as error:
        msg = f"the induced criteria in this run cannot be used: {error!r}"
        raise StoreError(msg, hint="start again with --fresh") from error
