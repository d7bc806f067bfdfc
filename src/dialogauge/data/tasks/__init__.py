"""Tasks for assistants that learn: questions, what answers are held against, and what there is to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.data.tasks.logs import (
        ACTIONS,
        LoggedDialogue,
        RoundFeedback,
        log_lines,
        read_logs,
        read_scores,
    )
    from dialogauge.data.tasks.partitions import (
        DATASETS,
        LOCOMO_CATEGORIES,
        PARTITIONS,
        Dataset,
        sample_tasks,
        split_tasks,
        unlike_published,
    )
    from dialogauge.data.tasks.reading import public_rows, read_tasks
    from dialogauge.data.tasks.record import TaskFile, TaskRecord

__getattr__ = loading(__name__)
