"""Scenarios of sessions: a character to play or a service to give, and who comes to talk; read from a file.

A user persona may be missing: it is then made from the character by a model (`derive_persona`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from dialogauge.core import FileFault, Place, RecordFault, Usage, digest
from dialogauge.core.files import read_text, read_toml, shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import AgentFailure
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest
from dialogauge.rubrics import own_template, render, session_words
from dialogauge.text import has_chinese, split_reasoning, words

if TYPE_CHECKING:
    from pydantic import ValidationError

UserKind = Literal["passive", "goal", "adversarial"]
"""How a simulated user behaves: leaves the lead to the other side, wants something, puts it to the test."""

_LONGEST: Final = 20_000
"""Characters of a persona: what is longer is a book, and no model keeps it in mind."""


@dataclass(frozen=True, slots=True)
class UserRole:
    """Who talks with the candidate."""

    id: str
    kind: UserKind = "passive"
    persona: str | None = None
    """In the first person; None until it is made."""
    goal: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    """What the user knows, by name, and tells when asked for it."""
    patience: int | None = None
    """Messages without progress after which the user leaves."""
    opening: str | None = None
    """The first message, where it is fixed."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a session is about."""

    id: str
    kind: Literal["character", "task"]
    """Whether the candidate plays a character, or serves."""
    name: str
    text: str
    """Who the character is; of a task what the candidate is told, word for word."""
    user: UserRole
    greeting: str | None = None
    """What the candidate's side has said before anything else."""
    category: str | None = None
    real_person: bool = False
    mentions_user: bool | None = None
    """Whether the text says something of the user; None where nobody says."""
    stated_language: str | None = None

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language of the wording around it: what it states, else the script of its text."""
        stated = (self.stated_language or "")[:2]
        return "zh" if stated == "zh" or (not stated and has_chinese(self.text)) else "en"

    @property
    def instructions(self) -> str:
        """What the candidate is told, as the system message."""
        if self.kind == "task":
            return self.text
        template = own_template("session_character", self.language)
        return render(template, {"name": self.name, "text": self.text})

    @property
    def speaks_of_user(self) -> bool:
        """Whether the character's text says something of the person it talks with."""
        if self.mentions_user is not None:
            return self.mentions_user
        return _USER.search(self.text) is not None

    @property
    def digest(self) -> str:
        """Changes with anything that can change a session."""
        return digest([asdict(self), self.instructions])


_USER: Final = lazy_pattern(
    r"\{\{user\}\}|\byou(?:r|rs)?\b|\b(?:the|your) user\b|\{user\}|用户|你", re.IGNORECASE
)


# Reading


def read_scenarios(path: str) -> tuple[Scenario, ...]:
    """Read a file of scenarios: TOML (`[[scenario]]`), JSON (a list, or one under `scenarios` or `personas`)
    or a JSON object a line.

    Raises:
        FileFault: The file cannot be read, or holds no scenario.
        RecordFault: A scenario lacks something, has a key that is unknown, or an id that is taken.
    """
    entries = list(_entries(path))
    if not entries:
        msg = "the file has no scenario"
        raise FileFault(msg, place=Place(shown_path(path)), hint=_FORM)
    scenarios: dict[str, Scenario] = {}
    for place, entry in entries:
        scenario = scenario_of(entry, place)
        if scenario.id in scenarios:
            msg = f"the id {scenario.id!r} is there twice"
            raise RecordFault(msg, place=place, hint="every scenario has an id of its own")
        scenarios[scenario.id] = scenario
    return tuple(scenarios.values())


_FORM: Final = 'a scenario has id, name and text: [[scenario]] in TOML, or {"id", "name", "text"} a line'
_HEAD: Final = lazy_pattern(r"\s*\[\[\s*scenario\s*\]\]")


def _entries(path: str) -> Iterator[tuple[Place, Any]]:
    """Yield each scenario with its place."""
    name = shown_path(path)
    if path.endswith(".toml"):
        tables, raw = (
            read_toml(Path(path), "file of scenarios"),
            read_text(path, "file of scenarios", FileFault),
        )
        if unknown := tables.keys() - {"scenario"}:
            msg = f"there is no {min(unknown)!r} in a file of scenarios"
            raise FileFault(msg, place=Place(name), hint=_FORM)
        heads = [number for number, line in enumerate(raw.splitlines(), 1) if _HEAD.match(line)]
        listed = tables.get("scenario", [])
        lines: Sequence[int | None] = heads if len(heads) == len(listed) else [None] * len(listed)
        yield from ((Place(name, line), entry) for line, entry in zip(lines, listed, strict=True))
        return
    raw = read_text(path, "file of scenarios", FileFault)
    try:
        whole = json.loads(raw)
    except (ValueError, RecursionError):
        yield from _lines(raw, name)
        return
    if isinstance(whole, dict):
        whole = next((whole[key] for key in ("scenarios", "personas") if key in whole), [whole])
    if not isinstance(whole, list):
        msg = "a list of scenarios is needed"
        raise FileFault(msg, place=Place(name), hint=_FORM)
    yield from ((Place(name), entry) for entry in whole)


def _lines(raw: str, name: str) -> Iterator[tuple[Place, Any]]:
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield Place(name, number), json.loads(line)
        except (ValueError, RecursionError) as error:
            msg = f"this is no JSON: {error}"
            raise RecordFault(msg, place=Place(name, number), hint=_FORM) from error


