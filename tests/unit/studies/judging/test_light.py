"""What people said, and whether the judge agrees with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.light import JUDGES, draw, light_of

from dialogauge.core import ONE_TO_FIVE, PlainDimension, Rating, Scale
from dialogauge.core.json_keys import as_json
from dialogauge.core.unit import words_digest
from dialogauge.stats import Comparison, Estimate, parse_rule
from dialogauge.stats.reading import table_of
from dialogauge.studies.evidence import UNCHECKED
from dialogauge.studies.judging.checking import checked_by_ratings
from dialogauge.studies.judging.light import _answer, rule_words
from dialogauge.studies.judging.light import agreement_of as of_agreement
from dialogauge.studies.judging.light import people_of as of_people
from dialogauge.studies.judging.people import People
from dialogauge.studies.judging.people_tally import MEAN, PeopleTally
from dialogauge.studies.rated import ratings_by_turn, scale_of
from report_samples import row as made_row
from talks import talk

HELP = PlainDimension("helpfulness", "turn")
SHARE = 1 - 0.025 ** (1 / 30)
"""Of 30 conversations, so many may be otherwise although all that were seen are alike."""


def row(name, turn, scores, *, user=None):
    level = "conversation" if turn is None else "turn"
    return made_row(name, level, turn, user_id=user, scores=scores)


class Tally(PeopleTally):
    """Reads the rows that it took when it is asked about them."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rows, self.done = [], 0

    def read_all(self):
        if len(self.rows) > self.done:
            self.read(table_of(self.rows))
            self.done = len(self.rows)
        return self


def take(tally, rows, conversation):
    tally.rows += rows
    if conversation.ratings:
        same = replace(conversation, id=rows[0]["conversation_id"])
        tally.rate(same, ratings_by_turn(same, {}))


def people_of(tally, *rule):
    return of_people(tally.read_all(), *rule)


def agreement_of(tally, *of):
    return of_agreement(tally.read_all(), *of)


def tally_of(
    *, conversations=40, turns=5, people, judge, users=None, length=None, rated=1.0, seed=0, seen=()
):
    """Make a tally of conversations in which people's rating and the judge's score follow a quality."""
    rng, tally = np.random.default_rng(seed), Tally([HELP], seen)
    for number in range(conversations):
        name, user = f"c{number}", None if users is None else f"u{number % users}"
        qualities = rng.normal(size=turns)
        lengths = [40 if length is None else max(1, round(40 + 10 * length(q, rng))) for q in qualities]
        lines = [line for n in lengths for line in ("u: so?", f"a: {'x' * n}")]
        ratings = [
            Rating(name, "helpfulness", people(q, rng), turn, user) for turn, q in enumerate(qualities, 1)
        ]
        kept = tuple(ratings) if rng.random() < rated else ()
        rows = [row(name, t, {"helpfulness": judge(q, rng)}, user=user) for t, q in enumerate(qualities, 1)]
        take(tally, rows, talk(*lines, id=name, user_id=user, ratings=kept))
    return tally.read_all()


def of_users(judge, *, spread=1.0, users=30, seed=3, candidates=1):
    """Make a tally in which users differ in how they rate; the judge sees the user's level and the turn."""
    rng, tally = np.random.default_rng(seed), Tally([PlainDimension("satisfaction", "turn")])
    for user in range(users):
        level = rng.normal(0, spread)
        for number in range(4):
            name, mood = f"c{user}.{number}", rng.normal(0, 0.7)
            turns = rng.normal(size=6)
            scores = [5 - int(level + mood + t < 0) - 2 * int(level + mood + t < -1.4) for t in turns]
            ratings = [Rating(name, "satisfaction", s, n, f"u{user}") for n, s in enumerate(scores, 1)]
            said = [3 + float(np.clip(judge(level, mood, t, rng), -2, 2)) for t in turns]
            rows = [row(name, n, {"satisfaction": s}, user=f"u{user}") for n, s in enumerate(said, 1)]
            lines = [line for _ in turns for line in ("u: so?", f"a: {'x' * int(rng.integers(20, 90))}")]
            take(tally, rows, talk(*lines, id=name, user_id=f"u{user}", ratings=tuple(ratings)))
    return tally.read_all()


