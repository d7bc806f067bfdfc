"""The records of a rubric: the input of the rubric judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, get_args

from dialogauge.core.judgement import Level, Verdict
from dialogauge.core.scores import Scale
from dialogauge.core.unit import digest
from dialogauge.core.values import Value
from dialogauge.rubrics.templates import criteria_words, frame, own_template

Rollup = Literal["pulled_mean", "outcome", "minimum", "mean"]
"""How the scores of several windows become one; see `docs/decisions/0002-windows.md`."""

Calls = Literal["joint", "separate"]
"""`joint`: one call for all dimensions; `separate`: one for each."""

SHOWABLE: Final[Mapping[str, frozenset[Level]]] = {
    "scenario": frozenset({"turn", "window", "conversation", "pair"}),
    "profile": frozenset({"turn", "window", "conversation", "pair"}),
    "source": frozenset({"turn", "window", "conversation", "pair"}),
    "task": frozenset({"turn", "window", "conversation"}),
    "history": frozenset({"conversation"}),
    "dialogue": frozenset({"turn", "window", "conversation", "pair"}),
    "earlier_summary": frozenset({"window", "conversation"}),
    "last_request": frozenset({"turn", "pair"}),
    "reply": frozenset({"turn"}),
    "tool_results": frozenset({"turn"}),
    "tool_calls": frozenset({"turn"}),
    "policy": frozenset({"turn", "window", "conversation"}),
    "next_message": frozenset({"turn"}),
    "memory": frozenset({"turn"}),
    "rated_examples": frozenset({"turn"}),
    "induced_criteria": frozenset({"turn"}),
    "criteria": frozenset({"turn"}),
    "reply_a": frozenset({"pair"}),
    "reply_b": frozenset({"pair"}),
    "dialogue_a": frozenset({"pair"}),
    "dialogue_b": frozenset({"pair"}),
}
"""What a rubric may show -> the levels of judging that have it."""

PERSONAL: Final = frozenset({"memory", "rated_examples", "induced_criteria"})
"""What only judges with users' ratings have: `dialogauge satisfaction`."""

NO_RUBRIC: Final = "none"
"""The rubric's name for a judge without one."""


class Dimension(Value):
    """One scored dimension."""

    name: str
    level: Level
    scale: Scale
    allow_na: bool
    weight: float | None
    """Its share in the overall score; None without weights in the file."""
    rollup: Rollup
    computed: bool
    """Computed from a list of items, from other dimensions or from turns; the model does not score it."""
    description: Mapping[str, str]
    """By language."""
    title: Mapping[str, str]
    """What people read in place of the name, by language."""
    anchors: Mapping[str, Mapping[float, str]]
    """Language -> score -> its meaning."""
    mean_of: tuple[str, ...] = ()
    """The dimensions whose mean it is."""
    turn_mean_of: str | None = None
    """The dimension of turns whose mean it is, in a rubric that asks about each turn by itself."""


class Option(Value):
    """One value of a label or of an item."""

    name: str
    description: Mapping[str, str]
    fits: tuple[float, float] | None = None
    """Lowest and highest score of the label's dimension that it fits; None fits all."""
    spellings: tuple[str, ...] = ()
    """Other words for this option in replies."""
    weight: float | None = None
    """Of a criterion: what it adds to the base of its list; below 0 it is a deduction."""


class Label(Value):
    """A category beside the scores."""

    name: str
    level: Level
    of: str | None
    """The dimension whose score restricts the options."""
    options: tuple[Option, ...]
    description: Mapping[str, str]
    first: bool = False
    """Whether it stands before the scores in the reply, and so is decided before them."""


class ItemList(Value):
    """A list in the reply, from which a dimension is computed.

    Either the items (claims, sub-goals ...) have a worth, and the dimension is their mean worth; or the
    options are criteria with weights, the items show with a quote which of them hold, and the dimension is
    the base and the weights of these.
    """

    name: str
    level: Level
    options: tuple[Option, ...]
    dimension: str
    description: Mapping[str, str]
    key: str = ""
    """The key of an item's text in the reply; criteria have none."""
    worth: Mapping[str, float] = field(default_factory=dict)
    """Option -> worth of an item, 0 to 1; other options do not count."""
    quoted: tuple[str, ...] = ()
    """Options that need a quote from the material; without it they do not count."""
    base: float | None = None
    """The score where no criterion holds; None of a list whose items have a worth."""
    holistic: str | None = None
    """The dimension that the model scores itself, beside what the criteria come to."""
    each_of: str = ""
    """The field of the task's record, a list, that has an item for each of its entries; empty for none."""

    @property
    def adds_up(self) -> bool:
        """Whether its options are criteria, whose weights are added to the base."""
        return self.base is not None


