"""Agreement among raters: by hand, bad grids, missing ratings, what is undefined and why."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dialogauge.core import InputError, UsageError
from dialogauge.stats import (
    COEFFICIENTS,
    Basis,
    Categories,
    RatingGrid,
    coefficient_draws,
    coefficients_of,
    whole_scores,
)
from sets import examples, some_short

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
        (grid(np.empty((0, 2))), "cohen", "no target was rated by two raters"),
        (grid(np.full((3, 2), NAN)), "icc1", "no target was rated by two raters"),
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


@pytest.mark.parametrize(("ratings", "names"), [(3.3, ["pearson", "icc1", "icc2", "icc3"]), (4.9, ["cohen"])])
def test_what_never_varies_has_no_coefficient_of_rounding_errors(ratings, names):
    of = coefficients_of(grid(np.full((50, 3), ratings)), names)
    assert {estimate.reason for estimate in of.values()} == {"all ratings are the same"}


def test_ratios_begin_at_0():
    found = figures(grid([[0, 0], [0, 1], [1, 2], [2, 2]], "0-2"))
    # distances: of 0 to anything 1, of 1 to 2 1/9; 3, 2, 3 ratings of 0, 1, 2
    chance = (2 * 3 * 2 * 1 + 2 * 3 * 3 * 1 + 2 * 2 * 3 / 9) / 7
    assert found["alpha_ratio"] == pytest.approx(1 - (2 * 1 + 2 / 9) / chance)


def test_the_lowest_figures_are_reached_where_nobody_agrees():
    everywhere = grid([[a, b] for a in range(1, 6) for b in range(1, 6) if a != b])
    assert COEFFICIENTS["ac1"].limits(everywhere.categories)[0] == pytest.approx(-0.25)
    assert figures(everywhere, ["ac1", "randolph"]) == pytest.approx({"ac1": -0.25, "randolph": -0.25})
    ends = grid([[1, 5], [5, 1]] * 4)
    assert COEFFICIENTS["brennan_prediger"].limits(ends.categories)[0] == pytest.approx(-3)
    for name, lowest in (("brennan_prediger", -3), ("cohen_quadratic", -1)):
        estimate = coefficients_of(ends, [name])[name]
        assert (estimate.value, estimate.low) == pytest.approx((lowest, lowest))


def test_targets_rated_once_can_take_fleiss_below_its_range():
    estimate = coefficients_of(grid([*[[1, 2], [2, 1]] * 4, *[[5, NAN]] * 20]), ["fleiss"])["fleiss"]
    assert estimate.value < -1
    assert estimate.low < estimate.value < estimate.high < 1


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


def test_draws_that_leave_nothing_are_undefined():
    drawn = coefficient_draws(grid(TEN, "1-3"), np.eye(10)[:1] * 0)
    assert all(np.isnan(of).all() for of in drawn.values())


def test_weights_are_of_the_clusters():
    with pytest.raises(ValueError, match=r"weights of the shape \(1, 9\) for 10 clusters"):
        coefficient_draws(grid(TEN, "1-3"), np.ones((1, 9)))


def test_an_unknown_coefficient_is_refused():
    with pytest.raises(UsageError, match="no coefficient 'ac3'"):
        coefficients_of(grid(TEN), ["ac3"])


# Against other software ------------------------------------------------------------------------------------


def random_grid(seed):
    """2 to 10 raters, 2 to 6 categories, 5 to 60 targets, up to half of the ratings missing."""
    rng = np.random.default_rng(seed)
    n, s, q = rng.integers(5, 61), rng.integers(2, 11), rng.integers(2, 7)
    values = rng.integers(1, q + 1, (n, 1)) + rng.integers(-1, 2, (n, s)) * (
        rng.random((n, s)) < rng.random()
    )
    values = np.clip(values, 1, q).astype(float)
    values[rng.random((n, s)) < rng.choice([0, 0.1, 0.5])] = NAN
    return grid(values, f"1-{q}")


def over_pairs(values, figure):
    """The mean of a figure of two columns over all pairs of them, as documented."""
    sums = np.zeros(2)
    for x, y in itertools.combinations(values.T, 2):
        both = ~np.isnan(x) & ~np.isnan(y)
        of = figure(x[both], y[both]) if both.any() else NAN
        if of is not None and np.isfinite(of):
            sums += both.sum() * of, both.sum()
    return sums[0] / sums[1] if sums[1] else None


def of_irr_cac(of):
    """Gwet's own package; it rounds what it gives, unless told how many digits to keep."""
    raw = pytest.importorskip("irrCAC.raw")
    frame = pytest.importorskip("pandas").DataFrame(of.values)
    named = {"ac1": "identity", "ac2": "quadratic", "ac2_linear": "linear"}
    cac = {w: raw.CAC(frame, w, list(of.categories.values), digits=15) for w in named.values()}
    values = {name: cac[weights].gwet() for name, weights in named.items()}
    values["randolph"], values["brennan_prediger"] = cac["identity"].bp(), cac["quadratic"].bp()
    values["fleiss"], values["alpha_nominal"] = cac["identity"].fleiss(), cac["identity"].krippendorff()
    return {name: value["est"]["coefficient_value"] for name, value in values.items()}


