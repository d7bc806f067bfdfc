"""Tokens, sentences, languages, n-grams and personal data in text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.text.counting import counted
    from dialogauge.text.language import (
        Language,
        LanguageTally,
        detect_language,
        has_chinese,
        language_name,
    )
    from dialogauge.text.needles import required, spread
    from dialogauge.text.ngrams import (
        BUCKETS,
        gram_buckets,
        gram_number,
        hashed_grams,
        presence,
        word_grams,
    )
    from dialogauge.text.pii import PersonalKind, count_personal, find_personal, redact
    from dialogauge.text.reasoning import split_reasoning
    from dialogauge.text.shape import SHAPE, TextShape, shape_of
    from dialogauge.text.tokens import (
        ENGLISH_STOP,
        Pieces,
        content_terms,
        listed_terms,
        normalise,
        pieces,
        sentences,
        words,
    )

__getattr__ = loading(__name__)
