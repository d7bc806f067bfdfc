"""The losses, against slow loops and against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from dialogauge.training.losses import (
    dspo_loss,
    group_advantages,
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