def of_krippendorff(of):
    alpha = pytest.importorskip("krippendorff").alpha
    domain = list(of.categories.values)
    return {
        f"alpha_{level}": alpha(of.values.T, value_domain=domain, level_of_measurement=level)
        for level in ("nominal", "ordinal", "interval", "ratio")
    }


def of_statsmodels(of):
    """Fleiss and Randolph of the targets that all rated; two raters' kappas."""
    rater = pytest.importorskip("statsmodels.stats.inter_rater")
    codes = of.values.astype(int) - 1
    counts, _ = rater.aggregate_raters(codes, n_cat=len(of.categories))
    out = {name: rater.fleiss_kappa(counts, name) for name in ("fleiss", "randolph")}
    if codes.shape[1] == 2:
        table = np.zeros((len(of.categories),) * 2)
        np.add.at(table, tuple(codes.T), 1)
        for name, weights in (("cohen", None), ("cohen_linear", "linear"), ("cohen_quadratic", "quadratic")):
            out[name] = rater.cohens_kappa(table, wt=weights).kappa
    return out


def of_pairs(of):
    """The kappas of statsmodels and the correlations of scipy, of every pair of raters."""
    cohens_kappa = pytest.importorskip("statsmodels.stats.inter_rater").cohens_kappa
    stats = pytest.importorskip("scipy.stats")
    size = len(of.categories)

    def kappa(x, y, weights):
        table = np.zeros((size, size))
        np.add.at(table, (x.astype(int) - 1, y.astype(int) - 1), 1)
        return cohens_kappa(table, wt=weights, return_results=False)

    def correlated(correlation):
        return lambda x, y: correlation(x, y).statistic if min(np.ptp(x), np.ptp(y)) else None

    figures = {
        "cohen": lambda x, y: kappa(x, y, None),
        "cohen_linear": lambda x, y: kappa(x, y, "linear"),
        "cohen_quadratic": lambda x, y: kappa(x, y, "quadratic"),
        "pearson": correlated(stats.pearsonr),
        "spearman": correlated(stats.spearmanr),
        "kendall": correlated(stats.kendalltau),
        "exact": lambda x, y: np.mean(x == y),
        "within_one": lambda x, y: np.mean(abs(x - y) <= 1),
    }
    return {name: over_pairs(of.values, figure) for name, figure in figures.items()}


def of_variance(of):
    """The intraclass correlations by analysis of variance, written out; of fewer than two targets none."""
    rows = [row[~np.isnan(row)] for row in of.values if not np.isnan(row).all()]
    every = np.concatenate(rows)
    n, total = len(rows), every.size
    between = sum(row.size * (row.mean() - every.mean()) ** 2 for row in rows) / (n - 1)
    out = {}
    if total > n:
        within = sum(((row - row.mean()) ** 2).sum() for row in rows) / (total - n)
        size = (total - sum(row.size**2 for row in rows) / total) / (n - 1)
        out["icc1"] = (between - within) / (between + (size - 1) * within)
    full = of.values[~np.isnan(of.values).any(axis=1)]
    if len(full) > 1:
        n, k = full.shape
        of_rows, of_columns = full.mean(axis=1, keepdims=True), full.mean(axis=0, keepdims=True)
        rows_ms = k * ((of_rows - full.mean()) ** 2).sum() / (n - 1)
        columns_ms = n * ((of_columns - full.mean()) ** 2).sum() / (k - 1)
        rest_ms = ((full - of_rows - of_columns + full.mean()) ** 2).sum() / ((n - 1) * (k - 1))
        single = rows_ms + (k - 1) * rest_ms
        out["icc2"] = (rows_ms - rest_ms) / (single + k * (columns_ms - rest_ms) / n)
        out["icc3"] = (rows_ms - rest_ms) / single
    return out


