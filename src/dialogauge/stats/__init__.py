"""Statistics: arrays in, frozen results out. What is undefined is None, with n beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.stats.agreement import Figures, figures_of, figures_of_tables, measures_for
    from dialogauge.stats.calibration import (
        CALIBRATIONS,
        ROUNDING,
        CalibrationName,
        CalibrationRun,
        calibrate,
        cuts_of,
    )
    from dialogauge.stats.categories import Categories
    from dialogauge.stats.coefficients import (
        TiedPairs,
        auc_draws,
        divided,
        mid_ranks,
        pearson,
        same_order,
        spearman,
        spearman_p,
    )
    from dialogauge.stats.comparison import (
        Comparison,
        adjusted,
        compare,
        compare_gain,
        compare_pairs,
        corrected_together,
        sign_flip_p,
    )
    from dialogauge.stats.contingency import cohen_kappa, confusion
    from dialogauge.stats.controls import CONTROLS, control_columns, controls_of, thirds
    from dialogauge.stats.estimate import (
        LEVEL,
        MIN_CLUSTERS,
        Basis,
        Estimate,
        Gain,
        Moves,
        freedom_of,
        too_few,
    )
    from dialogauge.stats.means import (
        gain_of_sums,
        group_means,
        macro_estimate,
        macro_gain,
        macro_mean,
        mean_bounds,
        mean_estimate,
        mean_of_sums,
        published_interval,
    )
    from dialogauge.stats.measures import MEASURES, title_of
    from dialogauge.stats.pairs import pair_up
    from dialogauge.stats.power import ENOUGH, Power, PowerPoint, power_of
    from dialogauge.stats.ranking import RIDGE, Strengths, TieRule, combined_elo, online_elo, strengths
    from dialogauge.stats.raters import (
        COEFFICIENTS,
        Coefficient,
        RatingGrid,
        coefficient_draws,
        coefficients_of,
    )
    from dialogauge.stats.rectified import rectified_mean
    from dialogauge.stats.schedule import next_pairs, widest
    from dialogauge.stats.score_history import Calibrated, RawScore, ScoreHistory, Ties, half_even
    from dialogauge.stats.standings import Ranking, Standing, ranking_of
    from dialogauge.stats.table import (
        DissatisfiedRule,
        Floats,
        Scores,
        ScoreTable,
        cluster_labels,
        label_codes,
        middle_rule,
        parse_rule,
        reply_length,
        scores_of,
        whole_scores,
    )
    from dialogauge.stats.votes import Votes, votes_of

__getattr__ = loading(__name__)
