"""Training data from judged conversations."""

from dialogauge.training.exports import (
    corrected_row,
    dpo_row,
    kto_rows,
    rank_for_labelling,
    sft_row,
    worth_learning,
)
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

__all__ = [
    "Fork",
    "JudgedConversation",
    "PersonRating",
    "RepairStudy",
    "Source",
    "corrected_row",
    "dpo_row",
    "fork_at",
    "fork_of",
    "judged_conversation",
    "kto_rows",
    "plain_message",
    "rank_for_labelling",
    "reply_pairs",
    "sft_row",
    "unfit",
    "weak_turn",
    "worth_learning",
]
