"""Blocks on a terminal: they fit its width, whatever stands in them, and nothing in them is obeyed."""

import pytest
from rich.cells import cell_len

from dialogauge.report.blocks import (
    Axis,
    Bars,
    Callout,
    Code,
    Curve,
    Definitions,
    DotPlot,
    DotRow,
    Items,
    Leaderboard,
    Matrix,
    Page,
    RowGroup,
    Section,
    StackedBar,
    TableColumn,
    TableRow,
    Tiles,
    data_table,
)
from dialogauge.report.cells import Number, Percent
from dialogauge.report.terminal import to_text
from dialogauge.report.transcripts import Transcript
from unit.report.block_samples import sample_page

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\nERROR forged [bold]markup[/bold] :smile:"


def wide_table(columns=14, name="judge"):
    heads = ("name of the judge", *(f"measure number {i}" for i in range(columns)))
    cells = [Number(0.5 + i / 100, 3, (0.4, 0.6)) for i in range(columns)]
    return data_table("Wide", heads, [(name, *cells), (name * 2, *cells)])


@pytest.mark.long
@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("word", ["aubergine", "我周五想去杭州玩两天预算一千五能帮我安排一下吗" * 3, HOSTILE])
def test_every_line_fits(width, word):
    page = sample_page(word)
    shown = to_text(Page(page.title, page.blocks[:-1]), width=width)
    assert max(cell_len(line) for line in shown.splitlines()) <= width
    assert not [line for line in shown.splitlines() if line != line.rstrip()]


def test_what_the_blocks_say_is_shown():
    shown = to_text(sample_page(), width=120)
    for said in (
        "60/61",
        "12,421",
        "by chance 17.0 %",
        "WARNING: Failed, by reason",
        "excellent 7 (11.5 %)",
        "4.31 [4.11, 4.56] · 326/329 scored · 3 failed · bounds 3.71–4.71",
        "no score · 0/3 scored",
        "-0.200",
        "[0.70, 0.90]",
        "the same figures as mean-shift",
        "预订与旅行规划",
        ">99.9 %",
        "5 / 3 / 2",
        "and 55 more",
        "all 5: 4.700",
        "not judged: timeout: no reply",
        "turn 2, weakest turn",
        "helpfulness failed",
        "none",
        "我周五想去杭州玩两天",
        "dialogauge judge week46.jsonl -o runs/aubergine",
    ):
        assert said in shown, said
    assert "\x1b" not in shown
    assert "\x1b[1m" in to_text(sample_page(), colour=True)


def test_hostile_text_is_shown_and_not_obeyed():
    shown = to_text(sample_page(HOSTILE), width=100, colour=False)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31mred" in shown
    assert "[bold]markup[/bold] :smile:" in " ".join(shown.split())
    assert not [line for line in shown.splitlines() if line.startswith("ERROR")]


def lines(block, width):
    return to_text([block], width=width).splitlines()


def test_a_table_is_shown_as_wide_as_there_is_room():
    table = data_table("T", ("name", "mean", "why"), [("a", Number(0.5, 3, (0.4, 0.6)), 3)])
    assert lines(table, 80) == [
        "T",
        "name                  mean  why",
        "────  ────────────────────  ───",
        "a     0.500 [0.400, 0.600]    3",
    ]
    long = data_table("T", ("name", "mean"), [("a name of some length here", Number(0.5, 3, (0.4, 0.6)))])
    assert (
        lines(long, 44)
        == [
            "T",
            "name                                    mean",
            "──────────────────────────  ────────────────",
            "a name of some length here             0.500",
            "                              [0.400, 0.600]",
        ]
        or max(map(cell_len, lines(long, 44))) <= 44
    )


@pytest.mark.parametrize("width", [80, 120])
def test_a_very_wide_table_is_cut_into_pieces_that_name_their_rows(width):
    shown = to_text([wide_table()], width=width)
    assert max(cell_len(line) for line in shown.splitlines()) <= width
    assert all(f"{0.5 + i / 100:.3f}" in shown for i in range(14))
    assert sum(line.startswith("judge ") for line in shown.splitlines()) > 1
    assert shown.count("[0.400, 0.600]") == 28


