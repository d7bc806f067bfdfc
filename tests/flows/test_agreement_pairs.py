"""`dialogauge agreement` on choices between two, and what it takes to tell two judges apart."""

from __future__ import annotations

import random

import pytest

import dialogauge as library

HEAD = "conversation_id,a,b,winner,rater"


@pytest.fixture
def chosen(tmp_path):
    """Writes choices of people, and of a judge that mostly takes the first shown, about 40 conversations."""
    rng = random.Random(3)
    people, judge = [HEAD], ["conversation_id,a,b,winner"]
    for k in range(40):
        better = rng.choice(["alpha", "beta", "tie"])
        for rater in ("ann", "bo", "cy"):
            a, b = rng.sample(["alpha", "beta"], 2)
            choice = better if rng.random() < 0.8 else rng.choice(["alpha", "beta", "tie"])
            people.append(f"c{k},{a},{b},{choice},{rater}")
        a, b = rng.sample(["alpha", "beta"], 2)
        judge.append(f"c{k},{a},{b},{a if rng.random() < 0.9 else b}")
    (tmp_path / "people.csv").write_text("\n".join(people) + "\n")
    (tmp_path / "gpt.csv").write_text("\n".join(judge) + "\n")
    return tmp_path


def test_people_who_choose_between_two(dialogauge, chosen):
    done = dialogauge("agreement", "people.csv", "-o", "out")
    assert done.code == 0, done.err
    assert "Yes: raters agree with each other more than with one who always chooses " in done.unwrapped
    assert "3 raters, 40 pairs of 2 candidates, 40 of them by two or more" in done.unwrapped
    assert "Krippendorff’s alpha, nominal" in done.unwrapped
    page = (chosen / "out" / "agreement.html").read_text()
    assert "Choices between two" in page
    assert "the first shown" in page


def test_a_judge_that_takes_the_first_shown(dialogauge, chosen):
    done = dialogauge("agreement", "gpt.csv", "--ratings", "people.csv", "--json")
    assert done.code == 0, done.err
    (pairs,) = done.json["pairs"]
    assert (pairs["people"], pairs["judges"]) == (["ann", "bo", "cy"], ["gpt"])
    (gpt,) = pairs["against_people"]
    assert gpt["agrees_more"] != "yes"
    leanings = {one["name"]: one["decided"]["value"] for one in pairs["leanings"]}
    assert leanings["gpt"] > 0.8
    assert all(0.25 < leanings[name] < 0.75 for name in pairs["people"])
    assert pairs["figures" if "figures" in pairs else "coefficients"]["ac1"]["value"] > 0.4


def test_choices_in_python(chosen):
    found = library.agreement(chosen / "gpt.csv", ratings=chosen / "people.csv")
    assert "raters agree with each other more than with one who always chooses" in " ".join(found.answers)
    assert repr(found) == f"<Agreement: {found.answers[0]}>"
    assert "gpt, preference, pairs" in found._repr_html_()
    assert "3 among each other, preference, pairs" in found._repr_html_()


