"""The success study: dialogues with goals or rewards in; rows, figures by domain and agent, a page out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final, Protocol

from dialogauge.core import Conversation, InputError, Judged, RecordFault, WorkUnit
from dialogauge.core.json_keys import keys
from dialogauge.core.protocols import Judge, Request
from dialogauge.judges.success.tau import REWARD
from dialogauge.report import Page
from dialogauge.runs import Ending, Row, StoredRun
from dialogauge.studies.evidence import BY_OUTCOME, DimensionEvidence
from dialogauge.studies.judging.study import JudgingResult, JudgingStudy, absent
from dialogauge.studies.success.figures import SuccessFigures, SuccessTally
from dialogauge.studies.success.page import success_page

SUCCESS: Final = "success"
"""The kind of run, and the study's part in the identity of a unit."""


class SuccessJudge(Judge, Protocol):
    """A judge of task success: it reads goals and rewards, which other judges never see."""

    def expect(self, conversation: Conversation) -> None:
        """Raise RecordFault where what stands beside a conversation cannot be used."""


@keys(success="success?")
@dataclass(frozen=True, slots=True)
class SuccessResult(JudgingResult):
    """What a study of task success comes to."""

    success: SuccessFigures | None = None


@dataclass
class SuccessStudy(JudgingStudy):
    """Checks whether tasks came about; what it does not say is that of `JudgingStudy`."""

    judge: SuccessJudge

    name = SUCCESS
    recomputes = True

    def _items(self) -> Iterator[Conversation | InputError]:
        """Yield what can be checked; a conversation whose goal is missing or unreadable is a fault."""
        for item in super()._items():
            if isinstance(item, InputError) or not item.messages:
                yield item
                continue
            try:
                self.judge.expect(item)
            except RecordFault as fault:
                yield fault
                continue
            yield item

    def _joined(self, conversation: Conversation) -> Conversation:
        """Return the conversation with a stored reward in its metadata: it is what is measured here."""
        rewards = [r for r in conversation.ratings if r.dimension == REWARD and r.turn is None]
        others = tuple(r for r in conversation.ratings if r not in rewards)
        metadata = {**conversation.metadata, **({REWARD: rewards[0].score} if rewards else {})}
        return super()._joined(replace(conversation, ratings=others, metadata=metadata))

    async def run(self, unit: WorkUnit) -> tuple[Judged, ...]:
        """Check one conversation; unlike other judges, these read what stands beside it."""
        if not unit.conversation.messages:
            return (absent(unit.conversation),)
        return await self.judge.judge(Request(unit.conversation))

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> SuccessResult:
        """Bring the rows to figures by domain and agent, beside what every run of judgements comes to."""
        tally = SuccessTally()
        result = super().summarise(tally.through(rows), run, ending)
        common = {f.name: getattr(result, f.name) for f in fields(JudgingResult)}
        return SuccessResult(**common, success=tally.result())

    def _checked(self) -> dict[str, DimensionEvidence]:
        """What is measured here is an outcome: nothing stands behind it that it could agree with."""
        outcome = DimensionEvidence(checked=True, by=BY_OUTCOME)
        return dict.fromkeys((spec.name for spec in self.judge.dimensions), outcome)

    def page(self, result: JudgingResult, run: StoredRun) -> Page:
        """Return the page."""
        figures = result.success if isinstance(result, SuccessResult) else None
        return success_page(run, result.summary, result.people, result.sample, figures, result.agents)
