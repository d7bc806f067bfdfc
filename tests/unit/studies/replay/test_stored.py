"""The file of a replay run: which replies stand, what their scores are of, and runs that are none."""

from __future__ import annotations

import pytest

from dialogauge.core import StoreError, UsageError, WorkUnit
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.runs import RunDatabase, RunDirectory
from dialogauge.runs.store import PLANNED
from dialogauge.studies.replay.items import ItemSet, ReplayItem
from dialogauge.studies.replay.stored import REPLAY, ReplayRun, open_replay, replies_digest
from dialogauge.studies.replay.study import ItemReply, tally_of

JUDGE = replies_digest("a", "made by")
ITEMS = tuple(ReplayItem(f"i{n}", "c", "u__s", "u", "s", n, 4.0, "") for n in range(1, 4))


@pytest.fixture
def run(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    database = directory.open_for_writing(REPLAY)
    database.put_meta(
        "candidates", {"b": {"digest": "other", "kind": "file"}, "a": {"digest": "made by", "kind": "file"}}
    )
    yield ReplayRun(database)
    database.close()
    directory.release()


def add(run, item, request, outcome):
    unit = WorkUnit(REPLAY, None, request * 32, JUDGE, part=item)
    run.database.add(unit, (ItemReply(AgentTurn(outcome)),))
    run.database.flush()
    return bytes.fromhex(unit.key)


def test_replies_and_failures_and_what_is_not_there(run) -> None:
    whole = add(run, "i1", "1", AgentReply("Hello\ud83d", model="m"))
    add(run, "i2", "2", AgentFailure("timeout", "late", "what came"))
    cut = add(run, "i3", "3", AgentReply("and so", "length"))
    stored = run.replies("a")
    assert [stored.reply(i.id) for i in ITEMS] == [whole, None, cut]
    assert (stored.failures, stored.cut_short) == ({"i2": "timeout"}, {"i3"})
    assert run.text(whole) == "Hello\ufffd"
    tally = tally_of(stored, (*ITEMS, ReplayItem("i4", "c", "u__s", "u", "s", 4, 4.0, "")))
    assert (tally.requested, tally.replied, tally.failures) == (4, 2, {"timeout": 1, "pending": 1})
    assert run.replies("b").keys == run.replies("nobody").keys == {}
    with pytest.raises(StoreError, match="has lost a reply"):
        run.text(b"x" * 16)


def test_of_two_requests_of_one_item_the_latest_stands(run) -> None:
    """A run that broke off after one of two items was asked anew, and one that goes back to the first."""
    old, other = add(run, "i1", "1", AgentReply("old")), add(run, "i2", "2", AgentReply("other"))
    new = add(run, "i1", "3", AgentReply("new"))

    def standing(*keys):
        run.database.put_meta(f"{PLANNED}:{JUDGE}", [key.hex() for key in keys])
        return run.replies("a").keys

    assert standing(new, old, other) == {"i1": new, "i2": other}
    assert standing(old, other) == {"i1": old, "i2": other}


def test_a_run_is_of_one_item_set(run) -> None:
    data = {
        "inputs": ["log.jsonl"],
        **dict.fromkeys(("format", "map_file", "ratings_file")),
        "dimension": "satisfaction",
        "part": "all",
        "split": {"train": [], "test": []},
        "privacy": {"redact": True, "hash_ids": False, "salt": "00"},
    }
    mix = {"counts": {"4": 3}, "mean": 4.0, "dissatisfied": 0.0}
    numbers = dict.fromkeys(("turns", "turns_in_data", "users", "blocks", "conversations"), 3)
    by = {key: {"s": 3} for key in ("languages", "scenarios", "positions")}
    card = {"source": "made", "licence": "ours", **numbers, **by, "gold": mix, "gold_of_all": mix}
    items = ItemSet(ITEMS, "all", 0, data, card)
    run.claim(items)
    run.claim(items)
    assert run.item_set() == items
    assert run.database.get_meta("privacy")["redact"] is True
    with pytest.raises(UsageError, match="of another item set"):
        run.claim(ItemSet(ITEMS[:1], "all", 0, {}, {}))


def test_directories_that_hold_no_replay_run(tmp_path) -> None:
    def opened(name):
        with open_replay(str(tmp_path / name)):
            pass

    with pytest.raises(StoreError, match="holds no replay run"):
        opened("nothing")
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "replay.db").write_bytes(b"")
    with pytest.raises(StoreError, match="an older dialogauge wrote"):
        opened("older")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.db").write_bytes(b"no database at all, whatever it says" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        opened("damaged")


def test_units_are_taken_over_from_another_run(run, tmp_path) -> None:
    one, two = add(run, "i1", "1", AgentReply("one")), add(run, "i2", "2", AgentReply("two"))
    other = RunDatabase(tmp_path / "other.db")
    other.take_units(run.database, JUDGE, {two})
    assert (other.unit(one), other.unit(two)) == (None, run.database.unit(two))
    other.close()