def test_choices_by_column_dimension_and_level(dialogauge, chosen):
    rows = (chosen / "people.csv").read_text().splitlines()
    rows = [
        f"{HEAD},phase,turn",
        *(f"{row},{'late' if k > 60 else 'early'},1" for k, row in enumerate(rows[1:])),
    ]
    (chosen / "people.csv").write_text("\n".join(rows) + "\n")
    (pairs,) = dialogauge("agreement", "people.csv", "--where", "phase=late", "--json").json["pairs"]
    assert pairs["choices"] == 59
    (pairs,) = dialogauge("agreement", "people.csv", "--level", "turn", "--json").json["pairs"]
    assert pairs["choices"] == 120
    done = dialogauge("agreement", "people.csv", "--where", "phase=never")
    assert done.code == 2
    assert "no rating has phase=never" in done.err


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (["c1,x,y,a,"], "the choices name no rater"),
        (["c1,x,y,a,ann", "c2,x,y,b,ann"], "one rater only: ann"),
    ],
)
def test_who_cannot_agree_on_pairs(dialogauge, tmp_path, rows, why):
    (tmp_path / "v.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    done = dialogauge("agreement", "v.csv")
    assert done.code == 2
    assert why in done.err


def test_choices_given_again_count_as_they_were_last(dialogauge, tmp_path):
    rows = ["c1,x,y,a,ann", "c1,y,x,a,ann", "c1,x,y,b,bo", "c2,x,y,left,bo"]
    (tmp_path / "v.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    done = dialogauge("agreement", "v.csv", "--json")
    assert done.code == 1
    assert "v.csv:5: the winner is 'left'" in done.err
    (pairs,) = done.json["pairs"]
    assert (pairs["choices"], pairs["coefficients"]["exact"]["value"]) == (2, 1.0)
    assert (
        "1 rating was given again by the same rater: the latest counts"
        in dialogauge("agreement", "v.csv").out
    )


@pytest.fixture
def judged(tmp_path):
    """Writes ratings of three people, and scores of two judges, of which `good` is closer."""
    rng = random.Random(5)
    people, judges = (["conversation_id,turn,dimension,rater,score"] for _ in range(2))

    def near(quality, noise):
        return min(5, max(1, round(3 + quality + rng.gauss(0, noise))))

    for k in range(40):
        for turn in (1, 2, 3):
            quality = rng.gauss(0, 1.2)
            people += [f"c{k},{turn},tone,{rater},{near(quality, 0.7)}" for rater in ("ann", "bo")]
            judges += [
                f"c{k},{turn},tone,{name},{near(quality, n)}" for name, n in (("good", 0.7), ("poor", 1.6))
            ]
    (tmp_path / "people.csv").write_text("\n".join(people) + "\n")
    (tmp_path / "judges.csv").write_text("\n".join(judges) + "\n")


ASKED = ("agreement", "judges.csv", "--ratings", "people.csv", "--scale", "1-5", "--power")


@pytest.mark.long
def test_what_it_takes_to_tell_two_judges_apart(dialogauge, judged, tmp_path):
    asked = (*ASKED, "--compare", "good", "poor", "--measure", "spearman")
    done = dialogauge(*asked, "-o", "out")
    assert done.code == 0, done.err
    assert "What it takes to tell good from poor" in done.unwrapped
    assert "targets with 2 raters each tell good from poor in 80 % of studies" in done.unwrapped
    assert "what you have (120 targets, 2 raters each): " in done.unwrapped
    assert "Share told apart, 2 raters each" in (tmp_path / "out" / "agreement.html").read_text()
    (power,) = dialogauge(*asked, "--json").json["power"]
    assert (power["observed"]["a"], power["observed"]["measure"]) == ("good", "spearman")
    one, two = (of["targets"] for of in power["needed"])
    assert 10 < two < one < 120
    assert power["here"]["apart"]["value"] > 0.9
    assert dialogauge(*asked, "--json").json["power"] == [power]


def test_what_it_takes_to_tell_a_judge_from_a_constant(dialogauge, judged):
    powers = dialogauge(*ASKED, "--json").json["power"]
    assert [(p["observed"]["a"], p["observed"]["b"][:6]) for p in powers] == [
        ("good", "always"),
        ("poor", "always"),
    ]


def test_judges_that_say_the_same_are_never_told_apart(dialogauge, judged, tmp_path):
    rows = [r for r in (tmp_path / "judges.csv").read_text().splitlines() if "poor" not in r]
    twin = [r.replace("good", "twin") for r in rows[1:]]
    (tmp_path / "judges.csv").write_text("\n".join([*rows, *twin]) + "\n")
    done = dialogauge(*ASKED, "--compare", "good", "twin")
    assert done.code == 0
    assert "no number of targets would tell them apart" in done.unwrapped


def test_a_power_without_anybody_to_tell_apart(dialogauge, judged):
    done = dialogauge("agreement", "people.csv", "--scale", "1-5", "--power")
    assert done.code == 2
    assert "there is nobody to tell apart" in done.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("item,A01,A02\nx,4,5\ny,2,2\n", "say --wide raters where the columns of a wide table are raters"),
        ("rater,x,y\nA01,4,5\nA02,2,2\n", "each row is one rater"),
        ("A01,A02\n4,5\n2,2\n", "name both axes"),
        ("4,5\n2,2\n", "the table has no header"),
    ],
)
def test_a_matrix_says_what_its_axes_are_or_is_refused(dialogauge, tmp_path, text, why):
    (tmp_path / "m.csv").write_text(text)
    done = dialogauge("agreement", "m.csv", "--scale", "1-5")
    assert done.code in (1, 2)
    assert why in done.err
    (tmp_path / "m.csv").write_text("item;A01;A02\nx;4;5\ny;2;2\nz;1;1\n")
    (people,) = dialogauge("agreement", "m.csv", "--scale", "1-5", "--wide", "raters", "--json").json[
        "people"
    ]
    assert people["coefficients"]["exact"]["value"] == pytest.approx(2 / 3)


def test_choices_are_no_ratings_of_a_run(dialogauge, chosen, log, talk):
    path = log(*(talk(f"c{k}", "It opens at nine.") for k in range(6)))
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 0
    for asked in (
        ("agreement", "run", "--ratings", "people.csv"),
        ("agreement", "run", "people.csv"),
        ("judge", path, "--ratings", "people.csv", "-o", "rated"),
    ):
        done = dialogauge(*asked)
        assert done.code == 2
        assert "people.csv has choices between two (a, b, winner), and no rating of either" in done.err
