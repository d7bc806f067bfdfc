"""The replay benchmark as studies that share one run file: replies of candidates, and scores of evaluators.

`RepliesStudy` keeps what one candidate says to the items, a unit for each item. `ScoresStudy` keeps what one
evaluator gives the original replies of the touched blocks, and then what is there of every candidate's, a
unit for each reply. A unit of the second names the unit of the first that it scores: a reply that is made
anew is scored anew. No conversation is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from dialogauge.core import (
    InputError,
    Judged,
    JudgeFailure,
    Judgement,
    Usage,
    WorkUnit,
    conversation_digest,
    digest,
    digest_text,
)
from dialogauge.core.judgement import usage_json
from dialogauge.core.protocols import (
    NO_NOTES,
    Agent,
    AgentFailure,
    AgentTurn,
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
from dialogauge.runs import (
    Ending,
    Row,
    RunDatabase,
    StoredRun,
    Study,
    StudyFacts,
)
from dialogauge.runs.privacy import hidden_turn
from dialogauge.studies.replay.contexts import Context, Prompted, Prompter
from dialogauge.studies.replay.items import ItemSet, ReplayItem, Stage, replaced
from dialogauge.studies.replay.planted import PLANTED
from dialogauge.studies.replay.stored import REPLAY, ReplayRun, StoredReplies, open_replay, replies_digest
from dialogauge.studies.satisfaction.answers import SATISFACTION, JudgedReply, answers_of, histories_of
from dialogauge.studies.satisfaction.blocks import StudyData, in_turn, others_of

_ORIGINAL: Final = None
"""Stands for the candidate in rows that score original replies."""
_NOTHING: Final = Usage()
SHOWN: Final = 20
"""Items whose replies the page shows side by side."""


# -- replies -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReplyMask:
    """Hides what candidates' replies hold; without a mask it changes nothing."""

    mask: Mask | None = None
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By conversation as it is shown: its own ids, and what is shown in their place."""

    def text(self, item: ReplayItem, text: str) -> str:
        """Return a reply to an item as it may be stored."""
        return text if self.mask is None else str(self.mask.value(text, self.names.get(item.conversation)))

    def fault(self, fault: InputError) -> InputError:
        """Return a fault without excerpts of replies."""
        return fault if self.mask is None else self.mask.fault(fault)

    def turn(self, name: str) -> str:
        """Return the id of a turn of the open data as it may be shown."""
        return name if self.mask is None else hidden_turn(self.mask, name)

    def agent_turn(self, item: ReplayItem, turn: AgentTurn) -> AgentTurn:
        """Return an agent's turn as it may be stored; of a failure what came is left out."""
        o = turn.outcome
        if self.mask is None and not (isinstance(o, AgentFailure) and o.raw):
            return turn
        if isinstance(o, AgentFailure):
            return replace(turn, outcome=AgentFailure(o.kind, self.text(item, o.message)))
        return replace(turn, outcome=replace(o, text=self.text(item, o.text)))


@dataclass(frozen=True, slots=True)
class ReplyUnit(WorkUnit):
    """One item for one candidate."""

    prompted: Prompted | None = field(default=None, compare=False)
    """What the candidate is sent; None where its replies come from a file."""


@dataclass(frozen=True, slots=True)
class ItemReply:
    """What a candidate said to one item; a record of a study."""

    turn: AgentTurn
    memory: tuple[tuple[str, float | None], ...] = ()
    """Past turns that it was shown, each with its cosine."""

    @property
    def failed(self) -> bool:
        """Whether there is no reply."""
        return self.turn.failed

    @property
    def usage(self) -> Usage:
        """What it took."""
        return self.turn.usage

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the turn with its item; what says nothing is left out, since such rows are many."""
        o = self.turn.outcome
        row: dict[str, Any] = {"item": unit.part}
        if isinstance(o, AgentFailure):
            row["failure"] = {"kind": o.kind, "message": o.message, "raw": o.raw}
        else:
            row |= {"text": o.text, "finish": None if o.finish == "stop" else o.finish, "model": o.model}
        row |= {"usage": _usage(self.usage), "memory": [list(one) for one in self.memory] or None}
        return {key: value for key, value in row.items() if value is not None}


def _usage(usage: Usage) -> dict[str, Any] | None:
    return None if usage == _NOTHING else usage_json(usage)


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one candidate's replies."""

    requested: int
    replied: int
    failures: Mapping[str, int]
    """By kind."""

    @property
    def failed(self) -> int:
        """Items without a reply."""
        return sum(self.failures.values())

    def to_json(self) -> dict[str, Any]:
        """Write the counts."""
        return {"requested": self.requested, "replied": self.replied, "failures": dict(self.failures)}


