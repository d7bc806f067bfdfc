"""Sources among each other: against the others by hand, very many of them, and those who share nothing."""

import numpy as np
import pytest

from dialogauge.stats import Categories, coefficients_of
from dialogauge.studies.agreement.among import among
from dialogauge.studies.agreement.sources import Question, Rated, TargetKey, grid_of, pile_of, sources_of

SCALE = Categories.parse("1-5")
TONE = Question("tone", "turn")


def answers(rows):
    return {TargetKey(f"c{i}", None, 1): Rated(dict(by)) for i, by in enumerate(rows)}


def crowd(raters, each=3, n=300, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.integers(1, 6, n)
    return answers(
        {
            f"w{r}": int(np.clip(base[i] + rng.integers(-1, 2), 1, 5))
            for r in rng.choice(raters, each, replace=False)
        }
        for i in range(n)
    )


def test_each_against_the_others_by_hand():
    rows = [{"a": 5, "b": 3, "c": 5}, {"a": 1, "b": 1}, {"a": 4}, {"b": 2, "c": 4}]
    found = among(TONE, answers(rows), SCALE, shuffles=2, seed=0)
    assert (found.targets, found.shared, found.ratings) == (4, 3, 8)
    a, b, c = found.strictness
    # a less the mean of the others: 5 - 4, 1 - 1; b: 3 - 5, 1 - 1, 2 - 4; c: 5 - 4, 4 - 2
    assert [one.difference.value for one in (a, b, c)] == pytest.approx([0.5, -4 / 3, 1.5])
    assert [(one.n, one.shared) for one in (a, b, c)] == [(3, 2), (3, 3), (2, 2)]
    assert [one.n for one in found.others] == [2, 3, 2]
    assert [one.figures["exact"].value for one in found.others] == pytest.approx([0.5, 1 / 3, 0.0])
    assert [(p.a, p.b, p.n) for p in found.pairs] == [("a", "b", 2), ("a", "c", 1), ("b", "c", 2)]


def test_targets_of_one_rater_alone_are_no_evidence_that_raters_agree():
    shared = [{"a": 1 + i, "b": 5 - i} for i in range(4)]
    alone = [{"ab"[i % 2]: 5} for i in range(30)]
    few = among(TONE, answers([*shared, *alone]), SCALE, shuffles=2, seed=0)
    assert (few.verdict, few.answer.difference.interval) == ("cannot tell", None)
    why = "too few conversations: 4, and the interval of a difference takes 6"
    assert few.answer.difference.reason == why
    enough = among(TONE, answers([*shared * 5, *alone]), SCALE, shuffles=2, seed=0)
    assert enough.verdict == "no"


@pytest.mark.long
def test_very_many_raters_are_all_in_what_needs_no_names():
    of = crowd(400)
    found = among(TONE, of, SCALE, shuffles=2, seed=0)
    everybody = coefficients_of(grid_of(of, SCALE), ("ac1", "alpha_interval", "icc1"))
    assert len(found.sources) == len(sources_of(of)) > 100
    for name, estimate in everybody.items():
        assert found.figures[name].value == pytest.approx(estimate.value), name
        assert found.figures[name].low == pytest.approx(estimate.low), name
    assert len(found.strictness) == 100
    assert "the 100 of" in found.warnings[0]
    assert found.warnings[1].startswith("Pairs are shown of up to 30; there are ")
    assert found.pairs == ()
    assert abs(found.permuted["alpha_interval"]) < 0.2 < found.figures["alpha_interval"].value


def test_names_do_not_matter_to_a_pile():
    of = crowd(6)
    names = ("ac1", "alpha_ordinal", "fleiss")
    grid, pile = (coefficients_of(made(of, SCALE), names) for made in (grid_of, pile_of))
    assert {n: e.value for n, e in grid.items()} == pytest.approx({n: e.value for n, e in pile.items()})


def test_those_who_share_no_target_have_no_coefficients():
    found = among(TONE, answers({f"u{i}": 1 + i % 5} for i in range(50)), SCALE, shuffles=2, seed=0)
    assert (found.shared, found.figures, found.others) == (0, {}, ())
    assert len(found.strictness) == 30
    assert found.warnings[0].startswith("No target was rated by two of the 50")


def test_permuting_one_rater_moves_every_coefficient():
    of = crowd(5, each=5, n=60)
    other = {key: Rated(dict(rated.by)) for key, rated in of.items()}
    scores = [rated.by["w0"] for rated in of.values()]
    for rated, score in zip(other.values(), scores[1:] + scores[:1], strict=True):
        rated.by["w0"] = score
    first, second = (among(TONE, one, SCALE, shuffles=1, seed=0).figures for one in (of, other))
    assert all(first[name].value != second[name].value for name in first)
