"""The one place that reads a judge model's reply: every value is checked against the rubric.

Nothing is guessed or rounded: 4.5, "4", "five", true and 4.0 are no scores on a scale of whole numbers.
What is wrong is named with its path and with what was found, so that the model can be asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core.judgement import Level
from dialogauge.core.scores import NOT_APPLICABLE, Number, Scale
from dialogauge.rubrics import VERDICTS, Dimension, ItemList, Label, Rubric, Scope

BASIS_WORDS = 40
BASIS_HAN = 80
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


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
    items: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By list: text and option of each item."""


@dataclass(frozen=True)
class ParsedReply:
    """A whole reply."""

    turns: Mapping[int, ParsedPart]
    whole: ParsedPart | None = None
    decision_basis: str | None = None
    basis_cut: bool = False
    weakest_turn: int | None = None
    verdict: str | None = None
    """The model's own."""
    extra_keys: int = 0
    """Keys that nobody asked for; ignored."""


def share(items: ItemList, found: tuple[tuple[str, str], ...]) -> Number:
    """Return the mean worth of the items whose option has a worth; `n/a` if there is none."""
    worth = [items.worth[option] for _, option in found if option in items.worth]
    return sum(worth) / len(worth) if worth else NOT_APPLICABLE


def cut_basis(text: str) -> tuple[str, bool]:
    """Cut a text after 40 words or 80 Chinese characters, whichever comes first; say whether it was cut."""
    text = text.strip()
    ends = [match.end() for match in re.finditer(r"\S+", text)][BASIS_WORDS - 1 : BASIS_WORDS + 1]
    han = [match.end() for match in _HAN.finditer(text)][BASIS_HAN - 1 : BASIS_HAN + 1]
    limits = [found[0] for found in (ends, han) if len(found) == 2]
    return (text[: min(limits)] + "…", True) if limits else (text, False)


_MOST_NAMED = 8
_WHOLE = re.compile("[0-9]{1,9}")


