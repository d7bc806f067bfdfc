"""TF-IDF retrieval over character n-grams."""

from dialogauge.retrieval.tfidf import TfidfIndex

__all__ = ["TfidfIndex"]