def of_loops(of):
    """What is defined by pairs of ratings of a target: Gwet, Brennan-Prediger, Fleiss, Krippendorff."""
    steps, raw = of.categories.values, [[x for x in row if not np.isnan(x)] for row in of.values.tolist()]
    rows, q, width = [row for row in raw if row], len(steps), steps[-1] - steps[0]
    agree = {
        "identity": lambda a, b: float(a == b),
        "linear": lambda a, b: 1 - abs(a - b) / width,
        "quadratic": lambda a, b: 1 - ((a - b) / width) ** 2,
    }
    share = {k: np.mean([row.count(k) / len(row) for row in rows]) for k in steps}
    units = [(len(row), list(itertools.permutations(row, 2))) for row in rows if len(row) > 1]
    if not units:
        return {}

    def beyond(kind, chance):
        observed = np.mean([np.mean([agree[kind](a, b) for a, b in pairs]) for _, pairs in units])
        return (observed - chance) / (1 - chance) if chance < 1 else None

    def total(kind):
        return sum(agree[kind](a, b) for a, b in itertools.product(steps, steps))

    hard = sum(p * (1 - p) for p in share.values()) / (q * (q - 1))
    out = {
        "ac1": beyond("identity", total("identity") * hard),
        "ac2": beyond("quadratic", total("quadratic") * hard),
        "ac2_linear": beyond("linear", total("linear") * hard),
        "randolph": beyond("identity", total("identity") / q**2),
        "brennan_prediger": beyond("quadratic", total("quadratic") / q**2),
        "fleiss": beyond("identity", sum(p**2 for p in share.values())),
    }
    pooled = [x for row in rows if len(row) > 1 for x in row]
    rank = {k: sum(x < k for x in pooled) + pooled.count(k) / 2 for k in steps}
    apart = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": lambda a, b: (rank[a] - rank[b]) ** 2,
        "interval": lambda a, b: (a - b) ** 2,
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2,
    }
    for level, distance in apart.items():
        seen = sum(sum(distance(a, b) for a, b in pairs) / (ratings - 1) for ratings, pairs in units)
        chance = sum(distance(a, b) for a, b in itertools.permutations(pooled, 2)) / (len(pooled) - 1)
        out[f"alpha_{level}"] = 1 - seen / chance if chance else None
    return out


def close(found, expected):
    """Compare what the others define; what they have as NaN or lack they do not."""
    defined = {name: value for name, value in expected.items() if value is not None and np.isfinite(value)}
    assert defined
    assert {name: found[name] for name in defined} == pytest.approx(defined, abs=1e-6)


SOFTWARE = (of_irr_cac, of_krippendorff, of_pairs, of_variance)


@pytest.mark.parametrize("software", SOFTWARE)
@pytest.mark.parametrize("part", some_short(range(10), 10))
@pytest.mark.filterwarnings("ignore")
def test_200_random_grids_with_holes_agree_with_other_software(software, part):
    for seed in range(part, 200, 10):
        of = random_grid(seed)
        close(figures(of), software(of))


@pytest.mark.filterwarnings("ignore")
def test_what_all_rated_of_200_random_grids_agrees_with_statsmodels():
    for seed in range(200):
        of = random_grid(seed)
        full = of.only(~np.isnan(of.values).any(axis=1))
        if full.targets:
            close(figures(full), of_statsmodels(full))


@pytest.mark.long
def test_random_grids_with_holes_agree_with_loops():
    for seed in range(50):
        of = random_grid(seed)
        close(figures(of), of_loops(of))


