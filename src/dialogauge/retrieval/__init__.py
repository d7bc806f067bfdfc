"""Retrieval: TF-IDF of a fixed set of texts; BM25, cosine and the fitted ranker of sets that grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.retrieval.lexical import LexicalIndex, idf
    from dialogauge.retrieval.ranked import EARLY, EMBEDDED, FEATURES, RankedIndex
    from dialogauge.retrieval.tfidf import TfidfIndex
    from dialogauge.retrieval.vectors import VectorIndex

__getattr__ = loading(__name__)
