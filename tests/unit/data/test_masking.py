from __future__ import annotations

from dialogauge.core import Place, Rating, RecordFault
from dialogauge.data import Mask, Note
from talks import talk

BOTH = Mask(redact=True, hash_ids=True, salt=b"salt")
IDS = Mask(redact=False, hash_ids=True, salt=b"salt")


def test_ids_are_keyed_digests() -> None:
    # HMAC-SHA-256 with the key "salt" of "user\x1fu1", first 16 hex digits.
    assert IDS.id("user", "u1") == "u_" + _hmac(b"user\x1fu1")
    assert IDS.id("conversation", "u1") == "c_" + _hmac(b"conversation\x1fu1")
    assert Mask(redact=True, hash_ids=False, salt=b"salt").id("user", "u1") == "u1"
    assert Mask(redact=False, hash_ids=True, salt=b"other").id("user", "u1") != IDS.id("user", "u1")


def _hmac(message: bytes) -> str:
    import hashlib

    def block(pad: int) -> bytes:
        return bytes(b ^ pad for b in b"salt".ljust(64, b"\0"))

    inner = hashlib.sha256(block(0x36) + message).digest()
    return hashlib.sha256(block(0x5C) + inner).hexdigest()[:16]


def test_own_ids_in_texts_only_where_they_are_telling() -> None:
    before = talk("u: I am user-1234, not user-12345", "a: Hello bob", id="bob", user_id="user-1234")
    after = IDS.conversation(before)
    assert after.messages[0].text == f"I am {IDS.id('user', 'user-1234')}, not user-12345"
    assert after.messages[1].text == "Hello bob"


def test_nothing_else_changes() -> None:
    before = talk(
        "s: Be kind.",
        "u: Hi",
        "c: look",
        "t: {}",
        "a: Hello",
        id="talk-1",
        user_id="user-1",
        ratings=(Rating("talk-1", "helpfulness", 4, 1),),
        profile={"age": 30},
        language="en",
    )
    after = BOTH.conversation(before)
    assert after.messages == before.messages
    assert after.profile == before.profile
    assert after.language == "en"
    assert [t.number for t in after.turns] == [t.number for t in before.turns]
    assert after.ratings == (Rating(after.id, "helpfulness", 4, 1),)
    assert BOTH.conversation(before) == after


def test_faults_lose_their_excerpts_and_keep_their_place() -> None:
    place = Place("a.jsonl", 3, "me@example.com")
    fault = RecordFault("message 1 is {'phone': 1380013…: not an object", place=place, hint="it has 'x'")
    shown = BOTH.fault(fault)
    assert type(shown) is RecordFault
    assert shown.message == "message 1 is …"
    assert shown.hint == "it has …"
    assert shown.place is not None
    assert (shown.place.file, shown.place.line) == ("a.jsonl", 3)
    assert "me@" not in str(shown)


def test_numbers_that_are_cut_off_are_no_excerpt() -> None:
    assert "1380" not in BOTH.fault(RecordFault("the score is 138001380: neither")).message


def test_notes_keep_file_and_line() -> None:
    note = Note("assumed", "conversations end early", 2, (Place("a.jsonl", 7, "me@example.com"),))
    assert "a.jsonl:7" in str(BOTH.note(note))
    assert "me@" not in str(BOTH.note(note))
