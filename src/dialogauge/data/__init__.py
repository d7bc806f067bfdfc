"""Reading conversations, ratings and replies: formats, field maps, data sets, privacy masks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.data.admission import (
        ADMIT_ALL,
        DOWN,
        REWARD,
        UP,
        Admission,
        Counts,
        RatedDimensions,
        admission_for,
        admission_of,
        asks_approval,
        likely_scale,
        scale_by_name,
        thumb_of,
    )
    from dialogauge.data.datasets import DATA_SETS
    from dialogauge.data.field_map import FieldMap, read_field_map
    from dialogauge.data.formats import entry_of, format_names
    from dialogauge.data.formats.rated_studies import RECLLMSIM_TASKS
    from dialogauge.data.inspection import InputReport, inspect_conversations
    from dialogauge.data.json_values import is_message_list
    from dialogauge.data.mask import Mask
    from dialogauge.data.memory_source import DataFrame, is_table, memory_conversations
    from dialogauge.data.notes import Note, excerpt, record_fault
    from dialogauge.data.opening import pipe_of
    from dialogauge.data.personal_survey import PersonalReport
    from dialogauge.data.rating_files import has_groups, read_ratings, read_rows
    from dialogauge.data.ratings import (
        LEVELS,
        RatingTable,
        absent_turns,
        as_score,
        as_turn,
        other_words,
        unknown_ids,
        unknown_turns,
        usable_ratings,
    )
    from dialogauge.data.reader import read_conversations
    from dialogauge.data.replies import read_replies
    from dialogauge.data.splits import UserSplit, message_turns, read_split, split_users
    from dialogauge.data.tasks import (
        DATASETS,
        LOCOMO_CATEGORIES,
        PARTITIONS,
        LoggedDialogue,
        RoundFeedback,
        TaskFile,
        TaskRecord,
        log_lines,
        public_rows,
        read_logs,
        read_scores,
        read_tasks,
        sample_tasks,
        split_tasks,
        unlike_published,
    )
    from dialogauge.data.votes import Vote, is_pair_file, read_pairs, votes_in

__getattr__ = loading(__name__)
