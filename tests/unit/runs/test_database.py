from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialogauge.core import Conversation, Rating, StoreError, conversation_digest, digest_text
from dialogauge.runs import RunDatabase, StoredUnit
from dialogauge.runs.records import pack
from dialogauge.runs.store import BATCH_SECONDS, BATCH_UNITS, PLANNED
from talks import JUDGE_DIGEST, judged_rows, talk, unit_of


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def database(path: Path, clock: Clock) -> Iterator[RunDatabase]:
    opened = RunDatabase(path, clock=clock)
    yield opened
    opened.close()


def put(
    database: RunDatabase,
    conversation: Conversation,
    position: int = 1,
    *,
    repeat: int = 1,
    score: float = 4,
    failed: bool = False,
    judge: str = JUDGE_DIGEST,
) -> bytes:
    unit = unit_of(conversation, repeat=repeat, judge=judge, position=position)
    rows = judged_rows(conversation, score, failed=failed)
    database.add(unit, rows)
    return bytes.fromhex(unit.key)


def named(id: str) -> Conversation:
    return talk("u: a", "a: b", id=id)


def stored(path: Path) -> int:
    with sqlite3.connect(path) as other:
        found: int = other.execute("SELECT COUNT(*) FROM units").fetchone()[0]
    other.close()
    return found


def shown(units: Iterator[StoredUnit]) -> list[tuple[str, int]]:
    return [(u.rows[0]["conversation_id"], u.rows[0]["repeat"]) for u in units]


# -- batches --------------------------------------------------------------------------------------


def test_a_unit_waits_for_company_and_is_written_when_its_time_is_up(
    database: RunDatabase, path: Path, clock: Clock
) -> None:
    put(database, named("a"))
    database.flush_if_due()
    assert stored(path) == 0
    clock.now += BATCH_SECONDS * 1.1
    database.flush_if_due()
    assert stored(path) == 1


def test_the_time_counts_from_the_first_unit_of_the_batch(
    database: RunDatabase, path: Path, clock: Clock
) -> None:
    put(database, named("a"))
    clock.now += BATCH_SECONDS * 1.1
    put(database, named("b"))  # its arrival finds the batch due
    assert stored(path) == 2
    clock.now += BATCH_SECONDS * 0.9
    put(database, named("c"))
    clock.now += BATCH_SECONDS * 0.9
    database.flush_if_due()
    assert stored(path) == 2
    clock.now += BATCH_SECONDS * 0.2
    database.flush_if_due()
    assert stored(path) == 3


def test_it_says_when_the_batch_is_due(database: RunDatabase, clock: Clock) -> None:
    assert database.flush_if_due() is None
    put(database, named("a"))
    clock.now += BATCH_SECONDS * 0.6
    left = database.flush_if_due()
    assert left == pytest.approx(BATCH_SECONDS * 0.4)
    clock.now += BATCH_SECONDS * 0.5
    assert database.flush_if_due() is None


def test_a_full_batch_is_written_at_once(database: RunDatabase, path: Path) -> None:
    conversation = named("a")
    for repeat in range(1, BATCH_UNITS):
        put(database, conversation, repeat=repeat)
    assert stored(path) == 0
    put(database, conversation, repeat=BATCH_UNITS)
    assert stored(path) == BATCH_UNITS


def test_closing_writes_what_is_pending_and_leaves_one_file(path: Path) -> None:
    database = RunDatabase(path)
    put(database, named("a"))
    database.close()
    assert stored(path) == 1
    assert [p.name for p in path.parent.iterdir()] == ["run.db"]


# -- resuming -------------------------------------------------------------------------------------


def test_finished_units_are_found_by_key_and_judge(database: RunDatabase) -> None:
    other = digest_text("another judge")
    good = put(database, named("a"))
    bad = put(database, named("b"), failed=True)
    put(database, named("c"), judge=other)
    database.flush()
    assert database.finished(JUDGE_DIGEST) == {good: False, bad: True}
    assert len(database.finished(other)) == 1
    assert database.finished(digest_text("nobody")) == {}
    assert set(database.judges()) == {JUDGE_DIGEST, other}


def test_a_unit_judged_again_replaces_the_first_and_doubles_nothing(database: RunDatabase) -> None:
    first = put(database, named("a"), failed=True)
    database.flush()
    assert put(database, named("a"), score=5) == first
    database.flush()
    (unit,) = database.units(JUDGE_DIGEST)
    assert unit.rows[0]["scores"] == {"helpfulness": 5}
    assert database.finished(JUDGE_DIGEST) == {first: False}
    assert len(list(database.conversations())) == 1


def test_repeats_and_seeds_are_units_of_their_own(database: RunDatabase) -> None:
    keys = {put(database, named("a"), repeat=r) for r in (1, 2)}
    unit = unit_of(named("a"), seed=7)
    database.add(unit, judged_rows(named("a")))
    database.flush()
    assert len(database.finished(JUDGE_DIGEST)) == 3
    assert keys < set(database.finished(JUDGE_DIGEST))


