"""People's ratings in a judged run: on the rows, in the summary, on the terminal."""

from __future__ import annotations

import json

from flows.conftest import rows_of


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
    path = log(rated(talk, "a", [2, 3, 4, 5]), rated(talk, "b", ["bad", "good", "bad"]))
    dialogauge("judge", path, "-o", "run")
    rows = rows_of(tmp_path / "run")
    assert rows[0]["rating"] == {"dimension": "rating", "score": 3.5, "raters": 4}
    assert rows[3]["rating"] == {"dimension": "rating", "score": "bad", "raters": 3}


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
        assert "2 already judged" in done.out
        assert [row.get("rating", {}).get("score") for row in rows_of(tmp_path / "run")] == [
            None,
            None,
            score,
            None,
        ]
