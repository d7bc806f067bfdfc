"""Short versions of the fault campaigns; `make soak` runs the long ones."""

from __future__ import annotations

from benchmarks.faults import single
from benchmarks.faults.honesty import honesty
from benchmarks.faults.stops import stops


def test_every_fault_ends_as_what_it_is(dialogauge, tmp_path):
    found = single.together(tmp_path, dialogauge, attempt_s=0.5, item_s=2.0)
    assert found.wrong == []


def test_failures_are_told_beside_the_mean(dialogauge, tmp_path):
    assert honesty(tmp_path, dialogauge, item_s=0.5).wrong == []


def test_an_endpoint_of_no_use_stops_the_run(dialogauge, tmp_path):
    assert stops(tmp_path, dialogauge, item_s=0.8).wrong == []
