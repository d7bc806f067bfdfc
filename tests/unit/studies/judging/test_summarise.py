import json
import tracemalloc

import pytest

from dialogauge.core import Scale
from dialogauge.core.json_keys import as_json
from dialogauge.stats import mean_estimate
from dialogauge.studies.judging.summary import MAX_GROUPS, summarise
from report_samples import CARD, FRACTIONS, dimension, made_run, row

HELP = (dimension("helpfulness"),)
WHOLE = (dimension("coherence", "conversation"),)


def turn_row(conversation_id, turn, score, **fields):
    return row(conversation_id, turn=turn, scores={"helpfulness": score}, **fields)


def failed(conversation_id, level="turn", turn=None, kind="timeout"):
    return row(conversation_id, level, turn, failure={"kind": kind, "message": "m"})


def test_a_failure_takes_no_part_in_the_mean_but_in_the_bounds():
    rows = [turn_row("a", 1, 5), turn_row("a", 2, 3), turn_row("b", 1, "n/a"), failed("b", turn=2)]
    summary = summarise(rows, dimensions=HELP)
    assert (summary.requested, summary.scored, summary.not_applicable, summary.failed) == (4, 2, 1, 1)
    found = summary.dimension("helpfulness")
    assert (found.mean.value, found.n, found.n_na, found.n_failed, found.requested) == (4, 2, 1, 1, 4)
    assert found.bounds == (9 / 3, 13 / 3)
    assert found.mean.interval is None  # one cluster only
    assert summary.failures == {"timeout": 1}
    assert summary.failed_share == 0.25


def test_bounds_know_when_lower_is_better():
    spec = (dimension("harm", scale=Scale(0, 4, higher_is_better=False)),)
    rows = [row("a", turn=1, scores={"harm": 2}), failed("a", turn=2)]
    found = summarise(rows, dimensions=spec).dimension("harm")
    assert found.bounds == (3, 1)


def test_interval_is_clustered_by_conversation_in_any_order_of_rows():
    made = made_run(30, failing=0.1)
    summary = summarise(made.rows, dimensions=CARD)
    pairs = [
        (r["scores"]["helpfulness"], r["conversation_id"]) for r in made.rows if r["scores"] and r["turn"]
    ]
    expected = mean_estimate(*map(list, zip(*pairs, strict=True)), limits=(1.0, 5.0))
    found = summary.dimension("helpfulness").mean
    assert found.interval == pytest.approx(expected.interval)
    assert (found.n, found.clusters) == (expected.n, expected.clusters)
    turned = summarise(made.rows[::-1], dimensions=CARD)
    assert turned.dimension("coherence").mean.value == summary.dimension("coherence").mean.value
    assert turned.conversations == summary.conversations


def test_a_missing_dimension_of_a_judged_row_is_a_failure_of_that_dimension():
    specs = (*HELP, dimension("safety"))
    found = summarise([turn_row("a", 1, 5)], dimensions=specs).dimension("safety")
    assert (found.n, found.n_failed, found.mean.value) == (0, 1, None)
    assert found.bounds == (1, 5)


def test_conversations_are_told_apart_and_sum_to_those_asked_for():
    rows = [
        turn_row("a", 1, 4),
        row("a", "conversation", scores={"coherence": 4}, verdict="good", verdict_basis="full"),
        failed("b", turn=1),
        failed("b", "conversation"),
        failed("c", "conversation", kind="no_reply"),
    ]
    summary = summarise(rows, dimensions=HELP + WHOLE, unreadable=["x.jsonl:3: no JSON"], pending=2)
    counts = summary.conversations
    assert (counts.judged, counts.failed, counts.without_reply, counts.unreadable, counts.pending) == (
        1,
        1,
        1,
        1,
        2,
    )
    assert counts.requested == 6
    assert summary.failures == {"timeout": 2, "no_reply": 1, "unreadable": 1}
    assert (summary.requested, summary.failed) == (6, 4)
    assert summary.failed_share == 3 / 5
    assert summary.verdicts.requested == 6
    assert summary.verdicts.missing == 5
    assert summary.dimension("coherence").n_failed == 3


def test_verdicts_bases_and_mismatches_are_counted():
    def whole(i, verdict, basis="full", **details):
        return row(
            i, "conversation", scores={"coherence": 4}, verdict=verdict, verdict_basis=basis, details=details
        )

    rows = [
        whole("a", "good", model_verdict="good"),
        whole("b", "poor", model_verdict="good"),
        whole("c", "good", "partial"),
    ]
    verdicts = summarise(rows, dimensions=WHOLE).verdicts
    assert verdicts.counts == {"good": 2, "poor": 1}
    assert verdicts.basis == {"full": 2, "partial": 1}
    assert (verdicts.compared, verdicts.mismatched) == (2, 1)
    assert summarise([turn_row("a", 1, 4)], dimensions=HELP).verdicts is None


