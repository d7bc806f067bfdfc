"""An arena read back: its page, one dialogue, a table of its votes; and an arena from Python."""

import csv
import json
import re

import pytest

import dialogauge as library
from arenas import at, dialogues, fair, published
from dialogauge.core import InputError, StoreError, UsageError


@pytest.fixture
def arena(dialogauge, serve, tmp_path):
    """An arena of three agents, compared by a model, with votes of people beside."""
    files = [
        dialogues(tmp_path / f"{n}.jsonl", s) for n, s in (("alpha", 0.9), ("beta", 0.5), ("gamma", 0.1))
    ]
    votes = tmp_path / "votes.csv"
    votes.write_text("a,b,winner,conversation_id\n" + "".join(f"alpha,beta,a,d{i}\n" for i in range(12)))
    done = dialogauge("arena", *files, *at(serve(fair)), "--ratings", votes, "--draws", 50, "-o", "arena")
    assert done.code == 0, done.err
    return tmp_path / "arena"


def test_report_writes_the_same_page_anew(dialogauge, arena):
    before = (arena / "report.html").read_text(encoding="utf-8")
    (arena / "report.html").unlink()
    assert dialogauge("report", arena).code == 0
    assert (arena / "report.html").read_text(encoding="utf-8") == before
    assert "people, who voted on the same meetings" in before


def test_report_and_export_hide_what_they_are_to_hide(dialogauge, arena, tmp_path):
    assert dialogauge("report", arena, "--hash-ids", "-o", tmp_path / "page.html").code == 0
    (first, *_) = json.loads((arena / "summary.json").read_text())["answers"]
    assert first in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert dialogauge("export", arena, "--hash-ids", "-o", tmp_path / "votes.jsonl").code == 0
    rows = [json.loads(line) for line in (tmp_path / "votes.jsonl").read_text().splitlines()]
    assert len(rows) == 36
    assert all(row["conversation_id"].startswith("c_") for row in rows)
    assert {row["a"] for row in rows} == {"alpha", "beta"}


def test_what_is_still_to_be_asked_is_said(dialogauge, serve, tmp_path):
    files = [dialogues(tmp_path / f"{name}.jsonl", share) for name, share in (("old", 0.2), ("new", 0.9))]
    words = ("arena", *files, *at(serve(fair)), "--max-concurrency", 1, "-o", "run")
    done = dialogauge(*words, "--max-calls", 10)
    assert done.code == 1
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    left = summary["pending"]
    assert left == 12 - summary["asked"] >= 7
    assert f"{left} meetings of 12 are still to be asked: the same command goes on." in done.unwrapped
    before = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert dialogauge("report", "run").code == 0
    assert (tmp_path / "run" / "report.html").read_text(encoding="utf-8") == before
    assert "still to be asked" not in dialogauge(*words).unwrapped


def test_show_prints_what_was_said_of_one_dialogue(dialogauge, arena):
    done = dialogauge("show", arena, "d3")
    assert done.code == 0, done.err
    assert "d3: 3 meetings, by pair/stub-model" in done.out
    assert "alpha first, then beta: By the booking." in done.unwrapped
    said = done.out[done.out.index("\nalpha · ") :]
    assert said.index("\nalpha · ") < said.index("\nbeta · ")
    assert said.count("  assistant: ") == 6
    done = dialogauge("show", arena, "d33")
    assert (done.code, "has no meeting on a dialogue 'd33' (did you mean" in done.err) == (2, True)
    done = dialogauge("show", arena, "d3", "--turn", "1")
    assert (done.code, "a vote is of a whole dialogue" in done.err) == (2, True)


def test_votes_of_people_are_shown_with_who_voted(dialogauge, tmp_path):
    assert dialogauge("arena", published(tmp_path / "votes.jsonl", 6), "-o", "people").code == 0
    done = dialogauge("show", "people", "4")
    assert "4: 3 meetings, by people" in done.out
    assert "expert_4" in done.out