def test_a_judge_with_one_score_a_user_tells_which_users():
    light = people_of(of_users(lambda level, mood, turn, rng: level)).light
    assert light.answer == "which users"
    assert light.judge.low > 0.6
    assert [w.of for w in light.within] == ["users", "conversations"]
    assert [w.judge.value for w in light.within] == [0.5, 0.5]
    assert light.sentence.endswith("of pairs [43, 57]: it tells which users, not which turns.")


def test_a_judge_with_one_score_a_conversation_tells_which_conversations():
    light = people_of(of_users(lambda level, mood, turn, rng: level + mood)).light
    assert light.answer == "which conversations"
    assert light.within[0].judge.low > 0.5
    assert light.within[1].judge.value == 0.5
    unknown = of_users(lambda level, mood, turn, rng: level + mood)
    unknown.users = [None] * len(unknown.users)
    light = people_of(unknown).light
    assert (light.answer, [w.of for w in light.within]) == ("which conversations", ["conversations"])


def test_a_judge_that_sees_the_turn_agrees_though_users_differ_more():
    light = people_of(
        of_users(lambda level, mood, turn, rng: turn + rng.normal(), spread=1.5, users=50)
    ).light
    assert light.answer == "agrees"
    assert all(w.judge.low > 0.5 and w.difference.low > 0 for w in light.within)
    assert ". Within one conversation it does so in " in light.sentence
    assert light.sentence.endswith("more than by length or position.")


def test_where_each_user_rated_once_user_and_turn_are_one_question():
    light = people_of(tally_of(conversations=200, turns=1, users=200, people=five, judge=five)).light
    assert light.within == ()
    assert light.answer == "agrees"


def test_weights_count_in_the_light():
    """Ten times as many targets stand behind those on which the judge is right: its AUC is nearly 1."""
    tally = of_users(lambda level, mood, turn, rng: rng.normal())
    targets, column = tally.levels["turn"], tally.levels["turn"].column("satisfaction")
    ratings = targets.ratings["satisfaction"]
    assert people_of(tally).light.judge.value == pytest.approx(0.5, abs=0.06)
    right = {place: (score <= 3) == (column[place] < 3) for place, score in ratings.items()}
    targets.weights["satisfaction"] = {place: 50.0 if ok else 1.0 for place, ok in right.items()}
    weighted = people_of(tally)
    assert weighted.light.judge.value > 0.95
    assert weighted.figures[0].weights == "used"


def test_one_dimension_of_the_judge_is_held_against_its_own_ratings_else_those_of_the_whole():
    tally = of_users(lambda level, mood, turn, rng: turn)
    targets = tally.levels["turn"]
    targets.figures["empathy"] = type(targets.turns)("d", [1.0] * len(targets.turns))
    targets.figures["order"] = targets.figures["satisfaction"]
    assert agreement_of(tally, "empathy", "turn").answer == "does not"
    order = agreement_of(tally, "order", "turn")
    assert (order.answer, order.dimension, order.judged_by) == ("agrees", "satisfaction", "its order")
    tally.raters["turn", "order"] = {"users"}
    targets.ratings["order"] = {place: 1 + place % 5 for place in targets.ratings["satisfaction"]}
    assert agreement_of(tally, "order", "turn").dimension == "order"
    assert agreement_of(tally, "order", "turn").answer == "does not"
    assert agreement_of(tally, "order", "conversation") is None


@pytest.mark.parametrize(("share", "answer"), [(1.0, "cannot tell"), (0.6, "cannot tell"), (0.3, "agrees")])
def test_conversations_that_signals_were_chosen_on_are_not_left_out_users(share, answer):
    tally = of_users(lambda level, mood, turn, rng: turn, users=50)
    targets = tally.levels["turn"]
    last = share * len(tally.names)
    targets.looked_at |= {at for at, number in enumerate(targets.conversations) if number < last}
    light = people_of(tally).light
    assert (light.answer, light.looked_at) == (answer, len(targets.looked_at))
    if answer == "agrees":
        assert light.judge.n == len(targets.turns) - light.looked_at
        assert f"leaves out {light.looked_at} turns with a look at which its signals" in light.sentence
    else:
        assert light.judge.n == len(targets.turns)
        assert "Its signals were chosen with a look at these conversations" in light.sentence


