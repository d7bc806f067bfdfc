"""Training data from judged conversations."""

from dialogauge.training.exports import dpo_row, kto_rows, rank_for_labelling, sft_row, worth_learning
from dialogauge.training.pairs import (
    Fork,
    JudgedConversation,
    PersonRating,
    Source,
    fork_of,
    judged_conversation,
    plain_message,
    repair,
    unfit,
    weak_turn,
)
from dialogauge.training.preferences import RatedPair, rated_pairs

__all__ = [
    "Fork",
    "JudgedConversation",
    "PersonRating",
    "RatedPair",
    "Source",
    "dpo_row",
    "fork_of",
    "judged_conversation",
    "kto_rows",
    "plain_message",
    "rank_for_labelling",
    "rated_pairs",
    "repair",
    "sft_row",
    "unfit",
    "weak_turn",
    "worth_learning",
]
