"""Rubric files: found by name or path, parsed, checked, and converted to records."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from dialogauge.core.errors import Place, RubricError
from dialogauge.core.files import read_text
from dialogauge.core.judgement import Level
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.scores import Scale
from dialogauge.rubrics.checks import faults_of, policy_faults
from dialogauge.rubrics.rubric import (
    Calls,
    Dimension,
    ItemList,
    Label,
    Option,
    Recent,
    ReplyShape,
    Rubric,
    ScenarioCriteria,
    ScenarioRule,
    Template,
    VerdictRule,
    WorkedExample,
)
from dialogauge.rubrics.templates import DomainPolicy, Policies, own_template, phrase

DATA_LINE = "<!-- data -->"
"""The line of a template between the instructions (the system message) and the data."""
GUARD_LINE = "<!-- guard -->"
"""The line of a template where a guarded rubric says what sessions fail on; another leaves it out."""

_FILES = Path(__file__).parent / "files"
_SEE = "see docs/rubrics.md"


def shipped_rubrics() -> tuple[str, ...]:
    """Return the names of the package's rubrics, sorted."""
    return tuple(sorted(p.stem for p in (_FILES / "rubrics").glob("*.toml")))


def load_rubric(name_or_path: str | Path) -> Rubric:
    """Load and check a rubric.

    Args:
        name_or_path: The name of a shipped rubric, or the path of a `.toml` file. Its templates are in the
            file (`template`) or beside it, one Markdown file per language: `NAME.en.md`.

    Raises:
        RubricError: The file or a template is missing or wrong, with file, key and reason.
    """
    path = _find(name_or_path)
    return replace(_loaded(path, parsed(path)), origin=str(name_or_path))


def load_personal(name: str, *, guarded: bool = False) -> Rubric:
    """Load a rubric of `dialogauge satisfaction`, by the stem of its file (`zero_shot`).

    Guarded, it is called `NAME_guarded`, and has the failed condition named before the score.
    """
    path = _FILES / "personal" / f"{name}.toml"
    content = parsed(path)
    if guarded:
        content |= {"id": f"{content['id']}_guarded", "guard": True}
    return replace(_loaded(path, content), origin=str(path))


def load_policies(name_or_path: str | Path = "booking") -> Policies:
    """Load and check a policy file: a shipped one by its name, or one of the user's by its path.

    Raises:
        RubricError: The file is missing or wrong, with file, key and reason.
    """
    path = _FILES / "policies" / f"{name_or_path}.toml"
    path = path if path.exists() else Path(name_or_path)
    content = parsed(path, "policy file")
    file = _validate(path, content, PolicyFile)
    domains = tuple(
        DomainPolicy(
            d.name,
            d.calls,
            file.threshold if d.threshold is None else d.threshold,
            file.text if d.text is None else d.text,
            d.slots,
        )
        for d in file.domains
    )
    if faults := list(policy_faults(domains)):
        # The line that a fault `domains.NAME.key: reason` is about.
        text = _read(path, "policy file")
        _, *key = faults[0].partition(":")[0].split(".")
        positions = {domain.name: number for number, domain in enumerate(domains)}
        last = len(domains) - 1
        line = line_of(text, ("domains", positions.get(key[0], last) if key else last, *key[1:]))
        raise RubricError("; ".join(faults), place=Place(str(path), line), hint=_SEE)
    return Policies(domains)


def _loaded(path: Path, content: dict[str, Any]) -> Rubric:
    file = _validate(path, content, RubricFile)
    if file.guard:
        content["labels"] = [parsed(_FILES / "guard.toml"), *content.get("labels", ())]
        file = _validate(path, content, RubricFile)
    templates = {lang: split_template(_template_text(path, file, lang)) for lang in file.languages}
    for key in (
        "template",
        "guard",
        "scenario_rules",
    ):  # rules are used after judging: they change no judgement
        content.pop(key, None)
    for dimension in content.get("dimensions", ()):
        dimension.pop("title", None)  # only people read it
    return _assemble(file, templates, content, path)


def split_template(text: str) -> Template:
    """Split a template at its data line; without one, everything is data."""
    above, line, below = text.partition(f"\n{DATA_LINE}\n")
    if not line:
        return Template(instructions="", data=text.strip())
    return Template(instructions=above.strip(), data=below.strip())


def _find(name_or_path: str | Path) -> Path:
    text = str(name_or_path)
    if text in shipped_rubrics():
        return _FILES / "rubrics" / f"{text}.toml"
    path = Path(text)
    if path.suffix == ".toml" or path.exists():
        return path
    names = ", ".join(shipped_rubrics())
    msg = f"there is no rubric {text!r}"
    raise RubricError(msg, hint=f"shipped: {names}; or give the path of a .toml file")