def test_a_seeded_sample_of_the_simulation():
    """`python -m benchmarks light` draws 200 of each; here judges that know no turn, and one that does."""
    rng = np.random.default_rng(7)
    for users, spread in ((10, 0.6), (20, 1.0)):
        ratings = draw(rng, users, spread)
        for name in ("one score a user", "one score a conversation", "position", "length"):
            assert light_of(ratings, JUDGES[name](rng, ratings)).answer != "agrees", name
    ratings = draw(rng, 50, 0.6)
    light = light_of(ratings, JUDGES["sees the turn"](rng, ratings))
    assert light.answer == "agrees"
    assert light.within[0].judge.value == pytest.approx(0.65, abs=0.05)


def interval(low, high):
    return Estimate((low + high) / 2, low, high, 0.95, 100, 20, "jackknife by users")


@pytest.mark.parametrize(
    ("judge", "gains", "answer", "control"),
    [
        ((0.6, 0.7), {"far": (0.05, 0.15), "near": (0.01, 0.1)}, "agrees", "near"),
        ((0.49, 0.7), {"far": (0.05, 0.15), "near": (0.01, 0.1)}, "cannot tell", "near"),
        ((0.6, 0.7), {"far": (0.05, 0.15), "near": (-0.01, 0.1)}, "cannot tell", "near"),
        ((0.6, 0.7), {"far": (0.05, 0.15), "near": (-0.01, 0.021)}, "cannot tell", "near"),
        ((0.6, 0.7), {"far": (0.05, 0.15), "near": (-0.01, 0.019)}, "does not", "near"),
        ((0.6, 0.7), {"wide": (-0.3, 0.2), "near": (-0.01, 0.015)}, "does not", "near"),
        ((0.4, 0.549), {"far": (0.05, 0.15), "near": (0.01, 0.1)}, "does not", "near"),
        ((0.4, 0.551), {"far": (0.05, 0.15), "near": (0.01, 0.1)}, "cannot tell", "near"),
    ],
)
def test_the_answer_takes_chance_and_every_control_by_its_interval(judge, gains, answer, control):
    pairs = [
        Comparison("judge", name, "auc", "users", 0.65, 0.6, interval(*ends), 0.01, 0.001)
        for name, ends in gains.items()
    ]
    found = _answer(interval(*judge), pairs)
    assert (found[0], found[1].b) == (answer, control)


@pytest.mark.parametrize(
    ("control", "gain", "answer"),
    [
        (0.94, (-0.03, 0.015), "does not"),
        (0.96, (-0.03, 0.015), "cannot tell"),
        (0.96, (-0.03, -0.01), "does not"),
    ],
)
def test_a_control_that_is_nearly_always_right_leaves_no_room_and_shows_nothing(control, gain, answer):
    pair = Comparison("judge", "length", "auc", "users", 0.95, control, interval(*gain), 0.5, 0.001)
    assert _answer(interval(0.8, 0.99), [pair])[0] == answer


def test_where_the_liked_come_first_it_is_said_how_to_turn_the_ratings_round():
    def marks(q, rng):
        return 6 - five(q, rng)

    made = tally_of(conversations=120, people=marks, judge=five)
    upside_down = people_of(made).light
    assert upside_down.answer == "does not"
    assert upside_down.sentence.endswith("in these ratings, say so: --dissatisfied '>=3'.")
    turned = people_of(made, parse_rule(">=3")).light
    assert turned.answer == "agrees"
    assert "--dissatisfied" not in turned.sentence


