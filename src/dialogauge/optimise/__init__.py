"""What was judged becomes data to train with."""

from dialogauge.optimise.active import ActiveItem, rank_for_labelling
from dialogauge.optimise.forks import Fork, fork_of
from dialogauge.optimise.judged import JudgedConversation, judged_conversation
from dialogauge.optimise.repair import Repaired, repair
from dialogauge.optimise.trl_rows import VERDICTS, dpo_row, kto_rows, sft_row

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
