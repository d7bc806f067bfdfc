"""Tuned models beside each other: arms by dimensions, people's scores, and differences from a baseline."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dialogauge.app.merging import settings_from
from dialogauge.app.tune.compare import ENTRY
from dialogauge.app.tune.settings import TuneCompareOptions
from dialogauge.core import FileFault, UsageError
from dialogauge.training import TuneFolder
from tuned_folder import write_tuned


def compared(*folders, **more):
    options = settings_from(TuneCompareOptions, inputs=tuple(map(str, folders)), **more)
    return ENTRY.measured(options, None)


def values(means):
    return {name: of.value for name, of in means.items()}


def test_arms_by_dimensions_with_paired_differences(tmp_path):
    one, other = write_tuned(tmp_path / "sft", 3.0, method="sft"), write_tuned(tmp_path / "gsrpo", 4.0)
    result = compared(one, other).result
    # Half of six sessions have half a point more for the voice: 3.25 and 3, and 4.25 and 4.
    assert [values(arm.means["reward"]) for arm in result.arms] == [
        {"mean": 3.125, "voice": 3.25, "memory": 3.0},
        {"mean": 4.125, "voice": 4.25, "memory": 4.0},
    ]
    assert [(arm.method, arm.level) for arm in result.arms] == [("sft", None), ("gsrpo", "session")]
    reward, second = result.gains
    assert (reward.arm, reward.baseline, reward.comparison.difference.value) == ("gsrpo", "sft", 1.0)
    assert reward.comparison.side == "above"
    assert (second.by, second.comparison.difference.value) == ("second", 0.0)
    assert any("no gain by people" in note for note in result.notes)


def test_peoples_scores_stand_first_and_who_is_best_by_whom_is_said(tmp_path):
    one, other = write_tuned(tmp_path / "sft", 3.0, method="sft"), write_tuned(tmp_path / "gsrpo", 4.0)
    scores = {"sft": (4, 5), "gsrpo": (2, 3)}
    ratings = [
        {
            "conversation_id": f"p{i}/1.1",
            "candidate": arm,
            "dimension": "voice",
            "rater": f"r{n}",
            "score": score,
        }
        for arm, by in scores.items()
        for i in range(6)
        for n, score in enumerate(by)
    ]
    (tmp_path / "people.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ratings))
    result = compared(one, other, ratings_file=str(tmp_path / "people.jsonl"), baseline="gsrpo").result
    assert [values(arm.means["people"]) for arm in result.arms] == [
        {"mean": 4.5, "voice": 4.5},
        {"mean": 2.5, "voice": 2.5},
    ]
    assert result.gains[0].by == "people"
    assert result.gains[0].comparison.difference.value == 2.0
    assert result.notes == ("The best by the judge, gsrpo, is not the best by people: that is sft.",)


def test_what_cannot_be_compared(tmp_path):
    arm = write_tuned(tmp_path / "gsrpo")
    with pytest.raises(UsageError, match="two arms are called 'gsrpo'"):
        compared(arm, arm)
    with pytest.raises(UsageError, match="no arm is called 'dspo'"):
        compared(arm, baseline="dspo")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="holds no sessions with held-out personas"):
        compared(arm, empty)
    (arm / "held_out.jsonl").write_text("{}\n")
    with pytest.raises(FileFault, match="something else than sessions"):
        compared(arm)


def test_the_page_and_the_json_are_written(tmp_path):
    arms = write_tuned(tmp_path / "sft", 3.0, method="sft"), write_tuned(tmp_path / "gsrpo")
    compared(*arms, out=str(tmp_path / "out"))
    page = (tmp_path / "out" / "compare.html").read_text()
    assert page.index("no gain by people") < page.index("gsrpo (gsrpo)")
    written = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert written["arms"][0]["means"]["reward"]["memory"]["value"] == 3.0


def test_the_common_start_stands_before_the_arms_with_numbers_and_intervals(tmp_path):
    one, other = write_tuned(tmp_path / "dspo", 3.0, method="dspo"), write_tuned(tmp_path / "gsrpo", 4.0)
    outcome = compared(one, other)
    (start,) = outcome.result.starts
    assert (start.name, start.personas, start.sessions) == ("before", 6, 6)
    mean = start.means["reward"]["mean"]
    # Six personas at 3 and 3.25 by turns: the interval is clustered by persona.
    assert (mean.value, mean.n, mean.clusters, mean.method) == (3.125, 6, 6, "jackknife by personas")
    assert mean.low < 3.125 < mean.high
    words = table_of(outcome)
    assert words.index("before") < words.index("dspo (dspo)")
    assert [arm.level for arm in outcome.result.arms] == [None, "session"]
    rows = [json.loads(line) for line in (other / "held_out.jsonl").read_text().splitlines()]
    rows[0]["messages"][1]["content"] = "Hm."
    (other / "held_out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [arm.name for arm in compared(one, other).result.starts] == ["before dspo", "before gsrpo"]


def table_of(outcome):
    return "".join(str(block) for block in ENTRY.view(outcome))


def test_a_single_dimension_is_shown_once(tmp_path):
    arm = write_tuned(tmp_path / "gsrpo")
    rows = [json.loads(line) for line in (arm / "held_out.jsonl").read_text().splitlines()]
    for row in rows:
        del row["scores"]["memory"]
    (arm / "held_out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = table_of(compared(arm))
    assert "voice, the judge" in words
    assert "mean, the judge" not in words
    assert "mean, the second judge" in words


def test_arms_that_played_otherwise_are_not_compared(tmp_path):
    one, other = write_tuned(tmp_path / "sft", 3.0, method="sft"), write_tuned(tmp_path / "gsrpo", 4.0)
    for arm, played in (
        (one, {"reply_tokens": 24, "judge": "a"}),
        (other, {"reply_tokens": 32, "judge": "b"}),
    ):
        folder = TuneFolder(arm)
        folder.write(replace(folder.manifest(), played={"turns": 3, **played}))
    outcome = compared(one, other)
    why = "played otherwise: reply_tokens 32, not 24; another judge"
    assert [(gain.comparison, gain.why) for gain in outcome.result.gains] == [(None, why)] * 2
    assert why in table_of(outcome)
