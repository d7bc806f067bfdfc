"""The satisfaction study through the command line."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path

import pytest

from dialogauge.runs.records import own_scores
from dialogauge.stats import CALIBRATIONS
from flows.conftest import rows_of
from rated import rated_talk, rated_users
from talks import conversation_record
from tiny_encoder import build_tiny_encoder


@pytest.fixture
def data(log):
    return log(*(conversation_record(c) for c in rated_users(12)), name="data.jsonl")


def numbers(value, name=""):
    """Return the numbers of a part of a summary by their path; what is undefined as a text."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {path: one for key, inner in pairs for path, one in numbers(inner, f"{name}.{key}").items()}
    return {name: value if isinstance(value, int | float) else str(value)}


def summary_of(run):
    return json.loads((run / "summary.json").read_text())


@pytest.mark.long
def test_without_a_judge_it_is_the_one_that_needs_no_model(dialogauge, data):
    done = dialogauge("satisfaction", data, "-o", "run")
    assert done.code == 0, done.err
    assert json.loads(Path("run/manifest.json").read_text())["judge"]["name"].startswith("local-user")


def test_a_study_from_data_to_report(dialogauge, data, tmp_path) -> None:
    done = dialogauge("satisfaction", data, "--judge", "history-mean", "-o", "run")
    assert done.code == 0, done.err
    assert ", by history-mean: " in done.out
    assert "Ceiling: the users' own scores after the same calibration." in done.unwrapped
    assert "\nraw (chosen) as the judge says\n" in done.out
    for name in CALIBRATIONS:
        assert f"\n{name} " in done.out or name == "none"
    assert "\nreference-cdf the same figures as cdf\n" in done.out
    assert "-0.0000" not in done.out
    rows = rows_of(tmp_path / "run")
    assert {row["level"] for row in rows} == {"turn"}
    assert rows[0]["details"]["turn_id"].endswith("__turn_0")
    found = summary_of(tmp_path / "run")
    assert found["metrics"]["n"] == len(rows) == found["scored"] == 150
    assert found["study"]["users"] == 10
    assert found["study"]["population"]["users"] == 2
    assert set(found["controls"]) >= {"constant", "reply length", "position", "shuffled", "user mean"}
    assert set(found["controls"]["constant"]) == set(found["metrics"])
    assert set(found["calibrations"]) == set(CALIBRATIONS)
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000


@pytest.mark.long
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
    changed = [r for r in rows if r["raw"]["satisfaction"] != r["scores"]["satisfaction"]]
    assert changed
    assert all(abs(own_scores(r)["satisfaction"] - r["scores"]["satisfaction"]) <= 0.5 for r in changed)


@pytest.mark.long
def test_the_run_is_a_run_like_any_other(dialogauge, data, tmp_path) -> None:
    assert dialogauge("satisfaction", data, "--judge", "nearest-3", "-o", "one").code == 0
    assert dialogauge("satisfaction", data, "--judge", "local", "-o", "two").code == 0
    assert dialogauge("report", "one").code == 0
    assert dialogauge("export", "one", "-o", "rows.csv").code == 0
    done = dialogauge("agreement", "one", "two", "--json")
    assert done.code == 0, done.err
    assert [j["judge"] for j in done.json["judges"]] == ["nearest-3", "local"]
    words = ("--judge", "history-median", "--split", "all", "-o", "three")
    again = dialogauge("satisfaction", "one", *words)
    assert again.code == 0, again.err
    assert rows_of(tmp_path / "three")
    # the run lacks the training users: a new split of the others would be another study
    lost = dialogauge("satisfaction", "one", "--judge", "nearest-1", "-o", "four")
    assert lost.code == 2
    assert "one is a satisfaction run of one part of the users" in lost.err
    assert not (tmp_path / "four").exists()
    # one of all users holds what the data holds, and is split the same way
    assert dialogauge("satisfaction", data, *words[:-1], "five").code == 0
    whole = dialogauge("satisfaction", "five", "--judge", "nearest-3", "-o", "six")
    assert whole.code == 0, whole.err
    assert summary_of(tmp_path / "six")["metrics"] == summary_of(tmp_path / "one")["metrics"]


