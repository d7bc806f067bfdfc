"""Text as the other rooms need it: tokens, sentences, languages, hashed n-grams."""

from dialogauge.text.grams import containment, gram_overlap, hashed_grams
from dialogauge.text.language import Language, LanguageTally, detect_language
from dialogauge.text.normal import normalise
from dialogauge.text.sentences import sentences
from dialogauge.text.tokens import content_terms, count_units, pieces, stem, words

__all__ = [
    "Language",
    "LanguageTally",
    "containment",
    "content_terms",
    "count_units",
    "detect_language",
    "gram_overlap",
    "hashed_grams",
    "normalise",
    "pieces",
    "sentences",
    "stem",
    "words",
]
