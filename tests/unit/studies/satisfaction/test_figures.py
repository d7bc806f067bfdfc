from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.stats import ClusterDraws, scores_of
from dialogauge.studies.satisfaction.figures import FIGURES, metrics_of, rated_table
from rated import figures_of_scores as figures_of
from rated import rated_answer

GOLD = [5, 4, 3, 4, 2, 5, 5, 3, 1, 4, 4, 4, 3, 5]
SAID = [5, 4, 4, 3, 3, 4, 5, 3, 2, 5, 4, 4, 4, 4]
USERS = "aaaaabbbbcccdd"


def scored(gold, said, users, blocks=None):
    blocks = blocks or users
    return list(zip(users, blocks, gold, said, strict=True))


# PT-11 of the acceptance cases, computed by the authors' code.
PT11 = {
    "mae": 0.5714285714285714,
    "rmse": 0.7559289460184544,
    "pearson": 0.7705156039303671,
    "spearman": 0.6925910790326334,
    "qwk": 0.7227722772277227,
    "accuracy": 0.7857142857142857,
    "f1_macro": 0.7543859649122806,
    "f1_sat": 0.8421052631578947,
    "f1_dsat": 0.6666666666666666,
    "precision_sat": 0.8,
    "recall_sat": 0.8888888888888888,
    "precision_dsat": 0.75,
    "recall_dsat": 0.6,
    "boundary_kappa": 0.5116279069767442,
    "auc": 0.8222222222222222,
    "false_sat": 0.4,
    "false_dsat": 0.1111111111111111,
    "per_user_pearson": 0.8482327347021157,
    "per_user_spearman": 0.8448410888857678,
    "per_user_mae": 0.5714285714285714,
    "per_user_rmse": 0.7452472341801775,
    "per_user_qwk": 0.7411924119241191,
    "within_user_pearson": 0.7733557307397825,
    "within_user_spearman": 0.6666683127632982,
    "within_user_mae": 0.6095238095238094,
    "within_user_rmse": 0.7302967433402214,
    "per_user_accuracy": 0.7777777777777778,
    "per_user_f1_macro": 0.7685185185185185,
    "per_user_f1_sat": 0.8148148148148148,
    "per_user_f1_dsat": 0.7222222222222222,
    "per_user_precision_sat": 0.8148148148148148,
    "per_user_recall_sat": 0.8148148148148148,
    "per_user_boundary_kappa": 0.537037037037037,
    "per_user_auc": 0.8148148148148148,
    "within_user_boundary_pearson": 0.5437950311197374,
    "within_user_boundary_spearman": 0.512990734188545,
    "within_user_boundary_mae": 0.3304761904761905,
    "within_user_boundary_rmse": 0.3778384638465289,
}

OF_OURS = {"within_block_pearson", "within_block_spearman"}
OF_OURS |= {"bias", "over_rated", "under_rated", "far_off"}


@pytest.mark.parametrize("name", PT11)
def test_pt11(name) -> None:
    found = figures_of(scored(GOLD, SAID, USERS), draws=0)
    assert found.values[name] == pytest.approx(PT11[name], abs=1e-12)


def test_pt11_counts() -> None:
    found = figures_of(scored(GOLD, SAID, USERS), draws=0)
    assert (found.n, found.users) == (14, 4)
    assert found.users_used == {"correlation": 2, "boundary": 2}
    assert set(PT11) | OF_OURS == set(FIGURES)


def test_over_and_under_rating() -> None:
    found = figures_of(scored([5, 4, 3, 1], [4, 4, 5, 4], "aabb"), draws=0).values
    assert found["over_rated"] == 0.5
    assert found["under_rated"] == 0.25
    assert found["far_off"] == 0.5
    assert found["bias"] == 1


def test_constant_judge_has_no_correlation() -> None:
    found = figures_of(scored(GOLD, [4] * 14, USERS), failed=3, draws=50).to_json()
    assert found["pearson"] is None
    assert found["precision_dsat"] is None
    assert found["within_user_spearman"] is None
    assert found["qwk"] == pytest.approx(0)
    assert (found["f1_dsat"], found["false_sat"], found["false_dsat"]) == (0, 1, 0)
    assert found["n_failed"] == 3


