"""What pairs reward: signs that tell chosen from rejected, with what chance would reach."""

from __future__ import annotations

import pytest

from dialogauge.signals import praises
from dialogauge.training import Provenance, TrainingRow, rewarded_by


def pair(chosen, rejected, *, user="u", models=(None, None), first=None):
    known = Provenance(
        conversation_id="c",
        user=user,
        model_chosen=models[0],
        model_rejected=models[1],
        chosen_first=first,
    )
    sides = {
        key: [{"role": role, "content": text} for role, text in side]
        for key, side in (("chosen", chosen), ("rejected", rejected))
    }
    return TrainingRow({"prompt": [], **sides}, known)


def reply(text):
    return [("assistant", text)]


def sign(rewarded, name):
    return next(one for one in rewarded.signs if one.name == name)


def test_each_sign_has_its_shares_and_the_accuracy_of_that_sign_alone():
    rows = [
        pair(reply("At nine, every day."), reply("At nine."), user="a"),  # longer
        pair(reply("At nine."), reply("At nine, every day."), user="b"),  # shorter
        pair(reply("At nine?!?"), reply("Nine o'clock"), user="c"),  # shorter, asks not: ends with "!?"
        pair(reply("At nine. Shall I book it?"), reply("At nine."), user="d"),  # longer, asks
    ]
    rewarded = rewarded_by(rows)
    longer = sign(rewarded, "longer")
    assert (longer.chosen, longer.rejected, longer.accuracy.value) == (0.5, 0.5, 0.5)
    asks = sign(rewarded, "asks")
    assert (asks.chosen, asks.rejected) == (0.5, 0.0)
    assert asks.accuracy.value == 0.75  # two right, two alike: (1 + 1 + .5 + .5) / 4
    assert rewarded.clusters == "users"
    assert {one.name for one in rewarded.signs} == {"longer", "asks", "flatters"}  # nobody knows more


def test_a_sign_that_tells_more_than_three_in_four_pairs_apart_is_the_first_line():
    rows = [pair(reply("At nine, every day."), reply("At nine."), user=str(n)) for n in range(80)]
    rows += [pair(reply("At nine."), reply("At nine, every day."), user=str(n)) for n in range(80, 100)]
    rewarded = rewarded_by(rows)
    assert rewarded.first_line == (
        "WARNING: of 100 pairs the chosen side is longer, which alone tells it from the rejected one in 80%."
    )
    turned = rewarded_by(
        [pair(reply("At nine."), reply("At nine, every day."), user=str(n)) for n in range(40)]
    )
    assert "the rejected side is longer" in turned.first_line
    assert turned.first_line.startswith("WARNING: ")
    even = rows[:60] + rows[80:]
    assert rewarded_by(even).first_line == ""  # sixty in eighty are three in four, and not more


def test_of_few_pairs_a_sign_that_chance_may_have_made_is_a_note():
    rows = [pair(reply("At nine, every day."), reply("At nine."), user=str(n)) for n in range(6)]
    rows += [pair(reply("At nine."), reply("At nine, every day."), user="x")]
    rewarded = rewarded_by(rows)
    assert rewarded.by_chance > sign(rewarded, "longer").accuracy.interval[0]
    assert rewarded.first_line == (
        "Note: of 7 pairs the chosen side is longer, which alone tells it from the rejected one in 86%: "
        "too few to tell from chance."
    )
    assert "is longer (too few to tell)" in repr(rewarded.to_blocks())
    assert "too few" not in repr(rewarded_by(rows[:1]).to_blocks())  # one pair tells nothing


def test_the_intervals_are_clustered_and_chance_is_said_for_the_best_of_the_signs():
    rows = [pair(reply("At nine, every day."), reply("At nine."), user="one") for _ in range(40)]
    rewarded = rewarded_by(rows)
    assert sign(rewarded, "longer").accuracy.interval is None  # one user tells nothing of others
    assert rewarded.by_chance == 1.0  # one user's pairs fall on one side or the other
    many = [pair(reply("At nine, every day."), reply("At nine."), user=str(n)) for n in range(400)]
    rewarded = rewarded_by(many)
    assert rewarded.by_chance == pytest.approx(0.5 + 1.96 / 2 / 20, abs=0.02)
    low, high = sign(rewarded, "longer").accuracy.interval
    assert low > 0.98
    assert high == 1.0


def test_the_model_that_tells_most_and_what_was_shown_first():
    rows = [pair(reply("a"), reply("b"), user=str(n), models=("m", "other"), first=n < 3) for n in range(6)]
    rows += [pair(reply("a"), reply("b"), user="x", models=("third", "other"), first=None)]
    rewarded = rewarded_by(rows)
    model, first = sign(rewarded, "model"), sign(rewarded, "first")
    assert (model.words, model.chosen, model.rejected) == ("is from other", 0.0, 1.0)
    assert model.accuracy.value == 0.0
    assert (first.accuracy.value, first.accuracy.n) == (0.5, 6)


def test_segments_are_read_by_what_the_assistant_says():
    chosen = [("user", "And then? Tell me, please, all of it."), ("assistant", "It rained.")]
    rejected = [("user", "Hm."), ("assistant", "It rained, and then the sun came out.")]
    longer = sign(rewarded_by([pair(chosen, rejected)]), "longer")
    assert (longer.chosen, longer.rejected) == (0.0, 1.0)


def test_without_pairs_nothing_is_said():
    rewarded = rewarded_by([])
    assert (rewarded.pairs, rewarded.signs, rewarded.by_chance, rewarded.first_line) == (0, (), None, "")


@pytest.mark.parametrize(
    ("text", "flattery"),
    [
        ("Great question! It opens at nine.", True),
        ("You're absolutely right, it opens at nine.", True),
        ("这是个好问题。九点开门。", True),
        ("It opens at nine.", False),
        ("The question is open.", False),
        ("九点开门。", False),
    ],
)
def test_praise_is_seen_in_both_languages(text, flattery):
    assert praises(text) is flattery