def test_a_table_of_few_columns_is_not_cut():
    assert to_text([wide_table(3)], width=120).count("────────") >= 4
    assert sum(line.startswith("─") for line in lines(wide_table(3), 120)) == 1


def test_a_table_is_cut_before_a_word_of_its_names_is_broken():
    heads = ("name of the judge", *(f"measure {i}" for i in range(6)))
    cells = [Number(0.5, 3, (0.4, 0.6)) for _ in range(6)]
    shown = to_text([data_table("T", heads, [("backend, conversations", *cells)])], width=108)
    assert "conversations " in shown
    assert max(cell_len(line) for line in shown.splitlines()) <= 108


def test_groups_notes_and_emphasis():
    rows = (
        TableRow(("mine", Number(0.8, 3, (0.7, 0.9))), "strong", note="Why it is so."),
        TableRow(("control", Number(0.1, 3, (0.0, 0.2)))),
    )
    table = data_table("T", ("name", "kappa"), [])
    grouped = type(table)(
        "T", table.columns, (RowGroup(rows, "raw", "as it is", "chosen"), RowGroup((), "cdf"))
    )
    shown = lines(grouped, 80)
    assert shown[3:] == [
        "raw (chosen) as it is",
        "mine     0.800 [0.700, 0.900]",
        "  Why it is so.",
        "control                 0.100",
        "cdf",
    ]


def test_small_blocks():
    assert lines(Callout(("one", "two"), "info"), 80) == ["note: one", "note: two"]
    assert lines(Callout((f"{'word ' * 12}",), "warn"), 44) == [
        "WARNING: word word word word word word word",
        "         word word word word word",
    ]
    assert lines(Items(("a", "b"), 2), 80) == ["- a", "- b", "  and 2 more"]
    assert lines(Code("x" * 90), 80) == ["  " + "x" * 90]
    dots = DotPlot("D", (DotRow("a", 0.5, (0.0, 1.0), "strong", "▲"), DotRow("b", None)))
    assert lines(dots, 100) == [
        "D",
        f"a  {'─' * 16}●{'─' * 15}  0.500 [0.000, 1.000]  ▲",
        f"b  {' ' * 32}                     –",
    ]
    assert lines(Bars("B", ("1", "2"), (1, 2)), 80) == [
        "B",
        f"1  1  {'█' * 12}",
        f"2  2  {'█' * 24}",
    ]
    assert lines(
        Matrix("M", ("1",), ("1", "2"), ((3, 4),), ((0, 1),), "judge", "people", totals=(7,)), 80
    ) == [
        "M",
        "judge / people  1  2  n",
        "──────────────  ─  ─  ─",
        "1               3  4  7",
    ]


def test_blocks_of_nothing():
    empty = (
        Tiles(()),
        StackedBar("none", ()),
        Bars("none", (), ()),
        Curve("none", (), Axis(0, 0), Axis(0, 0)),
        DotPlot("none", ()),
        Matrix("none", (), (), (), ()),
        Leaderboard("none", (), "mean", Axis(0, 1)),
        Transcript("none", ()),
        data_table("none", ("a", "b"), []),
        Section("none", ()),
        data_table("undefined", ("a", "b", "c"), [(None, Number(None), Percent(None))]),
        data_table("words", (TableColumn("a", "text"),), [("x" * 300,)]),
    )
    shown = to_text(empty, width=80)
    assert "nan" not in shown.lower()
    assert max(map(cell_len, shown.splitlines())) <= 80


def test_a_sentence_stays_in_one_line_where_nothing_shows_a_screen():
    words = "a sentence that goes on and on, " * 9
    blocks = (Definitions((("other users", words),)), Callout((words,), "warn"), Callout((words,)))
    lines = to_text(blocks, width=60, wrapped=False).splitlines()
    assert lines == [f"other users  {words}".rstrip(), f"WARNING: {words}".rstrip(), words.rstrip()]
    assert max(map(len, to_text(blocks, width=60).splitlines())) <= 60
    hostile = to_text((Callout(("a\x1b[31m\nreport: x",)),), wrapped=False)
    assert hostile == "a\\x1b[31m\\nreport: x\n"
