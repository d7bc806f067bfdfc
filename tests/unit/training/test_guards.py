"""Guards: rewards that are gamed stop the run, and are named."""

from __future__ import annotations

import pytest

from dialogauge.training.guards import RewardFigures, RewardGuard


def steps(**columns):
    length = max(len(values) for values in columns.values() if isinstance(values, list))
    for i in range(length):
        row = {name: values[i] if isinstance(values, list) else values for name, values in columns.items()}
        yield RewardFigures(**{"step": i + 1, "reward": 3.0, "length": 5.0, "truncated": 0.0, **row})


def stopped(guard, **columns):
    for figures in steps(**columns):
        if (why := guard.observe(figures)) is not None:
            return figures.step, why
    return None


def test_replies_that_fill_the_cap():
    step, why = stopped(RewardGuard(20), length=[10.0, 12, 18, 18, 18, 18, 18, 19, 20])
    # The mean of five steps reaches 18 of 20 with those from the third on.
    assert step == 7
    assert why == "replies fill the cap: 18.0 of 20 tokens on average over the last 5 steps"


def test_replies_that_do_not_end():
    assert stopped(RewardGuard(20), truncated=[0.4] * 20) is None
    step, why = stopped(RewardGuard(20), truncated=[0.0] + [0.6] * 9)
    assert step == 6
    assert "cut 60% of them off" in why


def test_the_second_judge_falls_while_the_reward_rises():
    reward = [3.0 + 0.1 * i for i in range(12)]
    falling = [4.0 - 0.1 * i if i % 2 == 0 else None for i in range(12)]
    step, why = stopped(RewardGuard(20), reward=reward, second=falling)
    assert step == 11  # the sixth time that it is asked
    assert "from 3.00 to 4.00, the second judge from 4.00 to 3.00" in why


@pytest.mark.parametrize(
    ("reward", "second"),
    [
        ([3.0 + 0.1 * i for i in range(12)], [4.0 + 0.1 * i for i in range(12)]),
        ([3.0] * 12, [4.0 - 0.1 * i for i in range(12)]),
        ([3.0 + 0.1 * i for i in range(12)], [4.0, 3.0] * 6),
        # It falls, but by less than anybody would mind.
        ([3.0 + 0.1 * i for i in range(12)], [4.0 - 0.01 * i for i in range(12)]),
    ],
)
def test_no_guard_where_both_rise_or_nothing_is_sure(reward, second):
    assert stopped(RewardGuard(20), reward=reward, second=second) is None


def test_a_reward_that_pays_for_length():
    step, why = stopped(RewardGuard(20), length=[8.0] * 5 + [9.0, 10, 11, 12, 12], length_pays=[0.9] * 10)
    # 1.25 of 8 is 10, which the mean of 8, 9, 10, 11, 12 reaches.
    assert step == 9
    assert why == (
        "the reward pays for length: it goes with the tokens of a session by a correlation of 0.90 over the "
        "last 5 steps, and replies grew from 8.0 to 10.0"
    )
    assert stopped(RewardGuard(20), length=[8.0] * 5 + [12.0] * 9, length_pays=[0.7] * 14) is None
    assert stopped(RewardGuard(20), length=[8.0] * 14, length_pays=[0.95] * 14) is None
