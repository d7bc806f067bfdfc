from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.core import JudgeFailure, UsageError
from dialogauge.core.protocols import Population, RatedReply
from dialogauge.data import UserSplit
from dialogauge.judges.personal.baselines import (
    HISTORY_JUDGES,
    build_history_judge,
    majority,
    pick,
    quantile_at,
)
from dialogauge.judges.personal.reply_unread import fit_reply_unread
from dialogauge.stats import cuts_of
from dialogauge.studies.satisfaction.blocks import study_data
from knowing import request_of
from rated import rated_talk

TALKS = [
    rated_talk("t1", "a", 0, [5, 5]),
    rated_talk("t1", "b", 0, [2]),
    rated_talk("me", "a", 0, [4, 3]),
    rated_talk("me", "b", 0, [5, 5, 2]),
    rated_talk("me", "c", 0, [3], text="b question"),
    rated_talk("new", "a", 0, [1]),
]
SPLIT = UserSplit(frozenset({"t1"}), frozenset({"me", "new"}))


async def said(name, block="me__a", **settings):
    study = study_data(TALKS, split=SPLIT)
    view = next(b.view for b in study.blocks if b.view.id == block)
    rows = await build_history_judge(name, **settings).judge(request_of(view, study.population))
    assert [r.target.turn for r in rows] == [t.turn for t in view.targets]
    return [(r.outcome.scores["satisfaction"].whole, r.outcome.scores["satisfaction"].value) for r in rows]


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("global-mean", (4, 4)),
        ("global-majority", (5, 5)),
        ("task-mean", (5, 5)),
        ("task-majority", (5, 5)),
        ("history-mean", (4, 3.75)),
        ("history-median", (4, 4)),
        ("history-majority", (5, 5)),
    ],
)
async def test_constant_guesses(name, guess) -> None:
    assert await said(name) == [guess, guess]


async def test_task_judges_fall_back_to_all_scenarios() -> None:
    assert await said("task-mean", "me__c") == [(4, 4)]
    assert await said("task-majority", "me__c") == [(4, 4)]


async def test_dealt_scores_are_those_of_the_history() -> None:
    # quantiles 1/4 and 3/4 of 2, 3, 5, 5
    assert sorted(s for s, _ in await said("history-cdf-hash")) == [3, 5]


async def test_nearest_turns() -> None:
    # the request of me__c speaks of b; its nearest turn is the last, short one of a or one of b
    (one,) = await said("nearest-1", "me__c")
    assert one[0] == one[1]
    (three,) = await said("nearest-3", "me__c")
    assert three[1] * 3 == pytest.approx(round(three[1] * 3))
    # all four history turns, nearly equally weighted: about their mean of 3.75
    rows = await said("episodic-nearest", k=20)
    assert all(score == 4 and 3.5 < value < 4.5 for score, value in rows)


@pytest.mark.parametrize("name", HISTORY_JUDGES)
async def test_without_history_the_others_speak(name) -> None:
    study = study_data(TALKS, split=SPLIT)
    view = next(b.view for b in study.blocks if b.view.user == "new")
    (row,) = await build_history_judge(name).judge(request_of(view, study.population))
    assert row.outcome.details["prior"] is True
    # Of the one who is known two 5s came after a mean of 2, and a 2 after a mean of 5: about 3 lies between.
    assert row.outcome.numbers["satisfaction"] in ((3,) if name == "reply-unread" else (4, 5))
    (lost,) = await build_history_judge(name).judge(request_of(view, Population(())))
    assert isinstance(lost.outcome, JudgeFailure)


def rated_scores(*scores):
    reply = study_data(TALKS, split=SPLIT).blocks[0].view.targets[0]
    return [RatedReply(reply, s) for s in scores]


