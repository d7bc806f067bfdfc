"""Rubric files and prompt templates: data, not code, with the loader that checks them."""

from dialogauge.prompts.generated import built_in_values
from dialogauge.prompts.load import load_personal, load_rubric, shipped_rubrics, split_template
from dialogauge.prompts.render import placeholders, render
from dialogauge.prompts.rubric import (
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
from dialogauge.prompts.schema import VERDICTS, reply_schema, sketch
from dialogauge.prompts.wording import memory_words, own_template, phrase

__all__ = [
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
