"""Training data from judged conversations, and training on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.training.exports import (
        corrected_row,
        dpo_row,
        kto_rows,
        rank_for_labelling,
        sft_row,
        worth_learning,
    )
    from dialogauge.training.masks import DialogueTokenizer
    from dialogauge.training.offline import train_offline
    from dialogauge.training.pairs import (
        Fork,
        JudgedConversation,
        PersonRating,
        Source,
        fork_at,
        fork_of,
        judged_conversation,
        plain_message,
        unfit,
        weak_turn,
    )
    from dialogauge.training.preferences import reply_pairs
    from dialogauge.training.repairs import RepairStudy
    from dialogauge.training.train_settings import PairSettings, SftSettings, TrainSettings
    from dialogauge.training.tuning import LogLine, Trainer, TuneFolder, TuneJob, TuneManifest, tune

__getattr__ = loading(__name__)