def test_what_is_kept_of_a_conversation():
    tally = Tally([HELP, PlainDimension("tone", "turn", Scale(1, 3))])
    lines = ("u: so?", f"a: {'x' * 10}", "u: and?", f"a: {'x' * 20}", "u: so?", "a: y")
    rated = talk(*lines, id="c", ratings=(Rating("c", "fun", 4, 1), Rating("c", "fun", 2)))
    unread = {**row("c", 3, None), "failure": {"kind": "no_reply", "message": ""}}
    rows = [row("c", 1, {"helpfulness": 5, "tone": 1, "mood": 3}), row("c", 1, {"helpfulness": 3, "tone": 1})]
    take(tally, [*rows, row("c", 2, {"helpfulness": 1}), unread], rated)
    turns, whole = (tally.read_all().levels[level] for level in ("turn", "conversation"))
    assert (turns.turns.tolist(), turns.lengths.tolist()) == ([1, 2], [10, 20])
    assert turns.column("helpfulness").tolist() == [4, 1]
    assert turns.column("mood").tolist() == pytest.approx([3, np.nan], nan_ok=True)
    assert turns.column(MEAN).tolist() == [(0.5 + 0.25) / 2, 0]  # of 1 to 5 and of 1 to 3, in two repeats
    assert (whole.turns.tolist(), whole.lengths.tolist()) == ([2], [31])
    assert whole.column("helpfulness").tolist() == [3]  # the turns speak for the whole
    assert (turns.ratings, whole.ratings) == ({"fun": {0: 4}}, {"fun": {0: 2}})


def five(q, rng, noise=0.5):
    return int(np.clip(round(4 + q + rng.normal(0, noise)), 1, 5))


def blind(_, rng):
    return int(rng.integers(1, 6))


def test_a_judge_that_sees_what_people_see_agrees():
    people = people_of(tally_of(people=five, judge=five, users=20))
    figure, light = people.figures[0], people.light
    assert (figure.n, figure.rated_conversations, figure.users, figure.raters) == (200, 40, 20, "users")
    assert (figure.scale, figure.rule) == (ONE_TO_FIVE, "3 or less")
    assert light.answer == "agrees"
    assert light.judge.value > 0.75
    assert light.difference.low > 0
    assert light.sentence.startswith("Your users rated 200 turns in helpfulness; ")
    assert "That beats chance, 50 %, and every control" in light.sentence


def test_a_judge_that_reads_nothing_does_not_agree():
    people = people_of(tally_of(conversations=300, people=five, judge=blind))
    light = people.light
    assert people.figures[0].users is None
    assert light.answer == "does not"
    assert light.judge.high < 0.55
    assert light.sentence.startswith("People rated 1,500 turns")


@pytest.mark.parametrize("users", [5, 20, None])
def test_a_judge_that_always_gives_the_same_score_does_not_agree_however_few_the_users(users):
    """It is a control itself: what other users may bring makes it no better."""
    light = people_of(tally_of(people=five, judge=lambda *_: 4, users=users)).light
    assert (light.answer, light.judge.value) == ("does not", 0.5)
    assert "The judge gives all of these the same score" in light.sentence


def test_a_judge_that_goes_by_length_does_not_agree_although_it_is_above_chance():
    def long(q, rng):
        return q + rng.normal(0, 0.5)

    def by_length(q, rng):
        return five(q, rng, 1.2)

    light = people_of(tally_of(conversations=200, people=five, judge=by_length, length=long)).light
    assert light.judge.low > 0.55
    assert (light.answer, light.control) == ("does not", "ranking by reply length")
    assert "worse than ranking by reply length" in light.sentence


@pytest.mark.parametrize("seed", range(5))
def test_few_ratings_tell_nothing(seed):
    light = people_of(tally_of(conversations=9, turns=4, people=five, judge=five, seed=seed)).light
    assert light.answer in ("cannot tell", "agrees")
    weak = people_of(
        tally_of(conversations=9, turns=4, people=five, judge=lambda q, r: five(q, r, 3), seed=seed)
    ).light
    assert weak.answer == "cannot tell"


