"""Scores: what one evaluator gives every answer of a run, the original ones first.

The evaluator is a judge like any other, and so are its rows: of a rubric, of a referee that is shown each
answer beside the original one, or of users' satisfaction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from typing import Any, Final, Literal, cast

from dialogauge.core import (
    Conversation,
    Judge,
    Judged,
    JudgeFailure,
    Judgement,
    Request,
    Scale,
    Score,
    Target,
    WorkUnit,
    as_scores,
    conversation_digest,
    digest,
)
from dialogauge.core.judgement import row_json
from dialogauge.core.protocols import (
    NO_NOTES,
    Notes,
    PlainDimension,
    Population,
    RatedBlock,
    RatedReply,
    Reads,
    Reply,
    request_for,
)
from dialogauge.data import Mask
from dialogauge.runs import Ending, Row, RunDatabase, StoredRun, Study, StudyFacts
from dialogauge.studies.arena.meetings import SCORE, AskedTwice, Meeting, OrderedVerdict
from dialogauge.studies.judging.study import absent, request_of
from dialogauge.studies.replay.answers import (
    ANSWER,
    Answered,
    AnswerRun,
    StoredAnswer,
    Tally,
    open_answers,
    original_answer,
)
from dialogauge.studies.replay.items import ORIGINAL, Stage, replaced
from dialogauge.studies.satisfaction.answers import SATISFACTION, histories_of
from dialogauge.studies.satisfaction.blocks import StudyData, in_turn, others_of

Part = Literal["reference", "answers", "planted"]
"""What is scored: original replies of the blocks that are no items, what candidates and the log say in the
items, or what was planted. Each has units of its own, so that who reads the run meets the answers alone."""

PREFERRED: Final = PlainDimension("preferred", "turn", Scale(0, 1, integer=False))
"""1 where a reply is preferred to the original one, 0 where the original is, 0.5 for a tie."""


def part_digest(evaluator: str, part: Part) -> str:
    """Return the digest under which the scores of a part stand."""
    return evaluator if part == "answers" else digest([part, evaluator])


@dataclass(frozen=True, slots=True)
class JudgedBeside(Judged):
    """What a referee said of an answer, in either order; with what it said where that is no verdict."""

    orders: tuple[OrderedVerdict, ...] = ()

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write the row, with the orders among its details."""
        row = row_json(unit.conversation, self, repeat=unit.repeat, judge=unit.judge)
        return {**row, "details": {"orders": [asdict(order) for order in self.orders]}}


@dataclass(frozen=True, slots=True)
class BesideOriginal:
    """A referee who is shown each answer beside the original one, in both orders; implements `Judge`."""

    referee: AskedTwice
    stage: Stage

    dimensions = (PREFERRED,)
    reads: frozenset[Reads] = frozenset()
    together: bool = False

    @property
    def name(self) -> str:
        """The referee's."""
        return self.referee.name

    @property
    def digest(self) -> str:
        """Changes with the referee, and with all that it sees of the original conversations."""
        seen = [conversation_digest(self.stage.originals[i.id].conversation) for i in self.stage.items]
        return digest(["pair", self.referee.digest, *seen])

    def describe(self) -> Mapping[str, Any]:
        """Return what the referee says of itself."""
        return self.referee.describe()

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Ask which reply is better; of two that win in one order each it is a tie."""
        original, (reply,) = self.stage.originals[request.conversation.id], request.targets
        both = replaced(original, reply.text).conversation, original.conversation
        meeting = Meeting(original.conversation.id, str(request.conversation.candidate), ORIGINAL, both)
        vote = await self.referee.vote(meeting)
        scores = {} if vote.winner is None else as_scores({PREFERRED.name: SCORE[vote.winner]})
        outcome = Judgement(scores) if vote.failure is None else JudgeFailure(*vote.failure)
        return (JudgedBeside(reply.target, outcome, vote.usage, orders=vote.orders),)


def evaluator_digest(judge: Judge, population: Population, blocks: Sequence[RatedBlock]) -> str:
    """Return what a judge of satisfaction is known by: all that its scores of these blocks depend on.

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


