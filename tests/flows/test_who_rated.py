"""Who rated: what a judge or a scorer said never becomes people's, through any output of ours."""

from __future__ import annotations

import json
import random

import pytest

from dialogauge import read
from dialogauge.core import InputError
from dialogauge.data import read_ratings
from sets import some_short

PEOPLE = {("satisfaction", "u0"), ("satisfaction", "u1"), ("satisfaction", "u2"), ("clarity", "anna")}
REWARD = ("reward", "environment")


def rated_log(path, conversations=24):
    """Write dialogues of three users with their ratings, a rater's, and a reward."""
    rng, lines = random.Random(3), []
    for number in range(conversations):
        user = f"u{number % 3}"
        messages, ratings = [], []
        for turn in (1, 2, 3):
            messages.append({"role": "user", "content": f"And what of item {number}, part {turn}?"})
            messages.append({"role": "assistant", "content": f"Part {turn} of item {number} ships today."})
            score = rng.choice((5, 4, 2))
            ratings.append({"dimension": "satisfaction", "turn": turn, "score": score, "rater": user})
        ratings.append({"dimension": "clarity", "score": 3 + number % 2, "rater": "anna"})
        ratings.append({"dimension": "reward", "score": number % 2, "rater": "environment"})
        talk = {"conversation_id": f"c{number}", "user_id": user, "messages": messages}
        lines.append(json.dumps(talk | {"ratings": ratings}))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def written(dialogauge, tmp_path):
    """The folder with a log, the same without ratings, and a run with all its outputs."""
    rated_log(tmp_path / "log.jsonl")
    talks = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    plain = [json.dumps({k: v for k, v in talk.items() if k != "ratings"}) for talk in talks]
    (tmp_path / "plain.jsonl").write_text("\n".join(plain) + "\n")
    assert dialogauge("judge", "log.jsonl", "-o", "run").code == 0
    for ending in ("jsonl", "csv", "eval"):
        assert dialogauge("export", "run", "-o", f"out.{ending}").code == 0
    made = dialogauge("annotate", "make", "run", "--raters", "2", "--each", "4", "-o", "plan")
    assert made.code == 0, made.err
    assert dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl").code in (0, 1)
    return tmp_path


def raters_in(conversations):
    return {(r.dimension, r.rater) for c in conversations for r in c.ratings}


@pytest.mark.parametrize("name", some_short(["out.jsonl", "out.csv", "out.eval", "run", "kto.jsonl", "plan"]))
def test_an_output_that_is_read_as_a_log_holds_peoples_ratings_and_no_others(written, name):
    if not (written / name).exists():
        pytest.skip("nothing was written")
    try:
        conversations = list(read(written / name))
    except InputError:
        return  # it holds no conversations
    assert raters_in(conversations) <= PEOPLE | {REWARD}
    if name == "out.eval":
        assert raters_in(conversations) == PEOPLE | {REWARD}


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "run/judgements.jsonl"])
def test_judgements_are_refused_as_ratings_of_people(written, dialogauge, name):
    with pytest.raises(InputError, match="scored by a judge, and by no person"):
        read_ratings(written / name)
    done = dialogauge("judge", "plain.jsonl", "--ratings", name, "-o", "again")
    assert done.code == 1
    assert "scored by a judge, and by no person" in done.err


def test_a_log_of_inspect_says_of_people_what_the_run_says(written, dialogauge):
    assert dialogauge("judge", "out.eval", "-o", "again").code == 0
    first, again = (
        json.loads((written / name / "summary.json").read_text())["people"] for name in ("run", "again")
    )
    assert [(f["dimension"], f["raters"], f["n"]) for f in again["figures"]] == [
        (f["dimension"], f["raters"], f["n"]) for f in first["figures"]
    ]
    assert again["light"]["judge"] == first["light"]["judge"]


def test_scores_of_a_scorer_alone_are_not_peoples(written, dialogauge):
    sample = {"id": "s", "epoch": 1, "input": "Hi.", "messages": [], "scores": {}}
    samples = [
        {
            **sample,
            "id": f"s{number}",
            "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}],
            "scores": {"model_graded_qa": {"value": "CI"[number % 2]}, "helpfulness": {"value": 4}},
        }
        for number in range(30)
    ]
    log = {"version": 2, "eval": {"task": "qa", "model": "m"}, "samples": samples}
    (written / "log.json").write_text(json.dumps(log))
    done = dialogauge("judge", "log.json", "-o", "scored")
    assert done.code == 0, done.err
    assert json.loads((written / "scored" / "summary.json").read_text()).get("people") is None
    assert "scores of scorers are no ratings of people" in done.out + done.err
