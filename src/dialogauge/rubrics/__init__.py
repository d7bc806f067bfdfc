"""Rubric files and prompt templates: data, not code, with the loader that checks them."""

from dialogauge.rubrics.load import load_personal, load_rubric, shipped_rubrics, split_template
from dialogauge.rubrics.reply_schema import VERDICTS, built_in_values, reply_schema, sketch
from dialogauge.rubrics.rubric import (
    NO_RUBRIC,
    PERSONAL,
    Criteria,
    Dimension,
    Example,
    ItemList,
    Label,
    Option,
    Recent,
    ReplyShape,
    Rubric,
    ScenarioRule,
    Scope,
    Template,
    VerdictRule,
)
from dialogauge.rubrics.templates import memory_words, own_template, phrase, placeholders, render

__all__ = [
    "NO_RUBRIC",
    "PERSONAL",
    "VERDICTS",
    "Criteria",
    "Dimension",
    "Example",
    "ItemList",
    "Label",
    "Option",
    "Recent",
    "ReplyShape",
    "Rubric",
    "ScenarioRule",
    "Scope",
    "Template",
    "VerdictRule",
    "built_in_values",
    "load_personal",
    "load_rubric",
    "memory_words",
    "own_template",
    "phrase",
    "placeholders",
    "render",
    "reply_schema",
    "shipped_rubrics",
    "sketch",
    "split_template",
]
