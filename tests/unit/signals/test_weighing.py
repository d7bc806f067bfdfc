"""One clear cue, or two that are independent."""

import pytest

from dialogauge.signals import Signal, certainty, is_fault


def finding(strength, source="reply", about="helpfulness"):
    name = "conceded" if source == "admission" else "doubted"
    return Signal(name, 1, strength, "", "", about, hindsight=source != "reply")


@pytest.mark.parametrize(
    ("signals", "sure"),
    [
        ([], 0.0),
        ([finding(0.7)], 0.7),
        ([finding(0.5), finding(0.5)], 0.5),
        ([finding(0.5), finding(0.4, "user")], 0.7),
        ([finding(0.5), finding(0.4, "user"), finding(0.5, "admission")], 0.85),
    ],
)
def test_sources_add_up_and_findings_of_one_source_do_not(signals, sure):
    assert certainty(signals) == pytest.approx(sure)
    assert is_fault(signals) is (sure >= 0.7)


def test_the_other_dimension_counts_for_less():
    signal = finding(0.9, about="context_use")
    assert certainty([signal], "context_use") == pytest.approx(0.9)
    assert certainty([signal], "helpfulness") == pytest.approx(0.65)