# Invariants ------------------------------------------------------------------------------------------------

ratings = st.integers(0, 2**32 - 1).map(random_grid)


def same(one, other, names=COEFFICIENTS):
    assert {n: one[n] for n in names} == pytest.approx({n: other[n] for n in names}, abs=1e-9)


@examples(30)
@given(ratings, st.randoms(use_true_random=False))
def test_the_order_of_targets_and_of_raters_changes_nothing(of, chance):
    rows, columns = (chance.sample(range(size), size) for size in of.values.shape)
    turned = of.take([of.raters[c] for c in columns])
    moved = replace(turned, values=turned.values[rows], targets=tuple(of.targets[r] for r in rows))
    same(figures(of), figures(moved))


@examples(30)
@given(ratings)
def test_a_scale_read_backwards_changes_ratios_alone(of):
    turned = replace(of, values=len(of.categories) + 1 - of.values)
    same(figures(of), figures(turned), COEFFICIENTS.keys() - {"alpha_ratio"})


@examples(50)
@given(
    st.lists(st.sampled_from([1, 3, 5]), min_size=4, max_size=20).filter(lambda of: len(set(of)) > 1),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_permuting_one_raters_column_changes_every_coefficient(column, others, chance):
    """Of raters who agree wholly. Where nothing is changed (a permutation among equal ratings, a rater who
    says one thing only) no coefficient can; `within_one` allows changes by one, so ratings lie 2 apart."""
    moved = chance.sample(column, len(column))
    assume(moved != column)
    before = figures(grid(np.column_stack([column] * (others + 1))))
    after = figures(grid(np.column_stack([*[column] * others, moved])))
    assert before == pytest.approx(dict.fromkeys(COEFFICIENTS, 1.0))
    assert all(value < 1 - 1e-9 for value in after.values())


@examples(50)
@given(ratings, st.randoms(use_true_random=False))
def test_permuting_one_raters_column_changes_what_it_changes_of_exact_agreement(of, chance):
    """A permutation leaves how often each category is chosen. So of any ratings, what counts exact agreement
    moves with it, and stays where as many pairs agree as before: targets can lose and gain alike."""
    full = of.only(~np.isnan(of.values).any(axis=1))
    assume(len(full.targets) > 1)
    values = full.values.copy()
    values[:, 0] = chance.sample(values[:, 0].tolist(), len(values))
    before, after = figures(full), figures(replace(full, values=values))
    moved = abs(before["exact"] - after["exact"]) > 1e-9
    for name in ("ac1", "randolph", "fleiss", "alpha_nominal"):
        if before[name] is not None:
            assert (abs(before[name] - after[name]) > 1e-9) == moved, name


# Missing ratings, fractions, intervals ---------------------------------------------------------------------


def changed(one, other):
    return {name for name in one if one[name] is not None and abs(one[name] - other[name]) > 1e-9}


def test_a_target_rated_once_tells_how_often_categories_are_chosen_and_nothing_else():
    alone = figures(grid([*TEN, [3, NAN], [NAN, 3]], "1-3"))
    assert changed(figures(grid(TEN, "1-3")), alone) == {"ac1", "ac2", "ac2_linear", "fleiss", "icc1"}


def test_a_target_that_one_of_three_left_out_counts_where_pairs_and_units_do():
    three = np.column_stack([TEN, [1, 1, 1, 1, 2, 2, 1, 3, 3, 2]]).tolist()
    less = figures(grid([*three, [1, NAN, 3]], "1-3"))
    assert COEFFICIENTS.keys() - changed(figures(grid(three, "1-3")), less) == {"icc2", "icc3"}


def test_a_target_that_nobody_rated_counts_for_nothing():
    same(figures(grid(TEN, "1-3")), figures(grid([*TEN, [NAN, NAN]], "1-3")))


def test_fractions_count_where_a_coefficient_reads_numbers_and_as_whole_scores_elsewhere():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(2)
    people = rng.integers(1, 6, 40).astype(float)
    judge = np.clip(people + rng.normal(size=40), 1, 5)
    found = figures(grid(np.column_stack([people, judge])))
    whole = figures(grid(np.column_stack([people, whole_scores(judge)])))
    assert changed(found, whole) == {"pearson", "spearman", "icc1", "icc2", "icc3"}
    assert found["pearson"] == pytest.approx(stats.pearsonr(people, judge).statistic)
    assert found["spearman"] == pytest.approx(stats.spearmanr(people, judge).statistic)
    close(found, of_variance(grid(np.column_stack([people, judge]))))


def test_an_interval_is_that_of_the_house_with_each_cluster_left_out():
    of = random_grid(12)
    clusters = tuple(i % 9 for i in range(len(of.targets)))
    of = replace(of, clusters=clusters, unit="users")
    shared = (~np.isnan(of.values)).sum(axis=1) > 1
    sizes = np.bincount(np.array(clusters)[shared]).astype(float)
    for name, estimate in coefficients_of(of, ["ac1", "alpha_ordinal", "cohen", "icc1"]).items():
        moved = [figures(of.only(np.array(clusters) != c))[name] for c in range(9)]
        limits = COEFFICIENTS[name].limits(of.categories)
        expected = Basis.of(sizes, "users").estimate(estimate.value, np.array(moved), limits)
        assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high)), name
        assert (estimate.n, estimate.clusters, estimate.method) == (shared.sum(), 9, "jackknife by users")


