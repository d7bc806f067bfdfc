"""Simulated power: against theory, against studies made one by one, and what it must not promise."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from dialogauge.core import UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.stats import scores_of
from dialogauge.stats.agreement import figures_of
from dialogauge.stats.comparison import ALPHA, compare
from dialogauge.stats.estimate import LEVEL, Estimate
from dialogauge.stats.power import Power, PowerPoint, power_of
from dialogauge.stats.table import ScoreTable


def data(seed=1, clusters=60, per=4, raters=3, noise=(1.0, 1.2), whole=True):
    """Return two judges that see the same quality with noise of their own, and raters that do."""
    rng = np.random.default_rng(seed)
    n = clusters * per
    quality = rng.normal(size=n) + np.repeat(rng.normal(size=clusters) * 0.5, per)
    ratings = np.clip(np.round(3.5 + quality[:, None] + rng.normal(size=(n, raters))), 1, 5)
    columns = (np.clip(3.5 + quality + rng.normal(size=n) * by, 1, 5) for by in noise)
    judges = [scores_of(np.round(c) if whole else c) for c in columns]
    labels = tuple(np.repeat(np.arange(clusters), per).tolist())
    return ScoreTable(dict(zip("AB", judges, strict=True)), labels), ratings


def shares(power, raters):
    return {p.clusters: p.apart.value for p in power.points if p.raters == raters}


def test_the_power_of_a_difference_of_means_is_that_of_theory():
    table, ratings = data(noise=(1.0, 1.15), clusters=80, raters=1)
    power = power_of(table, ("A", "B"), ratings, "mae")
    people = ratings[:, 0]
    gains = np.abs(table.sources["B"].values - people) - np.abs(table.sources["A"].values - people)
    by_cluster = gains.reshape(80, 4).mean(axis=1)
    bound = NormalDist().inv_cdf(1 - ALPHA / 2)
    assert power.observed.difference.value == pytest.approx(by_cluster.mean())
    assert power.raters == (1.0,)
    for size, share in shares(power, 1.0).items():
        distance = by_cluster.mean() / (by_cluster.std() / math.sqrt(size))
        theory = NormalDist().cdf(distance - bound) + NormalDist().cdf(-distance - bound)
        assert share == pytest.approx(theory, abs=0.06), size


@pytest.mark.long
@pytest.mark.parametrize("measure", ["spearman", "qwk", "kappa"])
def test_studies_made_one_by_one_say_the_same(measure):
    table, ratings = data(seed=3, clusters=40, per=3, noise=(0.8, 1.2), raters=1)
    fast = shares(power_of(table, ("A", "B"), ratings, measure), 1.0)
    rng, codes = np.random.default_rng(5), np.array(table.clusters)
    for size in [size for size in fast if size <= 80]:
        apart = 0
        for _ in range(150):
            rows, labels = [], []
            for label, cluster in enumerate(rng.integers(40, size=size)):
                members = np.flatnonzero(codes == cluster)
                rows += members.tolist()
                labels += [label] * members.size
            sources = {name: scores.take(np.array(rows)) for name, scores in table.sources.items()}
            sources["people"] = scores_of(ratings[rows, 0])
            study = ScoreTable(sources, tuple(labels))
            figures = figures_of(study, {n: sources[n] for n in "AB"}, "people", [measure])
            p = compare("A", figures["A"], "B", figures["B"], measure).p
            apart += p is not None and p < ALPHA
        assert fast[size] == pytest.approx(apart / 150, abs=0.12), size


@pytest.mark.long
@pytest.mark.parametrize("measure", ["spearman", "exact", "ac1"])
def test_judges_that_are_alike_are_told_apart_about_as_often_as_chance_allows(measure):
    table, ratings = data(seed=7, clusters=50, noise=(1.0, 1.0))
    a, b = (table.sources[name].values for name in "AB")
    # Each cluster comes a second time with the judges swapped; one target keeps them from being equal.
    mirrored = np.concatenate([a, b]), np.concatenate([b, a])
    right = np.flatnonzero(a == np.floor(ratings.mean(axis=1) + 0.5))[0]
    mirrored[0][right] = 1 + mirrored[0][right] % 5
    labels = table.clusters + tuple(c + 50 for c in table.clusters)
    both = ScoreTable({name: scores_of(v) for name, v in zip("AB", mirrored, strict=True)}, labels)
    power = power_of(both, ("A", "B"), np.concatenate([ratings, ratings]), measure, studies=2000)
    assert power.here.clusters == 100
    assert 0.03 <= power.here.apart.value <= 0.075
    assert 0.2 < power.here.wrong / power.here.apart.value < 0.8
    assert {p.raters for p in power.points} == {1.0, 2.0, 3.0}
    assert all(0.025 <= p.apart.value <= 0.085 for p in power.points if p.clusters <= 400)


@pytest.mark.long
def test_more_targets_and_more_raters_tell_more():
    table, ratings = data()
    power = power_of(table, ("A", "B"), ratings, "spearman")
    assert power.raters == (1.0, 2.0, 3.0)
    for raters in power.raters:
        mine = list(shares(power, raters).values())
        assert mine == sorted(mine)
    assert shares(power, 1.0)[60] + 0.05 < shares(power, 3.0)[60]
    assert power.here == next(p for p in power.points if (p.clusters, p.raters) == (60, 3.0))
    assert power.here.targets == 240
    assert power_of(table, ("A", "B"), ratings, "spearman").points == power.points
    assert power_of(table, ("A", "B"), ratings, "spearman", seed=1).points != power.points


def test_ratings_that_lack_are_no_raters():
    table, ratings = data()
    ratings[np.arange(240), np.arange(240) % 3] = np.nan
    power = power_of(table, ("A", "B"), ratings, "qwk", studies=100)
    assert power.raters == (1.0, 2.0)
    ratings[:20, 1:] = np.nan
    ratings[:20, 0] = 3
    assert power_of(table, ("A", "B"), ratings, "qwk", studies=100).raters == pytest.approx((1.0, 460 / 240))


def test_one_judge_is_held_against_the_best_constant():
    table, _ = data()
    values = np.array([4.0] * 120 + [5.0] * 70 + [1.0] * 50)
    judge = ScoreTable({"A": scores_of(np.resize([4.0, 3.0, 5.0, 5.0, 1.0], 240))}, table.clusters)
    assert power_of(judge, ("A", None), values[:, None], "exact", studies=50).observed.b == "always 4"
    ranked = power_of(judge, ("A", None), values[:, None], "spearman", studies=50).observed
    assert (ranked.b, ranked.figure_b) == ("any constant", None)
    assert ranked.difference.value == pytest.approx(ranked.figure_a)


def test_no_size_is_promised_where_judges_do_not_differ():
    table, ratings = data()
    same = ScoreTable({"A": table.sources["A"], "B": table.sources["A"]}, table.clusters)
    power = power_of(same, ("A", "B"), ratings, "qwk")
    assert power.points == ()
    assert "no number of targets" in power.why_not
    constant = ScoreTable({name: scores_of(np.full(240, 4.0)) for name in "AB"}, table.clusters)
    assert "undefined" in power_of(constant, ("A", "B"), ratings, "spearman").why_not
    few = table.only(np.arange(240) < 12)
    assert "too few conversations" in power_of(few, ("A", "B"), ratings[:12], "mae").why_not


def test_of_very_many_clusters_some_are_drawn_and_differ_as_all_do():
    table, ratings = data(clusters=1500, per=2, raters=1, noise=(1.0, 1.05))
    power = power_of(table, ("A", "B"), ratings, "mae", studies=200)
    assert power.here.clusters == 1500
    assert power.here.targets == 3000


def estimate(share):
    return Estimate(share, None, None, LEVEL, 100, 100, "none")


def test_the_size_that_is_needed_lies_between_those_that_were_simulated():
    table, ratings = data(clusters=10)
    observed = power_of(table, ("A", "B"), ratings, "mae", studies=10).observed
    curve = {60: 0.2, 120: 0.6, 240: 1.0}
    points = tuple(PowerPoint(n // 4, n, 1.0, estimate(share), 0.0) for n, share in curve.items())
    power = Power(observed, points, points[0], 100)
    assert power.needed(1.0) == pytest.approx(120 * math.sqrt(2))
    assert power.needed(1.0, 0.1) == 0.0
    assert power.needed(1.0, 0.6) == pytest.approx(120)
    assert Power(observed, points[:2], points[0], 100).needed(1.0) is None
    assert power.needed(2.0) is None
    assert as_json(power)["needed"] == [{"raters": 1.0, "targets": pytest.approx(169.7, abs=0.1)}]


@pytest.mark.parametrize("measure", ["no such", "per_user_pearson", "auc"])
def test_measures_that_cannot_be_simulated(measure):
    table, ratings = data(clusters=10)
    with pytest.raises(UsageError):
        power_of(table, ("A", "B"), ratings, measure)


def test_a_target_without_a_rating_has_no_place():
    table, ratings = data(clusters=10)
    ratings[3] = np.nan
    with pytest.raises(ValueError, match="one at least"):
        power_of(table, ("A", "B"), ratings, "mae")
