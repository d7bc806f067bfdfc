"""Scoring a run's replies: the original replies of the touched blocks first, then every candidate's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dialogauge.app.config import shown_role
from dialogauge.app.outcome import StudyOutcome
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.replay.evaluators import build_evaluator
from dialogauge.app.replay.settings import ScoreOptions
from dialogauge.app.replay.stage import OpenStage, open_stage, privacy_of
from dialogauge.app.sources import InputData
from dialogauge.core.errors import UsageError
from dialogauge.core.settings import recorded
from dialogauge.llm import Expected
from dialogauge.runs import Observer, RunDirectory, RunSettings, StopSignal, run_study
from dialogauge.studies.replay.items import ItemSet
from dialogauge.studies.replay.planted import MAKERS, PLANTED, about_planted, planted_replies
from dialogauge.studies.replay.scores import ScoresStudy
from dialogauge.studies.replay.scoring import ScoreCounts, ScoringStudy
from dialogauge.studies.replay.stored import open_replay
from dialogauge.studies.replay.study import RepliesStudy, ReplyMask
from dialogauge.text import counted


@dataclass(frozen=True)
class ScoringOutcome(StudyOutcome[ScoreCounts]):
    """What came of the scoring."""

    judge: str = ""
    asking: Expected | None = None
    """Of a dry run: what models would be asked; None where none is."""

    @property
    def failed_share(self) -> float:
        """Share of all replies that the evaluator failed on, the original ones included."""
        counts = self.run.result.counts.values()
        scored, failed = sum(n for n, _ in counts), sum(n for _, n in counts)
        return failed / (scored + failed) if scored + failed else 0.0


async def score(
    options: ScoreOptions,
    observer: Observer,
    source: InputData | None = None,
    stop: StopSignal | None = None,
    *,
    dry: bool = False,
) -> ScoringOutcome:
    """Score what is missing under this evaluator, and make it the one that comparisons take.

    Args:
        options: Which run, and by whom.
        observer: Who is told.
        source: The conversations, where they are in no file.
        stop: Ends the scoring early when it is requested.
        dry: Ask nobody, and count what would be asked.

    Raises UsageError for a judge or a reference that does not fit, StoreError when the run is of no use.
    """
    with open_replay(options.run) as run:
        items = run.item_set()
    evaluator = build_evaluator(options, items, dry=dry)
    try:
        opened = open_stage(items, options.data, options.history, source)
        study = evaluator.study(opened)
        if options.reference is not None:
            _expect_scored(options.reference, study)
        settings = _run_settings(options, items)
        if options.planted:
            await _plant(opened, items, settings, stop)
        observer.say(_announced(options, study, opened))
        settings = replace(settings, workers=options.max_concurrency if evaluator.waits else 1)
        done = await run_study(study, settings, observer, evaluator.limits, stop)
    finally:
        await evaluator.close()
    return ScoringOutcome(done, opened.faults, judge=study.judge_name, asking=evaluator.counted())


def _announced(options: ScoreOptions, study: ScoringStudy, opened: OpenStage) -> str:
    with open_replay(options.run) as run:
        kinds = [about["kind"] for about in run.candidates.values()]
    planted, blocks = kinds.count(PLANTED), opened.stage.rated.values()
    who = f"{counted(len(kinds) - planted, 'candidate')}{f' and {planted} planted ones' if planted else ''}"
    replies, asked = len(kinds) * len(opened.stage.items), len(opened.stage.items)
    if study.even is not None:
        of = counted(replies, "reply", "replies")
        return f"{study.judge_name}: {who} beside the original replies, in both orders: {of} at most"
    what = "the original replies"
    if isinstance(study, ScoresStudy):
        what, asked = f"{what} of {counted(len(blocks), 'block')}", sum(len(b.ratings) for b in blocks)
    of = counted(asked + replies, "reply", "replies")
    return f"{study.judge_name}: {what} first, then {who}: {of} at most"


def _run_settings(options: ScoreOptions, items: ItemSet) -> RunSettings:
    return RunSettings(
        directory=RunDirectory(Path(options.run)),
        workers=1,
        retry_failed=options.retry_failed,
        privacy=privacy_of(items),
        settings={
            **recorded(options),
            "roles": {role: shown_role(of_role) for role, of_role in options.roles.items()},
        },
    )


async def _plant(opened: OpenStage, items: ItemSet, settings: RunSettings, stop: StopSignal | None) -> None:
    """Put the planted candidates into the run: their replies need nobody."""
    for name in MAKERS:
        turns = planted_replies(name, opened.stage)
        study = RepliesStudy(name, about_planted(turns), items, opened.stage, ReplyMask(), written=turns)
        await run_study(study, settings, ProgressObserver(quiet=True), stop=stop)


def _expect_scored(path: str, study: ScoringStudy) -> None:
    """Raise UsageError where the reference was not scored by the very same evaluator."""
    with open_replay(path) as other:
        known = other.evaluators
    if study.judge_digest not in known:
        names = ", ".join(sorted({str(e["name"]) for e in known.values()})) or "nobody"
        msg = f"the original replies of {path} were not scored by this evaluator, but by {names}"
        hint = (
            f"a reference counts only from the very judge ({study.judge_name}), with the same settings, "
            "histories and training users: leave --reference out, and they are scored here"
        )
        raise UsageError(msg, hint=hint)
