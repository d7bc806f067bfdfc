"""Scores by a judge of personal satisfaction: what the users of the items would say of other replies.

The original replies of the touched blocks are the reference of the calibrated views, all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, cast

from dialogauge.core import (
    Judged,
    JudgeFailure,
    Judgement,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
    digest_text,
)
from dialogauge.core.protocols import (
    NO_NOTES,
    DimensionSpec,
    Judge,
    Notes,
    PlainDimension,
    Population,
    RatedBlock,
    RatedReply,
    Reply,
    request_for,
)
from dialogauge.data import Mask
from dialogauge.runs import Ending, Row, RunDatabase, StoredRun
from dialogauge.studies.replay.items import replaced
from dialogauge.studies.replay.scoring import ORIGINAL_REPLY, ScoreCounts, ScoringStudy
from dialogauge.studies.replay.stored import REPLAY, open_replay
from dialogauge.studies.replay.study import stored_usage
from dialogauge.studies.satisfaction.answers import SATISFACTION, JudgedReply, answers_of, histories_of
from dialogauge.studies.satisfaction.blocks import StudyData, in_turn, others_of


def evaluator_digest(judge: Judge, population: Population, blocks: Sequence[RatedBlock]) -> str:
    """Return what the evaluator is known by: all that its scores of these blocks depend on.

    It changes with the judge, with what is known of the users (ratings, reasons, profiles and the words of
    the conversations) and with the original replies, never with their ratings.
    """
    known = [_rated(b.ratings) for b in population.blocks]
    past = [
        [b.view.id, dict(b.view.profile or {}), _rated(b.view.history), _texts(b.view.targets)]
        for b in blocks
    ]
    return digest([judge.digest, known, past])


def _rated(ratings: Sequence[RatedReply]) -> list[Any]:
    return [[[r.reply.id, r.score, r.reason] for r in ratings], _texts([r.reply for r in ratings])]


def _texts(replies: Sequence[Reply]) -> list[str]:
    # The last reply of a conversation has all the others before it.
    whole = {r.conversation.id: r.conversation for r in replies}
    return [conversation_digest(c) for c in whole.values()]


@dataclass(frozen=True, slots=True)
class ScoreUnit(WorkUnit):
    """One reply for one evaluator."""

    group: _ReplyGroup | None = field(default=None, compare=False)
    place: int = field(default=0, compare=False)
    """In the group."""


@dataclass(frozen=True, slots=True, eq=False)
class _ReplyGroup:
    """The replies of a block that are of one candidate."""

    block: RatedBlock
    candidate: str | None
    """None for the original replies."""
    originals: tuple[RatedReply, ...]
    """What its user rated in the place of each reply."""
    keys: tuple[bytes, ...]
    """Of the replies, where they are a candidate's."""


