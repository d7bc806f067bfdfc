"""Statistics: arrays in, frozen results out. What is undefined is None, with n beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.stats.agreement import Figures as Figures
    from dialogauge.stats.agreement import figures_of as figures_of
    from dialogauge.stats.agreement import measures_for as measures_for
    from dialogauge.stats.calibration import CALIBRATIONS as CALIBRATIONS
    from dialogauge.stats.calibration import CalibrationName as CalibrationName
    from dialogauge.stats.calibration import CalibrationRun as CalibrationRun
    from dialogauge.stats.calibration import calibrate as calibrate
    from dialogauge.stats.coefficients import cohen_kappa as cohen_kappa
    from dialogauge.stats.coefficients import confusion as confusion
    from dialogauge.stats.coefficients import mid_ranks as mid_ranks
    from dialogauge.stats.coefficients import pearson as pearson
    from dialogauge.stats.coefficients import spearman as spearman
    from dialogauge.stats.comparison import Comparison as Comparison
    from dialogauge.stats.comparison import adjusted as adjusted
    from dialogauge.stats.comparison import compare as compare
    from dialogauge.stats.comparison import compare_pairs as compare_pairs
    from dialogauge.stats.comparison import compare_replicates as compare_replicates
    from dialogauge.stats.comparison import draws_for as draws_for
    from dialogauge.stats.controls import CONTROLS as CONTROLS
    from dialogauge.stats.controls import control_columns as control_columns
    from dialogauge.stats.controls import controls_of as controls_of
    from dialogauge.stats.controls import thirds as thirds
    from dialogauge.stats.estimate import Basis as Basis
    from dialogauge.stats.estimate import ClusterDraws as ClusterDraws
    from dialogauge.stats.estimate import Estimate as Estimate
    from dialogauge.stats.estimate import group_means as group_means
    from dialogauge.stats.estimate import macro_estimate as macro_estimate
    from dialogauge.stats.estimate import macro_mean as macro_mean
    from dialogauge.stats.estimate import macro_replicates as macro_replicates
    from dialogauge.stats.estimate import mean_estimate as mean_estimate
    from dialogauge.stats.intervals import clustered_mean as clustered_mean
    from dialogauge.stats.intervals import clustered_mean_of_sums as clustered_mean_of_sums
    from dialogauge.stats.intervals import mean_bounds as mean_bounds
    from dialogauge.stats.intervals import t_estimate as t_estimate
    from dialogauge.stats.intervals import wilson_interval as wilson_interval
    from dialogauge.stats.measures import MEASURES as MEASURES
    from dialogauge.stats.measures import correlated_users as correlated_users
    from dialogauge.stats.measures import pair_up as pair_up
    from dialogauge.stats.measures import title_of as title_of
    from dialogauge.stats.measures import two_sided_users as two_sided_users
    from dialogauge.stats.score_history import Calibrated as Calibrated
    from dialogauge.stats.score_history import RawScore as RawScore
    from dialogauge.stats.score_history import ScoreHistory as ScoreHistory
    from dialogauge.stats.score_history import Ties as Ties
    from dialogauge.stats.score_history import half_even as half_even
    from dialogauge.stats.table import DissatisfiedRule as DissatisfiedRule
    from dialogauge.stats.table import Scores as Scores
    from dialogauge.stats.table import ScoreTable as ScoreTable
    from dialogauge.stats.table import cluster_labels as cluster_labels
    from dialogauge.stats.table import parse_rule as parse_rule
    from dialogauge.stats.table import reply_length as reply_length
    from dialogauge.stats.table import scores_of as scores_of
    from dialogauge.stats.table import whole_scores as whole_scores

__getattr__ = loading(__name__)
