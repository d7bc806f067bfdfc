"""Consistency checks of a rubric; each returns its faults as `key: reason`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, get_args

from dialogauge.core.judgement import Level, Verdict
from dialogauge.core.scores import ONE_TO_FIVE, Scale
from dialogauge.rubrics.rubric import SHOWABLE, Dimension, ItemList, Label, Rubric, VerdictRule
from dialogauge.rubrics.templates import DomainPolicy, Wording, placeholders

BUILT_IN: Final = ("dimensions", "reply_format", "asked", "examples")
"""Placeholders with values from the rubric; always allowed, not in `shows`."""

_LEVELS: Final[dict[Level, tuple[Level, ...]]] = {
    "turn": ("turn",),
    "window": ("window",),
    "conversation": ("turn", "conversation"),
    "pair": ("pair",),
}
_FARTHEST: Final = 1e9
_SHORTEST: Final = 1e-6
_MOST_SCORES: Final = 1000
"""A scale of whole numbers stands in the prompt's schema, score by score."""
_RESERVED: Final = frozenset(
    {"turn", "scores", "issues", "evidence", "note", "per_turn", "decision_basis", "weakest_turn", "verdict"}
)
_OF_POLICY: Final = frozenset({"domain", "threshold", "slots"})
"""Placeholders of the texts of a policy file."""
_CARD: Final[dict[Level, tuple[str, ...]]] = {
    "turn": ("context_use", "helpfulness", "safety"),
    "conversation": ("coherence", "task_completion", "repair_handling"),
}


def faults_of(rubric: Rubric) -> list[str]:
    """Return every fault as `key: reason`."""
    faults = [*_languages(rubric), *_dimension_list(rubric)]
    for dimension in rubric.dimensions:
        faults += _dimension(dimension, rubric)
    if any(f"dimensions.{d.name}.scale" in fault for d in rubric.dimensions for fault in faults):
        return faults  # the others are checked against the scales
    faults += [*_weights(rubric), *_reply(rubric), *_shows(rubric), *_names(rubric)]
    lists = (items.dimension for items in rubric.items)
    faults += _twice("items: the dimension {!r} is computed from two lists", lists)
    for label in rubric.labels:
        faults += _label(label, rubric)
    for items in rubric.items:
        faults += _items(items, rubric)
    if not rubric.windows and rubric.level != "conversation":
        faults.append(
            f"windows: a rubric of the level {rubric.level!r} is not judged in windows of the whole"
        )
    faults += [*_verdict(rubric), *_scenario_rules(rubric), *_recent(rubric), *_criteria(rubric)]
    faults += _task(rubric)
    for language in rubric.languages:
        faults += _template(rubric, language)
    return faults


def policy_faults(domains: Sequence[DomainPolicy]) -> Iterator[str]:
    """Yield every fault of a policy file as `key: reason`."""
    if not domains or domains[-1].calls:
        yield "domains: the last one is that of all other calls: leave its pattern `calls` out"
    yield from _twice("domains.{}: a domain of that name exists already", (d.name for d in domains))
    for number, domain in enumerate(domains, 1):
        key = f"domains.{domain.name}"
        yield from _pattern(f"{key}.calls", domain.calls)
        if not domain.calls and number < len(domains):
            yield f"{key}.calls: missing; only the last domain has none"
        if domain.threshold < 0:
            yield f"{key}.threshold: {domain.threshold}; give 0 or more"
        yield from (f"{key}.slots.{slot}: empty" for slot, meaning in domain.slots.items() if not meaning)
        yield from _policy_text(f"{key}.text", domain.text)


def _policy_text(key: str, text: Wording) -> Iterator[str]:
    texts = [text] if isinstance(text, str) else list(text.values())
    if not texts or not all(one.strip() for one in texts):
        yield f"{key}: missing, in the domain and for the whole file"
    for name in sorted({name for one in texts for name in placeholders(one)} - _OF_POLICY):
        yield f"{key}: unknown placeholder {{{{{name}}}}}; there are {', '.join(sorted(_OF_POLICY))}"


