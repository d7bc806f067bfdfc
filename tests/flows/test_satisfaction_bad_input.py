"""What is wrong with rated data is named, and never becomes a number; and what is hidden stays hidden."""

from __future__ import annotations

import json
import re

import pytest

from flows.conftest import rows_of
from rated import rated_talk, rated_users
from talks import conversation_record

WORDS = ("--judge", "history-mean", "--split", "all")


@pytest.fixture
def records():
    return [conversation_record(c) for c in rated_users(6)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.jsonl"], "gone.jsonl: there is no such file or folder"),
        (["data.jsonl", "--ratings", "gone.csv"], "gone.csv: there is no such file or folder"),
        (["data.jsonl", "--split-file", "gone.json"], "gone.json: the split file cannot be read"),
        (["data.jsonl", "--map", "gone.toml"], "gone.toml"),
    ],
)
def test_missing_files(dialogauge, log, records, tmp_path, words, said) -> None:
    log(*records, name="data.jsonl")
    done = dialogauge("satisfaction", *words, "--judge", "history-mean", "-o", "run")
    assert done.code in (1, 2)
    assert said in done.err
    assert not (tmp_path / "run").exists()


def test_sessions_without_ratings_are_left_out_and_counted(dialogauge, log, records) -> None:
    records[0]["ratings"] = []
    done = dialogauge("satisfaction", log(*records), *WORDS)
    assert done.code == 0, done.err
    assert re.search(r"\nleft out +1, no rating\n", done.out)
    none = log(*({**r, "ratings": []} for r in records), name="none.jsonl")
    done = dialogauge("satisfaction", none, *WORDS)
    assert done.code == 2
    assert "no rated reply with a user and a scenario to judge (36 with no rating)" in done.err


def test_another_dimension_that_the_data_has_is_named(dialogauge, log, records) -> None:
    """The key `rating` of a message is a dimension of its own."""
    for record in records:
        for rating in record["ratings"]:
            rating["dimension"] = "rating"
    path, n = log(*records), sum(len(r["ratings"]) for r in records)
    for command in (("satisfaction", path, *WORDS), ("fit", path, "-o", "x.json")):
        done = dialogauge(*command)
        assert done.code == 2
        assert (
            f"the data has ratings of 'rating' ({n}, numbers from 1 to 5): take one with --dimension rating"
            in done.err
        )


def test_ratings_that_are_no_scores_are_named_with_their_place(dialogauge, log, records) -> None:
    records[0]["ratings"][0]["score"] = 9
    records[1]["ratings"][0]["score"] = "great"
    records[2]["ratings"][0]["score"] = []
    done = dialogauge("satisfaction", log(*records), *WORDS, "--json")
    assert done.code == 1
    assert "log.jsonl:1, conversation 'user0__cook__0', turn 1: the rating 9 is off the scale 1-5" in done.err
    assert "turn 1: the rating 'great' is a text: satisfaction is a number from 1 to 5" in done.err
    assert done.json["metrics"]["n"] == 86  # the whole third record is unreadable
    assert "log.jsonl:3" in done.err
    # a bad rating is no failed turn, and no conversation more
    assert (done.json["requested"], done.json["failed"]) == (87, 1)
    assert done.json["conversations"]["requested"] == 36
    assert done.json["conversations"]["unreadable"] == 1
    assert done.json["study"]["rating_faults"] == 2


