"""Ratings of every form that people bring: thumbs, rewards, two scales, one user, all alike, some missing."""

from __future__ import annotations

import json

import pytest

from flows.conftest import rows_of


@pytest.fixture
def rated(log, talk):
    """Writes a log of which every turn is rated by its user, with what `score(good, number)` says."""

    def write(score, *, dimension="satisfaction", users=6, talks=24, name="log.jsonl"):
        records = []
        for k in range(talks):
            replies = [
                "It opens at nine in the morning." if (k + t) % 3 else "I cannot say." for t in range(3)
            ]
            user = f"u{k % users}"
            record = talk(f"t{k}", *replies, user_id=user, scenario="abc"[k // users % 3])
            scores = [score((k + t) % 3 != 0, 3 * k + t) for t in range(3)]
            record["ratings"] = [
                {"dimension": dimension, "turn": t, "score": s, "rater": user}
                for t, s in enumerate(scores, 1)
                if s is not None
            ]
            records.append(record)
        return log(*records, name=name)

    return write


THUMBS = [("up", "down"), (True, False), (1, -1), ("👍", "👎"), ("yes", "no"), ("赞", "踩")]


def five(good, number):
    return 4 + number % 2 if good else 1 + number % 3


def two_scales(good, number):
    return five(good, number) if number % 2 else 80 + number % 15


@pytest.mark.long
@pytest.mark.parametrize("pair", THUMBS)
def test_thumbs_are_read_as_satisfied_or_not_and_said(dialogauge, rated, tmp_path, pair):
    path = rated(lambda good, _: pair[0 if good else 1])
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 0
    assert "ratings of satisfaction (turn): read as thumbs: 48 up, 24 down" in done.unwrapped
    assert "33.3 % of these were rated poorly (thumbs down)" in done.unwrapped
    page = (tmp_path / "run/report.html").read_text()
    assert "people’s rating, lowest first" in page
    assert "thumbs down" in page[page.index('id="conversations"') :]
    assert rows_of(tmp_path / "run")[0]["rating"]["score"] in ("up", "down")


def test_a_no_to_something_bad_is_not_called_dissatisfied(dialogauge, log, talk, tmp_path):
    records = []
    for number in range(40):
        record = talk(f"c{number}", "It opens at nine.", "By bus 4.")
        record["messages"][1]["ratings"] = {"hallucination": "yes" if number % 10 == 0 else "no"}
        record["ratings"] = {"toxic": number % 20 == 0}
        records.append(record)
    path = log(*records)
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 0
    assert "thumb" not in done.out + (tmp_path / "run/report.html").read_text()
    figures = json.loads((tmp_path / "run/summary.json").read_text())["people"]["figures"]
    assert [(f["dimension"], f["dissatisfied"], f["counts"]) for f in figures] == [
        ("hallucination", None, {"no": 36, "yes": 4}),
        ("toxic", None, {"false": 38, "true": 2}),
    ]
    rows = dialogauge("pairs", "run", "--kind", "sft", "-o", "sft.jsonl").unwrapped
    assert "people were dissatisfied" not in rows
    compare = ("agreement", "run", "--dimension", "helpfulness=hallucination")
    assert "read as names: no 36, yes 4; not compared, because nothing says" in dialogauge(*compare).unwrapped
    assert "yes, 4 of 40 targets" in dialogauge(*compare, "--dissatisfied", "yes").unwrapped
    asked = dialogauge("judge", path, "-o", "asked", "--dissatisfied", "yes").unwrapped
    assert "10.0 % of these were rated poorly (yes)" in asked


def test_agreement_compares_thumbs_by_class_and_not_by_kappa(dialogauge, rated):
    dialogauge("judge", rated(lambda good, _: "up" if good else "down"), "-o", "run")
    done = dialogauge("agreement", "run", "--dimension", "satisfaction")
    assert done.code == 0
    assert "read as thumbs: 48 up, 24 down; of the judge's scores <=3 is down" in done.unwrapped
    judge = dialogauge("agreement", "run", "--dimension", "satisfaction", "--json").json["judges"][0]
    assert {"auc", "f1_dsat"} <= judge["figures"].keys()
    assert not {"qwk", "pearson", "mae"} & judge["figures"].keys()
    assert judge["dissatisfied"] == 24
    whole = dialogauge("agreement", "run")
    assert (whole.code, whole.unwrapped.count("read as thumbs: 48 up, 24 down")) == (0, 1)
    turned = dialogauge("agreement", "run", "--dimension", "satisfaction", "--dissatisfied", "yes", "--json")
    assert turned.json["judges"][0]["dissatisfied"] == 48


def test_pairs_follow_thumbs(dialogauge, rated, tmp_path):
    dialogauge("judge", rated(lambda good, _: good), "-o", "run")
    done = dialogauge("pairs", "run", "--kind", "kto", "-o", "kto.jsonl")
    assert "satisfaction of 72 turns, thumbs down is bad" in done.unwrapped
    labels = [json.loads(line)["label"] for line in (tmp_path / "kto.jsonl").read_text().splitlines()]
    assert (labels.count(True), labels.count(False)) == (48, 24)


@pytest.mark.long
@pytest.mark.parametrize(
    ("score", "why"),
    [
        (lambda good, _: "up" if good else "down", "is rated in thumbs: 48 up, 24 down"),
        (lambda good, _: int(good), "is rated in a reward or thumbs, 0 or 1: 48 times 1, 24 times 0"),
        (lambda _, number: number, "is rated in numbers from 0 to 71"),
        (two_scales, "has ratings on two scales (36 from 1 to 5, 36 from 80 to 94)"),
        (lambda good, _: "good" if good else "bad", "is rated in names: good 48, bad 24"),
    ],
)
def test_studies_of_one_to_five_refuse_other_ratings_in_a_sentence(dialogauge, rated, score, why):
    path = rated(score)
    for words in (
        ("satisfaction", "--judge", "history-mean", "-o", "s"),
        ("fit", "-o", "m"),
        ("fit", "-o", "m.json"),
    ):
        done = dialogauge(words[0], path, *words[1:])
        if words[-1] == "m" and "thumbs" in why:
            assert done.code == 0, "a model of ratings is fitted to two sides too"
            continue
        assert done.code == 2
        assert why in done.err


def test_another_dimension_is_asked_for_with_counts_and_ranges(dialogauge, rated):
    path = rated(lambda good, n: five(good, n), dimension="helpfulness")
    done = dialogauge("satisfaction", path, "--judge", "history-mean", "-o", "s")
    assert done.code == 2
    listed = "'helpfulness' (72, numbers from 1 to 5): take one with --dimension helpfulness"
    assert listed in done.err


def test_numbers_on_two_scales_are_never_mixed(dialogauge, rated, tmp_path):
    path = rated(two_scales)
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 0
    why = "on two scales (36 from 1 to 5, 36 from 80 to 94), so none is used"
    assert f"Ratings of satisfaction (turn) are {why}" in done.unwrapped
    assert not any("rating" in row for row in rows_of(tmp_path / "run"))
    refused = dialogauge("agreement", "run", "--dimension", "satisfaction")
    assert refused.code == 2
    assert "'satisfaction' has ratings on two scales (36 from 1 to 5, 36 from 80 to 94)" in refused.err
    checked = dialogauge("check", path)
    assert why in checked.unwrapped
    assert "mean" not in checked.unwrapped


def test_one_scale_a_dimension_is_each_on_its_own(dialogauge, rated, tmp_path):
    path = rated(lambda good, n: {"stars": five(good, n), "percent": 90 if good else 20})
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        for rating in record["ratings"]:
            record["messages"][2 * rating["turn"] - 1]["ratings"] = rating["score"]
        del record["ratings"]
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    done = dialogauge("judge", path, "-o", "run")
    assert "ratings of percent (turn): read as numbers from 20 to 90" in done.unwrapped
    people = json.loads((tmp_path / "run/summary.json").read_text())["people"]["figures"]
    assert {f["dimension"]: f["scale"]["high"] for f in people} == {"percent": 100, "stars": 5}
    named = dialogauge("agreement", "run")
    assert "'stars' (72, numbers from 1 to 5), 'percent' (72, numbers from 20 to 90)" in named.err


def test_ratings_of_one_user_are_clustered_by_conversations_and_it_is_said(dialogauge, rated):
    done = dialogauge("judge", rated(five, users=1), "-o", "run")
    assert "One user gave all of them, so intervals are by conversation." in done.unwrapped
    said = dialogauge("agreement", "run", "--dimension", "satisfaction").unwrapped
    assert "24 conversations of 1 user" in said
    assert "Intervals are clustered by conversations" in said


def test_ratings_that_are_all_alike_show_no_order(dialogauge, rated):
    done = dialogauge("judge", rated(lambda *_: 4), "-o", "run")
    assert done.code == 0
    assert "Every rating is 4: no order can be measured" in done.unwrapped
    studied = dialogauge("satisfaction", "run", "--judge", "history-mean", "-o", "s")
    assert studied.code == 2
    assert "72 ratings of 'satisfaction': all say 4, so no order can be measured" in studied.err
    refused = dialogauge("agreement", "run", "--dimension", "satisfaction")
    assert refused.code == 2
    assert "people said the same of 72 targets, 4: no order can be measured" in refused.err


def test_ratings_of_some_turns_are_counted_as_they_are(dialogauge, rated):
    done = dialogauge("judge", rated(lambda good, n: five(good, n) if n % 3 == 1 else None), "-o", "run")
    assert "24 ratings, 24 conversations" in done.unwrapped


def test_rewards_outside_0_to_1_are_named(dialogauge, log, talk):
    def run(*rewards):
        path = log(*(talk(f"t{k}", reward=reward) for k, reward in enumerate(rewards)))
        return dialogauge("judge", path, "-o", "run", "--fresh").unwrapped

    assert "read as numbers" not in run(*[0, 1, 0.5] * 5)
    stray = run(*[0, 1] * 10, 7)
    assert "1 rating of reward (conversation) not used: off the scale 0-1 (7)" in stray
    assert "failed 50.0 %" in stray
    assert "ratings of reward (conversation): read as numbers from -3 to 12" in run(*[-3, 12, 0, 1] * 5)
    slips = run(*[0, 0.9] * 20, 1.7, -0.2)
    assert "2 ratings of reward (conversation) not used: off the scale 0-1 (1.7, -0.2)" in slips
    assert "mean reward 0.45" in slips
    assert "failed 100 %" in slips  # a reward of 0.9 is no success
    assert "meaning below 1" in slips
    assert "rated dissatisfied" not in slips


def test_check_reads_ratings_as_the_judge_does(dialogauge, log, talk):
    records = [talk(f"c{n}", rating=30 + 60 * (n % 2), ratings={"tone": "good"}) for n in range(20)]
    for n, record in enumerate(records):
        record["messages"][1]["rating"] = n % 5 + 1
    records[3]["ratings"] = {"tone": 4}
    checked = dialogauge("check", log(*records)).unwrapped
    assert "turns read as numbers from 1 to 5; conversations read as numbers from 30 to 90" in checked
    assert "two scales" not in checked
    assert "1 not used: a number, and the ratings are names (4)" in checked
    assert "mean" not in checked
    judged = dialogauge("judge", log(*records), "-o", "run").unwrapped
    assert "ratings of rating (conversation): read as numbers from 30 to 90" in judged
    assert "1 rating of tone (conversation) not used: a number, and the ratings are names (4)" in judged


def test_many_different_ratings_are_not_all_listed(dialogauge, log, talk):
    checked = dialogauge("check", log(*(talk(f"c{n}", rating=n) for n in range(100)))).unwrapped
    assert "and 88 rarer values" in checked


def test_check_says_how_ratings_are_read(dialogauge, rated):
    thumbs = dialogauge("check", rated(lambda good, _: 1 if good else -1))
    assert thumbs.code == 0
    assert "read as thumbs: 48 up, 24 down" in thumbs.unwrapped
    reward = dialogauge("check", rated(lambda good, _: int(good)))
    assert "read as a reward or thumbs, 0 or 1: 48 times 1, 24 times 0" in reward.unwrapped
    assert "WARNING" not in thumbs.out + reward.out
    assert dialogauge("check", rated(five)).unwrapped.count("read as") == 1  # the format of the file


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("", 1, "ratings.csv: the file is empty"),
        ("conversation_id,turn,dimension,score\n", 1, "the file holds no ratings"),
        (
            "conversation_id,turn,vote\nt0,1,👍\nt1,1,👎\nt1,2,up\n",
            0,
            "vote (turn): read as thumbs: 2 up, 1 down",
        ),
        (
            "conversation_id,turn,vote\nt0,9,up\nt1,1,down\n",
            1,
            "ratings for 1 turn that the conversation does not",
        ),
        (
            "conversation_id,turn,vote\nt99,1,up\nt1,1,down\n",
            1,
            "ratings for 1 conversation that the input does",
        ),
        (
            "conversation_id,turn,vote\nt1,1,up\nt1,1,down\n",
            1,
            "vote of turn 1 was rated before, at ratings.csv:2, and nothing says by whom",
        ),
        (
            "conversation_id,turn,rater,vote\nt0,1,ann,up\nt1,1,ann,up\nt1,1,ann,down\n",
            0,
            "1 rating was given again by the same rater: the latest counts",
        ),
        (
            "conversation_id,turn,vote\n"
            + "".join(f"t{k},{t},up\n" for k in range(9) for t in (1, 2))
            + "t9,1,meh\n",
            1,
            "vote is 'meh': it is neither up nor down, and the ratings are thumbs",
        ),
    ],
)
def test_files_of_ratings_say_what_is_wrong(dialogauge, rated, tmp_path, text, code, why):
    (tmp_path / "ratings.csv").write_text(text)
    path = rated(lambda *_: None)
    done = dialogauge("judge", path, "--ratings", "ratings.csv", "-o", "run")
    assert done.code == code
    assert why in " ".join((done.out + done.err).split())


