import json
import math
from dataclasses import replace

import pytest

from dialogauge.core import Message
from dialogauge.report.blocks import (
    Axis,
    Bars,
    DataTable,
    DotPlot,
    DotRow,
    Leaderboard,
    LeaderboardRow,
    Matrix,
    Reference,
    RowGroup,
    StackedBar,
    TableColumn,
    TableRow,
    data_table,
    shares_of_columns,
    shares_of_rows,
    to_json,
)
from dialogauge.report.cells import Number, Part, ordinal_tones
from unit.report.block_samples import sample_page


def kinds(value):
    if isinstance(value, dict):
        yield value["kind"]
        for inner in value.values():
            yield from kinds(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from kinds(inner)


def test_a_page_is_json_with_every_kind_of_block():
    written = to_json(sample_page("预订"))
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert {
        "page",
        "section",
        "fold",
        "cards",
        "card",
        "callout",
        "items",
        "definitions",
        "code",
        "tiles",
        "figure",
        "data_table",
        "stacked_bar",
        "bars",
        "curve",
        "dot_plot",
        "matrix",
        "leaderboard",
        "transcript",
        "span",
        "number",
        "percent",
        "missing",
        "mix",
    } <= set(kinds(written))


def test_json_keeps_values_and_has_no_number_for_what_is_none():
    cell = Number(2 / 3, 1, (0.1, math.inf))
    assert to_json(cell)["value"] == 2 / 3
    assert to_json(cell)["interval"] == [0.1, None]
    assert to_json(DotRow("a", math.nan))["value"] is None
    with pytest.raises(TypeError, match="set is no part of a page"):
        to_json({1})
    with pytest.raises(TypeError, match="Message is no part of a page"):
        to_json(Message("user", "a record of another room"))


def test_a_table_takes_shorthand():
    table = data_table(
        "t", ("name", "n", TableColumn("why", "prose")), [("a", 1, "x"), TableRow(("b", 2, "y"))]
    )
    assert [c.kind for c in table.columns] == ["text", "number", "prose"]
    assert [r.cells[0] for r in table.groups[0].rows] == ["a", "b"]


def test_ragged_records_are_refused():
    columns = (TableColumn("a"), TableColumn("b"))
    with pytest.raises(ValueError, match="table 't': a row has 1 cells for 2 columns"):
        DataTable("t", columns, (RowGroup((TableRow(("x",)),)),))
    with pytest.raises(ValueError, match="2 counts for 1 labels"):
        Bars("b", ("1",), (1, 2))
    with pytest.raises(ValueError, match="cells are not 2 rows of 1"):
        Matrix("m", ("1", "2"), ("1",), ((1,),), ((0.0,),))
    with pytest.raises(ValueError, match="rings and totals"):
        Matrix("m", ("1", "2"), ("1",), ((1,), (2,)), ((0.0,), (0.0,)), totals=(1,))
    with pytest.raises(ValueError, match="'x' has 1 further cells"):
        Leaderboard("l", (LeaderboardRow("x", 1.0, cells=(1,)),), "mean", Axis(0, 1))


def test_tones_go_from_worst_to_best_for_any_scale():
    assert ordinal_tones(5) == ("worst", "low", "middle", "good", "best")
    assert ordinal_tones(2) == ("worst", "best")
    assert ordinal_tones(4) == ("worst", "low", "good", "best")
    assert ordinal_tones(1) == ("plain",)
    assert ordinal_tones(0) == ()
    assert [ordinal_tones(10)[i] for i in (0, 9)] == ["worst", "best"]


def test_shares_for_the_shades_of_a_matrix():
    assert shares_of_rows(((1, 3), (0, 0))) == ((0.25, 0.75), (0.0, 0.0))
    assert shares_of_columns(((1, 0), (3, 0))) == ((0.25, 0.0), (0.75, 0.0))
    assert StackedBar("s", (Part("a", 2), Part("b", 3))).total == 5


def test_a_dot_plot_spans_values_intervals_and_references():
    rows = (DotRow("a", 0.5, (0.4, 0.7)), DotRow("b", None))
    assert DotPlot("d", rows, (Reference(0),)).axis == Axis(0, 0.7)
    assert DotPlot("d", ()).axis == Axis(0, 1)


def test_a_table_keeps_its_groups_where_rows_fold_away():
    rows = [TableRow((str(i),)) for i in range(3)]
    groups = (RowGroup(tuple(rows[:2]), "one"), RowGroup((), "none"), RowGroup((rows[2],), "two"))
    table = DataTable("t", (TableColumn("a"),), groups)
    assert table.parts == (groups, ())
    first, rest = replace(table, shown=1).parts
    assert [(g.title, len(g.rows)) for g in first] == [("one", 1), ("none", 0)]
    assert [(g.title, len(g.rows)) for g in rest] == [("one", 1), ("two", 1)]
