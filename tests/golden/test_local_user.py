"""`local-user` on the users that the shared data holds: the floor of its figures, and that nothing leaks."""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dialogauge.core import Conversation, Judgement
from dialogauge.data import read_conversations, read_split
from dialogauge.judges.local_user.judge import LocalUserJudge
from dialogauge.studies.replay.items import replaced
from dialogauge.studies.satisfaction.blocks import study_data
from knowing import request_of
from rated import figures_of_scores

SHARED = os.environ.get("DIALOGAUGE_SHARED")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("local-user"),
]

FOLDER = Path(SHARED or ".") / "data" / "recllmsim"
SPLIT = FOLDER / "split.json"


@cache
def conversations() -> tuple[Conversation, ...]:
    read = read_conversations([str(FOLDER / "human_exp_V2")])
    return tuple(c for c in read if isinstance(c, Conversation))


def judged(study, judge):
    """By block the scores and the values of its targets."""
    out = {}
    for block in study.blocks:
        rows = asyncio.run(judge.judge(request_of(block.view, study.population)))
        assert all(isinstance(r.outcome, Judgement) for r in rows)
        said = [
            (r.outcome.scores["satisfaction"].whole, r.outcome.scores["satisfaction"].value) for r in rows
        ]
        out[block.view.id] = np.array(said, dtype=float)
    return out


def figures(study, said, column):
    scored = [
        (b.view.user, b.view.id, r.score, float(value))
        for b in study.blocks
        for r, value in zip(b.ratings, said[b.view.id][:, column], strict=True)
    ]
    return figures_of_scores(scored).values


@cache
def dev():
    """The dev users, what the judge says of them, and the judge, which is fitted to the training users."""
    study, judge = study_data(conversations(), split=read_split(str(SPLIT))), LocalUserJudge()
    return study, judged(study, judge), judge


@pytest.mark.long
def test_the_floor_on_the_dev_users_from_one_whole_score() -> None:
    study, said, _ = dev()
    found = figures(study, said, column=0)
    floor = {"pearson": 0.42, "spearman": 0.46, "qwk": 0.41, "f1_dsat": 0.42, "within_user_pearson": 0.19}
    assert {name: found[name] for name in floor if found[name] < floor[name]} == {}


def test_the_floor_on_the_training_users_left_out() -> None:
    fitted = dev()[2].describe()["fitted_on"]
    assert (fitted["users"], fitted["turns"]) == (22, 1413)
    assert fitted["left_out_pearson"] >= 0.43


@pytest.mark.long
def test_a_reply_that_another_user_got_in_the_same_task_is_rated_lower() -> None:
    """User macro of whole scores over all dev turns, 20 users: at least half a point, at every user lower."""
    study, said, judge = dev()
    rng = random.Random(3)
    told = [(b.view.user, b.view.scenario, t.text) for b in study.blocks for t in b.view.targets]

    def instead(block):
        pool = [
            x for user, scenario, x in told if scenario == block.view.scenario and user != block.view.user
        ]
        targets = tuple(replaced(t, rng.choice(pool)) for t in block.view.targets)
        return replace(block, view=replace(block.view, targets=targets))

    swapped = replace(study, blocks=tuple(map(instead, study.blocks)))
    found = judged(swapped, judge)
    users = sorted({b.view.user for b in study.blocks})
    less = [
        np.concatenate(
            [(found[b.view.id] - said[b.view.id])[:, 0] for b in study.blocks if b.view.user == user]
        ).mean()
        for user in users
    ]
    assert len(less) == 20
    assert max(less) < 0
    assert np.mean(less) < -0.5


COURTESIES = [
    ("您提出的这个问题真的很有水平，看得出您思考得很深入！能够协助您我感到十分开心。\n\n", ""),
    ("收到！您的眼光真不错，这个想法让我眼前一亮。我这就为您送上最用心的解答！", ""),
    ("", "\n\n感谢您抽出宝贵时间阅读。日后无论遇到什么困难，都欢迎再次与我交流，祝您身体健康、阖家幸福。"),
    ("", "如果觉得哪里说得不够好，请务必告诉我，我会马上改进的。祝好运常伴您左右！✨"),
    (
        "Wow, such a thoughtful thing to ask! I'm thrilled to be of assistance.\n\n",
        "\n\nShould anything remain unclear, just say the word and I'll gladly explain more. Take care!",
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("opening", "closing"), COURTESIES)
def test_courtesies_around_a_reply_gain_nothing(opening: str, closing: str) -> None:
    """Expected ratings of all dev turns, 20 users: the user macro moves by a thousandth at most."""
    study, said, judge = dev()

    def polite(block):
        targets = tuple(replaced(t, opening + t.text + closing) for t in block.view.targets)
        return replace(block, view=replace(block.view, targets=targets))

    found = judged(replace(study, blocks=tuple(map(polite, study.blocks))), judge)
    more: dict[str, list[float]] = {}
    for block in study.blocks:
        more.setdefault(block.view.user, []).extend((found[block.view.id] - said[block.view.id])[:, 1])
    assert np.mean([np.mean(of_user) for of_user in more.values()]) < 0.001


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_no_forbidden_rating_is_used(seed: int) -> None:
    """Scrambled ratings of the block itself and of all other judged users leave its values, bit by bit."""
    study, before, _ = dev()
    rng = np.random.default_rng(seed)
    target = study.blocks[int(rng.integers(len(study.blocks)))].view
    trained = read_split(str(SPLIT)).train

    def forbidden(c: Conversation) -> bool:
        return c.user_id not in trained and (c.user_id != target.user or c.scenario == target.scenario)

    def scrambled(c: Conversation) -> Conversation:
        drawn = [
            replace(r, score=int(rng.integers(1, 6))) if r.dimension == "satisfaction" and r.turn else r
            for r in c.ratings
        ]
        return replace(c, ratings=tuple(drawn)) if forbidden(c) else c

    other = study_data(map(scrambled, conversations()), split=read_split(str(SPLIT)))
    kept = [b for b in other.blocks if b.view.user == target.user]
    after = judged(replace(other, blocks=tuple(kept)), LocalUserJudge())
    assert (after[target.id] == before[target.id]).all()
    moved = [np.abs(after[name] - before[name]).max() for name in after if name != target.id]
    assert max(moved) > 0.1
