import pytest

from dialogauge.report import cells
from dialogauge.report.cells import Count, Figure, Interval, Missing, Mix, Number, Part, Percent, Span, Text
from dialogauge.report.elements import plain, visible
from dialogauge.report.words import (
    bounds,
    cell_words,
    cost,
    decimal,
    figure_line,
    interval,
    listing,
    percent,
    prose_words,
    score,
)


@pytest.mark.parametrize(
    ("cell", "main", "beneath"),
    [
        (None, "–", ()),
        ("words", "words", ()),
        (1234, "1,234", ()),
        (Missing(), "–", ()),
        (Missing("n/a"), "n/a", ()),
        (Count(12, 20), "12/20", ()),
        (Number(None, 3), "–", ()),
        (Number(float("nan")), "–", ()),
        (Number(-0.0004, 3), "0.000", ()),
        (Number(1234.5, 0), "1,234", ()),
        (Number(0.5, 3, (0.4, 0.6), (0.1, 0.9)), "0.500", ("[0.400, 0.600]", "bounds 0.100–0.900")),
        (Number(0.5, 3, (0.4, 0.6), interval_digits=2), "0.500", ("[0.40, 0.60]",)),
        (Number(0.5, 1, bounds=(-0.1, 0.9), signed=True), "+0.5", ("bounds -0.1 to +0.9",)),
        (
            Percent(0.25, (0.2, 0.3)),
            "25.0 %",
            ("[20.0 %, 30.0 %]",),
        ),
        (Percent(None), "–", ()),
        (Interval((1, 2)), "[1.00, 2.00]", ()),
        (Interval(None), "–", ()),
        (Mix((Part("won", 5), Part("lost", 1))), "5 / 1", ("of 6",)),
        (Mix(()), "–", ()),
        (Text("poor", "by rule", tags=(Span("partial", "tag"),)), "poor by rule partial", ()),
        (Figure(4.1, 40, 50, 2, 8, (4, 4.2)), "4.10", ("[4.00, 4.20]", "40/50, 2 n/a", "8 failed")),
        (Figure(None, 0, 5, 0, 5), "–", ("no score", "0/5", "5 failed")),
    ],
)
def test_cells_in_words(cell, main, beneath):
    assert cell_words(cell) == (main, beneath)


def test_a_figure_in_a_line():
    whole = Figure(4.123, 160, 200, 0, 40, (3.98, 4.25), (3.4, 4.5))
    assert figure_line(whole) == "4.12 [3.98, 4.25] · 160/200 scored · 40 failed · bounds 3.40–4.50"
    assert figure_line(Figure(4, 1, 1)) == "4.00 [no interval] · 1/1 scored · 0 failed"
    assert figure_line(Figure(None, 0, 9, 9)) == "no score · 0/9 scored · 9 n/a · 0 failed"
    assert "bounds 0.100–0.900" in figure_line(Figure(0.5, 1, 2, 0, 1, None, (0.1, 0.9), 3))


@pytest.mark.parametrize(
    ("p", "at_floor", "shown"),
    [
        (0.03125, True, "≤0.032"),
        (0.03125, False, "0.031"),
        (0.002, True, "≤0.002"),
        (2.0**-30, True, "≤0.001"),
        (2.0**-30, False, "≤0.001"),
        (0.0, False, "≤0.001"),
        (None, False, "–"),
    ],
)
def test_a_p_value_that_can_be_no_lower_is_a_bound(p, at_floor, shown):
    assert cell_words(cells.p_value(p, at_floor=at_floor)) == (shown, ())


def test_numbers_in_words():
    assert [percent(v) for v in (0, 0.0005, 0.5, 0.9995, 1, None)] == [
        "0 %", "<0.1 %", "50.0 %", ">99.9 %", "100 %", "–"
    ]  # fmt: skip
    assert [cost(v) for v in (None, 0, 0.1234, 12)] == ["unknown", "0.00", "0.1234", "12.00"]
    assert [score(v) for v in (None, "n/a", 4, 3.25)] == ["failed", "n/a", "4", "3.25"]
    assert decimal(-0.001, signed=True) == "+0.00"
    assert interval((-0.001, 0)) == "[0.00, 0.00]"
    assert bounds((1, 2)) == "1.00–2.00"


def test_text_that_hides_is_shown():
    assert visible("a\u202eb\x00\r\n") == "a⟨U+202E⟩b⟨U+0000⟩\n"
    assert visible("👩\u200d👧 e\u200dx") == "👩\u200d👧 e⟨U+200D⟩x"
    assert plain("a\x1b[31m\n\u202e预订\u3000") == "a\\x1b[31m\\n\\u202e预订\u3000"
    assert prose_words(("a ", Span("b", "strong"), Span("c", "quote"))) == "a b“c”"


@pytest.mark.parametrize(
    ("names", "most", "written"),
    [
        ([], None, ""),
        (["a"], None, "a"),
        (["a", "b"], 2, "a and b"),
        (["a", "b", "c"], None, "a, b and c"),
        (["a", "b", "c", "d"], 2, "a, b and 2 more"),
    ],
)
def test_names_are_listed_as_in_a_sentence(names, most, written) -> None:
    assert listing(names, most) == written