def test_intervals_lie_within_the_limits_and_around_the_figure():
    for seed in range(20):
        of = random_grid(seed)
        for name, estimate in coefficients_of(of).items():
            if estimate.interval is not None:
                low, high = COEFFICIENTS[name].limits(of.categories)
                assert low <= estimate.low <= estimate.value <= estimate.high <= high


def test_few_clusters_have_no_interval_and_say_so():
    estimate = coefficients_of(grid(TEN, "1-3", clusters=tuple("aaabbbcccc")))["ac1"]
    assert estimate.value is not None
    assert (estimate.interval, estimate.reason) == (None, "too few conversations: 3, and an interval takes 5")


def test_many_clusters_are_left_out_in_parts():
    rng = np.random.default_rng(4)
    values = np.clip(rng.integers(1, 6, (1200, 1)) + rng.integers(-1, 2, (1200, 3)), 1, 5)
    estimate = coefficients_of(grid(values), ["alpha_interval"])["alpha_interval"]
    assert estimate.clusters == 1200
    assert 0 < estimate.high - estimate.low < 0.1


def test_raters_who_share_few_targets_have_the_intervals_that_weights_give():
    rng = np.random.default_rng(8)
    values = np.full((60, 12), NAN)
    for row in values:
        row[rng.choice(12, 3, replace=False)] = rng.integers(1, 6, 3)
    values[:, 0] += np.where(values[:, 0] < 5, 0.2, 0)  # a rater of fractions
    of = grid(values, clusters=tuple(range(20)) * 3)
    names = ["cohen", "exact", "pearson", "spearman", "kendall"]
    drawn = coefficient_draws(of, np.vstack([np.ones(20), 1 - np.eye(20)]), names)
    for name, estimate in coefficients_of(of, names).items():
        limits = COEFFICIENTS[name].limits(of.categories)
        expected = Basis(60, 20, "conversations", 19).estimate(float(drawn[name][0]), drawn[name][1:], limits)
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
            (expected.value, expected.low, expected.high)
        )


def test_wide_scales_and_blocks_of_draws_give_the_same_figures(monkeypatch):
    rng = np.random.default_rng(6)
    values = np.clip(rng.integers(0, 101, (30, 1)) + rng.integers(-9, 10, (30, 4)), 0, 100).astype(float)
    values[rng.random(values.shape) < 0.2] = NAN
    of, weights = grid(values, "0-100"), rng.integers(0, 3, (7, 30)).astype(float)
    whole, intervals = coefficient_draws(of, weights), coefficients_of(of)
    monkeypatch.setattr("dialogauge.stats.tallies._BLOCK", 40)
    monkeypatch.setattr("dialogauge.stats.raters._BLOCK", 20_000)
    for name, figure in coefficient_draws(of, weights).items():
        assert figure == pytest.approx(whole[name], nan_ok=True), name
    for name, estimate in coefficients_of(of).items():
        assert estimate.interval == pytest.approx(intervals[name].interval), name
