"""Agreement with people, by hand on small tables, and against scipy and scikit-learn on a larger one."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import ONE_TO_FIVE, Conversation, Message, Rating, Scale
from dialogauge.data import admission_for
from dialogauge.stats import Categories, parse_rule
from dialogauge.studies.agreement.agreement import (
    AgreementSettings,
    agreement,
    compare_judges,
    default_rule,
)
from dialogauge.studies.agreement.judge_page import judge_section, judge_sentences
from dialogauge.studies.agreement.levels import levels_of_table
from dialogauge.studies.agreement.targets import (
    DimensionPair,
    JudgedRun,
    RatedTarget,
    TargetKey,
    TargetTable,
    collect_targets,
)

PAIR = DimensionPair("satisfaction", "satisfaction")
RUN = JudgedRun("a", "runs/a", "local", "hindsight")
SCORES_OF_TWO = {"a": [1, 2, 4, 5], "b": [2, 1, 5, 3]}
QUICK = AgreementSettings(shuffles=5)


def table(scores, people, *, users=None, per=1, lengths=None):
    out = TargetTable(PAIR, ONE_TO_FIVE, RUN)
    for i, (score, given_) in enumerate(zip(scores, people, strict=True)):
        user = None if users is None else users[i]
        key = TargetKey(f"c{i // per}", None, i + 1)
        length = float(i % 7) if lengths is None else lengths[i]
        out.targets.append(RatedTarget(key, user, given_, score, None, length))
    out.counts.rated = out.counts.scored = len(out.targets)
    return out


def named(name, of):
    of.about = replace(of.about, name=name)
    return of


def random_table(n=300, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 6, n).astype(float)
    scores = np.clip(people + rng.normal(scale=noise, size=n), 1, 5)
    return table(scores.tolist(), people.tolist(), per=3)


def test_a_target_of_weight_three_counts_as_three_would():
    weighted, thrice = table([1, 2, 4, 5], [1, 3, 4, 4]), table([1, 2, 2, 2, 4, 5], [1, 3, 3, 3, 4, 4])
    weighted.targets = [
        replace(target, weight=weight) for target, weight in zip(weighted.targets, (1, 3, 1, 1), strict=True)
    ]
    one, other = (agreement(of, parse_rule("3"), QUICK) for of in (weighted, thrice))
    assert len(one.figures) > 10
    for name, figure in one.figures.items():
        assert figure.value == pytest.approx(other.figures[name].value), name
    assert one.low_shares["people"] == pytest.approx(4 / 6)
    turns, others = (next(iter(levels_of_table(of))) for of in (weighted, thrice))
    for name in ("pearson", "spearman"):
        assert turns.figures[name].value == pytest.approx(others.figures[name].value), name
    assert turns.figures["kendall"].reason == "it knows no weights"
    weighted.targets[0] = replace(weighted.targets[0], weight=None)  # not all have one: none counts
    assert agreement(weighted, parse_rule("3"), QUICK).low_shares["people"] == 0.5


def test_figures_by_hand():
    found = agreement(table([1, 2, 4, 5], [1, 3, 4, 4]), parse_rule("3"), QUICK)
    values = {k: e.value for k, e in found.figures.items()}
    assert values["exact"] == 0.5
    assert values["within_one"] == 1.0
    assert values["mae"] == 0.5
    assert values["bias"] == 0.0  # -1 and +1
    assert values["f1_dsat"] == values["precision_dsat"] == values["recall_dsat"] == values["auc"] == 1.0
    # 1 - 2 / sum over all 16 combinations / 4: variances 2.5 and 1.5, means alike
    assert values["qwk"] == pytest.approx(1 - 0.5 / (2.5 + 1.5))
    assert [b.score for b in found.bins] == [1, 2, 4, 5]
    assert found.bins[1].people == {3.0: 1}


def test_figures_agree_with_the_oracles():
    stats = pytest.importorskip("scipy.stats")
    metrics = pytest.importorskip("sklearn.metrics")
    rows = random_table()
    x = np.array([t.score for t in rows.targets])
    y = np.array([t.people for t in rows.targets])
    found = agreement(rows, parse_rule("<3"), QUICK).figures
    whole = np.floor(x + 0.5)
    assert found["pearson"].value == pytest.approx(stats.pearsonr(x, y)[0])
    assert found["spearman"].value == pytest.approx(stats.spearmanr(x, y)[0])
    assert found["qwk"].value == pytest.approx(metrics.cohen_kappa_score(whole, y, weights="quadratic"))
    assert found["auc"].value == pytest.approx(metrics.roc_auc_score(y < 3, -x))
    assert found["f1_dsat"].value == pytest.approx(metrics.f1_score(y < 3, whole < 3))
    assert found["mae"].value == pytest.approx(metrics.mean_absolute_error(y, x))
    for estimate in found.values():
        assert estimate.low <= estimate.value <= estimate.high
        assert (estimate.method, estimate.clusters) == ("jackknife by conversations", 100)


def test_a_good_judge_is_above_every_control_and_a_shuffled_one_above_none():
    rows = random_table(noise=0.7)
    good = agreement(rows, parse_rule("3"), QUICK)
    assert [c.name for c in good.controls] == [
        "constant", "always dissatisfied", "reply length", "position", "shuffled",
    ]  # fmt: skip
    assert set(good.sides("auc").values()) == {"above"}
    assert set(good.sides("spearman").values()) == {"above"}
    rng = np.random.default_rng(1)
    scores = rng.permutation([t.score for t in rows.targets]).tolist()
    poor = agreement(table(scores, [t.people for t in rows.targets], per=3), None, QUICK)
    assert poor.sides("spearman")["shuffled"] == "not distinguishable"
    assert "auc" not in poor.figures


def test_a_judge_that_has_the_order_but_not_the_scores_is_told_so():
    people = [1.0 if i % 6 == 0 else 5.0 for i in range(120)]
    low = [2 if score == 1 else 4 for score in people]
    of = Categories.parse("1-5")

    def sentences(scores, run=""):
        rows = table(scores, people)
        rows.about = replace(rows.about, run=run)
        return judge_sentences(agreement(rows, parse_rule("3"), QUICK, categories=of))

    first, _, last = sentences(low)
    assert first[1].startswith(": a agrees with people less than a judge that always says 5")
    assert last.startswith("The answer is about giving the same score. By order the judge is better than ")
    assert "ranks the poor one worse in 100 %" in last
    rng = np.random.default_rng(1)
    for other in (rng.permutation(low).tolist(), people):  # neither has the order only
        assert len(sentences(other)) == 2
    # Of the judge of a run the light says so, and no second figure stands beside it.
    *_, last = sentences(low, run="runs/a")
    assert last == "This answer is about giving the same score; the one about order stands above."


def test_controls_know_nothing_or_only_the_length():
    lengths = [float(i) for i in range(60)]
    people = [5.0 - (i // 12) for i in range(60)]  # the longer, the worse: the control turns round
    found = agreement(table([3] * 60, people, lengths=lengths), parse_rule("2"), QUICK)
    controls = {c.name: c for c in found.controls}
    assert controls["reply length"].figures["exact"].value == 1.0
    assert controls["reply length"].figures["auc"].value == 1.0
    assert controls["constant"].figures["qwk"].value == 0.0
    assert controls["constant"].figures["auc"].value == 0.5
    assert controls["constant"].figures["spearman"].value is None
    assert controls["always dissatisfied"].figures["recall_dsat"].value == 1.0
    # the judge is itself a constant: nothing to tell it from one
    assert found.figures["spearman"].value is None
    assert found.sides("auc")["constant"] == "not distinguishable"


def test_intervals_draw_users_where_they_are_known_and_conversations_otherwise():
    users = [f"u{i % 10}" for i in range(60)]
    rng = np.random.default_rng(3)
    scores, people = rng.integers(1, 6, 60).tolist(), rng.integers(1, 6, 60).astype(float).tolist()
    found = agreement(table(scores, people, users=users), None, QUICK)
    assert (found.users, found.conversations, found.clustered_by) == (10, 60, "users")
    assert found.figures["qwk"].clusters == 10
    users[7] = None
    found = agreement(table(scores, people, users=users), None, QUICK)
    assert (found.users, found.clustered_by) == (None, "users and conversations")


def test_ratings_off_the_scale_compare_order_only():
    found = agreement(table([1, 2, 4, 5], [0, 0, 1, 1]), parse_rule("<1"), QUICK)
    assert set(found.figures) == {"pearson", "spearman", "auc"}
    assert not found.same_scale
    assert found.figures["auc"].value == 1.0


def test_a_judge_off_the_scale_of_people_has_no_share_of_low_scores():
    of_two = table([0, 1, 1, 0], [1, 3, 5, 4])
    of_two.scale = Scale(0, 1)
    found = agreement(of_two, parse_rule("<=3"), QUICK)
    assert found.low_shares == {"people": 0.5}
    assert "low scores" not in str(judge_section(found, "", (), whole=True))
    same = agreement(table([1, 4, 5, 2], [1, 3, 5, 4]), parse_rule("<=3"), QUICK)
    assert same.low_shares == {"judge": 0.5, "people": 0.5}
    assert "low scores" in str(judge_section(same, "", (), whole=True))


def test_categories_need_a_name_and_are_ranked():
    rows = table([1, 2, 4, 5], ["DSAT", "DSAT", "SAT", "SAT"])
    found = agreement(rows, parse_rule("DSAT"), QUICK)
    assert found.figures["auc"].value == 1.0
    assert found.figures["recall_dsat"].value == 0.0  # the judge named no class of its own
    assert "pearson" not in found.figures
    assert default_rule(rows) is None


def test_the_default_rule_is_the_middle_or_less():
    assert str(default_rule(table([1], [4.0]))) == "<=3"
    assert str(default_rule(table([1, 1], [0.0, 1.0]))) == "<=0.5"
    assert str(default_rule(table([1, 1, 1], [3.0, 3.25, 1.0]))) == "<3"  # 3 is what most say
    worse = table([1], [4.0])
    worse.scale = Scale(1, 5, higher_is_better=False)
    assert str(default_rule(worse)) == ">=3"


def test_two_judges_are_told_apart_only_when_they_differ():
    people = [t.people for t in random_table().targets]
    good, poor = random_table(noise=0.5), random_table(noise=3.0)
    twin = random_table(noise=0.5)
    assert [t.people for t in poor.targets] == people
    found = compare_judges(
        [named("good", good), named("poor", poor), named("twin", twin)],
        parse_rule("<3"),
    )
    comparisons = [c.comparison for c in found]
    words = {(c.a, c.b, c.measure): c.words for c in comparisons}
    assert len(found) == 15
    assert words["good", "poor", "spearman"] == "good agrees better with people"
    assert words["poor", "twin", "auc"] == "twin agrees better with people"
    assert words["good", "twin", "qwk"] == "good and twin are not distinguishable"
    assert all(c.p_holm >= c.p for c in comparisons)


def test_eight_judges_can_be_told_apart():
    judges = [random_table(n=90, noise=0.3 + 0.6 * i) for i in range(8)]
    contenders = [named(f"j{i}", t) for i, t in enumerate(judges)]
    found = [c.comparison for c in compare_judges(contenders, None)]
    assert max(c.least_p for c in found) < 0.05
    assert next(c for c in found if (c.a, c.b, c.measure) == ("j0", "j7", "spearman")).side == "above"


def test_too_few_clusters_to_tell_is_said_as_in_every_study():
    few = [named(n, table(s, [1, 2, 4, 5], per=2)) for n, s in SCORES_OF_TWO.items()]
    found = [c.comparison for c in compare_judges(few, None)]
    assert {c.side for c in found} == {"too few to tell"}
    assert found[0].words == "too few conversations to tell a from b"


def test_judges_without_shared_targets_are_not_compared():
    a, b = table([1], [1.0]), table([1], [1.0])
    b.targets[0] = RatedTarget(TargetKey("other", None, 1), None, 1.0, 1, None, 1)
    assert compare_judges([named("a", a), named("b", b)], None) == ()


@lru_cache(maxsize=2)
def figures_in(order):
    """The figures of the same thirty targets in some order."""
    targets = random_table(30).targets
    rows = TargetTable(PAIR, targets=[targets[i] for i in order])
    return agreement(rows, parse_rule("<3"), AgreementSettings(shuffles=1)).figures


@given(st.permutations(range(30)))
def test_the_order_of_the_targets_makes_no_difference_to_the_figures(order):
    second = figures_in(tuple(order))
    for name, estimate in figures_in(tuple(range(30))).items():
        assert second[name].value == pytest.approx(estimate.value)


def row(turn, scores, *, level="turn", failure=None, details=None, repeat=1, whole=None, overall=None):
    return {
        "level": level, "turn": turn, "repeat": repeat, "scores": scores, "whole": whole or {}, "raw": {},
        "overall": overall, "failure": failure, "details": details or {},
    }  # fmt: skip


def test_targets_are_joined_and_every_loss_is_counted():
    said = (("user", "a b c"), ("assistant", "one two")) * 5
    ratings = (
        Rating("c", "satisfaction", 4, 1, "x"), Rating("c", "satisfaction", 5, 1, "y"),
        Rating("c", "satisfaction", 2, 2, "x"), Rating("c", "satisfaction", 3, 3, "x"),
        Rating("c", "satisfaction", 3, 4, "x"), Rating("c", "satisfaction", 3, 0, "x"),
        Rating("c", "satisfaction", "SAT", 5, "x"), Rating("c", "satisfaction", "DSAT", 5, "y"),
        Rating("c", "satisfaction", 1, 1, "x", candidate="another"),
    )  # fmt: skip
    conversation = Conversation("c", tuple(Message(r, t) for r, t in said), ratings=ratings, user_id="u")
    rows = [
        row(1, {"satisfaction": 3.6}, whole={"satisfaction": 4}, details={"language": "en", "label": "SAT"}),
        row(1, {"satisfaction": 3.4}, whole={"satisfaction": 3}, repeat=2),
        row(2, None, failure={"kind": "timeout", "message": ""}),
        row(3, {"satisfaction": "n/a"}),
        row(4, {"satisfaction": 2}),
        row(5, {"satisfaction": 2}),
    ]
    found = TargetTable(PAIR)
    collect_targets([(conversation, rows)], lambda c: c.ratings, [found])
    counts = found.counts
    assert (counts.rated, counts.scored, counts.failed, counts.not_applicable) == (6, 2, 1, 1)
    assert (counts.not_judged, counts.undecided, counts.several_raters) == (1, 1, 2)
    first, second = found.targets
    assert (first.people, first.score, first.named_class) == (4.5, 3.5, "SAT")
    assert (first.length, first.user, second.score) == (7, "u", 2.0)
    assert found.fractions
    assert found.languages == {"en": 1}


def test_ratings_unlike_the_others_are_refused_and_named():
    """Of ten ratings on 1 to 5 a 9 is the odd one; of ten names, a number."""
    on = admission_for({4: 6, 2.5: 3, 9: 1, "good": 2}, ONE_TO_FIVE)
    talk = Conversation("c", tuple(Message(r, "a") for r in ("user", "assistant") * 3))

    def told(admission, score):
        rating = Rating("c", "satisfaction", score, 2)
        fault = admission.fault(rating, talk.place_of(rating))
        return None if fault is None else (fault.message, str(fault.place))

    assert told(on, 4) is None
    assert told(on, 2.5) is None
    assert told(on, 9) == ("satisfaction is 9: it is off the scale 1-5", "ratings, conversation 'c', turn 2")
    assert told(on, "good")[0] == "satisfaction is 'good': it is a text, and the ratings are numbers"
    own = admission_for({4: 8, 9: 2, "good": 1}, ONE_TO_FIVE)
    assert told(own, 9) is None
    assert told(own, "good") is not None
    names = admission_for({"good": 9, 5: 1}, ONE_TO_FIVE)
    assert told(names, 5)[0] == "satisfaction is 5: it is a number, and the ratings are names"
    assert told(admission_for({}, ONE_TO_FIVE), 3) is None

    given = (Rating("c", "satisfaction", 9, 1), Rating("c", "satisfaction", 4, 2))
    rows = [row(i, {"satisfaction": 4}) for i in (1, 2)]
    found = TargetTable(PAIR, admission=on)
    collect_targets([(talk, rows)], lambda _: given, [found])
    assert (found.counts.rated, found.counts.scored, found.counts.refused) == (1, 1, 1)
    assert [f.message for f in found.refused] == ["satisfaction is 9: it is off the scale 1-5"]


def test_a_judge_that_rounds_its_own_way_is_taken_at_its_word():
    """An expected rating of 3.9 that the judge calls a 3 is a 3; it still ranks by 3.9."""
    talk = Conversation(
        "c",
        tuple(Message(r, "a") for r in ("user", "assistant") * 3),
        ratings=tuple(Rating("c", "satisfaction", score, turn) for turn, score in enumerate((3, 3, 5), 1)),
    )
    said = ((3, 3.9), (3, 3.6), (5, 4.2))
    rows = [row(i, {"satisfaction": f}, whole={"satisfaction": s}) for i, (s, f) in enumerate(said, 1)]

    def figures(**how):
        found = TargetTable(PAIR, **how)
        collect_targets([(talk, rows)], lambda c: c.ratings, [found])
        result = agreement(found, parse_rule("3"), QUICK)
        return {k: e.value for k, e in result.figures.items()}, result

    values, result = figures()
    assert values["exact"] == values["qwk"] == values["f1_dsat"] == 1.0
    assert values["mae"] == pytest.approx((0.9 + 0.6 + 0.8) / 3)
    assert result.fractions
    assert [b.score for b in result.bins] == [3, 5]
    whole, result = figures(ranked_by_fractions=False)
    assert whole["mae"] == 0.0
    assert whole["pearson"] == pytest.approx(1.0)
    assert not result.fractions


def test_a_rubrics_own_dimension_is_not_taken_for_its_weighted_mean():
    """A rubric may call a dimension `overall` and have a verdict by the weighted mean of all: two numbers."""
    talk = Conversation(
        "c", (Message("user", "a"), Message("assistant", "b")), ratings=(Rating("c", "satisfaction", 4, 1),)
    )
    rows = [row(1, {"overall": 5, "tone": 1}, overall=2.33)]

    def score(pair):
        found = TargetTable(pair)
        collect_targets([(talk, rows)], lambda c: c.ratings, [found])
        return found.targets[0].score

    assert score(DimensionPair("overall", "satisfaction")) == 5
    assert score(DimensionPair("overall", "satisfaction", overall=True)) == 2.33