def _read(path: Path, what: str) -> str:
    text = read_text(path, what, RubricError, "check the path", again=True)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parsed(path: Path, what: str = "rubric file", hint: str = _SEE) -> dict[str, Any]:
    """Read a TOML file; RubricError with file and line where it is none."""
    text = _read(path, what)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        number = re.search(r"line (\d+)", str(error))
        line = int(number.group(1)) if number else text.count("\n") + 1
        msg = f"not valid TOML: {error}"
        raise RubricError(msg, place=Place(str(path), line), hint=hint) from error


def _validate(path: Path, content: dict[str, Any], kind: type[F]) -> F:
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        faults = dict.fromkeys(
            _fault(detail["loc"], detail["type"], detail["msg"]) for detail in error.errors()
        )
        line = line_of(_read(path, "file"), error.errors()[0]["loc"])
        raise RubricError("; ".join(faults), place=Place(str(path), line), hint=_SEE) from error


def _fault(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    key = ""
    for part in loc:
        if isinstance(part, int):
            key += f"[{part + 1}]"
        elif re.fullmatch(r"[A-Za-z0-9_.-]+", part) and part not in ("str", "int", "dict"):
            key += f".{part}" if key else part
    reason = {
        "extra_forbidden": "unknown key",
        "missing": "missing",
        "string_pattern_mismatch": "not a plain name (lower-case letters, digits, underscores)",
    }.get(kind, message[:1].lower() + message[1:])
    return f"{key}: {reason}"


def _template_text(path: Path, file: RubricFile, language: str) -> str:
    """Return a template, with the guard's section or without its line."""
    above, line, below = _written_template(path, file, language).partition(f"\n{GUARD_LINE}\n")
    if file.guard and not line:
        msg = f"template.{language}: the rubric is guarded, and the line {GUARD_LINE} is missing"
        raise RubricError(msg, place=Place(str(path)), hint="put it where the conditions are to stand")
    section = f"\n{own_template('guard', language)}\n" if file.guard else ""
    return f"{above}{section}{below}"


def _written_template(path: Path, file: RubricFile, language: str) -> str:
    if isinstance(file.template, str):
        return file.template
    if file.template is not None and language in file.template:
        return file.template[language]
    beside = path.with_name(f"{path.stem}.{language}.md")
    if not beside.exists():
        msg = f"template.{language}: missing; the rubric states the language {language!r}"
        hint = f"write {beside.name} beside it, or template.{language} in the file"
        raise RubricError(msg, place=Place(str(path)), hint=hint)
    return _read(beside, "template")


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
LevelName = Literal["turn", "window", "conversation", "pair"]
Text = str | dict[Language, str]
"""One wording for all languages, or one for each."""
F = TypeVar("F", bound=BaseModel)
R = TypeVar("R", Dimension, Label, ItemList, Option)


class _TomlTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class ScaleFile(_TomlTable):
    """`scale = { low = 1, high = 5 }`."""

    low: float = 1
    high: float = 5
    integer: bool = True
    higher_is_better: bool = True


class DescribedFile(_TomlTable):
    """What every table with a name and a description has."""

    name: Name
    description: Text


class DimensionFile(DescribedFile):
    """One `[[dimensions]]` table."""

    level: LevelName | None = None
    scale: ScaleFile = ScaleFile()
    allow_na: bool = False
    weight: float | None = None
    rollup: Literal["pulled_mean", "outcome", "minimum", "mean"] = "pulled_mean"
    title: Text | None = None
    mean_of: list[Name] = []
    turn_mean_of: Name | None = None
    anchors: dict[str, Text | dict[str, str]] = {}
    """`{ 1 = "...", 5 = "..." }` or one such table for each language."""


class OptionFile(DescribedFile):
    """One `options` table of a label."""

    fits: list[float] | None = None
    spellings: list[str] = []


class ItemOptionFile(OptionFile):
    """One `options` table of an item list."""

    weight: float | None = None


class LabelFile(DescribedFile):
    """One `[[labels]]` table."""

    level: LevelName | None = None
    of: Name | None = None
    first: bool = False
    options: list[OptionFile]


class ItemListFile(DescribedFile):
    """One `[[items]]` table."""

    level: LevelName | None = None
    key: Name = ""
    dimension: Name
    options: list[ItemOptionFile]
    worth: dict[Name, float] = {}
    quoted: list[Name] = []
    base: float | None = None
    holistic: bool = False
    each_of: str = ""


class ReplyFile(_TomlTable):
    """The `[reply]` table: the fields beside the scores."""

    note: bool | None = None
    notes: bool = False
    issues: bool = False
    evidence: bool = False
    decision_basis: bool = False
    weakest_turn: bool = False
    verdict: bool = False
    quoted_scores: bool = False


class RecentFile(_TomlTable):
    """The `[recent]` table."""

    turns: int | None = None
    chars: int | None = None


class CriteriaFile(_TomlTable):
    """One `[[criteria]]` table."""

    scenario: str = ""
    text: Text


class VerdictFile(_TomlTable):
    """The `[verdict]` table."""

    rule: Literal["card", "thresholds"]
    dimension: Name | None = None
    at_least: dict[str, float] = {}
    text: Text | None = None


class ExampleFile(_TomlTable):
    """One `[[examples]]` table."""

    id: str
    language: Language | None = None
    text: str
    answer: str


class ScenarioRuleFile(_TomlTable):
    """One `[[scenario_rules]]` table."""

    name: Name
    scenario: str
    reply: str
    dimension: Name
    at_most: float


class RubricFile(_TomlTable):
    """The whole file."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    version: str | int
    level: LevelName
    languages: list[Language]
    shows: list[str]
    guard: bool = False
    dimensions: list[DimensionFile] = []
    labels: list[LabelFile] = []
    items: list[ItemListFile] = []
    reply: ReplyFile = ReplyFile()
    verdict: VerdictFile | None = None
    examples: list[ExampleFile] = []
    scenario_rules: list[ScenarioRuleFile] = []
    recent: RecentFile = RecentFile()
    criteria: list[CriteriaFile] = []
    calls: Calls = "joint"
    task: list[str] = []
    task_optional: bool = False
    windows: bool = True
    template: Text | None = None


class PolicyDomainFile(_TomlTable):
    """One `[[domains]]` table of a policy file."""

    name: Name
    calls: str = ""
    threshold: int | None = None
    text: Text | None = None
    slots: dict[Name, Text] = {}


class PolicyFile(_TomlTable):
    """A whole policy file."""

    threshold: int = 10
    text: Text = ""
    domains: list[PolicyDomainFile]


class _RubricFault(ValueError):
    """A key and a reason, without the file's name."""


def _assemble(
    file: RubricFile, templates: Mapping[str, Template], content: Mapping[str, Any], path: Path
) -> Rubric:
    """Build the rubric from the parsed file; a `RubricError` names every fault."""
    computed = {items.dimension for items in file.items}
    computed |= {d.name for d in file.dimensions if d.mean_of or d.turn_mean_of}
    try:
        dimensions = tuple(_dimension(d, file, computed=d.name in computed) for d in file.dimensions)
        items = tuple(
            _record(
                ItemList,
                x,
                file,
                f"items.{x.name}",
                quoted=tuple(x.quoted),
                holistic=f"{x.dimension}_holistic" if x.holistic else None,
            )
            for x in file.items
        )
        rubric = Rubric(
            id=file.id,
            version=str(file.version),
            level=file.level,
            languages=tuple(file.languages),
            shows=tuple(file.shows),
            dimensions=(*dimensions, *_holistic(items, dimensions)),
            labels=tuple(_record(Label, x, file, f"labels.{x.name}") for x in file.labels),
            items=items,
            reply=_reply(file.reply, file.level),
            verdict=_verdict(file.verdict, file.languages),
            examples=tuple(WorkedExample(**dict(e)) for e in file.examples),
            templates=dict(templates),
            content=content,
            scenario_rules=tuple(ScenarioRule(**dict(rule)) for rule in file.scenario_rules),
            recent=Recent(**dict(file.recent)),
            criteria=tuple(
                ScenarioCriteria(c.scenario, _by_language(c.text, file.languages, f"criteria[{n}].text"))
                for n, c in enumerate(file.criteria, 1)
            ),
            calls=file.calls,
            task=tuple(file.task),
            task_optional=file.task_optional,
            windows=file.windows,
        )
    except _RubricFault as fault:
        raise RubricError(str(fault), place=Place(str(path), _line(path, str(fault))), hint=_SEE) from fault
    faults = faults_of(rubric)
    if faults:
        raise RubricError("; ".join(faults), place=Place(str(path), _line(path, faults[0])), hint=_SEE)
    return rubric


def _line(path: Path, fault: str) -> int | None:
    """Return the line of the key, else of the table, that a fault `items.NAME.key: reason` names."""
    text = _read(path, "rubric file")
    table: Any = tomllib.loads(text)
    keys: list[int | str] = []
    for word in re.findall(r"[\w-]+", fault.partition(":")[0]):
        key: int | str = word
        if isinstance(table, list):
            names = [row.get("name") if isinstance(row, dict) else None for row in table]
            at = names.index(word) if word in names else int(word) - 1 if word.isdecimal() else -1
            if not 0 <= at < len(table):
                break
            table, key = table[at], at
        else:
            table = table.get(word) if isinstance(table, dict) else None
        keys.append(key)
    return line_of(text, keys)


def _record(kind: type[R], table: DescribedFile, file: RubricFile, key: str, **of_its_own: object) -> R:
    """Make the record of a table: described in every language, at the rubric's level where it names none."""
    values = dict(table) | of_its_own
    if "level" in values:
        values["level"] = values["level"] or file.level
    if "options" in values:
        values["options"] = tuple(_option(o, file, f"{key}.{o.name}") for o in values["options"])
    values["description"] = _by_language(table.description, file.languages, f"{key}.description")
    return kind(**values)


def _dimension(d: DimensionFile, file: RubricFile, *, computed: bool) -> Dimension:
    key = f"dimensions.{d.name}"
    anchors = _anchors(d.anchors, file.languages, f"{key}.anchors")
    title = _by_language(d.title or d.name.replace("_", " "), file.languages, f"{key}.title")
    of_its_own = {"scale": Scale(**dict(d.scale)), "anchors": anchors, "title": title, "computed": computed}
    of_its_own["mean_of"] = tuple(d.mean_of)
    return _record(Dimension, d, file, key, **of_its_own)


def _holistic(items: Sequence[ItemList], dimensions: Sequence[Dimension]) -> Iterator[Dimension]:
    """Yield the dimensions that the model scores beside criteria: the same question, in whole numbers."""
    by_name = {d.name: d for d in dimensions}
    for x in items:
        d = by_name.get(x.dimension)
        if x.holistic is not None and d is not None:
            whole = float(d.scale.low).is_integer() and float(d.scale.high).is_integer()
            title = {lang: phrase(lang, "holistic_title", title=text) for lang, text in d.title.items()}
            scale = replace(d.scale, integer=whole)
            yield replace(d, name=x.holistic, scale=scale, weight=None, computed=False, title=title)


def _option(option: OptionFile, file: RubricFile, key: str) -> Option:
    fits = None if option.fits is None else tuple(option.fits)
    if fits is not None and (len(fits) != 2 or fits[0] > fits[1]):
        msg = f"{key}.fits: give the lowest and the highest fitting score, as [1, 3]"
        raise _RubricFault(msg)
    return _record(Option, option, file, key, fits=fits, spellings=tuple(option.spellings))


def _by_language(text: str | Mapping[str, str], langs: Sequence[str], key: str) -> dict[str, str]:
    if isinstance(text, str):
        return dict.fromkeys(langs, text)
    missing = [lang for lang in langs if lang not in text]
    if missing:
        msg = f"{key}: missing for the language {missing[0]!r}"
        raise _RubricFault(msg)
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
        raise _RubricFault(msg) from error


def _reply(reply: ReplyFile, level: Level) -> ReplyShape:
    note = level == "turn" and not reply.notes if reply.note is None else reply.note
    return ReplyShape(**{**dict(reply), "note": note})


def _verdict(verdict: VerdictFile | None, langs: Sequence[str]) -> VerdictRule | None:
    if verdict is None:
        return None
    text = {} if verdict.text is None else _by_language(verdict.text, langs, "verdict.text")
    return VerdictRule(verdict.rule, verdict.dimension, dict(verdict.at_least), text)


_TABLE: Final = lazy_pattern(r"\s*(\[\[?)\s*([\w.-]+)\s*\]")
_KEY: Final = lazy_pattern(r"\s*\"?([\w.-]+)\"?\s*=")


def line_of(text: str, path: Sequence[int | str]) -> int | None:
    """Return the line of a key, else of the innermost table around it; None where not even that is there.

    Args:
        text: The file.
        path: Keys from the outermost on, and positions from 0 within arrays of tables.
    """
    wanted, seen = tuple(path), Counter[tuple[int | str, ...]]()
    table: tuple[int | str, ...] = ()
    line, depth = None, 0
    for number, written in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(written):
            table = ()
            *outer, last = header[2].split(".")
            for name in outer:
                table += (name,) if not seen[(*table, name)] else (name, seen[(*table, name)] - 1)
            table += (last,)
            if header[1] == "[[":
                seen[table] += 1
                table += (seen[table] - 1,)
            here = table
        elif key := _KEY.match(written):
            here = (*table, *key[1].split("."))
        else:
            continue
        if len(here) > depth and here == wanted[: len(here)]:
            line, depth = number, len(here)
    return line
