"""Training data from judged conversations, and training on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.training.asking import (
        AskedAnswer,
        Question,
        answered,
        recheck_questions,
        repair_questions,
    )
    from dialogauge.training.exports import (
        corrected_row,
        dpo_row,
        kto_rows,
        prompt_rows,
        rank_for_labelling,
        segment_row,
        sft_row,
        worth_learning,
    )
    from dialogauge.training.held_out import (
        HELD_OUT_FILE,
        SCORED,
        By,
        HeldOutPersonas,
        gains_of,
        mean_score,
        paired_gain,
    )
    from dialogauge.training.lookahead import LookaheadStudy
    from dialogauge.training.losses import Advantages, Tensor, token_log_probs
    from dialogauge.training.masks import DialogueTokenizer, MaskedTokens, load_dialogue_tokenizer
    from dialogauge.training.offline import (
        OfflineObjective,
        Padded,
        Sides,
        encoded_rows,
        padded,
        pair_trainer,
        train_offline,
    )
    from dialogauge.training.online import OnlineTrainer, SessionRounds
    from dialogauge.training.pairs import (
        Fork,
        JudgedConversation,
        PersonRating,
        fork_at,
        fork_of,
        judged_conversation,
        plain_message,
        unfit,
        weak_turn,
    )
    from dialogauge.training.policy import Policy, load_policy
    from dialogauge.training.preferences import APART, pair_of_dialogues, reply_pairs
    from dialogauge.training.rewarded import Rewarded, rewarded_by
    from dialogauge.training.rollouts import (
        PolicyBatch,
        PolicyModel,
        Rollout,
        RolloutPrompt,
        SessionPlayer,
        SessionScorer,
        read_prompts,
    )
    from dialogauge.training.rows import (
        POINTS,
        Provenance,
        Source,
        TrainingRow,
        Why,
        apart,
        capped,
        parted,
        points_of,
        without_duplicates,
    )
    from dialogauge.training.search_figures import SearchResult, search_result
    from dialogauge.training.targets import SessionReward, expect_target, write_held_out, write_target
    from dialogauge.training.train_settings import (
        OnlineSettings,
        PairSettings,
        PlaySettings,
        SftSettings,
        TrainSettings,
    )
    from dialogauge.training.trajectories import (
        SEARCH,
        Trajectory,
        read_trajectories,
        search_details,
    )
    from dialogauge.training.trl_backend import trl_arguments, trl_silenced
    from dialogauge.training.tuning import (
        SHARED_PERSONAS,
        LogLine,
        PlayedGain,
        Trained,
        Trainer,
        TuneFolder,
        TuneJob,
        TuneManifest,
        memory_named,
        tune,
    )

__getattr__ = loading(__name__)
