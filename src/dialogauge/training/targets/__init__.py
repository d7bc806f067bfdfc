"""Training rows in the files of trainers."""

from __future__ import annotations

from dialogauge.training.targets.table import TARGETS, expect_target, write_target

__all__ = ["TARGETS", "expect_target", "write_target"]
