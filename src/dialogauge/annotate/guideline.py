"""The guideline that raters read before: every question with what its scores mean, to be printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dialogauge.annotate.plan import AssignmentPlan
from dialogauge.annotate.questions import Language, RatingQuestion
from dialogauge.annotate.task import introduction_of, title_of
from dialogauge.core.version import __version__
from dialogauge.report import Block, Callout, Items, Page, Section, TableColumn, data_table

_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "en": {
        "guideline": "Guideline",
        "before": "Before you begin",
        "score": "score",
        "means": "means",
        "turn": "Of each reply",
        "conversation": "Of the whole conversation",
        "pair": "Of the two",
        "between": "Scores without a line of their own lie between their neighbours.",
        "scale": "Scores: {scale}.",
        "na": "Choose n/a where it does not apply.",
        "reason": "For {scores} choose the main reason: {reasons}.",
        "free": "For {scores} write in a few words why.",
        "rules": (
            "Decide for yourself, and do not talk about single conversations with other raters.|"
            "Use the whole scale. Where two scores seem possible, take the one whose line fits better.|"
            "Skip what you cannot judge, and say why. Flag what should not be here, such as personal data.|"
            "Save from time to time, and send the file when you are done; a file half done counts too."
        ),
    },
    "zh": {
        "guideline": "评分说明",
        "before": "开始之前",
        "score": "分数",
        "means": "含义",
        "turn": "针对每条回复",
        "conversation": "针对整段对话",
        "pair": "两者相比",
        "between": "没有单独说明的分数介于相邻两个分数之间。",
        "scale": "分数：{scale}。",
        "na": "不适用时请选 n/a。",
        "reason": "打 {scores} 分时请选出主要原因：{reasons}。",
        "free": "打 {scores} 分时请简单写明原因。",
        "rules": (
            "请独立判断，不要与其他评分者讨论具体对话。|"
            "请用足整个分值范围；在两个分数之间犹豫时，取说明更贴切的一个。|"
            "无法判断的可以跳过，并写明原因；不该出现的内容（如个人信息）请标记。|"
            "请不时保存，完成后把文件发回；只完成一部分的文件也有效。"
        ),
    },
}


def guideline_page(plan: AssignmentPlan) -> Page:
    """Lay out the guideline of a plan."""
    words = _WORDS[plan.language]
    rules = Items(tuple(words["rules"].split("|")))
    sections = [Section(words["before"], (rules,))]
    for level in ("turn", "conversation", "pair"):
        questions = [q for q in plan.questions if q.level == level]
        if questions:
            sections.append(Section(words[level], tuple(_question(q, words) for q in questions)))
    title = f"{words['guideline']}: {title_of(plan)}"
    return Page(title, tuple(sections), introduction_of(plan), version=__version__)


def _question(question: RatingQuestion, words: Mapping[str, str]) -> Section:
    blocks: list[Block] = []
    if question.level == "pair":
        return Section(question.title, (), question.text)
    if question.anchors:
        heads = (TableColumn(words["score"], "text"), TableColumn(words["means"], "prose"))
        rows = list(question.anchors.items())
        blocks.append(data_table(question.title, heads, rows, captioned=False))
        if len(rows) <= question.scale.high - question.scale.low:
            blocks.append(Callout((words["between"],)))
    else:
        blocks.append(Callout((words["scale"].format(scale=question.scale),)))
    if question.na:
        blocks.append(Callout((words["na"],)))
    if question.reason_for:
        scores = ", ".join(map(str, question.reason_for))
        reasons = "; ".join(question.reasons.values())
        line = words["reason" if reasons else "free"].format(scores=scores, reasons=reasons)
        blocks.append(Callout((line,)))
    return Section(question.title, tuple(blocks), question.text)
