"""Training rows in the files of trainers."""

from __future__ import annotations

from dialogauge.training.targets.shards import SessionReward
from dialogauge.training.targets.table import TARGETS, expect_target, write_held_out, write_target

__all__ = ["TARGETS", "SessionReward", "expect_target", "write_held_out", "write_target"]