@pytest.fixture
def table(tmp_path):
    """Sixty users with one conversation of two turns each, one row a message."""

    def write(**changed: str) -> str:
        lines = ["conversation_id,user_id,scenario,role,content,satisfaction"]
        for i in range(60):
            about = f"c{i},u{i % 30},{'cook' if i < 30 else 'gift'}"
            for turn in (1, 2):
                lines.append(f"{about},user,question {turn},")
                lines.append(f"{about},assistant,answer {turn} of {i},{3 + (i + turn) % 3}")
        for line, cell in changed.items():
            number = int(line.removeprefix("line")) - 1
            lines[number] = f"{lines[number].rpartition(',')[0]},{cell}"
        (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
        return "table.csv"

    return write


@pytest.mark.long
@pytest.mark.parametrize("command", ["satisfaction", "fit"])
def test_a_bad_rating_in_a_table_is_named_with_its_own_line(dialogauge, table, command) -> None:
    words = WORDS if command == "satisfaction" else ()
    done = dialogauge(command, table(line9="7"), *words, "-o", "out")
    assert done.code == 1, done.err
    assert "table.csv:9, conversation 'c1', turn 2: the rating 7 is" in done.err


@pytest.mark.long
def test_ratings_without_a_rater_on_one_turn_are_counted(dialogauge, table) -> None:
    plain = dialogauge("satisfaction", table(), *WORDS, "-o", "plain")
    assert "without a rater" not in plain.out
    done = dialogauge("satisfaction", table(line2="1", line4="1"), *WORDS, "-o", "twice")
    assert done.code == 0, done.err
    assert "several ratings without a rater, read as several people's mean: 2 turns" in done.out


def test_published_data_with_a_bad_rating(dialogauge, tmp_path) -> None:
    for task in ("旅行规划", "礼物准备"):
        for k in range(2):
            path = tmp_path / "data" / "User_1" / task / f"{k}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            turns = [{"role": "user", "content": "怎么走?"}, {"role": "assistant", "content": "直走。"}]
            turns[1]["satisfaction"] = "很好" if (task, k) == ("礼物准备", 1) else str(4 + k)
            value = {"task_type": task, "task_context": "", "profile": {}, "history": turns}
            path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    done = dialogauge("satisfaction", "data", *WORDS, "--json")
    assert done.code == 1
    assert "'很好'" in done.err
    assert done.json["metrics"]["n"] == 3


@pytest.mark.long
def test_conversations_and_turns_given_twice(dialogauge, log, records) -> None:
    done = dialogauge("satisfaction", log(*records, records[0]), *WORDS, "--json")
    assert done.code == 1
    assert "log.jsonl:37, conversation 'user0__cook__0': the id was seen before, at" in done.err
    assert done.json["metrics"]["n"] == 90
    records[0]["ratings"].append({**records[0]["ratings"][0], "score": 1})
    done = dialogauge("satisfaction", log(*records), *WORDS, "--json")
    assert done.code == 1
    first = records[0]["ratings"][0]["score"]
    assert f"turn 1 was rated {first}, and 1 later by the same rater (the latest counts)" in done.err
    assert done.json["metrics"]["n"] == 90


def test_calibration_without_a_history(dialogauge, log) -> None:
    talks = [rated_talk(f"u{i}", "cook", 0, [4, 5, 3]) for i in range(6)]
    data = log(*(conversation_record(c) for c in talks))
    split = ("--judge", "local", "--split", "all", "--calibrate", "cdf")
    done = dialogauge("satisfaction", data, *split, "-o", "run")
    assert done.code == 0, done.err
    assert "--calibrate cdf changed nothing: no block has a history to calibrate to" in done.unwrapped
    assert "counted separately 18 turns of users without a history" in done.unwrapped
    assert dialogauge("report", "run").code == 0


def test_thin_histories_are_counted_where_nothing_is_calibrated(dialogauge, log) -> None:
    talks = [rated_talk(f"u{i}", s, 0, [4, 5]) for i in range(6) for s in ("cook", "gift")]
    data = log(*(conversation_record(c) for c in talks))
    done = dialogauge("satisfaction", data, *WORDS, "--calibrate", "cdf", "--json")
    assert done.code == 0, done.err
    assert done.json["calibrations"]["cdf"]["calibration"]["identity"] == {"thin_history": 12}


@pytest.fixture
def personal(log):
    talks = []
    for c in rated_users(12):
        record = conversation_record(c)
        record["messages"][1]["content"] += " write to ann.lee@example.org"
        record["ratings"] = [{**r, "note": "call 13812345678"} for r in record["ratings"]]
        record["user_id"] = f"ann-{c.user_id}"
        talks.append(record)
    return log(*talks, name="personal.jsonl")


@pytest.mark.long
def test_what_is_hidden_stands_in_no_file_of_the_run(dialogauge, personal, tmp_path) -> None:
    words = ("--judge", "nearest-3")
    assert dialogauge("satisfaction", personal, *words, "-o", "open").code == 0
    done = dialogauge("satisfaction", personal, *words, "--redact", "--hash-ids", "-o", "hidden")
    assert done.code == 0, done.err
    shown = done.out + "".join(
        (tmp_path / "hidden" / name).read_text("utf-8")
        for name in ("judgements.jsonl", "summary.json", "report.html", "manifest.json")
    )
    assert "ann.lee@example.org" in (tmp_path / "open" / "report.html").read_text("utf-8")
    for secret in ("ann.lee@example.org", "13812345678", "ann-user3", "user3__cook__0"):
        assert secret not in shown
    assert "[email]" in shown
    # the same users are judged, with the same scores
    figures = [json.loads((tmp_path / run / "summary.json").read_text()) for run in ("open", "hidden")]
    assert figures[0]["study"] == figures[1]["study"]
    assert figures[0]["metrics"]["n"] == figures[1]["metrics"]["n"] == 150


@pytest.mark.long
def test_hidden_ids_change_no_figure(dialogauge, personal, tmp_path) -> None:
    words = ("--judge", "nearest-3")
    dialogauge("satisfaction", personal, *words, "-o", "open")
    dialogauge("satisfaction", personal, *words, "--hash-ids", "-o", "hidden")
    figures = [json.loads((tmp_path / run / "summary.json").read_text()) for run in ("open", "hidden")]
    for name in ("pearson", "qwk", "within_user_pearson"):
        assert figures[0]["metrics"][name] == pytest.approx(figures[1]["metrics"][name])
    again = dialogauge("satisfaction", personal, *words, "--hash-ids", "-o", "hidden")
    assert again.code == 0, again.err
    mixed = dialogauge("satisfaction", personal, *words, "-o", "hidden")
    assert mixed.code == 2
    assert "was judged with --hash-ids" in mixed.err


@pytest.mark.long
def test_a_configuration_that_hides_holds_for_every_judge(dialogauge, personal, tmp_path) -> None:
    (tmp_path / "dialogauge.toml").write_text("[judge]\nredact = true\nhash_ids = true\n")
    done = dialogauge("satisfaction", personal, "--judge", "nearest-3", "-o", "run")
    assert done.code == 0, done.err
    shown = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "ann.lee@example.org" not in shown
    assert "ann-user3" not in shown


@pytest.mark.long
def test_an_open_run_is_shown_masked(dialogauge, personal, tmp_path) -> None:
    dialogauge("satisfaction", personal, "--judge", "nearest-3", "-o", "open")
    done = dialogauge("report", "open", "--redact", "--hash-ids", "-o", "page.html")
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text("utf-8")
    for secret in ("ann.lee@example.org", "13812345678", "ann-user3", "user3__cook__0"):
        assert secret not in page


@pytest.mark.long
def test_ratings_join_a_run_with_hidden_ids(dialogauge, personal, records, tmp_path) -> None:
    dialogauge("satisfaction", personal, "--judge", "nearest-3", "--hash-ids", "-o", "run")
    assert rows_of(tmp_path / "run")
    lines = ["conversation_id,turn,dimension,rater,score"]
    for talk in rated_users(12):
        lines += [f"{talk.id},{r.turn},satisfaction,u,{r.score}" for r in talk.ratings]
    file = tmp_path / "ratings.csv"
    file.write_text("\n".join(lines))
    done = dialogauge("agreement", "run", "--ratings", file, "--json")
    assert done.code == 0, done.err
    assert done.json["satisfaction"]["n"] == 150
