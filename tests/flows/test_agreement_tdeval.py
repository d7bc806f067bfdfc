"""`dialogauge agreement` on the ratings of TD-Eval gives the figures of `tests/golden/test_tdeval.py`."""

from __future__ import annotations

import pytest
from benchmarks.tdeval import PACK, SHARED, write

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("tdeval"),
]

HUMAN = PACK / "human_ratings.csv"
POOLED = "all dimensions"


@pytest.fixture
def agreement(dialogauge):
    """Measures, and returns the result as JSON."""

    def run(*words):
        done = dialogauge("agreement", *words, "--json")
        assert done.code == 0, done.err
        return done.json

    return run


@pytest.fixture
def scores(tmp_path):
    """A folder with the judges' scores as files."""
    write(tmp_path / "scores")
    return tmp_path / "scores"


def rounded(estimates, *names):
    """The figures of these names, to four digits."""
    return [round(estimates[name]["value"], 4) for name in names]


@pytest.mark.long
def test_raters_of_the_pilot(agreement):
    result = agreement(HUMAN, "--scale", "1-5", "--where", "phase=irr", "--level", "turn")
    found = {one["dimension"]: one for one in result["people"]}
    assert {name: rounded(one["coefficients"], "ac1", "randolph") for name, one in found.items()} == {
        "cohesion": [0.4497, 0.3985],
        "backend": [0.5051, 0.4487],
        "policy": [0.4606, 0.4081],
        POOLED: [0.4716, 0.4184],
    }
    cohesion = found["cohesion"]
    assert (cohesion["targets"], len(cohesion["raters"])) == (26, 10)
    alphas = rounded(cohesion["coefficients"], "alpha_nominal", "alpha_ordinal", "alpha_interval")
    assert alphas == [0.0458, 0.1299, 0.1690]


@pytest.mark.long
def test_judges_beside_the_rater_of_each_turn(agreement, scores):
    where = ("--where", "phase=main", "--where", "in_batch=1", "--level", "turn")
    files = [scores / f"{name}.csv" for name in ("gpt-4o", "claude", "lmunit")]
    result = agreement(*files, "--ratings", HUMAN, "--scale", "1-5", *where)
    found = {(one["name"], one["dimension"]): one for one in result["judges"]}
    assert {key: rounded(one["figures"], "ac1", "randolph") for key, one in found.items()} == {
        ("gpt-4o", POOLED): [0.5797, 0.5272],
        ("gpt-4o", "cohesion"): [0.5834, 0.5306],
        ("gpt-4o", "backend"): [0.6060, 0.5536],
        ("gpt-4o", "policy"): [0.5497, 0.4974],
        ("claude", POOLED): [0.6508, 0.6024],
        ("claude", "cohesion"): [0.6600, 0.6135],
        ("claude", "backend"): [0.7689, 0.7281],
        ("claude", "policy"): [0.5178, 0.4656],
        ("lmunit", POOLED): [0.2557, 0.2083],
        ("lmunit", "cohesion"): [0.5155, 0.4668],
        ("lmunit", "backend"): [0.3124, 0.2602],
        ("lmunit", "policy"): [-0.0675, -0.1020],
    }
    gpt = found["gpt-4o", POOLED]
    assert (gpt["counts"]["scored"], gpt["dissatisfied"]) == (1470, 69)
    assert rounded(gpt["figures"], "spearman", "exact") == [0.0871, 0.6218]
    shares = [gpt["figures"][name]["value"] for name in ("precision_dsat", "recall_dsat")]
    assert shares == pytest.approx([17 / 190, 17 / 69])
    always = {one["name"]: one["figures"] for one in gpt["constants"]}
    assert rounded(always["always 5"], "ac1", "randolph") == [0.7446, 0.6981]
    verdict = gpt["better_than_the_best_constant"]
    assert (verdict["b"], verdict["agrees_more"]) == ("always 5", "no")


def test_sources_by_name(agreement, scores):
    where = ("--where", "phase=main", "--where", "in_batch=1", "--level", "turn", "--by", "source")
    result = agreement(scores / "gpt-4o.csv", "--ratings", HUMAN, "--scale", "1-5", *where)
    found = {one["group"]: one["judges"][0]["figures"] for one in result["groups"]}
    assert {group: rounded(figures, "ac1") for group, figures in found.items()} == {
        "autotod_mwoz": [0.6499],
        "tau_airline": [0.4625],
        "tau_retail": [0.5316],
    }


def test_the_mean_of_turns_beside_the_ratings_of_dialogues(agreement, scores):
    where = ("--where", "phase=main", "--where", "in_batch=1", "--level", "conversation")
    result = agreement(scores / "mean-of-turns.csv", "--ratings", HUMAN, "--scale", "1-5", *where)
    pooled = next(one for one in result["judges"] if one["dimension"] == POOLED)
    assert pooled["counts"]["scored"] == 270
    assert rounded(pooled["figures"], "ac1", "randolph") == [0.4504, 0.3981]


def test_task_success_beside_the_rater_of_each_dialogue(agreement, scores):
    names = ("traditional", "success", "online-success", "reward", "inform-and-reward")
    files = [scores / f"{name}.csv" for name in names]
    result = agreement(*files, "--ratings", scores / "satisfied.csv", "--scale", "0,1")
    assert {one["name"]: rounded(one["figures"], "ac1", "randolph") for one in result["judges"]} == {
        "traditional": [-0.0259, -0.1556],
        "success": [-0.1333, -0.2593],
        "online-success": [0.3778, 0.2222],
        "reward": [0.1314, 0.0],
        "inform-and-reward": [0.4906, 0.3333],
    }
    assert {one["better_than_the_best_constant"]["agrees_more"] for one in result["judges"]} == {"no"}


def test_two_judges_among_each_other(agreement, scores):
    result = agreement(scores / "gpt-4o.csv", scores / "claude.csv", "--scale", "1-5")
    found = {one["dimension"]: one for one in result["people"]}
    pairs = {name: one["pairs"][0] for name, one in found.items() if name != POOLED}
    assert {
        name: (pair["n"], *rounded(pair["figures"], "ac1", "exact", "spearman"))
        for name, pair in pairs.items()
    } == {
        "cohesion": (475, 0.7277, 0.7558, 0.6169),
        "backend": (475, 0.8459, 0.8547, 0.6072),
        "policy": (475, 0.5616, 0.6189, 0.4331),
    }
