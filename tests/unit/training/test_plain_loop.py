"""The loop in plain torch that TRL is compared with: its loss by hand, and both ways to the same weights."""

from __future__ import annotations

import math
from collections import defaultdict
from types import SimpleNamespace

import pytest

from dialogauge.training import PairSettings, TuneFolder, TuneJob, train_offline, tune
from dialogauge.training.losses import group_advantages
from tiny_policy import sessions_of, train_on_sessions, write_rows

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

from benchmarks.plain_loop import (  # noqa: E402 - it loads torch
    PlainOnlineTrainer,
    SessionTokens,
    gsrpo_loss,
    plain_offline,
)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def masks(*shape, seed=0):
    return (torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.4).long()


def slow_gsrpo(tokens, advantages, clip, beta, kl_unbiased):
    sessions = [i for i in range(len(tokens.policy)) if advantages.kept[i]]
    total = 0.0
    for i in sessions:
        a, terms = float(advantages.values[i]), []
        for j in range(len(tokens.mask[i])):
            if tokens.mask[i][j]:
                new, old, ref = (float(t[i][j]) for t in (tokens.policy, tokens.sampled, tokens.reference))
                rho = math.exp(new - old)
                gain = min(rho * a, min(max(rho, 1 - clip), 1 + clip) * a)
                kl = math.exp(ref - new) - (ref - new) - 1
                terms.append(gain - beta * kl * (rho if kl_unbiased else 1.0))
        total += sum(terms) / len(terms)
    return -total / len(sessions)


@pytest.mark.parametrize("kl_unbiased", [False, True])
def test_gsrpo_is_its_formula(kl_unbiased):
    near = [-drawn(10, 20).abs() + 0.3 * drawn(10, 20, seed=i) for i in (1, 2, 3)]
    tokens = SessionTokens(*near, masks(10, 20))
    rewards = drawn(10, seed=4)
    rewards[7] = math.nan
    advantages = group_advantages(rewards, 5)
    options = {"clip": 0.2, "beta": 0.02, "kl_unbiased": kl_unbiased}
    fast = gsrpo_loss(tokens, advantages, **options)
    assert float(fast.loss) == pytest.approx(slow_gsrpo(tokens, advantages, **options), abs=1e-9)
    assert 0 < float(fast.clipped) < 1


def test_gsrpo_by_hand():
    # One token each. Ratios 2 and 1/2, advantages 1 and -1: the clip holds both, at 1.2 and -0.8.
    zero = torch.zeros(2, 1)
    policy = torch.tensor([[math.log(2.0)], [-math.log(2.0)]])
    advantages = group_advantages(torch.tensor([0.0, 0.0, 0.0, 0.0]), 4)
    given = type(advantages)(torch.tensor([1.0, -1.0]), torch.tensor([True, True]), 0, 0, 0)
    ones = torch.ones(2, 1)
    loss = gsrpo_loss(SessionTokens(policy, zero, None, ones), given)
    assert loss.loss.item() == pytest.approx(-(1.2 - 0.8) / 2)
    assert loss.clipped.item() == 1.0
    # k3 of a reference of 0: 1/2 + ln 2 - 1 and 2 - ln 2 - 1, of which the mean is 1/4.
    kl = gsrpo_loss(SessionTokens(policy, zero, zero, ones), given, beta=0.1)
    assert kl.kl.item() == pytest.approx(0.25)
    assert kl.loss.item() == pytest.approx(-(1.2 - 0.8) / 2 + 0.1 * 0.25)


def test_gsrpo_without_a_session_that_counts_is_zero():
    policy = drawn(4, 3).requires_grad_()
    advantages = group_advantages(torch.full((4,), 3.0), 4)
    loss = gsrpo_loss(SessionTokens(policy, policy.detach(), policy.detach(), masks(4, 3)), advantages)
    loss.loss.backward()
    assert loss.loss.item() == 0.0
    assert policy.grad.abs().sum() == 0


def test_loss_of_trl_is_ours_on_the_same_sessions():
    from trl import GRPOTrainer

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


def apart(*folders):
    """Return by how much the weights of two models differ at most."""
    from safetensors.torch import load_file

    one, other = (load_file(folder / "model.safetensors") for folder in folders)
    return max(float((one[name] - weights).abs().max()) for name, weights in other.items())


def test_both_loops_come_to_nearly_the_same_weights_on_rows(policy, tmp_path):
    from benchmarks.toy_roleplay import TRAIN, segment_pairs

    # Of as many rows as a batch has, each step sees all, whatever the order.
    rows = [r for r in segment_pairs(TRAIN, 32, seed=1) if r["score_chosen"] > r["score_rejected"]][:4]
    data = write_rows(tmp_path / "rows.jsonl", rows)
    settings = PairSettings(learning_rate=1e-3, steps=3, batch_size=4, sft_alpha=0.1)
    job = TuneJob(method="dspo", settings=settings, model=policy, data=data, held_out=data, device="cpu")
    measured = []
    for name, train in (("trl", train_offline), ("plain", plain_offline)):
        manifest = tune(job, train, TuneFolder(tmp_path / name))
        measured.append({figure: of.value for figure, of in manifest.after.items()})
    assert measured[0]["margin"] > 0.1
    assert measured[1] == pytest.approx(measured[0], rel=1e-3)
    assert apart(tmp_path / "trl", tmp_path / "plain") < 1e-4


def test_both_loops_play_the_same_sessions_and_come_to_nearly_the_same_weights(policy, tmp_path):
    trl, plain, parts = (tmp_path / name for name in ("trl", "plain", "parts"))
    once = {"steps": 1, "warmup": 0.0, "clip": 0.05, "beta": 1.0, "kl_unbiased": True}
    train_on_sessions(policy, trl, **once)
    train_on_sessions(policy, plain, trainer=PlainOnlineTrainer, **once)
    assert [r["messages"] for r in sessions_of(trl)] == [r["messages"] for r in sessions_of(plain)]
    assert apart(trl, plain) < 2e-5  # an update of Adam moves a weight by up to the learning rate, 2e-4
    train_on_sessions(policy, parts, batch_size=2, accumulation=4, **once)  # a step in parts is one step
    assert apart(trl, parts) < 2e-5
