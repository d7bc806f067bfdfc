"""Training on played sessions: what is played, what is left out, and what stops it."""

from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest

from dialogauge.core import Judged, JudgeFailure, Judgement, Score, Target, UsageError
from tiny_policy import sessions_of
from tiny_policy import train_on_sessions as train

pytest.importorskip("torch")
pytest.importorskip("trl")
pytest.importorskip("peft")
pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


class Judge:
    """Gives what a function makes of the number of the session."""

    def __init__(self, score):
        from benchmarks.toy_roleplay import CatchphraseJudge

        self.name, self.dimensions, self.score, self.asked = "counting", CatchphraseJudge.dimensions, score, 0

    async def judge(self, request):
        self.asked += 1
        name = request.conversation.id
        value = self.score(int(name.rpartition(".")[2]))
        target = Target(name, "conversation", None)
        outcome = (
            JudgeFailure("timeout", "no answer") if value is None else Judgement({"session": Score(value)})
        )
        return (Judged(target, outcome),)


@pytest.fixture(scope="module")
def three_steps(policy, tmp_path_factory):
    """Three steps in a folder, with their manifest, their log and the second judge, who was asked in two."""
    out, second = tmp_path_factory.mktemp("three") / "out", Judge(lambda i: 2.0)
    return out, *train(policy, out, second=second, steps=3, second_every=2), second


def test_a_step_plays_groups_and_keeps_what_was_rewarded(three_steps):
    out, manifest, lines, _ = three_steps
    assert (manifest.ended, manifest.counts["sessions"]) == ("finished", 24)
    assert [line.step for line in lines] == [1, 2, 3]
    assert {"reward", "kl", "clip_share", "length", "truncated", "skipped", "loss"} <= lines[0].figures.keys()
    rows = sessions_of(out)
    # Two groups of four a step, and each session has an id of its own.
    assert set(Counter((r["step"], r["scenario"]) for r in rows).values()) == {4}
    assert len({r["id"] for r in rows}) == 24
    assert all(r["reward"] is not None and len(r["tokens"]) == 2 for r in rows)


def test_the_second_judge_is_asked_now_and_then(three_steps):
    _, _, lines, second = three_steps
    assert second.asked == 16
    assert [line.figures.get("second") for line in lines] == [2.0, None, 2.0]


def test_a_killed_run_goes_on_with_the_sessions_of_its_checkpoint(policy, three_steps, tmp_path):
    whole, again = three_steps[0], tmp_path / "again"
    shutil.copytree(whole, again)
    # As if it had been killed in the third step: the checkpoint of the second is there.
    manifest = json.loads((again / "tune.json").read_text())
    (again / "tune.json").write_text(json.dumps({**manifest, "ended": "running"}))
    shutil.rmtree(again / "checkpoints" / "checkpoint-6")
    second = Judge(lambda i: 2.0)
    train(policy, again, second=second, steps=3, second_every=2)
    assert second.asked == 8  # of the third step alone
    assert sessions_of(again) == sessions_of(whole)


def test_groups_without_spread_or_scores_are_left_out_and_change_nothing(policy, tmp_path):
    from safetensors.torch import load_file

    # In the first group all are alike, in the second three of four judgements failed.
    costless = {"truncated_cost": 0, "repeated_cost": 0}
    judge = Judge(lambda i: 3.0 if i <= 5 else None)
    manifest, _ = train(policy, tmp_path / "out", judge, steps=1, **costless)
    assert manifest.counts["groups without spread"] == 1
    assert manifest.counts["groups with too few scores"] == 1
    assert manifest.counts["sessions without a score"] == 3
    before, after = (load_file(d / "model.safetensors") for d in (policy, tmp_path / "out"))
    assert all(bool((before[name] == after[name]).all()) for name in after)


def test_sessions_come_in_whole_groups(policy, tmp_path):
    with pytest.raises(UsageError, match="a step has 8 sessions, which are no groups of 3"):
        train(policy, tmp_path / "out", group=3)


