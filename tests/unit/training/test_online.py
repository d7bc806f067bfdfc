"""Training on played sessions: by TRL and by our loop, what is left out, and what stops it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter, defaultdict
from types import SimpleNamespace

import pytest

from dialogauge.agents import beginning
from dialogauge.core import Judged, JudgeFailure, Judgement, Score, Target, UsageError

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


def settings(**more):
    from dialogauge.training.online import OnlineSettings

    of_toy = {
        "learning_rate": 2e-4,
        "steps": 2,
        "group": 4,
        "turns": 2,
        "reply_tokens": 12,
        "max_length": 400,
    }
    return OnlineSettings(**{**of_toy, "save_every": 1, **more})


def prompts():
    from benchmarks.toy_roleplay import TRAIN

    from dialogauge.training.rollouts import RolloutPrompt

    return [RolloutPrompt(c.scenario, beginning(c.scenario, c.scenario.id, "policy")) for c in TRAIN[:4]]


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


def train(policy, out, judge=None, *, second=None, single_turn=False, folder=None, **more):
    from benchmarks.toy_roleplay import CatchphraseJudge, ToyUser

    from dialogauge.training.online import OnlineTrainer
    from dialogauge.training.rollouts import SessionPlayer, SessionScorer
    from dialogauge.training.tuning import TuneFolder, TuneJob, tune

    asked = settings(**more)
    scorer = SessionScorer(judge or CatchphraseJudge(), ("session",))
    seconds = None if second is None else SessionScorer(second, ("session",))
    costs = (asked.truncated_cost, asked.repeated_cost)
    player = SessionPlayer(lambda scenario: ToyUser(), scorer, seconds, *costs)
    data = out.parent / "rl.jsonl"
    data.write_text("{}\n")
    out.mkdir(exist_ok=True)
    with asyncio.Runner() as runner:
        trainer = OnlineTrainer(prompts(), player, runner.run, single_turn)
        folder = folder or TuneFolder(out)
        job = TuneJob(method="gsrpo", settings=asked, model=policy, data=data, device="cpu")
        return tune(job, trainer, folder), list(folder.lines())


def sessions(out):
    return [json.loads(line) for line in (out / "sessions.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("backend", ["plain", "trl"])
def test_a_step_plays_groups_and_keeps_what_was_rewarded(policy, tmp_path, backend):
    if backend == "trl":
        pytest.importorskip("trl")
    manifest, lines = train(policy, tmp_path / "out", backend=backend)
    assert (manifest.ended, manifest.counts["sessions"]) == ("finished", 16)
    assert [line.step for line in lines] == [1, 2]
    assert {"reward", "kl", "clip_share", "length", "truncated", "skipped", "loss"} <= lines[0].figures.keys()
    rows = sessions(tmp_path / "out")
    # Two groups of four a step, and each session has an id of its own.
    assert set(Counter((r["step"], r["scenario"]) for r in rows).values()) == {4}
    assert len({r["id"] for r in rows}) == 16
    assert all(r["reward"] is not None and len(r["tokens"]) == 2 for r in rows)


def test_both_ways_play_the_same_sessions_and_come_to_nearly_the_same_weights(policy, tmp_path):
    pytest.importorskip("trl")
    from safetensors.torch import load_file

    weights = {}
    for backend in ("plain", "trl"):
        train(policy, tmp_path / backend, backend=backend, steps=1, iterations=2, warmup=0.0)
        weights[backend] = load_file(tmp_path / backend / "model.safetensors")
    texts = [[r["messages"] for r in sessions(tmp_path / backend)] for backend in weights]
    assert texts[0] == texts[1]
    apart = max(float((weights["plain"][n] - w).abs().max()) for n, w in weights["trl"].items())
    assert apart < 2e-5  # an update of Adam moves a weight by up to the learning rate, 2e-4


def test_groups_without_spread_or_scores_are_left_out_and_change_nothing(policy, tmp_path):
    from safetensors.torch import load_file

    # In the first group all are alike, in the second three of four judgements failed.
    manifest, _ = train(
        policy,
        tmp_path / "out",
        Judge(lambda i: 3.0 if i <= 5 else None),
        backend="plain",
        steps=1,
        truncated_cost=0,
        repeated_cost=0,
    )
    assert manifest.counts["groups without spread"] == 1
    assert manifest.counts["groups with too few scores"] == 1
    assert manifest.counts["sessions without a score"] == 3
    before, after = (load_file(d / "model.safetensors") for d in (policy, tmp_path / "out"))
    assert all(bool((before[name] == after[name]).all()) for name in after)


@pytest.mark.parametrize("backend", ["plain", "trl"])
def test_nothing_is_learned_where_every_judgement_failed(policy, tmp_path, backend):
    if backend == "trl":
        pytest.importorskip("trl")
    with pytest.raises(UsageError, match="every session of step 1 failed: no answer"):
        train(policy, tmp_path / "out", Judge(lambda i: None), backend=backend)
    assert not (tmp_path / "out" / "model.safetensors").exists()


def test_sessions_come_in_whole_groups(policy, tmp_path):
    with pytest.raises(UsageError, match="a step has 8 sessions, which are no groups of 3"):
        train(policy, tmp_path / "out", group=3)


def test_parts_of_a_step_are_one_step(policy, tmp_path):
    from safetensors.torch import load_file

    whole = tmp_path / "whole"
    parts = tmp_path / "parts"
    train(policy, whole, backend="plain", steps=1)
    train(policy, parts, backend="plain", steps=1, batch_size=2, accumulation=4)
    one, other = (load_file(d / "model.safetensors") for d in (whole, parts))
    assert max(float((one[n] - w).abs().max()) for n, w in other.items()) < 2e-5


def test_a_single_turn_is_heard_by_the_whole_group(policy, tmp_path):
    train(policy, tmp_path / "out", single_turn=True, backend="plain", steps=1)
    heard = [r["messages"][1]["content"] for r in sessions(tmp_path / "out")]
    assert len(set(heard[:4])) == len(set(heard[4:])) == 1
    assert all(len(r["messages"]) == 3 for r in sessions(tmp_path / "out"))


def test_the_second_judge_is_asked_now_and_then(policy, tmp_path):
    second = Judge(lambda i: 2.0)
    _, lines = train(policy, tmp_path / "out", second=second, backend="plain", steps=3, second_every=2)
    assert second.asked == 16
    assert [line.figures.get("second") for line in lines] == [2.0, None, 2.0]


@pytest.mark.parametrize("backend", ["plain", "trl"])
def test_a_guard_stops_the_run_and_leaves_the_model_before(policy, tmp_path, backend):
    if backend == "trl":
        pytest.importorskip("trl")
    from dialogauge.app.tune.page import tune_page
    from dialogauge.report import html_bytes

    manifest, lines = train(
        policy, tmp_path / "out", backend=backend, steps=8, reply_tokens=2, turns=1, save_every=2
    )
    assert manifest.ended == "guard"
    assert manifest.why.startswith("replies fill the cap: ")
    assert manifest.counts["steps"] == 4
    # Five steps are looked at; the fifth is played, and nothing is learned from it.
    assert [line.step for line in lines] == [1, 2, 3, 4]
    assert {row["step"] for row in sessions(tmp_path / "out")} == {1, 2, 3, 4, 5}
    assert (tmp_path / "out" / "model.safetensors").exists()
    steps = sorted(p.name for p in (tmp_path / "out" / "checkpoints").iterdir())
    assert steps == ["checkpoint-4", "checkpoint-8"]
    page = html_bytes(tune_page(manifest, lines))
    page = page if isinstance(page, bytes) else b"".join(page)
    assert page.index(b"A guard stopped it") < page.index(b"What was trained on")


@pytest.mark.parametrize("backend", ["plain", "trl"])
def test_a_killed_run_goes_on_with_the_sessions_of_its_checkpoint(policy, tmp_path, backend):
    if backend == "trl":
        pytest.importorskip("trl")
    whole, again = tmp_path / "whole", tmp_path / "again"
    train(policy, whole, backend=backend, steps=2)
    train(policy, again, backend=backend, steps=2)
    # As if it had been killed in the second step: the checkpoint of the first is there.
    manifest = json.loads((again / "tune.json").read_text())
    (again / "tune.json").write_text(json.dumps({**manifest, "ended": "running"}))
    shutil.rmtree(again / "checkpoints" / "checkpoint-4")
    train(policy, again, backend=backend, steps=2)
    assert sessions(again) == sessions(whole)


@pytest.mark.parametrize("backend", ["plain", "trl"])
def test_a_stop_waits_for_the_end_of_a_batch_and_counts_cover_the_whole_run(policy, tmp_path, backend):
    if backend == "trl":
        pytest.importorskip("trl")
    from dialogauge.training.tuning import TuneFolder

    heard, out = [], tmp_path / "out"
    folder = TuneFolder(out, heard.append)

    def score(number):
        folder.stop_asked = folder.stop_asked or judge.asked == 10  # while the second batch is played
        return float(1 + number % 3)

    judge = Judge(score)
    asked = {"backend": backend, "steps": 3, "save_every": 9, "truncated_cost": 0, "repeated_cost": 0}
    manifest, _ = train(policy, out, judge, folder=folder, **asked)
    assert (manifest.ended, manifest.counts["steps"], manifest.counts["sessions"]) == ("interrupted", 2, 16)
    assert [*folder.whole_checkpoints()] == [4]  # two updates a batch
    folder.stop_asked = False
    manifest, lines = train(policy, out, judge, folder=folder, **asked)
    assert "continuing from step 2" in heard
    assert (manifest.ended, manifest.counts["steps"], manifest.counts["sessions"]) == ("finished", 3, 24)
    assert [line.step for line in lines] == [1, 2, 3]


def test_loss_of_trl_is_ours_on_the_same_sessions(policy):
    pytest.importorskip("trl")
    import torch
    from trl import GRPOTrainer

    from dialogauge.training.losses import SessionTokens, group_advantages, gsrpo_loss

    torch.manual_seed(0)
    n, t = 8, 12
    new, old, reference = (torch.randn(n, t, dtype=torch.float64) * 0.3 - 2 for _ in range(3))
    mask = (torch.rand(n, t) > 0.3).long()
    advantages = group_advantages(torch.tensor([3.0, 4, 2, 5, 1, 3, 3, 4]), 4)
    tokens = SessionTokens(new, old, reference, mask)
    ours = gsrpo_loss(tokens, advantages, clip=0.2, beta=0.02)

    stub = SimpleNamespace(
        beta=0.02,
        loss_type="grpo",
        importance_sampling_level="token",
        epsilon_low=0.2,
        epsilon_high=0.2,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        aux_loss_enabled=False,
        use_vllm=False,
        _entropy_bonus_enabled=False,
        current_gradient_accumulation_steps=1,
        model=SimpleNamespace(training=True),
        args=SimpleNamespace(delta=None, use_bias_correction_kl=False),
        accelerator=SimpleNamespace(gather=lambda x: x, reduce=lambda x, reduction: x),
        _metrics={"train": defaultdict(list)},
        _get_per_token_logps_and_entropies=lambda *args, **kwargs: (new, torch.zeros_like(new), None),
    )
    inputs = {
        "prompt_ids": torch.zeros(n, 1).long(),
        "prompt_mask": torch.ones(n, 1).long(),
        "completion_ids": torch.zeros(n, t).long(),
        "completion_mask": torch.ones(n, t).long(),
        "tool_mask": mask,
        "advantages": advantages.values.double(),
        "old_per_token_logps": old,
        "ref_per_token_logps": reference,
    }
    theirs = GRPOTrainer._compute_loss(stub, None, inputs)
    assert float(theirs) == pytest.approx(float(ours.loss), abs=1e-6)
    weighted = gsrpo_loss(tokens, advantages, clip=0.2, beta=0.02, kl_unbiased=True)
    stub.args.use_bias_correction_kl = True
    theirs = GRPOTrainer._compute_loss(stub, None, inputs)
    assert float(theirs) == pytest.approx(float(weighted.loss), abs=1e-6)


@pytest.mark.parametrize("backend", ["plain", "trl"])
def test_an_adapter_is_trained_too(policy, tmp_path, backend):
    pytest.importorskip("peft")
    if backend == "trl":
        pytest.importorskip("trl")
    manifest, lines = train(policy, tmp_path / "out", backend=backend, steps=2, lora=True, lora_r=4)
    assert manifest.ended == "finished"
    assert lines[-1].figures["kl"] > 0
    assert (tmp_path / "out" / "adapter" / "adapter_config.json").exists()


@pytest.mark.parametrize("backend", ["plain", "trl"])
def test_a_training_that_is_refused_claims_no_folder(policy, tmp_path, backend):
    if backend == "trl":
        pytest.importorskip("trl")
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="leave no room for") as refused:
        train(policy, out, backend=backend, turns=40)
    assert "40 replies of 12 and 39 messages of users of 96" in str(refused.value)
    assert [path.name for path in out.iterdir()] == [".lock"]
    # The first batch is trained on and logged, but no checkpoint was due.
    judge = Judge(lambda i: 1.0 + i % 3 if judge.asked <= 8 else None)
    with pytest.raises(UsageError, match="every session of step 2 failed"):
        train(policy, out, judge, backend=backend, save_every=9)
    manifest, lines = train(policy, out, backend=backend, steps=1, turns=1)
    assert (manifest.ended, len(lines)) == ("finished", 1)
