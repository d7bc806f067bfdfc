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
from dialogauge.metrics.bootstrap import (
    BootstrapInterval,
    choice_weights,
    cluster_bootstrap,
    cluster_weights,
    interval_of_draws,
    mean_draws,
    order_interval,
)
from dialogauge.metrics.bounds import Bounds, mean_bounds
from dialogauge.metrics.classes import (
    average_recall,
    cohen_kappa,
    confusion,
    f1_below,
    published_f1_below,
)
from dialogauge.metrics.classification import (
    Classification,
    classification,
    f1_draws,
    precision_draws,
    recall_draws,
)
from dialogauge.metrics.multiple import draw_p, holm
from dialogauge.metrics.permutation import PermutationResult, deal, permutation_test
from dialogauge.metrics.proportion import wilson_interval
from dialogauge.metrics.uncertainty import (
    ClusteredMean,
    clustered_mean,
    clustered_mean_of_sums,
    t_quantile,
)

__all__ = [
    "BootstrapInterval",
    "Bounds",
    "Classification",
    "ClusteredMean",
    "Coefficient",
    "PermutationResult",
    "auc",
    "auc_draws",
    "average_recall",
    "choice_weights",
    "classification",
    "cluster_bootstrap",
    "cluster_weights",
    "clustered_mean",
    "clustered_mean_of_sums",
    "cohen_kappa",
    "confusion",
    "deal",
    "draw_p",
    "f1_below",
    "f1_draws",
    "holm",
    "interval_of_draws",
    "kappa_draws",
    "mean_bounds",
    "mean_draws",
    "mid_ranks",
    "order_interval",
    "pearson",
    "pearson_draws",
    "permutation_test",
    "precision_draws",
    "published_f1_below",
    "quadratic_weighted_kappa",
    "recall_draws",
    "spearman",
    "spearman_draws",
    "t_quantile",
    "wilson_interval",
]