# -- order ----------------------------------------------------------------------------------------


def test_units_come_in_the_order_of_the_input_however_they_finished(database: RunDatabase) -> None:
    for id, position, repeat in (("c", 3, 1), ("a", 1, 2), ("b", 2, 1), ("a", 1, 1), ("b", 2, 2)):
        put(database, named(id), position, repeat=repeat)
    database.flush()
    assert shown(database.units(JUDGE_DIGEST)) == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)]
    assert [c.id for c in database.conversations()] == ["a", "b", "c"]


def test_repeats_stay_together_when_two_conversations_claim_one_place(database: RunDatabase) -> None:
    for repeat in (1, 2):
        put(database, named("a"), 1, repeat=repeat)
        put(database, named("b"), 1, repeat=repeat)
    database.flush()
    ids = [id for id, _ in shown(database.units(JUDGE_DIGEST))]
    assert ids in (["a", "a", "b", "b"], ["b", "b", "a", "a"])


def test_units_move_with_the_input(database: RunDatabase) -> None:
    old = put(database, named("old"), 1)
    new = put(database, named("new"), 1)
    database.flush()
    database.place_units(JUDGE_DIGEST, {new: 1, old: 2})
    assert [id for id, _ in shown(database.units(JUDGE_DIGEST))] == ["new", "old"]


def test_stale_units_are_left_out_where_the_plan_is_given(database: RunDatabase) -> None:
    kept, stale = put(database, named("kept"), 1), put(database, named("stale"), 2)
    database.flush()
    assert [u.key for u in database.units(JUDGE_DIGEST, {kept: 1})] == [kept]
    assert [u.key for u in database.units(JUDGE_DIGEST)] == [kept, stale]
    assert list(database.units(JUDGE_DIGEST, {})) == []
    database.put_meta(PLANNED, [kept.hex()])
    assert [c.id for c in database.conversations()] == ["kept"]


# -- conversations --------------------------------------------------------------------------------


def test_a_conversation_is_kept_once_with_all_that_is_known_of_it(database: RunDatabase) -> None:
    conversation = replace(named("a"), ratings=(Rating("a", "satisfaction", 5),), metadata={"k": [1]})
    put(database, conversation, repeat=1)
    put(database, conversation, repeat=2)
    database.flush()
    assert list(database.conversations()) == [conversation]
    target = bytes.fromhex(conversation_digest(conversation))
    assert database.conversation(target) == conversation
    assert database.conversation(b"\0" * 16) is None


def test_conversations_are_found_by_name_the_latest_version_first(database: RunDatabase) -> None:
    first = put(database, named("a"))
    database.flush()
    put(database, talk("u: a", "a: another reply", id="a"))
    put(database, named("b"), 2)
    database.flush()
    found = database.conversations_of(["a", "b", "nobody", "it's; --"], JUDGE_DIGEST)
    assert [c.id for c in found] == ["a", "b"]
    assert found[0].messages[1].text == "another reply"
    database.show([first], [first])
    (found,) = database.conversations_of(["a"], JUDGE_DIGEST)
    assert found.messages[1].text == "b", "the one that is shown"


def test_an_id_has_a_conversation_of_each_candidate(database: RunDatabase) -> None:
    for place, name in enumerate(("v1", "v2"), 1):
        put(database, replace(named("a"), candidate=name), place)
    database.flush()
    assert [c.candidate for c in database.conversations_of(["a"], JUDGE_DIGEST)] == ["v1", "v2"]


def test_meta_values_come_back(database: RunDatabase) -> None:
    assert database.get_meta("x") is None
    assert database.get_meta("x", 3) == 3
    database.put_meta("x", {"a": [1, None]})
    database.put_meta("x", {"a": [2, None]})
    assert database.get_meta("x") == {"a": [2, None]}
    database.put_meta("x", None)
    assert database.get_meta("x", 3) is None


def test_rows_with_half_a_surrogate_pair_are_stored(database: RunDatabase) -> None:
    conversation = named("a")
    unit = unit_of(conversation)
    rows = judged_rows(conversation)
    object.__setattr__(rows[0].outcome, "rationale", "cut off \ud83d")
    database.add(unit, rows)
    database.flush()
    (found,) = database.units(JUDGE_DIGEST)
    assert found.rows[0]["rationale"] == "cut off \ufffd"


def test_rows_like_those_before_take_less_than_half_the_room(database: RunDatabase) -> None:
    keys = [put(database, named(f"talk {n}"), n) for n in range(300)]
    database.flush()
    units = list(database.units(JUDGE_DIGEST))
    assert [u.key for u in units] == keys
    assert [database.unit(key) for key in keys] == units
    (taken,) = database._db.execute("SELECT SUM(LENGTH(rows)) FROM units").fetchone()
    assert taken < 0.5 * sum(len(pack(unit.rows)) for unit in units)


