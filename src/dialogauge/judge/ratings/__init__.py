"""Saying how people would rate what was said so far: a linear model of their votes, fitted to their own."""

from dialogauge.judge.ratings.cross_validation import CrossValidation, cross_validate
from dialogauge.judge.ratings.examples import Example, Votes, examples_of
from dialogauge.judge.ratings.fitted_on import FittedOn
from dialogauge.judge.ratings.judge import RatingsJudge
from dialogauge.judge.ratings.model import RatingsModel, fit_ratings

__all__ = [
    "CrossValidation",
    "Example",
    "FittedOn",
    "RatingsJudge",
    "RatingsModel",
    "Votes",
    "cross_validate",
    "examples_of",
    "fit_ratings",
]
