from dialogauge.report import (
    CurvePointView,
    DimensionView,
    Figure,
    HistogramBar,
    VerdictCount,
    VerdictFigures,
)
from dialogauge.report.charts import curve, histogram, segments


def dimension(counts=(0, 1, 2, 4, 0), points=(), **changes):
    figure = Figure(3.0, (2.5, 3.5), 7, 9, 0, 2, (2.0, 4.0))
    fields = {
        "name": "d", "level": "turn", "low": 1, "high": 5, "integer": True, "higher_is_better": True,
        "figure": figure, "bars": tuple(HistogramBar(i, i, c) for i, c in enumerate(counts, 1)),
        "curve": tuple(CurvePointView(t, m, i, 3) for t, m, i in points),
    }  # fmt: skip
    return DimensionView(**{**fields, **changes})


def test_bars_are_as_high_as_their_counts_and_the_mean_stands_under_its_score():
    drawn = histogram(dimension())
    assert [b.height for b in drawn.bars] == [0, 16, 32, 64, 0]
    assert drawn.whisker.mean == drawn.bars[2].middle == 150
    assert drawn.whisker.interval == (150 - 28.4, 150 + 28.4)
    assert drawn.whisker.bounds[0] < drawn.whisker.interval[0]
    assert all(b.y + b.height == drawn.baseline for b in drawn.bars)


def test_a_single_score_among_thousands_is_still_seen():
    assert histogram(dimension((1, 0, 0, 0, 100_000))).bars[0].height == 1.5


def test_nothing_scored_draws_nothing_and_bounds_of_a_reversed_scale_stay_in_order():
    empty = histogram(dimension((0, 0, 0, 0, 0), figure=Figure(None, None, 0, 0, 0, 0, None)))
    assert [b.height for b in empty.bars] == [0] * 5
    assert (empty.whisker.mean, empty.whisker.interval, empty.whisker.bounds) == (None, None, None)
    reversed_scale = Figure(2.0, None, 1, 2, 0, 1, (4.0, 1.0))
    low, high = histogram(dimension(figure=reversed_scale)).whisker.bounds
    assert low < high


def test_curve_goes_up_with_the_mean_and_keeps_missing_intervals_out():
    drawn = curve(dimension(points=((1, 1.0, None), (2, 5.0, (4.0, 5.0)))))
    first, second = drawn.points
    assert (first.y, second.y) == (142, 12)
    assert (first.top, first.bottom) == (None, None)
    assert second.top == second.y < second.bottom
    assert drawn.path == f"M{first.x:g} {first.y:g} L{second.x:g} {second.y:g}"
    assert [t.label for t in drawn.y_ticks] == ["1", "2", "3", "4", "5"]
    one = curve(dimension(points=((3, 2.0, None),)))
    assert [t.label for t in one.x_ticks] == ["3"]


def test_long_conversations_do_not_crowd_the_axis():
    drawn = curve(dimension(points=tuple((t, 3.0, None) for t in range(1, 41))))
    assert len(drawn.x_ticks) <= 12


def test_segments_fill_the_bar_in_proportion():
    counts = (VerdictCount("good", 3, 0.75), VerdictCount("poor", 0, 0.0), VerdictCount(None, 1, 0.25))
    first, second = segments(VerdictFigures(4, counts, 0, 0, 0))
    assert (first.name, second.name) == ("good", "none")
    assert abs(first.width / second.width - 3) < 0.01
    assert abs(second.x + second.width - 1000) < 0.2