def _scenario_rules(rubric: Rubric) -> Iterator[str]:
    dimensions = {d.name: d for d in rubric.dimensions}
    for rule in rubric.scenario_rules:
        key = f"scenario_rules.{rule.name}"
        yield from _pattern(f"{key}.scenario", rule.scenario)
        yield from _pattern(f"{key}.reply", rule.reply)
        dimension = dimensions.get(rule.dimension)
        if dimension is None:
            yield f"{key}.dimension: there is no dimension {rule.dimension!r}"
        elif not dimension.scale.low <= rule.at_most <= dimension.scale.high:
            yield f"{key}.at_most: {rule.at_most:g} is not on the scale of {dimension.scale}"
    names = (rule.name for rule in rubric.scenario_rules)
    yield from _twice("scenario_rules.{}: a rule of that name exists already", names)


def _pattern(key: str, pattern: str) -> Iterator[str]:
    try:
        re.compile(pattern)
    except re.error as error:
        yield f"{key}: not a regular expression: {error}"


def _recent(rubric: Rubric) -> Iterator[str]:
    for name, value, least in (("turns", rubric.recent.turns, 1), ("chars", rubric.recent.chars, 0)):
        if value is not None and rubric.level != "turn":
            yield f"recent.{name}: a rubric of the level {rubric.level!r} shows all of the dialogue"
        elif value is not None and value < least:
            yield f"recent.{name}: {value}; give {least} or more"


def _criteria(rubric: Rubric) -> Iterator[str]:
    in_shows = "criteria" in rubric.shows
    if in_shows != bool(rubric.criteria):
        yield "criteria: named in shows, but none is stated" if in_shows else "criteria: stated, not in shows"
    for number, criteria in enumerate(rubric.criteria, 1):
        yield from _pattern(f"criteria[{number}].scenario", criteria.scenario)
    if rubric.criteria and rubric.criteria[-1].scenario:
        yield "criteria: the last one must fit every scenario: leave its pattern out"


def _task(rubric: Rubric) -> Iterator[str]:
    if ("task" in rubric.shows) != bool(rubric.task):
        yield "task: stated, not in shows" if rubric.task else "task: named in shows, but no field is stated"
    yield from _twice("task: {!r} is named twice", rubric.task)
    for x in rubric.items:
        if x.each_of and x.each_of not in rubric.task:
            yield f"items.{x.name}.each_of: {x.each_of!r} is not one of the fields that `task` names"