@pytest.mark.parametrize("seed", [18, 29])
def test_where_nobody_can_tell_the_control_that_is_named_is_one_that_the_judge_may_not_be_above(seed):
    def long(q, rng):
        return q * 0.2 + rng.normal()

    made = {
        "conversations": 30,
        "turns": 6,
        "users": 8,
        "people": five,
        "judge": lambda q, r: five(q, r, 0.8),
    }
    light = people_of(tally_of(**made, length=long, seed=seed)).light
    assert light.answer == "cannot tell"
    assert light.control == "ranking by position in the conversation"
    assert light.difference.low <= 0
    length = light.controls["ranking by reply length"]
    assert length.value > light.controls[light.control].value  # it comes nearer, and is surely below


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"people": lambda *_: 5, "judge": five}, "Every rating is 5: no order can be measured"),
        ({"people": lambda *_: 1, "judge": five}, "Every rating is 1: no order can be measured"),
        ({"people": lambda q, _: 4 if q < 0 else 5, "judge": five}, "None of these is poorly rated, and 10"),
        ({"people": five, "judge": five, "users": 3}, "They come from 3 users, and 5 are needed"),
        ({"people": five, "judge": lambda *_: "n/a"}, "The judge scored none of these"),
        ({"people": lambda q, _: "bad" if q < 0 else "good", "judge": five}, "The ratings are names"),
    ],
)
def test_what_cannot_be_compared_says_why(made, why):
    light = people_of(tally_of(**made)).light
    assert light.answer == "cannot tell"
    assert why in light.sentence
    assert light.judge.value is None


def test_a_name_counts_as_dissatisfied_where_it_is_asked_for():
    tally = tally_of(conversations=60, people=lambda q, _: "bad" if q < -0.5 else "good", judge=five)
    people = people_of(tally, parse_rule("bad"))
    assert people.light.answer == "agrees"
    figure = people.figures[0]
    assert (figure.rule, figure.scale, figure.mean.value) == ("bad", None, None)
    assert figure.dissatisfied.value == pytest.approx(figure.counts["bad"] / 300)


@pytest.mark.parametrize(
    ("dimension", "asked", "scale", "dissatisfied"),
    [
        ("rating", None, None, None),
        ("rating", "<1", (0, 1), 0.0),
        ("rating", "<=3", (1, 5), 1.0),
        ("rating", ">=4", (1, 5), 0.0),
        ("stars", None, (1, 5), 1.0),
        ("reward", None, (0, 1), 0.0),
        ("helpfulness", None, (1, 5), 1.0),  # the judge's own, on its scale
    ],
)
def test_a_one_alone_is_good_or_bad_only_where_its_scale_is_known(dimension, asked, scale, dissatisfied):
    tally = Tally([HELP])
    take(
        tally,
        [row("c", 1, {"helpfulness": 4})],
        talk("u: a", "a: b", ratings=(Rating("c", dimension, 1, 1),)),
    )
    people = people_of(tally, None if asked is None else parse_rule(asked))
    (figure,) = people.figures
    assert (None if figure.scale is None else (figure.scale.low, figure.scale.high)) == scale
    assert (None if figure.dissatisfied is None else figure.dissatisfied.value) == dissatisfied
    if scale is None:
        assert figure.counts == {"1": 1}
        assert "a thumb up, or the worst of 5, and nothing says which" in people.light.sentence


def test_the_light_stands_on_the_level_with_more_ratings_and_the_others_are_figures():
    tally = Tally([HELP])
    rng = np.random.default_rng(0)
    for number in range(30):
        name = f"c{number}"
        ratings = [Rating(name, "helpfulness", five(rng.normal(), rng), turn) for turn in (1, 2)]
        ratings += [Rating(name, "satisfaction", 4), Rating(name, "tone", 3), Rating(name, "reward", 0.0)]
        rows = [row(name, 1, {"helpfulness": 3}), row(name, 2, {"helpfulness": 4}), row(name, None, {})]
        take(tally, rows, talk("u: a", "a: b", "u: c", "a: d", id=name, ratings=tuple(ratings)))
    people = people_of(tally)
    assert all(
        f.mean.interval == (4 - 3 * SHARE, 4 + SHARE) for f in people.figures if f.what == "satisfaction"
    )
    assert [(f.level, f.dimension, f.n) for f in people.figures] == [
        ("turn", "helpfulness", 60),
        ("conversation", "satisfaction", 30),
        ("conversation", "reward", 30),
        ("conversation", "tone", 30),
    ]
    assert (people.light.level, people.light.dimension) == ("turn", "helpfulness")


def test_the_light_stands_on_whole_conversations_where_more_of_them_were_rated():
    tally, rng = Tally([HELP]), np.random.default_rng(0)
    for number in range(30):
        name, score = f"c{number}", five(rng.normal(), rng)
        ratings = [Rating(name, "helpfulness", score), *[Rating(name, "helpfulness", 4, 1)] * (number < 20)]
        take(tally, [row(name, 1, {"helpfulness": 3})], talk("u: a", "a: b", id=name, ratings=tuple(ratings)))
    assert people_of(tally).light.level == "conversation"


