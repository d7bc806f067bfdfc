"""Evaluators beside people by candidate: by hand, against slow versions, and what must not change them."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE
from dialogauge.report import Curve
from dialogauge.stats import Categories, mean_estimate, same_order, spearman_p, strengths, votes_of
from dialogauge.studies.agreement.among import among
from dialogauge.studies.agreement.candidates import candidate_agreements
from dialogauge.studies.agreement.candidates_page import candidates_section
from dialogauge.studies.agreement.order import chance_of
from dialogauge.studies.agreement.ranks import candidate_ranks
from dialogauge.studies.agreement.sources import Question, Rated, TargetKey
from dialogauge.studies.agreement.targets import ArenaVotes, JudgedRun, Panel

SCALE = Categories.parse("1-5")
ASKED = Question("human_likeness", "conversation")
PEOPLE = {"a": (5, 4, 5, 4, 5, 4), "b": (3, 3, 4, 2, 3, 3), "c": (1, 3, 2, 2, 1, 3)}
JUDGE = {"a": (5, 5, 5, 5, 5, 5), "b": (2, 3, 3, 2, 2, 3), "c": (4, 3, 3, 4, 4, 3)}
"""Means of people 4.5, 3, 2; of the judge 5, 2.5, 3.5: b and c change places."""


def answers(by_source, *, id="p{}", length=None):
    """By source and candidate its scores, one for each persona."""
    out = {}
    for source, candidates in by_source.items():
        for candidate, scores in candidates.items():
            for n, score in enumerate(scores):
                if score is not None:
                    key = TargetKey(id.format(n), candidate, None)
                    size = None if length is None else length[candidate][n]
                    out.setdefault(key, Rated({}, None, {}, size)).by[source] = float(score)
    return out


def panel(people, judges, **more):
    known = {"categories": {ASKED: SCALE}, "judged_on": {ASKED: SCALE}}
    return Panel(people={ASKED: people}, judges={ASKED: judges}, **known, **more)


def figures_of(sources, shuffles=20):
    (made,) = candidate_agreements(sources, shuffles=shuffles, seed=0)
    return made


def values(figures):
    return {name: of.value for name, of in figures.items()}


def slow_order(x, y, ties):
    agreed = pairs = 0.0
    for i, j in combinations(range(len(x)), 2):
        a, b = (0 if abs(of[i] - of[j]) <= 1e-9 else (1 if of[i] > of[j] else -1) for of in (x, y))
        if ties == "drop" and not (a and b):
            continue
        pairs += 1
        agreed += 0.5 if ties == "half" and (a == 0) != (b == 0) else a == b
    return agreed, pairs


def test_one_judge_by_hand():
    made = figures_of(panel(answers({"X": PEOPLE}), answers({"J": JUDGE})))
    (judge,) = made.evaluators
    assert (made.candidates, judge.candidates, judge.targets, judge.same) == (("a", "b", "c"), 3, 18, True)
    assert values(judge.figures) == pytest.approx(
        {
            "rank_accuracy": 2 / 3,
            "rank_accuracy_half": 2 / 3,
            "rank_accuracy_drop": 2 / 3,
            "nmae": (0.5 + 0.5 + 1.5) / 3 / 4,
            "bias": (0.5 - 0.5 + 1.5) / 3,
        }
    )
    # Of 18 pairs of one persona: a above b and c always; b above c in the judge's eyes never, a tie in two.
    # People tie b and c in personas 2, 4 and 6; the judge in 2, 3 and 6.
    assert judge.by_session["rank_accuracy"].value == pytest.approx((12 + 2) / 18)
    assert judge.by_session["rank_accuracy_half"].value == pytest.approx((12 + 2 + 0.5 + 0.5) / 18)
    assert judge.by_session["rank_accuracy_drop"].value == pytest.approx(12 / 14)
    apart = [x - y for c in PEOPLE for x, y in zip(JUDGE[c], PEOPLE[c], strict=True)]
    assert judge.by_session["nmae"].value == pytest.approx(np.abs(apart).mean() / 4)
    by_persona = mean_estimate(apart, [f"p{n}" for _ in PEOPLE for n in range(6)], limits=(-4, 4))
    assert judge.figures["bias"].interval == pytest.approx(by_persona.interval)
    assert judge.by_session["bias"].interval == pytest.approx(by_persona.interval)
    assert judge.chance == pytest.approx(3 / 6)
    assert made.one_pair == pytest.approx(1 / 3)


def test_intervals_are_over_personas_and_take_five():
    rng = np.random.default_rng(1)
    levels = {name: 2.4 + 0.3 * k for k, name in enumerate("abcd")}
    draw = {n: np.clip(np.round(rng.normal(m, 1, 40)), 1, 5).tolist() for n, m in levels.items()}
    judge = {n: np.clip(rng.normal(m, 1, 40), 1, 5).tolist() for n, m in levels.items()}
    (one,) = figures_of(panel(answers({"X": draw}), answers({"J": judge}))).evaluators
    accuracy = one.figures["rank_accuracy"]
    assert accuracy.method == "bootstrap by conversations"
    assert accuracy.low < accuracy.value <= accuracy.high <= 1
    assert accuracy.high >= min(1, 2 * accuracy.value - accuracy.low) - 1e-9  # as far above as below
    assert (accuracy.clusters, one.figures["nmae"].method) == (40, "jackknife by conversations")
    (few,) = figures_of(panel(answers({"X": PEOPLE}, id="p"), answers({"J": JUDGE}, id="p"))).evaluators
    assert few.figures["rank_accuracy"].reason == "too few conversations: 1, and an interval takes 5"
    sure = {"a": [5] * 20, "b": [3] * 20}
    (alike,) = figures_of(panel(answers({"X": sure}), answers({"J": sure}))).evaluators
    assert 0.8 < alike.figures["rank_accuracy"].low < 1  # no interval has width 0


def test_users_are_the_personas_where_they_are_known():
    people, judges = answers({"X": PEOPLE}), answers({"J": JUDGE})
    for key, rated in judges.items():
        rated.user = f"u{int(key.conversation_id[1:]) % 2}"
    (one,) = figures_of(panel(people, judges)).evaluators
    assert (one.clustered_by, one.figures["bias"].clusters) == ("users", 2)


def test_a_judge_of_other_sessions_is_compared_by_candidate_alone():
    fixed = answers({"F": JUDGE}, id="recorded {}")
    (one,) = figures_of(panel(answers({"X": PEOPLE}), fixed)).evaluators
    assert (one.same, one.by_session) == (False, {})
    assert values(one.figures)["nmae"] == pytest.approx(2.5 / 12)
    shown = candidates_section(figures_of(panel(answers({"X": PEOPLE}), fixed)), whole=False)
    assert "other sessions" in str(shown)


def test_a_judge_on_another_scale_has_its_order_alone():
    sources = panel(answers({"X": PEOPLE}), answers({"J": JUDGE}))
    sources.judged_on[ASKED] = Categories.parse("1-7")
    (one,) = figures_of(sources).evaluators
    assert one.figures.keys() == {"rank_accuracy", "rank_accuracy_half", "rank_accuracy_drop"}


def test_an_arena_is_an_order_of_candidates():
    wins = [
        ("a", "b", 1),
        ("b", "c", 1),
        ("a", "c", 1),
        ("c", "b", 1),
        ("b", "c", 0.5),
        ("c", "a", 0),
        ("b", "c", 1),
    ]
    rows = [(x, y, s, f"p{n}") for n in range(6) for x, y, s in wins]
    first, second, score, ids = zip(*rows, strict=True)
    votes = votes_of(first, second, score, clusters=(ids, "dialogues"))
    arena = ArenaVotes(votes, tuple(dict.fromkeys(ids)))
    (one,) = figures_of(panel(answers({"X": PEOPLE}), {}, arenas={"arena": arena})).evaluators
    assert strengths(votes).logits.argsort().tolist() == [2, 1, 0]
    assert (one.source, one.targets, one.figures["rank_accuracy"].value) == ("arena", 42, 1.0)
    assert "nmae" not in one.figures
    assert one.figures["rank_accuracy"].interval is not None


def test_raters_against_the_others_are_the_ceiling():
    other = {"a": (4, 4, 4, 4, 4, 4), "b": (3, 3, 3, 3, 3, 3), "c": (2, 2, 2, 2, 2, None)}
    made = figures_of(panel(answers({"X": PEOPLE, "Y": other}), {}))
    x, y = made.raters
    assert (made.evaluators, x.source, x.targets) == ((), "X", 17)
    # Of what both rated, c is 9/5 to X and 2 to Y.
    assert x.figures["bias"].value == pytest.approx((0.5 + 0 - 0.2) / 3)
    assert y.figures["bias"].value == pytest.approx(-x.figures["bias"].value)
    assert x.figures["rank_accuracy"].value == 1.0


def test_controls_know_nothing():
    length = {"a": [10] * 6, "b": [40] * 6, "c": [20] * 6}
    made = figures_of(panel(answers({"X": PEOPLE}, length=length), answers({"J": JUDGE})), shuffles=400)
    controls = made.controls
    assert controls.keys() == {"always 3", "shuffled", "reply length"}
    assert controls["always 3"]["nmae"] == pytest.approx((1.5 + 0 + 1) / 3 / 4)
    assert controls["always 3"]["rank_accuracy"] == 0
    assert controls["always 3"]["rank_accuracy_half"] == 0.5
    assert controls["always 3"]["rank_accuracy_drop"] is None
    assert controls["shuffled"]["rank_accuracy"] == pytest.approx(0.5, abs=0.05)
    # Nine cells of 4.5, 3, 2 against each other: 2 (1.5 + 2.5 + 1) / 9
    assert controls["shuffled"]["nmae"] == pytest.approx(10 / 9 / 4, abs=0.02)
    # Shorter is better: a 4.5, c 3, b 2
    assert controls["reply length"]["nmae"] == pytest.approx(2 / 3 / 4)
    assert controls["reply length"]["rank_accuracy"] == pytest.approx(2 / 3)
    assert made.mean_lengths == {"a": 10, "b": 40, "c": 20}


def test_scores_that_follow_length_are_shown_to():
    length = {name: [8 * 2 ** (n % 3) + k for n in range(9)] for k, name in enumerate("ab")}
    judge = {n: [1 + np.log2(of) / 3 - (n == "b") for of in own] for n, own in length.items()}
    people = {"a": [4, 4, 4] * 3, "b": [2, 2, 2] * 3}
    made = figures_of(panel(answers({"X": people}), answers({"J": judge}, length=length)))
    by = {one.source: one for one in made.lengths}
    assert by["J"].slope.value == pytest.approx(1 / 3)
    assert by["people"].slope.value == pytest.approx(0)
    assert (by["people"].pearson, by["J"].pearson) == pytest.approx((-1, -1))


def test_a_judge_that_is_kinder_to_its_family_only():
    people = {"gpt-9": (3, 3, 2, 4, 3, 3), "claude-9": (3, 3, 4, 2, 3, 3), "mine": (1, 2, 1, 2, 1, 2)}
    judge = {**people, "gpt-9": (4, 4, 3, 5, 4, 4), "mine": (5, 5, 5, 5, 5, 5)}
    known = {"families": {"gpt-9": "gpt", "claude-9": "claude"}}
    about = {name: JudgedRun(name, family=of) for name, of in (("J", "gpt"), ("K", "glm"), ("L", None))}
    judges = answers({"J": judge, "K": judge, "L": judge})
    (one,) = figures_of(panel(answers({"X": people}), judges, about=about, **known)).families
    assert (one.source, one.family, one.own) == ("J", "gpt", ("gpt-9",))
    assert (one.bias_own, one.bias_others, one.more_by.value) == (1, 0, 1)
    assert one.more_by.low > 0


def test_judges_of_the_first_turns_are_a_curve():
    about = {
        name: JudgedRun(name, first_turns=of) for name, of in (("J", 5), ("K", 2), ("L", 5), ("M", None))
    }
    judges = answers({"J": PEOPLE, "K": JUDGE, "L": JUDGE, "M": JUDGE})
    made = figures_of(panel(answers({"X": PEOPLE}), judges, about=about))
    curves = [block for block in candidates_section(made, whole=True).blocks if isinstance(block, Curve)]
    assert [curve.title for curve in curves] == [
        "rank accuracy by turns read",
        "normalised MAE by turns read",
    ]
    assert [point.x for point in curves[0].points] == [2, 5, 5]
    assert [point.y for point in curves[0].points] == pytest.approx([2 / 3, 1, 2 / 3])
    one = figures_of(panel(answers({"X": PEOPLE}), judges, about={"J": about["J"]}))
    assert not any(isinstance(block, Curve) for block in candidates_section(one, whole=True).blocks)


def test_what_has_no_order_of_candidates_is_left_out():
    one = {"a": PEOPLE["a"]}
    assert not list(candidate_agreements(panel(answers({"X": one}), answers({"J": one})), shuffles=2, seed=0))
    named = panel(answers({"X": PEOPLE}), answers({"J": JUDGE}))
    named.categories[ASKED] = Categories.parse("good,bad")
    assert not list(candidate_agreements(named, shuffles=2, seed=0))


def test_two_judges_put_candidates_in_one_order():
    made = candidate_ranks(ASKED, answers({"J": JUDGE, "K": PEOPLE}), {}, ONE_TO_FIVE)
    (order,) = made.alike
    assert order.figures["rank_accuracy"].value == pytest.approx(2 / 3)
    assert (order.distance, order.swapped) == (pytest.approx(2.5 / 3), (("b", "c"),))


def test_pairs_of_raters_by_candidate():
    other = {"a": (4, 4, 4, 4, 4, 4), "b": (3, 3, 3, 3, 3, 3), "c": (2, 2, 2, 2, 2, 2)}
    (pair,) = among(ASKED, answers({"X": PEOPLE, "Y": other}), SCALE, shuffles=2, seed=0).pairs
    assert (pair.of_candidates.n, pair.of_candidates.spearman, pair.of_candidates.p) == (3, 1.0, 0.0)
    assert pair.of_candidates.pearson == pytest.approx(np.corrcoef([4.5, 3, 2], [4, 3, 2])[0, 1])
    two = {name: PEOPLE[name] for name in "ab"}
    (pair,) = among(ASKED, answers({"X": two, "Y": two}), SCALE, shuffles=2, seed=0).pairs
    assert pair.of_candidates is None


LEVELS = st.lists(st.integers(1, 4), min_size=2, max_size=6)


@given(st.data())
def test_the_order_of_pairs_is_that_of_the_slow_version(data):
    x = data.draw(LEVELS)
    y = data.draw(st.lists(st.integers(1, 4), min_size=len(x), max_size=len(x)))
    for ties in ("strict", "half", "drop"):
        agreed, pairs = same_order(np.array([x, y], dtype=float), np.array([y, y], dtype=float), ties)
        assert (agreed[0], pairs[0]) == slow_order(x, y, ties)
        assert agreed[1] == pairs[1]
        assert same_order(np.array([x]) * 2.5 + 1e-11, np.array([y]) * 1.0, ties)[0] == agreed[0]
    unknown = np.array([[np.nan, *x]])
    assert same_order(unknown, np.array([[1.0, *y]]))[1] == slow_order(x, y, "strict")[1]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_share_of_orders_that_do_as_well(n):
    pairs = n * (n - 1) // 2
    shares = [slow_order(order, range(n), "strict")[0] / pairs for order in permutations(range(n))]
    for accuracy in (0, 1 / pairs, 0.5, 1):
        expected = np.mean([share >= accuracy - 1e-9 for share in shares])
        assert chance_of(accuracy, n) == pytest.approx(expected)
    assert chance_of(None, n) is None


@pytest.mark.parametrize(("x", "y"), [((1, 2, 3, 4, 5), (2, 1, 4, 3, 5)), ((1, 1, 2, 3), (1, 2, 2, 5))])
def test_p_of_spearman_is_that_of_scipy(x, y):
    from scipy.stats import spearmanr

    rho, p = spearmanr(x, y)
    assert spearman_p(rho, len(x)) == pytest.approx(p)
    assert (spearman_p(0.5, 2), spearman_p(None, 9), spearman_p(1.0, 9)) == (None, None, 0.0)
