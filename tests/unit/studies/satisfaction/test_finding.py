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
        "local is above every control by Pearson. It is not shown to be above some controls by QWK "
        "(constant). It is below some controls by QWK (length); MAE (constant, length)."
    )


def test_a_figure_that_is_undefined_throughout_is_no_win() -> None:
    found = against(pearson=["constant undefined"], qwk=["constant above"], mae=["constant below"])
    assert finding("local", found) == (
        "local is above every control by QWK. It is below some controls by MAE (constant)."
    )


def test_nothing_is_won() -> None:
    found = against(qwk=["constant not distinguishable"])
    assert finding("local", found) == (
        "local is not above every control by any figure. "
        "It is not shown to be above some controls by QWK (constant)."
    )
    assert "We cannot tell" in finding("local", [])


def test_draws_that_can_show_nothing_are_not_taken_for_an_answer() -> None:
    found = against(qwk=["constant too few to tell"])
    assert finding("local", found).endswith(": too few users for so many comparisons.")
    found = against(qwk=["constant too few to tell"], mae=["constant above"])
    told = "There are too few users to compare it with some controls by QWK (constant)."
    assert told in finding("local", found)
