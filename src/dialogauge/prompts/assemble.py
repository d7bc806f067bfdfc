"""From the parsed file to the checked `Rubric`: every language filled in, then the checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dialogauge.core.errors import Place, RubricError
from dialogauge.core.judgement import Level
from dialogauge.core.scales import Scale
from dialogauge.prompts.checks import faults_of
from dialogauge.prompts.rubric import (
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
    Template,
    VerdictRule,
)

if TYPE_CHECKING:
    from dialogauge.prompts.rubric_file import (
        DimensionFile,
        ItemListFile,
        LabelFile,
        OptionFile,
        ReplyFile,
        RubricFile,
        VerdictFile,
    )

__all__ = ["assemble"]


def assemble(
    file: RubricFile, templates: Mapping[str, Template], content: Mapping[str, Any], path: str
) -> Rubric:
    """Build the rubric from the parsed file; RubricError with every fault found."""
    try:
        rubric = _build(file, templates, content)
    except _Fault as fault:
        raise RubricError(str(fault), place=Place(path), hint="see docs/rubrics.md") from fault
    faults = faults_of(rubric)
    if faults:
        raise RubricError("; ".join(faults), place=Place(path), hint="see docs/rubrics.md")
    return rubric


class _Fault(ValueError):
    """A key and a reason, before the file's name is known."""


def _build(file: RubricFile, templates: Mapping[str, Template], content: Mapping[str, Any]) -> Rubric:
    langs = tuple(file.languages)
    computed = {i.dimension for i in file.items}
    return Rubric(
        id=file.id,
        version=str(file.version),
        level=file.level,
        languages=langs,
        shows=tuple(file.shows),
        dimensions=tuple(
            _dimension(d, file.level, langs, computed=d.name in computed) for d in file.dimensions
        ),
        labels=tuple(_label(x, file.level, langs) for x in file.labels),
        items=tuple(_items(x, file.level, langs) for x in file.items),
        reply=_reply(file.reply, file.level),
        verdict=_verdict(file.verdict, langs),
        examples=tuple(Example(e.id, e.language, e.text, e.answer) for e in file.examples),
        templates=dict(templates),
        content=content,
        scenario_rules=tuple(
            ScenarioRule(r.name, r.scenario, r.reply, r.dimension, r.at_most) for r in file.scenario_rules
        ),
        recent=Recent(file.recent.turns, file.recent.chars),
        criteria=tuple(
            Criteria(c.scenario, _by_language(c.text, langs, f"criteria[{n}].text"))
            for n, c in enumerate(file.criteria, 1)
        ),
    )


def _dimension(d: DimensionFile, level: Level, langs: Sequence[str], *, computed: bool) -> Dimension:
    scale = Scale(d.scale.low, d.scale.high, d.scale.integer, d.scale.higher_is_better)
    key = f"dimensions.{d.name}"
    return Dimension(
        name=d.name,
        level=d.level or level,
        scale=scale,
        allow_na=d.allow_na,
        weight=d.weight,
        rollup=d.rollup,
        computed=computed,
        description=_by_language(d.description, langs, f"{key}.description"),
        anchors=_anchors(d.anchors, langs, f"{key}.anchors"),
    )


def _by_language(text: str | Mapping[str, str], langs: Sequence[str], key: str) -> dict[str, str]:
    if isinstance(text, str):
        return dict.fromkeys(langs, text)
    missing = [lang for lang in langs if lang not in text]
    if missing:
        msg = f"{key}: missing for the language {missing[0]!r}"
        raise _Fault(msg)
    return dict(text)


def _anchors(
    anchors: Mapping[str, str | Mapping[str, str]], langs: Sequence[str], key: str
) -> dict[str, dict[float, str]]:
    """Read `{score: text}`, `{score: {language: text}}` or `{language: {score: text}}`."""
    out: dict[str, dict[float, str]] = {lang: {} for lang in langs}
    for name, value in anchors.items():
        if name in out and not isinstance(value, str):
            out[name].update({_score(score, f"{key}.{name}"): text for score, text in value.items()})
        else:
            for lang, text in _by_language(value, langs, f"{key}.{name}").items():
                out.setdefault(lang, {})[_score(name, key)] = text
    return out


def _score(text: str, key: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        msg = f"{key}.{text}: an anchor stands at a score, and {text!r} is not a number"
        raise _Fault(msg) from error


def _option(option: OptionFile, langs: Sequence[str], key: str) -> Option:
    description = _by_language(option.description, langs, f"{key}.{option.name}.description")
    spellings = tuple(option.spellings)
    if option.fits is None:
        return Option(option.name, description, spellings=spellings)
    if len(option.fits) != 2 or option.fits[0] > option.fits[1]:
        msg = f"{key}.{option.name}.fits: give the lowest and the highest fitting score, as [1, 3]"
        raise _Fault(msg)
    return Option(option.name, description, (option.fits[0], option.fits[1]), spellings)


def _label(label: LabelFile, level: Level, langs: Sequence[str]) -> Label:
    key = f"labels.{label.name}"
    return Label(
        name=label.name,
        level=label.level or level,
        of=label.of,
        options=tuple(_option(o, langs, key) for o in label.options),
        description=_by_language(label.description, langs, f"{key}.description"),
    )


def _items(items: ItemListFile, level: Level, langs: Sequence[str]) -> ItemList:
    key = f"items.{items.name}"
    return ItemList(
        name=items.name,
        level=items.level or level,
        key=items.key,
        options=tuple(_option(o, langs, key) for o in items.options),
        worth=dict(items.worth),
        dimension=items.dimension,
        description=_by_language(items.description, langs, f"{key}.description"),
    )


def _reply(reply: ReplyFile, level: Level) -> ReplyShape:
    return ReplyShape(
        note=reply.note if reply.note is not None else level == "turn",
        issues=reply.issues,
        evidence=reply.evidence,
        decision_basis=reply.decision_basis,
        weakest_turn=reply.weakest_turn,
        verdict=reply.verdict,
        quoted_scores=reply.quoted_scores,
    )


def _verdict(verdict: VerdictFile | None, langs: Sequence[str]) -> VerdictRule | None:
    if verdict is None:
        return None
    text = {} if verdict.text is None else _by_language(verdict.text, langs, "verdict.text")
    return VerdictRule(verdict.rule, verdict.dimension, dict(verdict.at_least), text)
