"""The one place that reads a judge model's reply: every value is checked against the rubric.

Nothing is guessed or rounded: 4.5, "4", "five", true and 4.0 are no scores on a scale of whole numbers.
What is wrong is named with its path and with what was found, so that the model can be asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from dialogauge.core.judgement import Evidence, Level
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.scores import NOT_APPLICABLE, Number
from dialogauge.rubrics import VERDICTS, Dimension, ItemList, Rubric, Scope

BASIS_WORDS = 40
BASIS_HAN = 80
_HAN = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff]")


class Item(NamedTuple):
    """One item of a list."""

    text: str
    option: str
    quote: str = ""
    turns: tuple[int, ...] = ()
    """Of a criterion: the turns in which it shows."""


Items = tuple[Item, ...]
UNPROVEN = "unproven"
"""Stands for an option that needs a quote where the quote does not occur in the material."""


class ReplyFault(ValueError):
    """The reply does not fit the rubric; the text names every fault and is fit for a re-ask."""


@dataclass(frozen=True)
class ParsedPart:
    """What a reply says of one turn, or of the conversation."""

    scores: Mapping[str, Number]
    notes: Mapping[str, str] = field(default_factory=dict)
    """By dimension; a turn's own note stands under the empty name."""
    issues: tuple[str, ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    """Dimension and quote, not yet looked up in the turn."""
    labels: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, Items] = field(default_factory=dict)
    """By list."""
    whole: Mapping[str, int] = field(default_factory=dict)
    """The whole scores of dimensions that are means of others."""
    averaged: Mapping[str, int] = field(default_factory=dict)
    """Of dimensions that are means: how many scores were averaged."""
    evidence: tuple[Evidence, ...] = ()
    """Quotes of criteria, found in the judged turns."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """What of the lists of criteria does not count, by reason."""


@dataclass(frozen=True)
class ParsedReply:
    """A whole reply."""

    turns: Mapping[int, ParsedPart]
    whole: ParsedPart = ParsedPart({})
    """Without scores where only turns were asked about."""
    decision_basis: str | None = None
    basis_cut: bool = False
    weakest_turn: int | None = None
    verdict: str | None = None
    """The model's own."""
    extra_keys: int = 0
    """Keys that nobody asked for; ignored."""
    faults: Mapping[int | None, str] = field(default_factory=dict)
    """What is wrong with the targets that have no sound entry: by turn, the whole under None."""


def share(items: ItemList, entries: Items) -> Number:
    """Return the mean worth of the entries whose option has a worth; `n/a` if there is none."""
    worth = [items.worth[item.option] for item in entries if item.option in items.worth]
    return sum(worth) / len(worth) if worth else NOT_APPLICABLE


def cut_basis(text: str) -> tuple[str, bool]:
    """Cut a text after 40 words or 80 Chinese characters, whichever comes first; say whether it was cut."""
    text = text.strip()
    ends = [match.end() for match in re.finditer(r"\S+", text)][BASIS_WORDS - 1 : BASIS_WORDS + 1]
    han = [match.end() for match in _HAN.finditer(text)][BASIS_HAN - 1 : BASIS_HAN + 1]
    limits = [places[0] for places in (ends, han) if len(places) == 2]
    return (text[: min(limits)] + "…", True) if limits else (text, False)


_MOST_NAMED = 8
_OF_CRITERIA = ("criterion", "turns", "quote")
T = TypeVar("T")
_WHOLE = lazy_pattern("0|[1-9][0-9]{0,8}")


def parse_reply(rubric: Rubric, scope: Scope, data: Mapping[str, Any]) -> ParsedReply:
    """Check a reply against what was asked; ReplyFault names all that is wrong with it."""
    reader = _Reader(rubric, scope)
    reply = reader.read(data)
    if reader.faults:
        raise ReplyFault(_named(reader.faults))
    return reply


