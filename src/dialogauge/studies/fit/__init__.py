"""What a fit to people's ratings is worth: figures of left-out predictions beside controls."""

from dialogauge.studies.fit.figures import FIGURES, PredictedRatings, figures_with_controls

__all__ = ["FIGURES", "PredictedRatings", "figures_with_controls"]
