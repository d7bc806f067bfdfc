"""Tasks for assistants that learn: questions, what answers are held against, and what there is to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.data.tasks.partitions import (
        DATASETS,
        PARTITIONS,
        Dataset,
        sample_tasks,
        split_tasks,
    )
    from dialogauge.data.tasks.record import TaskFile, TaskRecord, read_tasks

__getattr__ = loading(__name__)
