"""`dialogauge agreement`: people among people, judges beside people, judges among judges."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from parsed_pages import without_own_script

SHARED = os.environ.get("DIALOGAUGE_SHARED", "")
X = (5, 5, 5, 5, 4, 4, 3, 2, 1, 5)
Y = (5, 5, 5, 4, 4, 5, 3, 3, 1, 5)
"""Seven of ten the same."""


@pytest.fixture
def rated(tmp_path):
    """Writes ratings: by rater what it gave the first turn of conversations c0, c1 ...; None is left out."""

    def write(by, name="people.csv", *, level="turn", dimension="tone", extra=None):
        more = "".join(f",{column}" for column in (extra or {}))
        lines = [f"conversation_id,turn,dimension,rater,score{more}"]
        for rater, scores in by.items():
            for i, score in enumerate(scores):
                if score is not None:
                    turn = "1" if level == "turn" else ""
                    values = "".join(f",{of(i)}" for of in (extra or {}).values())
                    lines.append(f"c{i},{turn},{dimension},{rater},{score}{values}")
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_two_raters_by_hand(dialogauge, rated):
    done = dialogauge("agreement", rated({"X": X, "Y": Y}), "--scale", "1-5", "--json")
    assert done.code == 0, done.err
    (people,) = done.json["people"]
    figures = {name: of["value"] for name, of in people["coefficients"].items()}
    # shares .1 .05 .15 .2 .5: chance (.09 + .0475 + .1275 + .16 + .25) / 4
    assert figures["ac1"] == pytest.approx((0.7 - 0.16875) / (1 - 0.16875))
    assert figures["randolph"] == pytest.approx(0.625)
    # of 380 ordered pairs of 20 ratings 110 are alike
    assert figures["alpha_nominal"] == pytest.approx(1 - 0.3 / (270 / 380))
    assert figures["exact"] == pytest.approx(0.7)
    beside = [(0.5 - 0.42 / 4) / (1 - 0.42 / 4), (0.5 - 0.415 / 4) / (1 - 0.415 / 4)]
    assert people["constants"]["5"]["ac1"] == pytest.approx(sum(beside) / 2)
    assert people["permuted"]["ac1"] < figures["ac1"]
    assert abs(people["permuted"]["alpha_interval"]) < 0.2
    x, y = people["strictness"]
    assert (x["mean"], y["mean"]) == pytest.approx((3.9, 4.0))
    assert x["difference"]["value"] == pytest.approx(-0.1)
    assert people["pairs"][0]["figures"]["ac1"]["value"] == pytest.approx(figures["ac1"])
    assert [one["best_constant"] for one in people["against_the_others"]] == ["always 5", "always 5"]


def test_the_sentence_says_yes_no_or_cannot_tell(dialogauge, rated):
    scores = [1 + i % 5 for i in range(100)]
    alike = dialogauge("agreement", rated({"A": scores, "B": scores, "C": scores}), "--scale", "1-5")
    yes = "Yes: raters agree with each other more than with somebody who always says 1 (tone of turns, "
    assert f"{yes}100 targets rated by two or more). AC1 1.000 against " in alike.unwrapped
    assert "OK:" not in alike.unwrapped
    shifted = {"A": scores, "B": [1 + s % 5 for s in scores]}
    against = dialogauge("agreement", rated(shifted), "--scale", "1-5")
    assert " No: raters agree with each other less than with somebody who always says" in against.unwrapped
    assert "By how near their scores are" not in against.unwrapped
    # Four in five are one apart: not the same scores, and yet near.
    near = dialogauge(
        "agreement", rated({"A": scores, "B": [min(5, s + 1) for s in scores]}), "--scale", "1-5"
    )
    nearness = "By how near their scores are, raters agree more than by chance: alpha is 0."
    assert "The answer is about giving exactly the same score. " + nearness in near.unwrapped
    few = dialogauge("agreement", rated({"X": X[:4], "Y": Y[:4]}), "--scale", "1-5")
    assert "Cannot tell whether raters agree with each other more" in few.unwrapped
    assert "(too few conversations: 4, and the interval of a difference takes 6). Alpha " in few.unwrapped


def test_raters_are_taken_together(dialogauge, rated):
    """Three who each differ from the others in too little to tell, and together do not."""
    rng = random.Random(4)
    truth = [rng.choice([1, 2, 3, 4, 5]) for _ in range(24)]
    raters = {name: [min(5, max(1, t + rng.choice([-1, 0, 0, 1]))) for t in truth] for name in "ABC"}
    (people,) = dialogauge("agreement", rated(raters), "--scale", "1-5", "--json").json["people"]
    assert [one["agrees_more"] for one in people["against_the_others"]].count("yes") < 2
    assert people["agree_more"] == "yes"
    more = people["more_than_with_a_constant"]
    constant = more["constant"].removeprefix("always ")
    assert more["each_other"] == pytest.approx(people["coefficients"]["ac1"]["value"])
    assert more["with_the_constant"] == pytest.approx(people["constants"][constant]["ac1"])
    assert more["with_the_constant"] == max(of["ac1"] for of in people["constants"].values())
    assert more["more_by"]["value"] == pytest.approx(more["each_other"] - more["with_the_constant"])


def test_a_terminal_is_short_and_the_page_is_whole(dialogauge, rated, tmp_path):
    done = dialogauge("agreement", rated({"X": X, "Y": Y, "Z": Y}), "--scale", "1-5", "-o", "out")
    assert len(done.out.splitlines()) < 35
    assert "Randolph" not in done.out
    assert "The page (-o DIR) has the rest: all coefficients" in done.unwrapped
    page = (tmp_path / "out" / "agreement.html").read_text()
    assert all(of in page for of in ("Randolph", "Pairs of raters", "How each rater uses the scale"))


def test_the_scale_is_given_and_never_inferred(dialogauge, rated):
    done = dialogauge("agreement", rated({"X": X, "Y": Y}))
    assert done.code == 2
    assert "ratings seen: 1 to 5; if these are all that raters could give, add --scale 1-5" in done.err
    wide, narrow = (
        dialogauge("agreement", rated({"X": X, "Y": Y}), "--scale", scale, "--json").json["people"][0]
        for scale in ("1-7", "1-5")
    )
    assert wide["coefficients"]["ac1"]["value"] > narrow["coefficients"]["ac1"]["value"]
    assert wide["coefficients"]["alpha_nominal"] == narrow["coefficients"]["alpha_nominal"]
    names = rated({"X": ("good", "bad", "good"), "Y": ("good", "bad", "bad")}, name="names.csv")
    assert "add --scale bad,good" in dialogauge("agreement", names).err
    found = dialogauge("agreement", names, "--scale", "good,bad", "--json").json["people"][0]
    assert found["coefficients"]["exact"]["value"] == pytest.approx(2 / 3)
    assert "alpha_interval" not in found["coefficients"]
    assert dialogauge("agreement", names, "--scale", "1-").code == 2


def test_what_is_off_the_scale_is_named_with_its_line_and_left_out(dialogauge, rated):
    path = rated({"X": (*X, 9), "Y": (*Y, 5)})
    done = dialogauge("agreement", path, "--scale", "1-5", "--json")
    assert done.code == 1
    assert (
        f"{path}:12, conversation 'c10', turn 1: tone is 9: it is off the scale, which is 1 to 5" in done.err
    )
    (people,) = done.json["people"]
    assert (people["shared"], people["ratings"]) == (10, 21)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ({"X": X}, "one rater only: X, with 10 ratings"),
        ({"": X}, "the ratings name no rater"),
        ({"X": X, "Y": ["nan"] * 10}, "with 10 ratings; 10 rows not used, the first: "),
        ({"X": X, "Y": [None] * 10 + [3]}, "2 raters and no target that two of them rated: X (10), Y (1)"),
    ],
)
def test_people_who_cannot_agree_are_refused(dialogauge, rated, by, message):
    done = dialogauge("agreement", rated(by), "--scale", "1-5")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_several_ratings_that_nobody_signed(dialogauge, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("conversation_id,turn,dimension,score\nc1,1,tone,4\nc1,1,tone,5\nc2,1,tone,3\n")
    done = dialogauge("agreement", path, "--scale", "1-5")
    assert done.code == 2
    assert "the ratings name no rater, and some targets have several" in done.err


def test_ratings_that_are_all_the_same_are_said_to_be(dialogauge, rated):
    done = dialogauge("agreement", rated({"X": [4] * 8, "Y": [4] * 8}), "--scale", "1-5", "--json")
    assert done.code == 0
    coefficients = done.json["people"][0]["coefficients"]
    assert coefficients["ac1"]["value"] == pytest.approx(1.0)
    assert coefficients["alpha_nominal"]["value"] is None
    assert coefficients["alpha_nominal"]["reason"] == "all ratings are the same"
    assert (
        "All ratings are 4"
        in dialogauge("agreement", rated({"X": [4] * 8, "Y": [4] * 8}), "--scale", "1-5").out
    )
    one = rated({"X": X, "Y": [5] * 10})
    assert "Y uses one score alone: 5." in dialogauge("agreement", one, "--scale", "1-5").out


def test_turns_and_whole_conversations_are_never_pooled(dialogauge, rated, tmp_path):
    turns, whole = rated({"X": X, "Y": Y}), rated({"X": Y, "Y": Y}, "whole.csv", level="conversation")
    done = dialogauge("agreement", turns, whole, "--scale", "1-5", "--json")
    levels = [(p["level"], p["targets"], p["coefficients"]["exact"]["value"]) for p in done.json["people"]]
    assert levels == [("turn", 10, pytest.approx(0.7)), ("conversation", 10, 1.0)]
    only = dialogauge("agreement", turns, whole, "--scale", "1-5", "--level", "conversation", "--json")
    assert [p["level"] for p in only.json["people"]] == ["conversation"]


def test_dimensions_are_pooled_as_items_of_their_own(dialogauge, rated):
    tone, care = rated({"X": X, "Y": Y}), rated({"X": Y, "Y": Y}, "care.csv", dimension="care")
    done = dialogauge("agreement", tone, care, "--scale", "1-5", "--json")
    people = {p["dimension"]: p["coefficients"]["exact"]["value"] for p in done.json["people"]}
    assert people == {"all dimensions": pytest.approx(0.85), "tone": pytest.approx(0.7), "care": 1.0}
    groups = {g["group"]: g["people"]["exact"]["value"] for g in done.json["groups"]}
    assert groups == {"care": 1.0, "tone": pytest.approx(0.7), "all dimensions": pytest.approx(0.85)}
    one = dialogauge("agreement", tone, care, "--scale", "1-5", "--dimension", "care", "--json")
    assert [p["dimension"] for p in one.json["people"]] == ["care"]
    assert "nobody rated 'mood'" in dialogauge("agreement", tone, "--scale", "1-5", "--dimension", "mood").err


def test_some_rows_by_a_column_and_figures_by_it(dialogauge, rated):
    path = rated({"X": X, "Y": Y}, extra={"phase": lambda i: "first" if i < 5 else "second"})
    some = dialogauge("agreement", path, "--scale", "1-5", "--where", "phase=second", "--json").json
    assert some["people"][0]["targets"] == 5
    by = dialogauge("agreement", path, "--scale", "1-5", "--by", "phase", "--json").json["groups"]
    assert [(g["group"], g["targets"]) for g in by] == [("first", 5), ("second", 5)]
    for words, message in (
        (("--where", "phase=third"), "no rating has phase=third"),
        (("--where", "phase"), "has not the form COLUMN=VALUE"),
        (("--where", "wave=1"), "there is no column 'wave'"),
        (("--by", "wave"), "there is no column 'wave'"),
        (("--by", "scenario"), "no rated target has a scenario"),
        (("--by", ","), "names nothing"),
    ):
        done = dialogauge("agreement", path, "--scale", "1-5", *words)
        assert done.code in (1, 2)
        assert message in done.err, words


def test_a_row_that_is_left_out_does_not_stand_for_another(dialogauge, tmp_path):
    """What a rater says again counts as it was said last, of the rows that are asked for."""
    path = tmp_path / "people.csv"
    rows = [f"c{i},{rater},{k},{5 if k == 1 else 1}\n" for i in range(6) for rater in "XY" for k in (1, 2)]
    path.write_text("conversation_id,rater,repeat,score\n" + "".join(rows))
    means = {
        words: dialogauge("agreement", path, "--scale", "1-5", *words, "--json").json["people"][0][
            "strictness"
        ][0]
        for words in ((), ("--where", "repeat=1"))
    }
    assert [of["mean"] for of in means.values()] == [1.0, 5.0]
    one = dialogauge("agreement", path, "--scale", "1-5", "--where", "repeat=2", "--where", "rater=X")
    assert "one rater only: X, with 6 ratings" in one.err


def test_a_file_that_a_spreadsheet_saved(dialogauge, tmp_path):
    path = tmp_path / "people.csv"
    rows = [
        f"c{i};1;tone;{rater};{score}" for rater, of in {"X": X, "Y": Y}.items() for i, score in enumerate(of)
    ]
    text = "\r\n".join(["conversation_id;turn;dimension;rater;score", *rows, ""])
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    done = dialogauge("agreement", path, "--scale", "1-5", "--json")
    assert done.code == 0, done.err
    assert done.json["people"][0]["coefficients"]["exact"]["value"] == pytest.approx(0.7)


def test_a_table_of_raters_beside_each_other_and_one_without_names(dialogauge, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(
        "item,X,Y\n" + "".join(f"c{i},{x},{y}\n" for i, (x, y) in enumerate(zip(X, Y, strict=True)))
    )
    done = dialogauge("agreement", path, "--scale", "1-5", "--wide", "raters", "--json")
    assert done.code == 0, done.err
    assert done.json["people"][0]["raters"] == ["X", "Y"]
    assert done.json["people"][0]["coefficients"]["exact"]["value"] == pytest.approx(0.7)
    for matrix, message in (
        ("5,5,5,4,4\n5,4,5,4,3\n", "the table has no header"),
        ("X,Y\n5,5\n5,4\n4,4\n", "without names nobody can tell items from raters"),
    ):
        path.write_text(matrix)
        done = dialogauge("agreement", path, "--scale", "1-5", "--wide", "raters")
        assert done.code == 1
        assert message in done.err


def test_dimensions_on_scales_of_their_own_are_grouped_each_by_itself(dialogauge, rated, tmp_path):
    phase = {"phase": lambda i: "ab"[i % 2]}
    tone = rated({"X": X, "Y": Y}, extra=phase)
    whole = rated({"X": Y, "Y": X}, "whole.csv", level="conversation", dimension="care", extra=phase)
    done = dialogauge("agreement", tone, whole, "--scale", "1-5", "--by", "phase", "--json")
    groups = [(g["dimension"], g["level"], g["group"], g["targets"]) for g in done.json["groups"]]
    assert groups == [
        ("tone", "turn", "a", 5), ("tone", "turn", "b", 5),
        ("care", "conversation", "a", 5), ("care", "conversation", "b", 5),
    ]  # fmt: skip
    assert "tone of turns" in dialogauge("agreement", tone, whole, "--scale", "1-5", "--by", "phase").out


# Judges beside people


@pytest.fixture
def judged(rated):
    """People who mostly say 5, a judge that is right, one that guesses, and one with fractions."""
    people = [5 if i % 4 else 1 + i % 3 for i in range(120)]
    ratings = rated({"X": people[:80] + [None] * 40, "Y": [None] * 60 + people[60:]})
    near = [min(5, score + (i % 10 == 0)) for i, score in enumerate(people)]
    far = [1 + i % 5 for i in range(120)]
    return ratings, rated({"near": near, "far": far}, "judges.csv")


def test_judges_of_a_file_beside_people(dialogauge, judged, tmp_path):
    people, scores = judged
    done = dialogauge("agreement", scores, "--ratings", people, "--scale", "1-5", "-o", "out")
    assert done.code == 0, done.err
    assert "Yes: near agrees with people more than a judge that always says 5" in done.unwrapped
    assert "No: far agrees with people less than a judge that always says 5" in done.unwrapped
    found = json.loads((tmp_path / "out/agreement.json").read_text())
    far, near = found["judges"]
    assert [j["better_than_the_best_constant"]["agrees_more"] for j in (far, near)] == ["no", "yes"]
    assert [c["name"] for c in near["constants"]] == [f"always {k}" for k in range(1, 6)]
    assert near["constants"][4]["figures"]["alpha_interval"]["value"] <= 0
    assert near["low_shares"]["people"] == pytest.approx(0.25)
    assert near["dissatisfied"] == 30
    assert [r["reference"] for r in near["raters"]] == ["X", "Y"]
    assert [r["n"] for r in near["raters"]] == [80, 60]
    ceiling = found["people"][0]["against_the_others"]
    assert [one["n"] for one in ceiling] == [20, 20]
    assert [level["level"] for level in near["levels"]] == ["turn", "conversation"]
    assert near["gate"] is None
    page = without_own_script((tmp_path / "out/agreement.html").read_text())
    assert "Judges against people" in page
    assert "<script" not in page
    beside = [(c["measure"], c["words"]) for c in found["comparisons"]]
    assert ("ac1", "near is closer to people") in beside


def test_a_judge_without_a_name_has_that_of_its_file(dialogauge, judged, tmp_path):
    people, _ = judged
    path = tmp_path / "lm unit.csv"
    rows = "".join(f"c{i},1,{4.2 + i % 4 / 5:.1f}\n" for i in range(120))
    path.write_text("conversation_id,turn,tone\n" + rows)
    done = dialogauge("agreement", path, "--ratings", people, "--scale", "1-5", "--json")
    assert done.code == 0, done.err
    (judge,) = done.json["judges"]
    assert (judge["name"], judge["fractions"]) == ("lm unit", True)


@pytest.mark.long
def test_two_sources_by_name_against_the_consensus_without_either(dialogauge, judged):
    people, scores = judged
    words = ("agreement", scores, "--ratings", people, "--scale", "1-5")
    done = dialogauge(*words, "--compare", "near", "far", "--json")
    asked = {c["measure"]: c for c in done.json["asked"]}
    assert asked["ac1"]["side"] == "above"
    assert asked["ac1"]["n"] == 120
    person = dialogauge(*words, "--compare", "X", "near", "--json")  # on what Y rated too
    assert {c["n"] for c in person.json["asked"]} == {20}
    unknown = dialogauge(*words, "--compare", "near", "Z")
    assert (unknown.code, "nobody is called 'Z'" in unknown.err) == (2, True)
    assert "there are X, Y, far, near" in unknown.err
    assert "no target in common that a third one rated" in dialogauge(*words, "--compare", "X", "Y").err


@pytest.mark.long
def test_a_judge_that_is_called_as_a_person_is_told_from_them(dialogauge, judged, rated, runs):
    people, _ = judged
    scores = rated({"X": [3] * 120, "people": [1, 5] * 60}, "same names.csv")
    words = ("agreement", scores, "--ratings", people, "--scale", "1-5")
    found = dialogauge(*words, "--json").json
    assert [judge["name"] for judge in found["judges"]] == ["X (judge)", "people (judge)"]
    two = dialogauge(*words, "--compare", "X", "X (judge)", "--json").json["asked"]
    assert {one["n"] for one in two} == {20}  # against Y alone
    exact = next(one for one in two if one["measure"] == "exact")
    assert (exact["figure_a"], exact["figure_b"]) == (1.0, 0.05)  # Y says 3 once
    stars = rated({"hindsight": [5, 1, 1] * 6, "Y": [4, 1, 2] * 6}, "stars.csv", dimension="helpfulness")
    (judge,) = dialogauge("agreement", "hindsight", stars, "--json").json["judges"]
    assert judge["name"] == "hindsight (judge)"
    assert [one["reference"] for one in judge["raters"]] == ["Y", "hindsight"]


def test_judges_that_give_names(dialogauge, rated):
    names = ["good" if i % 3 else "bad" for i in range(90)]
    people = rated({"X": names, "Y": [None] * 60 + names[60:]})
    judges = rated({"same": names, "other": [names[(i + 1) % 3] for i in range(90)]}, "judges.csv")
    done = dialogauge("agreement", judges, "--ratings", people, "--scale", "bad,good", "--json")
    assert done.code == 0, done.err
    other, same = done.json["judges"]
    assert same["figures"].keys() == {"ac1", "randolph", "kappa", "alpha_nominal", "exact"}
    assert same["better_than_the_best_constant"]["b"] == "always good"
    assert (same["figures"]["exact"]["value"], other["figures"]["exact"]["value"]) == (
        1.0,
        pytest.approx(1 / 3),
    )
    assert same["better_than_the_best_constant"]["agrees_more"] == "yes"
    words = dialogauge("agreement", judges, "--ratings", people, "--scale", "bad,good", "--by", "rater")
    assert "Yes: same agrees with people more than a judge that always says good" in words.unwrapped
    assert "Judges against people by rater" in words.out


def test_scores_that_join_no_rating(dialogauge, judged, rated, tmp_path):
    people, _ = judged
    path = tmp_path / "other.csv"
    path.write_text("conversation_id,turn,tone\nx1,1,4\nx2,1,5\n")
    done = dialogauge("agreement", path, "--ratings", people, "--scale", "1-5")
    assert done.code == 2
    assert "no score is of a rated conversation: people rated 'c0' ..., judges scored 'x1' ..." in done.err
    other = rated({"J": X}, "mood.csv", dimension="mood")
    done = dialogauge("agreement", other, "--ratings", people, "--scale", "1-5")
    assert "they rated tone of turns, judges scored mood of turns" in done.err
    done = dialogauge("agreement", other, "--ratings", people, "--scale", "1-5", "--dimension", "mood=tone")
    assert done.code == 0, done.err


def test_ratings_that_join_only_once_a_candidate_is_named(dialogauge, rated, tmp_path):
    people = rated({"X": X})
    path = tmp_path / "judges.csv"
    head = "conversation_id,candidate,turn,rater,tone\n"
    alpha = [f"c{i},alpha,1,J,{score}\n" for i, score in enumerate(Y)]
    beta = [f"c{i},beta,1,J,3\n" for i in range(10)]
    path.write_text(head + "".join(alpha))
    one = dialogauge("agreement", path, "--ratings", people, "--scale", "1-5", "--json")
    assert (one.code, one.json["judges"][0]["counts"]["scored"]) == (0, 10)
    path.write_text(head + "".join(alpha + beta))
    done = dialogauge("agreement", path, "--ratings", people, "--scale", "1-5")
    assert done.code == 2
    assert "replies of several candidates (alpha, beta), and the ratings name none" in done.err
    assert "add a column candidate to the ratings" in done.err
    named = people.read_text().replace("score\n", "score,candidate\n", 1).splitlines()
    people.write_text("\n".join([named[0], *(f"{line},alpha" for line in named[1:])]) + "\n")
    found = dialogauge("agreement", path, "--ratings", people, "--scale", "1-5", "--json")
    assert found.json["judges"][0]["figures"]["exact"]["value"] == pytest.approx(0.7)


def test_candidates_across_judges_and_means_of_candidates(dialogauge, tmp_path):
    head, rows, said = "conversation_id,candidate,turn,rater,tone\n", [], []
    for k, name in enumerate(("a", "b", "c", "d", "e", "f")):
        for i in range(6):
            score = 1 + (k + i) // 3
            rows += [f"c{i},{name},1,J,{score}\n", f"c{i},{name},1,K,{6 - score}\n"]
            said.append(f"c{i},{name},1,X,{score}\n")
    for name, lines in (("judges.csv", rows), ("people.csv", said)):
        (tmp_path / name).write_text(head + "".join(lines))
    done = dialogauge("agreement", "judges.csv", "--ratings", "people.csv", "--scale", "1-5", "--json")
    assert done.code == 0, done.err
    j = next(judge for judge in done.json["judges"] if judge["name"] == "J")
    (level,) = [of for of in j["levels"] if of["level"] == "candidate"]
    assert (level["n"], level["figures"]["kendall"]["value"]) == (6, pytest.approx(1.0))
    (ranks,) = done.json["ranks"]
    assert ranks["ranks"]["J"] == {name: 6.0 - k for k, name in enumerate("abcdef")}
    assert ranks["ranks"]["people"] == ranks["ranks"]["J"]
    assert {(of["a"], of["b"]): round(of["spearman"], 6) for of in ranks["alike"]} == {
        ("J", "K"): -1.0, ("J", "people"): 1.0, ("K", "people"): -1.0,
    }  # fmt: skip
    swapped = {(of["a"], of["b"]): len(of["swapped"]) for of in ranks["alike"]}
    assert swapped == {("J", "K"): 15, ("J", "people"): 0, ("K", "people"): 15}


# Runs


@pytest.fixture
def runs(dialogauge, log, talk):
    """Two runs of the local judge over the same conversations."""
    replies = ("It opens at nine in the morning.", "I cannot say.", "No.")
    path = log(*(talk(f"c{i}", replies[i % 3], replies[(i + 1) % 3]) for i in range(20)))
    for mode in ("hindsight", "foresight"):
        assert dialogauge("judge", path, "--mode", mode, "-o", mode).code == 0
    return "hindsight", "foresight"


def test_runs_that_nobody_rated_are_compared_with_each_other(dialogauge, runs, tmp_path):
    done = dialogauge("agreement", *runs, "--dimension", "helpfulness", "-o", "out")
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "out/agreement.json").read_text())
    assert found["judges"] == []
    (between,) = found["between"]
    assert between["raters"] == ["foresight", "hindsight"]
    assert between["shared"] == 40
    assert {"ac1", "alpha_interval", "spearman"} <= between["coefficients"].keys()
    assert "Judges among judges: helpfulness of turns" in done.out
    assert "Judges against judges" in (tmp_path / "out/agreement.html").read_text()
    alone = dialogauge("agreement", "hindsight")
    assert (alone.code, "there are no ratings of its conversations" in alone.err) == (2, True)


def test_a_run_beside_a_file_of_several_raters(dialogauge, runs, rated):
    people = rated({"X": [5, 1, 1] * 6, "Y": [4, 1, 2] * 7}, dimension="helpfulness")
    done = dialogauge("agreement", "hindsight", people, "--json")  # the rubric says what the scale is
    assert done.code == 0, done.err
    (judge,) = done.json["judges"]
    assert (judge["counts"]["rated"], judge["counts"]["several_raters"]) == (20, 18)
    assert [one["reference"] for one in judge["raters"]] == ["X", "Y"]
    assert done.json["people"][0]["categories"] == list("12345")
    assert done.json == dialogauge("agreement", "hindsight", "--ratings", people, "--json").json
    words = dialogauge("agreement", "hindsight", people).unwrapped
    assert "ratings for 1 conversation that the input does not hold: 'c20'" in words
    strangers = rated({"X": [None] * 30 + [3, 4]}, "strangers.csv", dimension="helpfulness")
    done = dialogauge("agreement", "hindsight", strangers)
    assert done.code == 2
    assert "no rating joins" in done.err
    assert "the runs hold ids such as 'c0'" in done.err


def test_a_judge_on_another_scale_than_people_has_no_coefficients(dialogauge, runs, rated):
    people = rated({"X": [7, 1, 2] * 6, "Y": [6, 1, 2] * 6}, dimension="helpfulness")
    done = dialogauge("agreement", "hindsight", people, "--scale", "1-7", "--by", "rater", "--json")
    assert done.code == 0, done.err
    (judge,) = done.json["judges"]
    assert judge["figures"].keys() >= {"spearman", "auc"}
    assert not judge["figures"].keys() & {"ac1", "qwk", "exact"}
    assert (judge["raters"], judge["constants"], judge["better_than_the_best_constant"]) == ([], [], None)
    assert done.json["people"][0]["categories"] == list("1234567")
    assert done.json["groups"] == []


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set")
def test_the_pilot_of_td_eval(dialogauge):
    path = Path(SHARED) / "data/tdeval/human_ratings.csv"
    done = dialogauge(
        "agreement", path, "--where", "phase=irr", "--level", "turn", "--scale", "1-5", "--json"
    )
    assert done.code == 0, done.err
    people = {p["dimension"]: p["coefficients"] for p in done.json["people"]}
    values = {name: round(of["ac1"]["value"], 4) for name, of in people.items()}
    assert values == {"cohesion": 0.4497, "backend": 0.5051, "policy": 0.4606, "all dimensions": 0.4716}
    alphas = [people["cohesion"][f"alpha_{kind}"]["value"] for kind in ("nominal", "ordinal", "interval")]
    assert alphas == pytest.approx([0.046, 0.130, 0.169], abs=0.0005)


@pytest.mark.long
def test_a_comparison_of_judges_names_what_was_asked(dialogauge, rated):
    people = [rated({"P": X}, "people.csv"), rated({"P": Y}, "care.csv", dimension="care")]
    both = people[0].parent / "both.csv"
    both.write_text(people[0].read_text() + people[1].read_text().split("\n", 1)[1])
    judges = [
        rated({"J": Y, "K": X[::-1]}, "judges.csv"),
        rated({"J": X, "K": Y[::-1]}, "cares.csv", dimension="care"),
    ]
    for words, named in (((), True), (("--dimension", "care"), False)):
        done = dialogauge("agreement", *judges, "--ratings", both, "--scale", "1-5", *words, "-o", "out")
        assert done.code == 0, done.err
        page = (both.parent / "out" / "agreement.html").read_text()
        assert [f"10 targets, {name} of turns" in page for name in ("tone", "care")] == [named, named]


@pytest.mark.parametrize(
    ("scale", "by"), [("1-5", {"J": 5, "K": 3.3}), ("1,2,3,5", {"J": 5, "K": 3, "L": 3})]
)
def test_a_consensus_is_a_rating_whatever_its_sum(dialogauge, rated, scale, by):
    """5 + 3.3 - 3.3 is a little above 5, and the mean of 3 and 5 is a 4 that nobody could give."""
    judges = rated({name: (score, 1, 2) * 3 for name, score in by.items()}, "judges.csv")
    people = rated({"P": (5, 1, 3) * 3})
    done = dialogauge("agreement", judges, "--ratings", people, "--scale", scale, "--json")
    assert done.code == 0, done.err
    (between,) = done.json["between"]
    assert [one["n"] for one in between["against_the_others"]] == [9] * len(by)