def test_units_of_another_judge_have_a_dictionary_of_their_own(database: RunDatabase, path: Path) -> None:
    other = digest_text("another judge")
    put(database, named("a"))
    database.flush()
    taken = put(database, named("b"), judge=other, score=2)
    database.flush()
    assert database.unit(taken) == next(database.units(other))
    third = RunDatabase(path.with_name("third.db"))
    put(third, named("c"), judge=other)
    third.flush()
    third.take_units(database, other, {taken})
    assert third.unit(taken) == database.unit(taken)
    assert len(list(third.units(other))) == 2
    third.close()


# -- reading only, damage, lack of space ------------------------------------------------------------


def test_a_reader_sees_what_was_flushed_and_cannot_write(database: RunDatabase, path: Path) -> None:
    put(database, named("a"))
    database.flush()
    reader = RunDatabase(path, readonly=True)
    try:
        assert len(reader.finished(JUDGE_DIGEST)) == 1
        with pytest.raises(StoreError, match="readonly") as caught:
            reader.put_meta("x", 1)
        assert "can be written" in str(caught.value)
    finally:
        reader.close()


def test_a_missing_file_cannot_be_read(path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open"):
        RunDatabase(path, readonly=True)
    assert not path.exists()


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_bytes(b"this is no database, but it is long enough to look like one" * 100)
    with pytest.raises(StoreError, match="not a database") as caught:
        RunDatabase(path)
    assert "--fresh" in str(caught.value)
    with pytest.raises(StoreError, match="not a database"):
        RunDatabase(path, readonly=True)


def test_a_database_of_something_else_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE units (name TEXT)")
    other.close()
    with pytest.raises(StoreError, match="no such column"):
        RunDatabase(path)


@pytest.mark.parametrize("damage", [b"", b"not compressed"], ids=["empty", "other"])
def test_a_damaged_record_is_a_clear_error(path: Path, damage: bytes) -> None:
    database = RunDatabase(path)
    put(database, named("a"))
    database.put_meta("x", 1)
    database.flush()
    database.close()
    with sqlite3.connect(path) as other:
        other.execute("UPDATE units SET rows = ?", (damage,))
        other.execute("UPDATE conversations SET body = ?", (damage,))
        other.execute("UPDATE meta SET value = ?", (damage,))
    other.close()
    reader = RunDatabase(path, readonly=True)
    for read in (
        lambda: list(reader.units(JUDGE_DIGEST)),
        lambda: list(reader.conversations()),
        lambda: reader.conversations_of(["a"], JUDGE_DIGEST),
        lambda: reader.get_meta("x"),
    ):
        with pytest.raises(StoreError, match=r"run\.db cannot be used") as caught:
            read()
        assert "damaged" in str(caught.value)
    reader.close()


def test_a_full_disk_loses_nothing_that_waits(path: Path) -> None:
    database = RunDatabase(path, clock=Clock())
    put(database, named("first"))
    database.flush()
    pages = database._db.execute("PRAGMA page_count").fetchone()[0]
    database._db.execute(f"PRAGMA max_page_count={pages}")
    noise = "".join(digest_text(str(i)) for i in range(2000))
    put(database, talk("u: a", f"a: {noise}", id="big"), 2)
    for _ in range(2):
        with pytest.raises(StoreError, match="full") as caught:
            database.flush()
        assert "free some space" in str(caught.value)
    assert stored(path) == 1
    database._db.execute("PRAGMA max_page_count=100000")
    database.flush()
    assert shown(database.units(JUDGE_DIGEST)) == [("first", 1), ("big", 1)]
    database.close()


def test_a_locked_file_says_so(database: RunDatabase, path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("BEGIN IMMEDIATE")
    database._db.execute("PRAGMA busy_timeout=0")
    put(database, named("a"))
    with pytest.raises(StoreError, match="locked") as caught:
        database.flush()
    assert "another process" in str(caught.value)
    other.rollback()
    other.close()
    database.flush()
    assert stored(path) == 1


TAKEN_AWAY = {
    "deleted": lambda path: path.unlink(),
    "replaced": lambda path: (path.rename(path.with_name("old")), path.write_bytes(b"")),
    "cut off": lambda path: path.write_bytes(b""),
    "moved": lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
}


@pytest.mark.parametrize("take", TAKEN_AWAY.values(), ids=TAKEN_AWAY.keys())
def test_a_file_that_is_taken_away_is_missed_at_once(tmp_path: Path, take: Any) -> None:
    (tmp_path / "run").mkdir()
    database = RunDatabase(tmp_path / "run" / "run.db")
    put(database, named("a"))
    database.flush()
    take(database.path)
    with pytest.raises(StoreError, match="what it held is lost"):
        database.flush_if_due()
    assert database.lost
    database.close()