def tally_of(stored: StoredReplies, items: Sequence[ReplayItem]) -> Tally:
    """Count a candidate's replies to some items."""
    kinds = Counter(stored.failures.get(i.id, "pending") for i in items if stored.reply(i.id) is None)
    return Tally(len(items), len(items) - kinds.total(), dict(kinds.most_common()))


@dataclass
class RepliesStudy(Study[Tally]):
    """Collects what one candidate says to the items; see `runs.Study` for the parts.

    A unit is an item and what the candidate is sent for it: where that would be another request today, the
    item is asked about anew.
    """

    candidate: str
    about: Mapping[str, Any]
    """What the candidate is; `digest` is of all that its replies are made by."""
    items: ItemSet
    stage: Stage
    hides: ReplyMask
    context: Context = "prefix"
    seed: int = 0
    agent: Agent | None = None
    """None where the replies come from a file."""
    written: Mapping[str, AgentTurn] = field(default_factory=dict)
    """By item: what the file says."""

    name = REPLAY
    part_of_run = True

    def __post_init__(self) -> None:
        """Find items by their ids."""
        self._by_id = {item.id: item for item in self.stage.items}
        self._digest = replies_digest(self.candidate, self.about["digest"])

    @property
    def judge_digest(self) -> str:
        """The candidate's."""
        return self._digest

    @property
    def expected(self) -> int:
        """Items that are in the data."""
        return len(self.stage.items)

    def opened(self, database: RunDatabase) -> None:
        """Make the run one of the item set, and enter the candidate; one that is there keeps its place."""
        run = ReplayRun(database)
        run.claim(self.items)
        database.put_meta("candidates", {**run.candidates, self.candidate: dict(self.about)})

    def plan(self) -> Iterator[WorkUnit]:
        """Yield a unit for each item, block by block."""
        places = {item.id: place for place, item in enumerate(self.stage.items)}
        for name, block in self.stage.blocks.items():
            prompter = None if self.agent is None else Prompter(block.view, self.context)
            for item in self.stage.by_block[name]:
                original = self.stage.originals[item.id].reply
                prompted = None if prompter is None else prompter.prompt(original)
                yield ReplyUnit(
                    REPLAY,
                    None,
                    item.state if prompted is None else conversation_digest(prompted.conversation),
                    self.judge_digest,
                    seed=0 if self.agent is None else self.seed,
                    part=item.id,
                    judge=self.candidate,
                    position=places[item.id],
                    prompted=prompted,
                )

    async def run(self, unit: WorkUnit) -> tuple[ItemReply]:
        """Ask the candidate, or look up what its file says."""
        prompted = cast("ReplyUnit", unit).prompted
        item = self._by_id[str(unit.part)]
        if self.agent is None or prompted is None:
            return (ItemReply(self.hides.agent_turn(item, self.written[item.id])),)
        turn = await self.agent.reply(prompted.conversation.blinded(), seed=unit.seed)
        return (ItemReply(self.hides.agent_turn(item, turn), () if turn.failed else prompted.memory),)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> Tally:
        """Count replies, and failures by their kinds; what was not asked for is pending."""
        del rows
        items = len(self.stage.items)
        if not ending.pending and not any(run.database.finished(self.judge_digest).values()):
            return Tally(items, items, {})  # nothing failed: what candidates say need not be read
        return tally_of(ReplayRun(run.database).replies(self.candidate), self.stage.items)

    def facts(self) -> StudyFacts:
        """Return what the candidate is."""
        return StudyFacts(
            judge={**self.about, "name": self.candidate, "digest": self.judge_digest},
            dimensions=(),
            data=self.items.digest,
            conversations=len(self.stage.items),
            more={"part": "replies"},
        )


