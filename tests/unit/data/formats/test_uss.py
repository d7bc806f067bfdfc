"""The text form of USS."""

import pytest

from dialogauge.core import FileFault, Rating, RecordFault
from dialogauge.data import read_conversations

TEXT = """
USER\tI want a room.\tHotel-Inform\t3,4
SYSTEM\tWhich area?\tHotel-Request\t
USER\tThe north.\t\t2,3
USER\tOVERALL\t\t4,5

USER\tHi\t\t3
SYSTEM\tHello\t\t
"""


def read(tmp_path, text):
    path = tmp_path / "set.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_conversations([str(path)]))


def test_ratings_belong_to_the_turn_before(tmp_path):
    first, second = read(tmp_path, TEXT)
    assert [(m.role, m.text) for m in first.messages] == [
        ("user", "I want a room."),
        ("assistant", "Which area?"),
        ("user", "The north."),
    ]
    assert first.ratings == tuple(
        Rating("set_1", "satisfaction", score, turn, rater)
        for turn, scores in ((0, (3, 4)), (1, (2, 3)), (None, (4, 5)))
        for rater, score in zip(("rater1", "rater2"), scores, strict=True)
    )
    assert first.messages[0].extra == {"action": "Hotel-Inform"}
    assert (second.id, second.place.line) == ("set_2", 7)


@pytest.mark.parametrize(
    ("bad", "message"),
    [("ROBOT\tx\t\t", "the line starts with 'ROBOT'"), ("USER\tx\t\t3,,4", "the score is missing")],
)
def test_a_bad_line_spoils_its_session_only(tmp_path, bad, message):
    text = TEXT.replace("SYSTEM\tWhich area?\tHotel-Request\t", bad)
    fault, second = read(tmp_path, text)
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert fault.place.line == 3
    assert second.id == "set_2"


def test_a_session_that_breaks_off_is_not_handed_out(tmp_path):
    first, cut, fault = read(tmp_path, TEXT.encode() + b"USER\tcaf\xe9\t\t3\n")
    assert first.id == "set_1"
    assert isinstance(cut, RecordFault)
    assert isinstance(fault, FileFault)