@pytest.mark.long
def test_the_judge_that_is_fitted_to_the_user(dialogauge, data, tmp_path) -> None:
    words = (
        "--judge",
        "local-user",
        "--mode",
        "hindsight",
        "--split",
        "all",
        "--json",
        "-o",
        "run",
    )
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert (done.json["metrics"]["n"], done.json["metrics"]["n_failed"]) == (180, 0)
    told = json.loads((tmp_path / "run" / "manifest.json").read_text())["judge"]
    assert told["settings"] == {"mode": "hindsight", "version": 3}
    assert told["fitted_on"]["users"] == 2
    assert all(1 <= row["scores"]["satisfaction"] <= 5 for row in rows_of(tmp_path / "run"))


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


@pytest.mark.long
def test_users_of_the_split_that_are_not_there_are_named(dialogauge, data, tmp_path) -> None:
    split = tmp_path / "split.json"
    split.write_text(json.dumps({"train": ["user0", "q"], "test": ["user1", "zz"]}))
    words = ("--judge", "history-mean", "--split-file", split)
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert "warning: not in the data: 2 users of the split: q, zz" in done.out
    hidden = dialogauge("satisfaction", data, *words, "--hash-ids", "-o", "hidden")
    assert "warning: not in the data: 2 users of the split" in hidden.out
    assert "zz" not in hidden.out


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
    # line 92 and 93 of the ratings, not the line of the conversation in the log
    assert f"{file}:92, conversation 'user0__cook__0', turn 1: the rating 9 is off the scale 1-5" in done.err
    assert f"{file}:93, conversation 'nobody'" in done.err
    assert "is not in the data" in done.err
    assert done.json["metrics"]["n"] == 90


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge", "local-user", "--k", "3"], "the judge local-user takes no --k"),
        (["--judge", "local", "--encoder", "x"], "takes no --encoder"),
        (["--judge", "oracle"], "no judge is called 'oracle'"),
        (["--judge", "history-mean", "--k", "3"], "takes no --k"),
        (["--judge", "history-mean", "--mode", "hindsight"], "reads nothing that follows"),
        (["--judge", "episodic-nearest", "--strategy", "best"], "--strategy 'best'"),
        (
            ["--judge", "history-mean", "--calibrate", "magic"],
            "--calibrate 'magic' is not one of none, mean-shift",
        ),
        (["--judge", "history-mean", "--split-file", "none.json"], "there is no such file"),
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
    done = dialogauge("satisfaction", data, "--judge", "global-mean", "--split", "all", "-o", "said")
    assert "of 1 user in 3 blocks, by global-mean: 0 scored, 15 failed" in done.out
    assert "no turn of a user with a history has a score" in done.out
    assert "QWK" not in done.out
    done = dialogauge("satisfaction", data, "--judge", "global-mean", "--split", "all", "--json")
    # nobody else is known: a failure, never a number
    assert done.code == 3
    assert (done.json["metrics"]["n"], done.json["metrics"]["n_failed"]) == (0, 15)
    assert done.json["study"]["population"] == {"users": 0, "turns": 0}
    done = dialogauge("satisfaction", data, "--judge", "global-mean", "--split", "all")
    assert "\nother users  0 turns of 0 training users\n" in done.out
    assert "\nfailed       15, " in done.out


@pytest.mark.long
def test_one_user_with_five_thousand_turns(dialogauge, log) -> None:
    talks = [rated_talk("u", s, 0, [3 + i % 3 for i in range(1250)]) for s in "abcd"]
    data = log(*(conversation_record(c) for c in talks))
    done = dialogauge("satisfaction", data, "--judge", "history-cdf-hash", "--split", "all", "--json")
    assert done.code == 0, done.err
    assert done.json["metrics"]["n"] == 5000


@pytest.fixture
def two_runs(dialogauge, data, once):
    def make():
        for judge in ("nearest-3", "history-mean"):
            assert dialogauge("satisfaction", data, "--judge", judge, "-o", judge).code == 0

    once("satisfaction-two-runs", make)
    return "nearest-3", "history-mean"


