import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Scale, UsageError
from dialogauge.judges.rubric.reply import Item, ParsedPart
from dialogauge.judges.rubric.windows import merge_turn, merge_whole, plan_windows, roll_up, weakest_of
from dialogauge.rubrics import load_rubric

CARD = {d.name: d for d in load_rubric("card").dimensions}
NA = "n/a"


@pytest.mark.parametrize(
    ("count", "size", "plan"),
    [
        (1, 6, [(0, 1)]),
        (6, 6, [(0, 6)]),
        (7, 6, [(0, 4), (3, 7)]),
        (11, 6, [(0, 6), (5, 11)]),
        (12, 6, [(0, 5), (4, 9), (8, 12)]),
        (16, 6, [(0, 6), (5, 11), (10, 16)]),
        (11, 5, [(0, 5), (4, 8), (7, 11)]),
        (11, 4, [(0, 4), (2, 6), (4, 8), (7, 11)]),
        (23, 6, [(0, 6), (5, 11), (10, 15), (14, 19), (18, 23)]),
    ],
)
def test_where_the_windows_lie(count, size, plan):
    assert list(plan_windows(count, size)) == plan


@given(st.integers(7, 400), st.integers(4, 6))
def test_windows_cover_all_turns_and_overlap_by_one_or_two(count, size):
    plan = plan_windows(count, size)
    assert plan[0][0] == 0
    assert plan[-1][1] == count
    assert all(4 <= stop - start <= size for start, stop in plan)
    overlaps = [before[1] - after[0] for before, after in itertools.pairwise(plan)]
    assert all(overlap in (1, 2) for overlap in overlaps)
    assert len(plan) == math.ceil((count - 1) / (size - 1))
    held = [sum(start <= turn < stop for start, stop in plan) for turn in range(count)]
    assert set(held) <= {1, 2}


@pytest.mark.parametrize("size", [0, 3, 7])
def test_other_sizes_are_refused(size):
    with pytest.raises(UsageError, match="give 4 to 6 turns"):
        plan_windows(20, size)


def part(issues=(), **scores):
    return ParsedPart(scores, issues=issues)


def test_a_turn_judged_once_is_kept():
    one = part(helpfulness=4)
    assert merge_turn([one]) == (one, {})


def test_a_turn_judged_twice_gets_the_mean_and_the_difference():
    merged, differences = merge_turn([part(("x", "y"), a=4, b=5), part(("y", "z"), a=3, b=5)])
    assert merged.scores == {"a": 3.5, "b": 5}
    assert differences == {"a": 1, "b": 0}
    assert merged.issues == ("x", "y", "z")


def test_a_number_goes_before_not_applicable():
    merged, differences = merge_turn([part(a=NA, b=NA), part(a=2, b=NA)])
    assert merged.scores == {"a": 2, "b": NA}
    assert differences == {}


ROLLED = [
    # coherence: half way between the length-weighted mean and the minimum, halves down
    ("coherence", [5, 5, 5], [5, 5, 5], 5),
    ("coherence", [5, 5, 2], [4, 4, 4], 3),
    ("coherence", [5, 2], [6, 4], 3),  # mean 3.8, pulled 2.9
    ("coherence", [5, 4], [5, 5], 4),  # mean 4.5, pulled 4.25
    ("coherence", [4, 3], [4, 4], 3),  # mean 3.5, pulled 3.25
    ("coherence", [5, 3], [4, 4], 3),  # mean 4, pulled 3.5: the half goes down
    ("coherence", [5, 1, 1], [5, 5, 5], 2),  # mean 2.33, pulled 1.67
    # task_completion: half way between the last that applies and the minimum, halves down
    ("task_completion", [NA, NA, 5], [5, 5, 5], 5),
    ("task_completion", [NA, 5, NA], [5, 5, 5], 5),
    ("task_completion", [1, NA, 5], [5, 5, 5], 3),
    ("task_completion", [2, 4, 5], [5, 5, 5], 3),  # 3.5
    ("task_completion", [5, 5, 1], [5, 5, 5], 1),
    ("task_completion", [NA, NA, NA], [5, 5, 5], NA),
    # repair_handling: the minimum of those that apply
    ("repair_handling", [NA, 5, 2], [5, 5, 5], 2),
    ("repair_handling", [NA, 4, NA], [5, 5, 5], 4),
    ("repair_handling", [NA, NA], [5, 5], NA),
]


@pytest.mark.parametrize(("name", "scores", "lengths", "whole"), ROLLED)
def test_the_roll_up(name, scores, lengths, whole):
    assert roll_up(CARD[name], scores, lengths) == whole


def test_a_scale_on_which_less_is_better_is_pulled_to_the_worse_end():
    errors = replace(CARD["coherence"], scale=Scale(1, 5, higher_is_better=False))
    assert roll_up(errors, [1, 3], [4, 4]) == 3  # mean 2, worst 3: 2.5, the half goes to the worse score
    assert roll_up(replace(errors, rollup="minimum"), [1, 3], [4, 4]) == 3


def test_a_scale_of_fractions_is_not_rounded():
    free = replace(CARD["coherence"], scale=Scale(0, 1, integer=False), rollup="mean")
    assert roll_up(free, [0.5, 1.0], [6, 4]) == pytest.approx(0.7)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(4, 6)), min_size=1, max_size=9))
def test_a_roll_up_stays_between_minimum_and_mean_and_on_the_scale(windows):
    scores, lengths = zip(*windows, strict=True)
    rolled = roll_up(CARD["coherence"], scores, lengths)
    mean = sum(s * n for s, n in windows) / sum(lengths)
    assert min(scores) <= rolled <= math.ceil(mean)
    assert CARD["coherence"].scale.admits(rolled)


def test_lists_are_joined_and_their_share_is_computed_anew():
    task = load_rubric("task")
    first = ParsedPart({"task_completion": 3}, items={"subgoals": (Item("a", "met"), Item("b", "missed"))})
    last = ParsedPart(
        {"task_completion": 5}, items={"subgoals": (Item("b", "missed"), Item("c", "met"), Item("d", "met"))}
    )
    merged = merge_whole(task, [first, last], [5, 5])
    assert merged.scores == {"task_completion": 4, "subgoals_met": 0.75}


def test_the_weakest_of_the_named_turns():
    turns = {2: {"a": 3, "b": 5}, 5: {"a": 2, "b": 5}, 9: {"a": 2, "b": 4}, 11: {"a": 1, "b": 1}}
    assert weakest_of([2, None, 5], turns) == 5
    assert weakest_of([5, 9], turns) == 9
    assert weakest_of([None, None], turns) is None
    assert weakest_of([4, 3], {}) == 3
