"""`--signal RUN` of `dialogauge satisfaction`: from a model's scores to what `local-user` makes of them."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from contextlib import closing

import pytest

from dialogauge.core import Conversation, Message, Rating
from flows.conftest import rows_of
from rated import rated_talk
from servers.contented import contented
from talks import conversation_record

USERS, SCENARIOS, TURNS = 10, ("cook", "gift", "trip"), 5
SPLIT = {"train": [f"user{u}" for u in range(6)], "test": [f"user{u}" for u in range(6, USERS)]}


def talks():
    """Replies that tell nothing but to the model, which knows them by their codes."""
    rng = random.Random(0)
    out = []
    for u in range(USERS):
        for scenario in SCENARIOS:
            id, said, ratings = f"user{u}-{scenario}", [], []
            for turn in range(1, TURNS + 1):
                score = rng.randint(1, 5)
                code = f"ref{rng.randrange(10**5):05d}{score}"
                said += [Message("user", "what now?"), Message("assistant", f"this may help, {code}")]
                ratings.append(Rating(id, "satisfaction", score, turn, f"user{u}"))
            out.append(
                Conversation(id, tuple(said), user_id=f"user{u}", scenario=scenario, ratings=tuple(ratings))
            )
    return [conversation_record(talk) for talk in out]


def seen(body):
    """What the last code in the prompt says: the model reads the reply, and nobody's rating."""
    codes = re.findall(r"ref\d{5}(\d)", body["messages"][-1]["content"])
    return int(codes[-1]) if codes else 3


@pytest.fixture
def data(log, tmp_path):
    (tmp_path / "split.json").write_text(json.dumps(SPLIT))
    return log(*talks(), name="data.jsonl")


@pytest.fixture
def judged(dialogauge, serve, data):
    """Judges by a model, all users, into `zero`."""

    def run(*words, judge="zero-shot", out="zero", file=data, stub=None):
        stub = stub or serve(contented(seen), schema="ignore")
        words = ("--judge", judge, "--model", "m", "--base-url", stub.url, *words)
        return dialogauge("satisfaction", file, "--split", "all", *words, "-o", out)

    return run


@pytest.fixture
def told(dialogauge, data):
    """Judges the test users by `local-user`."""

    def run(*words, out="both", file=data, judge="local-user"):
        words = ("--judge", judge, "--split-file", "split.json", *words, "-o", out)
        return dialogauge("satisfaction", file, *words)

    return run


def values(run):
    return {r["details"]["turn_id"]: r["scores"]["satisfaction"] for r in rows_of(run)}


def summary(run):
    return json.loads((run / "summary.json").read_text())


def digest(run):
    return json.loads((run / "manifest.json").read_text())["judge"]["digest"]


@pytest.mark.long
def test_a_models_scores_end_to_end(judged, told, tmp_path) -> None:
    assert judged().code == 0
    assert told(out="alone").code == 0
    done = told("--signal", "zero")
    assert done.code == 0, done.err
    line = "scores of zero (zero-shot/m): 60 of 60 turns that are judged, 90 of 90 turns of training users; "
    assert line + "one point of it moves the expected rating by 0." in done.unwrapped
    (signal,) = summary(tmp_path / "both")["signals"]
    missing = dict.fromkeys(("failed", "not_applicable", "changed", "not_judged"), 0)
    assert signal["targets"] == {"turns": 60, "scored": 60, **missing}
    assert signal["training"] == {"turns": 90, "scored": 90, **missing}
    assert 0.3 < signal["weight"] < 1.1
    alone, both = (summary(tmp_path / name)["metrics"] for name in ("alone", "both"))
    assert both["within_user_pearson"] > 0.5 > alone["within_user_pearson"]
    assert summary(tmp_path / "alone")["signals"] == []
    assert line in (tmp_path / "both" / "report.html").read_text()
    assert "Signals." not in (tmp_path / "alone" / "report.html").read_text()
    manifest = json.loads((tmp_path / "both" / "manifest.json").read_text())
    assert manifest["settings"]["signals"] == ["zero"]
    assert manifest["judge"]["reads"] == ["history", "others"]
    assert manifest["judge"]["signals"] == {"zero": signal["weight"]}


