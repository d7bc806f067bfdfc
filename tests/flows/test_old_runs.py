"""Runs that version 0.2.0 wrote are read, or refused in one sentence.

`version_0_2_0` holds them, with their databases as SQL: `dialogauge judge` of `LOG`, and of a replay run what
says of which kind it is.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

_OLD = Path(__file__).parent / "version_0_2_0"


def _talk(name, user, *texts):
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]
    rating = {"turn": 1, "dimension": "satisfaction", "score": 2, "rater": "r"}
    return {"conversation_id": name, "user_id": user, "messages": messages, "ratings": [rating]}


LOG = (
    _talk("meeting", "ann", "When is the meeting?", " ".join(["The meeting is at nine."] * 4), "Thanks."),
    _talk(
        *("post", "bob", "Where is the post office?", "I don't know."),
        *("Why can't you help me?", "Sorry, I am not able to help."),
    ),
)


@pytest.fixture
def old_runs(tmp_path):
    """The runs `judged` and `replayed`."""
    for name in ("judged", "replayed"):
        shutil.copytree(_OLD / name, tmp_path / name)
        with closing(sqlite3.connect(tmp_path / name / "run.db")) as database:
            database.executescript((tmp_path / name / "run.sql").read_text(encoding="utf-8"))
        (tmp_path / name / "run.sql").unlink()


def test_rows_of_an_old_run_are_what_they_were(dialogauge, old_runs, tmp_path):
    """Of its two kinds of findings that are no longer looked for, `repeats_itself` and `knows_nothing`."""
    done = dialogauge("export", "judged", "-o", "rows.jsonl")
    assert (done.code, done.out) == (0, "5 rows: rows.jsonl\n")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(r["conversation_id"], r["turn"], r["scores"]["helpfulness"]) for r in rows if r["turn"]] == [
        ("meeting", 1, 2),
        ("post", 1, 3),
        ("post", 2, 2),
    ]
    shown = dialogauge("show", "judged", "post")
    assert (shown.code, shown.err) == (0, "")
    assert "a person: satisfaction 2" in shown.out
    assert "Declines a request that seems harmless" in shown.out


LOOKED_AT = [("report", "judged"), ("trust", "judged")]


@pytest.mark.parametrize("words", LOOKED_AT)
def test_an_old_run_is_looked_at_anew(dialogauge, old_runs, words):
    done = dialogauge(*words)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("words", LOOKED_AT)
def test_a_summary_of_another_form_is_refused_in_one_sentence(dialogauge, old_runs, log, tmp_path, words):
    """It had no share of what the findings miss."""
    summary = tmp_path / "judged" / "summary.json"
    value = json.loads(summary.read_text())
    value["findings"]["missed"] = {"what": "turns", "poor": 9, "without": 3, "source": "s"}
    summary.write_text(json.dumps(value))
    with closing(sqlite3.connect(tmp_path / "judged" / "run.db")) as database, database:
        database.execute("DELETE FROM meta WHERE key = 'written:summary'")
    done = dialogauge(*words)
    assert (done.code, done.out) == (1, "")
    assert " ".join(done.err.split()) == (
        "dialogauge: judged/summary.json: another version of dialogauge wrote `findings` "
        "(missed.share is missing) (give the command that wrote it once more)"
    )
    assert dialogauge("judge", log(*LOG), "-o", "judged").code == 0
    assert dialogauge(*words).code == 0


def test_an_old_run_is_judged_again_and_compared(dialogauge, old_runs):
    assert dialogauge("judge", "judged", "-o", "anew").code == 0
    done = dialogauge("compare", "judged", "anew")
    assert done.code == 0
    assert "The judges differ (local, version 6 and local, version " in done.unwrapped


def test_the_command_of_an_old_run_goes_on_with_todays_judge(dialogauge, old_runs, log, tmp_path):
    done = dialogauge("judge", log(*LOG), "-o", "judged")
    assert done.code == 0
    rows = [json.loads(line) for line in (tmp_path / "judged" / "judgements.jsonl").read_text().splitlines()]
    assert len(rows) == 5
    assert json.loads((tmp_path / "judged" / "manifest.json").read_text())["judge"]["version"] > 6


@pytest.mark.parametrize(
    "words",
    [
        *(("show", "replayed", "c"), ("export", "replayed", "-o", "x.csv"), ("report", "replayed")),
        *(("judge", "replayed", "-o", "anew"), ("compare", "replayed", "judged"), ("trust", "replayed")),
        *(("agreement", "replayed"), ("pairs", "replayed", "-o", "p.jsonl", "--kind", "kto")),
        *(("annotate", "make", "replayed", "--raters", "1", "-o", "plan"), ("fit", "replayed", "-o", "f")),
        ("judge", "log.jsonl", "-o", "replayed"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_an_old_replay_run_is_refused_and_how_to_make_it_anew_is_said(dialogauge, old_runs, log, words):
    log(*LOG)
    done = dialogauge(*words)
    assert (done.code, done.out) == (1, "")
    said = " ".join(done.err.split())
    assert "an older dialogauge wrote the replay run replayed, and its rows have another form" in said
    assert "give its commands again, into another directory" in said
