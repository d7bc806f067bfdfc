"""Scores of a partition, worked out by hand."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from dialogauge.core import UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import read_as
from dialogauge.report import to_text
from dialogauge.stats import Basis, Estimate, freedom_of
from dialogauge.studies.learning.partitions import (
    FIGURES,
    PartitionFigures,
    PartitionScores,
    ScoreReference,
    figures_table,
    left_out_notes,
    means_table,
    partition_dots,
    partition_scores,
    references_of,
)

HALVES = ScoreReference(0.0, 1.0, 0.5, 0.5, 8)


def figures(scores: PartitionScores, system: str = "s") -> PartitionFigures:
    """What a system got."""
    return next(of for of in scores.systems if of.system == system)


def test_a_reference_is_of_all_scores_on_its_data_set() -> None:
    # Squares of -2, 0 and 2 are 8; the whole has a variance of 8 / 3.
    references = references_of({"a": [1, 3, 5], "nothing": []})
    assert references == {"a": ScoreReference(1, 5, 3.0, pytest.approx(sqrt(8 / 3)), 3)}
    assert read_as(as_json(references), dict[str, ScoreReference]) == references


def test_scores_outside_of_the_range_are_not_clipped() -> None:
    reference = ScoreReference(1.0, 3.0, 2.0, 0.5, 4)
    assert reference.brought(4.0, "minmax") == 1.5
    assert reference.brought(0.5, "z") == -3.0


def test_where_all_scores_are_one_each_is_0() -> None:
    assert ScoreReference(2.0, 2.0, 2.0, 0.0, 4).brought(2.0, "minmax") == 0
    assert ScoreReference(2.0, 3.0, 2.0, 1e-6, 4).brought(3.0, "z") == 0
    assert ScoreReference(2.0, 3.0, 2.0, 2e-6, 4).brought(3.0, "z") == pytest.approx(500_000)


def test_each_case_counts_once_or_each_data_set_does() -> None:
    # Four cases sum to 1.5; the means of the data sets are 1 and 1/6. As z they are 1, -1, -1 and 0.
    cases = {"s": {"few": [1.0], "many": [0.0, 0.0, 0.5]}}
    of = figures(partition_scores(cases, {"few": HALVES, "many": HALVES}, ("few", "many")))
    values = [e.value for e in (of.minmax_by_case, of.minmax_by_set, of.z_by_case, of.z_by_set)]
    assert values == pytest.approx([1.5 / 4, (1 + 1 / 6) / 2, -1 / 4, (1 - 2 / 3) / 2])
    assert of.cases == 4


def test_an_interval_leaves_cases_out_and_keeps_the_weight_of_their_data_set() -> None:
    # Without one of 0, 1, 0, 1 its data set has 2/3 or 1/3 in place of 1/2, at half of the weight: 1/12.
    # Between the data sets nothing moves, though one has 1/2 and the other 1.
    cases = {"s": {"a": [0.0, 1.0, 0.0, 1.0], "b": [1.0] * 4}}
    got = figures(partition_scores(cases, {"a": HALVES, "b": HALVES}, ("a", "b"))).minmax_by_case
    moved = 0.75 + np.array([1, -1, 1, -1, 0, 0, 0, 0]) / 12
    expected = Basis(8, 8, "cases", freedom_of(np.ones(8))).estimate(0.75, moved, (0.0, 1.0))
    assert got.interval == pytest.approx(expected.interval)
    assert (got.n, got.clusters, got.method) == (8, 8, "jackknife by cases")


def test_a_cluster_is_left_out_of_all_data_sets_that_it_is_in() -> None:
    # Five users of two cases each; without the one who has 1 and 1 all is 0, without another 1/4.
    cases = {"s": {"a": [1.0, 0, 0, 0, 0], "b": [1.0, 0, 0, 0, 0]}}
    users = {"s": {"a": "vwxyz", "b": "vwxyz"}}
    scores = partition_scores(cases, {"a": HALVES, "b": HALVES}, ("a", "b"), clusters=users, unit="users")
    expected = Basis(10, 5, "users", 4.0).estimate(0.2, np.array([0.0] + [0.25] * 4), (0.0, 1.0))
    assert figures(scores).minmax_by_set.interval == pytest.approx(expected.interval)
    assert figures(scores).z_by_case.clusters == 5


def test_a_data_set_of_one_conversation_gives_no_interval_and_says_why() -> None:
    cases = {"s": {"a": [0.0, 1.0], "b": [0.0, 1.0] * 5}}
    places = {"s": {"a": ["one", "one"], "b": list(range(10))}}
    got = figures(partition_scores(cases, {"a": HALVES, "b": HALVES}, ("a", "b"), clusters=places))
    assert got.minmax_by_case.value == 0.5
    assert got.minmax_by_case.interval is None
    assert got.minmax_by_case.reason == "undefined without some of the cases"


def test_who_lacks_a_data_set_has_no_score_and_it_is_named() -> None:
    cases = {"s": {"a": [1.0]}, "all": {"a": [1.0], "b": [0.0]}}
    scores = partition_scores(cases, {"a": HALVES, "b": HALVES}, ("a", "b"))
    of = figures(scores)
    assert (of.missing, of.minmax_by_case.value, of.minmax_by_case.reason) == (("b",), None, "no case of b")
    assert figures(scores, "all").minmax_by_case.value == 0.5
    assert "s has no score on P: no case of b." in to_text(left_out_notes({"P": scores}))


def test_what_nobody_did_and_what_no_model_merged_is_left_out_and_named() -> None:
    cases = {"s": {"a": [1.0], "raw": [0.3]}}
    scores = partition_scores(cases, {"a": HALVES}, ("a", "raw", "none"), unmerged=["raw"])
    assert scores.datasets == ("a",)
    assert scores.left_out == {"none": "no case was done", "raw": "no model merged its metrics"}
    assert figures(scores).cases == 1
    text = to_text(left_out_notes({"P": scores}))
    assert "P is without raw: no model merged its metrics." in text


def test_without_any_data_set_there_is_no_score() -> None:
    got = figures(partition_scores({"s": {"a": []}}, {}, ("a",)))
    assert got.minmax_by_case.value is None
    assert got.minmax_by_case.reason == "no case at all"


def test_where_the_scores_of_no_data_set_differ_there_is_no_figure() -> None:
    """Of two data sets one that differs is enough: the other gives 0, as MemoryBench has it."""
    cases = {"s": {"a": [0.5, 0.5], "b": [0.0, 1.0]}, "t": {"a": [0.5], "b": [1.0]}}
    references = references_of({"a": [0.5] * 3, "b": [0.0, 1.0, 1.0]})
    alone = partition_scores(cases, references, ("a",))
    for got in alone.systems:
        of = [getattr(got, figure) for figure in FIGURES]
        assert {(one.value, one.low, one.reason) for one in of} == {(None, None, "all scores are equal")}
    assert to_text([figures_table("T", {"P": alone}, "z_by_set")]).splitlines()[-1].split()[:2] == [
        "t",
        "n/a",
    ]
    assert [one.minmax_by_case.value for one in partition_scores(cases, references, ("a", "b")).systems] == [
        0.25,
        0.5,
    ]


def test_references_of_other_data_sets_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="there is none of b and c"):
        partition_scores({"s": {"a": [1.0], "b": [1.0], "c": [1.0]}}, {"a": HALVES}, ("a", "b", "c"))


def test_tables_show_intervals_and_a_dash_for_who_is_not_there() -> None:
    cases = {"s": {"a": [0.0, 1.0] * 5}, "none": {"a": [0.0] * 10}}
    one = partition_scores(cases, {"a": HALVES}, ("a",))
    other = partition_scores({"s": {"b": [1.0]}}, {"b": HALVES}, ("b",))
    text = to_text(
        [figures_table("T", {"P": one, "Q": other}, "minmax_by_case", systems=["none"], quiet=["none"])]
    )
    low, high = figures(one).minmax_by_case.interval or (0.0, 0.0)
    assert f"0.5000 [{low:.4f}, {high:.4f}]" in " ".join(text.split())
    rows = [line.split() for line in text.splitlines() if line.startswith(("none", "s "))]
    assert (rows[0][0], rows[0][-1], rows[1][-1]) == ("none", "–", "1.0000")
    dots = partition_dots({"P": one}).cards[0].blocks[0]
    assert [(dot.name, dot.value) for dot in dots.rows] == [("s", 0.5), ("none", 0.0)]
    both = to_text([figures_table("T", {"P": one}, "minmax_by_case", "z_by_case")])
    assert both.splitlines()[1].split() == ["system", "P,", "min-max", "P,", "z"]
    apart = to_text([figures_table("T", {"P": one}, "minmax_by_case", "minmax_by_set")])
    assert apart.splitlines()[1].split() == ["system", "P,", "by", "case", "P,", "by", "data", "set"]
    means = to_text([means_table("M", {"P": {"a": {"s": 0.5}}}, ["s", "none"])])
    assert means.splitlines()[-1].split() == ["a", "0.5000", "–"]


def test_a_figure_is_written_with_all_of_its_estimate() -> None:
    written = as_json(partition_scores({"s": {"a": [1.0]}}, {"a": HALVES}, ("a",)))
    figure = written["systems"][0]["minmax_by_case"]
    assert figure.keys() == set(Estimate.__match_args__)
    assert read_as(written["references"], dict[str, ScoreReference]) == {"a": HALVES}