@pytest.mark.long
def test_several_judges_on_one_table(dialogauge, two_runs, tmp_path) -> None:
    done = dialogauge("agreement", *two_runs, "-o", "out")
    assert done.code == 0, done.err
    assert "The judges of satisfaction 150 turns of 10 users that all of them scored" in done.unwrapped
    assert "\nreference-cdf the same figures as cdf\n" in done.out
    assert "history-mean are not distinguishable" in done.unwrapped
    found = json.loads((tmp_path / "out" / "agreement.json").read_text())["satisfaction"]
    assert [r["judge"] for r in found["runs"]] == list(two_runs)
    assert found["n"] == 150
    assert {c["measure"] for c in found["comparisons"]} == {
        "pearson",
        "qwk",
        "f1_dsat",
        "mae",
        "within_user_pearson",
        "within_block_pearson",
    }
    page = (tmp_path / "out" / "agreement.html").read_text()
    assert "Which judge is nearer to the users" in page
    assert "shuffled: nearest-3" in page
    twice = dialogauge("agreement", "nearest-3", "nearest-3")
    assert (twice.code, "the run nearest-3 is given twice" in twice.err) == (2, True)
    alone = dialogauge("agreement", "nearest-3", "--json")
    assert alone.json["satisfaction"]["comparisons"] == []


@pytest.mark.long
def test_predictions_that_do_not_match_the_ratings_are_refused(dialogauge, two_runs, tmp_path) -> None:
    file = tmp_path / "other.csv"
    file.write_text("conversation_id,turn,dimension,rater,score\nelse__cook__0,1,satisfaction,x,4\n")
    done = dialogauge("agreement", "nearest-3", "--ratings", file)
    assert done.code == 2
    assert "150 judged turns without a rating: user" in done.err
    assert "__turn_0" in done.err
    assert "and 140 more" in done.err


@pytest.mark.long
def test_a_run_of_another_kind_is_compared_as_before(dialogauge, data, two_runs) -> None:
    assert dialogauge("judge", data, "--rubric", "satisfaction", "-o", "plain").code == 0
    done = dialogauge("agreement", "plain", "nearest-3", "--json")
    assert done.code == 0, done.err
    assert "satisfaction" not in done.json


@pytest.mark.long
def test_what_people_named_is_held_against_predicted_satisfaction(dialogauge, log, tmp_path) -> None:
    """Names were not predicted: there is an order to compare, and nothing under calibration."""
    talks = rated_users(12)
    data = log(*(conversation_record(c) for c in talks), name="data.jsonl")
    assert dialogauge("satisfaction", data, "--judge", "nearest-3", "-o", "run").code == 0
    made_up = [
        {"conversation_id": r.conversation_id, "turn": r.turn, "dimension": "made_up", "score": said}
        for c in talks
        for r in c.ratings
        for said in ["yes" if r.score < 4 else "no"]
    ]
    file = log(*made_up, name="made_up.jsonl")
    words = ("--ratings", file, "--dimension", "satisfaction=made_up", "--dissatisfied", "yes")
    done = dialogauge("agreement", "run", *words, "--json")
    assert done.code == 0, done.err
    assert "satisfaction" not in done.json
    assert done.json["judges"][0]["figures"]["auc"]["n"] == 150


@pytest.mark.long
def test_reference_calibrations_stand_on_another_run(dialogauge, data, tmp_path) -> None:
    base = ("satisfaction", data, "--judge", "nearest-3")
    assert dialogauge(*base, "-o", "first").code == 0
    done = dialogauge(*base, "--calibrate", "reference-cdf", "--reference", "first", "-o", "second")
    assert done.code == 0, done.err
    first, second = (summary_of(tmp_path / name) for name in ("first", "second"))
    for name in ("reference-cdf", "reference-mean-shift", "reference-transfer"):
        mine, theirs = first["calibrations"][name], second["calibrations"][name]
        for part in (mine, theirs):
            part["user mean"] = part["controls"]["user mean"]
        for key in ("metrics", "ceiling", "user mean"):
            # Sums over a sample of another size may end in other digits.
            a, b = numbers(mine[key]), numbers(theirs[key])
            assert a.keys() == b.keys()
            other = {k: (v, b[k]) for k, v in a.items() if v != b[k]}
            assert all(isinstance(x, float) and isclose(x, y, rel_tol=1e-9) for x, y in other.values()), other
    other = (*base[:3], "history-mean", *base[4:])
    done = dialogauge(*other, "--calibrate", "reference-mean-shift", "--reference", "first", "-o", "third")
    assert done.code == 0, done.err
    third = summary_of(tmp_path / "third")["calibrations"]
    assert third["reference-mean-shift"]["metrics"] != third["mean-shift"]["metrics"]