class ReplyShape(Value):
    """The fields of a reply beside the scores."""

    note: bool
    """A short text before the scores of each turn."""
    notes: bool
    """A short text before each score of a turn."""
    issues: bool
    evidence: bool
    decision_basis: bool
    weakest_turn: bool
    verdict: bool
    quoted_scores: bool = False
    """Whether a score may stand in quotes: `"4"` is read as 4, and `"4.0"` as nothing."""


@dataclass(frozen=True, slots=True)
class Recent:
    """How much of the dialogue a turn rubric shows before the judged turn."""

    turns: int | None = None
    """Turns, including the judged one."""
    chars: int | None = None
    """Characters before the judged turn; the earliest turns are left out whole."""


class ScenarioCriteria(Value):
    """The criteria for one kind of conversation."""

    scenario: str
    """Pattern for kind and description of the conversation, case-insensitive; empty fits all."""
    text: Mapping[str, str]
    """By language."""


class VerdictRule(Value):
    """How the verdict follows from the scores."""

    rule: Literal["card", "thresholds"]
    dimension: str | None
    """For thresholds: the dimension that decides; None for the weighted mean."""
    at_least: Mapping[str, float]
    """For thresholds: name -> lowest score."""
    text: Mapping[str, str]
    """Language -> the rule in the prompt."""


class WorkedExample(Value):
    """A worked example; the rubric must not judge the conversation with its id."""

    id: str
    language: str | None
    text: str
    answer: str


class ScenarioRule(Value):
    """A reply that must cost points in a scenario; checked after judging, never in the prompt."""

    name: str
    scenario: str
    """Pattern for kind, description and instructions of the conversation, case-insensitive."""
    reply: str
    """Pattern for the reply, case-insensitive."""
    dimension: str
    at_most: float
    """The highest valid score of the dimension."""


class Template(Value):
    """The prompt in one language."""

    instructions: str
    """The part above the data line, the same for every call; empty without a data line."""
    data: str
    """The part below it: first the conversation, then the parts that vary by turn."""


class FittedCriterion(Value):
    """What a criterion adds."""

    weight: float
    prior: float
    """The rubric's."""
    support: int
    """Rated sessions in which it was named."""


class FittedDimension(Value):
    """A dimension that is added up from criteria."""

    base: float
    prior: float
    """The base of the rubric."""
    ridge: float
    """Lambda: how much the weights were held to those of the rubric."""
    sessions: int
    personas: int
    criteria: Mapping[str, FittedCriterion]
    figures: Mapping[str, Mapping[str, tuple[float, ...]]]
    """On personas left out, by source and name: the value, and the ends of its interval where it has one."""
    note: str | None = None


