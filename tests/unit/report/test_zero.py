from dialogauge.report.words import interval, mean


def test_what_rounds_to_zero_has_no_minus():
    assert mean(-0.0004, 3) == mean(-0.0) + "0" == "0.000"
    assert mean(-0.0006, 3) == "-0.001"
    assert mean(-0.0004, 3, sign=True) == "+0.000"
    assert interval((-0.004, 0.2)) == "[0.00, 0.20]"