def test_a_single_turn_is_heard_by_the_whole_group(policy, tmp_path):
    train(policy, tmp_path / "out", single_turn=True, steps=1)
    rows = sessions_of(tmp_path / "out")
    heard = [r["messages"][1]["content"] for r in rows]
    assert len(set(heard[:4])) == len(set(heard[4:])) == 1
    assert all(len(r["messages"]) == 3 for r in rows)


def test_a_guard_stops_the_run_and_leaves_the_model_before(policy, tmp_path):
    from dialogauge.app.tune.page import tune_page
    from dialogauge.report import html_bytes

    manifest, lines = train(policy, tmp_path / "out", steps=8, reply_tokens=2, turns=1, save_every=2)
    assert manifest.ended == "guard"
    assert manifest.why.startswith("replies fill the cap: ")
    assert manifest.counts["steps"] == 4
    # Five steps are looked at; the fifth is played, and nothing is learned from it.
    assert [line.step for line in lines] == [1, 2, 3, 4]
    assert {row["step"] for row in sessions_of(tmp_path / "out")} == {1, 2, 3, 4, 5}
    assert (tmp_path / "out" / "model.safetensors").exists()
    steps = sorted(p.name for p in (tmp_path / "out" / "checkpoints").iterdir())
    assert steps == ["checkpoint-4", "checkpoint-8"]
    page = html_bytes(tune_page(manifest, lines))
    page = page if isinstance(page, bytes) else b"".join(page)
    assert page.index(b"A guard stopped it") < page.index(b"What was trained on")


def test_a_stop_waits_for_the_end_of_a_batch_and_counts_cover_the_whole_run(policy, tmp_path):
    from dialogauge.training.tuning import TuneFolder

    heard, out = [], tmp_path / "out"
    folder = TuneFolder(out, heard.append)

    def score(number):
        folder.stop_asked = folder.stop_asked or judge.asked == 10  # while the second batch is played
        return float(1 + number % 3)

    judge = Judge(score)
    asked = {"steps": 3, "save_every": 9, "truncated_cost": 0, "repeated_cost": 0}
    manifest, _ = train(policy, out, judge, folder=folder, **asked)
    assert (manifest.ended, manifest.counts["steps"], manifest.counts["sessions"]) == ("interrupted", 2, 16)
    assert [*folder.whole_checkpoints()] == [4]  # two updates a batch
    folder.stop_asked = False
    manifest, lines = train(policy, out, judge, folder=folder, **asked)
    assert "continuing from step 2" in heard
    assert (manifest.ended, manifest.counts["steps"], manifest.counts["sessions"]) == ("finished", 3, 24)
    assert [line.step for line in lines] == [1, 2, 3]


def test_an_adapter_is_trained_too(policy, tmp_path):
    manifest, lines = train(policy, tmp_path / "out", steps=1, lora=True, lora_r=4)
    assert manifest.ended == "finished"
    assert lines[-1].figures["kl"] > 0
    assert (tmp_path / "out" / "adapter" / "adapter_config.json").exists()


def test_a_training_that_is_refused_claims_no_folder(policy, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="leave no room for") as refused:
        train(policy, out, turns=40)
    assert "40 replies of 12 and 39 messages of users of 96" in str(refused.value)
    assert [path.name for path in out.iterdir()] == [".lock"]
    # The first batch is trained on and logged, but no checkpoint was due.
    judge = Judge(lambda i: 1.0 + i % 3 if judge.asked <= 8 else None)
    with pytest.raises(UsageError, match="every session of step 2 failed: no answer"):
        train(policy, out, judge, save_every=9)
    assert not (out / "model.safetensors").exists()
    manifest, lines = train(policy, out, steps=1, turns=1)
    assert (manifest.ended, len(lines)) == ("finished", 1)