@dataclass(frozen=True, slots=True)
class ScoredReply:
    """What an evaluator gave one reply, or why it gave nothing; a record of a study."""

    judged: Judged
    answer: JudgedReply
    candidate: str | None

    @property
    def failure(self) -> Mapping[str, str] | None:
        """Why there is no score: `kind` and `message`."""
        if isinstance(o := self.judged.outcome, JudgeFailure):
            return {"kind": o.kind, "message": o.message}
        if self.answer.score is None:
            return {"kind": "judge_error", "message": "the evaluator gave no score"}
        return None

    @property
    def failed(self) -> bool:
        """Whether there is no score."""
        return self.failure is not None

    @property
    def usage(self) -> Usage:
        """What it took."""
        return self.judged.usage

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the score with its place; what says nothing is left out, since such rows are many."""
        del unit
        a, o = self.answer, self.judged.outcome
        row = {
            "candidate": self.candidate,
            "item": a.id,
            "block": a.block,
            "position": a.position,
            "length": a.length,
            "score": a.score,
            "value": a.value,
            "failure": self.failure,
            "rationale": (o.rationale or None) if isinstance(o, Judgement) else None,
            "prompt_digest": self.judged.prompt_digest,
            "usage": stored_usage(self.usage),
        }
        return {key: value for key, value in row.items() if value is not None}


@dataclass
class ScoresStudy(ScoringStudy):
    """Scores the original replies of the touched blocks, and then every candidate's.

    A reply is judged in the state that it was written for, by what the user rated in other scenarios. A judge
    that takes the replies of a block together is asked about all of a candidate's at once.
    """

    _: KW_ONLY
    judge: Judge
    data: StudyData
    blocks_at_once: int = 8
    """Blocks of which a judge that takes one reply at a time is asked in turn."""
    reference: str | None = None
    """A run whose scores of the original replies are taken over; they are by the very same evaluator."""

    def __post_init__(self) -> None:
        """Read off what the scores depend on."""
        super().__post_init__()
        blocks = tuple(self.stage.rated.values())
        self._digest = evaluator_digest(self.judge, self.data.population, blocks)
        self._others = others_of(self.data)
        self._rated = {r.reply.id: r for block in blocks for r in block.ratings}
        self._notes: Notes = NO_NOTES
        self._group: tuple[_ReplyGroup, tuple[ScoredReply, ...]] | None = None

    @property
    def judge_digest(self) -> str:
        """What the evaluator is known by."""
        return self._digest

    @property
    def expected(self) -> int:
        """Replies that there are."""
        items = [item.id for item in self.stage.items]
        originals = sum(len(block.ratings) for block in self.stage.rated.values())
        return originals + sum(
            1 for stored in self._replies.values() for item in items if stored.reply(item) is not None
        )

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """Satisfaction, whatever the judge calls it."""
        return (PlainDimension(SATISFACTION, "turn"),)

    def described(self) -> dict[str, Any]:
        """Return what the judge says of itself."""
        return dict(self.judge.describe())

    @property
    def judge_name(self) -> str:
        """The judge's."""
        return self.judge.name

    def apart(self, row: Row) -> float | None:
        """Return the score."""
        value: float | None = row.get("value")
        return value

    def opened(self, database: RunDatabase) -> None:
        """Enter the evaluator with what a comparison needs of the data."""
        super().opened(database)
        if self.reference is not None:
            with open_replay(self.reference) as other:
                originals = {bytes.fromhex(unit.key) for unit in self._originals()}
                database.take_units(other.database, self._digest, originals)
        histories = {
            name: {"counts": list(h.counts), "mean": h.mean, "turns": h.turns}
            for name, h in histories_of(self.stage.rated.values(), self.data.history_turns).items()
        }
        database.put_meta(f"histories:{self._digest}", histories)

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Take the notes: what is made once (a memory) serves the original replies and all candidates."""
        del mask  # the data wears that of the items already
        self._notes = notes or NO_NOTES

    def plan(self) -> Iterator[WorkUnit]:
        """Yield the original replies first: nothing is to be compared against half of them."""
        yield from self._originals()
        groups = (
            self._candidates_group(block, name)
            for block in self.stage.rated.values()
            for name in self._replies
        )
        yield from self._in_turn(groups)

    def _originals(self) -> Iterator[ScoreUnit]:
        blocks = self.stage.rated.values()
        return self._in_turn(_ReplyGroup(block, ORIGINAL_REPLY, block.ratings, ()) for block in blocks)

    def _candidates_group(self, block: RatedBlock, name: str) -> _ReplyGroup:
        """Gather what is there to score: what the candidate did not fail on."""
        stored = self._replies[name]
        items = [i.id for i in self.stage.by_block[block.view.id]]
        keys = [(item, key) for item in items if (key := stored.reply(item)) is not None]
        originals = tuple(self._rated[item] for item, _ in keys)
        return _ReplyGroup(block, name, originals, tuple(key for _, key in keys))

    def _in_turn(self, groups: Iterable[_ReplyGroup]) -> Iterator[ScoreUnit]:
        units = (self._units(group) for group in groups)
        return in_turn(units, 1 if self.judge.together else self.blocks_at_once)

    def _units(self, group: _ReplyGroup) -> list[ScoreUnit]:
        return [
            ScoreUnit(
                REPLAY,
                None,
                group.keys[place].hex() if group.keys else digest_text(rated.reply.text),
                self._digest,
                part=rated.reply.id,
                judge=self.judge.name,
                group=group,
                place=place,
            )
            for place, rated in enumerate(group.originals)
        ]

    async def run(self, unit: WorkUnit) -> tuple[ScoredReply]:
        """Judge one reply, or take it from its block."""
        one = cast("ScoreUnit", unit)
        group = cast("_ReplyGroup", one.group)
        if not self.judge.together:
            (score,) = await self._judge(group, [one.place])
            return (score,)
        if self._group is None or self._group[0] is not group:
            self._group = group, await self._judge(group, range(len(group.originals)))
        return (self._group[1][one.place],)

    async def _judge(self, group: _ReplyGroup, places: Sequence[int]) -> tuple[ScoredReply, ...]:
        rated = tuple(self._rated_reply(group, place) for place in places)
        replies, view = tuple(r.reply for r in rated), group.block.view
        # What a judge that is asked reply by reply takes from a block's targets (the language, what its
        # memory is to be of use for) is the same whoever's replies it judges: those of the data are there.
        if self.judge.together:
            shown = replies
        else:
            shown = view.targets if group.candidate is ORIGINAL_REPLY else (*view.targets, *replies)
        request = request_for(replies, replace(view, targets=shown), self._others(view.user), self._notes)
        rows = await self.judge.judge(request)
        answers = answers_of(replace(group.block, ratings=rated), rows)
        return tuple(
            ScoredReply(row, answer, group.candidate) for row, answer in zip(rows, answers, strict=True)
        )

    def _rated_reply(self, group: _ReplyGroup, place: int) -> RatedReply:
        """Return a reply as one of its own, under the rating of the original."""
        original = group.originals[place]
        if group.candidate is ORIGINAL_REPLY:
            return original
        return replace(original, reply=replaced(original.reply, self._run.text(group.keys[place])))

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> ScoreCounts:
        """Count what is scored, and keep what the judge says of itself once it is fitted."""
        counts = super().summarise(rows, run, ending)
        described = dict(self.judge.describe())
        if "fitted_on" in described:  # a run without anything to score fits none
            known = self._run.evaluators
            known[self._digest]["judge"] = described
            run.database.put_meta("evaluators", known)
        return counts
