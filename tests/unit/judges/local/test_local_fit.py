import json
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from dialogauge.core import Conversation, FileFault, Message, Rating, UsageError
from dialogauge.judges.local.fit import _auc, _solve, _thresholds, fit_local, group_folds
from dialogauge.judges.local.model import LocalCoefficients, load_coefficients


def rated(number, rng):
    """A conversation whose second user message tells how the first reply was liked."""
    unhappy = rng.random() < 0.4
    after = "That's not what I asked." if unhappy else "Great, thank you!"
    texts = ("How do I clean a kettle?", "Boil it with vinegar, then rinse the kettle.", after, "All right.")
    messages = tuple(Message(("user", "assistant")[i % 2], t) for i, t in enumerate(texts))
    score = 2 if unhappy else 5
    ratings = (Rating(f"c{number}", "satisfaction", score, 1), Rating(f"c{number}", "satisfaction", 4, 2))
    return Conversation(f"c{number}", messages, user_id=f"u{number % 8}", ratings=ratings)


def conversations():
    rng = random.Random(3)
    return [rated(n, rng) for n in range(60)]


def test_shipped_coefficients_hold_names_and_numbers_only():
    fitted = load_coefficients()
    assert fitted.groups == 22
    value = json.loads(fitted.to_json())
    for mode in ("hindsight", "foresight"):
        for name, numbers in value[mode]["signals"].items():
            assert name.isidentifier()
            assert all(isinstance(v, float) for v in numbers.values())


def test_fit_finds_what_the_next_message_tells():
    fitted = fit_local(conversations())
    assert fitted.turns == 120
    assert fitted.groups == 8
    hindsight, foresight = (fitted.measured[m]["auc_dissatisfied"] for m in ("hindsight", "foresight"))
    assert hindsight > 0.9
    assert hindsight > foresight
    weights = dict(zip(fitted.hindsight.names, fitted.hindsight.weights, strict=True))
    assert weights["next_complains"] < 0 < weights["next_thanks"]


def test_fit_is_the_same_every_time_and_survives_a_round_trip():
    fitted = fit_local(conversations())
    assert fit_local(conversations()) == fitted
    again = LocalCoefficients.from_json(fitted.to_json())
    features = tuple(0.3 for _ in fitted.hindsight.names)
    assert again.hindsight.predict(features) == pytest.approx(fitted.hindsight.predict(features), abs=1e-4)


def test_ridge_agrees_with_scikit_learn():
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 5)).clip(-2, 2), rng.normal(size=200)
    groups = rng.integers(0, 4, 200)
    ours = _solve(x, y, groups, 7.0, tuple("abcde"))
    z = (x - x.mean(0)) / x.std(0)
    means = np.array([z[groups == g].mean(0) for g in range(4)])
    theirs = Ridge(alpha=7.0, fit_intercept=False).fit(
        z - means[groups], y - np.array([y[groups == g].mean() for g in range(4)])[groups]
    )
    assert np.allclose(ours.weights, theirs.coef_)
    assert ours.intercept == pytest.approx(y.mean())


def test_auc_agrees_with_scikit_learn():
    rng = np.random.default_rng(1)
    scores, positive = rng.integers(0, 6, 300).astype(float), rng.random(300) < 0.3
    assert _auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
    assert _auc(scores, np.zeros(300, dtype=bool)) is None


def test_a_user_is_never_in_two_folds():
    groups = np.array([0, 0, 0, 1, 1, 2, 3, 3, 4, 5])
    fold = group_folds(groups, 3)
    assert all(len(set(fold[groups == g])) == 1 for g in range(6))
    assert set(fold) == {0, 1, 2}


def test_whole_scores_are_as_frequent_as_those_given():
    scores = np.array([1.0] * 5 + [3.0] * 15 + [4.0] * 30 + [5.0] * 50)
    predicted = np.linspace(3, 5, 100)
    fitted = replace(fit_local(conversations()).hindsight, thresholds=_thresholds(predicted, scores))
    assert Counter(fitted.score(p) for p in predicted) == {1: 5, 3: 15, 4: 30, 5: 50}


def test_too_little_or_nothing_to_learn_is_refused():
    with pytest.raises(UsageError, match="too little to fit"):
        fit_local(conversations()[:5])
    alike = [
        Conversation(c.id, c.messages, user_id=c.user_id, ratings=(Rating(c.id, "satisfaction", 4, 1),))
        for c in conversations()
    ]
    with pytest.raises(UsageError, match="nothing to learn"):
        fit_local(alike)


@pytest.mark.parametrize("text", ["{", "{}", '{"format": "other/1"}', "[]"])
def test_a_wrong_file_is_named(text):
    with pytest.raises(FileFault, match=r"m\.json"):
        LocalCoefficients.from_json(text, file="m.json")


def with_first_signal(**change):
    import json

    value = json.loads(fit_local(conversations()).to_json())
    name = next(iter(value["hindsight"]["signals"]))
    value["hindsight"]["signals"][name].update(change)
    return json.dumps(value)


@pytest.mark.parametrize("change", [{"weight": "x"}, {"weight": True}, {"low": float("nan")}, {"spread": 0}])
def test_coefficients_that_are_no_numbers_are_named(change):
    with pytest.raises(FileFault, match=r"m\.json"):
        LocalCoefficients.from_json(with_first_signal(**change), file="m.json")


def test_coefficients_of_other_signals_name_their_file():
    text = fit_local(conversations()).to_json().replace('"signals": {', '"signals": {"other": {}, ', 1)
    with pytest.raises(FileFault, match=r"m\.json"):
        LocalCoefficients.from_json(text, file="m.json")
