"""People's ratings in a judged run: on the rows, in the summary, on the terminal."""

from __future__ import annotations

import csv
import json

import pytest

from flows.conftest import rows_of


def people_of(run):
    return json.loads((run / "summary.json").read_text())["people"]


def rated(talk, name, score, **more):
    record = talk(name, "It opens at nine.", "At nine, as I said.", **more)
    record["messages"][1]["rating"] = score
    return record


def test_the_rating_stands_on_the_row_of_its_target(dialogauge, log, talk, tmp_path):
    ratings = {"tone": 4, "reward": 0.5}
    assert dialogauge("judge", log(rated(talk, "a", 2, ratings=ratings)), "-o", "run").code == 0
    first, second, whole = rows_of(tmp_path / "run")
    assert first["rating"] == {"dimension": "rating", "score": 2, "raters": 1}
    assert "rating" not in second
    assert whole["rating"] == {"dimension": "reward", "score": 0.5, "raters": 1, "others": {"tone": 4}}


def test_several_raters_are_averaged_and_names_are_voted_on(dialogauge, log, talk, tmp_path):
    rows = [{"dimension": "tone", "score": name} for name in ("bad", "good", "bad")]
    path = log(rated(talk, "a", [2, 3, 4, 5]), rated(talk, "b", rows))
    dialogauge("judge", path, "-o", "run")
    rows = rows_of(tmp_path / "run")
    assert rows[0]["rating"] == {"dimension": "rating", "score": 3.5, "raters": 4}
    assert rows[3]["rating"] == {"dimension": "tone", "score": "bad", "raters": 3}


def test_ratings_that_come_later_change_or_go_are_on_the_rows_without_judging_again(
    dialogauge, log, talk, tmp_path
):
    path, ratings = log(talk("a"), talk("b")), tmp_path / "ratings.jsonl"
    for score in (2, 5):
        dialogauge("judge", path, "-o", "run")
        assert not any("rating" in row for row in rows_of(tmp_path / "run"))
        ratings.write_text(
            json.dumps({"conversation_id": "b", "turn": 1, "dimension": "help", "score": score})
        )
        done = dialogauge("judge", path, "--ratings", ratings, "-o", "run")
        assert "2 already done" in done.out
        assert [row.get("rating", {}).get("score") for row in rows_of(tmp_path / "run")] == [
            None,
            None,
            score,
            None,
        ]


@pytest.mark.parametrize("key", ["reward", "rating", "satisfaction"])
def test_a_number_on_the_record_rates_the_conversation(dialogauge, log, talk, tmp_path, key):
    path = log(talk("a", **{key: 1}), talk("b", **{key: "0"}), talk("c", **{key: "n.a."}))
    done = dialogauge("judge", path, "-o", "run")
    assert f"2 records have a {key}: read as a rating of the conversation" in done.unwrapped
    ratings = [row.get("rating") for row in rows_of(tmp_path / "run") if row["level"] == "conversation"]
    assert [r and (r["dimension"], r["score"]) for r in ratings] == [(key, 1), (key, 0), None]


def test_a_clash_of_ratings_is_named_and_the_files_count(dialogauge, log, talk, tmp_path):
    path, ratings = log(rated(talk, "a", 2), rated(talk, "b", 3)), tmp_path / "ratings.jsonl"
    rows = [("a", 5), ("b", 3)]
    lines = [{"conversation_id": c, "turn": 1, "dimension": "rating", "score": s} for c, s in rows]
    ratings.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = dialogauge("judge", path, "--ratings", ratings, "-o", "run")
    assert done.code == 0
    assert "1 rating in the data and in --ratings differ, and the file's count" in done.unwrapped
    assert "(e.g. 'a', turn 1: rating 2 in the data, 5 in the file)" in done.unwrapped
    scores = [row["rating"] for row in rows_of(tmp_path / "run") if row["turn"] == 1]
    assert [(r["score"], r["raters"]) for r in scores] == [(5, 1), (3, 1)]
    hidden = dialogauge("judge", path, "--ratings", ratings, "--hash-ids", "-o", "hidden")
    assert "e.g." not in hidden.out.split("differ")[1].split("\n")[0]
    strict = dialogauge("judge", path, "--ratings", ratings, "--strict", "-o", "strict")
    assert strict.code == 1
    assert "rating is rated otherwise in the data and in --ratings" in strict.err


def test_what_is_off_the_judges_scale_is_named_and_not_averaged(dialogauge, log, talk, tmp_path):
    records = []
    for number in range(12):
        record = talk(f"c{number}")
        record["messages"][1]["rating"] = {"helpfulness": 9 if number == 3 else 2}
        records.append(record)
    done = dialogauge("judge", log(*records), "-o", "run")
    assert "1 rating of helpfulness (turn) not used: off the scale 1-5 (9)" in done.unwrapped
    assert sum("rating" in row for row in rows_of(tmp_path / "run")) == 11
    (figure,) = people_of(tmp_path / "run")["figures"]
    assert (figure["n"], figure["mean"]["value"]) == (11, 2)


@pytest.mark.long
def test_what_counts_as_dissatisfied_can_be_asked_for(dialogauge, log, talk, tmp_path):
    path = log(*(rated(talk, f"c{n}", n % 5 + 1) for n in range(10)))
    for rule, words, share in (("<3", "below 3", 0.4), ("4", "4 or less", 0.8)):
        assert dialogauge("judge", path, "--dissatisfied", rule, "-o", "run").code == 0
        (figure,) = people_of(tmp_path / "run")["figures"]
        assert (figure["rule"], figure["dissatisfied"]["value"]) == (words, share)
    for rule in (" ", "<", ">=nan", "<<3"):
        assert dialogauge("judge", path, "--dissatisfied", rule, "-o", "run").code == 2
    for rule in ("99", "3 or 4", "DSAT"):
        done = dialogauge("judge", path, "--dissatisfied", rule, "-o", "run")
        assert (
            f"--dissatisfied {rule} fits none of these ratings, so what counts is: 3 or less"
            in done.unwrapped
        )