class FittedWeights(Value):
    """Weights of a rubric's criteria, fitted to people's ratings of sessions."""

    rubric: str
    version: str
    digest: str
    """Of what a judge is asked."""
    judge: str
    seen: tuple[str, ...]
    """`words_digest` of the rated sessions."""
    dimensions: Mapping[str, FittedDimension]
    format: Literal["dialogauge-weights/1"] = "dialogauge-weights/1"


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
    """The parsed file without the parts that change no judgement; the basis of the digest."""
    scenario_rules: tuple[ScenarioRule, ...] = ()
    recent: Recent = Recent()
    criteria: tuple[ScenarioCriteria, ...] = ()
    """The first with a matching pattern is shown."""
    calls: Calls = "joint"
    """Whether a call asks for all dimensions, or for one, where nobody says otherwise."""
    task: tuple[str, ...] = ()
    """The fields of a task's record that it shows; the first is what replies are held against."""
    task_optional: bool = False
    """Whether it judges where the record has none of them."""
    windows: bool = True
    """Whether long conversations are judged in windows; else at once, as far as they fit into a prompt."""
    origin: str = field(default="", compare=False)
    """The name or path that it was loaded by."""
    fitted: FittedWeights | None = None
    """Where its criteria count by other weights; what a judge is asked goes by the rubric's own."""

    def at(self, level: Level) -> tuple[Dimension, ...]:
        """Return the dimensions of a level, including computed ones."""
        return self._by_level[level]

    def asked(self, level: Level) -> tuple[Dimension, ...]:
        """Return the dimensions of a level that the model scores."""
        return self._scored_by_level[level]

    @cached_property
    def _by_level(self) -> Mapping[Level, tuple[Dimension, ...]]:
        return {lv: tuple(d for d in self.dimensions if d.level == lv) for lv in get_args(Level)}

    @cached_property
    def _scored_by_level(self) -> Mapping[Level, tuple[Dimension, ...]]:
        return {
            lv: tuple(d for d in dimensions if not d.computed) for lv, dimensions in self._by_level.items()
        }

    def asks_people(self, level: Level) -> tuple[Dimension, ...]:
        """Return the dimensions of a level that people can score.

        They are those that the model scores, and in place of a holistic score what the criteria come to: it
        is the same question.
        """
        lists = [x for x in self.items if x.adds_up]
        by_criteria, holistic = {x.dimension for x in lists}, {x.holistic for x in lists}
        return tuple(
            d for d in self.at(level) if d.name in by_criteria or not (d.computed or d.name in holistic)
        )

    def counts(self, criteria: ItemList) -> tuple[float, Mapping[str, float]]:
        """Return base and weights of a list of criteria: those fitted to people, where there are such."""
        base, weights = criteria.base or 0.0, {o.name: o.weight or 0.0 for o in criteria.options}
        fitted = None if self.fitted is None else self.fitted.dimensions.get(criteria.dimension)
        if fitted is not None:
            base, weights = fitted.base, weights | {name: of.weight for name, of in fitted.criteria.items()}
        return base, weights

    def cap(self, labels: Mapping[str, str]) -> float | None:
        """Return the highest score that labels decided before it leave open; None where they leave all.

        Args:
            labels: Label -> the option that was chosen.
        """
        if not labels:
            return None
        highest = {d.name: d.scale.high for d in self.dimensions}
        caps = (
            o.fits[1]
            for label in self.labels
            for o in label.options
            if label.first and label.of and o.fits and labels.get(label.name) == o.name
            if o.fits[1] < highest[label.of]
        )
        return min(caps, default=None)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The names that its verdict rule gives, the best first; empty without a rule."""
        rule = self.verdict
        if rule is None:
            return ()
        if rule.rule == "card":
            return get_args(Verdict)
        return tuple(sorted(rule.at_least, key=lambda name: -rule.at_least[name]))

    @property
    def example_ids(self) -> frozenset[str]:
        """The ids of worked examples, which must not be judged."""
        return frozenset(e.id for e in self.examples)

    def prompt_digest(self, language: str) -> str:
        """Return the digest of the file's content and of all wording in a language.

        Comments and templates of other languages do not count.
        """
        return self._digests[language]

    @property
    def digest(self) -> str:
        """The digest of what a judge is asked, in all languages: of the version of the rubric."""
        return digest(dict(self._digests))

    @cached_property
    def _digests(self) -> Mapping[str, str]:
        ours = [name for name in ("reask", "summary") if name == "reask" or "earlier_summary" in self.shows]
        digests = {}
        for language, template in self.templates.items():
            parts = {
                "rubric": dict(self.content),
                "language": language,
                "instructions": template.instructions,
                "data": template.data,
                "frame": dict(frame(language)),
                "ours": [own_template(name, language) for name in ours],
            }
            if "history" in self.shows or any(x.adds_up for x in self.items):
                parts["criteria_words"] = dict(criteria_words(language))
            digests[language] = digest(parts)
        return digests


@dataclass(frozen=True, slots=True)
class Scope:
    """The targets of one call."""

    turns: tuple[int, ...]
    """The numbers of the judged turns."""
    levels: tuple[Level, ...]
    """The scored levels."""
    part: tuple[int, int, int] | None = None
    """First and last turn of a window, and the last turn of the conversation."""