def _twice(fault: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the fault, with its `{}` filled, of each name that is there more than once."""
    yield from (fault.format(name) for name, count in Counter(names).items() if count > 1)


def _languages(rubric: Rubric) -> Iterator[str]:
    if not rubric.languages:
        yield "languages: empty; state at least one, as ['en']"
    yield from _twice("languages: {!r} is stated twice", rubric.languages)


def _dimension_list(rubric: Rubric) -> Iterator[str]:
    if rubric.level == "pair" and rubric.labels:
        return  # who is better may be all that is asked
    if not rubric.dimensions:
        yield "dimensions: empty; a rubric scores at least one"
    elif not rubric.at(rubric.level):
        yield f"dimensions: none at the rubric's own level, {rubric.level!r}"
    names = (d.name for d in rubric.dimensions)
    yield from _twice("dimensions.{}: a dimension of that name exists already", names)


def _scale_fault(scale: Scale) -> str | None:
    if scale.low >= scale.high:
        return f"low ({scale.low:g}) must be below high ({scale.high:g})"
    if scale.high - scale.low < _SHORTEST:
        return f"low and high are less than {_SHORTEST:g} apart"
    if max(abs(scale.low), abs(scale.high)) > _FARTHEST:
        return f"{scale} reaches beyond {_FARTHEST:g}"
    if scale.integer and not (_whole(scale.low) and _whole(scale.high)):
        return f"the ends of a scale of whole numbers must be whole, not {scale}"
    if scale.integer and scale.high - scale.low > _MOST_SCORES:
        return f"{scale} has over {_MOST_SCORES:,} whole scores; write integer = false"
    return None


def _dimension(d: Dimension, rubric: Rubric) -> Iterator[str]:
    key = f"dimensions.{d.name}"
    over_turns = rubric.level == "turn" and d.level == "conversation" and d.computed
    if d.level not in _LEVELS[rubric.level] and not over_turns:
        allowed = " or ".join(_LEVELS[rubric.level])
        yield f"{key}.level: {d.level!r}, but a rubric of the level {rubric.level!r} scores {allowed}"
    if (fault := _scale_fault(d.scale)) is not None:
        yield f"{key}.scale: {fault}"
        return
    yield from _mean_of(d, rubric)
    yield from _turn_mean_of(d, rubric)
    off = {score for anchors in d.anchors.values() for score in anchors if not _on(d.scale, score)}
    for score in sorted(off):
        yield f"{key}.anchors.{score:g}: off the scale {d.scale}"
    for lang in sorted(set(d.anchors) - set(rubric.languages)):
        yield f"{key}.anchors.{lang}: the rubric does not state the language {lang!r}"


def _mean_of(d: Dimension, rubric: Rubric) -> Iterator[str]:
    key = f"dimensions.{d.name}.mean_of"
    asked = {other.name: other for other in rubric.at(d.level) if not other.mean_of}
    for name in d.mean_of:
        if name not in asked:
            yield f"{key}: {name!r} is not a dimension that is asked at the level {d.level!r}"
        elif not _averages(asked[name].scale, d.scale):
            yield f"{key}: {name!r} has another scale"
    yield from _twice(f"{key}: {{!r}} is named twice", d.mean_of)


def _turn_mean_of(d: Dimension, rubric: Rubric) -> Iterator[str]:
    if d.turn_mean_of is None:
        return
    key = f"dimensions.{d.name}.turn_mean_of"
    turn = next((other for other in rubric.asked("turn") if other.name == d.turn_mean_of), None)
    if rubric.level != "turn" or d.level != "conversation":
        yield f"{key}: only a dimension of the level 'conversation' in a rubric of the level 'turn' has one"
    elif turn is None:
        yield f"{key}: {d.turn_mean_of!r} is not a dimension that is asked at the level 'turn'"
    elif not _averages(turn.scale, d.scale):
        yield f"{key}: {d.turn_mean_of!r} has another scale"
    if d.mean_of:
        yield f"{key}: the dimension is also a mean of others; it can be one of them"


def _averages(scale: Scale, mean: Scale) -> bool:
    """Whether a mean of scores of one scale is on the other: the same ends, perhaps fractions between."""
    return mean == scale or mean == replace(scale, integer=False)


def _on(scale: Scale, score: float) -> bool:
    return scale.low <= score <= scale.high and (_whole(score) or not scale.integer)


def _whole(number: float) -> bool:
    return float(number).is_integer()


def _weights(rubric: Rubric) -> Iterator[str]:
    stated = [d for d in rubric.dimensions if d.weight is not None]
    for d in stated:
        if d.weight is not None and not 0 <= d.weight < float("inf"):
            yield f"dimensions.{d.name}.weight: {d.weight:g}; a weight is 0 or more"
    for level in dict.fromkeys(d.level for d in stated):
        group = rubric.at(level)
        if sum(d.weight or 0 for d in group) == 0:
            yield f"dimensions.weight: the weights at the level {level!r} sum to nothing"
        if len({d.scale for d in group if d.weight}) > 1:
            yield f"dimensions.weight: the dimensions at the level {level!r} have different scales"


def _reply(rubric: Rubric) -> Iterator[str]:
    if rubric.level == "turn":
        for name in ("decision_basis", "weakest_turn", "verdict"):
            if getattr(rubric.reply, name):
                yield f"reply.{name}: a rubric of the level 'turn' has none"
    if rubric.reply.verdict and rubric.verdict is None:
        yield "reply.verdict: asks the model for a verdict, but there is no [verdict] table"
    if rubric.reply.verdict and rubric.verdict is not None and not rubric.verdict.text:
        yield "verdict.text: missing; the model is asked for a verdict and must know the rule"


def _shows(rubric: Rubric) -> Iterator[str]:
    yield from _twice("shows: {!r} is named twice", rubric.shows)
    for name in rubric.shows:
        if name not in SHOWABLE:
            yield f"shows: {name!r} is unknown; there are {', '.join(SHOWABLE)}"
        elif rubric.level not in SHOWABLE[name]:
            yield f"shows: there is no {name!r} at the level {rubric.level!r}"


def _names(rubric: Rubric) -> Iterator[str]:
    names = [x.name for x in rubric.labels] + [x.name for x in rubric.items]
    yield from _twice("labels, items: the name {!r} is used twice", names)
    for name in names:
        if name in _RESERVED:
            yield f"labels, items: the name {name!r} is a field of every reply; choose another"


def _label(label: Label, rubric: Rubric) -> Iterator[str]:
    key = f"labels.{label.name}"
    if not label.options:
        yield f"{key}.options: empty"
    words = (word for o in label.options for word in (o.name, *o.spellings))
    yield from _twice(f"{key}.options.{{}}: an option of that name exists already", words)
    if label.level not in _LEVELS[rubric.level]:
        yield f"{key}.level: {label.level!r} is not scored by a rubric of the level {rubric.level!r}"
    if label.of is None:
        return
    of = next((d for d in rubric.asked(label.level) if d.name == label.of), None)
    if of is None:
        yield f"{key}.of: {label.of!r} is not a dimension that is asked at the level {label.level!r}"
    else:
        yield from _fitting(label, of.scale)


def _fitting(label: Label, scale: Scale) -> Iterator[str]:
    key = f"labels.{label.name}.options"
    for option in label.options:
        if option.fits and not all(_on(scale, end) for end in option.fits):
            yield f"{key}.{option.name}.fits: off the scale {scale}"
    for score in range(int(scale.low), int(scale.high) + 1) if scale.integer else ():
        if not any(o.fits is None or o.fits[0] <= score <= o.fits[1] for o in label.options):
            yield f"{key}: none fits the score {score}"


def _quoted(items: ItemList, rubric: Rubric, names: Sequence[str]) -> Iterator[str]:
    key = f"items.{items.name}.quoted"
    unknown = [name for name in items.quoted if name not in names]
    yield from (f"{key}: {name!r} is not one of the options {', '.join(names)}" for name in unknown)
    if items.quoted and rubric.level != "turn":
        yield f"{key}: only a rubric of the level turn looks quotes up"


def _items(items: ItemList, rubric: Rubric) -> Iterator[str]:
    key = f"items.{items.name}"
    names = [o.name for o in items.options]
    yield from _twice(f"{key}.options.{{}}: an option of that name exists already", names)
    for name, worth in items.worth.items():
        if name not in names:
            yield f"{key}.worth.{name}: not one of the options {', '.join(names)}"
        elif not 0 <= worth <= 1:
            yield f"{key}.worth.{name}: {worth:g}; an item is worth 0 to 1"
    yield from _quoted(items, rubric, names)
    d = next((d for d in rubric.at(items.level) if d.name == items.dimension), None)
    if d is None:
        yield f"{key}.dimension: there is no dimension {items.dimension!r} at the level {items.level!r}"
    if items.adds_up or any(o.weight is not None for o in items.options):
        yield from _criteria_list(items, d, rubric)
        return
    if not items.worth:
        yield f"{key}.worth: empty; nothing could be computed: give it, or a base and weights of options"
    if not items.key:
        yield f"{key}.key: missing; it names the text of an item in the reply"
    if items.holistic:
        yield f"{key}.holistic: only criteria that add up have a holistic score beside them"
    if d is None:
        return
    if d.scale.integer or (d.scale.low, d.scale.high) != (0, 1) or not d.allow_na:
        yield (
            f"dimensions.{d.name}: computed from {items.name} as a share, so it needs "
            "scale = { low = 0, high = 1, integer = false } and allow_na = true"
        )


def _criteria_list(items: ItemList, d: Dimension | None, rubric: Rubric) -> Iterator[str]:
    """Check a list of criteria that add up; of worth and weights a list has one."""
    key = f"items.{items.name}"
    for name, value in (("worth", items.worth), ("key", items.key), ("quoted", items.quoted)):
        if value:
            yield f"{key}.{name}: this is for items with a worth; here options have weights: leave one out"
    if rubric.level == "pair":
        yield f"{key}: criteria that add up are for turns and conversations, not for pairs"
    if not any(o.weight for o in items.options):
        yield f"{key}.options: none has a weight other than 0; nothing could be added up"
    if items.base is None:
        yield f"{key}.base: missing; the weights of the options are added to it"
    elif d is not None and not d.scale.low <= items.base <= d.scale.high:
        yield f"{key}.base: {items.base:g} is off the scale {d.scale} of {d.name}"
    if d is not None and d.scale.integer:
        yield f"dimensions.{d.name}.scale: added up from {items.name}, so it needs integer = false"
    if d is not None and (d.mean_of or d.turn_mean_of):
        yield f"{key}.dimension: {d.name!r} is a mean of other scores already"


def _verdict(rubric: Rubric) -> Iterator[str]:
    rule = rubric.verdict
    if rule is None:
        return
    if rule.rule == "card":
        for level, names in _CARD.items():
            for name in names:
                if not any(d.name == name and d.scale == ONE_TO_FIVE for d in rubric.at(level)):
                    yield f"verdict.rule: 'card' needs {name!r} at the level {level!r} on the scale 1-5"
        return
    if not rule.at_least:
        yield "verdict.at_least: empty; name at least one class, as { SAT = 4, DSAT = 1 }"
        return
    verdicts = [name for name in rule.at_least if name in get_args(Verdict)]
    if verdicts and len(verdicts) < len(rule.at_least):
        yield "verdict.at_least: use names of your own, or only excellent, good, borderline, poor"
    yield from _thresholds(rule, rubric)


def _thresholds(rule: VerdictRule, rubric: Rubric) -> Iterator[str]:
    if rule.dimension is None:
        scales = {d.scale for d in rubric.at(rubric.level) if d.weight is None or d.weight > 0}
        if len(scales) != 1:
            yield "verdict.dimension: missing, and the scales differ: name the dimension that decides"
            return
        scale = scales.pop()
    else:
        d = next((d for d in rubric.at(rubric.level) if d.name == rule.dimension), None)
        if d is None:
            yield f"verdict.dimension: no dimension {rule.dimension!r} at the level {rubric.level!r}"
            return
        scale = d.scale
    for name, score in rule.at_least.items():
        if not scale.low <= score <= scale.high:
            yield f"verdict.at_least.{name}: off the scale {scale}"
    if min(rule.at_least.values()) > scale.low:
        yield f"verdict.at_least: scores below {min(rule.at_least.values()):g} have no class"


def _template(rubric: Rubric, language: str) -> Iterator[str]:
    key = f"template.{language}"
    template = rubric.templates[language]
    above = placeholders(template.instructions)
    used = {*above, *placeholders(template.data)}
    for name in sorted(used - set(BUILT_IN) - set(rubric.shows)):
        hint = "; name it in shows" if name in SHOWABLE else ""
        yield f"{key}: unknown placeholder {{{{{name}}}}}{hint}"
    needed = [*rubric.shows, "dimensions", "reply_format"]
    needed += ["asked"] if rubric.level in ("conversation", "window") else []
    needed += ["examples"] if any(e.language in (None, language) for e in rubric.examples) else []
    for name in dict.fromkeys(needed):
        if name not in used:
            yield f"{key}: {{{{{name}}}}} is declared but not used"
    for name in above:
        if name in SHOWABLE and name != "source":
            yield f"{key}: {{{{{name}}}}} stands above the data line; data belongs below it"