def test_a_judge_that_does_not_grade_is_compared_by_the_order_in_which_it_would_have_one_read():
    tally = tally_of(conversations=1, people=five, judge=five)
    rng = np.random.default_rng(0)
    for number in range(60):
        name, quality = f"d{number}", rng.normal()
        scores = {"helpfulness": blind(quality, rng), "satisfaction": five(quality, rng)}
        rating = Rating(name, "helpfulness", five(quality, rng), 1)
        take(tally, [row(name, 1, scores)], talk("u: so?", "a: xx", id=name, ratings=(rating,)))
    light = people_of(tally).light
    assert (light.answer, light.judged_by) == ("agrees", "its reading order")


def test_the_judges_mean_stands_beside_peoples_only_where_it_is_of_the_same():
    (mean,) = people_of(tally_of(people=five, judge=five, rated=0.2)).rectified
    assert mean.judge.value is not None
    tally = tally_of(people=five, judge=five, rated=0)
    rated = talk("u: so?", "a: xx", id="r", ratings=(Rating("r", "tone", 4, 1),))
    take(tally, [row("r", 1, {"helpfulness": 4})], rated)
    (mean,) = people_of(tally).rectified
    assert (mean.dimension, mean.judge.value) == ("tone", None)


def test_where_few_are_rated_the_mean_of_all_is_rectified():
    lenient = lambda q, rng: min(5, five(q, rng) + 1)  # noqa: E731 - an argument
    people = people_of(tally_of(conversations=200, people=five, judge=lenient, rated=0.2))
    (mean,) = people.rectified
    assert mean.targets == 1000
    assert mean.judge.value > mean.rectified.value + 0.3
    assert mean.rectified.low < 3.8 < mean.rectified.high
    assert mean.rectified.high - mean.rectified.low < mean.rated_only.high - mean.rated_only.low
    assert not people_of(tally_of(people=five, judge=five)).rectified


@pytest.mark.parametrize(("turn", "given"), [(1, False), (5, False), (3, True)])
def test_ratings_of_first_or_last_turns_alone_stand_for_no_others(turn, given):
    rng, tally = np.random.default_rng(0), Tally([HELP])
    for number in range(60):
        name, lines = f"c{number}", ("u: so?", "a: x") * 5
        rows = [row(name, t, {"helpfulness": five(0, rng)}) for t in range(1, 6)]
        ratings = (Rating(name, "helpfulness", five(0, rng), turn),)
        take(tally, rows, talk(*lines, id=name, ratings=ratings))
    assert bool(people_of(tally).rectified) is given


def test_conversations_that_the_judge_was_fitted_to_say_nothing_of_it():
    made = {"people": five, "judge": five}
    seen = [words_digest(talk(*["u: so?", f"a: {'x' * 40}"] * 5))]
    people = people_of(tally_of(**made, seen=seen))
    assert people.figures[0].n == 200
    assert people.light.answer == "cannot tell"
    assert "The judge scored none of these that it was not fitted to" in people.light.sentence
    (mean,) = people_of(tally_of(**made, conversations=100, seen=seen, rated=0.3)).rectified
    assert mean.fitted == mean.rated_only.n > 0
    assert not mean.judge_is_used
    assert mean.rectified.value == mean.rated_only.value


def test_it_is_written_and_read_back():
    people = people_of(tally_of(people=five, judge=five, rated=0.3))
    assert People.from_json(as_json(people)) == people


def test_nothing_without_ratings():
    assert people_of(tally_of(people=five, judge=five, rated=0)) is None


@pytest.mark.parametrize(
    ("numbers", "low", "high"),
    [
        ([0, 1], 0, 1),
        ([0.5], 0, 1),
        ([-1, 1], -1, 1),
        ([2, 4], 1, 5),
        ([3.5, 0], 0, 5),
        ([7], 1, 7),
        ([10, 2], 1, 10),
        ([0, 9], 0, 10),
        ([80, 20], 0, 100),
        ([-3, 200], -3, 200),
    ],
)
def test_the_scale_of_ratings(numbers, low, high):
    assert scale_of(numbers) == Scale(low, high, integer=False)


