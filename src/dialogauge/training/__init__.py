"""What was judged becomes data to train with."""

from dialogauge.training.exports import VERDICTS, ActiveItem, dpo_row, kto_rows, rank_for_labelling, sft_row
from dialogauge.training.pairs import Fork, JudgedConversation, Repaired, fork_of, judged_conversation, repair

__all__ = [
    "VERDICTS",
    "ActiveItem",
    "Fork",
    "JudgedConversation",
    "Repaired",
    "dpo_row",
    "fork_of",
    "judged_conversation",
    "kto_rows",
    "rank_for_labelling",
    "repair",
    "sft_row",
]
