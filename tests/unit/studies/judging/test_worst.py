from dataclasses import replace

import pytest

from dialogauge.core import ONE_TO_FIVE, Scale
from dialogauge.stats.reading import table_of
from dialogauge.studies.judging.worst import week_of, worst_group
from report_samples import row


def signals(wrong):
    return {"details": {"signals": [{"name": "refuses"}] * bool(wrong)}}


def tally(*groups, field="scenario", rating=None):
    """Groups of (name, conversations, of these with something wrong)."""
    taken = []
    for name, n, wrong in groups:
        for number in range(n):
            unit = row(
                f"{name}-{number}", turn=1, scores={"helpfulness": 3}, **{field: name},
                **signals(number < wrong),
            )  # fmt: skip
            if rating is not None:
                unit["rating"] = {"dimension": "rating", "score": rating[name], "raters": 1}
            taken.append(unit)
    return taken


def test_the_group_with_most_that_is_wrong_is_named_with_the_others_beside_it():
    taken = tally(("booking", 40, 4), ("refunds", 20, 15), ("travel", 40, 5))
    taken.append(row("failed", turn=1, scores=None, scenario="refunds"))
    worst = worst_group(table_of(taken), {})
    assert (worst.field, worst.name, worst.conversations, worst.compared) == ("scenario", "refunds", 20, 3)
    assert worst.group.value == 0.75
    assert worst.others.value == pytest.approx(9 / 80)
    assert worst.sentence.startswith("scenario refunds (20 conversations): share with a named fault 75.0 % [")
    assert worst.sentence.endswith("3 groups compared.")


def test_five_of_five_are_named_where_none_of_ninety_others_is():
    """One of the C(95, 5) ways to choose five of them."""
    assert worst_group(table_of(tally(("a", 5, 5), ("b", 90, 0))), {}).name == "a"


def test_people_s_ratings_count_where_there_are_enough():
    worst = worst_group(table_of(tally(("a", 20, 20), ("b", 20, 0), rating={"a": 5, "b": 2})), {})
    assert worst.name == "b"
    assert worst.group.value == 2
    assert "people’s mean rating 2.00" in worst.sentence


def test_where_a_low_number_is_the_better_one_the_worst_group_has_the_higher():
    marks = {("conversation", "rating"): Scale(1, 5, higher_is_better=False)}
    units = tally(("a", 20, 20), ("b", 20, 0), rating={"a": 5, "b": 2})
    assert (
        worst_group(
            table_of(units), {}, {("turn", "rating"): replace(ONE_TO_FIVE, higher_is_better=False)}
        ).name
        == "a"
    )
    assert worst_group(table_of(units), {}, marks).name == "b"


def test_a_reward_is_not_called_a_rating_of_people():
    taken = []
    for number in range(40):
        unit = row(f"c{number}", turn=None, scores={"coherence": 3}, candidate="ab"[number % 2])
        taken.append({**unit, "rating": {"dimension": "reward", "score": number % 2, "raters": 1}})
    assert worst_group(table_of(taken), {}).sentence.startswith(
        "candidate a (20 conversations): mean reward 0.00 ["
    )


def test_ratings_in_several_dimensions_are_not_compared():
    taken = tally(("a", 20, 0), ("b", 20, 0), rating={"a": 4, "b": 4})
    for number in range(15):
        unit = row(f"c-{number}", turn=1, scores={"helpfulness": 3}, scenario="c")
        taken.append({**unit, "rating": {"dimension": "reward", "score": 0.5, "raters": 1}})
    assert worst_group(table_of(taken), {}) is None


def test_sampling_weights_count_in_the_worst_group():
    """Of a, ten rated 1 stand for one each and ten rated 5 for nine: (10 + 450) / 100 = 4.6."""
    taken = []
    for number in range(40):
        name, low = "ab"[number % 2], number < 20
        rating = {"dimension": "rating", "score": 1 if low and name == "a" else 5, "raters": 1}
        unit = row(f"c{number}", turn=None, scores={"coherence": 3}, scenario=name)
        taken.append({**unit, "rating": {**rating, "weight": 1.0 if low else 9.0}})
    plain = []
    for number in range(40):
        name, low = "ab"[number % 2], number < 20
        rating = {"dimension": "rating", "score": 1 if low and name == "a" else 5, "raters": 1}
        plain.append(
            {**row(f"c{number}", turn=None, scores={"coherence": 3}, scenario=name), "rating": rating}
        )
    assert worst_group(table_of(plain), {}).group.value == 3.0
    assert worst_group(table_of(taken), {}) is None


