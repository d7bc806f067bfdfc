"""What a rubric file says, as frozen records: the data that the rubric judge runs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, get_args

from dialogauge.core.judgement import Level
from dialogauge.core.scores import Scale
from dialogauge.core.unit import digest
from dialogauge.rubrics.templates import frame, own_template

Rollup = Literal["pulled_mean", "outcome", "minimum", "mean"]
"""How the scores of several windows become one: see `docs/decisions/0002-windows.md`."""

SHOWABLE: Final[Mapping[str, frozenset[Level]]] = {
    "scenario": frozenset({"turn", "window", "conversation", "pair"}),
    "profile": frozenset({"turn", "window", "conversation", "pair"}),
    "source": frozenset({"turn", "window", "conversation", "pair"}),
    "dialogue": frozenset({"turn", "window", "conversation", "pair"}),
    "earlier_summary": frozenset({"window", "conversation"}),
    "last_request": frozenset({"turn", "pair"}),
    "reply": frozenset({"turn"}),
    "tool_results": frozenset({"turn"}),
    "next_message": frozenset({"turn"}),
    "memory": frozenset({"turn"}),
    "rated_examples": frozenset({"turn"}),
    "induced_criteria": frozenset({"turn"}),
    "criteria": frozenset({"turn"}),
    "reply_a": frozenset({"pair"}),
    "reply_b": frozenset({"pair"}),
}
"""What a rubric may show, and at which levels of judging there is such a thing."""

PERSONAL: Final = frozenset({"memory", "rated_examples", "induced_criteria"})
"""What only a judge has that knows how people rated: `dialogauge satisfaction`."""


NO_RUBRIC: Final = "none"
"""Stands for the rubric where a judge has none."""


@dataclass(frozen=True)
class Dimension:
    """One thing that is scored."""

    name: str
    level: Level
    scale: Scale
    allow_na: bool
    weight: float | None
    """Its share in the overall score; None when the file states no weights."""
    rollup: Rollup
    computed: bool
    """Computed by us from a list of items instead of asked of the model."""
    description: Mapping[str, str]
    """By language."""
    anchors: Mapping[str, Mapping[float, str]]
    """By language, then by score: what that score means."""


@dataclass(frozen=True)
class Option:
    """One of the names that a label or an item can be given."""

    name: str
    description: Mapping[str, str]
    fits: tuple[float, float] | None = None
    """The scores, both ends included, of the label's dimension that it goes with; None fits all."""
    spellings: tuple[str, ...] = ()
    """Other words that are read as this option, as the data's own language has them."""


@dataclass(frozen=True)
class Label:
    """A category that the judge chooses beside the scores."""

    name: str
    level: Level
    of: str | None
    """The dimension whose score decides which options fit."""
    options: tuple[Option, ...]
    description: Mapping[str, str]


@dataclass(frozen=True)
class ItemList:
    """A list that the judge makes (claims, sub-goals ...), from which a dimension is computed."""

    name: str
    level: Level
    key: str
    """The key under which an item's text stands in the reply."""
    options: tuple[Option, ...]
    worth: Mapping[str, float]
    """What an item of that name adds, 0 to 1; names that are absent take no part."""
    dimension: str
    description: Mapping[str, str]


@dataclass(frozen=True)
class ReplyShape:
    """Which fields the reply has beside its scores."""

    note: bool
    """A short text before the scores of each turn."""
    issues: bool
    evidence: bool
    decision_basis: bool
    weakest_turn: bool
    verdict: bool
    quoted_scores: bool = False
    """Whether a score may stand in quotes: `"4"` is read as 4, and `"4.0"` as nothing."""


@dataclass(frozen=True, slots=True)
class Recent:
    """How much of the dialogue a turn rubric shows before the judged turn, which is always whole."""

    turns: int | None = None
    """The judged turn included."""
    chars: int | None = None
    """Of the messages before the judged turn; whole turns are left out, the earliest first."""


@dataclass(frozen=True, slots=True)
class ScenarioCriteria:
    """What counts in one kind of conversation."""

    scenario: str
    """Pattern sought in kind and description of the conversation, in any case; empty fits all."""
    text: Mapping[str, str]
    """By language."""