def test_nothing_scored_is_undefined() -> None:
    found = figures_of([], failed=2)
    assert (found.n, found.n_failed, found.users) == (0, 2, 0)
    assert set(found.values.values()) == {None}


def test_within_blocks() -> None:
    blocks = ["x", "x", "y", "y"]
    found = figures_of(scored([1, 2, 4, 5], [2, 1, 5, 4], "uuuu", blocks), draws=0)
    assert found.values["within_block_pearson"] == pytest.approx(-1)
    assert found.values["within_user_pearson"] == pytest.approx(0.8)


def test_intervals_draw_users() -> None:
    users = "abcdefghij" * 10
    rng = np.random.default_rng(1)
    gold = rng.integers(1, 6, 100).tolist()
    said = [min(5, max(1, g + int(d))) for g, d in zip(gold, rng.integers(-1, 2, 100), strict=True)]
    found = figures_of(scored(gold, said, users), draws=300, seed=3)
    again = figures_of(scored(gold, said, users), draws=300, seed=3)
    assert found == again
    for name in ("pearson", "qwk", "f1_dsat", "within_user_pearson", "per_user_mae"):
        low, high = found.intervals[name]
        assert low < found.values[name] < high


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=25
    ),
    st.randoms(),
)
def test_order_of_rows_makes_no_difference(rows, random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    a, b = (figures_of([(u, u, g, s) for u, g, s in order], draws=0).values for order in (rows, shuffled))
    for name in FIGURES:
        assert a[name] == (None if b[name] is None else pytest.approx(b[name], abs=1e-9)), name


def test_deals_are_averaged_and_share_the_draws() -> None:
    table = rated_table([rated_answer(u, g, 4) for u, g in zip("abcd" * 5, [5, 4, 3, 1] * 5, strict=True)])
    deals = scores_of([5, 4, 4, 2] * 5), scores_of([4, 5, 2, 4] * 5)
    found = metrics_of(table, {"dealt": deals}, failed=1, draws=ClusterDraws(100, 4))["dealt"]
    first, second = (metrics_of(table, {"one": deal})["one"].values["mae"] for deal in deals)
    assert found.values["mae"] == pytest.approx((first + second) / 2)
    assert set(found.intervals) == set(FIGURES)
    low, high = found.intervals["mae"]
    assert low <= first < second <= high
    assert found.n_failed == 1


def test_a_perfect_judge_has_a_whole_correlation_per_user() -> None:
    found = figures_of(scored([1, 3, 5, 2, 4, 5], [1, 3, 5, 2, 4, 5], "aaabbb"), draws=0).values
    assert (found["per_user_pearson"], found["per_user_spearman"]) == (1, 1)
    found = figures_of(scored([1, 3, 5, 2, 4, 5], [5, 3, 1, 4, 2, 1], "aaabbb"), draws=0).values
    assert found["per_user_pearson"] == -1


def test_fewer_than_three_users_give_no_interval_of_users() -> None:
    gold, said = [1, 3, 5, 2, 4, 4, 5, 4, 4] * 2, [2, 3, 5, 4, 4, 4, 4, 4, 4] * 2
    users = "aaabbbccc" + "dddeeefff"
    found = figures_of(scored(gold, said, users), draws=200)
    assert found.users_used["correlation"] == 2
    assert found.values["per_user_pearson"] is not None
    assert found.intervals["per_user_pearson"] is None
    assert found.intervals["per_user_mae"] is not None
    assert figures_of(scored(gold * 2, said * 2, users + users.upper()), draws=200).intervals[
        "per_user_pearson"
    ]


def test_half_points_go_upward() -> None:
    found = figures_of(scored([3.5, 4.5, 3, 4.4], [4, 5, 3, 4], "abcd")).values
    assert found["qwk"] == 1
