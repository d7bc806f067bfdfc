"""Templates and policies.

Templates hold the package's own wording: frame phrases, the re-ask, the window summary. Policies say what an
agent is expected to do, by domain; rubrics with `policy` show them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dialogauge.core.conversation import ToolCall
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value

_ANY = lazy_pattern(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = lazy_pattern(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")


def placeholders(template: str) -> tuple[str, ...]:
    """Return the names in double braces, in order of first appearance."""
    return tuple(dict.fromkeys(match.strip() for match in _ANY.findall(template)))


def render(template: str, values: Mapping[str, str]) -> str:
    """Replace every `{{name}}` by its value.

    One pass: braces in values have no effect. Unused values are ignored. Raises KeyError for a name without
    a value.
    """
    return _NAME.sub(lambda match: values[match.group(1)], template)


_FILES = Path(__file__).parent / "files"


@cache
def frame(language: str) -> Mapping[str, str]:
    """Return the phrases of a language, or the English ones."""
    return _words("frame", language)


@cache
def criteria_words(language: str) -> Mapping[str, str]:
    """Return the phrases about criteria and about a history in a language, or the English ones."""
    return _words("criteria", language)


@cache
def memory_words(language: str) -> Mapping[str, str]:
    """Return the wording about users' memories in a language, or the English one."""
    return _words("user_memory", language)


@cache
def session_words(language: str) -> Mapping[str, str]:
    """Return the wording around simulated sessions in a language, or the English one."""
    return _words("session", language)


@cache
def feedback_words(language: str) -> Mapping[str, str]:
    """Return the wording around users who give feedback in a language, or the English one."""
    return _words("feedback", language)


@cache
def feedback_files() -> Mapping[str, Mapping[str, Any]]:
    """Return by name the files that say how users take answers; `fixed` is of those whom no model plays."""
    files = sorted((_FILES / "feedback").glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}


def _words(name: str, language: str) -> Mapping[str, str]:
    table: dict[str, dict[str, str]] = tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8"))
    return table.get(language, table["en"])


def phrase(language: str, key: str, **values: str) -> str:
    """Return one phrase with its placeholders filled."""
    words = frame(language)
    return render(words[key] if key in words else criteria_words(language)[key], values)


@cache
def own_template(name: str, language: str) -> str:
    """Return a template of the package (`reask`, `summary`) in a language, or the English one."""
    path = _FILES / f"{name}.{language}.md"
    if not path.exists():
        path = _FILES / f"{name}.en.md"
    return path.read_text(encoding="utf-8").strip()


Wording = str | Mapping[str, str]
"""One wording for all languages, or one for each."""


def worded(text: Wording, language: str) -> str:
    """Return the wording in a language; else the English one, else the first."""
    if isinstance(text, str):
        return text
    return text.get(language) or text.get("en") or next(iter(text.values()))


class DomainPolicy(Value):
    """What is expected in one domain."""

    name: str
    calls: str
    """Pattern for the calls of the domain, any case; empty for the domain of all else."""
    threshold: int
    """Of so many results all may be presented; of more, the reply narrows them down."""
    text: Wording
    """May hold `{{domain}}`, `{{threshold}}` and `{{slots}}`."""
    slots: Mapping[str, Wording]
    """What a search or a booking may need -> its meaning."""

    def shown(self, language: str) -> str:
        """Return the policy as judges read it."""
        slots = "\n".join(f"- {name}: {worded(text, language)}" for name, text in self.slots.items())
        values = {"domain": self.name, "threshold": str(self.threshold), "slots": slots}
        return render(worded(self.text, language), values).strip()


class Policies(Value):
    """A policy file, checked; the last of its domains is that of all else."""

    domains: tuple[DomainPolicy, ...]

    @property
    def general(self) -> str:
        """The name of the domain of what is no other's."""
        return self.domains[-1].name

    def domains_of(self, calls: Iterable[ToolCall]) -> tuple[str, ...]:
        """Return the domains that calls belong to, each once, in order.

        A call belongs to the domain whose pattern fits its function's name, or, where none does, to the only
        one whose pattern fits its arguments.
        """
        return tuple(dict.fromkeys(name for call in calls if (name := self._domain(call)) is not None))

    def _domain(self, call: ToolCall) -> str | None:
        named = self._fitting(call.name)
        if named:
            return named[0]
        within = self._fitting(call.arguments)
        return within[0] if len(within) == 1 else None

    def _fitting(self, text: str) -> list[str]:
        return [d.name for d in self.domains[:-1] if re.search(d.calls, text, re.IGNORECASE)]

    def shown(self, names: Iterable[str], language: str) -> str:
        """Return the policies of domains as judges read them."""
        by_name = {d.name: d for d in self.domains}
        return "\n\n".join(by_name[name].shown(language) for name in names)
