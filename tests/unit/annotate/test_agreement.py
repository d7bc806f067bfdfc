import numpy as np
import pytest

from dialogauge.annotate.agreement import advice, shared_agreement
from dialogauge.annotate.answers import Answer, standing_answers
from dialogauge.annotate.plan import Eligible, PlanRequest, assignment_plan
from dialogauge.annotate.questions import RatingQuestion, preference_question

SATISFACTION = RatingQuestion("satisfaction", "turn", "satisfaction", "?")
MEMORY = RatingQuestion("memory", "conversation", "memory", "?", na=True)
ABOUT = {"rubric": {}, "inputs": {}, "settings": {}}


def plan_of(*questions, number, raters, shared=None):
    eligible = [Eligible(i, f"c{i}", "x", turns=(1, 2)) for i in range(number)]
    request = PlanRequest(raters, shared=number if shared is None else shared)
    return assignment_plan(eligible, request, questions, ABOUT)


def rated(plan, score):
    """What stands where every rater answers everything: score(item, rater, turn, dimension)."""
    answers = []
    for rater in plan.raters:
        for name in rater.items:
            for turn, question in plan.asked(plan.by_id[name]):
                value = score(int(name[1:]), rater.name, turn, question.name)
                if value is not None:
                    kind = "choice" if question.level == "pair" else "score"
                    said = {"winner": value} if kind == "choice" else {"score": value}
                    answers.append(Answer(name, rater.name, kind, question.name, turn, **said))
    return standing_answers(answers)


def test_agreement_by_hand():
    """Of 6 items with 2 turns, two raters differ in the second turn of every other item: 9 of 12 alike."""
    plan = plan_of(SATISFACTION, number=6, raters=2)
    standing = rated(plan, lambda i, r, t, d: 5 if r == "R2" and t == 2 and i % 2 else 4 if t == 2 else 2)
    (one,) = shared_agreement(plan, standing)
    assert (one.targets, one.items, one.raters) == (12, 6, 2)
    assert one.figures["exact"].value == pytest.approx(9 / 12)
    # Gwet's AC1 with the five categories of the scale.
    shares = np.array([0, 12, 0, 9, 3]) / 24
    chance = (shares * (1 - shares)).sum() / 4
    assert one.figures["ac1"].value == pytest.approx((0.75 - chance) / (1 - chance))
    assert one.figures["ac1"].method == "jackknife by items"


def test_only_what_two_rated_counts():
    plan = plan_of(SATISFACTION, number=10, raters=2, shared=3)
    (one,) = shared_agreement(plan, rated(plan, lambda i, r, t, d: 4))
    assert (one.items, one.targets) == (3, 6)
    alone = plan_of(SATISFACTION, number=10, raters=2, shared=0)
    assert list(shared_agreement(alone, rated(alone, lambda *_: 4))) == []
    assert advice([]) == "No item is rated by two raters yet, so nothing is known of their agreement."


def test_what_does_not_apply_is_not_rated():
    plan = plan_of(MEMORY, number=6, raters=2)
    standing = rated(plan, lambda i, r, t, d: "n/a" if i == 1 or (i == 2 and r == "R1") else 4)
    (one,) = shared_agreement(plan, standing)
    assert one.targets == 4


def test_choices_between_two_are_names():
    pairs = [Eligible(i, f"c{i}", "x", None, (), f"d{i}", "y") for i in range(8)]
    plan = assignment_plan(pairs, PlanRequest(2, shared=8), [preference_question("en")], ABOUT)
    standing = rated(plan, lambda i, r, t, d: "tie" if i == 1 and r == "R1" else "ab"[i % 2])
    (one,) = shared_agreement(plan, standing)
    assert one.figures["exact"].value == pytest.approx(7 / 8)
    assert one.figures["alpha"].value is not None


def test_few_items_have_no_interval_and_that_is_said():
    plan = plan_of(SATISFACTION, number=3, raters=2)
    figures = list(shared_agreement(plan, rated(plan, lambda i, r, t, d: 2 + (i + len(r) + t) % 3)))
    assert advice(figures) == (
        "AC1 has no interval yet (too few items: 3, and an interval takes 5): more shared items are needed."
    )


def noise(seed, of_items, of_raters):
    rng = np.random.default_rng(seed)
    items, cells = rng.normal(0, of_items, 200), rng.normal(0, of_raters, (200, 20))
    return lambda i, r, t, d: int(np.clip(round(3 + items[i] + cells[i, int(r[1:])]), 1, 5))


def test_two_raters_cannot_tell_what_a_third_would_do():
    plan = plan_of(MEMORY, number=20, raters=2)
    text = advice(list(shared_agreement(plan, rated(plan, noise(1, 1, 0.5)))))
    assert text.startswith("Least sure is memory: AC1 ")
    assert "on 20 shared items by 2 raters. 10 more shared items would narrow its interval from " in text
    assert text.endswith("; what a third rater would do, two cannot tell.")


def test_another_rater_helps_as_far_as_the_raters_are_what_differs():
    """The width with one more rater, foretold from three, is near that which a fourth really leaves."""
    foretold, real = [], []
    for seed in range(12):
        opinion = noise(seed, 1.0, 0.8)
        plans = [plan_of(MEMORY, number=40, raters=raters) for raters in (3, 4)]
        three, four = (next(shared_agreement(plan, rated(plan, opinion))) for plan in plans)
        foretold.append(three.another / three.width)
        real.append(four.width / three.width)
    assert np.mean(foretold) == pytest.approx(np.mean(real), abs=0.08)
    assert np.mean(foretold) < 0.95


def test_the_least_sure_dimension_is_named():
    plan = plan_of(SATISFACTION, MEMORY, number=30, raters=3)
    for wild in ("memory", "satisfaction"):
        opinions = {name: noise(1, 0.3, 1.5 if name == wild else 0.0) for name in ("memory", "satisfaction")}
        standing = rated(plan, lambda i, r, t, d, by=opinions: by[d](i, r, t, d))
        figures = list(shared_agreement(plan, standing))
        assert f"Least sure is {wild}" in advice(figures)
        assert "10 more shared items" in advice(figures)
