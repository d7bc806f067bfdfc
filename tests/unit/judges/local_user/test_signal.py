"""A signal of `local-user`: its numbers by hand, what it may do to a prediction, and what it may not."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dialogauge.app.build import MODEL_JUDGES, Models, model_judge
from dialogauge.app.config import RoleSettings
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.core import Conversation, Message, Rating
from dialogauge.core.protocols import RatedReply, Reply
from dialogauge.data import UserSplit
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.local_user.judge import LocalUserJudge
from dialogauge.judges.local_user.model import ScoreSignal, choose_signals, columns_of_signal
from dialogauge.judges.local_user.process import ProcessFit, WeightInformation
from dialogauge.judges.personal.baselines import HISTORY_JUDGES, build_history_judge
from dialogauge.llm import ScriptedClient
from dialogauge.studies.satisfaction.blocks import study_data
from dialogauge.studies.satisfaction.signals import SIGNAL_JUDGES
from knowing import request_of
from rated import figures_of_scores

TRAIN, TEST = frozenset(f"u{u}" for u in range(10)), frozenset(f"u{u}" for u in range(10, 16))


@cache
def talks() -> tuple[Conversation, ...]:
    """16 users whose ratings no word tells: the replies are alike, the scores drawn."""
    rng = random.Random(0)
    out = []
    for user in sorted(TRAIN | TEST):
        for scenario in "abc":
            for number in range(2):
                id = f"{user}-{scenario}{number}"
                said, ratings = [], []
                for turn in range(1, 6):
                    said += [Message("user", "what now?"), Message("assistant", "this may help. " * 5)]
                    ratings.append(Rating(id, "satisfaction", rng.randint(1, 5), turn, user))
                out.append(
                    Conversation(id, tuple(said), user_id=user, scenario=scenario, ratings=tuple(ratings))
                )
    return tuple(out)


@cache
def study():
    return study_data(talks(), split=UserSplit(TRAIN, TEST), part="test")


def golds():
    blocks = (*study().blocks, *study().population.blocks)
    return {r.reply.id: r.score for b in blocks for r in b.ratings}


def informative(noise=1.0):
    rng = random.Random(1)
    return {id: min(5.0, max(1.0, round(g + rng.gauss(0, noise)))) for id, g in golds().items()}


def shuffled(scores):
    """The same scores, dealt anew within each block."""
    rng, out = random.Random(2), {}
    for block in (*study().blocks, *study().population.blocks):
        ids = [t.id for t in block.view.targets]
        drawn = [scores[id] for id in ids]
        rng.shuffle(drawn)
        out |= dict(zip(ids, drawn, strict=True))
    return out


async def values(judge, of=None):
    found = {}
    for block in (of or study()).blocks:
        for row in await judge.judge(request_of(block.view, (of or study()).population)):
            found[row.outcome.details["turn_id"]] = row.outcome.scores["satisfaction"].value
    return found


def within_user(found):
    scored = [(b.view.user, b.view.id, r.score, found[r.reply.id]) for b in study().blocks for r in b.ratings]
    return figures_of_scores(scored).values["within_user_pearson"]


def judge_with(*scores, names="abc"):
    return LocalUserJudge(signals=tuple(ScoreSignal(n, s) for n, s in zip(names, scores, strict=False)))


# -- numbers --------------------------------------------------------------------------------------------


def reply(id):
    return Reply(id, Conversation("c", ()), 0, 1, 0)


def test_a_score_in_deviations_and_a_missing_one_by_hand() -> None:
    known = [RatedReply(reply(id), 3.0) for id in "abcd"]
    # of the training users' replies a, b, c have 1, 3, 5: mean 3, deviation sqrt(8 / 3); d has none
    signal = ScoreSignal("zero", {"a": 1.0, "b": 3.0, "c": 5.0, "x": 4.0, "y": 9.0})
    columns = columns_of_signal(signal, known)
    assert columns is not None
    found = columns.of([reply(id) for id in "xdy"])
    unit = np.sqrt(8 / 3)
    weight = 0.5  # the prior deviation of the weight: the root of 0.25
    # y is beyond what was seen and counts as 5
    assert found == pytest.approx(np.array([[1 / unit, 0], [0, 1], [2 / unit, 0]]) * weight)
    # ratings with a deviation of 1.2; a weight of 2 on the column is one of 2 x 0.5 on the deviations
    assert columns.points(2.0, 1.2) == pytest.approx(2 * 0.5 * 1.2 / unit)


def test_nothing_can_be_learnt_of_scores_that_are_not_there_or_all_alike() -> None:
    known = [RatedReply(reply(id), 3.0) for id in "ab"]
    assert columns_of_signal(ScoreSignal("none", {"x": 1.0, "y": 2.0}), known) is None
    assert columns_of_signal(ScoreSignal("flat", {"a": 4.0, "b": 4.0, "x": 1.0}), known) is None


def test_a_signal_is_taken_where_the_error_falls_by_more_than_chance_lets_it() -> None:
    gold = [np.zeros(1)] * 4
    signals = [
        columns_of_signal(ScoreSignal(n, {"a": 1.0, "b": 2.0}), [RatedReply(reply(i), 3.0) for i in "ab"])
        for n in "xyz"
    ]
    x, y, z = signals
    nothing = WeightInformation.together([], 1)

    def names(taken):
        return "".join(c.signal.name for c in taken)

    def fit_with(errors):
        def fit(taken):
            return ProcessFit(nothing, tuple(np.array([np.sqrt(e)]) for e in errors[names(taken)]))

        return fit

    # x helps all alike, y helps one and harms the others, z helps a little less than x and nothing beside it
    errors = {"": [4, 4, 4, 4], "x": [2, 2.1, 2, 2.1], "y": [0, 5, 5, 5], "z": [3, 3.1, 3, 3.1]}
    errors |= {"xy": [0, 5, 5, 5], "xz": [2, 2.1, 2, 2.1]}

    def choose(*offered, gold=gold):
        return names(choose_signals(offered, fit_with(errors), gold)[0])

    assert choose(z, y, x) == "x"
    assert choose(z) == "z"
    assert choose(y) == ""  # it falls by 0.25 on average, and the standard error of that is 1.25
    assert choose() == ""
    errors[""] = [4]
    assert choose(x, gold=gold[:1]) == ""  # nobody to leave out


# -- what it does -----------------------------------------------------------------------------------------


async def test_a_score_that_tells_helps_and_the_same_shuffled_changes_nothing() -> None:
    plain, told = LocalUserJudge(), judge_with(informative())
    before, after = await values(plain), await values(told)
    assert within_user(before) < 0.1
    assert within_user(after) > 0.6
    assert 0.3 < told.weights["a"] < 1
    noise = judge_with(shuffled(informative()))
    assert await values(noise) == before
    assert noise.weights == {"a": 0.0}


async def test_of_two_the_one_that_tells_is_read() -> None:
    both = judge_with(shuffled(informative()), informative())
    assert await values(both) == await values(judge_with(informative()))
    assert both.weights["a"] == 0.0
    assert both.weights["b"] > 0.3
    assert both.describe()["signals"] == both.weights


async def test_a_missing_score_is_none_and_no_low_one() -> None:
    some = informative()
    gone = next(id for b in study().blocks for id in (t.id for t in b.view.targets))
    whole = await values(judge_with(some))
    without = await values(judge_with({k: v for k, v in some.items() if k != gone}))
    low = await values(judge_with({**some, gone: 1.0}))
    high = await values(judge_with({**some, gone: 5.0}))
    assert low[gone] + 0.5 < without[gone] < high[gone] - 0.5
    assert all(np.isfinite(v) for v in without.values())
    same_user = {t.id for b in study().blocks if b.view.user == "u10" for t in b.view.targets}
    assert {k: v for k, v in without.items() if k not in same_user} == {
        k: v for k, v in whole.items() if k not in same_user
    }


async def test_no_score_of_a_training_user_no_weight() -> None:
    trained = {r.reply.id for b in study().population.blocks for r in b.ratings}
    judge = judge_with({k: v for k, v in informative().items() if k not in trained})
    assert await values(judge) == await values(LocalUserJudge())
    assert judge.weights == {"a": 0.0}


async def test_forbidden_ratings_change_nothing_with_a_signal_either() -> None:
    judge = judge_with(informative())
    before = await values(judge)
    assert judge.weights["a"] > 0

    def scrambled(talk):
        if talk.user_id in TRAIN or (talk.user_id == "u10" and talk.scenario != "a"):
            return talk
        return replace(talk, ratings=tuple(replace(r, score=6 - int(r.score)) for r in talk.ratings))

    other = study_data(map(scrambled, talks()), split=UserSplit(TRAIN, TEST), part="test")
    after = await values(judge_with(informative()), other)
    block = next(b.view for b in study().blocks if b.view.id == "u10__a")
    assert {t.id: after[t.id] for t in block.targets} == {t.id: before[t.id] for t in block.targets}
    assert after != before


def test_the_scores_are_part_of_the_judges_digest() -> None:
    some = informative()
    assert judge_with(some).digest == judge_with(dict(reversed(some.items()))).digest
    changed = judge_with({**some, next(iter(some)): 2.5})
    assert len({LocalUserJudge().digest, judge_with(some).digest, changed.digest}) == 3


# -- whose scores may be one --------------------------------------------------------------------------------


def test_signals_are_the_judges_that_read_no_rating() -> None:
    class Scripted(Models):
        def client(self, role="judge"):
            return ScriptedClient(lambda request: "")

    roles = {role: RoleSettings(model="m") for role in ("judge", "memory_builder")}
    built = {n: build_history_judge(n) for n in HISTORY_JUDGES}
    built |= {"local-user": LocalUserJudge(), "local": LocalJudge(rubric_id="satisfaction")}
    for name in MODEL_JUDGES:
        options = SatisfactionOptions(inputs=("data",), judge=name, roles=roles)
        built[name] = model_judge(Scripted(options))
    reading = {n: judge.reads for n, judge in built.items()}
    assert {n for n, reads in reading.items() if not reads & {"history", "others"}} == set(SIGNAL_JUDGES)
