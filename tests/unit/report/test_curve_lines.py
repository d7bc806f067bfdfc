"""A curve of several lines: told apart without colour, said in words, and a table on a terminal."""

from __future__ import annotations

import re

from dialogauge.report import Axis, Curve, CurveLine, Page, Point, to_html, to_text

POINTS = tuple(Point(x, x / 4, (x / 4 - 0.1, x / 4 + 0.1)) for x in range(3))
LINES = (
    CurveLine("notes", POINTS),
    CurveLine("tiers", POINTS[:2]),
    CurveLine("none", tuple(Point(x, 0.0, (0.0, 0.1)) for x in range(3)), "quiet"),
)
CURVE = Curve("Score by step", (), Axis(0, 2, "step", whole=True), Axis(0, 1, "F1"), lines=LINES)


def test_each_line_has_a_mark_of_its_own_and_stands_in_the_legend():
    html = to_html(Page("p", (CURVE,)))
    drawn = html[html.index('class="chart"') :]
    assert re.findall(r'<polyline class="path (\w+)"', drawn) == ["c0", "c1", "q0"]
    assert re.findall(r'<polygon class="band (\w+)"', drawn) == ["c0", "c1"]  # a control has no band
    legend = drawn[drawn.index('class="legend"') :]
    assert re.findall(r'class="path (\w+)".*?>([●■▲○])<.*?<span[^>]*>(\w+)<', legend) == [
        ("c0", "●", "notes"),
        ("c1", "■", "tiers"),
        ("q0", "○", "none"),
    ]
    assert "<title>tiers, step 1: 0.25 [0.15, 0.35]</title>" in drawn
    words = re.search(r"<desc[^>]*>(.*?)</desc>", drawn)[1]
    assert words.startswith("notes: step 0: 0.00 [-0.10, 0.10]; step 1: 0.25")
    assert "none: step 0: 0.00 [0.00, 0.10]" in words


def test_on_a_terminal_lines_are_rows():
    lines = to_text([CURVE], width=100).splitlines()
    assert lines[0] == "Score by step"
    _, *rows = (line.split() for line in lines if line.split() and not line.startswith("─"))
    assert rows[0][:4] == ["step", "0", "1", "2"]
    of = {row[0]: row for row in rows}
    assert of["notes"][1] == "0.000"
    assert of["tiers"][-1] == "–"
