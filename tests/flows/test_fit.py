"""`dialogauge fit DATA -o RUN`: from a rated file to figures with controls."""

import json
import os
import random
import signal
from pathlib import Path

import pytest

from rated import rated_users
from talks import conversation_record


def uss_file(path, sessions=60, seed=4):
    rng = random.Random(seed)
    blocks = []
    for number in range(sessions):
        bad = rng.random() < 0.35
        reply = "Sorry, there is nothing." if bad else f"It is at {number} Mill Road."
        score = "2,2,3" if bad else "3,3,4"
        lines = ("USER\tWhere can I eat?\t\t3,3,3", f"SYSTEM\t{reply}\t\t", f"USER\tThanks.\t\t{score}")
        blocks.append("\n".join((*lines, f"USER\tOVERALL\t\t{score}\n")))
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


def test_a_run_has_figures_controls_and_a_model(dialogauge, tmp_path):
    data = uss_file(tmp_path / "set.txt")
    result = dialogauge("fit", str(data), "--cv", "5", "-o", str(tmp_path / "run"))
    assert result.code == 0, result.err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["examples"], summary["nothing_said"], summary["whole_conversations"]) == (180, 60, 60)
    assert summary["metrics"]["uar"] > summary["controls"]["constant"]["uar"]
    assert summary["metrics"]["f1_below3"] > 0.9
    assert summary["controls"]["constant"]["kappa"] == 0
    assert summary["controls"]["constant"]["auc_below3"] == 0.5
    low, high = summary["metrics"]["intervals"]["auc_below3"]
    assert 0.5 < low <= summary["metrics"]["auc_below3"] <= high
    figures = [summary["metrics"], *summary["controls"].values()]
    assert all(set(f["intervals"]) == set(summary["figures"]) for f in figures)
    assert summary["parts"]["conversations"]["split_conversations"] == 0
    assert summary["parts"]["lines"]["without_whole"]["metrics"]["n"] == 120
    rows = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    assert len(rows) == 180
    assert json.loads(rows[0])["lines"]["called"] == 3
    assert "Mill" not in (tmp_path / "run" / "model.json").read_text()
    assert "without ratings of the whole, n = 120" in result.out


def test_too_little_is_refused(dialogauge, tmp_path):
    data = uss_file(tmp_path / "set.txt", sessions=4)
    result = dialogauge("fit", str(data), "-o", str(tmp_path / "run"))
    assert result.code == 2
    assert "too little to fit: 12 places rated for 'satisfaction' in 4 conversations of 4 users" in result.err
    assert "a conversation without a user counts as one" in result.err
    assert not (tmp_path / "run").exists()


def test_a_rating_off_the_scale_is_named_and_the_rest_is_fitted(dialogauge, tmp_path):
    data = uss_file(tmp_path / "set.txt")
    data.write_text(data.read_text().replace("3,3,3", "3,3,7", 1))
    result = dialogauge("fit", str(data), "--cv", "3", "-o", str(tmp_path / "run"))
    assert result.code == 1
    assert "the rating 7 is not on 1 to 5" in result.err


def test_coefficients_are_fitted_to_the_ratings_that_are_some_and_the_others_named(dialogauge, log):
    talks = [conversation_record(c) for c in rated_users(10)]
    clean = dialogauge("fit", log(*talks, name="clean.jsonl"), "-o", "clean.json")
    assert clean.code == 0, clean.err
    given = talks[0]["ratings"][0]
    more = [{**given, "score": 7}, {**given, "score": "very good"}, {**given, "turn": 99}]
    talks[0] = {**talks[0], "ratings": [*talks[0]["ratings"], *more]}
    spoilt = dialogauge("fit", log(*talks, name="spoilt.jsonl"), "-o", "spoilt.json")
    assert spoilt.code == 1
    for told in (
        "rating 7 is not on 1 to 5",
        "rating 'very good' is not on",
        "a rating of turn 99, which is",
    ):
        assert told in spoilt.err
    assert Path("spoilt.json").read_text() == Path("clean.json").read_text()


def test_a_fitted_run_is_no_run_of_judgements(dialogauge, tmp_path):
    data = uss_file(tmp_path / "set.txt")
    done = dialogauge("fit", str(data), "--cv", "3", "-o", str(tmp_path / "run"))
    assert done.code == 0, done.err
    for command in ("report", "agreement"):
        refused = dialogauge(command, str(tmp_path / "run"))
        assert refused.code in (1, 2)
        assert "is a run of `dialogauge fit` (give a run of `dialogauge judge`" in refused.err
    assert "is a run of `dialogauge fit`" in dialogauge("judge", str(tmp_path / "run")).err


@pytest.fixture
def fits(monkeypatch):
    """Count the cross-validations; the first is interrupted by Ctrl-C as often as `fits.ctrl_c` says."""
    from dialogauge.studies.fit import study

    real = study.cross_validate

    class Counted:
        done, ctrl_c = 0, 0

        async def __call__(self, table, fold):
            for _ in range(self.ctrl_c):
                os.kill(os.getpid(), signal.SIGINT)
            self.ctrl_c = 0
            found = await real(table, fold)
            self.done += 1
            return found

    counted = Counted()
    monkeypatch.setattr(study, "cross_validate", counted)
    return counted


def same(summary):
    return {k: v for k, v in json.loads(summary.read_text()).items() if k != "seconds"}