def test_ratings_are_columns_of_an_export(dialogauge, log, talk, tmp_path):
    path = log(rated(talk, "a", 2, ratings={"=tone": "dull", "reward": 0.5}), talk("b"))
    dialogauge("judge", path, "-o", "run")
    assert dialogauge("export", "run", "-o", "rows.csv").code == 0
    with (tmp_path / "rows.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns = ["rating_rating", "rating_reward", "rating_=tone", "raters"]
    assert [name for name in rows[0] if "rat" in name and name != "rationale"] == columns
    assert [[row[name] for name in columns] for row in rows[:3]] == [
        ["2.0", "", "", "1"],
        ["", "", "", ""],
        ["", "0.5", "dull", "1"],
    ]
    dialogauge("judge", log(talk("b"), name="plain.jsonl"), "-o", "plain")
    dialogauge("export", "plain", "-o", "plain.csv")
    assert "raters" not in (tmp_path / "plain.csv").read_text().splitlines()[0]


def test_ratings_of_turns_are_said_where_whole_conversations_alone_are_judged(
    dialogauge, log, talk, tmp_path
):
    records = [rated(talk, f"c{n}", n % 5 + 1, ratings={"satisfaction": (n + 1) % 5 + 1}) for n in range(30)]
    done = dialogauge("judge", log(*records), "--rubric", "session", "-o", "run")
    people = people_of(tmp_path / "run")
    assert done.code == 0
    assert [(f["level"], f["n"]) for f in people["figures"]] == [("conversation", 30), ("turn", 30)]
    assert people["light"]["level"] == "conversation"
    assert people["light"]["judge"]["value"] is not None


def test_where_some_are_rated_the_judges_mean_stands_beside_the_rectified_one(
    dialogauge, log, talk, tmp_path
):
    records = []
    for number in range(40):
        record = talk(f"c{number}", "It opens at nine.", "It opens at nine." if number % 2 else "By bus 4.")
        if number % 4 == 0 or number % 7 == 0:
            record["messages"][1 + number % 3 // 2 * 2]["satisfaction"] = number % 3 + 2
        records.append(record)
    shown = dialogauge("judge", log(*records), "-o", "run").unwrapped
    (mean,) = people_of(tmp_path / "run")["rectified"]
    assert mean["targets"] == 80
    assert mean["rated_only"]["n"] == 14
    assert 1 <= mean["judge"]["value"] <= 5
    assert mean["rectified"]["low"] < mean["rectified"]["value"] < mean["rectified"]["high"]
    page = (tmp_path / "run/report.html").read_text()
    for words in ("satisfaction, all turns", "people’s, rated only", "n 14", "n 80"):
        assert words in shown
        assert words in page


def test_numbers_of_turns_and_names_of_the_whole_under_one_name_are_both_exported(
    dialogauge, log, talk, tmp_path
):
    records = [rated(talk, f"c{n}", 4, ratings={"rating": "fine"}) for n in range(3)]
    dialogauge("judge", log(*records), "-o", "run")
    for ending in ("csv", "parquet"):
        assert dialogauge("export", "run", "-o", f"rows.{ending}").code == 0
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert [row["rating_rating"] for row in csv.DictReader(file)] == ["4", "", "fine"] * 3


def test_the_users_of_the_headline_are_those_of_the_conversations_that_were_judged(
    dialogauge, log, talk, tmp_path
):
    records = [talk(f"c{n}", user_id=f"u{n % 8}") for n in range(16)]
    assert "16/16 of 8 users" in dialogauge("judge", log(*records), "-o", "plain").unwrapped
    some = [rated(talk, f"c{n}", 4, user_id=f"u{n % 8}") for n in range(3)]
    shown = dialogauge("judge", log(*some, *records[3:]), "-o", "run").unwrapped
    assert "16/16 of 8 users" in shown
    assert "by users (8 users, 16 conversations)" in shown


def test_a_file_whose_ratings_belong_to_nothing_is_not_called_a_log_without_ratings(
    dialogauge, log, talk, tmp_path
):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("conversation_id,turn,dimension,score\nC-1,1,helpfulness,4\nC-2,1,helpfulness,2\n")
    shown = dialogauge("judge", log(talk("c1"), talk("c2")), "--ratings", ratings, "-o", "run").unwrapped
    assert "None of the 2 ratings that were given belongs to a conversation of this run" in shown
    assert "This data has no ratings" not in shown
    assert "has the name of one that the judge scores" not in shown
    assert "has the name of one that the judge scores" not in (tmp_path / "run/report.html").read_text()


def test_conversations_rated_as_a_whole_in_a_dimension_of_turns_are_not_called_unrated(
    dialogauge, log, talk, tmp_path
):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("conversation_id,dimension,score\nc1,helpfulness,4\nc2,helpfulness,2\n")
    shown = dialogauge("judge", log(talk("c1"), talk("c2")), "--ratings", ratings, "-o", "run").unwrapped
    assert "No rated dialogue" not in shown
    assert "Nothing that people rated was scored by the judge under the same name" in shown


def test_of_unknown_dimensions_the_one_that_asks_for_approval_comes_first(dialogauge, log, talk, tmp_path):
    records = [talk(f"c{n}", ratings={"effort": 7 - n % 7, "resolved": n % 2 == 0}) for n in range(14)]
    dialogauge("judge", log(*records), "-o", "run")
    assert [f["dimension"] for f in people_of(tmp_path / "run")["figures"]] == ["resolved", "effort"]
