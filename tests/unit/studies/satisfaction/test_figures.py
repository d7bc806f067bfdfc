from __future__ import annotations

import numpy as np
import pytest

from dialogauge.core.json_keys import as_json
from dialogauge.stats import scores_of
from dialogauge.studies.satisfaction.figures import FIGURES, metrics_of, rated_table
from pt11 import GOLD, PT11, SAID, USERS
from rated import figures_of_scores as figures_of
from rated import rated_answer


def scored(gold, said, users, blocks=None):
    blocks = blocks or users
    return list(zip(users, blocks, gold, said, strict=True))


OF_OURS = {"within_block_pearson", "within_block_spearman"}
OF_OURS |= {"bias", "over_rated", "under_rated", "far_off"}


def test_pt11() -> None:
    found = figures_of(scored(GOLD, SAID, USERS))
    assert {name: found.values[name] for name in PT11} == pytest.approx(PT11, abs=1e-12)
    assert (found.n, found.users) == (14, 4)
    assert found.users_used == {"correlation": 2, "boundary": 2}
    assert set(PT11) | OF_OURS == set(FIGURES)


def test_over_and_under_rating() -> None:
    found = figures_of(scored([5, 4, 3, 1], [4, 4, 5, 4], "aabb")).values
    assert found["over_rated"] == 0.5
    assert found["under_rated"] == 0.25
    assert found["far_off"] == 0.5
    assert found["bias"] == 1


def test_constant_judge_has_no_correlation() -> None:
    found = as_json(figures_of(scored(GOLD, [4] * 14, USERS), failed=3))
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
    found = figures_of(scored([1, 2, 4, 5], [2, 1, 5, 4], "uuuu", blocks))
    assert found.values["within_block_pearson"] == pytest.approx(-1)
    assert found.values["within_user_pearson"] == pytest.approx(0.8)


def test_intervals_are_by_users() -> None:
    users = "abcdefghij" * 10
    rng = np.random.default_rng(1)
    gold = rng.integers(1, 6, 100).tolist()
    said = [min(5, max(1, g + int(d))) for g, d in zip(gold, rng.integers(-1, 2, 100), strict=True)]
    found = figures_of(scored(gold, said, users))
    again = figures_of(scored(gold, said, users))
    assert found == again
    for name in ("pearson", "qwk", "f1_dsat", "within_user_pearson", "per_user_mae"):
        low, high = found.intervals[name]
        assert low < found.values[name] < high


def test_deals_are_averaged() -> None:
    table = rated_table([rated_answer(u, g, 4) for u, g in zip("abcde" * 4, [5, 4, 3, 1] * 5, strict=True)])
    deals = scores_of([5, 4, 4, 2] * 5), scores_of([4, 5, 2, 4] * 5)
    found = metrics_of(table, {"dealt": deals}, failed=1)["dealt"]
    first, second = (metrics_of(table, {"one": deal})["one"].values["mae"] for deal in deals)
    assert found.values["mae"] == pytest.approx((first + second) / 2)
    assert set(found.intervals) == set(FIGURES)
    low, high = found.intervals["mae"]
    assert low <= first < second <= high
    assert found.n_failed == 1


def test_fewer_than_five_users_give_no_interval_of_users() -> None:
    gold, said = [1, 3, 5, 2, 4, 4, 5, 4, 4] * 2, [2, 3, 5, 4, 4, 4, 4, 4, 4] * 2
    users = "aaabbbccc" + "dddeeefff"
    found = figures_of(scored(gold, said, users))
    assert found.users_used["correlation"] == 2
    assert found.values["per_user_pearson"] is not None
    assert found.intervals["per_user_pearson"] is None
    assert found.intervals["per_user_mae"] is not None
    assert figures_of(scored(gold * 3, said * 3, users + users.upper() + "uuuvvvwwwxxxyyyzzz")).intervals[
        "per_user_pearson"
    ]