@pytest.mark.long
def test_the_targets_own_ratings_do_not_come_through_the_signal(judged, told, log, tmp_path) -> None:
    """The whole chain again, from data in which the block's ratings are others."""
    assert judged().code == 0
    assert told("--signal", "zero").code == 0
    records = talks()
    for record in records:
        if record["conversation_id"] == "user7-gift":
            record["ratings"] = [{**r, "score": 6 - r["score"]} for r in record["ratings"]]
    file = log(*records, name="other.jsonl")
    assert judged("--no-cache", out="zero2", file=file).code == 0
    assert told("--signal", "zero2", out="both2", file=file).code == 0
    before, after = values(tmp_path / "both"), values(tmp_path / "both2")
    mine = [id for id in before if id.startswith("user7-gift")]
    assert len(mine) == TURNS
    assert [after[id] for id in mine] == [before[id] for id in mine]
    assert any(after[id] != before[id] for id in before if id.startswith("user7"))


@pytest.mark.long
def test_the_same_scores_are_the_same_judge_and_others_are_not(judged, told, tmp_path) -> None:
    assert judged().code == 0
    assert told("--signal", "zero").code == 0
    first = digest(tmp_path / "both")
    assert told("--signal", "zero").code == 0
    assert digest(tmp_path / "both") == first
    # a calibration reads ratings: the raw scores are taken, whatever the rows show
    assert judged("--calibrate", "cdf", out="mapped").code == 0
    assert told("--signal", "mapped", out="other").code == 0
    assert digest(tmp_path / "other") == first
    assert judged(judge="task-rubric", out="task").code == 0
    assert told("--signal", "zero", "--signal", "task", out="other").code == 0
    assert digest(tmp_path / "other") != first
    assert [s["judge"] for s in summary(tmp_path / "other")["signals"]] == ["zero-shot/m", "task-rubric/m"]
    assert told(out="other").code == 0
    assert digest(tmp_path / "other") != first


@pytest.mark.long
def test_missing_scores_are_counted_and_never_a_number(judged, told, serve, log, tmp_path) -> None:
    failing = {
        re.search(r"ref\d+", t["messages"][1]["content"])[0] for t in talks() if t["scenario"] == "gift"
    }

    def reply(body):
        codes = re.findall(r"ref\d+", " ".join(m["content"] for m in body["messages"]))
        return "no JSON" if codes and codes[-1] in failing else contented(seen)(body)

    stub = serve(reply, schema="ignore")
    judged("--max-failed", 0.5, stub=stub)
    records = talks()
    for record in records:
        if record["conversation_id"] == "user8-trip":
            record["messages"][0]["content"] = "said otherwise since"
        if record["conversation_id"] == "user9-cook":
            record["conversation_id"] = "user9-new"
            record["ratings"] = [{**r, "conversation_id": "user9-new"} for r in record["ratings"]]
    done = told("--signal", "zero", file=log(*records, name="later.jsonl"))
    assert done.code == 0, done.err
    (signal,) = summary(tmp_path / "both")["signals"]
    # four users' first turn of gift failed; a conversation of five turns has changed, another is new
    counts = {"turns": 60, "scored": 46, "failed": 4, "not_applicable": 0, "changed": 5, "not_judged": 5}
    assert signal["targets"] == counts
    assert (signal["training"]["scored"], signal["training"]["failed"]) == (84, 6)
    missing = "(4 failed, 5 of words that have changed since, 5 not judged)"
    counted = f"46 of 60 turns that are judged {missing}, 84 of 90 turns of training users (6 failed)"
    assert counted in done.unwrapped
    assert len(rows_of(tmp_path / "both")) == 60
    assert not any(row["failure"] for row in rows_of(tmp_path / "both"))


@pytest.mark.long
def test_a_run_of_the_test_users_alone_has_no_weight(dialogauge, serve, data, told, tmp_path) -> None:
    stub = serve(contented(seen))
    words = ("--judge", "zero-shot", "--model", "m", "--base-url", stub.url, "--split-file", "split.json")
    assert dialogauge("satisfaction", data, *words, "-o", "zero").code == 0
    done = told("--signal", "zero")
    why = "0 of 90 turns of training users (90 not judged); not read, since no turn of a training"
    assert why in done.unwrapped
    assert told(out="alone").code == 0
    assert values(tmp_path / "both") == values(tmp_path / "alone")


