"""The main job against servers that behave as vendors do: all is judged, or the run ends with its reason."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from flows.conftest import rows_of
from servers.refusals import openai, when
from servers.vendors import LONG, VENDORS, Vendor, VendorServer

NAMES = "abcdef"


@pytest.mark.parametrize("vendor", VENDORS, ids=[vendor.name for vendor in VENDORS])
def test_all_is_judged_or_the_run_ends_with_its_reason(dialogauge, log, talk, tmp_path, vendor):
    talks = [talk(name) for name in NAMES] + [talk("long", LONG * 1900)]
    with VendorServer(vendor) as server:
        model = ("--model", "m", "--base-url", server.address, "--seed", 7, "--max-concurrency", 2)
        done = dialogauge("judge", log(*talks), *model, "--max-failed", 1, "-o", "run")
        asked = len(server.asked)
    if vendor.ends is not None:
        assert done.code == 1
        assert vendor.ends in done.err
        assert not any(row["failure"] for row in rows_of(tmp_path / "run"))
        return
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert len({row["conversation_id"] for row in rows}) == len(talks)
    assert Counter(row["failure"]["kind"] for row in rows if row["failure"]) == vendor.failed, done.out
    assert vendor.shown is None or vendor.shown in done.unwrapped
    assert asked < 4 * len(talks)


@pytest.mark.parametrize(("status", "long_ones"), [(400, 1), (400, 7), (500, 1)])
def test_a_schema_too_large_for_many_turns_goes_into_the_prompt(
    dialogauge, log, talk, tmp_path, status, long_ones
):
    def large(body):
        return len(json.dumps(body.get("response_format", {}))) > 6000

    replies = ["Nine."] * 10
    talks = [talk("a"), *(talk(f"long{n}", *replies) for n in range(long_ones)), talk("b"), talk("c")]
    vendor = Vendor("small schemas", (when(large, status, openai("Cannot do that.")),))
    with VendorServer(vendor) as server:
        model = ("--model", "m", "--base-url", server.address, "--max-concurrency", 1)
        done = dialogauge("judge", log(*talks), *model, "-o", "run")
        asked = len(server.asked)
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 3 * 2 + 11 * long_ones
    assert not any(row["failure"] for row in rows)
    assert asked < 3 * len(talks)


def test_what_was_left_pending_is_judged_when_the_account_is_filled(dialogauge, log, talk, tmp_path):
    vendor = next(v for v in VENDORS if v.name == "anthropic-no-credit")
    path = log(*(talk(name) for name in NAMES))
    with VendorServer(vendor) as server:
        model = ("--model", "m", "--base-url", server.address, "-o", "run")
        dialogauge("judge", path, *model)
        summary = json.loads((tmp_path / "run" / "summary.json").read_text())
        assert summary["conversations"]["pending"] > 0
        server.vendor = VENDORS[0]
        done = dialogauge("judge", path, *model)
    assert done.code == 0
    assert not any(row["failure"] for row in rows_of(tmp_path / "run"))
