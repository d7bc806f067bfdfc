"""Nothing raw of the conversations reaches what a masked replay benchmark stores, sends, caches or writes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from flows.test_privacy import assert_none, everything
from rated import rated_users
from talks import conversation_record

PHONE, MAIL, WRITTEN = "13800138000", "ann.lee@example.org", "desk@example.net"
RUN = ("replay", "run", "data.jsonl", "--rule", "stratified", "-n", 20, "-o", "run")
HIDDEN = ("--redact", "--hash-ids")
USERS = [f"customer-{number}" for number in range(10)]


@pytest.fixture
def data(log):
    talks = []
    for talk in rated_users(10):
        user = f"customer-{talk.user_id.removeprefix('user')}"
        name = f"support-{user}-{talk.id[-6:]}"
        messages = [replace(m, content=f"{user} of {name}: {m.content}, call {PHONE}") for m in talk.messages]
        ratings = tuple(replace(r, conversation_id=name, note=f"not {MAIL}") for r in talk.ratings)
        made = {
            "id": name,
            "user_id": user,
            "profile": {"mail": MAIL},
            "scenario": f"{talk.scenario} {PHONE}",
        }
        talks.append(replace(talk, **made, messages=tuple(messages), ratings=ratings))
    return log(*(conversation_record(t) for t in talks), name="data.jsonl")


def chosen(path):
    return [i["position"] for i in json.loads(path.read_text())["items"]]


def answered(path, items):
    """A candidate that was collected openly: its file names the open items, and their user."""
    lines = [{"item": i["id"], "reply": f"Dear {i['user']}, call {PHONE}, it is on me."} for i in items]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.long
def test_nothing_raw_is_stored_sent_cached_or_written(dialogauge, data, serve, tmp_path) -> None:
    select = ("replay", "select", data, "--rule", "stratified", "-n", 20, "-o", "open.json")
    assert dialogauge(*select).code == 0
    answered(tmp_path / "filed.jsonl", json.loads((tmp_path / "open.json").read_text())["items"])
    stub = serve(f"Write to {WRITTEN}.")
    words = ("--judge", "nearest-3", "--candidate", "replies:filed.jsonl", "--context", "profile")
    run = (*RUN, *words, "--candidate", f"m=stub-model@{stub.url}", *HIDDEN)
    done = dialogauge(*run)
    assert done.code == 0, done.err
    folder = tmp_path / "run"
    raw = (PHONE, MAIL, "support-customer", *USERS)
    stored = everything(folder, done.out, done.err)
    assert_none(stored, (*raw, WRITTEN))
    assert "[phone], it is on me" in stored
    assert len(stub.asked) == 20
    assert_none(json.dumps(stub.requests) + everything(tmp_path / "cache"), raw)
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert len(rows) == 60
    assert all(row["views"]["raw"] is not None for row in rows)
    assert all(row["user"].startswith("u_") and row["item"].startswith("c_") for row in rows)
    # the same turns as in an open benchmark, and the same again
    assert chosen(folder / "items.json") == chosen(tmp_path / "open.json")
    again = dialogauge(*run)
    assert again.code == 0, again.err
    assert len(stub.asked) == 20


def test_the_parts_by_themselves_keep_the_mask_of_the_items(dialogauge, data, tmp_path) -> None:
    (tmp_path / "dialogauge.toml").write_text("[judge]\nredact = true\nhash_ids = true\n")
    done = dialogauge("replay", "select", data, "--rule", "all", "-o", "set/items.json")
    assert done.code == 0, done.err
    (tmp_path / "dialogauge.toml").unlink()
    items = json.loads((tmp_path / "set" / "items.json").read_text())["items"]
    answered(tmp_path / "hidden.jsonl", items)
    collect = ("replay", "collect", "set/items.json", "--candidate", "replies:hidden.jsonl", "-o", "run")
    score = ("replay", "score", "run", "--judge", "history-mean")
    for command in (collect, score, ("replay", "compare", "run")):
        done = dialogauge(*command)
        assert done.code == 0, done.err
    for folder in ("set", "run"):
        assert_none(everything(tmp_path / folder), (PHONE, MAIL, "support-customer", *USERS))


@pytest.mark.long
def test_open_and_masked_never_share_a_run(dialogauge, data, tmp_path) -> None:
    select = ("replay", "select", data, *RUN[3:7], "-o", "open.json")
    assert dialogauge(*select).code == 0
    answered(tmp_path / "filed.jsonl", json.loads((tmp_path / "open.json").read_text())["items"])
    words = ("--judge", "local", "--candidate", "replies:filed.jsonl")
    assert dialogauge(*RUN, *words).code == 0
    done = dialogauge(*RUN, *words, *HIDDEN)
    assert done.code == 2
    assert "the items of run were chosen openly (drop --redact --hash-ids, or choose another" in done.err
    assert dialogauge(*RUN[:-1], "hidden", *words, "--redact").code == 0
    done = dialogauge(*RUN[:-1], "hidden", *words)
    assert done.code == 2
    assert "the items of hidden were chosen with --redact (add --redact, or choose another" in done.err