def scenario_of(entry: object, place: Place) -> Scenario:
    """Return the scenario of an entry; raises RecordFault for what is none."""
    from pydantic import ValidationError

    from dialogauge.agents.scenario_shape import ScenarioEntry

    if isinstance(entry, dict) and isinstance(entry.get("id"), str):
        place = Place(place.file, place.line, None)
        named = f"the scenario {entry['id']!r}: "
    else:
        named = ""
    try:
        read = ScenarioEntry.model_validate(entry)
    except ValidationError as error:
        raise RecordFault(named + _why(error), place=place, hint=_FORM) from error
    text, user = read.text, read.user
    if len(text) > _LONGEST:
        msg = f"{named}the text has {len(text):,} characters, more than {_LONGEST:,}"
        raise RecordFault(
            msg, place=place, hint="a persona says who somebody is; a history goes to --context"
        )
    if user.kind == "goal" and user.goal is None:
        msg = f"{named}the user is to pursue a goal, and none is given"
        raise RecordFault(msg, place=place, hint='add goal = "..." to the user, or make the kind passive')
    role = UserRole(
        user.id or read.id,
        user.kind or ("passive" if user.goal is None else "goal"),
        user.persona,
        user.goal,
        {name: str(value) for name, value in user.facts.items()},
        user.patience,
        user.opening,
    )
    return Scenario(
        read.id,
        read.kind,
        read.name,
        text,
        role,
        read.greeting or None,
        read.category,
        read.real_person,
        read.mentions_user,
        read.language,
    )


def scenario_entry(scenario: Scenario) -> dict[str, Any]:
    """Write a scenario as `read_scenarios` reads it back; what is not stated has no key."""
    entry = asdict(scenario)
    entry["language"] = entry.pop("stated_language")
    user = {key: value for key, value in entry.pop("user").items() if value not in (None, {})}
    stated = {key: value for key, value in entry.items() if value is not None and value is not False}
    if scenario.mentions_user is False:
        stated["mentions_user"] = False
    return {**stated, "user": user}


def _why(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"{key} is missing"
    return f"{key}: {first['msg'].lower()}" if key else first["msg"].lower()


# User personas


@dataclass(frozen=True, slots=True)
class DerivedPersona:
    """A user persona that was made, and how."""

    text: str
    case: Literal["told", "new"]
    """Whether the character's text says something of the user (case 1 of C.2), or nothing (case 2)."""
    tries: int
    """Replies of the model; 0 where none was asked."""
    from_template: bool
    """Whether no reply was of use, and the package's own sentence stands in."""
    usage: Usage = field(default_factory=Usage)
    failure: AgentFailure | None = None
    """The last failure of the model, where it had one."""


_TRIES: Final = 2
_LIMITS: Final[Mapping[str, Mapping[str, int]]] = {
    "told": {"en": 80, "zh": 120},
    "new": {"en": 60, "zh": 90},
}
"""Words, or Chinese characters."""
_SLACK: Final = 1.25
"""A model cannot count: what is a quarter longer is taken."""
_FIRST_PERSON: Final = lazy_pattern(r"\b(?:I|I'm|I’m|I've|I’ve|my|me|mine)\b|我")
_RUN: Final = 6
"""So many words in a row are no chance."""


async def derive_persona(scenario: Scenario, client: ChatClient, *, seed: int = 0) -> DerivedPersona:
    """Make the persona of a scenario's user: from what its character's text says of them, or a new one.

    A reply is taken that is in the first person, of the length that is asked for, and no copy; after two
    tries without one the package's own sentence is. Source: C.2 of DynSess.

    Raises `EndpointError` or `BudgetSpent` from the client.
    """
    case: Literal["told", "new"] = "told" if scenario.speaks_of_user else "new"
    language = scenario.language
    character = json.dumps({"name": scenario.name, "text": scenario.text}, ensure_ascii=False)
    prompt = render(
        own_template(f"user_persona_{case}", language),
        {"character": character.replace("</", "<\\/"), "name": scenario.name},
    )
    usage, failure = Usage(), None
    for number in range(_TRIES):
        request = ChatRequest(({"role": "user", "content": prompt},), role="simulator", salt=seed + number)
        answer = await client.complete(request)
        usage += answer.usage
        if isinstance(answer, ChatFailure):
            failure = AgentFailure(answer.kind, answer.message)
            continue
        text = " ".join(split_reasoning(answer.text)[0].split())
        if persona_fault(text, scenario.text, _LIMITS[case][language]) is None:
            return DerivedPersona(text, case, number + 1, from_template=False, usage=usage)
    own = render(session_words(language)["nobody"], {"name": scenario.name})
    return DerivedPersona(own, case, _TRIES, from_template=True, usage=usage, failure=failure)


def persona_fault(text: str, character: str, limit: int) -> str | None:
    """Say what is wrong with a user persona: empty, not in the first person, too long, a copy; else None.

    Args:
        text: The persona.
        character: The text of the character that it was made from.
        limit: The words that it may have, or Chinese characters; a quarter more is let pass.
    """
    own, others = words(text), words(character)
    if not own:
        return "it is empty"
    if _FIRST_PERSON.search(text) is None:
        return "it is not in the first person"
    length = len(re.sub(r"\s", "", text)) if has_chinese(text) else len(text.split())
    if length > limit * _SLACK:
        return f"it has {length} words of at most {limit}"
    runs = [tuple(own[i : i + _RUN]) for i in range(len(own) - _RUN + 1)]
    known = {tuple(others[i : i + _RUN]) for i in range(len(others) - _RUN + 1)}
    if runs and sum(run in known for run in runs) > len(runs) / 2:
        return "it is a copy of the character"
    return None
