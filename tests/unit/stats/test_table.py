"""Scores and their statuses, whole scores, clusters, and what counts as dissatisfied."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Scale, UsageError
from dialogauge.stats.table import (
    ScoreTable,
    cluster_labels,
    label_codes,
    parse_rule,
    reply_length,
    row_codes,
    scores_of,
    whole_scores,
)

NAN = float("nan")


def test_halves_go_upward_and_stay_on_the_scale():
    found = whole_scores([0.2, 1.5, 2.5, 3.5, 4.4999, 4.5, 5.7])
    assert found.tolist() == [1, 2, 3, 4, 4, 5, 5]
    assert np.isnan(whole_scores([NAN])).all()
    assert whole_scores([-1.5, 9.5], Scale(0, 10)).tolist() == [0, 10]


@given(st.lists(st.tuples(*[st.sampled_from([-1.5, 0.0, 1.0, 3.25])] * 3), min_size=1, max_size=30))
def test_rows_that_are_alike_have_one_number_in_the_order_of_their_values(rows):
    every = np.array(rows)
    codes, first = row_codes(list(every.T))
    different, expected = np.unique(every, axis=0, return_inverse=True)
    assert codes.tolist() == expected.reshape(-1).tolist()
    assert every[first].tolist() == different.tolist()


def test_many_columns_of_many_values_are_numbered_too():
    columns = np.random.default_rng(0).permuted(np.tile(np.arange(3000.0), (12, 1)), axis=1)
    codes, first = row_codes([*columns])
    assert codes.tolist() == columns[0].tolist()
    assert first.size == 3000


@given(st.lists(st.integers(2, 38).map(lambda q: q / 8), min_size=1, max_size=10))
def test_adding_one_to_scores_adds_one_to_whole_scores(values):
    wide = Scale(-100, 100)
    shifted = whole_scores([v + 1 for v in values], wide)
    assert (shifted == whole_scores(values, wide) + 1).all()


def test_reply_length_is_characters_in_every_language():
    assert (reply_length("two words"), reply_length("两个词"), reply_length("")) == (9, 3, 0)


def test_some_targets_of_a_source_and_its_whole_scores():
    found = scores_of([4, 2.5])
    assert found.whole.tolist() == [4, 3]
    assert found.rounded().values.tolist() == [4, 3]
    assert found.take(np.array([1, 0])).values.tolist() == [2.5, 4]


def test_a_failure_is_no_score_and_columns_have_one_length():
    with pytest.raises(ValueError, match="leave out what failed"):
        scores_of([4, NAN])
    with pytest.raises(ValueError, match="different length"):
        scores_of([4, 3], whole=[4])


def test_a_source_of_names_has_classes_without_numbers():
    named = scores_of([NAN, NAN], dissatisfied=[1, 0])
    assert not named.numbers
    assert named.dissatisfied is not None


def test_some_targets_of_a_table():
    sources = {"judge": scores_of([4, 2, 3]), "people": scores_of([5, 4, 1])}
    table = ScoreTable(sources, ("a", "b", "c"), users=("u", "u", "v"), lengths=np.array([7.0, 8.0, 9.0]))
    found = table.only(np.array([True, False, False]))
    assert (found.n, found.clusters, found.users) == (1, ("a",), ("u",))
    assert found.blocks is None
    assert found.lengths is not None
    assert found.lengths.tolist() == [7.0]
    assert set(table.adding({"more": scores_of([1, 2, 3])}).sources) == {*sources, "more"}


def test_clusters_are_users_where_known_else_conversations():
    assert cluster_labels(["u", "v"], ["a", "b"])[1] == "users"
    labels, unit = cluster_labels(["u", None, "u", None], ["a", "b", "c", "u"])
    assert unit == "users and conversations"
    assert label_codes(labels)[0].tolist() == [0, 1, 0, 2]  # a conversation called like a user is another one
    assert cluster_labels([None, None], ["a", "b"]) == (("a", "b"), "conversations")
    assert cluster_labels(["u", "u"], ["a", "b"]) == (("a", "b"), "conversations")  # one user alone
    assert cluster_labels([], []) == ((), "conversations")


@pytest.mark.parametrize(
    ("text", "score", "holds"),
    [("3", 3, True), ("<3", 3, False), ("<=2.5", 2.4, True), (">=4", 4, True), ("=DSAT", "DSAT", True)],
)
def test_rules(text, score, holds):
    rule = parse_rule(text)
    assert rule.holds(score) is holds
    if not isinstance(score, str):
        assert rule.classes(np.array([score], dtype=float)).tolist() == [float(holds)]


def test_an_empty_rule_is_refused():
    with pytest.raises(UsageError, match="says nothing"):
        parse_rule(" = ")
    assert [str(parse_rule(t)) for t in ("3", "<3", "DSAT")] == ["<=3", "<3", "=DSAT"]
    assert parse_rule("DSAT").classes(np.array([1.0])).tolist() == [0.0]
