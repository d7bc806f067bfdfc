import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.annotate.plan import (
    AssignmentPlan,
    Chosen,
    Eligible,
    PlanRequest,
    assignment_plan,
    choose,
    divide,
)
from dialogauge.annotate.questions import RatingQuestion, preference_question
from dialogauge.core import UsageError
from sets import examples

QUESTION = RatingQuestion("satisfaction", "turn", "satisfaction", "How satisfied?")
ABOUT = {"rubric": {}, "inputs": {}, "settings": {}}


def items(*candidates, scenario="trip"):
    return [Eligible(i, f"c{i}", name, scenario, (1,)) for i, name in enumerate(candidates)]


def made(eligible, **request):
    ranked = request.pop("ranked", ())
    return assignment_plan(eligible, PlanRequest(**request), [QUESTION], ABOUT, ranked)


GROUPS = st.lists(
    st.tuples(st.sampled_from(["x", "y", "z", None]), st.sampled_from(["trip", "gift", None])),
    min_size=1,
    max_size=60,
)


@given(GROUPS, st.integers(1, 6), st.integers(0, 10), st.integers(0, 9))
def test_every_item_is_rated_and_raters_differ_by_at_most_one_of_each_candidate(groups, raters, shared, seed):
    eligible = [Eligible(i, f"c{i}", c, s) for i, (c, s) in enumerate(groups)]
    shares = divide([Chosen(e, "all", 1.0) for e in eligible], raters, shared, seed)
    own = [i for part in shares.own for i in part]
    assert sorted([*shares.shared, *own]) == list(range(len(eligible)))
    assert len(shares.shared) == min(shared, len(eligible))
    each = [len(part) for part in shares.own]
    assert max(each) - min(each) <= 1
    for key in (lambda e: e.candidate, lambda e: (e.candidate, e.scenario)):
        counts = [Counter(key(eligible[i]) for i in part) for part in shares.own]
        for name in {key(e) for e in eligible}:
            assert max(c[name] for c in counts) - min(c[name] for c in counts) <= 1


@given(GROUPS, st.integers(1, 5), st.integers(0, 6), st.integers(0, 8), st.integers(0, 9))
def test_a_plan_gives_each_rater_the_shared_items_first(groups, raters, shared, each, seed):
    eligible = [Eligible(i, f"c{i}", c, s) for i, (c, s) in enumerate(groups)]
    if not shared + each:
        return
    plan = made(eligible, raters=raters, shared=shared, each=each, seed=seed)
    assert len(plan.items) == min(len(eligible), shared + raters * each)
    for rater in plan.raters:
        first = rater.items[: len(plan.shared)]
        assert sorted(first) == sorted(plan.shared)
        assert len(set(rater.items)) == len(rater.items)
    rest = [id for rater in plan.raters for id in rater.items[len(plan.shared) :]]
    assert len(set(rest)) == len(rest)
    assert not set(rest) & set(plan.shared)
    assert {item.id for item in plan.items} == {*rest, *plan.shared}


