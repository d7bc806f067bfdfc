"""Saying how people would rate what was said so far: a linear model of their votes, fitted to their own."""

from dialogauge.judges.fitted.cross_validation import CrossValidation, cross_validate
from dialogauge.judges.fitted.features import RatedPlace, Votes, rated_places
from dialogauge.judges.fitted.judge import RatingsJudge
from dialogauge.judges.fitted.model import FittedOn, RatingsModel, fit_ratings

__all__ = [
    "CrossValidation",
    "FittedOn",
    "RatedPlace",
    "RatingsJudge",
    "RatingsModel",
    "Votes",
    "cross_validate",
    "fit_ratings",
    "rated_places",
]