@pytest.mark.long
def test_a_fit_goes_on_after_an_interrupt(dialogauge, tmp_path, fits):
    data, run = uss_file(tmp_path / "set.txt"), tmp_path / "run"
    words = ("fit", str(data), "--cv", "3", "-o")
    assert dialogauge(*words, str(tmp_path / "whole")).code == 0
    fits.done, fits.ctrl_c = 0, 1
    broken = dialogauge(*words, str(run))
    assert (broken.code, fits.done) == (130, 1), broken.err
    assert "not done yet: 1 cross-validation; " in broken.err
    assert "the same command continues" in broken.err
    assert sorted(p.name for p in run.iterdir() if p.suffix == ".json") == ["manifest.json", "summary.json"]
    manifest = json.loads((run / "manifest.json").read_text())
    told = (manifest["study"], manifest["schema"], manifest["ended"], manifest["pending_units"])
    assert told == ("fit", 2, "interrupted", 1)
    assert json.loads((run / "summary.json").read_text())["metrics"] is not None  # of the way that is done
    refused = dialogauge("judge", str(data), "--fitted-model", str(run), "-o", str(tmp_path / "judged"))
    assert refused.code == 2
    assert "is not finished, and has no model yet" in refused.err
    assert dialogauge(*words, str(run)).code == 0
    assert fits.done == 2
    assert same(run / "summary.json") == same(tmp_path / "whole" / "summary.json")
    for name in ("model.json", "predictions.jsonl"):
        assert (run / name).read_text() == (tmp_path / "whole" / name).read_text()
    assert '<h1 dir="auto">Fitted to ratings: satisfaction</h1>' in (run / "report.html").read_text()
    # nothing is left to do, and other parts are another fit
    assert dialogauge(*words, str(run)).code == 0
    assert fits.done == 2
    assert dialogauge("fit", str(data), "--cv", "4", "-o", str(run)).code == 0
    assert fits.done == 4


def test_a_second_ctrl_c_ends_a_fit_between_two_ridge_regressions(dialogauge, tmp_path, fits):
    data, run = uss_file(tmp_path / "set.txt"), tmp_path / "run"
    fits.ctrl_c = 2
    stopped = dialogauge("fit", str(data), "--cv", "3", "-o", str(run))
    assert (stopped.code, fits.done) == (130, 0), stopped.err
    assert json.loads((run / "summary.json").read_text())["metrics"] is None


def test_a_directory_of_another_run_is_not_written_over(dialogauge, log, talk, tmp_path):
    assert dialogauge("judge", log(talk("a")), "-o", "run").code == 0
    refused = dialogauge("fit", str(uss_file(tmp_path / "set.txt")), "-o", "run")
    assert refused.code == 1
    assert "run holds a run of `dialogauge judge`, not of `dialogauge fit`" in refused.err
    unknown = dialogauge("fit", str(uss_file(tmp_path / "set.txt")), "-o", "run", "--replace")
    assert (unknown.code, "--replace" in unknown.err) == (2, True)


def test_a_success_judge_is_fitted_to_rewards(dialogauge, tmp_path):
    """Two in five runs fail, and their last reply says so; every third success says the same."""
    rng, records = random.Random(3), []
    for n in range(120):
        failed = rng.random() < 0.4
        reply = "I am sorry, that failed." if failed or n % 6 == 0 else f"Order {n} is cancelled."
        messages = [{"role": "user", "content": f"cancel {n}"}, {"role": "assistant", "content": reply}]
        records.append({"id": f"t{n}", "messages": messages, "reward": 0.0 if failed else 1.0})
    log = tmp_path / "runs.jsonl"
    log.write_text("".join(json.dumps(r) + "\n" for r in records))
    done = dialogauge("fit", log, "--dimension", "reward", "-o", tmp_path / "model")
    assert done.code == 0, done.err
    assert "bad stands as the rating 1, good as 5" in done.unwrapped
    summary = json.loads((tmp_path / "model" / "summary.json").read_text())
    assert (summary["two_sided"], summary["examples"]) == (True, 120)
    low, high = summary["metrics"]["intervals"]["auc_below3"]
    assert 0.8 < low <= summary["metrics"]["auc_below3"] <= high
    assert summary["metrics"]["auc_above3"] == summary["metrics"]["auc_below3"]
    assert summary["controls"]["constant"]["auc_below3"] == 0.5
    new = tmp_path / "new.jsonl"
    talk = [
        {"role": "user", "content": "cancel 7"},
        {"role": "assistant", "content": "I am sorry, that failed."},
    ]
    new.write_text(json.dumps({"id": "n", "messages": talk}) + "\n")
    words = ("judge", new, "--judge", "fitted", "--fitted-model", tmp_path / "model", "-o", tmp_path / "run")
    assert dialogauge(*words).code == 0
    (row,) = map(json.loads, (tmp_path / "run" / "judgements.jsonl").read_text().splitlines())
    assert row["level"] == "conversation"
    assert row["whole"] == {"reward": 0}
    assert row["scores"]["reward"] < 0.5


def test_rewards_that_are_all_alike_are_refused(dialogauge, tmp_path):
    log = tmp_path / "runs.jsonl"
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    log.write_text(
        "".join(json.dumps({"id": f"t{n}", "messages": messages, "reward": 1}) + "\n" for n in range(60))
    )
    done = dialogauge("fit", log, "--dimension", "reward", "-o", tmp_path / "model")
    assert done.code == 2
    assert "alike" in done.err or "no boundary" in done.err
