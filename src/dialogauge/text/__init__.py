"""Text as the other rooms need it: tokens, sentences, languages, hashed n-grams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.text.buckets import BUCKETS, gram_buckets, presence
    from dialogauge.text.counting import counted
    from dialogauge.text.gram_numbers import gram_number, word_grams
    from dialogauge.text.grams import containment, gram_overlap, hashed_grams
    from dialogauge.text.language import (
        Language,
        LanguageTally,
        detect_language,
        has_chinese,
    )
    from dialogauge.text.needles import alternatives, needles_of
    from dialogauge.text.normal import normalise
    from dialogauge.text.personal import (
        PERSONAL_KINDS,
        PersonalKind,
        PersonalSpan,
        count_personal,
        find_personal,
        redact,
    )
    from dialogauge.text.sentence_ends import sentences
    from dialogauge.text.shape import SHAPE, TextShape, shape_of
    from dialogauge.text.tokens import (
        Pieces,
        content_marks,
        content_terms,
        count_units,
        pieces,
        stem,
        words,
    )

__all__ = [
    "BUCKETS",
    "PERSONAL_KINDS",
    "SHAPE",
    "Language",
    "LanguageTally",
    "PersonalKind",
    "PersonalSpan",
    "Pieces",
    "TextShape",
    "alternatives",
    "containment",
    "content_marks",
    "content_terms",
    "count_personal",
    "count_units",
    "counted",
    "detect_language",
    "find_personal",
    "gram_buckets",
    "gram_number",
    "gram_overlap",
    "has_chinese",
    "hashed_grams",
    "needles_of",
    "normalise",
    "pieces",
    "presence",
    "redact",
    "sentences",
    "shape_of",
    "stem",
    "word_grams",
    "words",
]

__getattr__ = loading(
    __name__,
    {
        "buckets": (
            "BUCKETS",
            "gram_buckets",
            "presence",
        ),
        "grams": (
            "containment",
            "gram_overlap",
            "hashed_grams",
        ),
        "language": (
            "Language",
            "LanguageTally",
            "detect_language",
            "has_chinese",
        ),
        "needles": (
            "alternatives",
            "needles_of",
        ),
        "normal": ("normalise",),
        "personal": (
            "PERSONAL_KINDS",
            "PersonalKind",
            "PersonalSpan",
            "count_personal",
            "find_personal",
            "redact",
        ),
        "sentence_ends": ("sentences",),
        "shape": (
            "SHAPE",
            "TextShape",
            "shape_of",
        ),
        "tokens": (
            "Pieces",
            "content_marks",
            "content_terms",
            "count_units",
            "pieces",
            "stem",
            "words",
        ),
        "counting": ("counted",),
        "gram_numbers": (
            "gram_number",
            "word_grams",
        ),
    },
)
