from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.core.json_keys import as_json
from dialogauge.judges.personal.reply_unread import ReplyUnread
from dialogauge.stats import CALIBRATIONS, ROUNDING, ScoreHistory
from dialogauge.studies.satisfaction.answers import JudgedReply
from dialogauge.studies.satisfaction.evaluation import (
    CONTROLS,
    EvaluationSettings,
    control_scores,
    evaluate,
)


def answer(i, block="a", gold=4.0, score=4, *, length=10, value=None, history=True):
    return JudgedReply(
        id=f"{block}{i}",
        block=block,
        user=block[0],
        scenario="s",
        position=i,
        length=length,
        gold=gold,
        reason=None,
        history=history,
        score=score,
        value=score if value is None else value,
    )


FIT = ReplyUnread(np.array([0.0, 1.0, 0.0, -1.0]), ROUNDING, 4.0)
"""The mean of the history, less the logarithm of the position."""


def test_controls_read_nothing_but_what_they_say() -> None:
    golds = [(30, 5, 5), (10, 3, 3), (20, 4, 5)]
    answers = [answer(i, length=n, score=s, gold=g) for i, (n, s, g) in enumerate(golds)]
    controls = control_scores(answers, {"a": 4.5}, lambda _: FIT, shuffles=5)
    assert list(controls) == list(CONTROLS)
    values = {name: versions[0].values.tolist() for name, versions in controls.items()}
    assert values["constant"] == [5.0, 5.0, 5.0]  # what people give most, as in every study
    assert values["always dissatisfied"] == [1.0, 1.0, 1.0]
    assert values["user mean"] == [5.0, 5.0, 5.0]
    assert values["reply length"] == [5.0, 3.0, 5.0]  # people's own scores, in the order of length
    assert values["reply unread"] == pytest.approx([4.5, 4.5 - math.log(2), 4.5 - math.log(3)])
    assert controls["reply unread"][0].whole.tolist() == [4, 4, 3]
    assert values["reply length, terciles"] == [5.0, 3.0, 4.0]
    assert sorted(values["position"]) == [3.0, 5.0, 5.0]
    deals = controls["shuffled"]
    assert len(deals) == 5
    assert all(sorted(deal.values) == [3, 4, 5] for deal in deals)


def test_shuffling_stays_within_the_block() -> None:
    answers = [answer(i, block, score=s) for block, s in (("a", 2), ("b", 5)) for i in range(4)]
    controls = control_scores(answers, {}, lambda _: None)
    assert "reply unread" not in controls  # nobody to fit to
    for deal in controls["shuffled"]:
        assert deal.values.tolist() == [2] * 4 + [5] * 4


def study():
    answers = [
        answer(i, block, gold=g, score=s, length=10 * i)
        for block in ("a", "b")
        for i, (g, s) in enumerate([(5, 4), (3, 3), (4, 4), (5, 5), (2, 4), (4, 3)])
    ]
    histories = {b: ScoreHistory.of([3, 4, 4, 5, 5, 5]) for b in ("a", "b")}
    return answers, histories


def test_judge_controls_and_ceiling_under_each_calibration() -> None:
    answers, histories = study()
    found = evaluate(answers, histories, EvaluationSettings("cdf"))
    told = as_json(found)
    assert told["metrics"] == told["calibrations"]["cdf"]["metrics"]
    assert found.calibrations["none"].ceiling.values["pearson"] == pytest.approx(1)
    assert found.calibrations["none"].controls["constant"].values["pearson"] is None
    assert found.chosen.run.calibrated_blocks == 2
    assert set(found.by) == {"scenario", "turn_position", "reason", "gold"}
    assert sum(f.n for f in found.by["turn_position"].values()) == 12


def test_the_judges_own_rounding_stands_where_nothing_is_calibrated() -> None:
    _, histories = study()
    halves = [answer(i, gold=4, score=4, value=4.5) for i in range(6)]
    found = evaluate(halves, histories, EvaluationSettings())
    assert found.chosen.judge.values["mae"] == 0
    assert found.fractions.values["mae"] == 0.5
    assert {c.rounded for c in found.calibrated.values()} == {4}


def test_failures_and_users_without_history_stand_apart() -> None:
    answers, histories = study()
    answers[0] = answer(0, score=None)
    lonely = [answer(i, "z", gold=2, score=5, history=False) for i in range(2)]
    found = evaluate([*answers, *lonely], histories, EvaluationSettings())
    assert (found.chosen.judge.n, found.chosen.judge.n_failed) == (11, 1)
    assert found.without_history.n == 2
    assert found.without_history.values["mae"] == 3
    assert found.calibrated["z0"].rounded == 5
    assert "a0" not in found.calibrated


def test_nothing_at_all() -> None:
    found = evaluate([], {}, EvaluationSettings())
    assert found.chosen.judge.n == 0
    assert found.chosen.judge.values["pearson"] is None


def test_every_control_has_every_figure_with_an_interval() -> None:
    answers, histories = study()
    found = as_json(evaluate(answers, histories, EvaluationSettings(), unread=lambda _: FIT))
    keys = set(found["metrics"])
    assert keys >= {
        "n", "n_failed", "pearson", "spearman", "qwk", "mae", "rmse", "f1_dsat", "precision_dsat",
        "recall_dsat", "false_sat", "false_dsat", "auc", "per_user_pearson", "per_user_spearman",
        "within_user_pearson", "within_user_spearman", "over_rated", "under_rated", "intervals",
    }  # fmt: skip
    assert set(found["controls"]) == set(CONTROLS)
    for control in found["controls"].values():
        assert set(control) == keys
        assert set(control["intervals"]) == set(found["metrics"]["intervals"])
    assert {c["b"] for c in found["against_controls"]} == set(CONTROLS)


def test_rare_reasons_are_taken_together() -> None:
    answers = [replace(answer(i), reason=f"reason {i}") for i in range(80)]
    found = evaluate(answers, {"a": ScoreHistory.of([4] * 6)}, EvaluationSettings())
    assert len(found.by["reason"]) == 51
    assert found.by["reason"]["(all others)"].n == 30


def test_without_a_failed_condition_nothing_is_capped() -> None:
    free = evaluate(*study(), EvaluationSettings())
    assert as_json(free.guard) == {"capped": 0, "lifted": 0}


@pytest.mark.long
@pytest.mark.parametrize("method", CALIBRATIONS)
def test_no_calibration_lifts_a_score_above_what_a_failed_condition_allows(method) -> None:
    answers, histories = study()
    # a user who always gave 5 would have every score of a 4 lifted, failed or not
    lenient = {b: ScoreHistory.of([5] * 6) for b in histories}
    capped = [replace(a, score=2, value=2.0, cap=2) if a.position == 4 else a for a in answers]
    found = evaluate(capped, lenient, EvaluationSettings(method))
    for a in capped:
        if a.cap is not None:
            assert found.calibrated[a.id].rounded <= 2
            assert found.calibrated[a.id].value <= 2.5
    assert max(c.rounded for c in found.calibrated.values()) == 5
    assert found.guard.capped == 2
    assert found.guard.lifted == (0 if method == "none" else 2)
    # the cap is part of what the judge read: controls and ceiling go through the map alone
    assert (
        found.chosen.ceiling
        == evaluate(
            [replace(a, cap=None) for a in capped], lenient, EvaluationSettings(method)
        ).chosen.ceiling
    )