def test_where_most_say_the_middle_only_what_lies_below_it_is_dissatisfied():
    def calm(q, _):
        return 2 if q < -1.2 else 5 if q > 1.5 else 3

    (figure,) = people_of(tally_of(people=calm, judge=five)).figures
    assert figure.rule == "below 3"
    assert rule_words(parse_rule(">=4")) == "4 or more"


def weighted_tally(weights):
    """Make a tally of two of four conversations rated, 2 and 4, by two raters who say the same."""
    tally = Tally([HELP])
    for number, score in enumerate([2, 4, None, None, 2, 4]):
        name = f"c{number}"
        ratings = tuple(
            Rating(name, "helpfulness", score, 1, rater, weight=weights.get((number, rater)))
            for rater in ("ann", "bob")
            if score is not None
        )
        take(tally, [row(name, 1, {"helpfulness": 3})], talk("u: so?", "a: yes", id=name, ratings=ratings))
    return tally.read_all()


def both(weights):
    return {(number, rater): weight for number, weight in weights.items() for rater in ("ann", "bob")}


def test_people_are_weighted_by_the_chance_of_being_chosen():
    people = people_of(weighted_tally(both({0: 1.0, 1: 3.0, 4: 1.0, 5: 3.0})))
    (figure,) = people.figures
    assert figure.weights == "used"
    assert figure.mean.value == pytest.approx((2 + 3 * 4) / 4)
    assert figure.mean.n == figure.n == 4
    assert figure.dissatisfied.value == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("weights", "weighting"),
    [
        ({}, "none"),
        (both({0: 2.0, 1: 2.0, 4: 2.0, 5: 2.0}), "none"),
        (both({0: 2.0, 1: 1.0, 4: 2.0}), "not of all"),
        (both({0: 2.0, 1: 1.0, 4: 2.0, 5: 1.0}) | {(5, "bob"): 4.0}, "not of all"),
    ],
)
def test_weights_that_are_alike_change_nothing_and_those_of_some_are_not_used(weights, weighting):
    (figure,) = people_of(weighted_tally(weights)).figures
    assert figure.weights == weighting
    assert figure.mean.value == 3


def test_the_rectified_mean_is_weighted_too():
    rng, tally = np.random.default_rng(3), Tally([HELP])
    qualities = rng.normal(size=200)
    lowest = set(np.argsort(qualities)[:20].tolist())
    at_random = set(rng.choice([i for i in range(200) if i not in lowest], 20, replace=False).tolist())
    for number, quality in enumerate(qualities):
        name, score = f"c{number}", five(quality, rng)
        weight = 1.0 if number in lowest else 9.0 if number in at_random else None
        ratings = () if weight is None else (Rating(name, "helpfulness", score, 1, weight=weight),)
        rows = [row(name, 1, {"helpfulness": five(quality, rng, 0.2)})]
        take(tally, rows, talk("u: so?", "a: yes", id=name, ratings=ratings))
    people = people_of(tally)
    (figure,), (rectified,) = people.figures, people.rectified
    assert rectified.weights == figure.weights == "used"
    assert rectified.rated_only == figure.mean
    truth = np.mean([five(q, rng, 0) for q in qualities])
    assert rectified.rectified.low < truth < rectified.rectified.high
    assert abs(rectified.rectified.value - truth) < 0.15


def test_a_dimension_is_checked_where_it_agrees_and_says_why_where_it_does_not():
    tally = tally_of(
        conversations=60,
        people=lambda q, _: 2 if q < -0.5 else 4,
        judge=lambda q, rng: q + 0.3 * rng.normal(),
        users=30,
    )
    whole = PlainDimension("coherence", "conversation")
    checked = checked_by_ratings(tally.read_all(), (HELP, PlainDimension("noise", "turn"), whole))
    assert checked["helpfulness"].checked
    assert checked["helpfulness"].by.startswith("the ratings of this run (9")
    assert not checked["noise"].checked
    assert checked["coherence"].why == "nobody rated a conversation of this run"
    assert checked_by_ratings(None, (HELP,)) == {"helpfulness": UNCHECKED}