def test_dialogues_are_shown_as_they_are_to_be_hidden_and_with_the_scores_of_a_judge(dialogauge, tmp_path):
    for name in ("alpha", "beta"):
        lines = (json.dumps(one) for one in talks(5 + len(name)))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines).replace("platform 3", "[+44 20 7946 0958]"))
    assert dialogauge("arena", "alpha.jsonl", "beta.jsonl", "--judge", "local", "-o", "run").code == 0
    shown = dialogauge("show", "run", "d0")
    assert re.search(r"alpha  beta +tie +\S+ %", shown.out)
    assert shown.out.count("user: When does train 0 leave?") == 2
    hidden = dialogauge("show", "run", "d0", "--redact").out
    assert ("7946" in shown.out, "7946" in hidden, "[phone]" in hidden) == (True, False, True)
    page = library.open_run("run").show("d0")._repr_html_()
    assert page.count("When does train 0 leave?") == 2


def test_votes_without_dialogues_say_that_there_is_nothing_to_read(dialogauge, tmp_path):
    rows = [{"conversation_id": "d1", "a": "alpha", "b": "beta", "winner": "a"}]
    (tmp_path / "votes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert dialogauge("arena", "votes.jsonl", "-o", "run").code == 0
    assert "What was said is not in this run" in dialogauge("show", "run", "d1").unwrapped


def test_votes_are_exported_as_a_table(dialogauge, arena, tmp_path):
    assert dialogauge("export", arena, "-o", tmp_path / "table.csv").code == 0
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    first = rows[0]
    assert (len(rows), first["conversation_id"], first["a"], first["b"]) == (36, "d0", "alpha", "beta")
    assert first["a_first_reason"] == "By the booking."
    assert first["a_first_winner"] == first["b_first_winner"] == first["winner"]
    assert int(first["length_a"]) > 0
    pyarrow = pytest.importorskip("pyarrow.parquet")
    assert dialogauge("export", arena, "-o", tmp_path / "votes.parquet").code == 0
    table = pyarrow.read_table(tmp_path / "votes.parquet")
    assert (table.num_rows, str(table.schema.field("length_a").type)) == (36, "int64")


def talk(number, reply):
    question = {"role": "user", "content": f"When does train {number} leave?"}
    return {"id": f"d{number}", "messages": [question, {"role": "assistant", "content": reply}]}


def talks(share):
    """Ten dialogues, of which so many go well."""
    return [talk(i, f"Train {i} leaves at 9:15 from platform 3." if i < share else "No.") for i in range(10)]


def test_an_arena_from_python_takes_conversations_runs_and_paths(tmp_path):
    run = library.arena({"alpha": talks(9), "beta": talks(5)}, judge="local", unchecked=True)
    assert (run.study, run.summary.votes) == ("arena", 10)
    assert [one.agent for one in run.summary.agents] == ["alpha", "beta"]
    assert run.summary.answers[0].startswith("UNCHECKED: ")
    assert "alpha" in run.summary.answers[1]
    assert "asked" in repr(run)
    assert "<th>rating</th>" in run._repr_html_()
    judged = {name: library.judge(talks(share)) for name, share in (("alpha", 9), ("beta", 5))}
    by_scores = library.arena(judged, out=tmp_path / "scores", unchecked=True)
    assert [one.wins for one in by_scores.summary.agents] == [one.wins for one in run.summary.agents]
    people = library.arena(published(tmp_path / "votes.jsonl", 6))
    assert people.summary.referee == "people"
    pandas = pytest.importorskip("pandas")
    frame = people.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert (len(frame), set(frame["winner"]) <= {"a", "b", "tie"}) == (18, True)


def test_what_python_asks_wrongly_is_raised(tmp_path):
    with pytest.raises(UsageError, match="an arena of one agent: alpha"):
        library.arena({"alpha": talks(3)}, judge="local")
    with pytest.raises(UsageError, match="there is no setting 'judges'"):
        library.arena({"alpha": talks(3), "beta": talks(4)}, judges="local")
    with pytest.raises((InputError, StoreError, UsageError)):
        library.arena(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="a run of arena has no judgements"):
        library.arena({"alpha": talks(3), "beta": talks(4)}, judge="local").judgements()