def parse_reply(rubric: Rubric, scope: Scope, data: Mapping[str, Any]) -> ParsedReply:
    """Check a reply against what was asked; ReplyFault names all that is wrong with it."""
    reader = _Reader(rubric, scope)
    reply = reader.read(data)
    if reader.faults:
        more = len(reader.faults) - _MOST_NAMED
        named = "; ".join(reader.faults[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
        raise ReplyFault(named)
    return reply


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "something nested too deep to be shown"
    return text if len(text) <= 60 else text[:57] + "..."


def _expected(scale: Scale, allow_na: bool) -> str:  # noqa: FBT001 (a private sentence)
    what = "a whole number" if scale.integer else "a number"
    return f"{what} from {scale.low:g} to {scale.high:g}" + (' or "n/a"' if allow_na else "")


class _Reader:
    """Reads one reply and collects faults instead of stopping at the first."""

    def __init__(self, rubric: Rubric, scope: Scope) -> None:
        self.rubric, self.scope = rubric, scope
        self.faults: list[str] = []
        self.extra = 0
        self._basis_cut = False

    def read(self, data: Mapping[str, Any]) -> ParsedReply:
        level = self.rubric.level
        if level in ("turn", "pair"):
            part = self._entry(data, "", level)
            return ParsedReply({self.scope.turns[0]: part}, extra_keys=self.extra)
        allowed: set[str] = set()
        turns = self._turns(data, allowed) if self._asks_turns else {}
        whole = self._whole(data, allowed) if level in self.scope.levels else None
        basis = self._basis(data, allowed) if whole else None
        weakest = self._weakest(data, allowed) if whole else None
        verdict = self._verdict(data, allowed) if whole else None
        self._count_extra(data, allowed)
        return ParsedReply(turns, whole, basis, self._basis_cut, weakest, verdict, self.extra)

    @property
    def _asks_turns(self) -> bool:
        return "turn" in self.scope.levels and bool(self.rubric.at("turn"))

    def _fault(self, path: str, expected: str, found: object) -> None:
        self.faults.append(f"{path}: expected {expected}, found {_shown(found)}")

    def _take(self, data: Mapping[str, Any], key: str, path: str, allowed: set[str]) -> Any:  # noqa: ANN401
        """Return the value of a key that must be there, or `...` with a fault."""
        allowed.add(key)
        if key not in data:
            self.faults.append(f"{path}{key}: missing")
            return ...
        return data[key]

    def _count_extra(self, data: Mapping[str, Any], allowed: set[str]) -> None:
        self.extra += len(data.keys() - allowed)

    def _turns(self, data: Mapping[str, Any], allowed: set[str]) -> dict[int, ParsedPart]:
        rows = self._take(data, "per_turn", "", allowed)
        if rows is ...:
            return {}
        if not isinstance(rows, list):
            self._fault("per_turn", "a list with one entry for each turn", rows)
            return {}
        turns: dict[int, ParsedPart] = {}
        for index, row in enumerate(rows):
            path = f"per_turn[{index}]"
            number = row.get("turn") if isinstance(row, dict) else None
            if not isinstance(row, dict):
                self._fault(path, "an object", row)
            elif isinstance(number, bool) or not isinstance(number, int):
                self._fault(f"{path}.turn", "the number of a turn", number)
            elif number not in self.scope.turns:
                self.faults.append(f"{path}.turn: turn {number} was not asked for")
            elif number in turns:
                self.faults.append(f"{path}.turn: turn {number} appears twice")
            else:
                turns[number] = self._entry(row, f"{path}.", "turn", {"turn"})
        self._missing_turns(rows)
        return turns

    def _missing_turns(self, rows: list[Any]) -> None:
        named = {row["turn"] for row in rows if isinstance(row, dict) and isinstance(row.get("turn"), int)}
        missing = [str(n) for n in self.scope.turns if n not in named]
        if missing:
            self.faults.append(f"per_turn: no entry for turn {', '.join(missing)}")

    def _entry(
        self, data: Mapping[str, Any], path: str, level: Level, known: set[str] | None = None
    ) -> ParsedPart:
        allowed = set(known or ())
        shape = self.rubric.reply
        note = self._text(data, "note", path, allowed) if shape.note else None
        items = {x.name: self._items(data, x, path, allowed) for x in self._own_items(level)}
        issues = self._issues(data, path, allowed) if shape.issues else ()
        quotes = self._quotes(data, path, allowed, level) if shape.evidence else ()
        scores = self._scores(data, path, allowed, self.rubric.asked(level))
        scores |= {x.dimension: share(x, items[x.name]) for x in self._own_items(level)}
        labels = self._labels(data, path, allowed, level, scores)
        self._count_extra(data, allowed)
        return ParsedPart(scores, {"": note} if note else {}, issues, quotes, labels, items)

    def _own_items(self, level: Level) -> tuple[ItemList, ...]:
        return tuple(x for x in self.rubric.items if x.level == level) if self.rubric.items else ()

    def _text(self, data: Mapping[str, Any], key: str, path: str, allowed: set[str]) -> str | None:
        value = self._take(data, key, path, allowed)
        if isinstance(value, str):
            return value.strip() or None
        if value is not ...:
            self._fault(f"{path}{key}", "a text", value)
        return None

    def _issues(self, data: Mapping[str, Any], path: str, allowed: set[str]) -> tuple[str, ...]:
        value = self._take(data, "issues", path, allowed)
        if isinstance(value, list) and all(isinstance(issue, str) for issue in value):
            return tuple(issue.strip() for issue in value if issue.strip())
        if value is not ...:
            self._fault(f"{path}issues", "a list of texts", value)
        return ()

    def _quotes(
        self, data: Mapping[str, Any], path: str, allowed: set[str], level: Level
    ) -> tuple[tuple[str, str], ...]:
        """Read the evidence; that it is missing costs no score and is let pass."""
        allowed.add("evidence")
        value = data.get("evidence", [])
        names = [d.name for d in self.rubric.at(level)]
        pairs = []
        for entry in value if isinstance(value, list) else [value]:
            dimension = entry.get("dimension") if isinstance(entry, dict) else None
            quote = entry.get("quote") if isinstance(entry, dict) else None
            if dimension not in names or not isinstance(quote, str):
                self._fault(f"{path}evidence", "a list of {dimension, quote}", entry)
                break
            pairs.append((str(dimension), quote))
        return tuple(pairs)

    def _scores(
        self, data: Mapping[str, Any], path: str, allowed: set[str], asked: tuple[Dimension, ...]
    ) -> dict[str, Number]:
        if not asked:
            return {}
        value = self._take(data, "scores", path, allowed)
        if value is ...:
            return {}
        if not isinstance(value, dict):
            self._fault(f"{path}scores", "an object", value)
            return {}
        self._unknown(value, asked, f"{path}scores")
        return {d.name: self._score(value, d, f"{path}scores.", d.name) for d in asked}

    def _unknown(self, data: Mapping[str, Any], asked: tuple[Dimension, ...], path: str) -> None:
        unknown = data.keys() - {d.name for d in asked}
        self.faults += [f"{path}.{key}: no such dimension" for key in data if key in unknown]

    def _score(self, data: Mapping[str, Any], d: Dimension, path: str, key: str) -> Number:
        value = data.get(key, ...)
        if self.rubric.reply.quoted_scores and isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
            value = int(value)
        if d.scale.admits(value):
            number: float = value
            return number
        if value is ...:
            self.faults.append(f"{path}{key}: missing")
        elif not (d.allow_na and value == NOT_APPLICABLE):
            self._fault(f"{path}{key}", _expected(d.scale, d.allow_na), value)
        return NOT_APPLICABLE

    def _items(
        self, data: Mapping[str, Any], items: ItemList, path: str, allowed: set[str]
    ) -> tuple[tuple[str, str], ...]:
        value = self._take(data, items.name, path, allowed)
        if value is ...:
            return ()
        if not isinstance(value, list):
            self._fault(f"{path}{items.name}", "a list", value)
            return ()
        names = [o.name for o in items.options]
        found = []
        for index, entry in enumerate(value):
            text = entry.get(items.key) if isinstance(entry, dict) else None
            option = entry.get("label") if isinstance(entry, dict) else None
            if not isinstance(text, str) or option not in names:
                what = f"{{{items.key}, label}} with a label of {', '.join(names)}"
                self._fault(f"{path}{items.name}[{index}]", what, entry)
            else:
                found.append((text.strip(), str(option)))
        return tuple(found)

    def _labels(
        self,
        data: Mapping[str, Any],
        path: str,
        allowed: set[str],
        level: Level,
        scores: Mapping[str, Number],
    ) -> dict[str, str]:
        labels: dict[str, str] = {}
        if not self.rubric.labels:
            return labels
        for label in (x for x in self.rubric.labels if x.level == level):
            value = self._take(data, label.name, path, allowed)
            word = value.strip() if isinstance(value, str) else value
            option = next((o for o in label.options if word in (o.name, *o.spellings)), None)
            if option is not None:
                labels[label.name] = option.name
                self._fits(label, option.name, scores, f"{path}{label.name}")
            elif value is not ...:
                names = ", ".join(o.name for o in label.options)
                self._fault(f"{path}{label.name}", f"one of {names}", value)
        return labels

    def _fits(self, label: Label, name: str, scores: Mapping[str, Number], path: str) -> None:
        score = scores.get(label.of or "")
        fits = next(o.fits for o in label.options if o.name == name)
        if fits is None or score is None or isinstance(score, str) or fits[0] <= score <= fits[1]:
            return
        goes = f"{name!r} goes with {label.of} from {fits[0]:g} to {fits[1]:g}"
        self.faults.append(f"{path}: {goes}, but the score is {score:g}")

    def _whole(self, data: Mapping[str, Any], allowed: set[str]) -> ParsedPart:
        level = self.rubric.level
        items = {x.name: self._items(data, x, "", allowed) for x in self._own_items(level)}
        scores, notes = self._noted_scores(data, allowed, self.rubric.asked(level))
        scores |= {x.dimension: share(x, items[x.name]) for x in self._own_items(level)}
        labels = self._labels(data, "", allowed, level, scores)
        return ParsedPart(scores, notes, labels=labels, items=items)

    def _noted_scores(
        self, data: Mapping[str, Any], allowed: set[str], asked: tuple[Dimension, ...]
    ) -> tuple[dict[str, Number], dict[str, str]]:
        scores: dict[str, Number] = {}
        notes: dict[str, str] = {}
        if not asked:
            return scores, notes
        key = f"{self.rubric.level}_level"
        table = self._take(data, key, "", allowed)
        if not isinstance(table, dict):
            if table is not ...:
                self._fault(key, "an object", table)
            return scores, notes
        self._unknown(table, asked, key)
        for d in asked:
            path = f"{key}.{d.name}"
            entry = self._take(table, d.name, f"{key}.", set())
            if isinstance(entry, dict):
                scores[d.name] = self._score(entry, d, f"{path}.", "score")
                known: set[str] = set()
                note = self._text(entry, "note", f"{path}.", known)
                self._count_extra(entry, known | {"score"})
                notes |= {d.name: note} if note else {}
            elif entry is not ...:
                self._fault(path, "an object with note and score", entry)
        return scores, notes

    def _basis(self, data: Mapping[str, Any], allowed: set[str]) -> str | None:
        if not self.rubric.reply.decision_basis:
            return None
        text = self._text(data, "decision_basis", "", allowed)
        if text is None:
            return None
        text, self._basis_cut = cut_basis(text)
        return text

    def _weakest(self, data: Mapping[str, Any], allowed: set[str]) -> int | None:
        if not self.rubric.reply.weakest_turn:
            return None
        value = self._take(data, "weakest_turn", "", allowed)
        if value is None or value is ...:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value in self.scope.turns:
            return value
        turns = ", ".join(str(n) for n in self.scope.turns)
        self._fault("weakest_turn", f"one of the turns {turns}, or null", value)
        return None

    def _verdict(self, data: Mapping[str, Any], allowed: set[str]) -> str | None:
        rule = self.rubric.verdict
        if not self.rubric.reply.verdict or rule is None or self.scope.part is not None:
            return None
        value = self._take(data, "verdict", "", allowed)
        names = list(rule.at_least) or list(VERDICTS)
        if value in names:
            return str(value)
        if value is not ...:
            self._fault("verdict", f"one of {', '.join(names)}", value)
        return None
