import pytest

from dialogauge.report.view import Figure
from dialogauge.report.words import (
    cell,
    cost,
    counts_line,
    figure_line,
    interval,
    language,
    mean,
    name,
    score,
    share,
    visible,
)


def test_a_mean_is_never_without_its_counts_and_bounds():
    figure = Figure(4.123, (3.98, 4.25), 160, 200, 0, 40, (3.4, 4.5))
    assert figure_line(figure) == "4.12 [3.98, 4.25] · 160/200 scored · 40 failed · bounds 3.40–4.50"
    some_na = Figure(4.0, None, 1, 3, 2, 0, (4.0, 4.0))
    assert figure_line(some_na) == "4.00 [no interval] · 1/3 scored · 2 n/a · 0 failed · bounds 4.00–4.00"
    nothing = Figure(None, None, 0, 0, 0, 0, None)
    assert figure_line(nothing) == "no score · 0/0 scored · 0 failed"
    assert counts_line(some_na).startswith("1/3 scored")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nand 中文, été, 👋🏽", "plain\ttext\nand 中文, été, 👋🏽"),
        ("a\r\nb", "a\nb"),
        ("user\u202etxt.exe", "user⟨U+202E⟩txt.exe"),
        ("pay\u200bpal", "pay⟨U+200B⟩pal"),
        ("\x00\x1b[31m", "⟨U+0000⟩⟨U+001B⟩[31m"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("\ufeffstart", "⟨U+FEFF⟩start"),
        ("lone \ud83d", "lone ⟨U+D83D⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("👩\u200d👧 is one picture, a\u200db is not", "👩\u200d👧 is one picture, a⟨U+200D⟩b is not"),
    ],
)
def test_invisible_characters_are_made_visible(text, shown):
    assert visible(text) == shown
    assert visible(text).encode("utf-8")


def test_small_words():
    assert (mean(None), mean(4), interval(None)) == ("–", "4.00", "[no interval]")
    assert [score(v) for v in (4, 4.0, 3.5, "n/a", None)] == ["4", "4", "3.50", "n/a", "failed"]
    assert [cell(v, "turn") for v in (4, "n/a", None)] == ["4.00", "n/a", "–"]
    assert cell(4, "conversation") == "4"
    assert [cost(v) for v in (None, 0.0, 0.0213, 12.5)] == ["unknown", "0.00", "0.0213", "12.50"]
    assert [share(v) for v in (0, 0.0004, 0.125, 0.9996, 1)] == [
        "0 %",
        "<0.1 %",
        "12.5 %",
        ">99.9 %",
        "100 %",
    ]
    assert [language(c) for c in ("en", "zh", "de")] == ["English", "Chinese", "de"]
    assert name("context_use") == "context use"
