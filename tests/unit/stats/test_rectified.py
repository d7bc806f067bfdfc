"""The rectified mean, against a slow version of it and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.stats.estimate import Basis, freedom_of
from dialogauge.stats.means import mean_estimate
from dialogauge.stats.rectified import rectified_mean
from sets import examples

RANGE = (0.0, 10.0)


def slowly(ratings, judge, clusters):
    """Return estimate and factor by the definition, cluster by cluster."""
    rated = np.isfinite(ratings)
    mean, own, other = ratings[rated].mean(), judge[rated].mean(), judge[~rated].mean()
    a, b = [], []
    for cluster in dict.fromkeys(clusters.tolist()):
        here = clusters == cluster
        a.append((ratings[here & rated] - mean).sum() / rated.sum())
        b.append(
            (judge[here & ~rated] - other).sum() / (~rated).sum()
            - (judge[here & rated] - own).sum() / rated.sum()
        )
    bb = float(np.dot(b, b))
    factor = -float(np.dot(a, b)) / bb if bb > 1e-12 else 0.0
    return mean + factor * (other - own), factor


def drawn(rng, *, clusters, skill, share=0.3, own_level=0.0):
    sizes = rng.integers(2, 10, size=clusters)
    codes = np.repeat(np.arange(clusters), sizes)
    level, quality = rng.normal(0, 0.4, clusters)[codes], rng.normal(0, 1, codes.size)
    people = 3.9 + level + 0.8 * quality
    judge = own_level + skill * (level + 0.8 * quality) + rng.normal(0, 0.5, codes.size)
    rated = rng.random(codes.size) < share
    rated[0], rated[1] = True, False
    return np.where(rated, people, np.nan), judge, codes


@examples(40)
@given(st.integers(0, 2**32 - 1), st.integers(6, 15), st.sampled_from([0.0, 0.5, 1.0]))
def test_it_is_what_its_definition_says(seed, clusters, skill):
    ratings, judge, codes = drawn(np.random.default_rng(seed), clusters=clusters, skill=skill)
    value, factor = slowly(ratings, judge, codes)
    mean = rectified_mean(ratings, judge, codes, RANGE, RANGE)
    assert mean.rectified.value == pytest.approx(value, abs=1e-8)
    assert mean.factor == pytest.approx(factor, abs=1e-8)
    left = [slowly(ratings[codes != c], judge[codes != c], codes[codes != c])[0] for c in set(codes.tolist())]
    parts = [np.bincount(codes[of]).astype(float) for of in (np.isfinite(ratings), ~np.isfinite(ratings))]
    holding, most = min(np.count_nonzero(of) for of in parts), min(freedom_of(of) for of in parts)
    basis = Basis(codes.size, len(left), most=most)
    slow = basis.estimate(value, np.array(left), RANGE, support=holding)
    assert (mean.rectified.interval is None) == (slow.interval is None)
    if slow.interval is not None:
        assert mean.rectified.interval == pytest.approx(slow.interval, abs=1e-6)


def test_the_judges_scale_makes_no_difference():
    ratings, judge, codes = drawn(np.random.default_rng(1), clusters=30, skill=1)
    plain, moved = (
        rectified_mean(ratings, of, codes, RANGE, RANGE).rectified for of in (judge, 100 - 7 * judge)
    )
    assert moved.value == pytest.approx(plain.value)
    assert moved.interval == pytest.approx(plain.interval)


def test_each_mean_is_over_its_own_targets_on_its_own_range():
    ratings, judge, codes = drawn(np.random.default_rng(1), clusters=30, skill=1)
    ratings = np.clip(ratings, 1, 5)
    rated = np.isfinite(ratings)
    mean = rectified_mean(ratings, 50 + judge, codes, (1.0, 5.0), (0.0, 100.0))
    assert mean.judge == mean_estimate(50 + judge, codes, limits=(0.0, 100.0))
    assert mean.rated_only == mean_estimate(ratings[rated], codes[rated], limits=(1.0, 5.0))
    lowest = rectified_mean(np.where(rated, 1.05, np.nan), 0 * judge, codes, (1.0, 5.0), (0.0, 100.0))
    assert lowest.rectified.low > 1
    assert lowest.rectified.high < 5


def test_a_judge_that_says_the_same_of_all_changes_nothing():
    ratings, judge, codes = drawn(np.random.default_rng(1), clusters=30, skill=1)
    mean = rectified_mean(ratings, np.full_like(judge, 4.0), codes, RANGE, RANGE)
    assert (mean.factor, mean.judge.value) == (0, 4)
    assert mean.rectified.value == pytest.approx(np.nanmean(ratings))
    assert mean.rectified.interval == pytest.approx(mean.rated_only.interval, rel=1e-3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("clusters", "skill", "widest"), [(10, 0, 1.5), (20, 0.5, 1.1), (100, 0, 1.03), (100, 1, 0.8)]
)
def test_it_covers_and_is_no_wider_than_people_alone_in_the_long_run(clusters, skill, widest):
    rng, hits, widths = np.random.default_rng(0), 0, []
    for _ in range(300):
        mean = rectified_mean(*drawn(rng, clusters=clusters, skill=skill, own_level=1.5), RANGE, RANGE)
        if mean.rectified.interval is not None:  # where too few clusters hold rated targets
            low, high = mean.rectified.interval
            hits += low <= 3.9 <= high
            widths.append((high - low, mean.rated_only.high - mean.rated_only.low))
    assert len(widths) > 280
    assert hits / len(widths) > 0.92
    rectified, alone = np.mean(widths, axis=0)
    assert rectified / alone < widest


def test_a_judge_that_was_fitted_to_ratings_is_used_as_far_as_the_others_say():
    rng, hits, factors = np.random.default_rng(0), np.zeros(2), np.zeros(2)
    for _ in range(300):
        ratings, blind, codes = drawn(rng, clusters=40, skill=0)
        fitted = np.isfinite(ratings) & (codes % 4 > 0)
        judge = np.where(fitted, ratings, 4.0 + blind)  # it knows these ratings, and nothing else
        columns = ratings, judge, codes, RANGE, RANGE
        made = rectified_mean(*columns), rectified_mean(*columns, fitted=fitted)
        factors += [abs(mean.factor) for mean in made]
        hits += [mean.rectified.low <= 3.9 <= mean.rectified.high for mean in made]
    assert factors[0] > 2 * factors[1]
    assert hits[1] / 300 > 0.92 > hits[0] / 300


def test_a_judge_that_was_fitted_to_all_ratings_is_not_used():
    ratings, judge, codes = drawn(np.random.default_rng(1), clusters=30, skill=1)
    mean = rectified_mean(ratings, judge, codes, RANGE, RANGE, fitted=np.isfinite(ratings))
    assert mean.factor == 0
    assert mean.rectified.value == mean.rated_only.value
    assert mean.rectified.interval == pytest.approx(mean.rated_only.interval, rel=1e-3)


@pytest.mark.parametrize(
    ("ratings", "judge", "clusters"),
    [
        ([1.0, 2.0], [1.0, 2.0], [1, 2]),
        ([np.nan, np.nan], [1.0, 2.0], [1, 2]),
        ([1.0, np.nan], [1.0, np.nan], [1, 2]),
        ([1.0, np.nan], [1.0, 2.0], [1]),
    ],
)
def test_it_refuses_what_it_is_not_made_for(ratings, judge, clusters):
    with pytest.raises(ValueError, match="a rectified mean takes"):
        rectified_mean(ratings, judge, clusters, RANGE, RANGE)


def slowly_weighted(ratings, judge, clusters, weights):
    """Return estimate and factor by the definition: rated targets weighted, the judge's mean of all."""
    rated = np.isfinite(ratings)
    w = np.where(rated, weights, 0.0)
    y = np.where(rated, ratings, 0.0)
    mean, own, every = (w * y).sum() / w.sum(), (w * judge).sum() / w.sum(), judge.mean()
    a, b = [], []
    for cluster in dict.fromkeys(clusters.tolist()):
        here = clusters == cluster
        a.append((w * (y - mean))[here].sum() / w.sum())
        b.append((judge - every)[here].sum() / judge.size - (w * (judge - own))[here].sum() / w.sum())
    bb = float(np.dot(b, b))
    factor = -float(np.dot(a, b)) / bb if bb > 1e-12 else 0.0
    return mean + factor * (every - own), factor


