"""`dialogauge judge LOG --judge fitted`: what was learnt of a rated log, said of one that nobody rated."""

import csv
import json

import pytest

from dialogauge.runs.records import own_scores
from flows.conftest import rows_of
from flows.test_fit import uss_file

BAD, FINE = "Sorry, there is nothing.", "It is at 77 Mill Road."
REPLIES = {"a": FINE, "b": BAD, "c": FINE, "d": BAD, "e": FINE, "f": BAD}


@pytest.fixture
def model(dialogauge, tmp_path, once):
    def make():
        done = dialogauge("fit", uss_file(tmp_path / "set.txt"), "--cv", 5, "-o", "fits")
        assert done.code == 0, done.err

    once("fitted-model", make)
    return tmp_path / "fits"


@pytest.fixture
def new_log(tmp_path):
    path = tmp_path / "new.jsonl"
    with path.open("w") as out:
        for name, reply in REPLIES.items():
            texts = (("user", "Where can I eat?"), ("assistant", reply), ("user", "Thanks."))
            messages = [{"role": role, "content": text} for role, text in texts]
            out.write(json.dumps({"id": name, "messages": messages}) + "\n")
    return path


def test_scores_follow_the_planted_rule_and_say_what_they_stand_on(dialogauge, model, new_log, tmp_path):
    done = dialogauge("judge", new_log, "--judge", "fitted", "--fitted-model", model, "-o", "run")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run")
    turns = {r["conversation_id"]: r for r in rows if r["level"] == "turn"}
    wholes = {r["conversation_id"]: own_scores(r) for r in rows if r["level"] == "conversation"}
    for name, reply in REPLIES.items():
        expected = 2 if reply == BAD else 3
        assert own_scores(turns[name]) == {"satisfaction": expected}
        assert wholes[name] == {"satisfaction_whole": expected}
        details = turns[name]["details"]
        assert sum(details["chances"].values()) == pytest.approx(1, abs=1e-3)
        assert turns[name]["judge"] == "fitted"
    assert turns["b"]["scores"]["satisfaction"] < turns["a"]["scores"]["satisfaction"]
    page = (tmp_path / "run" / "report.html").read_text()
    for told in (" ".join(done.out.split()), page):
        assert "Fitted to 180 rated places (satisfaction, 540 votes, en) of 60 conversations" in told
        assert "5 parts of whole users or conversations: model: kappa" in told
        assert "constant: kappa 0.000" in told
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["judge"]["fitted_on"]["figures"]["model"]["kappa"] > 0.5
    assert (manifest["judge"]["mode"], manifest["settings"]["mode"]) == ("foresight", "foresight")


def test_resumes_and_the_model_file_alone_names_the_judge(dialogauge, model, new_log):
    file = model / "model.json"
    assert dialogauge("judge", new_log, "--fitted-model", file, "--limit", 2, "-o", "run").code == 0
    done = dialogauge("judge", new_log, "--judge", "fitted", "--fitted-model", model, "-o", "run")
    assert "2 already done by an earlier run" in done.out
    assert "6 requested, 6 judged" in done.out


@pytest.mark.long
def test_is_held_against_people_as_other_judges_are(dialogauge, model, new_log, tmp_path):
    dialogauge("judge", new_log, "--fitted-model", model, "-o", "run")
    ratings = tmp_path / "people.csv"
    with ratings.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(("conversation_id", "turn", "dimension", "rater", "score"))
        table.writerows((n, 1, "satisfaction", "r1", 2 if r == BAD else 3) for n, r in REPLIES.items())
    done = dialogauge("agreement", "run", "--ratings", ratings, "--dissatisfied", "<3", "-o", "agreement")
    assert done.code == 0, done.err
    (judge,) = json.loads((tmp_path / "agreement" / "agreement.json").read_text())["judges"]
    assert (judge["dimension"], judge["counts"]["scored"]) == ("satisfaction", 6)
    assert judge["figures"]["qwk"]["value"] == 1
    assert judge["figures"]["auc"]["value"] == 1
    # b, d and f say word for word what dialogues of the fitted set say, under other ids
    assert judge["fitted_to"] == 3
    for told in (done.out, (tmp_path / "agreement" / "agreement.html").read_text()):
        assert "The judge was fitted to 3 rated conversations of this run" in told
    assert dialogauge("report", "run").code == 0
    assert dialogauge("trust", "run").code == 0
    held = dialogauge("trust", "run", "--ratings", ratings).unwrapped
    assert "satisfaction cannot tell – 3 3" in held
    assert "Left out: 3 rated dialogues that the judge was fitted to." in held
    ratings.write_text("conversation_id,turn,dimension,score\nb,1,satisfaction,2\nd,1,satisfaction,3\n")
    held = dialogauge("trust", "run", "--ratings", ratings).unwrapped
    assert "The judge was fitted to all 2 rated dialogues of this run: that says nothing of others." in held


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--judge", "fitted"), "the judge fitted needs a model of ratings"),
        (("--judge", "local", "--fitted-model", "fits"), "--judge local takes no --fitted-model"),
        (("--fitted-model", "fits", "--rubric", "card"), "takes no --rubric card"),
        (("--fitted-model", "fits", "--mode", "hindsight"), "takes no --mode hindsight"),
        (("--fitted-model", "fits", "--lang", "zh"), "takes no --lang zh"),
        (("--judge", "fitted", "--fitted-model", "fits", "--model", "m"), "--judge fitted takes no model"),
        (("--fitted-model", "nowhere"), "nowhere: the model of ratings cannot be read"),
    ],
)
def test_what_does_not_go_together_is_refused(dialogauge, new_log, tmp_path, words, message):
    done = dialogauge("judge", new_log, *words, "-o", "run")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "dialogauge-ratings/1"}', "instead of 'dialogauge-ratings/2'"),
        ('{"format": "dialogauge-local/2"}', "give them with --local-model"),
        ("not json", "no fitted model of ratings"),
    ],
)
def test_another_file_is_named_with_what_to_do(dialogauge, new_log, tmp_path, text, message):
    (tmp_path / "model.json").write_text(text)
    done = dialogauge("judge", new_log, "--fitted-model", "model.json", "-o", "run")
    assert done.code in (1, 2)
    assert "model.json" in done.err
    assert message in done.err
    assert not (tmp_path / "run").exists()
