"""The database of a replay run."""

from __future__ import annotations

import pytest

from dialogauge.core import StoreError
from dialogauge.runs import REFERENCE, ReplayDatabase, StoredReply, StoredScore


def score(candidate, item, value=4.0):
    whole = None if value is None else round(value)
    failure = {"kind": "timeout", "message": "late"} if value is None else None
    return StoredScore(candidate, item, "block", 1, 10, whole, value, failure)


def test_what_is_written_is_read(tmp_path) -> None:
    database = ReplayDatabase(tmp_path / "replay.db")
    database.put_candidate("b", {"digest": "1"})
    database.put_candidate("a", {"digest": "2"})
    database.put_candidate("b", {"digest": "3"})
    good = StoredReply("a", "i1", "Hello\ud83d", None, {"model": "m"})
    bad = StoredReply("a", "i2", None, {"kind": "timeout", "message": "late"})
    database.add_reply(good)
    database.add_reply(bad)
    database.add_score("e", score("a", "i1", 3.6))
    database.add_score("e", score(REFERENCE, "i1"))
    database.add_score("e", score(REFERENCE, "i9", None))
    database.put_meta("items", "digest")
    database.close()
    assert [p.name for p in tmp_path.iterdir()] == ["replay.db"]
    again = ReplayDatabase(tmp_path / "replay.db", readonly=True)
    assert again.candidates() == {"b": {"digest": "3"}, "a": {"digest": "2"}}
    assert again.replied("a") == {"i1": False, "i2": True}
    assert again.reply("a", "i2") == bad
    assert (again.reply("a", "i1") or bad).text == "Hello\ufffd"
    assert again.reply("a", "i3") is None
    assert list(again.failed_replies("a")) == [bad]
    assert list(again.scores("e", "a")) == [score("a", "i1", 3.6)]
    assert again.scored("e", REFERENCE) == {"i1": False, "i9": True}
    assert again.scored("other", REFERENCE) == {}
    assert again.get_meta("items") == "digest"
    again.close()


def test_a_new_reply_forgets_the_score_of_the_old(tmp_path) -> None:
    database = ReplayDatabase(tmp_path / "replay.db")
    for item in ("i1", "i2"):
        database.add_reply(StoredReply("a", item, "one"))
        database.add_score("e", score("a", item))
    database.add_reply(StoredReply("a", "i1", "two"))
    database.flush()
    assert database.scored("e", "a") == {"i2": False}
    database.forget_candidate("a")
    assert (database.scored("e", "a"), database.replied("a")) == ({}, {})
    database.close()


def test_files_that_are_none(tmp_path) -> None:
    with pytest.raises(StoreError, match="holds no replay run"):
        ReplayDatabase(tmp_path / "replay.db", readonly=True)
    (tmp_path / "replay.db").write_bytes(b"no database at all, whatever it says" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        ReplayDatabase(tmp_path / "replay.db")
