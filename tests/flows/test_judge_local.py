"""The main job without a model, as a newcomer runs it."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from pathlib import Path

import pytest

from flows.conftest import rows_of
from parsed_pages import without_own_script


def test_the_demo_judges_the_samples_and_writes_a_run(dialogauge, tmp_path):
    done = dialogauge("demo")
    assert done.code == 0, done.err
    run = tmp_path / "runs" / "demo"
    assert json.loads((run / "manifest.json").read_text())["command"] == "dialogauge demo"
    assert {p.name for p in run.iterdir()} >= {
        "run.db",
        "manifest.json",
        "summary.json",
        "judgements.jsonl",
        "report.html",
    }
    summary = json.loads((run / "summary.json").read_text())
    rows = rows_of(run)
    assert summary["requested"] == len(rows)
    assert summary["requested"] == summary["scored"] + summary["not_applicable"] + summary["failed"]
    assert summary["conversations"]["requested"] >= 24
    assert "report: runs/demo/report.html" in done.out
    page = (run / "report.html").read_text()
    assert "<script" not in without_own_script(page)
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)


def test_rows_have_the_documented_fields(dialogauge, log, talk, tmp_path):
    dialogauge("judge", log(talk("a", user_id="u1", scenario="museum")), "-o", "run")
    turn, whole = rows_of(tmp_path / "run")
    assert (turn["level"], turn["turn"], turn["repeat"]) == ("turn", 1, 1)
    assert (whole["level"], whole["turn"]) == ("conversation", None)
    assert turn["user_id"] == "u1"
    assert turn["scenario"] == "museum"
    assert turn["scores"]["safety"] == "n/a"
    assert whole["verdict"] == "good"
    assert whole["verdict_basis"] == "partial"
    assert whole["weakest_turn"] is None
    assert whole["scores"]["repair_handling"] == "n/a"
    assert turn["judge"] == "local"


def test_terminal_and_page_say_what_the_level_rests_on(dialogauge, log, talk, tmp_path):
    done = dialogauge("judge", log(talk("a")), "--rubric", "satisfaction", "-o", "run")
    page = (tmp_path / "run" / "report.html").read_text()
    assert "level from findings 1 (100 %)" in done.unwrapped
    assert "1,413 rated turns (Chinese)" in done.unwrapped
    assert "1,413 rated turns (Chinese)" in page
    assert rows_of(tmp_path / "run")[0]["details"]["labels"] == {"level_from": "findings"}


def test_the_same_command_continues(dialogauge, log, talk):
    path = log(talk("a"), talk("b"))
    dialogauge("judge", path, "--limit", 1, "-o", "run")
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 0
    assert "1 already done by an earlier run" in done.out
    assert "2 requested, 2 judged" in done.out


def test_a_changed_conversation_is_judged_anew_and_the_old_one_left_out(dialogauge, log, talk, tmp_path):
    dialogauge("judge", log(talk("a"), talk("b")), "-o", "run")
    dialogauge("judge", log(talk("a", "It opens at ten."), talk("b")), "-o", "run")
    assert len(rows_of(tmp_path / "run")) == 4
    done = dialogauge("export", "run", "-o", "x.jsonl")
    assert "4 rows" in done.out


def test_an_interrupted_run_ends_as_an_undisturbed_one(dialogauge, log, talk, tmp_path):
    path = log(*(talk(f"c{i}", f"It opens at {i}.") for i in range(20)))
    dialogauge("judge", path, "-o", "whole")
    dialogauge("judge", path, "--limit", 7, "-o", "parts")
    dialogauge("judge", path, "-o", "parts")
    assert rows_of(tmp_path / "whole") == rows_of(tmp_path / "parts")


def test_a_run_is_judged_again_by_another_rubric(dialogauge, log, talk, tmp_path):
    dialogauge("judge", log(talk("a"), talk("b")), "-o", "run")
    done = dialogauge("judge", "run", "--rubric", "satisfaction")
    assert done.code == 0, done.err
    rows = rows_of(tmp_path / "run-satisfaction-local")
    assert [r["conversation_id"] for r in rows] == ["a", "b"]
    assert all(1 <= r["scores"]["satisfaction"] <= 5 for r in rows)


def test_reads_standard_input_and_gzip(dialogauge, talk, tmp_path, monkeypatch):
    line = json.dumps(talk("a")).encode() + b"\n"
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(line))
    assert dialogauge("judge", "log.jsonl.gz", "-o", "zipped").code == 0

    class Standard:
        buffer = io.BufferedReader(io.BytesIO(line))

    monkeypatch.setattr(sys, "stdin", Standard)
    assert dialogauge("judge", "-", "-o", "piped").code == 0
    assert rows_of(tmp_path / "zipped") == rows_of(tmp_path / "piped")


def test_sample_limit_repeats_and_dry_run(dialogauge, log, talk):
    path = log(*(talk(f"c{i}") for i in range(10)))
    done = dialogauge("judge", path, "--sample", 4, "--repeats", 2, "--dry-run")
    assert "would judge 8 of 8" in done.out
    assert not Path("runs").exists()
    done = dialogauge("judge", path, "--sample", 4, "--repeats", 2, "--json")
    assert done.json["repeats"] == 2
    assert done.json["requested"] == 16


def test_gates_and_their_exit_code(dialogauge, log, talk, tmp_path):
    path = log(talk("a"))
    assert dialogauge("judge", path, "--gate", "verdict.value>=good:1", "--unchecked", "-o", "run").code == 0
    done = dialogauge("judge", path, "--gate", "verdict>=excellent:0.5", "--unchecked", "-o", "run")
    assert done.out.index("UNCHECKED") < done.out.index("What was judged")
    assert done.code == 100
    assert "not met" in done.out
    assert dialogauge("judge", path, "--gate", "verdict>>good", "-o", "run").code == 2
    both = ("--unchecked", "--gate", "verdict.value>=good:1", "--gate", "verdict>=excellent:0.5")
    done = dialogauge("judge", path, *both, "-o", "run", "--json")
    assert (done.code, [gate["met"] for gate in done.json["gates"]]) == (100, [True, False])
    assert done.json == json.loads((tmp_path / "run" / "summary.json").read_text())


def test_a_gate_on_what_is_not_checked_is_refused_and_nothing_is_lost(dialogauge, log, talk, tmp_path):
    done = dialogauge("judge", log(talk("a")), "--gate", "helpfulness.mean>=4", "-o", "run")
    assert done.code == 2
    assert "helpfulness is not checked: nobody rated these conversations" in done.unwrapped
    assert "findings.share" in done.unwrapped
    assert (tmp_path / "run" / "report.html").exists()
    assert "UNCHECKED" not in done.out


def test_an_unsupported_language_is_not_guessed(dialogauge, log, tmp_path):
    record = {
        "conversation_id": "es",
        "messages": [
            {"role": "user", "content": "¿A qué hora abre el museo mañana por la mañana?"},
            {"role": "assistant", "content": "El museo abre a las nueve de la mañana todos los días."},
        ],
    }
    done = dialogauge("judge", log(record), "-o", "run")
    assert done.code == 3  # more failed than --max-failed
    assert "in a language that the judge was not checked on; a language model" in done.out
    assert (
        "100 % of what was asked for failed, more than --max-failed allows (5.0 %): exit code 3" in done.err
    )
    assert {row["failure"]["kind"] for row in rows_of(tmp_path / "run")} == {"unsupported_language"}
    # The data say which language it is, so the page does.
    told = dialogauge("judge", log(record | {"language": "es"}), "-o", "told")
    assert "that the judge was not checked on (es);" in told.out
    groups = json.loads((tmp_path / "told" / "summary.json").read_text())["by"]["language"]["groups"]
    assert [group["name"] for group in groups] == ["es"]


def test_metadata_and_ratings_change_nothing(dialogauge, log, talk, tmp_path):
    plain = talk("a", "It opens at nine.", "It opens at nine.")
    told = {**plain, "metadata": {"fault": "loop", "fault_turn": 2}, "ratings": {"satisfaction": 1}}
    dialogauge("judge", log(plain), "-o", "plain")
    dialogauge("judge", log(told), "-o", "told")
    rows = [{k: v for k, v in row.items() if k != "rating"} for row in rows_of(tmp_path / "told")]
    assert rows_of(tmp_path / "plain") == rows


def test_report_is_written_anew_and_elsewhere(dialogauge, log, talk, tmp_path):
    dialogauge("judge", log(talk("a")), "-o", "run")
    first = (tmp_path / "run" / "report.html").read_text()
    (tmp_path / "run" / "report.html").unlink()
    assert dialogauge("report", "run").code == 0
    assert (tmp_path / "run" / "report.html").read_text() == first
    assert dialogauge("report", "run", "-o", "page.html").code == 0
    assert (tmp_path / "page.html").read_text() == first


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_exports(dialogauge, log, talk, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    dialogauge("judge", log(talk("a"), talk("b")), "-o", "run")
    done = dialogauge("export", "run", "-o", f"x.{ending}")
    assert done.code == 0
    assert "4 rows" in done.out
    assert (tmp_path / f"x.{ending}").stat().st_size > 0


def test_init_then_judge_names_the_forgotten_number(dialogauge, tmp_path):
    assert dialogauge("init").code == 0
    done = dialogauge("judge", "sample.jsonl", "-o", "run")
    assert done.code == 0
    weakest = {
        r["conversation_id"]: r["weakest_turn"] for r in rows_of(tmp_path / "run") if r["turn"] is None
    }
    assert weakest == {"parcel": 2, "晚饭": None}
    again = dialogauge("init")
    assert "kept" in again.out


def test_check_counts(dialogauge, log, talk):
    done = dialogauge("check", log(talk("a"), talk("b", "", "Nine.")), "--json")
    assert done.code == 0
    assert done.json["conversations"] == 2
    assert done.json["empty_replies"] == 1
    assert done.json["shares"]["short_conversations"] == 0.5


def test_gates_on_the_verdicts_of_the_rubric(dialogauge, log, talk):
    words = ("judge", log(talk("a"), talk("b")), "--rubric", "satisfaction", "--unchecked", "-o", "run")
    done = dialogauge(*words, "--gate", "verdict.value>=SAT:0", "--gate", "verdict.value<=DSAT:1")
    assert done.code == 0, done.err
    assert "of 2 requested turns" in done.out
    assert dialogauge(*words, "--gate", "verdict.value>=SAT:1", "--gate", "verdict<=SAT:0.5").code == 100
    for gate, said in (("verdict>=STA:0.9", "did you mean 'SAT'"), ("satisfacton.mean>=1", "'satisfaction'")):
        done = dialogauge(*words, "--gate", gate, "--fresh")
        assert done.code == 2
        assert said in done.err
