"""Agreement from Python: named axes, files, what is refused."""

import numpy as np
import pytest

import dialogauge
from dialogauge.core import UsageError

VALUES = [[5, 4], [2, 3], [5, 5], [1, 1]]
TARGETS = ["c1", "c2", "c3", "c4"]
RATERS = ["Ada", "Bo"]


def test_a_matrix_with_named_axes():
    found = dialogauge.agreement(values=VALUES, targets=TARGETS, raters=RATERS, scale="1-5")
    (people,) = found.figures.people
    assert people.raters == ("Ada", "Bo")
    assert people.coefficients.exact.value == pytest.approx(0.5)
    # shares .25 .125 .125 .125 .375
    chance = (0.25 * 0.75 + 3 * 0.125 * 0.875 + 0.375 * 0.625) / 4
    assert people.coefficients.ac1.value == pytest.approx((0.5 - chance) / (1 - chance))
    assert found.answers[0].startswith("Cannot tell whether raters agree")
    assert found.faults == ()
    assert "People among people" in found.page()
    assert repr(found) == f"<Agreement: {found.answers[0]}>"
    assert "<th>AC1</th>" in found._repr_html_()


def test_holes_names_and_turns():
    values = np.array([[1, np.nan, 0], [0, 0, 1]])
    found = dialogauge.agreement(
        values=values, targets=[("c1", 1), ("c1", 2)], raters=list("abc"), scale="0,1"
    )
    assert (found.figures.people[0].level, found.figures.people[0].ratings) == ("turn", 5)
    words = [["good", "bad"], ["bad", "bad"]]
    named = dialogauge.agreement(values=words, targets=TARGETS[:2], raters=RATERS, scale="good,bad")
    assert named.figures.people[0].coefficients.exact.value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({}, "a matrix of ratings has no names on its axes"),
        ({"targets": TARGETS}, "no names on one of its axes"),
        ({"targets": RATERS, "raters": TARGETS}, "the matrix is transposed"),
        ({"targets": TARGETS[:3], "raters": RATERS}, "4 rows of 2 values for 3 targets and 2 raters"),
    ],
)
def test_a_matrix_without_names_is_refused_and_told_why(axes, message):
    with pytest.raises(UsageError, match=message) as refused:
        dialogauge.agreement(values=VALUES, scale="1-5", **axes)
    assert "read the other way a matrix gives other figures" in str(refused.value)


def test_what_is_of_no_use_is_refused(tmp_path):
    axes = {"targets": TARGETS, "raters": RATERS}
    for wrong, message in (
        ({"values": VALUES, **axes, "source": "people.csv"}, "in place of files"),
        ({}, "nothing to compare"),
        ({"values": VALUES, **axes}, "add --scale 1-5"),
        ({"values": VALUES, **axes, "scale": "1-5", "bye": "rater"}, "no setting 'bye'"),
    ):
        with pytest.raises(UsageError, match=message):
            dialogauge.agreement(**wrong)
    low = dialogauge.agreement(values=[*VALUES[:3], [9, 1]], **axes, scale="1-5")
    assert str(low.faults[0]).startswith("values[3][0]: rating is 9: it is off the scale")


def test_records_beside_a_file_of_scores(tmp_path):
    path = tmp_path / "judge.csv"
    path.write_text("conversation_id,tone\n" + "".join(f"c{i},{1 + i % 5}\n" for i in range(20)))
    ratings = [dialogauge.Rating(f"c{i}", "tone", 1 + i % 5, rater="Ada") for i in range(20)]
    found = dialogauge.agreement(path, ratings=ratings, scale="1-5", out=tmp_path / "out")
    assert found.figures.judges[0].figures.exact.value == 1.0
    assert (tmp_path / "out/agreement.html").is_file()