def test_trust_has_no_kappa_of_thumbs(dialogauge, rated, tmp_path):
    dialogauge("judge", rated(lambda *_: None), "-o", "run")
    lines = [f"t{k},1,helpfulness,{'up' if k % 3 else 'down'}\n" for k in range(24)]
    (tmp_path / "r.csv").write_text("conversation_id,turn,dimension,score\n" + "".join(lines))
    done = dialogauge("trust", "run", "--ratings", "r.csv", "--json")
    assert done.code == 0
    sentence = done.json["calibration"]["dimensions"][0]["sentence"]
    assert sentence == "Helpfulness: scores and ratings have no scale in common, so there is no kappa."


def test_what_looks_like_a_rating_and_is_not_used_is_said(dialogauge, log, talk):
    records = [talk(f"c{n}", satisfaction="very satisfied", nps=9, vote="") for n in range(3)]
    records[0]["messages"][0]["rating"] = 4
    said = dialogauge("check", log(*records)).unwrapped
    assert "3 records have a satisfaction that is neither a number nor a thumb: not used as a rating" in said
    assert "3 records have a nps: not used as a rating unless a field map (--map) names it" in said
    assert "1 message of the user has a rating: not used, it belongs to the reply" in said
    assert "have a vote" not in said


def test_raters_that_contradict_each_other_are_not_taken_for_people_who_say_the_middle(dialogauge, log, talk):
    records = [talk(f"c{n}") for n in range(20)]
    for n, record in enumerate(records):
        record["messages"][1]["rating"] = [1, 5] if n % 2 else [4, 2]
    shown = dialogauge("judge", log(*records), "-o", "run").unwrapped
    assert "of 1 to 5; 40 ratings of 20 turns, 20 conversations" in shown
    assert "several raters of one turn lie 3.0 apart on average" in shown
    assert "meaning 3 or less by the mean of the raters" in shown
    assert "Every rating is 3" not in shown
    assert "Every turn, by the mean of its raters, is 3: no order can be measured" in shown


def test_ratings_that_a_spreadsheet_saved(dialogauge, rated, tmp_path):
    path = rated(lambda *_: None)
    rows = [f"t{k};{t};ann;{'4,5' if (k + t) % 3 else 'Bad (1)'};;" for k in range(24) for t in (1, 2, 3)]
    text = "\r\n".join(["item;turn;rater;rating;;", *rows, ";;;;;", ""])
    (tmp_path / "ratings.csv").write_bytes(text.encode("utf-16"))
    done = dialogauge("check", path, "--ratings", "ratings.csv")
    assert done.code == 0
    for said in (
        "1 file is in UTF-16",
        "1 file has cells parted by semicolons",
        "48 scores have a decimal comma",
        "24 scores have words beside their number, which alone counts",
        "1 row is empty and left out",
    ):
        assert said in done.unwrapped
