"""Scoring a run's replies: who scores, the original replies of the touched blocks, then every candidate's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialogauge.app.build import build_judge, build_satisfaction_judge
from dialogauge.app.clients import Clients
from dialogauge.app.config import shown_role
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.replay.collect import LOG, StepCall, StepResult
from dialogauge.app.replay.items import OpenStage, open_stage, privacy_of
from dialogauge.app.replay.settings import ScoreOptions
from dialogauge.app.settings import JudgeOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.judgement import Usage
from dialogauge.core.protocols import DimensionSpec, Judge
from dialogauge.core.settings import narrowed, recorded
from dialogauge.judges.pairwise import PairJudge
from dialogauge.rubrics import load_rubric
from dialogauge.runs import RunDirectory, RunSettings, run_study
from dialogauge.studies.arena.meetings import AskedTwice
from dialogauge.studies.replay.answers import AnsweringCandidate, AnswerStudy, Tally, open_answers
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.replay.planted import MAKERS, PLANTED, about_planted, planted_replies
from dialogauge.studies.replay.scoring import PREFERRED, BesideOriginal, ForUsers, Part, ScoringStudy
from dialogauge.text import counted


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Who scores."""

    made_for: Callable[[OpenStage], tuple[Judge, dict[str, Any]]]
    """Returns the judge of the answers of a stage, and what a comparison says of it."""
    clients: Clients
    """Those that it asks."""
    waits: bool
    """Whether a model is asked, so that several replies are scored side by side."""


def build_evaluator(options: ScoreOptions, items: ItemSet, *, dry: bool = False) -> Evaluator:
    """Build the evaluator that the options name; a dry one asks nothing, and counts what it would ask.

    Raises:
        UsageError: The judge is not there, lacks its model, or judges for users where nobody rated.
    """
    if options.rubric is None:
        return _personal(options, items, dry=dry)
    of_pairs = options.judge != "fitted" and load_rubric(options.rubric).level == "pair"
    return (_by_pairs if of_pairs else _by_rubric)(options, options.rubric, dry=dry)


def _personal(options: ScoreOptions, items: ItemSet, *, dry: bool) -> Evaluator:
    if not items.rated:
        msg = f"the judge {options.judge} says what one user would rate, and nobody rated these conversations"
        hint = (
            "score by --rubric card; with a model by any other, and --rubric pair; or by --fitted-model RUN"
        )
        raise UsageError(msg, hint=hint)
    built = build_satisfaction_judge(options, dry=dry)

    def made_for(opened: OpenStage) -> tuple[Judge, dict[str, Any]]:
        if opened.study is None:
            msg = "the conversations have no ratings any more"
            raise UsageError(msg, hint="say with --data where those are that were selected from")
        population = opened.study.population
        about = {
            **_about(options, built.judge.name, ("strategy", "k", "history", "language")),
            **_fitted_to(built.judge, opened),
            "population": {
                "users": len({b.view.user for b in population.blocks}),
                "turns": len(population.scores),
            },
        }
        return ForUsers(built.judge, opened.stage, opened.study), about

    return Evaluator(made_for, built.clients, waits=not built.judge.together)


def _by_rubric(options: ScoreOptions, rubric: str, *, dry: bool) -> Evaluator:
    """Build the judge as `dialogauge judge` does; nothing follows a reply, so it judges in foresight."""
    role = options.roles.get("judge")
    built = build_judge(
        narrowed(JudgeOptions, options, inputs=(), rubric=rubric, mode="foresight", role=role), dry=dry
    )
    judge, fitted = built.judge, options.judge == "fitted"
    name = f"{load_rubric(rubric).id}/{judge.name}" if options.judge == "local" else judge.name

    dimensions = [d for d in judge.dimensions if d.level == "turn"]
    if not dimensions:
        what = "the model of ratings" if fitted else f"the rubric {rubric!r}"
        msg = f"{what} judges whole conversations, and a candidate writes one reply"
        hint = "--rubric card or satisfaction, or a file with dimensions of turns"
        raise UsageError(msg, hint="give one that was fitted to ratings of turns" if fitted else hint)

    def made_for(opened: OpenStage) -> tuple[Judge, dict[str, Any]]:
        about = {
            **_about(options, name, ("language",)),
            **_fitted_to(judge, opened),
            "rubric": None if fitted else rubric,
            "by": "rubric",
            "dimensions": [_dimension(d) for d in dimensions],
        }
        return judge, about

    return Evaluator(made_for, built.clients, waits=options.judge == "llm")


def _by_pairs(options: ScoreOptions, rubric: str, *, dry: bool) -> Evaluator:
    """Build the referee of `dialogauge arena`, which is asked about each reply in both orders."""
    role = options.roles.get("judge")
    if role is None:
        msg = f"the rubric {rubric!r} compares two replies, and needs a model"
        raise UsageError(msg, hint="give --model NAME --base-url URL; without a model there is --rubric card")
    unused = {"--source": options.source_file, "--policy": options.policy_file}
    unused["--calls"] = options.calls if options.calls == "separate" else None
    if chosen := [option for option, value in unused.items() if value is not None]:
        msg = f"the rubric {rubric!r} compares two replies, and takes no {chosen[0]}"
        raise UsageError(msg, hint="leave it out, or give a rubric of another level")
    clients = Clients(options, dry=dry)
    referee = AskedTwice(PairJudge(load_rubric(rubric), clients.build(role, "judge"), options.language))

    def made_for(opened: OpenStage) -> tuple[Judge, dict[str, Any]]:
        about = _about(options, referee.name, ("language",))
        about |= {"rubric": rubric, "by": "pair", "dimensions": [_dimension(PREFERRED)]}
        return BesideOriginal(referee, opened.stage), about

    return Evaluator(made_for, clients, waits=True)


def _about(options: ScoreOptions, name: str, settings: tuple[str, ...]) -> dict[str, Any]:
    """Say who scores."""
    chosen = {key: getattr(options, key) for key in settings}
    return {"name": name, "asked_for": options.judge, "settings": chosen}


def _fitted_to(judge: Judge, opened: OpenStage) -> dict[str, int]:
    """Count the items of conversations that the judge was fitted to; nothing of one that keeps none."""
    seen = frozenset((judge.describe().get("fitted_on") or {}).get("seen") or ())
    if not seen:
        return {}
    return {"fitted_to": sum(opened.words[i.conversation] in seen for i in opened.stage.items)}


def _dimension(of: DimensionSpec) -> dict[str, Any]:
    scale = of.scale
    keys = ("low", "high", "integer", "higher_is_better")
    return {"name": of.name, **{key: getattr(scale, key) for key in keys}}


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
