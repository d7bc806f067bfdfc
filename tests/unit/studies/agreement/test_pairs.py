"""Agreement on pairs: derived by hand, and the same whichever way round pairs were shown."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import PairRating, UsageError
from dialogauge.data import votes_in
from dialogauge.stats import RatingGrid, coefficients_of
from dialogauge.studies.agreement.pairs import CHOICES, consensus, pair_agreement, remarks_on
from sets import examples


def pairs(*rows):
    """Read `conversation rater a b winner`."""
    return list(votes_in(PairRating(a, b, w, r, None, c) for c, r, a, b, w in (row.split() for row in rows)))


PEOPLE = pairs(
    "c1 ann m1 m2 a",
    "c1 bo m2 m1 b",  # the same: m1
    "c2 ann m1 m2 a",
    "c2 bo m1 m2 b",
    "c3 ann m2 m1 tie",
    "c3 bo m1 m2 tie",
    "c4 ann m1 m2 b",
    "c4 bo m2 m1 a",  # the same: m2
    "c5 ann m1 m2 a",
)


def test_two_people_by_hand():
    (found,) = pair_agreement(PEOPLE)
    assert (found.people, found.candidates, found.dimension) == (("ann", "bo"), ("m1", "m2"), "preference")
    assert (found.targets, found.shared, found.choices) == (5, 4, 9)
    # Of the four shared they say the same of three: m1, tie, m2.
    assert found.figures["exact"].value == pytest.approx(3 / 4)
    # Randolph: chance is a third.
    assert found.figures["randolph"].value == pytest.approx((3 / 4 - 1 / 3) / (2 / 3))
    # m1 was chosen 4 times of 9, m2 3 times, a tie twice; ann a, a, tie, b, a and bo b, b, tie, a.
    assert found.rates["m1"] == pytest.approx(4 / 9)
    assert found.rates["m2"] == pytest.approx(3 / 9)
    assert found.rates["a tie"] == pytest.approx(2 / 9)
    assert found.rates["the first shown"] == pytest.approx(4 / 9)
    ann, bo = found.leanings
    assert (ann.n, ann.first_shown.value, ann.ties) == (5, pytest.approx(3 / 5), pytest.approx(1 / 5))
    assert ann.decided.value == pytest.approx(3 / 4)
    assert bo.decided.value == pytest.approx(1 / 3)
    # Exact agreement with always m1: ann 3 of 5, bo 1 of 4; with the first shown: ann 3 of 5, bo 1 of 4.
    assert found.controls["m1"]["exact"] == pytest.approx((3 / 5 + 1 / 4) / 2)
    assert found.controls["the first shown"]["exact"] == pytest.approx((3 / 5 + 1 / 4) / 2)
    assert found.controls["a tie"]["exact"] == pytest.approx((1 / 5 + 1 / 4) / 2)


def test_a_judge_beside_people():
    judge = pairs(*(f"c{k} gpt m1 m2 a" for k in range(1, 6)))
    (found,) = pair_agreement(PEOPLE, judge)
    (one,) = found.against_people
    # People together: c1 m1, c2 undecided, c3 tie, c4 m2, c5 m1.
    assert (one.source, one.n, one.figures["exact"].value) == ("gpt", 4, pytest.approx(2 / 4))
    assert found.undecided == 1
    assert one.verdict == "cannot tell"
    assert found.judges == ("gpt",)
    assert found.choices == 9


def test_a_judge_with_the_name_of_a_person():
    (found,) = pair_agreement(PEOPLE, pairs("c1 ann m1 m2 a"))
    assert (found.people, found.judges) == (("ann", "bo"), ("ann (judge)",))


def test_what_several_chose():
    rows = [
        [-1, -1, 1],
        [-1, 0, 1],
        [-1, 1, np.nan],
        [0, 1, np.nan],
        [1, np.nan, np.nan],
        [np.nan] * 3,
        [1, 1, 0],
    ]
    grid = RatingGrid(np.array(rows), tuple(range(7)), ("a", "b", "c"), CHOICES, tuple(range(7)))
    np.testing.assert_array_equal(consensus(grid), [-1, np.nan, np.nan, np.nan, 1, np.nan, 1])


candidates = st.sampled_from([("m1", "m2"), ("m2", "m1"), ("m1", "m3"), ("m3", "m2")])
rows = st.lists(
    st.tuples(
        st.integers(1, 6),
        st.sampled_from("xyz"),
        candidates,
        st.sampled_from(["a", "b", "tie"]),
        st.booleans(),
    ),
    min_size=4,
    max_size=30,
)


def key(row):
    return row[0], row[1], frozenset(row[2])


@examples(40)
@given(rows)
def test_who_is_shown_first_changes_only_what_is_said_of_the_first_shown(drawn):
    once = list({key(row): row for row in drawn}.values())
    plain = [PairRating(*of, w, rater, None, f"c{c}") for c, rater, of, w, _ in once]
    turned = [
        replace(p, a=p.b, b=p.a, winner={"a": "b", "b": "a", "tie": "tie"}[p.winner]) if turn else p
        for p, (*_, turn) in zip(plain, once, strict=True)
    ]
    if len({p.rater for p in plain}) < 2:
        return
    (one,), (other,) = (pair_agreement(votes_in(of), shuffles=2) for of in (plain, turned))
    assert one.figures == other.figures
    assert one.permuted == other.permuted
    assert one.controls["a tie"] == other.controls["a tie"]
    assert [(c.source, c.n, c.figures) for c in one.others] == [
        (c.source, c.n, c.figures) for c in other.others
    ]


def test_permuted_choices_agree_as_chance_gives():
    rng = np.random.default_rng(0)
    better = rng.choice([-1, 0, 1], 400)
    people = [
        vote
        for rater in ("x", "y")
        for vote in votes_in(
            PairRating("m1", "m2", {-1: "a", 0: "tie", 1: "b"}[int(v)], rater, None, f"c{k}")
            for k, v in enumerate(np.where(rng.random(400) < 0.8, better, rng.choice([-1, 0, 1], 400)))
        )
    ]
    (found,) = pair_agreement(people)
    assert found.figures["alpha_nominal"].value > 0.5
    assert abs(found.permuted["alpha_nominal"]) < 0.05
    assert [one.verdict for one in found.others] == ["yes", "yes"]


def test_choices_without_a_conversation():
    # a and b may themselves be conversations; then each pair comes once from a rater.
    (found,) = pair_agreement(votes_in([PairRating("d1", "d2", "a", "x"), PairRating("d2", "d1", "b", "y")]))
    assert (found.shared, found.left_out) == (1, 0)
    again = [PairRating("m1", "m2", w, r) for w in "aab" for r in "xy"] + [PairRating("m1", "m3", "a", "x")]
    (found,) = pair_agreement(votes_in(again))
    assert (found.targets, found.left_out, found.figures) == (1, 6, {})
    (remark,) = remarks_on(found)
    assert "6 choices name no conversation" in remark


def test_what_a_source_chooses_again_counts_as_it_was_chosen_last_and_is_said():
    # A file without raters is one judge's: it was asked both ways round, and took the first shown each time.
    judge = pairs("c1 gpt m1 m2 a", "c1 gpt m2 m1 a", "c2 gpt m1 m2 b")
    (found,) = pair_agreement(PEOPLE, judge)
    assert found.again == 1
    (gpt,) = found.against_people
    # m2 of c1, where people say m1; m2 of c2, where they are undecided.
    assert (gpt.n, gpt.figures["exact"].value) == (1, 0)
    (remark,) = remarks_on(found)
    assert "1 choice of what the same one" in remark
    assert list(remarks_on(pair_agreement(PEOPLE)[0])) == []


@pytest.mark.parametrize(
    ("votes", "message"),
    [
        ([PairRating("a", "b", "a")] * 2, "name no rater"),
        ([PairRating("a", "b", "a", "ann")], "one rater only: ann"),
    ],
)
def test_who_cannot_agree(votes, message):
    with pytest.raises(UsageError, match=message):
        pair_agreement(votes_in(votes))


def test_dimensions_stand_apart():
    votes = [PairRating("a", "b", "a", r, d, "c1") for r in "xy" for d in ("clear", "kind")]
    assert [one.dimension for one in pair_agreement(votes_in(votes))] == ["clear", "kind"]


def test_the_figures_are_those_of_the_grid():
    (found,) = pair_agreement(PEOPLE)
    values = np.array([[-1, -1], [-1, 1], [0, 0], [1, 1], [-1, np.nan]])
    grid = RatingGrid(values, tuple(range(5)), ("ann", "bo"), CHOICES, tuple(range(5)))
    assert found.figures == coefficients_of(grid, tuple(found.figures))