def test_the_interval_says_what_it_is_clustered_by():
    taken = []
    for number in range(120):
        unit = row(f"c-{number}", turn=1, scores={"helpfulness": 3}, user_id=f"u{number % 40}")
        taken.append({**unit, "scenario": "ab"[number % 40 < 20], **signals(number % 40 < 20)})
    worst = worst_group(table_of(taken), {})
    assert (worst.field, worst.group.method, worst.group.clusters) == ("scenario", "jackknife by users", 20)


def test_a_scenario_that_every_user_went_through_is_held_against_their_others():
    """Of 20 users with 10 conversations each: 28 of 40 are wrong in one scenario, 48 of 160 in the others."""
    taken = []
    for number in range(200):
        user, place = divmod(number, 10)
        wrong = (user + 5 * place) % 10 < 7 if place < 2 else (user + place) % 10 < 3
        unit = row(f"c-{number}", turn=1, scores={"helpfulness": 3}, user_id=f"u{user}")
        taken.append({**unit, "scenario": "refunds" if place < 2 else f"s{place % 2}", **signals(wrong)})
    worst = worst_group(table_of(taken), {})
    assert (worst.field, worst.name, worst.group.value) == ("scenario", "refunds", 0.7)
    assert worst.others.value == 0.3


@pytest.mark.parametrize(
    "groups",
    [
        (("a", 40, 8), ("b", 40, 10)),
        (("a", 4, 4), ("b", 90, 0)),
        (("a", 12, 12), ("b", 40, 30)),  # that all of a few are alike makes them no surer than others
        (("a", 40, 40),),
        (("a", 40, 40), (None, 40, 0)),
        (("a", 20, 0), ("b", 20, 0)),
        (),
    ],
)
def test_no_group_is_named_without_a_difference_that_holds(groups):
    assert worst_group(table_of(tally(*groups)), {}) is None


def test_a_difference_that_holds_of_two_groups_need_not_hold_of_twelve():
    few = (("odd", 20, 15), ("a", 60, 24))
    assert worst_group(table_of(tally(*few)), {}).name == "odd"
    many = tally(("odd", 20, 15), *((f"g{n}", 6, 2 + n % 2 + n % 3 % 2) for n in range(10)))
    assert worst_group(table_of(many), {}) is None


def test_what_is_wrong_with_turns_that_were_judged_counts_alone():
    taken = []
    for number in range(80):
        name = "ab"[number % 2]
        shared = {"scenario": name, **signals(name == "a")}
        taken.append(row(f"c{number}", turn=1, scores={"helpfulness": 3}, scenario=name))
        taken.append(row(f"c{number}", "conversation", scores={"coherence": 3}, **shared))
    assert worst_group(table_of(taken), {}) is None


def test_a_group_of_one_user_says_nothing_of_scenarios():
    made = []
    for number in range(40):
        one = number < 20
        made.append(
            row(
                f"c{number}",
                turn=1,
                scores={"helpfulness": 3},
                **signals(one),
                scenario="a" if one else "b",
                user_id="u0" if one else f"u{number}",
            )
        )
    worst = worst_group(table_of(made), {})
    assert (worst.field, worst.name) == ("user", "u0")


def test_weeks_are_groups_too():
    made = tally(("a", 20, 18), ("b", 20, 1), field="candidate")
    weeks = {(f"a-{n}", "a"): "2026-W01" for n in range(20)} | {
        (f"b-{n}", "b"): "2026-W02" for n in range(20)
    }
    assert worst_group(table_of(made), weeks).field in ("candidate", "week")
    assert worst_group(table_of(made), weeks).compared == 4


@pytest.mark.parametrize(
    ("metadata", "week"),
    [
        ({"timestamp": "2026-11-23T01:30:00Z"}, "2026-W48"),
        ({"created_at": "2026-01-01"}, "2026-W01"),
        ({"create_time": 1_767_225_600}, "2026-W01"),
        ({"time": 1_767_225_600_000}, "2026-W01"),
        ({"timestamp": "soon", "date": "2026-01-01"}, "2026-W01"),
        ({"timestamp": True, "time": 12, "created": 10**30, "date": None}, None),
        ({}, None),
    ],
)
def test_the_week_of_a_conversation(metadata, week):
    assert week_of(metadata) == week


def test_the_week_may_stand_on_the_messages_alone():
    assert week_of({}, {}, {"created_at": "2026-11-23"}, {"created_at": "2026-12-23"}) == "2026-W48"
