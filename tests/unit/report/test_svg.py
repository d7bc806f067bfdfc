"""Charts: the words beside their axes."""

from __future__ import annotations

from dialogauge.report import Axis, Curve, Point
from dialogauge.report.svg import curve


def test_small_values_beside_an_axis_are_short():
    block = Curve("Rate", (Point(0, 0.0), Point(9, 0.001)), Axis(0, 9, "step", whole=True), Axis(0.0, 0.001))
    drawn = str(curve("c", block))
    assert ">2.5e-4<" in drawn
    assert ">0.001<" in drawn
    assert "0.00025<" not in drawn
