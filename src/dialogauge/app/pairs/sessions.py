"""Training rows from played sessions: segments and trajectories of a search, and prompts to play on from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from dialogauge.agents import kept_scenarios
from dialogauge.app.pairs.judged import about_row, why_unchecked
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.core import Conversation, Scale, UsageError, digest_text
from dialogauge.runs import StoredRun
from dialogauge.training import (
    POINTS,
    SEARCH,
    Provenance,
    SessionReward,
    TrainingRow,
    Trajectory,
    Why,
    plain_message,
    points_of,
    prompt_rows,
    read_trajectories,
    segment_row,
)


def _searched(run: StoredRun, name: str) -> Iterator[tuple[Trajectory, Scale, dict[str, Any]]]:
    """Yield what a search committed, the scale of its scores, and what rows of it rest on."""
    scale, unchecked = Scale(*run.manifest.facts["search"]["scale"]), bool(why_unchecked(run))
    for one in read_trajectories(run):
        about = {
            **about_row(run, name, one.conversation),
            "conversation_id": one.conversation.id,
            "judge": str(one.judge.get("name", "")),
            "prompt_digest": one.judge.get("prompts"),
            "judge_digest": one.judge.get("digest"),
            "persona": one.scenario,
            "unchecked": unchecked,
        }
        yield one, scale, about


def committed_rows(run: StoredRun, name: str, options: PairOptions, left_out: Why) -> Iterator[TrainingRow]:
    """Yield the committed trajectories of a search."""
    del options
    for trajectory, scale, about in _searched(run, name):
        winners = (step.committed for step in trajectory.steps)
        scores = [one.score for one in winners if one is not None and one.score is not None]
        if not scores:
            left_out["a scenario in which nothing was committed"] += 1
            continue
        quality = scale.quality(sum(scores) / len(scores))
        source = Provenance(quality=quality, chosen_from="the winners of each step", **about)
        messages = [plain_message(m) for m in trajectory.conversation.messages]
        yield TrainingRow({"messages": messages}, source, trajectory.conversation)


def segment_pairs(run: StoredRun, name: str, options: PairOptions, left_out: Why) -> Iterator[TrainingRow]:
    """Yield of each step of a search the winner beside each loser that is far enough behind it."""
    low, high = run.manifest.facts["search"]["scale"]
    least = run.manifest.facts["search"]["min_margin"]
    if options.min_margin is not None:
        least = options.min_margin * (high - low) / POINTS
    for trajectory, scale, about in _searched(run, name):
        for step in trajectory.steps:
            pairs, others = step.pairs(least), [c for c in step.candidates if c.name != step.winner]
            failed = sum(one.score is None for one in others)
            left_out["a candidate that failed"] += failed
            left_out[f"less than {least:g} points apart"] += len(others) - failed - len(pairs)
            prompt = [plain_message(m) for m in trajectory.conversation.messages[: step.start]]
            for better, worse in pairs:
                high_score, low_score = (points_of(scale.quality(c.score or 0.0)) for c in (better, worse))
                source = Provenance(
                    scores=(high_score, low_score),
                    model_chosen=better.name,
                    model_rejected=worse.name,
                    details={"step": step.number, "seeds": [better.seed, worse.seed]},
                    **about,
                )
                data = segment_row(prompt, better.messages, worse.messages, source)
                yield TrainingRow(data, source, trajectory.conversation)


def context_rows(run: StoredRun, name: str, options: PairOptions, left_out: Why) -> Iterator[TrainingRow]:
    """Yield the prompts of each scenario of a run of sessions: an empty one, and one cut from its sessions.

    Sessions of a search are cut at the ends of its segments, others at the ends of turns.

    Raises StoreError where an earlier version made the run.
    """
    del left_out
    scenarios = kept_scenarios(run)
    places: dict[str, list[tuple[Conversation, list[int]]]] = {one.id: [] for one in scenarios.values()}
    for talk, cuts in _cut(run):
        if (scenario := scenarios.get(talk.scenario or "")) is not None:
            places[scenario.id].append((talk, cuts))
    for id, trajectories in places.items():
        scenario = scenarios[id]
        chance = Random(digest_text(f"{options.seed}\x1f{id}"))
        for data, cut in prompt_rows(scenario, trajectories, chance):
            about = about_row(run, name, Conversation("", (), user_id=scenario.user.id, scenario=id))
            source = Provenance(conversation_id=None if cut is None else cut.id, source=None, **about)
            yield TrainingRow(data, source)


def reward_of(runs: Mapping[str, StoredRun]) -> SessionReward:
    """Return what sessions are scored by: the rubric of the search, and the turns of what was played.

    Raises UsageError where two searches were scored by different rubrics.
    """
    usual, scored, turns = SessionReward(), dict[tuple[str, str | None], str](), [0]
    for path, run in runs.items():
        settings = run.manifest.settings
        if run.manifest.study == SEARCH:
            by = run.manifest.facts["scored_by"]["rubric"], settings.get("weights_file")
            scored.setdefault(by, path)
            turns.append(settings["segment_turns"])
        else:
            turns.append(settings["turns"])
    if len(scored) > 1:
        first, second, *_ = ((path, rubric) for (rubric, _), path in scored.items())
        msg = f"{first[0]} was scored by {first[1]}, {second[0]} by {second[1]}: one reward cannot be both"
        raise UsageError(msg, hint="write the prompts of each by themselves")
    rubric, weights = next(iter(scored), (usual.rubric, usual.weights))
    return SessionReward(rubric, weights, max(turns) or usual.turns)


def _cut(run: StoredRun) -> Iterator[tuple[Conversation, list[int]]]:
    """Yield sessions with the places at which they may be cut."""
    if run.manifest.study != SEARCH:
        for talk, _ in run.judged():
            yield talk, [turn.stop for turn in talk.new_turns]
        return
    for one in read_trajectories(run):
        segments = ((step.start, step.committed) for step in one.steps)
        yield one.conversation, [start + len(best.messages) for start, best in segments if best is not None]
