"""Training data from judged conversations."""

from dialogauge.training.exports import dpo_row, kto_rows, rank_for_labelling, sft_row
from dialogauge.training.pairs import Fork, JudgedConversation, fork_of, judged_conversation, repair, unfit

__all__ = [
    "Fork",
    "JudgedConversation",
    "dpo_row",
    "fork_of",
    "judged_conversation",
    "kto_rows",
    "rank_for_labelling",
    "repair",
    "sft_row",
    "unfit",
]
