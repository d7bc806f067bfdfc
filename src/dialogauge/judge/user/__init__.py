"""The judge `local-user`: one Gaussian process over all users, with a part that is each user's own."""

from dialogauge.judge.user.judge import LocalUserJudge
from dialogauge.judge.user.signal import Signal

__all__ = ["LocalUserJudge", "Signal"]
