"""The local judge's role-play dimensions on characters left out: the floors, and that the weights come again.

Expected figures: docs/development/results/sessions.md.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from benchmarks.roleplay import RATED, SHARED, SIX, Draws, controls, conversations, fitted_file, nested, table

from dialogauge.core import Judgement
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.local.roleplay import load_roleplay

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("roleplay"),
]


@cache
def draws() -> Draws:
    return Draws(table())


@pytest.mark.long
def test_the_floors_on_characters_left_out() -> None:
    judge = draws().of(nested(table(), seed=0))
    question = draws().of(*controls(table())["has a question mark"])
    assert judge["six"][0] >= 0.16
    assert np.quantile(judge["six"][1:] - question["six"][1:], 0.025) > 0
    assert judge["believability"][0] >= 0.12


@pytest.mark.long
def test_the_weights_that_ship_are_those_of_the_fit() -> None:
    fitted, shipped = fitted_file(table()), load_roleplay()
    for dimension, weights in shipped.weights.items():
        assert fitted["weights"][dimension] == pytest.approx(dict(weights), abs=2e-4)
    assert fitted["centre"] == pytest.approx(dict(shipped.centre), abs=1e-6)
    assert fitted["fitted_on"] == shipped.fitted_on


def test_the_judge_orders_the_data_as_the_fit_did() -> None:
    """Not a figure of how good it is: these are the replies that it was fitted to."""
    judge, values, people = LocalJudge(rubric_id="roleplay"), [], []
    for _, talk in conversations()[:60]:
        (row,) = judge.judge_now(talk)
        rating = talk.ratings[0]
        if rating.dimension in SIX and isinstance(row.outcome, Judgement):
            values.append(row.outcome.scores[RATED[rating.dimension]].value)
            people.append(rating.score)
    assert np.corrcoef(values, np.array(people, dtype=float))[0, 1] > 0.2


def test_what_was_read_is_what_the_pack_holds() -> None:
    assert draws().data.people.size == 837
    assert int((draws().data.rated == "believability").sum()) == 130