# -- scores --------------------------------------------------------------------------------------------


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
            "usage": _usage(self.usage),
        }
        return {key: value for key, value in row.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """How many replies an evaluator scored."""

    original: tuple[int, int]
    """Original replies that have a score, and those that the evaluator failed on."""
    candidates: Mapping[str, tuple[int, int]]
    """By candidate: replies scored, and replies that the evaluator failed on."""

    def to_json(self) -> dict[str, Any]:
        """Write the counts."""
        counts = {name: {"scored": n, "failed": failed} for name, (n, failed) in self.candidates.items()}
        scored, failed = self.original
        return {"original": scored, "original_failed": failed, "candidates": counts}


@dataclass
class ScoresStudy(Study[ScoreCounts]):
    """Scores the original replies of the touched blocks, and then every candidate's; see `runs.Study`.

    A reply is judged in the state that it was written for, by what the user rated in other scenarios. A judge
    that takes the replies of a block together is asked about all of a candidate's at once.
    """

    judge: Judge
    data: StudyData
    stage: Stage
    about: Mapping[str, Any]
    """What a comparison says of the evaluator."""
    blocks_at_once: int = 8
    """Blocks of which a judge that takes one reply at a time is asked in turn."""
    reference: str | None = None
    """A run whose scores of the original replies are taken over; they are by the very same evaluator."""

    name = REPLAY
    part_of_run = True

    def __post_init__(self) -> None:
        """Read off what the scores depend on."""
        self._digest = evaluator_digest(self.judge, self.data.population, tuple(self.stage.blocks.values()))
        self._others = others_of(self.data)
        self._notes: Notes = NO_NOTES
        self._replies: dict[str, StoredReplies] = {}
        self._group: tuple[_ReplyGroup, tuple[ScoredReply, ...]] | None = None
        self._run: ReplayRun

    @property
    def judge_digest(self) -> str:
        """What the evaluator is known by."""
        return self._digest

    @property
    def expected(self) -> int:
        """Replies that there are."""
        items = [item.id for item in self.stage.items]
        originals = sum(len(block.ratings) for block in self.stage.blocks.values())
        return originals + sum(
            1 for stored in self._replies.values() for item in items if stored.reply(item) is not None
        )

    def opened(self, database: RunDatabase) -> None:
        """Look up the replies, and enter the evaluator with what a comparison needs of the data."""
        self._run = run = ReplayRun(database)
        self._replies = {name: run.replies(name) for name in run.candidates}
        if self.reference is not None:
            with open_replay(self.reference) as other:
                originals = {bytes.fromhex(unit.key) for unit in self._originals()}
                database.take_units(other.database, self._digest, originals)
        known = run.evaluators
        before = known.pop(self._digest, {})
        judge = before.get("judge") or dict(self.judge.describe())
        known[self._digest] = {**self.about, "judge": judge}
        histories = {
            name: {"counts": list(h.counts), "mean": h.mean, "turns": h.turns}
            for name, h in histories_of(self.stage.blocks.values(), self.data.history_turns).items()
        }
        database.put_meta("evaluators", known)
        database.put_meta(f"histories:{self._digest}", histories)
        database.put_meta("present", [item.id for item in self.stage.items])

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Take the notes: what is made once (a memory) serves the original replies and all candidates."""
        del mask  # the data wears that of the items already
        self._notes = notes or NO_NOTES

    def plan(self) -> Iterator[WorkUnit]:
        """Yield the original replies first: nothing is to be compared against half of them."""
        yield from self._originals()
        groups = (
            self._candidates_group(block, name)
            for block in self.stage.blocks.values()
            for name in self._replies
        )
        yield from self._in_turn(groups)

    def _originals(self) -> Iterator[ScoreUnit]:
        blocks = self.stage.blocks.values()
        return self._in_turn(_ReplyGroup(block, _ORIGINAL, block.ratings, ()) for block in blocks)

    def _candidates_group(self, block: RatedBlock, name: str) -> _ReplyGroup:
        """Gather what is there to score: what the candidate did not fail on."""
        stored = self._replies[name]
        items = [i.id for i in self.stage.by_block[block.view.id]]
        keys = [(item, key) for item in items if (key := stored.reply(item)) is not None]
        originals = tuple(self.stage.originals[item] for item, _ in keys)
        return _ReplyGroup(block, name, originals, tuple(key for _, key in keys))

    def _in_turn(self, groups: Iterable[_ReplyGroup]) -> Iterator[ScoreUnit]:
        units = (self._units(group) for group in groups)
        return in_turn(units, 1 if self.judge.together else self.blocks_at_once)

    def _units(self, group: _ReplyGroup) -> list[ScoreUnit]:
        return [
            ScoreUnit(
                REPLAY,
                None,
                digest_text(rated.reply.text) if group.candidate is _ORIGINAL else group.keys[place].hex(),
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
            shown = view.targets if group.candidate is _ORIGINAL else (*view.targets, *replies)
        request = request_for(replies, replace(view, targets=shown), self._others(view.user), self._notes)
        rows = await self.judge.judge(request)
        answers = answers_of(replace(group.block, ratings=rated), rows)
        return tuple(
            ScoredReply(row, answer, group.candidate) for row, answer in zip(rows, answers, strict=True)
        )

    def _rated_reply(self, group: _ReplyGroup, place: int) -> RatedReply:
        """Return a reply as one of its own, under the rating of the original."""
        original = group.originals[place]
        if group.candidate is _ORIGINAL:
            return original
        return replace(original, reply=replaced(original.reply, self._run.text(group.keys[place])))

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> ScoreCounts:
        """Count what is scored, and keep what the judge says of itself once it is fitted."""
        del ending
        counts: Counter[tuple[str | None, bool]] = Counter()
        values: dict[str, dict[str | None, float]] = {item.id: {} for item in self.stage.items}
        for row in rows:
            counts[row.get("candidate"), "failure" in row] += 1
            if row["item"] in values and "value" in row:
                values[row["item"]][row.get("candidate")] = row["value"]
        run.database.put_meta("shown", self._shown(values))
        described = dict(self.judge.describe())
        if "fitted_on" in described:  # a run without anything to score fits none
            known = self._run.evaluators
            known[self._digest]["judge"] = described
            run.database.put_meta("evaluators", known)

        def of(name: str | None) -> tuple[int, int]:
            return counts[name, False], counts[name, True]

        return ScoreCounts(of(_ORIGINAL), {name: of(name) for name in self._replies})

    def _shown(self, values: Mapping[str, Mapping[str | None, float]]) -> list[dict[str, str]]:
        """Choose the items on which candidates' scores lie furthest from the original's."""
        models = [name for name, about in self._run.candidates.items() if about["kind"] != PLANTED]

        def apart(item: str) -> float:
            of = values[item]
            if _ORIGINAL not in of:
                return 0.0
            return max((abs(of[name] - of[_ORIGINAL]) for name in models if name in of), default=0.0)

        chosen = sorted(values, key=apart, reverse=True)[:SHOWN]
        replies = ((item, self.stage.originals[item].reply) for item in chosen)
        return [{"item": item, "request": r.request, "original": r.text} for item, r in replies]

    def facts(self) -> StudyFacts:
        """Return judge and dimension."""
        judge = {**self.judge.describe(), "name": self.judge.name, "digest": self._digest}
        return StudyFacts(
            judge=judge,
            dimensions=(PlainDimension(SATISFACTION, "turn"),),
            data=self._run.items_digest,
            conversations=len({item.conversation for item in self.stage.items}),
            more={"part": "scores"},
        )
