"""The published protocol and baselines of PersTurnBench on the users that the shared data holds.

Figures: the acceptance cases PT-01, PT-07, PT-08 and PT-16 and the baseline rows on the first 20 test users,
computed by the authors' public code. Cases that need all 115 users skip where the folder has fewer.
"""

from __future__ import annotations

import asyncio
import json
import os
from functools import cache
from pathlib import Path

import pytest

from dialogauge.bench.satisfaction.study import plan_study
from dialogauge.core import Conversation
from dialogauge.data import read_conversations, read_split
from dialogauge.judge.history import build_history_judge

SHARED = os.environ.get("DIALOGAUGE_SHARED")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("persturnbench"),
]

FOLDER = Path(SHARED or ".") / "data" / "recllmsim"


@cache
def conversations() -> list[Conversation]:
    read = list(read_conversations([str(FOLDER / "human_exp_V2")]))
    assert all(isinstance(c, Conversation) for c in read)
    return [c for c in read if isinstance(c, Conversation)]


@cache
def study(part="test", history="all"):
    split = read_split(str(FOLDER / "split.json"))
    return plan_study(conversations(), part=part, split=split, history=history)


@cache
def case(name):
    cases = json.loads((Path(SHARED or ".") / "acceptance" / "persturn_cases.json").read_text("utf-8"))
    return next(c for c in cases["cases"] if c["id"].startswith(name))


@cache
def guesses(name, strategy=None, k=None):
    judge = build_history_judge(name, strategy=strategy, k=k)
    out = {}
    for block in study().blocks:
        rows = asyncio.run(judge.judge_block(block.view, study().population))
        out[block.view.id] = [r.outcome for r in rows]
    return out


def test_pt01_blocks_of_the_shared_users() -> None:
    dev, train = study(), study("train")
    assert (len(dev.blocks), dev.users, dev.targets) == (80, 20, 1594)
    assert (len(train.blocks), train.users, train.targets) == (85, 22, 1413)
    expected = case("PT-01")["expect"]
    assert sorted(train.split.train) == sorted(expected["train"]["user_ids"])
    assert dev.blocks[0].view.id == expected["test"]["first_block"]


def test_pt01_whole_test_part() -> None:
    users = {c.user_id for c in conversations()}
    if len(users) < 115:
        pytest.skip(f"PT-01 needs all 115 users, the folder has {len(users)}")
    whole = plan_study(conversations())
    expected = case("PT-01")["expect"]["test"]
    known = [b for b in whole.blocks if b.view.history]
    assert (len(known), sum(len(b.view.targets) for b in known)) == (expected["blocks"], 6474)


PT07 = {
    "global_mean": "global-mean",
    "global_majority": "global-majority",
    "task_mean": "task-mean",
    "task_majority": "task-majority",
    "user_history_mean": "history-mean",
    "user_history_median": "history-median",
    "user_history_majority": "history-majority",
    "user_history_cdf_hash": "history-cdf-hash",
    "nearest_history_turn": "nearest-1",
    "nearest_history_turn_k3": "nearest-3",
}


def pt07_block():
    expected = case("PT-07")
    return expected, next(b for b in study().blocks if b.view.id == expected["input"]["block"])


def test_pt07_block_and_population() -> None:
    expected, block = pt07_block()
    assert [t.id for t in block.view.targets] == expected["expect"]["sample_ids"]
    assert [r.score for r in block.ratings] == expected["expect"]["gold"]
    given = expected["input"]
    assert len(study().population.scores) == given["train_scores"]
    assert sum(study().population.scores) / 1413 == given["train_mean"]
    assert len(block.view.history) == given["history_turns"]


@pytest.mark.parametrize("row", PT07)
def test_pt07_baselines(row) -> None:
    expected, block = pt07_block()
    found = guesses(PT07[row])[block.view.id]
    assert [o.scores["satisfaction"] for o in found] == expected["expect"]["pred"][row]


@pytest.mark.parametrize(
    ("strategy", "row", "shown"),
    [
        ("topk", "episodic_topk_similar_k6", "turn0_top6_topk"),
        ("boundary-paired", "episodic_boundary_paired_k6", "turn0_top6_boundary"),
    ],
)
def test_pt07_episodic(strategy, row, shown) -> None:
    expected, block = pt07_block()
    found = guesses("episodic-nearest", strategy, 6)[block.view.id]
    assert [o.scores["satisfaction"] for o in found] == expected["expect"]["episodic"][row]
    sources = {s["turn_id"]: s["cosine"] for s in found[0].details["sources"]}
    assert sources == {entry[0]: entry[-1] for entry in expected["expect"][shown]}


def test_pt08_conversations_kept_for_the_prompt() -> None:
    expected = case("PT-08")["expect"]
    kept = {b.view.id: b.view for b in study(history="prompt").blocks}
    whole = {b.view.id: b.view for b in study().blocks}
    for block in ("User_0__技能学习规划", "User_0__旅行规划", "User_100__菜谱规划"):
        view, case_of = kept[block], expected[block]
        sessions = dict.fromkeys(r.reply.conversation.id for r in view.history)
        assert ["/".join(s.split("__")[1:]) for s in sessions] == case_of["selected"]
        assert len(view.history) == case_of["selected_turns"]
        assert round(sum(view.scores) / len(view.scores), 2) == case_of["selected_mean"]
        assert [view.scores.count(s) for s in range(1, 6)] == case_of["selected_counts"]
        assert [whole[block].scores.count(s) for s in range(1, 6)] == case_of["full_counts"]
        assert study().history_turns[block] == case_of["history_turns"]
