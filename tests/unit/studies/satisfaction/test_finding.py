from __future__ import annotations

from dialogauge.studies.satisfaction.page import finding


def against(**sides):
    """Return a comparison for each figure and control: figure="control side, control side"."""
    return [
        {"measure": measure, "b": told.split(" ", 1)[0], "side": told.split(" ", 1)[1]}
        for measure, several in sides.items()
        for told in several
    ]


def test_what_is_lost_is_told_apart_from_what_is_not_shown() -> None:
    found = against(
        pearson=["constant above", "length above"],
        qwk=["constant not distinguishable", "length below"],
        mae=["constant below", "length below"],
    )
    assert finding("local", found) == (
        "local is above every control by Pearson. Not told from: constant. "
        "By some figure below: length, constant."
    )


def test_a_figure_that_is_undefined_throughout_is_no_win() -> None:
    found = against(pearson=["constant undefined"], qwk=["constant above"], mae=["constant below"])
    assert finding("local", found) == ("local is above every control by QWK. By some figure below: constant.")


def test_nothing_is_won() -> None:
    found = against(qwk=["constant not distinguishable"])
    assert finding("local", found) == ("No figure shows local above every control. Not told from: constant.")
    assert "We cannot tell" in finding("local", [])


def test_draws_that_can_show_nothing_are_not_taken_for_an_answer() -> None:
    found = against(qwk=["constant too few to tell"])
    assert finding("local", found).endswith(": too few users for so many comparisons.")
    found = against(qwk=["constant too few to tell"], mae=["constant above"])
    assert "Too few users to compare it with: constant." in finding("local", found)
