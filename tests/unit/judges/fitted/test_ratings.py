import json
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.core import Conversation, FileFault, Message, Rating, Request, UsageError
from dialogauge.judges.fitted.cross_validation import RIDGES, cross_validate, line_folds
from dialogauge.judges.fitted.features import RatedPlace, SparseRows, rated_places, rows_of
from dialogauge.judges.fitted.judge import RatingsJudge, chances
from dialogauge.judges.fitted.model import (
    Cuts,
    FittedOn,
    RatingsModel,
    decide,
    fit_ratings,
    place_cuts,
    solve_ridge,
    sums_of,
    table_of,
    targets_of,
)


def rated(name, scores, *texts):
    """A conversation with ratings by (turn, rater)."""
    messages = tuple(Message(("user", "assistant")[i % 2], t) for i, t in enumerate(texts))
    ratings = [Rating(name, "satisfaction", s, turn, rater) for (turn, rater), s in scores]
    return Conversation(name, messages, ratings=tuple(ratings))


def corpus(n=90, seed=0):
    """Replies that fail are rated 2, fine ones 3; now and then a delighted 4."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        bad, good = rng.random() < 0.3, rng.random() < 0.2
        reply = (
            "Sorry, there is nothing." if bad else "Booked, enjoy!" if good else f"It is at {i} Mill Road."
        )
        score = 2 if bad else 4 if good else 3
        scores = [((0, "a"), 3), ((1, "a"), score), ((1, "b"), score), ((None, "a"), 3)]
        out.append(rated(f"c{i}", scores, "Where can I eat?", reply, "Thanks."))
    return out


def validated(table, fold):
    """Cross-validate without an event loop: it only ever gives way."""
    work = cross_validate(table, fold)
    try:
        while True:
            work.send(None)
    except StopIteration as ended:
        return ended.value


def examples():
    return [e for c in corpus() for e in rated_places(c, "satisfaction")[0]]


def test_examples_are_what_was_said_before_a_rating():
    one = rated("c", [((0, "a"), 3), ((1, "a"), 2), ((1, "b"), 4), ((None, "a"), 5)], "Hi", "Yes?", "Bye")
    first, turn, whole = rated_places(one, "satisfaction")[0]
    assert (first.stop, first.nothing_said, first.majority) == (0, True, 3)
    assert (turn.stop, turn.votes, turn.majority) == (2, (0, 1, 0, 1, 0), 2)
    assert (whole.stop, whole.turn, whole.reply_length) == (3, None, 4)


def test_a_turn_that_one_rater_rated_twice_is_two_examples():
    one = rated("c", [((1, "a"), 3), ((1, "b"), 3), ((1, "a"), 1), ((1, "b"), 1)], "Hi", "Yes?")
    assert [(e.number, e.majority) for e in rated_places(one, "satisfaction")[0]] == [(0, 3), (1, 1)]


@pytest.mark.parametrize(
    ("rating", "message"), [((1, 6), "not on 1 to 5"), ((1, "good"), "'good'"), ((9, 3), "turn 9")]
)
def test_what_is_no_rating_is_a_fault(rating, message):
    turn, score = rating
    found, faults = rated_places(rated("c", [((turn, "a"), score)], "Hi", "Yes?"), "satisfaction")
    assert found == ()
    assert message in str(faults[0])


def test_ridge_agrees_with_the_closed_form_and_sums_subtract():
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(40, 7)) * (rng.random((40, 7)) < 0.6)
    rows = SparseRows({j: v for j, v in enumerate(r) if v} for r in dense)
    targets = rng.normal(size=(40, 2))
    kept = np.arange(40) >= 10
    everything = sums_of(rows, targets, np.ones(40, bool))
    weights, prior = solve_ridge(everything - sums_of(rows, targets, ~kept), 3.0)
    x, y = dense[kept], targets[kept] - targets[kept].mean(axis=0)
    assert prior == pytest.approx(targets[kept].mean(axis=0))
    assert weights == pytest.approx(np.linalg.solve(x.T @ x + 3 * np.eye(7), x.T @ y), abs=1e-3)
    assert rows.times(weights) == pytest.approx(dense @ weights, abs=1e-6)


def test_rows_keep_the_columns_asked_for():
    rows = [{5: 1.0, 9: 2.0}, {9: 3.0}, {}]
    assert SparseRows(rows, most=1).columns.tolist() == [9]
    other = SparseRows([{5: 1.0, 7: 4.0}], columns=np.array([5, 9]))
    assert other.times(np.array([[1.0], [10.0]])).tolist() == [[1.0]]


def test_cuts_give_ratings_as_often_as_asked_and_a_warning_wins():
    shares = np.column_stack([np.linspace(0, 1, 10), np.linspace(0, 1, 10)])
    gold = np.array([2, *[3] * 8, 4])
    cuts = place_cuts(shares, gold, (2, 3), (2.0, 1.0), 3)
    called = decide(shares, (2, 3), cuts)
    assert called.tolist() == [4, *[3] * 7, 2, 2]
    assert decide(np.array([[0.9, 0.1]]), (2, 3), Cuts(3, {2: 0.5}, {3: 0.5})).tolist() == [2]


def test_lines_are_cut_as_published():
    assert np.bincount(line_folds(12553, 10)).tolist() == [1255] * 9 + [1258]


def test_left_out_ratings_are_found_and_the_prior_stands_where_nothing_was_said():
    held = examples()
    table = table_of(held)
    found = validated(table, line_folds(len(held), 5))
    told = np.array([e.turn == 1 for e in held])
    assert np.mean(found.called[told] == table.gold[told]) > 0.9
    assert set(found.called[table.prior_only]) == {3}


def test_nothing_of_the_left_out_part_is_used():
    held = examples()
    fold = line_folds(len(held), 5)
    table = table_of(held)
    honest = validated(table, fold)
    scrambled = table_of(held)
    rng = np.random.default_rng(2)
    here = np.flatnonzero(fold == 2)
    scrambled.shares[here] = scrambled.shares[rng.permutation(here)]
    scrambled.gold[here] = rng.integers(1, 6, here.size)
    other = validated(scrambled, fold)
    assert np.array_equal(other.called[here], honest.called[here])
    assert np.allclose(other.shares[here], honest.shares[here], atol=1e-5)


def test_the_settings_of_a_part_come_from_fits_that_saw_neither_it_nor_what_they_predict():
    """Seven parts of another size each: all are near one another, and every pair is fitted anew here."""
    held = examples()[:157]
    table, fold = table_of(held), np.repeat(np.arange(7), [10, 12, 16, 20, 26, 33, 40])
    found = validated(table, fold)
    targets = targets_of(table, found.boundaries)

    def error(ridge, part):
        """Mean squared error over the other parts where something was said."""
        squares = []
        for other in set(range(7)) - {part}:
            used = ~np.isin(fold, (part, other)) & ~table.prior_only
            weights, prior = solve_ridge(sums_of(table.rows, targets, used), ridge)
            there = (fold == other) & ~table.prior_only
            squares += [*((table.rows.times(weights) + prior - targets)[there] ** 2)]
        return np.mean(squares)

    assert found.ridges == tuple(min(RIDGES, key=lambda ridge: error(ridge, part)) for part in range(7))


def test_of_long_talks_the_latest_64_messages_of_a_side_are_read():
    def words(first):
        texts = [first, *(f"Question {i}?" if i % 2 else f"Answer {i}." for i in range(129))]
        talk = rated("c", [], *texts)
        (row,) = rows_of([RatedPlace(talk, len(talk.turns), 0, (0,) * 5)])
        return {column: value for column, value in row.items() if column < 1 << 33}

    assert words("Where is the aqueduct?") == words("Who painted the ceiling?")


FITTED_ON = FittedOn(360, 90, 90, 450, 90, ("en",), 5, {"model": {"kappa": 0.5, "uar": None}})


def fitted():
    held = examples()
    table = table_of(held)
    found = validated(table, line_folds(len(held), 5))
    known = {"dimension": "satisfaction", "fitted_on": FITTED_ON}
    return held, fit_ratings(table, found.cuts, found.boundaries, found.ridge, **known)


def test_a_model_is_the_same_after_a_round_trip_and_holds_no_text():
    held, model = fitted()
    text = model.to_json()
    assert "nothing" not in text
    again = RatingsModel.from_json(text)
    assert np.array_equal(again.predict(held)[1], model.predict(held)[1])
    assert (again.dimension, again.fitted_on) == ("satisfaction", FITTED_ON)


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"format": "dialogauge-ratings/1"}'])
def test_what_is_no_model_is_refused(text):
    with pytest.raises(FileFault, match="no fitted model"):
        RatingsModel.from_json(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "dialogauge-ratings/1"}, "'dialogauge-ratings/1' instead of"),
        ({"format": "dialogauge-local/2"}, "coefficients of the local judge"),
        ({"features": "0"}, "other features"),
        ({"boundaries": [3, 2]}, "ascending"),
        ({"boundaries": [2, 5]}, "ascending"),
        ({"usual": 6}, "cut"),
        ({"above": {"1": 0.5}}, "cut"),
        ({"prior": [0.5, float("nan")]}, "prior\\[1\\] is nan, not a number"),
        ({"prior": [0.5]}, "prior"),
        ({"weights": [[1.0]]}, "not one weight"),
        ({"columns": [2**63]}, "columns\\[0\\] is too large, not a whole number"),
        ({"fitted_on": None}, "fitted_on is null, not an object"),
        (
            {"fitted_on": FITTED_ON.to_json() | {"figures": {"model": {"uar": 1e999}}}},
            "figures.model.uar is inf",
        ),
        ({"fitted_on": {"examples": 1}}, "conversations"),
    ],
)
def test_a_model_that_cannot_be_used_is_named_with_its_file(change, message):
    value = json.loads(fitted()[1].to_json())
    assert value["boundaries"] == [2, 3]
    with pytest.raises(FileFault, match=message) as caught:
        RatingsModel.from_json(json.dumps(value | change), file="m.json")
    assert "m.json" in str(caught.value)
    assert "dialogauge fit DATA -o RUN" in (caught.value.hint or "")


def test_chances_sum_to_one_and_never_fall_below_nothing():
    shares = np.array([[0.2, 0.9], [0.5, 0.3], [0.0, 1.0]])
    expected = [[0, 0.2, 0.7, 0.1, 0], [0, 0.5, 0, 0.5, 0], [0, 0, 1, 0, 0]]
    assert chances(shares, (2, 3)) == pytest.approx(np.array(expected))
    assert chances(np.array([[0.25]]), (4,)) == pytest.approx(np.array([[0, 0, 0, 0.25, 0.75]]))


async def test_the_judge_says_of_new_talks_what_was_learnt():
    _, model = fitted()
    judge = RatingsJudge(model)
    assert [(d.name, d.level) for d in judge.dimensions] == [
        ("satisfaction", "turn"),
        ("satisfaction_whole", "conversation"),
    ]
    for reply, score in (
        ("Sorry, there is nothing.", 2),
        ("It is at 99 Mill Road.", 3),
        ("Booked, enjoy!", 4),
    ):
        new = rated("n", [], "Where can I eat?", reply, "Thanks.")
        turn, whole = await judge.judge(Request(new))
        assert (turn.target.level, turn.target.turn) == ("turn", 1)
        assert turn.outcome.numbers == {"satisfaction": score}
        told = turn.outcome.details
        expected = sum(int(k) * p for k, p in told["chances"].items())
        assert turn.outcome.scores["satisfaction"].value == pytest.approx(expected, abs=1e-3)
        assert whole.target.level == "conversation"
        assert list(whole.outcome.numbers) == ["satisfaction_whole"]


async def test_of_a_reward_the_judge_says_the_chance_of_the_good_side():
    """Every rating is of the whole and 1 or 5: the model has one boundary, four times."""
    sides = ((1, "I cannot."), (5, "Booked."))
    talks = [rated(f"c{n}.{s}", [((None, "a"), s)], "Book it.", t) for n in range(30) for s, t in sides]
    table = table_of([place for talk in talks for place in rated_places(talk, "satisfaction")[0]])
    on = FittedOn(60, 60, 60, 60, 60, two_sided=True)
    cuts = Cuts(1, {}, dict.fromkeys((1, 2, 3, 4), 0.5))
    model = fit_ratings(table, cuts, (1, 2, 3, 4), 0.1, dimension="reward", fitted_on=on)
    judge = RatingsJudge(RatingsModel.from_json(model.to_json(), file="m.json"))
    assert [(d.name, d.level, str(d.scale)) for d in judge.dimensions] == [("reward", "conversation", "0-1")]
    for reply, whole in (("Booked.", 1), ("I cannot.", 0)):
        (row,) = await judge.judge(Request(rated("n", [], "Book it.", reply)))
        score = row.outcome.scores["reward"]
        assert score.whole == whole
        assert score.value == pytest.approx(row.outcome.details["chances"]["5"])
        assert (score.value > 0.9) == bool(whole)


async def test_the_judge_reads_neither_ratings_nor_what_follows():
    judge = RatingsJudge(fitted()[1])
    texts = ("Where can I eat?", "Sorry, there is nothing.", "Thanks.", "Booked, enjoy!")
    bare = await judge.judge(Request(rated("n", [], *texts[:2])))
    more = await judge.judge(Request(rated("n", [((1, "a"), 5)], *texts), repeat=2, seed=9))
    assert bare[0] == more[0]


async def test_a_talk_without_a_reply_is_a_failure_and_wholes_are_said_where_they_were_fitted():
    _, model = fitted()
    (row,) = await RatingsJudge(model).judge(Request(rated("n", [], "Hello?")))
    assert row.outcome.kind == "no_reply"
    turns_only = RatingsJudge(replace(model, fitted_on=replace(FITTED_ON, whole=0)))
    assert [d.name for d in turns_only.dimensions] == ["satisfaction"]
    rows = await turns_only.judge(Request(rated("n", [], "Where?", "There.")))
    assert [r.target.level for r in rows] == ["turn"]
    assert turns_only.digest != RatingsJudge(model).digest


def test_the_judge_tells_what_it_was_fitted_on():
    told = RatingsJudge(fitted()[1]).describe()
    assert told["checked_languages"] == ["en"]
    counts, figures = told["notes"]
    assert counts.startswith("Fitted to 360 rated places (satisfaction, 450 votes, en) of 90 conversations")
    assert "5 parts of whole users or conversations: model: kappa 0.500, uar undefined." in figures


def test_ratings_all_alike_are_refused():
    held = [
        e
        for i in range(9)
        for e in rated_places(rated(f"c{i}", [((1, "a"), 3)], "Hi", "Yes?"), "satisfaction")[0]
    ]
    with pytest.raises(UsageError, match="all ratings are alike"):
        validated(table_of(held), line_folds(9, 3))


def test_places_of_every_language_are_named_beside_their_count():
    mixed = replace(FITTED_ON, spoken={"en": 340, "zh": 20})
    assert "(satisfaction, 450 votes, en 340, zh 20) of 90" in mixed.sentences("satisfaction")[0]
    assert FittedOn.from_json(mixed.to_json()) == mixed
    alone = replace(FITTED_ON, spoken={"en": 360})
    assert "450 votes, en)" in alone.sentences("satisfaction")[0]
