"""Finding texts that are like another: TF-IDF over character n-grams."""

from dialogauge.retrieval.tfidf import TfidfIndex

__all__ = ["TfidfIndex"]
