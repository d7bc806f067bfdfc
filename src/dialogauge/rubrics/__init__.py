"""Rubric files and prompt templates, and the loader that checks them.

Names load on first use: the loader needs pydantic, and most commands only need the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.rubrics.load import load_personal, load_policies, load_rubric, split_template
    from dialogauge.rubrics.reply_format import VERDICTS, built_in_values, closed_object, reply_schema, sketch
    from dialogauge.rubrics.rubric import (
        NO_RUBRIC,
        PERSONAL,
        Calls,
        Dimension,
        FittedCriterion,
        FittedDimension,
        FittedWeights,
        ItemList,
        Label,
        Recent,
        Rubric,
        ScenarioRule,
        Scope,
        Template,
    )
    from dialogauge.rubrics.templates import (
        Policies,
        feedback_files,
        feedback_words,
        memory_words,
        own_template,
        phrase,
        placeholders,
        render,
        session_words,
    )
    from dialogauge.rubrics.weights import weights_text, with_weights


__getattr__ = loading(__name__)