def test_rows_without_a_question_do_not_count():
    rows = [turn_row("a", 1, 4), row("a", "conversation", scores={})]
    assert summarise(rows, dimensions=HELP).requested == 1


def test_histogram_curve_and_windows():
    rows = [
        turn_row("a", 1, 4, details={"window_difference": {"helpfulness": -1}}),
        turn_row("b", 1, 2, details={"window_difference": {"helpfulness": 0}}),
        turn_row("a", 2, 3.5),
    ]
    summary = summarise(rows, dimensions=HELP)
    found = summary.dimension("helpfulness")
    assert [(b.low, b.count) for b in found.bins] == [(1, 0), (2, 1), (3, 0), (4, 2), (5, 0)]
    assert [(p.turn, p.mean.value, p.mean.n) for p in found.curve] == [(1, 3, 2), (2, 3.5, 1)]
    assert found.curve[0].mean.reason == "too few conversations: 2, and an interval takes 5"
    assert [(w.dimension, w.n, w.mean_absolute) for w in summary.windows] == [("helpfulness", 2, 0.5)]


def test_histogram_of_fractions_has_equal_steps():
    rows = [row("a", turn=1, scores={"p": v}) for v in (0.0, 0.05, 0.95, 1.0)]
    bins = summarise(rows, dimensions=(dimension("p", scale=FRACTIONS),)).dimension("p").bins
    assert [b.count for b in bins] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 2]


def test_repeats_give_the_spread_within_a_target():
    rows = [turn_row("a", 1, s, repeat=i) for i, s in enumerate((3, 5), 1)]
    rows += [turn_row("b", 1, s, repeat=i) for i, s in enumerate((4, 4), 1)]
    summary = summarise(rows, dimensions=HELP)
    found = summary.dimension("helpfulness")
    assert summary.repeats == 2
    assert (found.spread.targets, found.spread.mean_sd) == (2, pytest.approx(2**0.5 / 2))
    assert found.mean.clusters == 2
    assert found.curve[0].mean.n == 2
    assert summarise(rows[:1], dimensions=HELP).dimension("helpfulness").spread is None


def test_repeats_are_compared_target_by_target_and_not_by_their_means():
    """Two repeats of the same mean, 3 and 3, of which one target in four is as it was."""
    scores = {"a": (1, 5), "b": (5, 1), "c": (3, 3), "d": (3, 3.4)}
    rows = [turn_row(c, 1, s, repeat=n) for c, both in scores.items() for n, s in enumerate(both, 1)]
    rows.append(turn_row("e", 1, 2, repeat=1))  # judged once: it tells nothing of repeats
    spread = summarise(rows, dimensions=HELP).dimension("helpfulness").spread
    assert (spread.targets, spread.exact.value, spread.apart.value) == (4, 0.5, 0.5)
    # pa 1/2; shares 2/8, 2/8 and 4/8 of 1, 5 and 3: pe = (2 * 3/16 + 1/4) / 4
    assert spread.ac1.value == pytest.approx((0.5 - 0.625 / 4) / (1 - 0.625 / 4))
    assert as_json(spread)["apart"]["n"] == 4


def test_repeats_on_a_scale_of_fractions_have_their_sd_alone():
    rows = [row("a", turn=1, scores={"p": v}, repeat=n) for n, v in enumerate((0.0, 1.0), 1)]
    spread = summarise(rows, dimensions=(dimension("p", scale=FRACTIONS),)).dimension("p").spread
    assert spread.mean_sd == pytest.approx(0.5**0.5)
    assert (spread.exact, spread.ac1, spread.apart) == (None, None, None)


def test_usage_sums_by_role_and_an_unknown_cost_stays_unknown():
    def usage(cost, role):
        part = {"calls": 1, "cached": 2, "prompt_tokens": 30, "completion_tokens": 4, "cost": cost}
        return {**part, "by_role": {role: part}}

    rows = [turn_row("a", 1, 4, usage=usage(0.5, "judge")), turn_row("a", 2, 4, usage=usage(None, "memory"))]
    summary = summarise(rows, dimensions=HELP)
    assert (summary.total.calls, summary.total.cached, summary.total.prompt_tokens) == (2, 4, 60)
    assert summary.total.cost is None
    assert summary.by_role["judge"].cost == 0.5
    assert summary.by_role["memory"].cost is None


def test_breakdowns_keep_the_largest_groups_and_count_the_rest():
    rows = [turn_row(f"c{i}", 1, 4, scenario=f"s{i % 60:02d}") for i in range(90)]
    rows.append(failed("c0", turn=2))
    summary = summarise(rows, dimensions=HELP)
    assert len(summary.by["scenario"]) == MAX_GROUPS
    assert summary.groups_left_out == {"scenario": 10}
    first = summary.by["scenario"][0]
    assert (first.name, first.conversations) == ("s00", 2)
    assert (first.means["helpfulness"].n, first.n_failed["helpfulness"]) == (2, 1)
    assert "language" not in summary.by


