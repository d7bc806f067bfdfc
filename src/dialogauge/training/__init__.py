"""Training data from judged conversations."""

from dialogauge.training.exports import (
    corrected_row,
    dpo_row,
    kto_rows,
    rank_for_labelling,
    sft_row,
    worth_learning,
)
from dialogauge.training.lookahead import LookaheadStudy
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
from dialogauge.training.search_figures import SearchResult, search_result
from dialogauge.training.trajectories import (
    CandidateSegment,
    SearchStep,
    Trajectory,
    read_trajectories,
    search_details,
)

__all__ = [
    "CandidateSegment",
    "Fork",
    "JudgedConversation",
    "LookaheadStudy",
    "PersonRating",
    "RepairStudy",
    "SearchResult",
    "SearchStep",
    "Source",
    "Trajectory",
    "corrected_row",
    "dpo_row",
    "fork_at",
    "fork_of",
    "judged_conversation",
    "kto_rows",
    "plain_message",
    "rank_for_labelling",
    "read_trajectories",
    "reply_pairs",
    "search_details",
    "search_result",
    "sft_row",
    "unfit",
    "weak_turn",
    "worth_learning",
]
