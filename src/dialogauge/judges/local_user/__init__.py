"""The judge `local-user`: one Gaussian process over all users, with a part that is each user's own."""

from dialogauge.judges.local_user.columns import ScoreSignal
from dialogauge.judges.local_user.judge import LocalUserJudge

__all__ = ["LocalUserJudge", "ScoreSignal"]
