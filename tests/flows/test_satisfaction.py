"""The satisfaction study through the command line."""

from __future__ import annotations

import json

import pytest

from dialogauge.calibrate import CALIBRATIONS
from dialogauge.data import conversation_record
from flows.conftest import rows_of
from rated import rated_talk, rated_users


@pytest.fixture
def data(log):
    return log(*(conversation_record(c) for c in rated_users(12)), name="data.jsonl")


def summary_of(run):
    return json.loads((run / "summary.json").read_text())


def test_a_study_from_data_to_report(dialogauge, data, tmp_path) -> None:
    done = dialogauge("satisfaction", data, "--judge", "history-mean", "--draws", 100, "-o", "run")
    assert done.code == 0, done.err
    assert "judged by history-mean" in done.out
    assert "ceiling: people's own" in done.out
    for name in CALIBRATIONS:
        assert f"\n{name}" in done.out
    rows = rows_of(tmp_path / "run")
    assert {row["level"] for row in rows} == {"turn"}
    assert rows[0]["details"]["turn_id"].endswith("__turn_0")
    found = summary_of(tmp_path / "run")
    assert found["metrics"]["n"] == len(rows) == found["scored"] == 150
    assert found["study"]["users"] == 10
    assert found["study"]["population"]["users"] == 2
    assert set(found["controls"]) >= {"constant", "reply length", "turn position", "shuffled", "user mean"}
    assert set(found["controls"]["constant"]) == set(found["metrics"])
    assert set(found["calibrations"]) == set(CALIBRATIONS)
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000


def test_calibrated_scores_stand_in_the_rows(dialogauge, data, tmp_path) -> None:
    done = dialogauge(
        "satisfaction",
        data,
        "--judge",
        "episodic-nearest",
        "--k",
        3,
        "--calibrate",
        "cdf",
        "--json",
        "-o",
        "r",
    )
    assert done.code == 0, done.err
    assert done.json["metrics"] == done.json["calibrations"]["cdf"]["metrics"]
    assert done.json["metrics"] != done.json["calibrations"]["none"]["metrics"]
    rows = rows_of(tmp_path / "r")
    changed = [r for r in rows if r["details"]["raw"] != r["details"]["satisfaction"]]
    assert changed
    assert all(abs(r["scores"]["satisfaction"] - r["details"]["satisfaction"]) <= 0.5 for r in changed)


def test_the_run_is_a_run_like_any_other(dialogauge, data, tmp_path) -> None:
    assert dialogauge("satisfaction", data, "--judge", "nearest-3", "--draws", 0, "-o", "one").code == 0
    assert dialogauge("satisfaction", data, "--judge", "local", "--draws", 0, "-o", "two").code == 0
    assert dialogauge("report", "one").code == 0
    assert dialogauge("export", "one", "-o", "rows.csv").code == 0
    done = dialogauge("meta", "one", "two", "--draws", 100, "--json")
    assert done.code == 0, done.err
    assert [j["judge"] for j in done.json["judges"]] == ["nearest-3", "local"]
    words = ("--judge", "history-median", "--split", "all", "--draws", 0, "-o", "three")
    again = dialogauge("satisfaction", "one", *words)
    assert again.code == 0, again.err
    assert rows_of(tmp_path / "three")


def test_the_judge_that_is_fitted_to_the_user(dialogauge, data, tmp_path) -> None:
    words = (
        "--judge",
        "local-user",
        "--mode",
        "hindsight",
        "--split",
        "all",
        "--draws",
        0,
        "--json",
        "-o",
        "run",
    )
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert (done.json["metrics"]["n"], done.json["metrics"]["n_failed"]) == (180, 0)
    told = json.loads((tmp_path / "run" / "manifest.json").read_text())["judge"]
    assert told["settings"] == {"mode": "hindsight", "version": 1}
    assert told["fitted_on"]["users"] == 2
    assert all(1 <= row["details"]["satisfaction"] <= 5 for row in rows_of(tmp_path / "run"))


def test_a_split_file_wins_and_users_without_history_are_apart(dialogauge, log, tmp_path) -> None:
    talks = [*rated_users(4), rated_talk("lone", "cook", 0, [1, 5])]
    data = log(*(conversation_record(c) for c in talks))
    split = tmp_path / "split.json"
    split.write_text(json.dumps({"train": ["user0"], "test": ["user1", "lone"]}))
    done = dialogauge("satisfaction", data, "--judge", "history-mean", "--split-file", split, "--json")
    assert done.code == 0, done.err
    assert done.json["metrics"]["n"] == 15
    assert done.json["without_history"]["n"] == 2
    assert done.json["study"]["left_out"] == {"block of a user outside the split": 6}


def test_ratings_from_a_file_and_their_faults(dialogauge, log, tmp_path) -> None:
    talks = rated_users(6)
    bare = log(*({**conversation_record(c), "ratings": []} for c in talks))
    lines = ["conversation_id,turn,dimension,rater,score"]
    lines += [f"{r.conversation_id},{r.turn},satisfaction,u,{r.score}" for c in talks for r in c.ratings]
    file = tmp_path / "ratings.csv"
    file.write_text("\n".join([*lines, "user0__cook__0,1,satisfaction,x,9", "nobody,1,satisfaction,x,3"]))
    done = dialogauge(
        "satisfaction", bare, "--judge", "history-mean", "--ratings", file, "--split", "all", "--json"
    )
    assert done.code == 1
    assert "off the scale 1-5" in done.err
    assert "'nobody'" in done.err
    assert done.json["metrics"]["n"] == 90


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge", "encoder"], "needs a fitted model"),
        (["--judge", "local-user", "--k", "3"], "neither --strategy nor --k"),
        (["--judge", "oracle"], "no judge is called 'oracle'"),
        (["--judge", "history-mean", "--k", "3"], "neither --strategy nor --k"),
        (["--judge", "history-mean", "--mode", "hindsight"], "reads nothing that follows"),
        (["--judge", "episodic-nearest", "--strategy", "best"], "--strategy 'best'"),
        (["--judge", "history-mean", "--calibrate", "magic"], "--calibrate 'magic' is not known"),
        (["--judge", "history-mean", "--split-file", "none.json"], "cannot be used"),
    ],
)
def test_what_cannot_be_done_is_refused(dialogauge, data, tmp_path, words, said) -> None:
    done = dialogauge("satisfaction", data, *words, "-o", "run")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "run").exists()


def test_one_user_only(dialogauge, log) -> None:
    data = log(*(conversation_record(c) for c in rated_users(1)))
    done = dialogauge("satisfaction", data, "--judge", "history-mean")
    assert done.code == 2
    assert "1 users cannot be split" in done.err
    done = dialogauge("satisfaction", data, "--judge", "global-mean", "--split", "all", "--json")
    # nobody else is known: a failure, never a number
    assert done.code == 3
    assert (done.json["metrics"]["n"], done.json["metrics"]["n_failed"]) == (0, 15)


def test_one_user_with_five_thousand_turns(dialogauge, log) -> None:
    talks = [rated_talk("u", s, 0, [3 + i % 3 for i in range(1250)]) for s in "abcd"]
    data = log(*(conversation_record(c) for c in talks))
    done = dialogauge(
        "satisfaction", data, "--judge", "history-cdf-hash", "--split", "all", "--draws", 0, "--json"
    )
    assert done.code == 0, done.err
    assert done.json["metrics"]["n"] == 5000
