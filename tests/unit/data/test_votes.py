"""Votes: the same whichever way round a pair was shown."""

from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import PairRating
from dialogauge.data import Vote, read_ratings, votes_in

pairs = st.builds(
    PairRating,
    st.sampled_from(["m1", "m2"]),
    st.sampled_from(["m3", "M", "模"]),
    st.sampled_from(["a", "b", "tie"]),
    st.sampled_from([None, "r"]),
    st.sampled_from([None, "clarity"]),
    st.sampled_from([None, "c1"]),
    st.sampled_from([None, 2]),
    shown_first=st.sampled_from("ab"),
)


def swapped(pair):
    winner = {"a": "b", "b": "a", "tie": "tie"}[pair.winner]
    places = pair.rater, pair.dimension, pair.conversation_id, pair.turn
    return PairRating(pair.b, pair.a, winner, *places, shown_first=pair.shown_first)


@given(pairs)
def test_a_swapped_pair_is_the_same_vote_shown_the_other_way_round(pair):
    (vote,), (other,) = votes_in([pair]), votes_in([swapped(pair)])
    assert vote.first < vote.second
    assert other.first_shown is not vote.first_shown
    assert other.position == -vote.position
    assert [getattr(vote, f) for f in vote.__slots__ if f != "first_shown"] == [
        getattr(other, f) for f in vote.__slots__ if f != "first_shown"
    ]


def test_the_votes_of_a_file(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("conversation_id,a,b,winner,rater\nc1,m2,m1,m1,ann\nc1,m1,m2,tie,bo\nc2,m2,m1,a,\n")
    assert list(votes_in(read_ratings(path).pairs)) == [
        Vote("m1", "m2", -1, False, "ann", "c1"),
        Vote("m1", "m2", 0, True, "bo", "c1"),
        Vote("m1", "m2", 1, False, None, "c2"),
    ]