def parse_parts(rubric: Rubric, scope: Scope, data: Mapping[str, Any]) -> ParsedReply:
    """Keep what is sound of a reply; its `faults` say what is wrong with the rest of what was asked.

    Entries for turns that nobody asked about are ignored, and counted like such keys.
    """
    reader = _Reader(rubric, scope)
    reply = reader.read(data)
    if not reader.by_target and not reader.stray:
        return reply
    turns = {n: part for n, part in reply.turns.items() if n not in reader.by_target}
    faults = {target: _named(named) for target, named in reader.by_target.items()}
    extra = reply.extra_keys + (0 if faults else len(reader.stray))
    return replace(reply, turns=turns, faults=faults, extra_keys=extra)


def _named(faults: Sequence[str]) -> str:
    more = len(faults) - _MOST_NAMED
    return "; ".join(faults[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "something nested too deep to be shown"
    return text if len(text) <= 60 else text[:57] + "..."


class _Table:
    """An object of the reply: hands out its values, and remembers which were asked for."""

    __slots__ = ("data", "faults", "known", "path")

    def __init__(self, data: Mapping[str, Any], path: str, faults: list[str], *known: str) -> None:
        self.data, self.path, self.faults, self.known = data, path, faults, set(known)

    @property
    def extra(self) -> int:
        """How many keys nobody asked for."""
        return len(self.data.keys() - self.known)

    def fault(self, key: str, expected: str, value: object) -> None:
        """Name a value that is wrong; one that is missing has been named."""
        if value is not ...:
            self.faults.append(f"{self.path}{key}: expected {expected}, found {_shown(value)}")

    def take(self, key: str) -> Any:  # noqa: ANN401
        """Return the value of a key that must be there, or `...` with a fault."""
        self.known.add(key)
        if key not in self.data:
            self.faults.append(f"{self.path}{key}: missing")
            return ...
        return self.data[key]

    def typed(self, key: str, kind: type[T], expected: str) -> T | None:
        """Return the value of a key that must be there and of a type, or None with a fault."""
        value = self.take(key)
        if isinstance(value, kind):
            return value
        self.fault(key, expected, value)
        return None

    def text(self, key: str) -> str | None:
        """Return a text that must be there; None also where it is empty."""
        return (self.typed(key, str, "a text") or "").strip() or None

    def inner(self, key: str, expected: str, asked: tuple[Dimension, ...]) -> _Table | None:
        """Return the object under a key, whose keys are dimensions, or None with a fault."""
        value = self.typed(key, dict, expected)
        if value is None:
            return None
        if unknown := value.keys() - {d.name for d in asked}:
            self.faults += [f"{self.path}{key}.{k[:60]}: no such dimension" for k in value if k in unknown]
        return _Table(value, f"{self.path}{key}.", self.faults)


class _Row(NamedTuple):
    """The entry of a turn, of either form of `per_turn`."""

    path: str
    named: str
    """Where its number stands."""
    number: object
    entry: Any


def _keyed(entries: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield the entries that stand under the numbers of their turns, by number."""
    rows = []
    for key, entry in entries.items():
        path = f"per_turn.{key[:60]}"
        rows.append(_Row(path, path, int(key) if _WHOLE.fullmatch(key) else key, entry))
    yield from sorted(rows, key=lambda row: row.number if isinstance(row.number, int) else -1)


def _listed(entries: Sequence[Any]) -> Iterator[_Row]:
    """Yield the entries of a list, which say their turns themselves, as models write that no schema holds."""
    for index, entry in enumerate(entries):
        path = f"per_turn[{index}]"
        yield _Row(path, f"{path}.turn", entry.get("turn") if isinstance(entry, dict) else None, entry)


class _Reader:
    """Reads one reply and collects faults instead of stopping at the first."""

    def __init__(self, rubric: Rubric, scope: Scope) -> None:
        self.rubric, self.scope = rubric, scope
        self.by_target: dict[int | None, list[str]] = {}
        """By turn, the whole under None: only targets with a fault."""
        self.stray: list[str] = []
        """Faults of entries that belong to no target."""
        self.dropped: dict[str, int] = {}
        """Entries that do not count, by reason, of the part that is read."""
        self.miscounted: str | None = None
        """Why no number of a turn in the reply can be trusted."""
        self.extra = 0

    @property
    def faults(self) -> list[str]:
        """All of them; one that several targets share is named once."""
        return list(dict.fromkeys([*self.stray, *(f for of in self.by_target.values() for f in of)]))

    def read(self, data: Mapping[str, Any]) -> ParsedReply:
        level = self.rubric.level
        if level in ("turn", "pair"):
            turn = self.scope.turns[0]
            return ParsedReply({turn: self._part(turn, data, "", level)}, extra_keys=self.extra)
        table = _Table(data, "", [])
        asks_turns = "turn" in self.scope.levels and bool(self.rubric.at("turn"))
        turns = self._turns(table) if asks_turns else {}
        whole, basis, basis_cut, weakest, verdict = ParsedPart({}), None, False, None, None
        if level in self.scope.levels:
            self.dropped = {}
            items = self._all_items(table, level)
            scores, notes = self._noted_scores(table, self.rubric.asked(level), f"{level}_level")
            labels = self._concluded(table, level, scores, items)
            whole = ParsedPart(scores, notes, labels=labels, items=items, dropped=self.dropped)
            if self.rubric.reply.decision_basis and (text := table.text("decision_basis")) is not None:
                basis, basis_cut = cut_basis(text)
            weakest, verdict = self._weakest(table), self._verdict(table)
            self._note(None, table.faults)
        return ParsedReply(turns, whole, basis, basis_cut, weakest, verdict, self.extra + table.extra)

    def _note(self, target: int | None, faults: Sequence[str]) -> None:
        if faults:
            self.by_target.setdefault(target, []).extend(faults)

    def _part(self, turn: int, data: Mapping[str, Any], path: str, level: Level, *known: str) -> ParsedPart:
        table = _Table(data, path, [], *known)
        shape = self.rubric.reply
        note = table.text("note") if shape.note else None
        self.dropped = {}
        items = self._all_items(table, level)
        issues = self._issues(table) if shape.issues else ()
        quotes = self._quotes(table, level) if shape.evidence else ()
        asked = self.rubric.asked(level)
        scores, notes = self._scores(table, asked)
        labels = self._concluded(table, level, scores, items)
        self.extra += table.extra
        notes = {"": note, **notes} if note else notes
        self._note(turn, table.faults)
        return ParsedPart(scores, notes, issues, quotes, labels, items, dropped=self.dropped)

    def _turns(self, whole: _Table) -> dict[int, ParsedPart]:
        whole.known.add("per_turn")
        table = _Table(whole.data, "", [])
        value = table.take("per_turn")
        if not isinstance(value, dict | list):
            table.fault("per_turn", "an object with an entry under the number of each turn", value)
            for turn in self.scope.turns:
                self._note(turn, table.faults)
            return {}
        rows = list(_keyed(value) if isinstance(value, dict) else _listed(value))
        entries: dict[int, _Row] = {}
        for row in rows:
            number = self._number(row)
            if number is not None and row.entry != entries.setdefault(number, row).entry:
                self._note(number, [f"{row.named}: turn {number} appears twice"])
        # Trust no entry where there are some that nobody asked about and others are missing.
        numbers = [row.number for row in rows]
        named = [n for n in numbers if isinstance(n, int) and not isinstance(n, bool)]
        strange = [n for n in named if n not in self.scope.turns]
        missing = [n for n in self.scope.turns if n not in named]
        if strange and missing:
            self.miscounted = (
                f"per_turn: turn {strange[0]} was not asked for, and turn {missing[0]} has no entry: are the "
                f"turns counted from {self.scope.turns[0]}, as in the dialogue?"
            )
            for asked in self.scope.turns:
                self._note(asked, [self.miscounted])
        for turn in self.scope.turns:
            if turn not in entries and turn not in self.by_target:
                self._note(turn, [f"per_turn: no entry for turn {turn}"])
        return {n: self._part(n, row.entry, f"{row.path}.", "turn", "turn") for n, row in entries.items()}

    def _number(self, row: _Row) -> int | None:
        """Return the turn of an entry, or None with a fault."""
        number = row.number if isinstance(row.number, int) and not isinstance(row.number, bool) else None
        table = _Table({}, "", [])
        if not isinstance(row.entry, dict):
            table.fault(row.path, "an object", row.entry)
        elif number is None:
            table.fault(row.named, "the number of a turn", row.number)
        elif number not in self.scope.turns:
            table.faults.append(f"{row.named}: turn {number} was not asked for")
        elif row.entry.get("turn", number) != number:
            table.fault(f"{row.path}.turn", str(number), row.entry["turn"])
        else:
            return number
        if number in self.scope.turns:
            self._note(number, table.faults)
        else:
            self.stray += table.faults
        return None

    def _all_items(self, table: _Table, level: Level) -> dict[str, Items]:
        return {
            x.name: self._criteria(table, x) if x.adds_up else self._items(table, x)
            for x in self.rubric.items
            if x.level == level
        }

    def _concluded(
        self, table: _Table, level: Level, scores: dict[str, Number], items: Mapping[str, Items]
    ) -> dict[str, str]:
        """Add to the scores what the lists of items come to, and read the labels that must fit them."""
        lists = (x for x in self.rubric.items if x.level == level and not x.adds_up)
        scores |= {x.dimension: share(x, items[x.name]) for x in lists}
        labels: dict[str, str] = {}
        for label in (x for x in self.rubric.labels if x.level == level):
            value = table.take(label.name)
            word = value.strip() if isinstance(value, str) else value
            option = next((o for o in label.options if word in (o.name, *o.spellings)), None)
            if option is not None:
                labels[label.name] = option.name
                score, fits = scores.get(label.of or ""), option.fits
                if isinstance(score, int | float) and fits and not fits[0] <= score <= fits[1]:
                    goes = f"{option.name!r} goes with {label.of} from {fits[0]:g} to {fits[1]:g}"
                    table.faults.append(f"{table.path}{label.name}: {goes}, but the score is {score:g}")
            else:
                table.fault(label.name, f"one of {', '.join(o.name for o in label.options)}", value)
        return labels

    def _issues(self, table: _Table) -> tuple[str, ...]:
        value = table.take("issues")
        if isinstance(value, list) and all(isinstance(issue, str) for issue in value):
            return tuple(issue.strip() for issue in value if issue.strip())
        table.fault("issues", "a list of texts", value)
        return ()

    def _quotes(self, table: _Table, level: Level) -> tuple[tuple[str, str], ...]:
        """Read the evidence; that it is missing costs no score and is let pass."""
        table.known.add("evidence")
        value = table.data.get("evidence", [])
        names = [d.name for d in self.rubric.at(level)]
        pairs = []
        for entry in value if isinstance(value, list) else [value]:
            dimension = entry.get("dimension") if isinstance(entry, dict) else None
            quote = entry.get("quote") if isinstance(entry, dict) else None
            if dimension not in names or not isinstance(quote, str):
                table.fault("evidence", "a list of {dimension, quote}", entry)
                break
            pairs.append((str(dimension), quote))
        return tuple(pairs)

    def _score(self, table: _Table, d: Dimension, key: str) -> Number:
        value = table.take(key)
        if self.rubric.reply.quoted_scores and isinstance(value, str) and _WHOLE.fullmatch(value.strip(" ")):
            value = int(value)
        if d.scale.admits(value):
            number: float = value
            return number
        if not (d.allow_na and value == NOT_APPLICABLE):
            scale = d.scale
            what, na = "a whole number" if scale.integer else "a number", ' or "n/a"' if d.allow_na else ""
            table.fault(key, f"{what} from {scale.low:g} to {scale.high:g}{na}", value)
        return NOT_APPLICABLE

    def _items(self, table: _Table, items: ItemList) -> Items:
        names = [o.name for o in items.options]
        entries = []
        for index, entry in enumerate(table.typed(items.name, list, "a list") or ()):
            text = entry.get(items.key) if isinstance(entry, dict) else None
            option = entry.get("label") if isinstance(entry, dict) else None
            quote = entry.get("quote", "") if isinstance(entry, dict) and items.quoted else ""
            if not isinstance(text, str) or option not in names or not isinstance(quote, str):
                what = f"{{{items.key}, label}} with a label of {', '.join(names)}"
                table.fault(f"{items.name}[{index}]", what, entry)
            elif option in items.quoted and not quote.strip():
                table.fault(f"{items.name}[{index}].quote", f"the words that make it {option}", quote)
            else:
                entries.append(Item(text.strip(), str(option), quote.strip()))
        return tuple(entries)

    def _criteria(self, table: _Table, items: ItemList) -> Items:
        """Read which criteria hold, not yet whether their quotes occur; unknown ones are counted."""
        names = [o.name for o in items.options]
        entries = []
        for index, entry in enumerate(table.typed(items.name, list, "a list") or ()):
            name, turns, quote = (
                (entry.get(k) for k in _OF_CRITERIA) if isinstance(entry, dict) else (None,) * 3
            )
            numbers = [n for n in turns if isinstance(n, int)] if isinstance(turns, list) else None
            if numbers is None or numbers != turns or not isinstance(name, str) or not isinstance(quote, str):
                what = "{criterion, turns, quote} with a list of the numbers of turns"
                table.fault(f"{items.name}[{index}]", what, entry)
            elif name.strip() not in names:
                self.dropped["criteria_unknown"] = self.dropped.get("criteria_unknown", 0) + 1
            else:
                entries.append(Item("", name.strip(), quote.strip(), tuple(numbers)))
        return tuple(entries)

    def _scores(
        self, table: _Table, asked: tuple[Dimension, ...]
    ) -> tuple[dict[str, Number], dict[str, str]]:
        if self.rubric.reply.notes:
            return self._noted_scores(table, asked, "scores")
        inner = table.inner("scores", "an object", asked) if asked else None
        return {} if inner is None else {d.name: self._score(inner, d, d.name) for d in asked}, {}

    def _noted_scores(
        self, table: _Table, asked: tuple[Dimension, ...], key: str
    ) -> tuple[dict[str, Number], dict[str, str]]:
        scores: dict[str, Number] = {}
        notes: dict[str, str] = {}
        inner = table.inner(key, "an object", asked) if asked else None
        if inner is None:
            return scores, notes
        for d in asked:
            entry = inner.take(d.name)
            if isinstance(entry, dict):
                noted = _Table(entry, f"{inner.path}{d.name}.", inner.faults)
                scores[d.name] = self._score(noted, d, "score")
                note = noted.text("note")
                self.extra += noted.extra
                notes |= {d.name: note} if note else {}
            else:
                inner.fault(d.name, "an object with note and score", entry)
        return scores, notes

    def _weakest(self, table: _Table) -> int | None:
        if not self.rubric.reply.weakest_turn:
            return None
        value = table.take("weakest_turn")
        if value is None:
            return None
        if self.miscounted is not None:
            table.faults.append(self.miscounted)
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value in self.scope.turns:
            return value
        turns = ", ".join(str(n) for n in self.scope.turns)
        table.fault("weakest_turn", f"one of the turns {turns}, or null", value)
        return None

    def _verdict(self, table: _Table) -> str | None:
        rule = self.rubric.verdict
        if not self.rubric.reply.verdict or rule is None or self.scope.part is not None:
            return None
        value = table.take("verdict")
        names = list(rule.at_least) or list(VERDICTS)
        if value in names:
            return str(value)
        table.fault("verdict", f"one of {', '.join(names)}", value)
        return None