def test_the_same_request_makes_the_same_plan_and_another_seed_another():
    eligible = items(*"xyxyxyxyxy")
    one, same, other = (made(eligible, raters=2, shared=2, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.id != other.id
    assert AssignmentPlan.from_json(one.to_json()) == one


def test_a_plans_name_is_no_number_to_a_spreadsheet():
    assert all(made(items("x", "y"), raters=1, seed=seed).id.startswith("p") for seed in range(20))


def test_ids_say_nothing_of_the_order_of_choice():
    eligible = items(*["x"] * 40)
    ranked = [(i, "lowest") for i in range(20)]
    plan = made(eligible, raters=1, each=20, way="mixed", ranked=ranked)
    sure = [item.id for item in plan.items if item.why == "lowest"]
    assert sure != [f"i{n:03}" for n in range(1, 11)]


# Chances


@examples(40)
@given(GROUPS, st.integers(1, 30), st.integers(0, 99))
def test_a_random_choice_weighs_as_much_as_the_whole(groups, number, seed):
    eligible = [Eligible(i, f"c{i}", c, s) for i, (c, s) in enumerate(groups)]
    chosen = choose(eligible, number, "random", seed)
    assert len(chosen) == min(number, len(eligible))
    assert sum(one.weight for one in chosen) == pytest.approx(len(eligible))


def test_a_random_choice_holds_candidates_in_their_proportions():
    eligible = items(*["x"] * 60, *["y"] * 30, *["z"] * 10)
    for seed in range(50):
        counts = Counter(one.item.candidate for one in choose(eligible, 20, "random", seed))
        assert counts["x"] == 12
        assert counts["y"] == 6
        assert counts["z"] == 2


@pytest.mark.parametrize(("way", "number"), [("random", 12), ("mixed", 13), ("mixed", 2)])
def test_each_items_chance_is_one_by_its_weight(way, number):
    eligible = items(*"xxxxxxxxxxyyyyyyyzz" * 2)
    ranked = [(i, "lowest" if i % 2 else "uncertain") for i in (3, 30, 11, 5, 22, 9)]
    seeds = 4_000
    times: Counter[int] = Counter()
    weights: dict[int, float] = {}
    for seed in range(seeds):
        for one in choose(eligible, number, way, seed, ranked):
            times[one.item.position] += 1
            assert weights.setdefault(one.item.position, one.weight) == one.weight
    for position, weight in weights.items():
        chance = 1 / weight
        error = (chance * (1 - chance) / seeds) ** 0.5
        assert times[position] / seeds == pytest.approx(chance, abs=4.5 * error + 1e-9)
    assert len(weights) == len(eligible)


def test_shared_items_are_a_random_part_of_what_is_chosen():
    """Whoever rates the shared ones alone has rated each kind of item in its proportion of the choice."""
    eligible = items(*["x"] * 60)
    ranked = [(i, "lowest") for i in range(60)]
    times: Counter[str] = Counter()
    for seed in range(1_000):
        plan = made(eligible, raters=2, shared=6, each=7, way="mixed", seed=seed, ranked=ranked)
        by_id = plan.by_id
        times.update(by_id[id].why for id in plan.shared)
    assert times["lowest"] == times["random"] == 3_000


@pytest.mark.long
def test_weights_make_means_over_all_conversations_unbiased():
    """Weighted by the chance of being chosen, the mean is that of all; without weights it is far off."""
    rng = np.random.default_rng(4)
    truth = np.clip(np.round(rng.normal(3.6, 1.1, 300)), 1, 5)
    judge = truth + rng.normal(0, 0.8, 300)
    eligible = items(*(rng.choice(["x", "y"], 300).tolist()))
    ranked = [(int(i), "lowest") for i in np.argsort(judge)]
    ratio, total, plain, shared = [], [], [], []
    for seed in range(2_000):
        request = PlanRequest(raters=3, shared=10, each=10, way="mixed", seed=seed)
        plan = assignment_plan(eligible, request, [QUESTION], ABOUT, ranked)
        rated = np.array([truth[item.position] for item in plan.items])
        weights = np.array([item.weight for item in plan.items])
        ratio.append((weights * rated).sum() / weights.sum())
        total.append((weights * rated).sum() / len(eligible))
        plain.append(rated.mean())
        by_all = [item for item in plan.items if item.id in plan.shared]
        w = np.array([item.weight for item in by_all])
        shared.append((w * [truth[item.position] for item in by_all]).sum() / w.sum())
    error = np.std(ratio) / 2_000**0.5
    assert np.mean(ratio) == pytest.approx(truth.mean(), abs=4 * error)
    assert np.mean(total) == pytest.approx(truth.mean(), abs=4 * error)
    assert np.mean(plain) < truth.mean() - 0.5
    # Few shared items have a mean of a ratio, whose bias falls with their number.
    assert np.mean(shared) == pytest.approx(truth.mean(), abs=0.05)


def test_where_there_is_room_for_all_all_are_chosen():
    chosen = choose(items("x", "y"), 5, "mixed", 0, [(1, "lowest")])
    assert [(one.why, one.weight) for one in chosen] == [("all", 1.0)] * 2


def test_an_active_choice_has_no_weights():
    chosen = choose(items(*"xxxx"), 2, "active", 0, [(2, "lowest"), (0, "uncertain"), (1, "lowest")])
    assert [(one.item.position, one.why, one.weight) for one in chosen] == [
        (2, "lowest", None),
        (0, "uncertain", None),
    ]


def test_what_was_chosen_before_has_its_reason_and_no_weight():
    eligible = items("x", "x")
    plan = assignment_plan(
        eligible, PlanRequest(raters=1), [QUESTION], ABOUT, reasons={0: "lowest", 1: "uncertain"}
    )
    assert sorted((item.why, item.weight) for item in plan.items) == [("lowest", None), ("uncertain", None)]


# What excludes itself


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"raters": 2, "each": 1, "way": "all"}, "--choose all, and there is room for 2 of 4"),
        ({"raters": 2, "way": "random"}, "--choose random does not say how many"),
        ({"raters": 2, "each": 0}, "the plan has no items"),
    ],
)
def test_what_excludes_itself_is_refused(request_, says):
    with pytest.raises(UsageError, match=says):
        made(items(*"xxxx"), **request_)


def test_shared_alone_is_a_plan():
    plan = made(items(*"xxxxxx"), raters=3, shared=4, each=0)
    assert [len(rater.items) for rater in plan.raters] == [4, 4, 4]
    assert {item.weight for item in plan.items} == {6 / 4}


# Pairs


def test_sides_of_pairs_are_by_chance():
    pairs = [Eligible(i, f"c{i}", "x", "trip", (), f"d{i}", "y") for i in range(100)]
    plan = assignment_plan(
        pairs, PlanRequest(raters=2, shared=100, each=0), [preference_question("en")], ABOUT
    )
    assert plan.pairs
    assert all(item.id.startswith("p") for item in plan.items)
    for rater in ("R1", "R2"):
        left = Counter(item.left[rater] for item in plan.items)
        assert 30 < left["a"] < 70
    assert any(item.left["R1"] != item.left["R2"] for item in plan.items)


def test_what_is_asked_of_an_item():
    whole = RatingQuestion("memory", "conversation", "memory", "?")
    eligible = [Eligible(0, "c", turns=(1, 3))]
    plan = assignment_plan(eligible, PlanRequest(raters=1), [QUESTION, whole], ABOUT)
    asked = [(turn, q.name) for turn, q in plan.asked(plan.items[0])]
    assert asked == [(1, "satisfaction"), (3, "satisfaction"), (None, "memory")]


def test_chance_is_not_of_the_module():
    before = random.getstate()
    made(items(*"xyxy"), raters=2)
    assert random.getstate() == before


def test_a_plan_without_digests_is_read_as_it_was_written_before_there_were_any():
    plan = made(items(*"xxx"), raters=1)
    assert all("digests" not in item for item in plan.to_json()["items"])
    assert AssignmentPlan.from_json(plan.to_json()) == plan
    named = replace(plan, items=tuple(replace(item, digests={"": "00"}) for item in plan.items), id="")
    named = replace(named, id=named.digest)
    assert named.id != plan.id
    assert AssignmentPlan.from_json(named.to_json()) == named
