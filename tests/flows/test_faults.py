"""Short versions of the fault campaigns; `make soak` runs the long ones."""

from __future__ import annotations

import pytest
from benchmarks.faults import disk, single
from benchmarks.faults.echoes import echoes
from benchmarks.faults.honesty import honesty
from benchmarks.faults.kills import kills
from benchmarks.faults.kills_all import kills_everywhere
from benchmarks.faults.large import FEW_BAITS, FEW_HEAPS, delays, memory
from benchmarks.faults.mixed import mixed
from benchmarks.faults.one_by_one import one_by_one
from benchmarks.faults.resume import STUDIES, resume
from benchmarks.faults.stops import stops

from sets import some_short


@pytest.mark.long
def test_every_fault_ends_as_what_it_is(dialogauge, tmp_path):
    assert single.together(tmp_path, dialogauge, attempt_s=0.5, item_s=4.0).wrong == []


def test_an_endpoint_of_no_use_stops_the_run(dialogauge, tmp_path):
    assert stops(tmp_path, dialogauge, item_s=0.4, few=True).wrong == []


def test_failures_are_told_beside_the_mean(dialogauge, tmp_path):
    assert honesty(tmp_path, dialogauge, item_s=2.0).wrong == []


@pytest.mark.long
def test_nothing_is_lost_doubled_or_made_up_under_mixed_faults(tmp_path):
    assert mixed(tmp_path, number=300, latency=0.02).wrong == []


def test_a_server_that_takes_one_request_at_a_time_gets_all_done(dialogauge, tmp_path):
    assert one_by_one(tmp_path, dialogauge, service_s=0.3, number=8).wrong == []


@pytest.mark.long
def test_a_huge_reply_delays_no_other_conversation(tmp_path):
    """What else the machine does can only add to a standstill: of three tries the best counts."""
    for tries in ("first", "second", "third"):
        folder = tmp_path / tries
        folder.mkdir()
        wrong = delays(folder, FEW_BAITS).wrong
        if not wrong or not all("stood still" in one for one in wrong):
            break
    assert wrong == []


@pytest.mark.long
def test_many_huge_replies_at_once_take_little_memory(tmp_path):
    assert memory(tmp_path, FEW_HEAPS).wrong == []


@pytest.mark.long
def test_a_run_goes_on_after_its_disk_was_full(tmp_path):
    if not disk.may_mount(tmp_path):
        pytest.skip("no file system can be mounted here")
    assert disk.disk_full(tmp_path, sizes_kb=(300,)).wrong == []


@pytest.mark.long
def test_a_run_goes_on_after_a_file_could_not_grow(tmp_path):
    assert disk.file_limit(tmp_path, sizes_kb=(120,)).wrong == []


@pytest.mark.long
def test_kill_9_loses_nothing_and_doubles_nothing(tmp_path):
    assert kills(tmp_path, number=60, times=2).wrong == []


@pytest.mark.parametrize("study", some_short(list(STUDIES), 7))
def test_whatever_happened_the_run_is_the_undisturbed_one(tmp_path, study):
    assert resume(tmp_path, seeds=range(1), steps=6, studies=[study]).wrong == []


@pytest.mark.long
def test_a_signal_in_any_study_loses_nothing(tmp_path):
    assert kills_everywhere(tmp_path, kills=4, others=2).wrong == []


@pytest.mark.long
def test_no_secret_that_a_server_gives_back_is_kept_or_shown(tmp_path):
    assert echoes(tmp_path, rounds=1, users=1, few=True).wrong == []