@pytest.mark.parametrize(
    ("strategy", "k", "chosen"),
    [
        ("topk", 3, [0, 1, 2]),
        ("boundary-paired", 4, [2, 3, 0, 1]),
        ("boundary-paired", 1, [2]),
        ("score-balanced", 3, [2, 0, 1]),
        ("score-balanced", 6, [2, 3, 0, 4, 1, 5]),
        ("topk", 99, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_strategies(strategy, k, chosen) -> None:
    history = rated_scores(4, 5, 3, 1, 4, 5)
    assert pick(history, [0, 1, 2, 3, 4, 5], strategy, k) == chosen


# PT-06 of the acceptance cases.
def test_primitives() -> None:
    assert majority([4, 5, 4, 5, 3]) == 4
    assert majority([1, 2, 3]) == 1
    steps = (0.0, 0.125, 0.25, 0.5, 0.74, 0.75, 0.99, 1.0)
    assert [quantile_at([3, 4, 4, 5], q) for q in steps] == [3, 3, 4, 4, 4, 5, 5, 5]


def test_names_and_settings_are_checked() -> None:
    with pytest.raises(UsageError, match="'nearest-9'"):
        build_history_judge("nearest-9")
    with pytest.raises(UsageError, match="neither --strategy nor --k"):
        build_history_judge("history-mean", k=3)
    digests = {build_history_judge("episodic-nearest", k=k).digest for k in (1, 2, 3)}
    assert len(digests) == 3


async def test_the_reply_unread_is_least_squares_on_mean_length_and_place() -> None:
    talks = [
        rated_talk(f"t{u}", task, 0, [1 + (u + turn) % 5 for turn in range(6)], text="x" * (u + 1))
        for u in range(10)
        for task in "ab"
    ]
    split = UserSplit(frozenset(f"t{u}" for u in range(10)), frozenset({"me", "new"}))
    study = study_data([*talks, *TALKS[2:]], split=split)
    fit = fit_reply_unread(study.population)
    rows, gold, users = [], [], []
    centre = sum(study.population.scores) / len(study.population.scores)
    for block in study.population.blocks:
        mean = sum(block.view.scores) / len(block.view.scores)
        for rated in block.ratings:
            reply = rated.reply
            rows.append([1.0, mean - centre, math.log1p(len(reply.text)), math.log1p(reply.position)])
            gold.append(rated.score - centre)
            users.append(block.view.user)
    # A ridge of 1 is four more rows that say nothing.
    design, above = np.vstack([rows, np.eye(4)]), np.array([*gold, 0, 0, 0, 0])
    assert fit.weights == pytest.approx(np.linalg.lstsq(design, above, rcond=None)[0])
    # The cuts are those of ratings foretold by a fit without the user.
    foretold = []
    for user, line in zip(users, rows, strict=True):
        others = np.array([u != user for u in users] + [True] * 4)
        foretold.append(line @ np.linalg.lstsq(design[others], above[others], rcond=None)[0])
    assert fit.cuts == pytest.approx(cuts_of(centre + np.array(foretold), centre + np.array(gold)))
    assert fit.whole(np.array(fit.cuts)).tolist() == [1, 2, 3, 4]
    view = next(b.view for b in study.blocks if b.view.id == "me__a")
    row = await build_history_judge("reply-unread").judge(request_of(view, study.population))
    score = row[0].outcome.scores["satisfaction"]
    assert score.value == pytest.approx(fit.of_view(view)[0])
    assert score.whole == 1 + sum(score.value > cut for cut in fit.cuts)


async def test_the_reply_unread_is_fitted_once_for_a_population(monkeypatch) -> None:
    fits = []

    def counted(population):
        fits.append(population)
        return fit_reply_unread(population)

    monkeypatch.setattr("dialogauge.judges.personal.baselines.fit_reply_unread", counted)
    study, judge = study_data(TALKS, split=SPLIT), build_history_judge("reply-unread")
    for population in (study.population, Population(study.population.blocks[:1])):
        for block in study.blocks:
            await judge.judge(request_of(block.view, population))
    assert [len(population.blocks) for population in fits] == [2, 1]


def test_a_block_that_nobody_rated_tells_nothing() -> None:
    known = study_data(TALKS, split=SPLIT).population
    unrated = replace(known.blocks[0], view=replace(known.blocks[0].view, user="t2"), ratings=())
    more = fit_reply_unread(Population((*known.blocks, unrated)))
    assert more.weights == pytest.approx(fit_reply_unread(known).weights)


async def test_nobody_known_leaves_the_history() -> None:
    assert fit_reply_unread(Population(())) is None
    view = next(b.view for b in study_data(TALKS, split=SPLIT).blocks if b.view.id == "me__a")
    (row, *_) = await build_history_judge("reply-unread").judge(request_of(view, Population(())))
    assert row.outcome.scores["satisfaction"].value == pytest.approx(3.75)
