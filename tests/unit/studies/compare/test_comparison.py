"""Two runs beside each other: differences by hand, the interval by a slow oracle, and what is left out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as oracle

from dialogauge.core import Conversation, Message, Rating, UsageError
from dialogauge.core.protocols import PlainDimension
from dialogauge.stats import mean_estimate
from dialogauge.studies.compare.answer import headline, tone_of
from dialogauge.studies.compare.beside import parting
from dialogauge.studies.compare.comparison import compare_sides
from dialogauge.studies.compare.gate import may_gate, parse_delta_gate
from dialogauge.studies.compare.page import brief, comparison_page
from dialogauge.studies.compare.talks import read_sides
from dialogauge.studies.evidence import NOTHING_CHECKED, DimensionEvidence, RunEvidence

HELP = PlainDimension("helpfulness", "turn")
WHOLE = PlainDimension("coherence", "conversation")
AGREES = DimensionEvidence(checked=True, by="ratings of this run")
CHECKED = RunEvidence(dimensions=dict.fromkeys(("helpfulness", "coherence", "verdict"), AGREES))


def row(id, score, *, name="helpfulness", level="turn", turn=1, failure=None, verdict=None, **details):
    return {
        "conversation_id": id,
        "candidate": None,
        "level": level,
        "turn": turn if level == "turn" else None,
        "repeat": 1,
        "scores": {} if failure else {name: score},
        "whole": {},
        "raw": {},
        "failure": {"kind": failure, "message": ""} if failure else None,
        "verdict": verdict,
        "verdict_basis": None,
        "weakest_turn": None,
        "details": details,
    }


def judged(
    id, *scores, reply="It opens at nine.", user=None, scenario=None, opening="When?", ratings=(), **more
):
    """One conversation of as many turns as scores; None is a failure."""
    messages = []
    for turn in range(len(scores)):
        messages += [Message("user", opening if not turn else "And then?"), Message("assistant", reply)]
    rows = [
        row(id, score, turn=turn, failure="timeout" if score is None else None, **more)
        for turn, score in enumerate(scores, 1)
    ]
    return Conversation(id, tuple(messages), user_id=user, scenario=scenario, ratings=tuple(ratings)), rows


def side(name, *talks):
    return name, talks, 0


def between(a, b, dimensions=(HELP,), evidence=CHECKED, **more):
    sides, talks = read_sides((a, b), dimensions)
    rng = np.random.default_rng(0)
    return compare_sides(sides, talks, dimensions, rng=rng, evidence=evidence, **more)


def compared(a, b, **more):
    return between(side("old", *a), side("new", *b), **more)


def found(*kinds, score=3, **more):
    """A log with the kinds of findings of each conversation."""
    return [
        judged(f"c{i}", score, signals=[{"name": kind} for kind in of.split()], **more)
        for i, of in enumerate(kinds)
    ]


def log(*scores, **more):
    return [judged(f"c{i}", *(s if isinstance(s, tuple) else (s,)), **more) for i, s in enumerate(scores)]


def test_a_difference_by_hand():
    # A: 3, 3, 4, 2, 5, 3, 1 (mean 3), B: 2, 3, 3, 1, 4, 3, 5 (mean 3); the last two are of one.
    result = compared(log(3, 3, 4, 2, 5, (3, 1)), log(2, 3, 3, 1, 4, (3, 5)))
    (change,) = result.dimensions
    assert (change.a.mean, change.b.mean, change.delta.value) == (3.0, 3.0, 0.0)
    assert (change.a.n, change.b.n, change.delta.clusters) == (7, 7, 6)
    assert change.detectable > 2  # and the mean can rise and fall by 2 only
    assert change.answer == "too few to tell"


def test_the_paired_interval_is_that_of_leaving_each_pair_out():
    rng = np.random.default_rng(3)
    a = rng.integers(1, 6, 30)
    b = np.clip(a + rng.integers(-2, 2, 30), 1, 5)
    (change,) = compared(log(*a.tolist()), log(*b.tolist())).dimensions
    moved = [np.delete(b, i).mean() - np.delete(a, i).mean() for i in range(30)]
    moves = np.array(moved) - (b.mean() - a.mean())
    variance = (moves**2).sum()
    uneven = (moves**4).sum() - variance**2 / 30
    freedom = min(29, max(4, 2 * variance**2 / uneven))
    half = oracle.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert change.delta.value == pytest.approx(b.mean() - a.mean())
    assert change.delta.low == pytest.approx(b.mean() - a.mean() - half, abs=1e-4)
    assert change.delta.high == pytest.approx(b.mean() - a.mean() + half, abs=1e-4)
    # All pairs alike in size: the variance is that of the mean difference, over G - 1 in place of G.
    assert variance == pytest.approx(np.var(b - a, ddof=1) / 29)
    power = oracle.t.ppf(0.975, freedom) + oracle.t.ppf(0.8, freedom)
    assert change.detectable == pytest.approx(power * math.sqrt(variance), abs=1e-4)


def test_exchanged_runs_give_the_same_with_the_other_sign():
    a, b = log(3, 3, 4, 2, 5, 3, 4), log(2, 3, 3, 1, 4, 3, 1)
    (one,), (other,) = compared(a, b).dimensions, compared(b, a).dimensions
    assert one.delta.value == -other.delta.value
    assert one.delta.interval == pytest.approx((-other.delta.high, -other.delta.low))
    assert one.p == other.p
    assert one.detectable == other.detectable


def test_intervals_hold_the_truth_paired_and_not():
    rng = np.random.default_rng(11)
    held = {"paired": 0, "apart": 0}
    for _ in range(120):
        level = rng.normal(3, 0.7, 25)
        a = np.clip(level + rng.normal(0, 0.3, 25), 1, 5)
        b = np.clip(level + rng.normal(-0.3, 0.3, 25), 1, 5)
        of_a, of_b = log(*a.tolist()), log(*b.tolist())
        apart = [judged(f"x{i}", float(s)) for i, s in enumerate(b)]
        for how, of in (("paired", of_b), ("apart", apart)):
            (change,) = compared(of_a, of).dimensions
            held[how] += change.delta.low <= -0.3 <= change.delta.high
    assert 108 <= held["paired"] <= 120
    assert 112 <= held["apart"] <= 120  # pairs that go together are taken for two samples: it is wider


def test_a_conversation_that_failed_in_one_run_is_left_out_of_both_and_widens_the_bounds():
    # Without the failed one A is 4, 4, 4, 4, 4 and B the same: the weak one of A must not count against A.
    result = compared(log(4, 4, 4, 4, 4, 1), log(4, 4, 4, 4, 4, None))
    (change,) = result.dimensions
    assert change.delta.value == 0.0
    assert (change.a.left_out, change.b.n_failed, change.a.n) == (1, 1, 5)
    # A over all six is 21/6 = 3.5; B is 21/6 with a 1 for the failed one, and 25/6 with a 5.
    assert change.bounds == pytest.approx((0.0, 4 / 6))
    assert result.b.failures == {"timeout": 1}


def test_conversations_without_a_partner_are_left_out():
    result = compared(log(4, 4, 4, 4, 4, 1), log(4, 4, 4, 4, 4))
    assert (result.pairing.by, result.a.left_out, result.b.left_out) == ("id", 1, 0)
    assert result.dimensions[0].a.n == 5


def test_other_ids_are_paired_by_scenario_and_user():
    def talks(prefix, *scores):
        return [judged(f"{prefix}{i}", s, user=f"u{i}", scenario="hotel") for i, s in enumerate(scores)]

    result = compared(talks("x", 3, 4, 3, 5, 2), talks("y", 3, 3, 3, 5, 2))
    assert (result.pairing.by, len(result.pairing.pairs), result.pairing.unit) == (
        "scenario and user",
        5,
        "users",
    )
    assert result.dimensions[0].delta.value == pytest.approx(-0.2)


def test_a_few_users_who_come_back_pair_nothing():
    def month(prefix, first, *scores):
        users = [f"u{first + i}" for i in range(len(scores))]
        return [
            judged(f"{prefix}{u}", s, user=u, scenario="return") for u, s in zip(users, scores, strict=True)
        ]

    # Of twelve users a month two come back: u10 and u11.
    result = compared(month("x", 0, *[2, 3] * 6), month("y", 10, *[4, 5] * 6))
    assert (result.pairing.by, result.pairing.few) == ("nothing", ("scenario and user", 2, 2))
    assert (result.a.left_out, result.b.left_out, result.dimensions[0].b.n) == (0, 0, 12)
    assert result.dimensions[0].answer == "better"
    assert headline(result)[1].startswith("With 12 and 12 conversations (not paired) a difference of ")
    told = str(comparison_page(result, (), (), paths=("old", "new"), created="", version="").blocks)
    assert "2 of A and 2 of B share their scenario and user with the other run: too few to pair" in told
    # Half of one run is enough: six of the twelve are a sample of the other month.
    half = compared(month("x", 0, *[2, 3] * 6), month("y", 6, *[4, 5] * 6))
    assert (half.pairing.by, half.pairing.few, half.dimensions[0].b.n) == ("scenario and user", None, 6)
    # So it is with ids: the last conversation of one week stands in the log of the next one, too.
    weeks = compared(log(*[2, 3] * 6), [judged("c11", 3), *month("y", 10, *[4, 5] * 6)])
    assert (weeks.pairing.by, weeks.pairing.few) == ("nothing", ("id", 1, 1))


def test_a_comparison_without_an_answer_says_why_of_the_dimension_with_most_scores():
    def run(name, score):
        talks = log(*[score] * 4)
        talks[0][1].append(row("c0", score, name="coherence", level="conversation"))
        return side(name, *talks)

    few = between(run("old", 3), run("new", 4), (WHOLE, HELP))
    assert headline(few)[0].endswith("too few conversations: 4, and the interval of a difference takes 6.")
    assert headline(few)[0].startswith("Too few to tell new from old on coherence, helpfulness: ")


def test_intervals_that_leave_out_zero_and_show_nothing_say_how_many_dimensions_are_tested():
    def run(name, *scores):
        talks = [judged(f"{name}{i}", s, user=f"{name}{i}") for i, s in enumerate(scores)]
        for i, (talk, score) in enumerate(zip(talks, scores[::-1], strict=True)):
            talk[1].append(row(f"{name}{i}", score, name="coherence", level="conversation"))
        return side(name, *talks)

    close = between(run("old", *[2, 3] * 8), run("new", *[2, 3, 3, 4] * 4), (HELP, WHOLE))
    assert all(d.answer == "cannot tell" and d.delta.low > 0 for d in close.dimensions)
    assert "due to chance, as 2 dimensions are tested at once (helpfulness +0.50" in headline(close)[0]


def test_runs_of_one_task_are_left_out_together():
    def trials(agent, *rewards):
        return [judged(f"{agent}-{i}", r, task=f"t{i // 2}") for i, r in enumerate(rewards)]

    before, after = (1, 1, 5, 5, 1, 1, 5, 5, 1, 1, 5, 5), (5, 5, 5, 5, 1, 1, 5, 5, 5, 5, 5, 5)
    same = compared(trials("x", *before), trials("x", *after))
    other = compared(trials("x", *before), trials("y", *after))
    assert (same.pairing.by, other.pairing.by) == ("id", "task")
    for result in (same, other):
        (change,) = result.dimensions
        assert (change.delta.clusters, result.pairing.unit) == (6, "tasks")
        # By task the differences are 4, 0, 0, 0, 4, 0: the variance of their mean, over G - 1.
        half = oracle.t.ppf(0.975, 5) * math.sqrt(np.var([4, 0, 0, 0, 4, 0], ddof=1) / 5)
        assert change.delta.high == pytest.approx(4 / 3 + half, abs=1e-3)


def test_nothing_in_common_is_two_samples():
    a = [judged(f"x{i}", s) for i, s in enumerate((5, 4, 5, 4, 5, 4, 5, 4))]
    b = [judged(f"y{i}", s) for i, s in enumerate((2, 1, 2, 1, 2, 1, 2, 1))]
    result = compared(a, b)
    (change,) = result.dimensions
    assert not result.pairing.paired
    assert (change.delta.value, change.answer) == (-3.0, "worse")
    # Both means' own intervals: as far as B's upper end and A's lower end, as two sides of a right angle.
    before, after = (mean_estimate(v, limits=(1.0, 5.0)) for v in ([5, 4] * 4, [2, 1] * 4))
    above = math.hypot(after.high - 1.5, 4.5 - before.low)
    assert change.delta.high == pytest.approx(-3 + above, abs=1e-9)
    assert "not paired" in headline(result)[1]
    few = compared(a, b[:4])
    assert few.dimensions[0].delta.interval is None
    assert "too few conversations: 4" in headline(few)[0]


def test_one_conversation_tells_nothing():
    result = compared(log(5), log(1))
    assert result.dimensions[0].delta.value == -4.0
    (sentence,) = headline(result)
    assert sentence.startswith("Too few to tell new from old on helpfulness: too few conversations: 1")


def test_the_same_scores_are_no_difference_and_not_surely_none():
    scores = (3, 4, 2, 5, 1, 3, 4, 4, 2, 3)
    result = compared(log(*scores), log(*scores))
    (change,) = result.dimensions
    assert change.delta.value == 0.0
    assert change.delta.low < 0 < change.delta.high
    assert headline(result)[0] == "No difference: new has the same scores as old in 10 pairs."


def test_lower_is_better_where_the_scale_says_so():
    from dialogauge.core import Scale

    effort = PlainDimension("helpfulness", "turn", Scale(1, 5, higher_is_better=False))
    a, b = log(*[2, 1] * 6), log(*[4, 5] * 6)
    result = between(side("old", *a), side("new", *b), (effort,))
    assert result.dimensions[0].delta.value == 3.0
    assert result.dimensions[0].answer == "worse"


def test_pairs_that_turned_are_told_by_verdict():
    before = ["good", "good", "poor", "borderline", "good"]
    after = ["poor", "good", "good", "borderline", "borderline"]
    a, b = ([judged(f"c{i}", 3, verdict=v) for i, v in enumerate(verdicts)] for verdicts in (before, after))
    result = compared(a, b)
    assert [(t.a, t.steps) for t in result.down] == [("c0", -2), ("c4", -1)]
    assert [(t.a, t.steps) for t in result.up] == [("c2", 2)]
    good = result.verdicts[0]
    assert (good.name, good.a.mean, good.b.mean) == ("at least good", 0.6, pytest.approx(0.4))


def test_kinds_of_findings_that_came_and_went():
    def with_kinds(*kinds):
        return [judged(f"c{i}", 3, signals=[{"name": k} for k in of]) for i, of in enumerate(kinds)]

    result = compared(
        with_kinds((), ("refusal",), (), ("loop",), ()), with_kinds(("refusal",), ("refusal",), (), (), ())
    )
    shares = {c.name: (c.a.mean, c.b.mean) for c in result.findings}
    assert shares == {"any finding": (0.4, 0.4), "refusal": (0.2, 0.4), "loop": (0.2, 0.0)}


def test_ratings_of_people_are_compared_where_both_carry_them():
    def rated(*scores):
        return [judged(f"c{i}", 3, ratings=[Rating(f"c{i}", "quality", s)]) for i, s in enumerate(scores)]

    result = compared(rated(5, 4, 5, 4, 5), rated(4, 3, 4, 3, 4))
    assert [(r.name, r.delta.value) for r in result.ratings] == [("quality", pytest.approx(-1.0))]
    assert compared(rated(5, 4), log(1, 2)).ratings == ()


def test_ratings_of_a_drawn_sample_count_as_often_as_their_weights_say():
    def rated(*scores, weights):
        each = zip(scores, weights, strict=True)
        return [
            judged(f"c{i}", 3, ratings=[Rating(f"c{i}", "quality", s, weight=w)])
            for i, (s, w) in enumerate(each)
        ]

    # The one that fell stands for nine of ten, so that nearly all fell.
    drawn = (90.0, 2.5, 2.5, 2.5, 2.5)
    result = compared(rated(5, 4, 4, 4, 4, weights=drawn), rated(1, 4, 4, 4, 4, weights=drawn))
    (change,) = result.ratings
    assert (change.a.mean, change.b.mean) == (pytest.approx(4.9), pytest.approx(1.3))
    assert (change.delta.value, change.a.n) == (pytest.approx(-3.6), 5)
    # Weights of some ratings alone say nothing.
    some = (90.0, None, 2.5, 2.5, 2.5)
    (plain,) = compared(rated(5, 4, 4, 4, 4, weights=some), rated(1, 4, 4, 4, 4, weights=drawn)).ratings
    assert plain.delta.value == pytest.approx(-0.8)


def test_longer_replies_are_said_with_what_length_alone_would_give():
    # Within each run the score goes up by 1 where the reply doubles; in B all replies are twice as long.
    lengths = [2**i - 1 for i in range(3, 9)]
    a = [judged(f"c{i}", 1 + 0.5 * i, reply="x" * n) for i, n in enumerate(lengths)]
    b = [judged(f"c{i}", 1.5 + 0.5 * i, reply="x" * (2 * n + 1)) for i, n in enumerate(lengths)]
    result = compared(a, b)
    (change,) = result.dimensions
    assert change.delta.value == pytest.approx(0.5)
    assert change.by_length == pytest.approx(0.5)
    assert result.controls[0].delta.value == pytest.approx(np.mean([n + 1 for n in lengths]))


def test_groups_have_the_difference_of_their_own_pairs():
    a = [judged(f"c{i}", 4, scenario="ab"[i % 2]) for i in range(12)]
    b = [judged(f"c{i}", 4 - i % 2, scenario="ab"[i % 2]) for i in range(12)]
    result = compared(a, b, by=("scenario",))
    assert [(g.name, g.a, g.changes[0].delta.value) for g in result.groups] == [("a", 6, 0.0), ("b", 6, -1.0)]


def test_a_gate_takes_the_end_that_speaks_against_it():
    worse = compared(log(*[4, 5, 3] * 5), log(*[3, 4, 3] * 5))
    change = worse.dimensions[0]
    assert change.delta.value == pytest.approx(-2 / 3)
    assert not parse_delta_gate("helpfulness.delta>=-0.1").evaluate(worse)
    assert parse_delta_gate("helpfulness.delta>=-1").evaluate(worse)
    between = (change.delta.low + change.delta.value) / 2
    missed = parse_delta_gate(f"helpfulness.delta>={between:.4f}").evaluate(worse)
    assert not missed
    assert "the sample does not show it, because the lower end counts" in missed.sentence
    assert parse_delta_gate(f"helpfulness.delta.value>={between:.4f}").evaluate(worse)
    assert parse_delta_gate("helpfulness.delta<=-0.1").evaluate(worse)
    assert "cannot show" not in parse_delta_gate("helpfulness.delta>=-0.05").evaluate(worse).sentence
    unclear = compared(log(*[4, 5, 3] * 5), log(*[4, 4, 4] * 5))
    small = parse_delta_gate("helpfulness.delta>=-0.05").evaluate(unclear)
    assert "it cannot show a change of 0.05: the least that it shows in 4 of 5 cases is" in small.sentence
    zero = parse_delta_gate("helpfulness.delta>=0").evaluate(unclear).sentence
    assert "; the least that it shows in 4 of 5 cases is" in zero


def test_a_gate_is_about_one_figure_however_many_are_tested():
    def two(*scores):
        talks = zip(log(*scores), scores[::-1], strict=True)
        return [(talk, [*rows, row(talk.id, s, name="coherence", turn=1)]) for (talk, rows), s in talks]

    second = PlainDimension("coherence", "turn")
    a, b = [4, 5, 3] * 5, [4, 4, 4] * 5
    (alone,) = compared(log(*a), log(*b)).dimensions
    sides = (side(n, *two(*s)) for n, s in (("old", a), ("new", b)))
    both = between(*sides, (HELP, second))
    change = both.dimensions[0]
    assert change.detectable > alone.detectable == alone.detectable_alone
    assert change.detectable_alone == alone.detectable
    sentence = parse_delta_gate("helpfulness.delta>=-0.05").evaluate(both).sentence
    assert f"in 4 of 5 cases is {alone.detectable:.2f};" in sentence


def test_a_gate_that_is_met_by_a_run_that_is_worse_says_both():
    worse = compared(log(*[4, 5, 3] * 5), log(*[3, 4, 3] * 5))
    assert headline(worse)[0].startswith("new is worse than old: ")
    less = "shown to be worse, but by less than the gate allows"
    met = parse_delta_gate("helpfulness.delta>=-1").evaluate(worse)
    low, high = (f"{end:.2f}" for end in worse.dimensions[0].delta.interval)
    assert f"met: helpfulness.delta is -0.67 [{low}, {high}], {less}; required >= -1" in met.sentence
    assert less in parse_delta_gate("helpfulness.delta.value>=-1").evaluate(worse).sentence
    assert less not in parse_delta_gate("helpfulness.delta>=-0.1").evaluate(worse).sentence
    assert less not in parse_delta_gate("helpfulness.delta<=-0.1").evaluate(worse).sentence
    better = compared(log(*[3, 4, 3] * 5), log(*[4, 5, 3] * 5))
    assert less not in parse_delta_gate("helpfulness.delta>=-1").evaluate(better).sentence


def test_a_gate_on_a_share_that_is_met_by_more_findings_says_so():
    a = [judged(f"c{i}", 4, signals=[]) for i in range(40)]
    b = [judged(f"c{i}", 4, signals=[{"name": "refusal"}] if i < 10 else []) for i in range(40)]
    met = parse_delta_gate("findings.delta<=0.5").evaluate(compared(a, b))
    assert met
    assert "shown to be worse, but by less than the gate allows" in met.sentence


def test_a_gate_that_is_met_says_nothing_of_what_the_sample_could_not_show():
    better = compared(log(*[1, 3, 3] * 5), log(*[4, 5, 4] * 5))
    met = parse_delta_gate("helpfulness.delta>=-0.1").evaluate(better)
    assert met
    assert "cannot show" not in met.sentence


def test_a_gate_that_cannot_be_read_or_asks_for_nothing_known_is_refused():
    result = compared(log(1, 2), log(2, 1))
    with pytest.raises(UsageError, match="cannot read the gate"):
        parse_delta_gate("helpfulness.mean>=4")
    with pytest.raises(UsageError, match="did you mean 'helpfulness'"):
        parse_delta_gate("helpfulnes.delta>=0").evaluate(result)
    with pytest.raises(UsageError, match="no finding 'refuses' in common") as refused:
        parse_delta_gate("finding.refuses.delta<=0.1").evaluate(result)
    assert refused.value.hint == "what may gate here: failed, helpfulness"
    with pytest.raises(UsageError, match="no rating 'quality' in common"):
        parse_delta_gate("rating.quality.delta>=0").evaluate(result)


# What was never shown to agree with people


def test_what_is_not_checked_is_not_tested_and_has_no_side():
    a, b = log(*[4, 5, 3] * 5), log(*[3, 4, 3] * 5)
    result = compared(a, b, evidence=NOTHING_CHECKED)
    (change,) = result.dimensions
    assert (change.answer, change.checked, change.p_corrected) == ("not tested", False, None)
    assert result.turned_by == "scores"
    shown = str(brief(result, (), (), paths=("old", "new"), verbose=True))
    assert "Unchecked: order of reading only" in shown
    assert not any(word in shown + "".join(headline(result)) for word in ("is worse", "is better", "became"))
    assert tone_of(result) == "info"
    assert headline(result)[0].startswith("Cannot tell new from old: the judge names")


def test_a_gate_on_what_is_not_checked_is_refused_and_lists_what_may_gate():
    a, b = found(*[""] * 10, verdict="good"), found(*["refuses"] * 10, verdict="poor")
    result = compared(a, b, evidence=NOTHING_CHECKED)
    for gate in ("helpfulness.delta>=-0.1", "good.delta>=-0.1"):
        with pytest.raises(UsageError, match="nothing shows that") as refused:
            parse_delta_gate(gate).evaluate(result)
        assert "failed.delta, findings.delta, finding.refuses.delta; or gate" in refused.value.hint
    asked = compared(a, b, evidence=RunEvidence(unchecked=True))
    assert headline(asked)[0].startswith("UNCHECKED: ")
    assert headline(asked)[0].endswith(" They are helpfulness.")
    assert parse_delta_gate("helpfulness.delta.value>=-0.1").evaluate(asked)
    assert tuple(may_gate(asked)) == ("failed", "findings", "good", "helpfulness", "finding.refuses")


def test_gates_on_kinds_of_findings_failures_and_ratings():
    rated = [Rating("c0", "user effort", 3.0)]
    a = found(*[""] * 40, ratings=rated)
    b = found(*["refuses"] * 4, *[""] * 36, ratings=rated)
    result = compared(a, b, evidence=NOTHING_CHECKED)
    assert not parse_delta_gate("finding.refuses.delta<=0.05").evaluate(result)
    assert parse_delta_gate("finding.refuses.delta.value<=0.1").evaluate(result)
    assert "is +0.0 points" in parse_delta_gate("finding.broken.delta<=0.2").evaluate(result).sentence
    assert parse_delta_gate("failed.delta.value<=0").evaluate(result)
    assert parse_delta_gate("rating.user_effort.delta.value>=0").evaluate(result)
    with pytest.raises(UsageError, match="there is no finding 'refused'") as unknown:
        parse_delta_gate("finding.refused.delta<=0.1").evaluate(result)
    assert unknown.value.hint.startswith("did you mean 'refuses'? findings: refuses, ")


def test_a_gate_names_ratings_of_turns_as_the_gate_of_judge_does():
    of_turns, of_all = Rating("c0", "user effort", 3.0, turn=1), Rating("c0", "user effort", 4.0)
    for ratings, names in (
        ([of_turns], ["rating.user_effort"]),
        ([of_turns, of_all], ["rating.user_effort", "rating.user_effort_of_turns"]),
    ):
        log = found(*[""] * 6, ratings=ratings)
        result = compared(log, log, evidence=NOTHING_CHECKED)
        assert [name for name in may_gate(result) if name.startswith("rating")] == names
        assert parse_delta_gate("rating.user_effort.delta.value>=0").evaluate(result)


# One question first


def test_what_changed_most_is_said_first_in_the_readers_words():
    # Ten of forty conversations are refused anew, nine of them in one scenario, which has a quarter of all.
    scenes = ["hotel"] * 10 + ["taxi"] * 15 + ["train"] * 15

    def run(*kinds):
        return [
            judged(f"c{i}", 3, scenario=scene, signals=[{"name": k} for k in of.split()])
            for i, (of, scene) in enumerate(zip(kinds, scenes, strict=True))
        ]

    result = compared(run(*[""] * 20, *["told_already"] * 20), run(
        *["refuses"] * 9, "", "refuses", *[""] * 9, *["told_already"] * 20
    ), evidence=NOTHING_CHECKED)  # fmt: skip
    first, second, *_ = headline(result)
    assert first.startswith(
        "More conversations have the finding “Declines a request that seems harmless”: 10 of 40, before 0 "
        "of 40 (+25.0 points ["
    )
    assert first.endswith("Most of it in “hotel”: 9 of 10, before 0.")
    assert second.startswith("More conversations have a finding: 30 of 40, before 20 of 40 (+25.0 points [")
    assert [c.answer for c in result.findings] == ["more", "more", "cannot tell"]
    assert tone_of(result) == "warn"
    fewer = compared(run(*["refuses"] * 10, *[""] * 30), run(*[""] * 40), evidence=NOTHING_CHECKED)
    assert headline(fewer)[0].startswith("Fewer conversations have the finding")
    assert tone_of(fewer) == "info"  # a judge that overlooks a fault finds fewer, too


def test_what_no_result_could_show_is_said_in_place_of_a_verdict():
    # Five pairs: flipping all five gives 2 of 32, p = .0625 at the least, and no interval of a difference.
    few = compared(found(*[""] * 5), found(*["refuses"] * 5), evidence=NOTHING_CHECKED)
    assert few.any_finding.answer == "too few to tell"
    assert headline(few)[0].startswith("Too few to tell new from old: too few conversations: 5")
    # Two of forty had one: not even none of forty would be shown to be fewer.
    rare = compared(found("refuses", "refuses", *[""] * 38), found("", "refuses", *[""] * 38))
    assert rare.any_finding.answer == "cannot tell"
    assert any(s.endswith("; a fall cannot be so large here.") for s in headline(rare))


def test_dimensions_that_move_by_the_same_clusters_are_corrected_together():
    names = [PlainDimension(f"d{i}", "turn") for i in range(6)]

    def run(name, *scores):
        rng = np.random.default_rng(1 if name == "old" else 2)
        talks = []
        for i, score in enumerate(scores):
            rows = [row(f"c{i}", score + rng.normal(0, 0.02), name=d.name) for d in names]
            talks.append((judged(f"c{i}", score)[0], rows))
        return side(name, *talks)

    evidence = RunEvidence(dimensions={d.name: AGREES for d in names})
    old, new = run("old", *[3] * 20), run("new", *[3, 3, 2, 3, 2, 4, 2, 2, 2, 3] * 2)
    result = between(old, new, names, evidence)
    for change in result.dimensions:
        assert 0.01 < change.p < 0.03
        assert change.p <= change.p_corrected < 0.05 < 6 * change.p  # Holm would make it six times p
        assert (change.answer, change.delta.high < 0) == ("worse", True)


def test_pairs_turn_by_findings_where_the_verdict_is_not_checked():
    a = found("", "refuses", "", "refuses", "broken refuses", "", verdict="good")
    b = found("refuses", "", "", "broken", "", "", verdict="poor")
    result = compared(a, b, evidence=NOTHING_CHECKED)
    assert result.turned_by == "findings"
    assert [(t.a, t.new, t.gone) for t in result.down] == [
        ("c0", ("refuses",), ()),
        ("c3", ("broken",), ("refuses",)),
    ]
    assert [t.a for t in result.up] == ["c4", "c1"]
    page = str(comparison_page(result, (), (), paths=("old", "new"), created="", version="").blocks)
    assert all(f"c{i}: " in page for i in (0, 3, 4, 1))
    assert "dialogauge show old ID; dialogauge show new ID" in page


def test_the_turn_at_which_two_part():
    def talk(*replies):
        return Conversation(
            "c", tuple(m for r in replies for m in (Message("user", "Go on."), Message("assistant", r)))
        )

    assert parting(talk("a", "b", "c"), talk("a", "b", "d")) == 2
    assert parting(talk("a"), talk("a", "b")) == 1
    assert parting(talk("x"), talk("a")) == 0


def test_a_run_of_which_nothing_was_scored_has_bounds_and_no_difference():
    result = compared(log(None, None), log(3, 4))
    (change,) = result.dimensions
    assert (change.a.n, change.a.n_failed, change.delta.value, change.p) == (0, 2, None, None)
    assert change.bounds is not None
