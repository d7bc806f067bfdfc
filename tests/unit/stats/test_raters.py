"""Agreement among raters: by hand, bad grids, missing ratings, what is undefined and why."""

import numpy as np
import pytest

from dialogauge.core import InputError, UsageError
from dialogauge.stats import COEFFICIENTS, Categories, RatingGrid, coefficient_draws, coefficients_of

NAN = float("nan")


def grid(values, categories="1-5", *, clusters=None):
    """A grid whose targets are t0, t1, ... and whose raters are A, B, ..."""
    array = np.array(values, dtype=float)
    targets = tuple(f"t{i}" for i in range(len(array)))
    raters = tuple(chr(65 + i) for i in range(array.shape[1]))
    return RatingGrid(array, targets, raters, Categories.parse(categories), clusters or targets)


def figures(of, names=None):
    return {name: estimate.value for name, estimate in coefficients_of(of, names, intervals=False).items()}


TEN = [[1, 1], [1, 1], [1, 1], [1, 2], [2, 1], [2, 2], [2, 2], [3, 3], [3, 3], [3, 1]]
"""Exact 7 of 10; A has 4, 3, 3 of 1, 2, 3, and B 5, 3, 2."""


def test_coefficients_of_two_raters_by_hand():
    found = figures(grid(TEN, "1-3"))
    shares = np.array([9, 6, 5]) / 20
    chance = float((shares * (1 - shares)).sum() / 2)
    assert found["exact"] == pytest.approx(0.7)
    assert found["within_one"] == pytest.approx(0.9)
    assert found["randolph"] == pytest.approx((0.7 - 1 / 3) / (1 - 1 / 3))
    assert found["ac1"] == pytest.approx((0.7 - chance) / (1 - chance))
    assert found["cohen"] == pytest.approx((0.7 - 0.35) / 0.65)  # chance .4 .5 + .3 .3 + .3 .2
    assert found["fleiss"] == pytest.approx((0.7 - (shares**2).sum()) / (1 - (shares**2).sum()))
    # of the 20 ratings 9, 6, 5: 6 of 20 coincidences differ, 9 6 + 9 5 + 6 5 = 129 of 380 / 2 pairs do
    assert found["alpha_nominal"] == pytest.approx(1 - (6 / 20) / (129 / 190))


def test_weighted_agreement_by_hand():
    found = figures(grid(TEN, "1-3"))
    # of the three that differ two are a step apart (1/2 or 3/4 of agreement), one is two steps apart (none)
    shares = np.array([9, 6, 5]) / 20
    hard = float((shares * (1 - shares)).sum())
    for name, observed, agree in (("ac2_linear", 0.8, 3 + 4 * 0.5), ("ac2", 0.85, 3 + 4 * 0.75)):
        chance = agree / 6 * hard
        assert found[name] == pytest.approx((observed - chance) / (1 - chance))
    assert found["brennan_prediger"] == pytest.approx((0.85 - 6 / 9) / (1 - 6 / 9))
    # disagreement of squares: (1 + 1 + 4) / 10 against those of the margins
    chance = sum(a * b * (i - j) ** 2 for i, a in enumerate([4, 3, 3]) for j, b in enumerate([5, 3, 2])) / 100
    assert found["cohen_quadratic"] == pytest.approx(1 - 0.6 / chance)


def test_more_categories_to_choose_from_raise_ac1_and_randolph_alone():
    few, many = figures(grid(TEN, "1-3")), figures(grid(TEN, "1-5"))
    moved = {name for name in few if abs(few[name] - many[name]) > 1e-12}
    assert moved == {"ac1", "ac2", "ac2_linear", "randolph", "brennan_prediger"}
    assert few["ac1"] < many["ac1"]


