"""Statistics: arrays in, frozen results out. What is undefined is None, with n beside it."""

from dialogauge.metrics.association import (
    Coefficient,
    auc,
    auc_draws,
    kappa_draws,
    mid_ranks,
    pearson,
    pearson_draws,
    quadratic_weighted_kappa,
    spearman,
    spearman_draws,
)
from dialogauge.metrics.bootstrap import BootstrapInterval, cluster_bootstrap, mean_draws
from dialogauge.metrics.bounds import Bounds, mean_bounds
from dialogauge.metrics.uncertainty import (
    ClusteredMean,
    clustered_mean,
    clustered_mean_of_sums,
    t_quantile,
)

__all__ = [
    "BootstrapInterval",
    "Bounds",
    "ClusteredMean",
    "Coefficient",
    "auc",
    "auc_draws",
    "cluster_bootstrap",
    "clustered_mean",
    "clustered_mean_of_sums",
    "kappa_draws",
    "mean_bounds",
    "mean_draws",
    "mid_ranks",
    "pearson",
    "pearson_draws",
    "quadratic_weighted_kappa",
    "spearman",
    "spearman_draws",
    "t_quantile",
]
