"""The measures: by hand, against the published code's figures, scipy, scikit-learn and slow loops."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Scale
from dialogauge.stats import COEFFICIENTS, Categories, RatingGrid, coefficients_of
from dialogauge.stats.agreement import figures_of, figures_of_tables, measures_for
from dialogauge.stats.estimate import parts_of
from dialogauge.stats.measures import MEASURES, title_of
from dialogauge.stats.pairs import pair_up
from dialogauge.stats.table import ScoreTable, parse_rule, scores_of
from pt11 import GOLD, PT11, SAID, USERS
from sets import examples

RULE = parse_rule("<4")


def table(said, gold, users=None, *, blocks=None, clusters=None, **judge):
    users = tuple(users) if users else None
    sources = {"judge": scores_of(said, **judge), "people": scores_of(gold)}
    clusters = clusters or users or tuple(range(len(said)))
    return ScoreTable(sources, tuple(clusters), "users" if users else "conversations", users, blocks)


def figures(of, names=None, *, rule=RULE):
    names = names or measures_for(of, "judge", "people", rule=rule)
    return figures_of(of, {"judge": of.sources["judge"]}, "people", names, rule=rule)["judge"]


def random_table(seed=0, n=200, users=12, noise=1.0, *, fractions=False):
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 6, n).astype(float)
    said = np.clip(gold + rng.normal(scale=noise, size=n), 1, 5)
    names = tuple(f"u{i}" for i in rng.integers(0, users, n))
    return table(said if fractions else np.rint(said), gold, names, blocks=tuple(f"{u}s" for u in names))


def test_pt11():
    found = figures(table(SAID, GOLD, USERS)).values
    assert {name: found[name] for name in PT11} == pytest.approx(PT11, abs=1e-12)


def test_pt11_users_with_figures_of_their_own():
    support = figures(table(SAID, GOLD, USERS)).support
    assert (support["per_user_pearson"], support["per_user_f1_sat"]) == (2, 2)


@pytest.mark.parametrize("fractions", [False, True])
def test_the_auc_of_many_clusters_moves_as_without_each_part_of_them(fractions):
    of = random_table(n=1400, users=700, fractions=fractions)
    part = parts_of(of.cluster_codes[1])[of.cluster_codes[0]]
    moved = figures(of, ["auc"]).moved["auc"]
    assert moved.size == 500
    for number in (0, 7, 499):
        rest = of.only(part != number)
        assert figures(rest, ["auc"]).values["auc"] == pytest.approx(moved[number], abs=1e-12)


@pytest.mark.parametrize("fractions", [False, True])
def test_small_samples_that_are_computed_at_once_have_the_figures_of_each_alone(fractions, monkeypatch):
    """Tables of other sizes and users, one of them weighted, and a source that is dealt by chance."""
    tables = {str(n): random_table(n, n, users, fractions=fractions) for n, users in ((40, 5), (60, 9))}
    tables["weighted"] = replace(tables["60"], weights=np.tile([1.0, 3.0, 2.0], 20))
    tables["dealt"] = tables["40"]
    sources = {name: of.sources["judge"] for name, of in tables.items()}
    sources["dealt"] = tuple(sources["40"].take(np.roll(np.arange(40), k)) for k in range(3))
    together = figures_of_tables(tables, sources, "people", tuple(MEASURES), rule=RULE)
    monkeypatch.setattr("dialogauge.stats.agreement._TOGETHER", 0)
    monkeypatch.setattr("dialogauge.stats.agreement._BLOCK_CELLS", 200)
    for name, of in tables.items():
        alone = figures_of(of, {name: sources[name]}, "people", tuple(MEASURES), rule=RULE)[name]
        for measure, value in alone.values.items():
            assert together[name].values[measure] == pytest.approx(value, abs=1e-12), (name, measure)
            moved = together[name].moved[measure]
            assert moved == pytest.approx(alone.moved[measure], abs=1e-12, nan_ok=True), (name, measure)
        assert (together[name].support, together[name].basis) == (alone.support, alone.basis)


@pytest.mark.parametrize("fractions", [False, True])
def test_a_target_of_weight_three_counts_as_three(fractions):
    """Every figure, value and moves alike, but those of users with a least number of targets."""
    of, times = random_table(n=60, fractions=fractions), np.tile([1, 3, 2], 20)
    repeated = table(
        np.repeat(of.sources["judge"].values, times),
        np.repeat(of.sources["people"].values, times),
        np.repeat(of.users, times).tolist(),
        blocks=tuple(np.repeat(of.blocks, times).tolist()),
    )
    weighted, each = figures(replace(of, weights=times.astype(float))), figures(repeated)
    for name in each.values:
        if name != "per_user_qwk":
            assert weighted.values[name] == pytest.approx(each.values[name]), name
            assert weighted.moved[name] == pytest.approx(each.moved[name], nan_ok=True), name
    assert (weighted.estimate("auc").n, each.estimate("auc").n) == (60, 120)
    assert weighted.estimate("auc").interval == pytest.approx(each.estimate("auc").interval)


def test_the_auc_within_users_is_over_pairs_of_one_user():
    """Of a 1.5 of 2 pairs over 3 targets, of b none of 2 over 3; c has no pair."""
    said, gold = [1, 1, 2, 3, 1, 2, 5, 1], [1, 4, 5, 1, 4, 5, 4, 5]
    found = figures(table(said, gold, "aaabbbcc"), ["within_user_auc", "auc"])
    assert found.values["within_user_auc"] == pytest.approx((1.5 / 3) / (2 / 3 + 2 / 3))
    assert found.support["within_user_auc"] == 2
    weighted = replace(table(said, gold, "aaabbbcc"), weights=np.array([1, 1, 2, 1, 1, 1, 1, 1.0]))
    assert figures(weighted, ["within_user_auc"]).values["within_user_auc"] == pytest.approx(
        ((0.5 + 2) / 4) / (3 / 4 + 2 / 3)
    )


def test_a_constant_of_each_user_has_half_within_users():
    users = tuple("abcdef" * 5)
    gold = np.tile([5, 4, 5, 4, 5, 1], 5) - np.repeat([0, 0, 2, 0, 1], 6)
    level = {user: gold[[u == user for u in users]].mean() for user in users}
    found = figures(table([level[u] for u in users], gold, users), ["auc", "within_user_auc"]).values
    assert found["auc"] > 0.7
    assert found["within_user_auc"] == 0.5


@pytest.mark.parametrize("fractions", [False, True])
def test_figures_agree_with_scipy_and_sklearn(fractions):
    stats, metrics = pytest.importorskip("scipy.stats"), pytest.importorskip("sklearn.metrics")
    of = random_table(fractions=fractions)
    x, y = of.sources["judge"].values, of.sources["people"].values
    whole, low = np.floor(x + 0.5), y < 4
    found = figures(of).values
    expected = {
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "qwk": metrics.cohen_kappa_score(whole, y, weights="quadratic"),
        "kappa": metrics.cohen_kappa_score(whole, y),
        "uar": metrics.balanced_accuracy_score(y, whole),
        "exact": metrics.accuracy_score(y, whole),
        "mae": metrics.mean_absolute_error(y, x),
        "rmse": metrics.root_mean_squared_error(y, x),
        "accuracy": metrics.accuracy_score(low, whole < 4),
        "f1_macro": metrics.f1_score(low, whole < 4, average="macro"),
        "f1_dsat": metrics.f1_score(low, whole < 4),
        "f1_sat": metrics.f1_score(~low, whole >= 4),
        "precision_dsat": metrics.precision_score(low, whole < 4),
        "recall_dsat": metrics.recall_score(low, whole < 4),
        "boundary_kappa": metrics.cohen_kappa_score(low, whole < 4),
        "auc": metrics.roc_auc_score(low, -x),
    }
    assert {k: found[k] for k in expected} == pytest.approx(expected)


def test_figures_by_hand():
    found = figures(table([1, 2, 4, 5], [1, 3, 4, 4]), rule=parse_rule("3")).values
    assert (found["exact"], found["within_one"], found["mae"], found["bias"]) == (0.5, 1.0, 0.5, 0.0)
    assert (found["over_rated"], found["under_rated"], found["far_off"]) == (0.25, 0.25, 0.0)
    assert found["f1_dsat"] == found["auc"] == 1.0
    # 1 - 2 / sum over all 16 combinations / 4: variances 2.5 and 1.5, means alike
    assert found["qwk"] == pytest.approx(1 - 0.5 / (2.5 + 1.5))
    assert found["f1_dsat_published"] == 1.0


def test_half_points_of_people_go_upward_in_every_measure_of_whole_scores():
    found = figures(table([4, 5, 3, 4], [3.5, 4.5, 3, 4.4]), rule=None).values
    assert found["exact"] == found["qwk"] == 1.0
    assert found["mae"] == pytest.approx((0.5 + 0.5 + 0 + 0.4) / 4)


def test_peoples_class_is_of_their_number_and_a_judges_of_its_whole_score():
    of = table([3.9, 3.2], [3.9, 3.9], whole=[4, 3])
    pairs = pair_up(of, of.sources["judge"], of.sources["people"], RULE)
    assert sorted(zip(pairs.gold_sat, pairs.sat, strict=True)) == [(0, 0), (0, 1)]


def test_a_source_may_name_its_classes_itself():
    named = table([1, 2, 4, 5], [1, 2, 4, 5], dissatisfied=[0, 0, 0, 1])
    assert figures(named).values["recall_dsat"] == 0.0
    categories = ScoreTable(
        {"judge": scores_of([1, 2, 4, 5]), "people": scores_of([np.nan] * 4, dissatisfied=[1, 1, 0, 0])},
        tuple("abcd"),
    )
    rule = parse_rule("DSAT")
    assert measures_for(categories, "judge", "people", rule=rule) == ("auc",)
    assert figures(categories, rule=rule).values == {"auc": 1.0}


def test_ratings_off_the_scale_compare_order_only():
    of = table([1, 2, 4, 5], [0, 0, 1, 1])
    assert measures_for(of, "judge", "people", rule=parse_rule("<1")) == ("pearson", "spearman", "auc")
    assert figures(of, rule=parse_rule("<1")).values["auc"] == 1.0
    turned = table([1, 2, 4, 5], [1, 1, 0, 0])
    assert figures(turned, rule=parse_rule("<1")).values["auc"] == 0.0
    low_is_good = table([1, 2, 4, 5], [1, 2, 4, 5], scale=Scale(1, 5, higher_is_better=False))
    assert figures(low_is_good, rule=parse_rule(">3")).values["auc"] == 1.0


def test_a_constant_has_no_correlation_and_nothing_is_undefined():
    found = figures(table([4] * 14, GOLD, USERS)).values
    undefined = ("pearson", "spearman", "precision_dsat", "within_user_spearman", "per_user_pearson")
    assert [found[name] for name in undefined] == [None] * 5
    assert (found["f1_dsat"], found["false_sat"], found["false_dsat"]) == (0, 1, 0)
    assert found["qwk"] == pytest.approx(0)
    assert found["auc"] == 0.5
    empty = figures(table([], []), ["pearson", "mae", "f1_dsat"])
    assert set(empty.values.values()) == {None}
    assert (empty.estimate("mae").value, empty.estimate("mae").n) == (None, 0)


def slow_values(of, rows, names):
    """The figures of some targets, one repeated as often as it is drawn."""
    taken = ScoreTable(
        {name: s.take(rows) for name, s in of.sources.items()},
        tuple(range(rows.size)),
        users=None if of.users is None else tuple(of.users[i] for i in rows),
    )
    return figures(taken, names).values


POOLED = ("pearson", "spearman", "qwk", "kappa", "uar", "mae", "bias", "f1_dsat", "f1_dsat_published", "auc")


@pytest.mark.parametrize("fractions", [False, True])
def test_moved_figures_are_those_of_the_clusters_that_stay(fractions):
    of = random_table(n=60, users=7, fractions=fractions)
    found = figures(of, POOLED)
    for part, name in enumerate(dict.fromkeys(of.clusters)):
        expected = slow_values(of, np.array([i for i, c in enumerate(of.clusters) if c != name]), POOLED)
        for measure in POOLED:
            value = found.moved[measure][part]
            assert (None if np.isnan(value) else pytest.approx(value)) == expected[measure], measure


def test_moved_figures_by_user_are_those_of_the_users_that_stay():
    of = random_table(n=60, users=7)
    names = ("per_user_mae", "per_user_spearman", "per_user_f1_macro", "within_user_pearson")
    found = figures(of, names)
    for part, user in enumerate(dict.fromkeys(of.clusters)):
        stays = np.array([c != user for c in of.clusters])
        expected = figures(of.only(stays), names).values
        assert {m: found.moved[m][part] for m in names} == pytest.approx(expected)


def test_dense_and_sparse_tallies_agree(monkeypatch):
    of = random_table(fractions=True)
    dense = figures(of)
    monkeypatch.setattr("dialogauge.stats.pairs._DENSE", 0)
    sparse = figures(of)
    assert sparse.values == pytest.approx(dense.values)
    for name in dense.moved:
        assert sparse.moved[name] == pytest.approx(dense.moved[name], nan_ok=True), name


def test_intervals_hold_the_figure_and_need_five_clusters():
    found = figures(random_table())
    for name in ("pearson", "qwk", "f1_dsat", "within_user_pearson", "per_user_mae", "auc"):
        estimate = found.estimate(name)
        assert estimate.interval is not None
        assert estimate.interval[0] < estimate.value < estimate.interval[1]
        assert (estimate.n, estimate.clusters, estimate.method) == (200, 12, "jackknife by users")
    one = figures(table(SAID, GOLD, "u" * 14))
    assert {e.interval for e in one.estimates.values()} == {None}


@pytest.mark.parametrize(("users", "known"), [(4, False), (5, True)])
def test_a_kappa_that_few_users_make_has_no_interval(users, known):
    """Thirty users give a 5 and are told a 5; some also give a 1, of which the judge tells half."""
    people = np.full(120, 5.0)
    people[: 4 * users : 4] = 1
    judge = people.copy()
    judge[: 4 * (users // 2) : 4] = 5
    labels = tuple(np.repeat(np.arange(30), 4).tolist())
    table = ScoreTable({"judge": scores_of(judge), "people": scores_of(people)}, labels, "users", labels)
    sources = {"judge": table.sources["judge"]}
    names = ["kappa", "qwk", "alpha_ordinal", "ac1"]
    estimates = figures_of(table, sources, "people", names)["judge"].estimates
    for name in ("kappa", "qwk", "alpha_ordinal"):
        assert estimates[name].value is not None
        assert (estimates[name].interval is not None) == known
    assert estimates["ac1"].interval is not None
    if not known:
        assert estimates["kappa"].reason == "too few users: 4, and an interval takes 5"


def test_fewer_than_five_users_with_a_figure_give_no_interval_of_their_mean():
    gold, said = [1, 3, 5, 2, 4, 4, 5, 4, 4] * 2, [2, 3, 5, 4, 4, 4, 4, 4, 4] * 2
    found = figures(table(said, gold, "aaabbbccc" + "dddeeefff"))
    assert found.values["per_user_pearson"] is not None
    assert found.estimate("per_user_pearson").reason == "too few users: 2, and an interval takes 5"
    assert found.estimate("per_user_mae").interval is not None


def test_a_figure_of_both_classes_takes_a_hit():
    """Without one its part of the dissatisfied is 0 whoever is left out, and says nothing of itself."""
    found = figures(table([5, 2, 4, 4] * 6, [3, 5, 4, 5] * 6, sorted("abcdef" * 4)))
    assert found.values["f1_macro"] is not None
    assert found.estimate("f1_macro").reason == "none of the users tells anything of it"
    assert found.estimate("boundary_kappa").interval is None
    assert found.estimate("f1_dsat").interval == pytest.approx((0, 1 - 0.025 ** (1 / 6)))


def test_a_perfect_judge_has_a_whole_correlation_per_user():
    found = figures(table([1, 3, 5, 2, 4, 5], [1, 3, 5, 2, 4, 5], "aaabbb")).values
    assert (found["per_user_pearson"], found["per_user_spearman"]) == (1, 1)
    found = figures(table([5, 3, 1, 4, 2, 1], [1, 3, 5, 2, 4, 5], "aaabbb")).values
    assert found["per_user_pearson"] == -1


def test_within_blocks_the_level_of_the_block_is_gone():
    of = table([2, 1, 5, 4], [1, 2, 4, 5], "uuuu", blocks=("x", "x", "y", "y"))
    found = figures(of).values
    assert found["within_block_pearson"] == pytest.approx(-1)
    assert found["within_user_pearson"] == pytest.approx(0.8)


def test_one_user_alone_is_drawn_by_conversation_and_still_centred_by_user():
    of = table(SAID, GOLD, "u" * 14, clusters=tuple("aabbccddeeffgg"))
    found = figures(of)
    assert found.values["within_user_pearson"] == pytest.approx(found.values["pearson"])
    assert found.estimate("within_user_pearson").interval is not None
    assert found.estimate("per_user_mae").interval is None  # a mean over one user


def test_several_versions_are_averaged():
    gold, users = [5, 4, 3, 1, 2] * 5, "abcde" * 5
    of = table(gold, gold, users)
    one, two = scores_of([5, 4, 4, 2, 2] * 5), scores_of([4, 5, 2, 4, 3] * 5)
    names = ["mae", "pearson"]
    found = figures_of(of, {"dealt": (one, two)}, "people", names)["dealt"]
    alone = figures_of(of, {"one": one, "two": two}, "people", names)
    ends = alone["one"].values["mae"], alone["two"].values["mae"]
    assert found.values["mae"] == pytest.approx(sum(ends) / 2)
    assert found.moved["mae"] == pytest.approx((alone["one"].moved["mae"] + alone["two"].moved["mae"]) / 2)
    interval = found.estimate("mae").interval
    assert interval is not None
    assert interval[0] <= ends[0] < ends[1] <= interval[1]
    flat = figures_of(of, {"dealt": (one, scores_of([4] * 25))}, "people", names)["dealt"]
    assert flat.values["pearson"] is None


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=25
)


@examples(30)
@given(rows, st.randoms())
def test_the_order_of_the_targets_makes_no_difference(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    a, b = (
        figures(table([s for *_, s in of], [g for _, g, _ in of], [u for u, *_ in of])).values
        for of in (rows, shuffled)
    )
    for name in a:
        assert a[name] == (None if b[name] is None else pytest.approx(b[name], abs=1e-9)), name


@examples(30)
@given(rows)
def test_a_judge_that_repeats_people_is_perfect(rows):
    gold = [g for _, g, _ in rows]
    found = figures(table(gold, gold, [u for u, *_ in rows])).values
    for name in ("exact", "within_one", "accuracy"):
        assert found[name] == 1.0
    for name in ("mae", "rmse", "bias", "far_off", "within_user_mae"):
        assert found[name] == pytest.approx(0.0)
    for name in ("qwk", "pearson", "spearman", "kappa", "auc", "f1_dsat"):
        assert found[name] is None or found[name] == pytest.approx(1.0)


@examples(30)
@given(rows)
def test_correlations_do_not_change_with_the_scale(rows):
    said, gold = [s for *_, s in rows], [g for _, g, _ in rows]
    wide = Scale(0, 100)
    first = figures(table(said, gold), ["pearson", "spearman"]).values
    second = figures(table([7 * s + 3 for s in said], gold, scale=wide), ["pearson", "spearman"]).values
    for name, value in first.items():
        assert second[name] == (None if value is None else pytest.approx(value))


def test_every_measure_says_what_it_needs_and_which_way_is_better():
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert measure.needs
        assert measure.better in ("high", "low", "zero")
        assert (measure.better == "low") == any(
            word in name for word in ("mae", "rmse", "rated", "far_off", "false_")
        )


def test_titles_say_what_counts_as_dissatisfied():
    assert title_of("f1_dsat", "<3") == "F1 of dissatisfied (<3)"
    assert title_of("auc", None) == "AUC of dissatisfied"
    assert title_of("mae", "<3") == "mean absolute error"


def test_the_published_f1_by_hand():
    # two of four low ones are found, by three calls: P = 2/3, R = 1/2
    gold, said = [1, 2, 2, 2, 3, 3, 3, 3], [2, 2, 3, 3, 2, 3, 3, 3]
    found = figures(table(said, gold), ["f1_dsat", "f1_dsat_published"], rule=parse_rule("<3")).values
    assert found["f1_dsat"] == pytest.approx(2 * 2 / 7)
    assert found["f1_dsat_published"] == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    few = table([2, 3, 3, 3, 2, 2, 2, 3], gold)  # P = R = 1/4: the sum is below 1
    found = figures(few, ["f1_dsat", "f1_dsat_published"], rule=parse_rule("<3")).values
    assert found == {"f1_dsat": pytest.approx(1 / 4), "f1_dsat_published": pytest.approx(2 / 16)}


def test_measures_of_categories_are_the_coefficients_of_two_raters():
    rng = np.random.default_rng(5)
    gold = rng.integers(1, 6, 60).astype(float)
    said = np.clip(gold + rng.normal(scale=1.5, size=60), 1, 5)
    values, names = np.column_stack([gold, said]), tuple(range(60))
    every = RatingGrid(values, names, ("people", "judge"), Categories.parse("1-5"), names)
    of_raters = coefficients_of(every)
    of_sources = figures(table(said, gold))
    for name in COEFFICIENTS.keys() & MEASURES.keys():
        mine, its = of_sources.estimate(name), of_raters[name]
        assert (mine.value, mine.low, mine.high) == pytest.approx((its.value, its.low, its.high)), name
    for measure, name in (("kappa", "cohen"), ("kappa_linear", "cohen_linear"), ("qwk", "cohen_quadratic")):
        assert of_sources.values[measure] == pytest.approx(of_raters[name].value)


def test_a_wide_scale_has_no_table_of_categories():
    of = table([5, 300, 900], [10, 280, 1000], scale=Scale(0, 1000))
    able = measures_for(of, "judge", "people")
    assert "mae" in able
    assert not {"kappa", "uar", "ac1", "alpha_nominal", "kendall"} & set(able)