def test_candidates_in_scenarios_where_there_are_several_of_both():
    rows = [
        {**turn_row(f"{c}{s}{n}", 1, score), "candidate": c, "scenario": s}
        for c, s, score in (("a", "x", 1), ("a", "y", 3), ("b", "y", 5))
        for n in range(2)
    ]
    summary = summarise(rows, dimensions=HELP)
    crossed = summary.by["candidate_scenario"]
    assert [(g.name, g.scenario, g.conversations, g.means["helpfulness"].value) for g in crossed] == [
        ("a", "x", 2, 1.0),
        ("a", "y", 2, 3.0),
        ("b", "y", 2, 5.0),
    ]
    assert [g.bins["helpfulness"] for g in summary.by["candidate"]] == [(2, 0, 2, 0, 0), (0, 0, 0, 0, 2)]
    assert as_json(summary)["by"]["candidate_scenario"]["groups"][2]["scenario"] == "y"
    assert "candidate_scenario" not in summarise(rows[:4], dimensions=HELP).by


def test_language_may_stand_on_the_row_or_only_on_that_of_the_conversation():
    rows = [
        turn_row("a", 1, 4),
        row("a", "conversation", scores={"coherence": 4}, details={"language": "zh"}),
        turn_row("b", 1, 2, language="en"),
    ]
    groups = summarise(rows, dimensions=HELP + WHOLE).by["language"]
    assert [(g.name, g.means["helpfulness"].value) for g in groups] == [("en", 2), ("zh", 4)]


def test_what_judges_add_is_counted():
    details = {"not_judged": {"safety": "not ours to say"}, "label": "SAT"}
    rows = [
        row("a", turn=1, scores={"helpfulness": 4, "safety": "n/a"}, details=details),
        row("a", turn=2, scores={"helpfulness": 2, "safety": "n/a"}, details={**details, "label": "DSAT"}),
        row(
            "a",
            "conversation",
            scores={"coherence": 3},
            details={
                "class": "SAT",
                "labels": {"reason": "too_long"},
                "items": {
                    "claims": [{"text": "x", "label": "supported"}, {"text": "y", "label": "supported"}]
                },
                "window_difference": {"n": 3, "mean": 0.3, "max": 1},
                "reasked": True,
                "repaired": False,
                "basis_cut": 2,
            },
        ),
    ]
    summary = summarise(rows, dimensions=(*HELP, dimension("safety"), *WHOLE))
    assert summary.labels == {
        "class": {"SAT": 2, "DSAT": 1},
        "reason": {"too_long": 1},
        "claims": {"supported": 2},
    }
    assert summary.marks == {"reasked": 1, "basis_cut": 2}
    assert summary.windows == ()
    assert summary.dimension("safety").reasons == {"not ours to say": 2}


def test_one_conversation_of_two_candidates_is_one_cluster():
    rows = [turn_row("a", 1, 4, candidate="x"), turn_row("a", 1, 2, candidate="y")]
    summary = summarise(rows, dimensions=HELP)
    assert summary.dimension("helpfulness").mean.clusters == 1
    assert summary.conversations.judged == 2
    assert [g.means["helpfulness"].value for g in summary.by["candidate"]] == [4, 2]


def test_nothing_is_undefined_not_zero_and_json_has_no_nan():
    summary = summarise([], dimensions=CARD)
    text = json.dumps(as_json(summary), allow_nan=False)
    read = json.loads(text)
    assert read["dimensions"]["helpfulness"]["mean"] is None
    assert read["dimensions"]["helpfulness"]["n"] == 0
    assert read["dimensions"]["helpfulness"]["bounds"] is None
    assert (read["failed_share"], read["verdicts"]) == (None, None)
    json.dumps(as_json(summarise(made_run(12).rows, dimensions=CARD)), allow_nan=False)


def test_counts_of_every_dimension_sum_to_what_was_asked():
    summary = summarise(made_run(40, failing=0.2).rows, dimensions=CARD, unreadable=["x"])
    for found in summary.dimensions:
        assert 1 <= found.mean.low <= found.mean.value <= found.mean.high <= 5
        assert found.n + found.n_na + found.n_failed == found.requested
        assert sum(b.count for b in found.bins) == found.n
    assert summary.scored + summary.not_applicable + summary.failed == summary.requested


def test_rows_are_not_kept():
    made = made_run(40)

    def stream():
        for r in made.rows:
            yield {**r, "rationale": "x" * 50_000}

    tracemalloc.start()
    summarise(stream(), dimensions=CARD, repeats=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
