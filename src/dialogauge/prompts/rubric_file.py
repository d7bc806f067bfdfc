"""The rubric file as TOML may write it: types and allowed keys. What belongs together is checked later."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

__all__ = [
    "CriteriaFile",
    "DimensionFile",
    "ExampleFile",
    "ItemListFile",
    "LabelFile",
    "OptionFile",
    "RecentFile",
    "ReplyFile",
    "RubricFile",
    "ScaleFile",
    "ScenarioRuleFile",
    "VerdictFile",
]

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
LevelName = Literal["turn", "window", "conversation", "pair"]
Text = str | dict[Language, str]
"""One wording for all languages, or one for each."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class ScaleFile(_Table):
    """`scale = { low = 1, high = 5 }`."""

    low: float = 1
    high: float = 5
    integer: bool = True
    higher_is_better: bool = True


class DimensionFile(_Table):
    """One `[[dimensions]]` table."""

    name: Name
    level: LevelName | None = None
    scale: ScaleFile = ScaleFile()
    allow_na: bool = False
    weight: float | None = None
    rollup: Literal["pulled_mean", "outcome", "minimum", "mean"] = "pulled_mean"
    description: Text
    anchors: dict[str, Text | dict[str, str]] = {}
    """`{ 1 = "...", 5 = "..." }` or one such table for each language."""


class OptionFile(_Table):
    """One `options` table of a label or an item list."""

    name: Name
    description: Text
    fits: list[float] | None = None
    spellings: list[str] = []


class LabelFile(_Table):
    """One `[[labels]]` table."""

    name: Name
    level: LevelName | None = None
    of: Name | None = None
    description: Text
    options: list[OptionFile]


class ItemListFile(_Table):
    """One `[[items]]` table."""

    name: Name
    level: LevelName | None = None
    key: Name
    dimension: Name
    description: Text
    options: list[OptionFile]
    worth: dict[Name, float]


class ReplyFile(_Table):
    """The `[reply]` table: which fields stand beside the scores."""

    note: bool | None = None
    issues: bool = False
    evidence: bool = False
    decision_basis: bool = False
    weakest_turn: bool = False
    verdict: bool = False
    quoted_scores: bool = False


class RecentFile(_Table):
    """The `[recent]` table."""

    turns: int | None = None
    chars: int | None = None


class CriteriaFile(_Table):
    """One `[[criteria]]` table."""

    scenario: str = ""
    text: Text


class VerdictFile(_Table):
    """The `[verdict]` table."""

    rule: Literal["card", "thresholds"]
    dimension: Name | None = None
    at_least: dict[str, float] = {}
    text: Text | None = None


class ExampleFile(_Table):
    """One `[[examples]]` table."""

    id: str
    language: Language | None = None
    text: str
    answer: str


class ScenarioRuleFile(_Table):
    """One `[[scenario_rules]]` table."""

    name: Name
    scenario: str
    reply: str
    dimension: Name
    at_most: float


class RubricFile(_Table):
    """The whole file."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    version: str | int
    level: LevelName
    languages: list[Language]
    shows: list[str]
    dimensions: list[DimensionFile]
    labels: list[LabelFile] = []
    items: list[ItemListFile] = []
    reply: ReplyFile = ReplyFile()
    verdict: VerdictFile | None = None
    examples: list[ExampleFile] = []
    scenario_rules: list[ScenarioRuleFile] = []
    recent: RecentFile = RecentFile()
    criteria: list[CriteriaFile] = []
    template: Text | None = None
