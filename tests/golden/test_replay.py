"""The published replay benchmark: the acceptance cases PT-10, PT-12, PT-13 and the replay rows of PT-16.

Computed by the authors' public code. Cases that need all 115 users skip where the folder has fewer.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bench_samples import board_of
from dialogauge.core import Conversation
from dialogauge.core.json_keys import as_json
from dialogauge.data import read_conversations, read_split
from dialogauge.stats import RawScore, group_means, published_interval
from dialogauge.studies.replay.board import OriginalReplies
from dialogauge.studies.replay.contexts import DialogueMemory
from dialogauge.studies.replay.diagnostics import constant_candidates, ladder
from dialogauge.studies.replay.figures import aggregate, pair_of
from dialogauge.studies.replay.items import ReplayItem
from dialogauge.studies.replay.selection import hard_picks
from dialogauge.studies.satisfaction.answers import histories_of
from dialogauge.studies.satisfaction.blocks import kept_sessions, study_data
from processors import published

SHARED = os.environ.get("DIALOGAUGE_SHARED")

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("persturnbench"),
]

FOLDER = Path(SHARED or ".") / "data" / "recllmsim"


@cache
def case(name):
    cases = json.loads((Path(SHARED or ".") / "acceptance" / "persturn_cases.json").read_text("utf-8"))
    return next(c for c in cases["cases"] if c["id"].startswith(name))


@cache
def conversations() -> list[Conversation]:
    read = list(read_conversations([str(FOLDER / "human_exp_V2")]))
    return [c for c in read if isinstance(c, Conversation)]


@cache
def dev():
    return study_data(conversations(), split=read_split(str(FOLDER / "split.json")))


@cache
def whole():
    users = {c.user_id for c in conversations()}
    if len(users) < 115:
        pytest.skip(f"this case needs all 115 users, the folder has {len(users)}")
    study = study_data(conversations())
    return [b for b in study.blocks if b.view.history]


def pt10():
    given = case("PT-10")
    reference = dict(given["input"]["B"])
    items, a, b = [], [], []
    for user, tasks in given["input"]["A"].items():
        for task, scores in tasks.items():
            for i, score in enumerate(scores):
                name = f"{user}__{task}__0.json"
                items.append(ReplayItem(f"{name}__turn_{i}", name, f"{user}__{task}", user, task, i, 5.0, ""))
                a.append(score)
                b.append(reference[f"{name}__turn_{i}"])
    return given["expect"], board_of(items, {"A": a, "B": b})


def test_pt10_aggregate() -> None:
    expect, board = pt10()
    found = aggregate(board, "A")
    given = expect["A"]
    assert (found.n, found.users, found.scenarios, found.blocks) == (13, 4, 2, 6)
    assert found.micro == given["micro_mean"]
    assert found.user_macro == pytest.approx(given["user_macro_mean"], abs=1e-12)
    assert found.task_macro == pytest.approx(given["task_macro_mean"], abs=1e-12)
    assert found.block_macro == pytest.approx(given["user_task_macro_mean"], abs=1e-12)
    assert (found.sat, found.dsat) == pytest.approx((given["sat_rate"], given["dsat_rate"]), abs=1e-12)
    assert list(found.counts.values()) == list(given["score_distribution"].values())
    assert found.scenario_means == given["task_means"]


@pytest.mark.parametrize(("draws", "seed"), [(1000, 42), (200, 7)])
def test_pt10_interval_by_users(draws, seed) -> None:
    expect, board = pt10()
    found = published_interval(group_means(board.whole[0], board.groups("user")), draws=draws, seed=seed)
    given = expect[f"ci_seed{seed}_n{draws}"]
    assert found == pytest.approx((given["low"], given["high"]), abs=1e-12)


def test_pt10_pairwise() -> None:
    expect, board = pt10()
    found = pair_of(board, "A", "B")
    given = expect["pairwise_A_vs_B"]
    for ours, theirs in (
        ("items", "micro"),
        ("users", "user_macro"),
        ("scenarios", "task_macro"),
        ("blocks", "block_macro"),
    ):
        told = as_json(getattr(found, ours))
        assert told == {k: pytest.approx(given[theirs][k], abs=1e-12) for k in told}
    assert (found.only_a, found.only_b) == (0, 0)
    wide = as_json(pair_of(board, "A", "B", 1.0).items)
    assert wide == {k: pytest.approx(expect["pairwise_margin_1"][k], abs=1e-12) for k in wide}


def test_pt12_first_items_of_the_shared_users() -> None:
    # The best turn of every user comes first, in the order of their names: these are among the dev users.
    for pick, given in zip(hard_picks(dev().blocks), case("PT-12")["expect"]["first5"], strict=False):
        assert (pick.id, pick.weight, list(pick.reasons), int(pick.kind)) == (
            given["sample_id"],
            given["selection_score"],
            given["reasons"],
            given["gold"],
        )


def test_pt12_whole_selection() -> None:
    picks, expect = hard_picks(whole()), case("PT-12")["expect"]
    assert (len(picks), len({p.user for p in picks}), len({p.block for p in picks})) == (300, 90, 180)
    assert Counter(p.kind for p in picks) == expect["gold_counts"]
    per_block = Counter(Counter(p.block for p in picks).values())
    assert {str(k): v for k, v in per_block.items()} == expect["records_per_block"]
    told = "\n".join(sorted(p.id for p in picks))
    assert hashlib.sha256(told.encode()).hexdigest() == expect["sha256_sorted_ids_newline"]
    assert [p.id for p in picks[-3:]] == [entry["sample_id"] for entry in expect["last3"]]


@pytest.mark.parametrize("rule", ["tfidf", "diverse"])
def test_pt13_dialogue_memory(rule) -> None:
    given = case("PT-13")
    name = given["input"]["sample_id"]
    block = next(b for b in dev().blocks if any(t.id == name for t in b.view.targets))
    reply = next(t for t in block.view.targets if t.id == name)
    assert len(reply.before) == given["input"]["prefix_messages"]
    memory = DialogueMemory(block.view.scenario, [r.reply for r in block.view.history])
    assert len(memory.past) == given["input"]["index_size"]
    found = memory.recall(reply.before, rule)
    assert [r.reply.id for r in found] == given["expect"][rule]["ids"]
    assert [r.cosine for r in found] == [published(s, 6, 0.003) for s in given["expect"][rule]["sims"]]


@pytest.mark.parametrize("level", [5, 4, 3])
def test_pt16_constant_candidates_with_gold_as_reference(level) -> None:
    blocks = whole()
    picks = hard_picks(blocks)
    touched = {p.block for p in picks}
    held = [b for b in blocks if b.view.id in touched]
    items = tuple(
        ReplayItem(p.id, p.reply.conversation.id, p.block, p.user, p.block.split("__")[1], 0, p.score, "")
        for p in picks
    )
    reference = tuple(
        RawScore(r.reply.id, r.score, r.reply.position, b.view.id) for b in held for r in b.ratings
    )
    # As the published prompt sees them: the kept conversations, the mean with two decimals.
    cut = [replace(b, view=replace(b.view, history=kept_sessions(b.view.history))) for b in held]
    turns = {b.view.id: len(b.view.history) for b in held}
    histories = {n: replace(h, mean=round(h.mean or 0, 2)) for n, h in histories_of(cut, turns).items()}
    board = board_of(
        items, {}, reference=OriginalReplies(reference, {}), histories=histories, ties="sample-id"
    )
    expect = case("PT-16")["expect"]["replay_gold_reference"][f"all{level}"]
    for view, key in (("reference-cdf", "reference_cdf"), ("mean-shift", "reference_mean_shift")):
        steps = {score: of.viewed_as(view) for score, of in constant_candidates(board).items()}
        found, given = ladder(steps)[level], expect[key]
        assert list(found.counts.values()) == given["counts"]
        assert round(found.micro or 0, 4) == given["micro"]
        assert round(found.user_macro or 0, 4) == given["user_macro"]
        if "ci" in given:
            assert (found.primary.low, found.interval.high) == pytest.approx(given["ci"], abs=1e-9)
            assert round(found.task_macro or 0, 4) == given["task_macro"]
            assert round(found.block_macro or 0, 4) == given["block_macro"]