def test_the_four_targets_of_six_raters_of_shrout_and_fleiss():
    """Shrout and Fleiss (1979), table 2: six targets, four judges."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = figures(grid(ratings, "1-10"))
    assert [round(found[name], 2) for name in ("icc1", "icc2", "icc3")] == [0.17, 0.29, 0.71]


def test_a_grid_with_its_axes_swapped_is_refused():
    values = np.ones((2, 5))
    with pytest.raises(UsageError, match=r"5 targets and a column for each of 2 raters.*axes are swapped"):
        RatingGrid(values, tuple("abcde"), ("A", "B"), Categories.parse("1-5"), tuple("abcde"))


@pytest.mark.parametrize(
    ("targets", "raters", "clusters", "why"),
    [
        (("a",), ("A", "B"), ("a",), "row for each of 1 targets"),
        (("a", "b"), ("A", "B", "C"), ("a", "b"), "column for each of 3 raters"),
        (("a", "a"), ("A", "B"), ("a", "b"), "target 'a' comes twice"),
        (("a", "b"), ("A", "A"), ("a", "b"), "rater 'A' comes twice"),
        (("a", "b"), ("A", "B"), ("a",), "2 targets, and clusters for 1"),
    ],
)
def test_axes_without_their_own_names_are_refused(targets, raters, clusters, why):
    with pytest.raises(UsageError, match=why):
        RatingGrid(np.ones((2, 2)), targets, raters, Categories.parse("1-5"), clusters)


def test_a_rating_off_the_scale_names_target_and_rater():
    with pytest.raises(InputError, match="target 't1', rater 'B': 6 is none of the categories 1, 2, 3, 4, 5"):
        grid([[1, 2], [3, 6]])


@pytest.mark.parametrize(
    ("of", "name", "why"),
    [
        (grid([[1], [2]]), "ac1", "one rater only: A"),
        (grid(np.empty((3, 0))), "ac1", "no raters"),
        (grid([[1, NAN], [NAN, 2]]), "ac1", "no target was rated by two raters"),
        (grid([[1, NAN, 2], [NAN, 2, 2]]), "icc2", "no target was rated by all 3 raters"),
        (grid([[1, 3, 2], [NAN, 2, 2]]), "icc3", "one target alone was rated by all 3 raters"),
        (grid([[4, 4], [4, 4]]), "alpha_nominal", "all ratings are the same"),
        (grid([[4, 4], [4, 4]]), "cohen", "all ratings are the same"),
        (grid([[4, 4], [4, 5]]), "pearson", "one gives all common targets the same"),
        (grid([[0, 1], [1, 1]], "no,yes"), "ac2", "the categories no, yes are names, which have no order"),
        (grid([[0, 1], [1, 1]], "-1-1"), "alpha_ratio", "ratios take categories of 0 and above"),
        (grid([[4, 4], [4, 4]]), "icc1", "all ratings are the same"),
    ],
)
def test_what_is_undefined_says_why(of, name, why):
    estimate = coefficients_of(of)[name]
    assert estimate.value is None
    assert estimate.interval is None
    assert why in (estimate.reason or "")


def test_all_ratings_equal_is_full_agreement_where_chance_is_not_all():
    found = figures(grid([[4, 4], [4, 4], [4, 4]]))
    defined = {name: value for name, value in found.items() if value is not None}
    assert defined == dict.fromkeys(
        ["ac1", "ac2", "ac2_linear", "randolph", "brennan_prediger", "exact", "within_one"], 1.0
    )


def test_names_have_the_coefficients_that_need_no_numbers():
    found = figures(grid([[0, 0], [1, 1], [1, 0], [0, 0]], "bad,good"))
    assert {name for name, value in found.items() if value is not None} == {
        *("ac1", "randolph", "cohen", "fleiss", "alpha_nominal", "exact")
    }


def test_draws_are_the_figures_of_clusters_counted_so_often():
    rng = np.random.default_rng(3)
    values = np.clip(rng.integers(1, 6, (12, 1)) + rng.integers(-1, 2, (12, 4)), 1, 5).astype(float)
    values[rng.random(values.shape) < 0.2] = NAN
    clusters = tuple("aabbccddeeff")
    weights = np.array([[1, 1, 1, 1, 1, 1], [0, 2, 1, 0, 3, 1], [1, 0, 0, 1, 1, 0.0]])
    drawn = coefficient_draws(grid(values, clusters=clusters), weights)
    assert set(drawn) == set(COEFFICIENTS)
    for row, counts in enumerate(weights):
        rows = [i for i, c in enumerate(clusters) for _ in range(int(counts["abcdef".index(c)]))]
        expected = figures(grid(values[rows]))
        assert {n: of[row] for n, of in drawn.items()} == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_an_unknown_coefficient_is_refused():
    with pytest.raises(UsageError, match="no coefficient 'ac3'"):
        coefficients_of(grid(TEN), ["ac3"])
