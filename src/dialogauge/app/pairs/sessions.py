"""Training rows from played sessions: segments and trajectories of a search, and prompts to play on from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from dialogauge.agents import kept_scenarios
from dialogauge.app.pairs.judged import about_run, why_unchecked
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.core import Conversation, Scale, digest_text
from dialogauge.runs import StoredRun
from dialogauge.training import (
    POINTS,
    Provenance,
    SearchStep,
    TrainingRow,
    Trajectory,
    Why,
    plain_message,
    points_of,
    prompt_rows,
    read_trajectories,
    segment_row,
)


def search_rows(run: StoredRun, name: str, options: PairOptions, left_out: Why) -> Iterator[TrainingRow]:
    """Yield the rows of a search: committed trajectories, or the winner of a step beside each loser."""
    search = run.manifest.facts["search"]
    low, high = search["scale"]
    scale, least = Scale(low, high), options.min_margin
    least = search["min_margin"] if least is None else least * (high - low) / POINTS
    for trajectory in read_trajectories(run):
        talk = trajectory.conversation
        about = {
            "conversation_id": talk.id,
            "judge": str(trajectory.judge.get("name", "")),
            "prompt_digest": trajectory.judge.get("prompts"),
            "user": talk.user_id,
            "persona": trajectory.scenario,
            "unchecked": bool(why_unchecked(run)),
            **about_run(run, name),
            "judge_digest": trajectory.judge.get("digest"),
        }
        if options.kind == "segment":
            for step in trajectory.steps:
                yield from _pairs(trajectory, step, least, scale, about, left_out)
            continue
        scores = [one.score for step in trajectory.steps if (one := step.committed) and one.score is not None]
        if not scores:
            left_out["a scenario in which nothing was committed"] += 1
            continue
        quality = scale.quality(sum(scores) / len(scores))
        data = {"messages": [plain_message(m) for m in talk.messages]}
        yield TrainingRow(
            data, Provenance(quality=quality, chosen_from="the winners of each step", **about), talk
        )


def _pairs(
    trajectory: Trajectory,
    step: SearchStep,
    least: float,
    scale: Scale,
    about: Mapping[str, Any],
    left_out: Why,
) -> Iterator[TrainingRow]:
    """Yield a pair for each loser of a step."""
    pairs, talk = step.pairs(least), trajectory.conversation
    others = [one for one in step.candidates if one.name != step.winner]
    failed = sum(one.score is None for one in others)
    left_out["a candidate that failed"] += failed
    left_out[f"less than {least:g} points apart"] += len(others) - failed - len(pairs)
    prompt = [plain_message(m) for m in talk.messages[: step.start]]
    for better, worse in pairs:
        if better.score == worse.score:
            left_out["a tie"] += 1
            continue
        scores, models = (better.score or 0.0, worse.score or 0.0), (better.name, worse.name)
        provenance = Provenance(
            scores=(points_of(scale.quality(scores[0])), points_of(scale.quality(scores[1]))),
            model_chosen=models[0],
            model_rejected=models[1],
            details={"step": step.number, "seeds": [better.seed, worse.seed]},
            **about,
        )
        data = segment_row(prompt, better.messages, worse.messages, provenance)
        yield TrainingRow(data, provenance, talk)


def context_rows(run: StoredRun, name: str, options: PairOptions, *, searched: bool) -> Iterator[TrainingRow]:
    """Yield the prompts of each scenario of a run of sessions: an empty one, and one cut from its sessions.

    Sessions of a search are cut at the ends of its segments, others at the ends of turns.

    Raises StoreError where an earlier version made the run.
    """
    scenarios = kept_scenarios(run)
    places: dict[str, list[tuple[Conversation, list[int]]]] = {one.id: [] for one in scenarios.values()}
    for talk, cuts in _searched(run) if searched else _played(run):
        if (scenario := scenarios.get(talk.scenario or "")) is not None:
            places[scenario.id].append((talk, cuts))
    for id, trajectories in places.items():
        scenario = scenarios[id]
        chance = Random(digest_text(f"{options.seed}\x1f{id}"))
        for data, cut in prompt_rows(scenario, trajectories, chance):
            provenance = Provenance(
                conversation_id=None if cut is None else cut.id,
                source=None,
                user=scenario.user.id,
                persona=id,
                **about_run(run, name),
            )
            yield TrainingRow(data, provenance)


def _searched(run: StoredRun) -> Iterator[tuple[Conversation, list[int]]]:
    for one in read_trajectories(run):
        segments = ((step.start, step.committed) for step in one.steps)
        yield one.conversation, [start + len(best.messages) for start, best in segments if best is not None]


def _played(run: StoredRun) -> Iterator[tuple[Conversation, list[int]]]:
    for talk, _ in run.judged():
        yield talk, [turn.stop for turn in talk.new_turns]
