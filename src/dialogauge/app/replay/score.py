"""Scoring a run's replies: the original replies of the touched blocks first, then every candidate's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dialogauge.app.config import shown_role
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.replay.collect import LOG, StepCall, StepResult
from dialogauge.app.replay.evaluators import build_evaluator
from dialogauge.app.replay.settings import ScoreOptions
from dialogauge.app.replay.stage import OpenStage, open_stage, privacy_of
from dialogauge.core.errors import UsageError
from dialogauge.core.judgement import Usage
from dialogauge.core.protocols import Judge
from dialogauge.core.settings import recorded
from dialogauge.runs import RunDirectory, RunSettings, run_study
from dialogauge.studies.replay.answers import AnsweringCandidate, AnswerStudy, Tally, open_answers
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.planted import MAKERS, PLANTED, about_planted, planted_replies
from dialogauge.studies.replay.scoring import BesideOriginal, Part, ScoringStudy
from dialogauge.text import counted


async def score(options: ScoreOptions, call: StepCall) -> StepResult:
    """Score what is missing under this evaluator, and make it the one that comparisons take.

    Raises UsageError for a judge or a reference that does not fit, StoreError when the run is of no use.
    """
    with open_answers(options.run) as run:
        items = run.item_set()
    evaluator = build_evaluator(options, items, dry=call.dry)
    try:
        opened = open_stage(items, options.data, options.history, call.source)
        judge, about = evaluator.made_for(opened)
        if options.reference is not None:
            _expect_scored(options.reference, judge)
        roles = {role: shown_role(of_role) for role, of_role in options.roles.items()}
        settings = RunSettings(
            directory=RunDirectory(Path(options.run)),
            retry_failed=options.retry_failed,
            privacy=privacy_of(items),
            settings={**recorded(options), "roles": roles},
        )
        await _add_to_the_log(opened, items, settings, planted=options.planted)
        call.observer.say(_announced(options, judge, opened))
        parts: tuple[Part, ...] = ("reference",) if opened.stage.rated and about.get("by") is None else ()
        parts += ("answers", "planted") if options.planted else ("answers",)
        settings = replace(settings, workers=options.max_concurrency if evaluator.waits else 1)
        tallies: dict[str, Tally] = {}
        usage, done, comparable = Usage(), 0, False
        beside = isinstance(judge, BesideOriginal)
        for part in parts:
            reference = None if part == "planted" else options.reference
            study = ScoringStudy(judge, opened.stage, about, part, reference=reference)
            ran = await run_study(study, settings, call.observer, evaluator.clients.limits, call.stop)
            usage, done, outcome = usage + ran.progress.usage, done + ran.progress.done, ran.ending.outcome
            for name, tally in ran.result.tallies.items():
                tallies[name] = tallies[name] + tally if name in tallies else tally
                comparable |= part == "answers" and tally.replied > 0 and (beside or name == ORIGINAL)
            if outcome.ended != "finished":
                break
    finally:
        await evaluator.clients.close()
    order = sorted(tallies, key=lambda name: (name in MAKERS, name != ORIGINAL))
    made = (usage, outcome, done, evaluator.clients.counted())
    by_name = {name: tallies[name] for name in order}
    return StepResult(by_name, opened.faults, *made, judge=judge.name, comparable=comparable)


async def _add_to_the_log(opened: OpenStage, items: ItemSet, settings: RunSettings, *, planted: bool) -> None:
    """Put the original replies into the run, and what is planted: both need nobody."""
    quiet = ProgressObserver(quiet=True)
    await run_study(AnswerStudy((LOG,), items, opened.stage, opened.hides), settings, quiet)
    if planted:
        turns = {name: planted_replies(name, opened.stage) for name in MAKERS}
        answering = tuple(
            AnsweringCandidate(name, about_planted(of), written=of) for name, of in turns.items()
        )
        await run_study(AnswerStudy(answering, items, opened.stage, planted=True), settings, quiet)


def _announced(options: ScoreOptions, judge: Judge, opened: OpenStage) -> str:
    with open_answers(options.run) as run:
        kinds = [about["kind"] for about in run.candidates.values()]
    planted, blocks = kinds.count(PLANTED), opened.stage.rated.values()
    who = f"{counted(len(kinds) - planted, 'candidate')}{f' and {planted} planted ones' if planted else ''}"
    replies, asked = len(kinds) * len(opened.stage.items), len(opened.stage.items)
    if isinstance(judge, BesideOriginal):
        of = counted(replies, "reply", "replies")
        return f"{judge.name}: {who} beside the original replies, in both orders: {of} at most"
    what = "the original replies"
    if blocks and judge.reads:
        what, asked = f"{what} of {counted(len(blocks), 'block')}", sum(len(b.ratings) for b in blocks)
    of = counted(asked + replies, "reply", "replies")
    return f"{judge.name}: {what} first, then {who}: {of} at most"


def _expect_scored(path: str, judge: Judge) -> None:
    """Raise UsageError where the reference was not scored by the very same evaluator."""
    with open_answers(path) as other:
        known = other.evaluators
    if judge.digest not in known:
        names = ", ".join(sorted({str(e["name"]) for e in known.values()})) or "nobody"
        msg = f"the original replies of {path} were not scored by this evaluator, but by {names}"
        hint = (
            f"a reference counts only from the very judge ({judge.name}), with the same settings, "
            "histories and training users: leave --reference out, and they are scored here"
        )
        raise UsageError(msg, hint=hint)
