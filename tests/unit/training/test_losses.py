"""The losses, against slow loops and against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from dialogauge.training.losses import (
    SessionTokens,
    dspo_loss,
    group_advantages,
    gsrpo_loss,
    sft_loss,
    token_divergence,
    token_log_probs,
)

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def masks(*shape, seed=0):
    return (torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.4).long()


def slow_dspo(log_probs, reference, mask, beta, length_norm, sft_alpha):
    pairs, total = len(log_probs) // 2, 0.0
    rewards = []
    for i in range(2 * pairs):
        tokens = [j for j in range(len(mask[i])) if mask[i][j]]
        reward = beta * sum(float(log_probs[i][j] - reference[i][j]) for j in tokens)
        rewards.append(reward / len(tokens) if length_norm else reward)
    for i in range(pairs):
        total += math.log(1 + math.exp(-(rewards[i] - rewards[pairs + i]))) / pairs
    winners = [float(log_probs[i][j]) for i in range(pairs) for j in range(len(mask[i])) if mask[i][j]]
    return total - sft_alpha * sum(winners) / len(winners)


@pytest.mark.parametrize(("length_norm", "sft_alpha"), [(False, 0.0), (True, 0.0), (False, 0.3)])
def test_dspo_is_its_formula(length_norm, sft_alpha):
    log_probs, reference, mask = -drawn(8, 20).abs(), -drawn(8, 20, seed=1).abs(), masks(8, 20)
    options = {"beta": 0.1, "length_norm": length_norm, "sft_alpha": sft_alpha}
    fast = dspo_loss(log_probs, reference, mask, **options)
    assert float(fast.loss) == pytest.approx(slow_dspo(log_probs, reference, mask, **options), abs=1e-12)


def test_dspo_by_hand():
    # Winner: tokens 1 and 3 rose by 1 and 2; loser: token 2 fell by 3. At beta .1: rewards .3 and -.3.
    log_probs = torch.tensor([[-1.0, -5.0, -1.0], [-7.0, -4.0, -7.0]])
    reference = torch.tensor([[-2.0, -9.0, -3.0], [-1.0, -1.0, -1.0]])
    mask = torch.tensor([[1, 0, 1], [0, 1, 0]])
    pairs = dspo_loss(log_probs, reference, mask)
    assert pairs.chosen.tolist() == pytest.approx([0.3])
    assert pairs.rejected.tolist() == pytest.approx([-0.3])
    assert float(pairs.loss) == pytest.approx(math.log(1 + math.exp(-0.6)))
    by_length = dspo_loss(log_probs, reference, mask, length_norm=True)
    assert by_length.chosen.tolist() == pytest.approx([0.15])
    with_sft = dspo_loss(log_probs, reference, mask, sft_alpha=0.5)
    assert float(with_sft.loss) == pytest.approx(float(pairs.loss) + 0.5 * 1.0)


def test_dspo_begins_at_the_logarithm_of_two():
    log_probs = -drawn(8, 20).abs()
    assert float(dspo_loss(log_probs, log_probs, masks(8, 20)).loss) == pytest.approx(math.log(2))


def test_tokens_of_a_user_have_no_gradient_and_no_say():
    logits, ids, mask = drawn(4, 10, 12).requires_grad_(), masks(4, 10, seed=2) + 3, masks(4, 10)
    mask[:, 4] = 0
    reference = -drawn(4, 9, seed=1).abs()

    def loss(ids):
        return dspo_loss(token_log_probs(logits, ids), reference, mask[:, 1:]).loss

    loss(ids).backward()
    untrained = mask[:, 1:] == 0
    assert (logits.grad[:, :-1][untrained] == 0).all()
    assert (logits.grad[:, :-1][~untrained].abs().sum(-1) > 0).all()
    other = ids.clone()
    other[:, 4] = 11
    assert loss(other).item() == loss(ids).item()


def test_log_probabilities_and_divergence_of_tokens():
    logits, ids = drawn(2, 5, 7), masks(2, 5) + 1
    slow = torch.stack([logits[i].log_softmax(-1)[:-1].gather(-1, ids[i, 1:, None])[:, 0] for i in (0, 1)])
    assert token_log_probs(logits, ids).double() == pytest.approx(slow, abs=1e-6)
    uniform, half = torch.zeros(1, 2, 2), torch.tensor([[[math.log(3.0), 0.0]] * 2])
    # p = (3/4, 1/4), q = (1/2, 1/2)
    by_hand = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert token_divergence(half, uniform).item() == pytest.approx(by_hand)
    assert token_divergence(half, half).item() == pytest.approx(0.0, abs=1e-7)
    assert sft_loss(torch.tensor([[-1.0, -2.0, -9.0]]), torch.tensor([[1, 1, 0]])).item() == 1.5


def test_advantages_by_hand():
    # Mean 3, squares 4 + 1 + 1 + 4 = 10, sample SD sqrt(10 / 3).
    rewards = torch.tensor([1.0, 2.0, 4.0, 5.0])
    sd = math.sqrt(10 / 3) + 1e-4
    assert group_advantages(rewards, 4).values.tolist() == pytest.approx([-2 / sd, -1 / sd, 1 / sd, 2 / sd])


def test_groups_that_say_nothing_are_left_out_and_counted():
    nan = math.nan
    rewards = torch.tensor([3.0] * 5 + [nan, 1.0, 2.0, nan, 5.0] + [nan, 1.0, 2.0, 4.0, 5.0] + [nan] * 5)
    advantages = group_advantages(rewards, 5)
    assert (advantages.flat, advantages.few, advantages.failed) == (1, 2, 8)
    sd = math.sqrt(10 / 3) + 1e-4
    kept = [0.0, -2 / sd, -1 / sd, 1 / sd, 2 / sd]  # a failed judgement is no 0: the mean is 3 without it
    assert advantages.values.tolist() == pytest.approx([0.0] * 10 + kept + [0.0] * 5)
    assert advantages.kept.tolist() == [False] * 11 + [True] * 4 + [False] * 5


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
