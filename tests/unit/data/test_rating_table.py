"""Joining and checking ratings."""

from dialogauge.core import ONE_TO_FIVE, Place, Rating, Scale
from dialogauge.data import off_scale


def test_off_scale_names_place_and_scale():
    ratings = [
        Rating("a", "fun", 5, 1),
        Rating("a", "fun", 6, 2, place=Place("r.csv", 3, "a", 2)),
        Rating("a", "fun", "five", 3),
        Rating("a", "fun", 4.5, 4),
        Rating("a", "share", 0.5),
        Rating("a", "mood", "bad"),
    ]
    scales = {"fun": ONE_TO_FIVE, "share": Scale(0, 1, integer=False)}
    faults = off_scale(ratings, scales)
    assert [f.place.turn for f in faults] == [2, 3, 4]
    assert str(faults[0]).startswith("r.csv:3, conversation 'a', turn 2: fun is 6: not on the scale of whole")
    assert "fun is 'five'" in str(faults[1])
    assert off_scale(ratings[:1], scales) == []
