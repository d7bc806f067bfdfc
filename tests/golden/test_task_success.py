"""Task success on the data of TD-Eval, against what its authors stored.

Source: github.com/emrecanacikgoz/TD-Eval at f13c301: Inform and Success of 100 dialogues of AutoTOD as its
copy of github.com/Tomiinek/MultiWOZ_Evaluation computed them, and rewards of tau-bench.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from benchmarks.tdeval import PACK, SHARED, multiwoz

from dialogauge.core import Conversation
from dialogauge.data import read_conversations
from dialogauge.judges.success.multiwoz import MultiwozSuccess, own_turns
from dialogauge.judges.success.multiwoz_data import goal_of, read_venues
from dialogauge.judges.success.tau import TauSuccess

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("tdeval"),
]

SLOTS = ("NAME", "PHONE", "ADDRESS", "POST", "REFERENCE", "TRAINID")


@cache
def conversations(name: str) -> tuple[Conversation, ...]:
    return tuple(c for c in read_conversations([str(PACK / name)]) if isinstance(c, Conversation))


@cache
def judge() -> MultiwozSuccess:
    return MultiwozSuccess(read_venues(str(PACK / "mwoz_db")))


@cache
def scores(source: str) -> dict[str, dict[str, int]]:
    judged = {c.id: judge().judge_now(_of(c, source)).outcome for c in conversations("autotod_mwoz.jsonl.gz")}
    return {id: {name: outcome.numbers[name] for name in outcome.numbers} for id, outcome in judged.items()}


def _of(c: Conversation, source: str) -> Conversation:
    """As it is stored, or as any agent's dialogue is: with a goal, and what its calls and replies say."""
    return c if source == "stored" else replace(c, metadata={"goal": c.metadata["goal"]})


def total(source: str, name: str) -> int:
    return sum(one[name] for one in scores(source).values())


def equal(source: str, name: str, field: str) -> int:
    """In how many dialogues a score is what the authors stored."""

    def stored(dialogue: str) -> bool:
        value = multiwoz()[dialogue][field]
        return bool(value.get("total") if isinstance(value, dict) else value)

    return sum(bool(one[name]) == stored(id) for id, one in scores(source).items())


def test_inform_and_success_of_every_dialogue_are_those_that_are_stored():
    assert (total("stored", "inform"), total("stored", "success")) == (75, 29)
    assert (equal("stored", "inform", "offline_match"), equal("stored", "success", "offline_success")) == (
        100,
        100,
    )


def test_what_failed_is_the_same_by_domain():
    for c in conversations("autotod_mwoz.jsonl.gz"):
        domains = judge().judge_now(c).outcome.details["domains"]
        stored = multiwoz()[c.id]["offline_match"]
        assert {d: o["inform"] for d, o in domains.items()} == {d: stored[d] for d in domains}


def test_our_own_reading_of_the_475_turns():
    """Where ours differs from the stored one it is mostly right: a name in bold type, a phone number with a
    space, `feel free to ask`, which is no restaurant, and texts that were stored with another turn."""
    same, slots = Counter(), Counter()
    for c in conversations("autotod_mwoz.jsonl.gz"):
        venues, stored = judge().venues, judge().goals.of(c).readings
        for own, theirs in zip(own_turns(c, venues), stored, strict=True):
            same["turns"] += 1
            same["state"] += own.reading.state == theirs.state
            same["domain"] += own.reading.active == theirs.active
            told = {slot for slot in SLOTS if slot in theirs.delexicalised}
            same["placeholders"] += set(own.reading.delexicalised.split()) == told
            slots.update(slot for slot in SLOTS if (slot in told) == (slot in own.reading.delexicalised))
    assert same == {"turns": 475, "state": 445, "domain": 472, "placeholders": 332}
    assert slots == {"NAME": 381, "PHONE": 454, "ADDRESS": 459, "POST": 473, "REFERENCE": 449, "TRAINID": 454}


def test_by_our_own_reading_most_dialogues_succeed():
    """What the stored reading lacks is mostly the reference, which counts only where the corpus booked."""
    assert (total("own", "inform"), total("own", "success")) == (90, 87)
    assert (equal("own", "inform", "offline_match"), equal("own", "success", "offline_success")) == (83, 40)


def test_goals_of_the_corpus_and_of_the_evaluator_are_the_same():
    assert all(goal_of(d["goal"]) == goal_of(d["evaluator_goal"]) for d in multiwoz().values())


def test_no_gold_states_are_known():
    assert {one["joint_goal"] for one in scores("stored").values()} == {"n/a"}


@cache
def tau_runs() -> tuple[tuple[Conversation, float], ...]:
    """The runs that hold messages, with their rewards."""
    return tuple((c, c.ratings[0].score) for c in conversations("tau_trajectories") if c.messages)


def test_a_rewarded_run_has_every_output_in_its_replies():
    told = Counter()
    for c, reward in tau_runs():
        outcome = TauSuccess().judge_now(c).outcome
        told[outcome.numbers["outputs"], reward] += 1
    assert told == {("n/a", 1): 318, ("n/a", 0): 433, (1, 1): 90, (1, 0): 33, (0, 0): 124}


def test_twelve_outputs_stand_only_within_something_else():
    """Figure 2 of the paper: ten T-shirts are asked for, and a reply of another number is taken for it."""
    within = {}
    for c, reward in tau_runs():
        outcome = TauSuccess().judge_now(c).outcome
        for hit, evidence in zip(
            [h for h in outcome.details.get("outputs", ()) if h["turn"] is not None],
            outcome.evidence,
            strict=True,
        ):
            if hit["within"]:
                within[c.id] = (hit["output"], reward, evidence.quote)
    assert len(within) == 12
    assert Counter(output for output, *_ in within.values()) == {"10": 7, "327": 3, "full": 2}
    assert "1000 t-shirt options" in within["retail_2__gpt-3.5-turbo-0125__0"][2]
    assert sum(reward for _, reward, _ in within.values()) == 6


def test_absent_runs():
    absent = Counter(c.candidate for c in conversations("tau_trajectories") if not c.messages)
    assert absent == {"Mistral-Large-Instruct-2407": 38, "claude-3-5-sonnet-20241022": 4}


def test_rewards_recomputed_in_the_environment_itself():
    """All of tool-calling agents; 13 of those by text were rewarded for what their calls do not do."""
    pytest.importorskip("tau_bench")
    from dialogauge.agents import tau_bench_environment

    tau, equal = TauSuccess(tau_bench_environment()), Counter()
    for c, reward in tau_runs():
        score = tau.judge_now(c).outcome.numbers["success"]
        equal[c.metadata["style"], score == reward] += 1
    assert equal == {("tool-calling", True): 656, ("react", True): 329, ("react", False): 13}
