"""Metrics of tasks: each a function from texts to numbers; no model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.judges.answers.bert_score import bert_scorer
    from dialogauge.judges.answers.grades import readability, syllables
    from dialogauge.judges.answers.ideas import gold_rank_score, ideas_of, read_ranking, shuffled_letters
    from dialogauge.judges.answers.judgments import (
        articles_in,
        fines_in,
        judge_scores,
        judge_set_scores,
        months_in,
        offences_in,
        parts_of_judgment,
    )
    from dialogauge.judges.answers.locomo import abstains, exact_match, locomo_f1, locomo_option, token_f1
    from dialogauge.judges.answers.metrics import METRICS, TaskMetric, score
    from dialogauge.judges.answers.overlap import (
        chinese_words,
        english_words,
        meteor_exact_stem,
        meteor_of_words,
        rouge_l,
        rouge_l_distinct,
    )
    from dialogauge.judges.answers.porter import porter_stem

__getattr__ = loading(__name__)