@examples(40)
@given(st.integers(0, 2**32 - 1), st.integers(6, 15), st.sampled_from([0.0, 0.5, 1.0]))
def test_with_weights_it_is_what_its_definition_says(seed, clusters, skill):
    rng = np.random.default_rng(seed)
    ratings, judge, codes = drawn(rng, clusters=clusters, skill=skill)
    weights = np.where(np.isfinite(ratings), rng.integers(1, 9, codes.size), np.nan)
    value, factor = slowly_weighted(ratings, judge, codes, weights)
    mean = rectified_mean(ratings, judge, codes, RANGE, RANGE, weights=weights)
    assert mean.rectified.value == pytest.approx(value, abs=1e-8)
    assert mean.factor == pytest.approx(factor, abs=1e-8)
    rated = np.isfinite(ratings)
    assert mean.rated_only == mean_estimate(
        ratings[rated], codes[rated], weights=weights[rated], limits=RANGE
    )
    assert mean.rated_only.n == rated.sum()


@pytest.mark.long
@pytest.mark.parametrize(("all_", "rated", "skill"), [(300, 40, 1.0), (300, 40, 0.0), (120, 30, 0.6)])
def test_weights_make_up_for_a_choice_by_the_judges_scores(all_, rated, skill):
    """Half of the rated ones are the judge's lowest: the truth is covered as often as it should be."""
    rng = np.random.default_rng(7)
    truth, hits, values = 3.6, np.zeros(2), []
    for _ in range(400):
        level = rng.normal(0, 1, all_)
        people = truth + level
        judge = 1 + skill * level + rng.normal(0, 0.7, all_)
        lowest = np.argsort(judge)[: rated // 2]
        rest = np.setdiff1d(np.arange(all_), lowest)
        at_random = rng.choice(rest, rated - lowest.size, replace=False)
        ratings, weights = np.full((2, all_), np.nan)
        ratings[lowest], weights[lowest] = people[lowest], 1.0
        ratings[at_random], weights[at_random] = people[at_random], rest.size / at_random.size
        mean = rectified_mean(ratings, judge, range(all_), (-5, 12), (-9, 9), weights=weights)
        hits += [e.low <= truth <= e.high for e in (mean.rated_only, mean.rectified)]
        values.append((np.nanmean(ratings), mean.rated_only.value, mean.rectified.value))
    chosen, weighted, rectified = np.mean(values, axis=0)
    error = 4 * np.std(values, axis=0)[1] / 20
    assert abs(weighted - truth) < error + 0.02  # of a ratio, whose bias falls with the number
    assert abs(rectified - truth) < error + 0.02
    assert skill == 0 or chosen < truth - 0.3
    assert (hits / 400 > 0.925).all()
    assert (hits / 400 < 0.985).all()