@pytest.mark.long
def test_a_reference_that_is_of_no_use_is_refused(dialogauge, data, log, tmp_path) -> None:
    base = ("satisfaction", data, "--judge", "nearest-3", "-o", "run", "--reference")
    assert "no finished run" in dialogauge(*base, "gone").err or dialogauge(*base, "gone").code == 1
    assert dialogauge("judge", data, "-o", "plain").code == 0
    done = dialogauge(*base, "plain")
    assert (done.code, "is no satisfaction run" in done.err) == (2, True)
    strangers = [rated_talk(f"other{i}", s, 0, [3, 4]) for i in range(6) for s in ("cook", "gift")]
    file = log(*(conversation_record(c) for c in strangers), name="strangers.jsonl")
    words = ("--judge", "nearest-3", "--split", "all", "-o", "far")
    assert dialogauge("satisfaction", file, *words).code == 0
    done = dialogauge(*base, "far")
    assert done.code == 2
    assert "holds no scored turn of the blocks that are judged (judged are user" in done.err
    assert "the reference holds other0__cook" in done.err
    done = dialogauge(*base, "far", "--hash-ids")
    assert (done.code, "cannot be combined" in done.err) == (2, True)
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_a_judge_without_reasons_has_no_rationale_check(dialogauge, data) -> None:
    done = dialogauge("satisfaction", data, "--judge", "history-mean", "--json", "-o", "r")
    assert done.json["rationale"] is None


@pytest.mark.long
@pytest.mark.torch
@pytest.mark.xdist_group("torch")
def test_an_encoder_is_fine_tuned_and_told_of(dialogauge, data, tmp_path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    texts = [m.text for c in rated_users(12) for m in c.messages]
    folder = build_tiny_encoder(tmp_path / "encoder", texts)
    words = ("--judge", "encoder-ordinal", "--encoder", folder, "-o", "run")
    done = dialogauge("satisfaction", data, *words)
    assert done.code == 0, done.err
    assert ", by encoder-ordinal: 150 scored, 0 failed" in done.out
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    (fit,) = manifest["judge"]["fits"]
    assert fit["users"] + fit["validation_users"] == 2
    assert manifest["judge"]["settings"]["learning_rate"] == 2e-5


@pytest.mark.long
def test_agreement_and_study_state_the_same_figures(dialogauge, log, tmp_path) -> None:
    """Of the whole scores: the expected rating of the judge `local-user` stands beside them."""
    data = log(*(conversation_record(c) for c in rated_users(9)))
    words = ("--judge", "local-user", "--split", "all", "-o", "run")
    assert dialogauge("satisfaction", data, *words).code == 0
    study = json.loads((tmp_path / "run" / "summary.json").read_text())["metrics"]
    assert any(r["whole"] for r in rows_of(tmp_path / "run"))
    done = dialogauge("agreement", "run", "--dissatisfied", "3", "--json")
    assert done.code == 0, done.err
    (judge,) = done.json["judges"]
    for name in ("pearson", "spearman", "qwk", "mae", "f1_dsat", "auc"):
        assert judge["figures"][name]["value"] == pytest.approx(study[name]), name
        assert done.json["satisfaction"]["metrics"]["run"][name] == pytest.approx(study[name])


@pytest.mark.long
def test_a_turn_that_one_run_lacks_is_named(dialogauge, log) -> None:
    talks = [conversation_record(c) for c in rated_users(6)]
    words = ("--judge", "history-mean", "--split", "all", "-o")
    assert dialogauge("satisfaction", log(*talks, name="all.jsonl"), *words, "whole").code == 0
    odd = rated_users(6)[0].id
    talks[0] = {**talks[0], "ratings": talks[0]["ratings"][1:]}
    assert dialogauge("satisfaction", log(*talks, name="less.jsonl"), *words, "less").code == 0
    done = dialogauge("agreement", "whole", "less")
    assert done.code == 0, done.err
    assert f"Scored by whole and not by all: {odd}__turn_0" in done.out
