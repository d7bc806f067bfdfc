"""Who scores a replay run: a judge of one user's satisfaction, a rubric, or a rubric of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dialogauge.app.build import BuiltJudge, build_judge
from dialogauge.app.personal_judges import build_satisfaction_judge
from dialogauge.app.replay.settings import ScoreOptions
from dialogauge.app.replay.stage import OpenStage
from dialogauge.app.settings import JudgeOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.protocols import DimensionSpec
from dialogauge.core.settings import narrowed
from dialogauge.rubrics import load_rubric
from dialogauge.studies.replay.items import ItemSet
from dialogauge.studies.replay.rubric_scores import RubricScoresStudy
from dialogauge.studies.replay.scores import ScoresStudy
from dialogauge.studies.replay.scoring import ScoringStudy


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Who scores, and how a study of theirs is made."""

    built: BuiltJudge
    study: Callable[[OpenStage], ScoringStudy]
    waits: bool
    """Whether a model is asked, so that several replies are scored side by side."""


def build_evaluator(options: ScoreOptions, items: ItemSet) -> Evaluator:
    """Build the evaluator that the options name.

    Raises:
        UsageError: The judge is not there, lacks its model, or judges for users where nobody rated.
    """
    if options.rubric is None:
        return _personal(options, items)
    if load_rubric(options.rubric).level == "pair":
        msg = "a rubric of pairs is no rubric of turns"
        raise UsageError(msg)
    return _by_rubric(options, options.rubric)


def _personal(options: ScoreOptions, items: ItemSet) -> Evaluator:
    if not items.rated:
        msg = f"the judge {options.judge} says what one user would rate, and nobody rated these conversations"
        hint = "score by a rubric: --rubric card; or with a model any other, and --rubric pair"
        raise UsageError(msg, hint=hint)
    built = build_satisfaction_judge(options)

    def study(opened: OpenStage) -> ScoringStudy:
        if opened.study is None:
            msg = "the conversations have no ratings any more"
            raise UsageError(msg, hint="say with --data where those are that were selected from")
        population = opened.study.population
        about = {
            **_about(options, built.judge.name, ("strategy", "k", "history", "language")),
            "population": {
                "users": len({b.view.user for b in population.blocks}),
                "turns": len(population.scores),
            },
        }
        judge, data = built.judge, opened.study
        return ScoresStudy(opened.stage, about, judge=judge, data=data, reference=options.reference)

    return Evaluator(built, study, waits=not built.judge.together)


def _by_rubric(options: ScoreOptions, rubric: str) -> Evaluator:
    """Build the judge as `dialogauge judge` does; nothing follows a reply, so it judges in foresight."""
    role = options.roles.get("judge")
    built = build_judge(
        narrowed(JudgeOptions, options, inputs=(), rubric=rubric, mode="foresight", role=role)
    )
    judge = built.judge
    name = judge.name if options.judge == "llm" else f"{load_rubric(rubric).id}/{judge.name}"

    def study(opened: OpenStage) -> ScoringStudy:
        dimensions = [d for d in judge.dimensions if d.level == "turn"]
        about = {
            **_about(options, name, ("language",)),
            "rubric": rubric,
            "by": "rubric",
            "dimensions": [_dimension(d) for d in dimensions],
        }
        return RubricScoresStudy(opened.stage, about, judge=judge)

    return Evaluator(built, study, waits=options.judge == "llm")


def _about(options: ScoreOptions, name: str, settings: tuple[str, ...]) -> dict[str, Any]:
    """Say who scores."""
    chosen = {key: getattr(options, key) for key in settings}
    return {"name": name, "asked_for": options.judge, "settings": chosen}


def _dimension(of: DimensionSpec) -> dict[str, Any]:
    scale = of.scale
    keys = ("low", "high", "integer", "higher_is_better")
    return {"name": of.name, **{key: getattr(scale, key) for key in keys}}