@pytest.mark.long
def test_redacted_data_and_a_redacted_signal(judged, told, tmp_path) -> None:
    assert judged("--redact").code == 0
    assert told("--signal", "zero", "--redact").code == 0
    assert summary(tmp_path / "both")["signals"][0]["targets"]["scored"] == 60


@pytest.mark.long
def test_judges_that_read_ratings_are_refused(dialogauge, judged, told, data, tmp_path) -> None:
    words = ("--split-file", "split.json")
    for judge, whose in (("memory", "the user's own"), ("few-shot", "those of other users")):
        assert judged(judge=judge, out=judge).code == 0
        done = told("--signal", judge)
        assert done.code == 2
        assert f"{judge} (judge {judge}/m) was made by reading ratings, {whose}" in done.err
        assert "signals are runs of local, zero-shot, task-rubric, prometheus, no-memory" in done.err
    for judge in ("nearest-3", "local-user"):
        assert dialogauge("satisfaction", data, "--judge", judge, *words, "-o", judge).code == 0
        assert "was made by reading ratings" in told("--signal", judge).err
    assert not (tmp_path / "both").exists()


@pytest.mark.long
def test_runs_that_are_of_no_use_are_refused(dialogauge, told, data, log, tmp_path) -> None:
    def local(out, *words, file=data):
        words = ("--judge", "local", "--split", "all", *words, "-o", out)
        assert dialogauge("satisfaction", file, *words).code == 0
        return out

    def refused(*words, out="both", file=data):
        done = told(*words, out=out, file=file)
        assert done.code == 2, done.out
        return done.err

    assert told("--signal", "gone").code == 1
    assert dialogauge("judge", data, "-o", "plain").code == 0
    assert "plain (judge local) is no satisfaction run" in refused("--signal", "plain")
    assert dialogauge("fit", data, "-o", "model").code == 0
    assert "model (judge fit) is no satisfaction run" in refused("--signal", "model")
    strange = [conversation_record(rated_talk(f"x{i}", s, 0, [3, 4])) for i in range(3) for s in "ab"]
    far = local("far", file=log(*strange, name="strange.jsonl"))
    err = refused("--signal", far)
    assert "far holds no score of this data (it holds x0__a__0, x0__b__0" in err
    assert "here are user6-cook" in err
    assert "read what followed each reply" in refused("--signal", local("after", "--mode", "hindsight"))
    near = local("near")
    assert told("--signal", "after", "--mode", "hindsight", out="behind").code == 0
    assert "a run is given twice" in refused("--signal", near, "--signal", "./near")
    assert "cannot be combined" in refused("--signal", near, "--hash-ids")
    assert "written over its own signal" in refused("--signal", near, out="near")
    records = talks()
    for record in records:
        record["messages"][0]["content"] = "otherwise"
    others = log(*records, name="others.jsonl")
    assert "near judged other words: all 30 conversations have changed since" in refused(
        "--signal", near, file=others
    )
    assert "the judge nearest-1 takes no --signal" in told("--signal", near, judge="nearest-1").err
    manifest = json.loads((tmp_path / "near" / "manifest.json").read_text())
    del manifest["judge"]["reads"]
    (tmp_path / "near" / "manifest.json").write_text(json.dumps(manifest))
    assert "near/manifest.json was changed since the run wrote it" in told("--signal", near).err
    with closing(sqlite3.connect(tmp_path / "near" / "run.db")) as database, database:
        database.execute("DELETE FROM meta WHERE key LIKE 'written:%'")  # as an older version left it
    assert "does not say what its judge read (an older version wrote it" in refused("--signal", near)
    assert "does not say" in told("--signal", near, "--dry-run").err
    local("near")
    assert told("--signal", near).code == 0


def test_sessions_are_no_signal_of_replies(dialogauge, judged, told, log) -> None:
    records = talks()
    for number, record in enumerate(records):
        id, user = record["conversation_id"], record["user_id"]
        whole = {"conversation_id": id, "dimension": "satisfaction", "score": 3 + number % 3, "rater": user}
        record["ratings"].append(whole)
    file = log(*records, name="sessions.jsonl")
    assert judged("--level", "session", file=file).code == 0
    done = told("--signal", "zero", file=file)
    assert (done.code, "judged sessions, not replies" in done.err) == (2, True)