class ForUsers:
    """A judge of satisfaction, for the users of the items: by what they rated in other scenarios."""

    dimensions = (PlainDimension(SATISFACTION, "turn"),)

    def __init__(self, judge: Judge, stage: Stage, data: StudyData) -> None:
        """Find the replies of the blocks by their ids."""
        blocks = tuple(stage.rated.values())
        self.judge_of_one, self.data = judge, data
        self.name, self.reads, self.together = judge.name, judge.reads, judge.together
        self.digest = evaluator_digest(judge, data.population, blocks)
        self.notes: Notes = NO_NOTES
        self._others = others_of(data)
        self._rated = {r.reply.id: (block, r.reply) for block in blocks for r in block.ratings}

    def describe(self) -> Mapping[str, Any]:
        """Return what the judge says of itself."""
        return self.judge_of_one.describe()

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge one answer."""
        return await self.judge_all((request.conversation,))

    async def judge_all(self, answers: Sequence[Conversation]) -> tuple[Judged, ...]:
        """Judge answers of one candidate within one block, in the place of the original replies there."""
        block, _ = self._rated[answers[0].id]
        of_log = answers[0].candidate in (None, ORIGINAL)
        originals = [self._rated[c.id][1] for c in answers]
        replies = tuple(
            original if of_log else replaced(original, c.messages[-1].text)
            for original, c in zip(originals, answers, strict=True)
        )
        view = block.view
        # What a judge that is asked reply by reply takes from a block's targets (the language, what its
        # memory is to be of use for) is the same whoever's replies it judges: those of the data are there.
        targets = replies if self.together else view.targets if of_log else (*view.targets, *replies)
        request = request_for(replies, replace(view, targets=targets), self._others(view.user), self.notes)
        rows = await self.judge_of_one.judge(request)
        return tuple(
            replace(
                row,
                target=Target(answer.id, "turn", original.turn, answer.candidate),
                outcome=_satisfaction(row.outcome),
            )
            for row, answer, original in zip(rows, answers, originals, strict=True)
        )


def _satisfaction(outcome: Judgement | JudgeFailure) -> Judgement | JudgeFailure:
    """Return the score and its reason alone; a judge that gave no score has failed."""
    if isinstance(outcome, JudgeFailure):
        return JudgeFailure(outcome.kind, outcome.message)
    score = outcome.scores.get(SATISFACTION)
    if not isinstance(score, Score):
        return JudgeFailure("judge_error", "the evaluator gave no score")
    scores = {SATISFACTION: Score(float(score.value), score.rounded())}
    return Judgement(scores, rationale=outcome.rationale)


@dataclass(frozen=True, slots=True)
class ScoreUnit(WorkUnit):
    """One answer; of a judge that takes the replies of a block together, among these."""

    group: tuple[Conversation, ...] = field(default=(), compare=False)
    place: int = field(default=0, compare=False)


@dataclass
class ScoringStudy(Study[Answered]):
    """Scores one part of a run by one evaluator; see `runs.Study` for the parts."""

    judge: Judge
    stage: Stage
    about: Mapping[str, Any]
    """What a comparison says of the evaluator."""
    part: Part = "answers"
    _: KW_ONLY
    blocks_at_once: int = 8
    """Blocks of which a judge that takes one reply at a time is asked in turn."""
    reference: str | None = None
    """A run whose scores of the original replies are taken over; they are by the very same evaluator."""

    name = ANSWER
    part_of_run = True

    def __post_init__(self) -> None:
        """Know no answer before the run is opened."""
        self.evaluator = self.judge.digest
        self._answers: dict[str, dict[str, StoredAnswer]] = {}
        self._group: tuple[tuple[Conversation, ...], tuple[Judged, ...]] | None = None
        self._run: AnswerRun

    @property
    def judge_digest(self) -> str:
        """The evaluator's, for its part."""
        return part_digest(self.evaluator, self.part)

    @property
    def expected(self) -> int:
        """Replies that there are."""
        if self.part == "reference":
            return sum(len(b.ratings) for b in self.stage.rated.values()) - len(self.stage.items)
        return sum(len(of.keys() & self.stage.originals.keys()) for of in self._answers.values())

    def opened(self, database: RunDatabase) -> None:
        """Look up the answers, and enter the evaluator; the latest stands last."""
        self._run = run = AnswerRun(database)
        beside = isinstance(self.judge, BesideOriginal)
        by_candidate: defaultdict[str, dict[str, StoredAnswer]] = defaultdict(dict)
        for answer in run.answers(planted=self.part == "planted") if self.part != "reference" else ():
            if not (beside and answer.candidate == ORIGINAL):
                by_candidate[answer.candidate][answer.item] = answer
        self._answers = dict(by_candidate)
        known = run.evaluators
        judge = known.pop(self.evaluator, {}).get("judge") or dict(self.judge.describe())
        database.put_meta("evaluators", {**known, self.evaluator: {**self.about, "judge": judge}})
        database.put_meta("present", [item.id for item in self.stage.items])
        if self.reference is not None:
            with open_answers(self.reference) as other:
                wanted = {bytes.fromhex(unit.key) for unit in self._of_log()}
                database.take_units(other.database, self.judge_digest, wanted)
        if isinstance(self.judge, ForUsers):
            histories = histories_of(self.stage.rated.values(), self.judge.data.history_turns)
            kept = {
                n: {"counts": list(h.counts), "mean": h.mean, "turns": h.turns} for n, h in histories.items()
            }
            database.put_meta(f"histories:{self.evaluator}", kept)

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Take the notes: what is made once (a memory) serves the original replies and all candidates."""
        del mask  # the answers wear it already
        if isinstance(self.judge, ForUsers):
            self.judge.notes = notes or NO_NOTES

    def plan(self) -> Iterator[WorkUnit]:
        """Yield the original replies first: nothing is to be compared against half of them."""
        if self.stage.rated and isinstance(self.judge, ForUsers):
            yield from self._of_log()
        blocks = (
            self._units(items, answers)
            for name, answers in self._answers.items()
            if not (name == ORIGINAL and isinstance(self.judge, ForUsers))
            for items in self._blocks(answers)
        )
        yield from in_turn(blocks, 1 if self.judge.together else self.blocks_at_once)

    def _blocks(self, answers: Mapping[str, StoredAnswer]) -> Iterator[list[str]]:
        """Yield the items of each block that have an answer; alone those where it failed."""
        names = self.stage.rated or self.stage.by_block
        for name in names:
            items = [i.id for i in self.stage.by_block[name] if i.id in answers]
            if replied := [item for item in items if answers[item].failure is None]:
                yield replied
            yield from ([item] for item in items if answers[item].failure is not None)

    def _units(self, items: Sequence[str], answers: Mapping[str, StoredAnswer]) -> list[ScoreUnit]:
        kept = (self._run.database.conversation(answers[item].target) for item in items)
        group = tuple(conversation for conversation in kept if conversation is not None)
        return [self._unit(group, n, answers[item].place) for n, item in enumerate(items)]

    def _of_log(self) -> Iterator[ScoreUnit]:
        """Yield the original replies of the blocks: the items, or as reference the others."""
        stored = self._answers.get(ORIGINAL, {})

        def units(block: RatedBlock) -> list[ScoreUnit]:
            group = tuple(
                self._run.conversation(stored[name].target)
                if (name := rated.reply.id) in stored
                else replace(original_answer(rated.reply), candidate=None)
                for rated in block.ratings
            )
            items = {item.id for item in self.stage.by_block[block.view.id]}
            wanted = [n for n, c in enumerate(group) if (c.id in items) == (self.part == "answers")]
            return [self._unit(group, n, stored[group[n].id].place if stored else 0) for n in wanted]

        if self.part != "planted":
            blocks = map(units, self.stage.rated.values())
            yield from in_turn(blocks, 1 if self.judge.together else self.blocks_at_once)

    def _unit(self, group: tuple[Conversation, ...], place: int, position: int) -> ScoreUnit:
        target = conversation_digest(group[place])
        about = (ANSWER, group[place], target, self.judge_digest)
        return ScoreUnit(*about, judge=self.judge.name, position=position, group=group, place=place)

    async def run(self, unit: WorkUnit) -> tuple[Judged, ...]:
        """Judge one answer, or take it from its group."""
        one = cast("ScoreUnit", unit)
        if not unit.conversation.messages:
            return (absent(unit.conversation),)
        if not (self.judge.together and isinstance(self.judge, ForUsers)):
            return await self.judge.judge(request_of(unit))
        if self._group is None or self._group[0] is not one.group:
            self._group = one.group, await self.judge.judge_all(one.group)
        return (self._group[1][one.place],)

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> Answered:
        """Count what is scored, and keep what the judge says of itself once it is fitted."""
        del ending
        counts: Counter[tuple[str, bool]] = Counter()
        for row in rows:
            failure = row["failure"] and row["failure"]["kind"]
            counts[row["candidate"] or ORIGINAL, failure is not None] += failure != "absent"
        described = dict(self.judge.describe())
        if "fitted_on" in described:  # a run without anything to score fits none
            known = self._run.evaluators
            known[self.evaluator]["judge"] = described
            run.database.put_meta("evaluators", known)
        names = (*self._answers, *([ORIGINAL] if self.part == "reference" else []))
        of = {name: (counts[name, False], counts[name, True]) for name in names}
        return Answered({name: Tally(n + failed, n, {"failed": failed}) for name, (n, failed) in of.items()})

    def facts(self) -> StudyFacts:
        """Return judge and dimensions."""
        return StudyFacts(
            judge={**self.judge.describe(), "name": self.judge.name, "digest": self.evaluator},
            dimensions=tuple(d for d in self.judge.dimensions if d.level == "turn"),
            data=self._run.items_digest,
            conversations=len({item.conversation for item in self.stage.items}),
            more={"part": "scores"},
        )
