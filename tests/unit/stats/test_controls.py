"""The controls: each by hand, and what they are given for nothing."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE, Scale
from dialogauge.stats.agreement import figures_of
from dialogauge.stats.comparison import compare_pairs
from dialogauge.stats.controls import CONTROLS, control_columns, controls_of, deal_by, deals, thirds
from dialogauge.stats.table import ScoreTable, parse_rule, scores_of
from sets import examples


def table(said, gold, *, lengths=None, positions=None, blocks=None, **judge):
    sources = {"judge": scores_of(said, **judge), "people": scores_of(gold)}
    clusters = tuple(range(len(gold)))
    given_ = (None if of is None else np.array(of, dtype=float) for of in (positions, lengths))
    return ScoreTable(
        sources, clusters, blocks=blocks, **dict(zip(("positions", "lengths"), given_, strict=True))
    )


def columns(of, rule=None, **how):
    return {name: c.versions for name, c in controls_of(of, "judge", "people", rule=rule, **how).items()}


def test_the_controls_are_those_that_the_table_has_the_means_for():
    of = table([3, 4], [4, 4], lengths=[1, 2], positions=[1, 2])
    assert list(controls_of(of, "judge", "people", rule=parse_rule("<3"))) == list(CONTROLS)
    assert tuple(controls_of(table([3], [4]), "judge", "people")) == ("constant", "shuffled")


def test_constant_is_the_score_that_people_give_most_the_lowest_of_several():
    found = columns(table([1, 1, 1, 1, 1], [2, 4, 4, 2, 5]), parse_rule("<3"))
    assert found["constant"][0].values.tolist() == [2] * 5
    assert found["constant"][0].dissatisfied.tolist() == [1] * 5
    halves = controls_of(table([1, 1, 1], [3.5, 4.4, 1]), "judge", "people")["constant"]
    assert halves.versions[0].values.tolist() == [4] * 3
    assert halves.description == "always says 4, the score that people give most"


def test_always_dissatisfied_says_the_worst_score():
    assert columns(table([3], [4]), parse_rule("<3"))["always dissatisfied"][0].values.tolist() == [1]
    turned = columns(table([3], [4], scale=Scale(1, 5, higher_is_better=False)), parse_rule(">3"))
    assert turned["always dissatisfied"][0].values.tolist() == [5]
    assert turned["always dissatisfied"][0].dissatisfied.tolist() == [1]


def test_length_and_position_rank_in_both_directions():
    of = table([3] * 4, [2, 3, 4, 3], lengths=[10, 20, 40, 30], positions=[4, 3, 2, 1])
    found = columns(of, parse_rule("<3"))
    longer, shorter = found["reply length"]
    assert longer.values.tolist() == [2, 3, 4, 3]
    assert longer.order.tolist() == [10, 20, 40, 30]
    assert longer.dissatisfied.tolist() == [1, 0, 0, 0]
    assert shorter.values.tolist() == [4, 3, 2, 3]
    later, earlier = found["position"]
    assert later.values.tolist() == [4, 3, 3, 2]
    assert earlier.order.tolist() == [-4, -3, -2, -1]


def test_each_figure_has_the_direction_in_which_it_is_better():
    # Longer is better for most, but the dissatisfied one has the longest reply of all.
    gold, lengths = [1, 2, 3, 4, 5, 1], [10, 20, 30, 40, 50, 60]
    of = table([3] * 6, gold, lengths=lengths)
    found = control_columns(controls_of(of, "judge", "people", rule=parse_rule("<2")))
    names = ["spearman", "auc"]
    both = figures_of(of, found, "people", names, rule=parse_rule("<2"))["reply length"]
    ways = [{str(i): one} for i, one in enumerate(found["reply length"])]
    alone = [
        figures_of(of, way, "people", names, rule=parse_rule("<2"))[str(i)] for i, way in enumerate(ways)
    ]
    for name in names:
        assert both.values[name] == max(one.values[name] for one in alone)


@examples(25)
@given(
    st.lists(st.tuples(*[st.integers(1, 5)] * 2, *[st.integers(0, 3)] * 2), min_size=2, max_size=12),
    st.randoms(),
)
def test_the_order_of_the_file_changes_no_control(rows, chance):
    mixed = list(rows)
    chance.shuffle(mixed)
    names = ["spearman", "qwk", "exact", "mae", "f1_dsat"]

    def figures(of):
        gold, said, lengths, positions = zip(*of, strict=True)
        one = table(said, gold, lengths=lengths, positions=positions)
        found = control_columns(controls_of(one, "judge", "people", rule=parse_rule("<3")))
        found.pop("shuffled")
        every = figures_of(one, found, "people", names, rule=parse_rule("<3"))
        return {(name, m): f.values[m] for name, f in every.items() for m in names}

    assert figures(mixed) == pytest.approx(figures(rows), nan_ok=True)


def test_equal_lengths_get_equal_scores():
    found = columns(table([3] * 4, [1, 2, 4, 5], lengths=[7, 7, 9, 9]))["reply length"][0]
    assert found.values.tolist() == [2, 2, 5, 5]


def test_names_are_dealt_by_length_too():
    people = scores_of([np.nan] * 4, dissatisfied=[1, 1, 0, 0])
    of = ScoreTable(
        {"judge": scores_of([1, 2, 4, 5]), "people": people}, tuple("abcd"), lengths=np.arange(4.0)
    )
    found = columns(of, parse_rule("DSAT"))
    assert found["reply length"][0].dissatisfied.tolist() == [1, 1, 0, 0]
    assert found["constant"][0].dissatisfied.tolist() == [0] * 4


def test_shuffled_scores_stay_in_their_block():
    blocks = ("x", "y", "x", "y", "x")
    of = table([1, 5, 2, 4, 3], [3] * 5, blocks=blocks, order=[1.1, 5.1, 2.1, 4.1, 3.1])
    found = columns(of, shuffles=8)["shuffled"]
    assert len(found) == 8
    for version in found:
        assert sorted(version.values[[0, 2, 4]]) == [1, 2, 3]
        assert sorted(version.values[[1, 3]]) == [4, 5]
        assert version.order == pytest.approx(version.values + 0.1)
    assert len({tuple(v.values) for v in found}) > 1
    again = columns(of, shuffles=8)["shuffled"]
    assert [v.values.tolist() for v in again] == [v.values.tolist() for v in found]


@examples(25)
@given(st.lists(st.sampled_from("abc"), max_size=12), st.integers(0, 9))
def test_deals_are_orders_within_blocks(blocks, seed):
    of = table([3] * len(blocks), [3] * len(blocks), blocks=tuple(blocks))
    for order in deals(of, shuffles=3, seed=seed):
        assert sorted(order.tolist()) == list(range(len(blocks)))
        assert [blocks[i] for i in order] == blocks


@examples(25)
@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(0, 50)), min_size=1, max_size=20, unique_by=lambda p: p[1]
    )
)
def test_what_is_dealt_by_different_lengths_is_as_people_gave_it(pairs):
    gold, lengths = zip(*pairs, strict=True)
    found = deal_by(np.array(lengths, dtype=float), scores_of(gold))
    assert Counter(found.values.tolist()) == Counter(map(float, gold))
    assert (np.diff(found.values[np.argsort(lengths)]) >= 0).all()


def test_thirds_are_the_three_best_scores():
    lengths = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert thirds(lengths, lengths, ONE_TO_FIVE).values.tolist() == [3, 3, 4, 4, 5, 5]
    assert thirds(np.array([9.0]), [1, 2, 3], Scale(0, 10)).values.tolist() == [10]
    assert thirds(np.empty(0), [], ONE_TO_FIVE).values.size == 0


def against(of, rule=None):
    found = controls_of(of, "judge", "people", rule=rule)
    sources = {"judge": of.sources["judge"], **control_columns(found)}
    names = ["spearman", "exact", "mae"]
    figures = figures_of(of, sources, "people", names, rule=rule)
    pairs = [("judge", name) for name in found]
    return {(c.b, c.measure): c for c in compare_pairs(figures, pairs, names)}


def test_a_good_judge_is_above_every_control_and_a_random_one_above_none():
    rng = np.random.default_rng(2)
    gold = rng.integers(1, 6, 200)
    said = np.clip(gold + rng.integers(-1, 2, 200), 1, 5)
    lengths, positions = rng.integers(1, 99, 200), rng.integers(1, 9, 200)
    good = against(table(said, gold, lengths=lengths, positions=positions))
    assert {c.side for c in good.values()} == {"above"}
    poor = against(table(rng.permutation(said), gold, lengths=lengths, positions=positions))
    assert poor["shuffled", "spearman"].side == "not distinguishable"
    assert poor["constant", "mae"].side != "above"
    assert good["constant", "spearman"].figure_b is None


def test_a_judge_that_reads_length_alone_is_not_told_from_it():
    rng = np.random.default_rng(4)
    lengths = rng.integers(1, 999, 120)
    gold = np.clip(np.rint(lengths / 200 + rng.normal(size=120)), 1, 5)
    judge = deal_by(lengths.astype(float), scores_of(gold))
    found = against(table(judge.values, gold, lengths=lengths))
    assert found["reply length", "mae"].side == "not distinguishable"
    assert found["shuffled", "mae"].side == "above"