@dataclass(frozen=True)
class VerdictRule:
    """How the verdict follows from the scores."""

    rule: Literal["card", "thresholds"]
    dimension: str | None
    """For thresholds: the dimension that decides; None for the weighted mean."""
    at_least: Mapping[str, float]
    """For thresholds: name -> lowest score."""
    text: Mapping[str, str]
    """What the model is told of it, by language."""


@dataclass(frozen=True)
class WorkedExample:
    """A worked example; a conversation of that id must not be judged with this rubric."""

    id: str
    language: str | None
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class ScenarioRule:
    """In such a scenario a reply like this must cost points: checked after judging, never shown."""

    name: str
    scenario: str
    """Pattern sought in kind, description and instructions of the conversation, in any case."""
    reply: str
    """Pattern sought in the reply, in any case."""
    dimension: str
    at_most: float
    """The highest score of that dimension that is still right."""

    def to_json(self) -> dict[str, Any]:
        """Write the rule."""
        return asdict(self)


@dataclass(frozen=True)
class Template:
    """The prompt in one language."""

    instructions: str
    """What stands above the data line: the same for every call. Empty when there is no such line."""
    data: str
    """What stands below it: the conversation first, then what varies from turn to turn."""


@dataclass(frozen=True)
class Rubric:
    """A rubric file with its templates, checked."""

    id: str
    version: str
    level: Level
    languages: tuple[str, ...]
    shows: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    labels: tuple[Label, ...]
    items: tuple[ItemList, ...]
    reply: ReplyShape
    verdict: VerdictRule | None
    examples: tuple[WorkedExample, ...]
    templates: Mapping[str, Template]
    content: Mapping[str, Any]
    """The file as it was parsed, without what changes no judgement: what the digest stands on."""
    scenario_rules: tuple[ScenarioRule, ...] = ()
    recent: Recent = Recent()
    criteria: tuple[ScenarioCriteria, ...] = ()
    """The first whose pattern is found is shown."""
    origin: str = field(default="", compare=False)
    """The name or path that it was loaded by."""

    def at(self, level: Level) -> tuple[Dimension, ...]:
        """Return the dimensions of that level, computed ones included."""
        return self._by_level[level]

    def asked(self, level: Level) -> tuple[Dimension, ...]:
        """Return the dimensions of that level that the model is asked to score."""
        return self._asked_by_level[level]

    @cached_property
    def _by_level(self) -> Mapping[Level, tuple[Dimension, ...]]:
        return {lv: tuple(d for d in self.dimensions if d.level == lv) for lv in get_args(Level)}

    @cached_property
    def _asked_by_level(self) -> Mapping[Level, tuple[Dimension, ...]]:
        return {lv: tuple(d for d in found if not d.computed) for lv, found in self._by_level.items()}

    @property
    def example_ids(self) -> frozenset[str]:
        """The ids of the conversations that are worked examples: leave them out of the judged data."""
        return frozenset(e.id for e in self.examples)

    def prompt_digest(self, language: str) -> str:
        """Return the digest of the file's content and of all wording in that language.

        Comments in the file and templates of other languages make no difference.
        """
        return self._digests[language]

    @cached_property
    def _digests(self) -> Mapping[str, str]:
        ours = [name for name in ("reask", "summary") if name == "reask" or "earlier_summary" in self.shows]
        return {
            language: digest(
                {
                    "rubric": dict(self.content),
                    "language": language,
                    "instructions": template.instructions,
                    "data": template.data,
                    "frame": dict(frame(language)),
                    "ours": [own_template(name, language) for name in ours],
                }
            )
            for language, template in self.templates.items()
        }


@dataclass(frozen=True, slots=True)
class Scope:
    """What one call asks for."""

    turns: tuple[int, ...]
    """The numbers of the turns that are judged."""
    levels: tuple[Level, ...]
    """The levels that are scored in this call."""
    part: tuple[int, int, int] | None = None
    """First and last turn of a window and the number of the conversation's last turn."""
