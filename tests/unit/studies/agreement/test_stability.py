"""Stability over sessions and judgings: by hand, by simulation, and which conversations are sessions."""

import numpy as np
import pytest

from dialogauge.studies.agreement.candidates_page import stability_section
from dialogauge.studies.agreement.sources import Question, Rated, TargetKey
from dialogauge.studies.agreement.stability import plays, stabilities, stability_of
from dialogauge.studies.agreement.targets import Panel

ASKED = Question("coherence", "conversation")


def stability(scores):
    return stability_of(np.array(scores, dtype=float), ASKED, "judge", "a")


def test_by_hand():
    found = stability([[[3, 4], [4, 5]]])
    # within: .5; session means 3.5 and 4.5: .5, less .5 / 2
    assert (found.within, found.between, found.mean) == (0.5, 0.25, 4.0)
    assert found.single == found.means  # one persona
    assert (found.single.sd, found.single.range) == (pytest.approx((2 / 3) ** 0.5), 2)
    assert found.single.cv == pytest.approx(100 * (2 / 3) ** 0.5 / 4)


def test_means_over_personas_vary_less_than_a_session():
    found = stability([[[1], [5]], [[5], [1]]])
    assert (found.single.range, found.means.range, found.means.sd) == (4, 0, 0)
    assert (found.within, found.between) == (None, None)


def test_the_parts_of_the_variance_are_found_again():
    rng = np.random.default_rng(3)
    persona, session = rng.normal(0, 1, (4000, 1, 1)), rng.normal(0, 0.5, (4000, 3, 1))
    found = stability(3 + persona + session + rng.normal(0, 0.3, (4000, 3, 3)))
    assert found.between == pytest.approx(0.25, rel=0.05)
    assert found.within == pytest.approx(0.09, rel=0.05)


@pytest.mark.parametrize(
    ("conversation", "scenario", "answer"),
    [("p", "p", True), ("p/2", "p", True), ("a/b/3", "a/b", True), ("pq", "p", False), ("p/2", None, False)],
)
def test_sessions_are_told_by_their_id(conversation, scenario, answer):
    assert plays(conversation, scenario) is answer


def said(scores, *, scenario=True, dimension=""):
    """By candidate and persona: sessions of judgings; None where a judging failed."""
    out = {}
    for candidate, personas in scores.items():
        for persona, sessions in personas.items():
            for n, judgings in enumerate(sessions, 1):
                key = TargetKey(persona if n == 1 else f"{persona}/{n}", candidate, None, dimension)
                of = {r: float(s) for r, s in enumerate(judgings, 1) if s is not None}
                groups = {"scenario": persona if scenario else "all"}
                repeats = {"J": of} if len(of) > 1 else {}
                out[key] = Rated({"J": sum(of.values()) / len(of)}, None, groups, repeats=repeats)
    return out


def test_sessions_of_a_run():
    scores = {"a": {"p": [[3, 4], [4, 5]], "q": [[2, 2], [3, 3]], "r": [[1, 1]], "s": [[1, None], [2, 2]]}}
    (found,) = stabilities(Panel(judges={ASKED: said(scores)}))
    assert (found.source, found.candidate, found.shape, found.left_out) == ("J", "a", (2, 2, 2), 2)
    assert found.mean == pytest.approx((4 + 2.5) / 2)
    assert "2 x 2 x 2, 2 incomplete" in str(stability_section([found]))


def test_a_log_with_a_scenario_for_many_conversations_has_no_sessions():
    scores = {"a": {"p": [[3, 4]], "q": [[2, 2]]}}
    assert not list(stabilities(Panel(judges={ASKED: said(scores, scenario=False)})))
    assert not list(stabilities(Panel(judges={ASKED: said(scores)})))
    turns = Question("coherence", "turn")
    assert not list(stabilities(Panel(judges={turns: said({"a": {"p": [[3, 4], [4, 5]]}})})))


def test_pooled_dimensions_are_averaged():
    one, other = (said({"a": {"p": [[s, s], [s + 1, s + 1]]}}, dimension=str(s)) for s in (1, 3))
    (found,) = stabilities(Panel(judges={ASKED: {**one, **other}}))
    assert (found.mean, found.shape, found.within) == (2.5, (1, 2, 2), 0)
