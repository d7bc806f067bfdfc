"""A map that is proposed has read all records; what speaks against it is said, and it is withheld."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Final

from dialogauge.core import Conversation, FileFault, Message, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.formats.fields import are_of_several
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.json_values import begins_json
from dialogauge.data.markup import html_text
from dialogauge.data.paths import MISSING, look_up, plain_name, word_of

_INTERNAL: Final = lazy_pattern(r"(?i)(?:^|[\W_])(?:internal|private|note|notes|whisper)(?:$|[\W_])")
_UNCHOSEN: Final = lazy_pattern(r"(?i)(?:\w+[_.])?(?:is|if)?_?(?:chosen|selected)")
_LIST: Final = lazy_pattern(r"=([^,=]+)\.0(?=[.,]|$)")
"""In a map, what holds a list of which the first item is read."""
_COUNTED: Final = lazy_pattern(r"turn|round|step|exchange|index|seq|pos|time|date|day|_at$|^n$|^ts$")
"""In the name of a field that only counts on within a conversation."""
_GARBLED: Final = lazy_pattern("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2[\u0080-\u009f]")
"""UTF-8 that was read as Latin-1."""
_YES, _NO = ("true", "1", "yes"), ("false", "0", "no")
_LONGEST_MARK: Final = 40
"""Characters of a value that marks a message."""
_A_SENTENCE: Final = 10
_SOME, _MANY = 0.2, 0.5
"""Shares: that of texts which are none or stand twice, and that of what speaks against a map as a whole."""
_SEVERAL: Final = 4
"""From so many on a share is one."""
_KEPT: Final = 10_000
"""Texts of a role that are compared."""


@dataclass(slots=True)
class Trial:
    """What a map made of all records."""

    first: Conversation | None = None
    conversations: int = 0
    fault: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    texts: dict[str, set[int]] = field(default_factory=lambda: {"user": set(), "assistant": set()})

    def read(self, outcomes: Iterable[Conversation | RecordFault]) -> Trial:
        """Take what a map reads, up to the first record that it cannot read."""
        try:
            for outcome in outcomes:
                if isinstance(outcome, RecordFault):
                    self.fault = f"a record cannot be read by it: {outcome.message}"
                    break
                self.first = self.first or outcome
                self.conversations += 1
                self._add([m for m in outcome.messages if m.role in self.texts and not m.tool_calls])
        except FileFault as fault:
            self.fault = fault.message
        return self

    def _add(self, messages: list[Message]) -> None:
        counts, long = self.counts, Counter(m.text for m in messages if len(m.text) > _A_SENTENCE)
        for message in messages:
            text = message.text.strip()
            counts[message.role] += 1
            counts["read"] += len(text)
            counts[f"no text of the {message.role}"] += (
                begins_json(text.encode()) or moment_of(text) is not None
            )
            counts["internal"] += _is_internal(message.extra)
            counts["unchosen"] += any(
                value is False and _UNCHOSEN.fullmatch(key) for key, value in message.extra.items()
            )
            counts["garbled"] += _GARBLED.search(text) is not None
            if len(self.texts[message.role]) < _KEPT:
                self.texts[message.role].add(hash(text))
        texts = [(m.role, m.text.strip()) for m in messages if len(m.text) > _A_SENTENCE]
        pairs = [(a, b) for (one, a), (other, b) in pairwise(texts) if (one, other) == ("user", "assistant")]
        counts["pairs"] += len(pairs)
        counts["within"] += sum(a != b and (a in b or b in a) for a, b in pairs)
        counts["merged"] += are_of_several([m.extra for m in messages])
        counts["parted"] += _may_be_parted(messages)
        counts["long"] += long.total()
        counts["twice"] += long.total() - len(long)
        runs = [(role, len(list(run))) for role, run in groupby(m.role for m in messages)]
        replies = [size for role, size in runs if role == "assistant"]
        counts["turns"] += len(replies)
        counts["crowded"] += sum(size > 1 for size in replies)
        crowded = {role for role, size in runs if size > 1}
        counts["of both"] += len(crowded) > 1
        counts["longer"] += len(messages) >= _SEVERAL
        counts["in blocks"] += len(messages) >= _SEVERAL and len(runs) <= 2

    def objection(self, records: Iterable[Any], named: str) -> str:
        """Return what speaks against the map; nothing where it may be asked whether it is meant."""
        lists = _LIST.findall(named)
        counts, roles = self.counts, self.texts
        for role in roles:
            if not counts[role]:
                return f"nobody speaks as the {role}"
            if counts[f"no text of the {role}"] >= _SOME * counts[role]:
                return f"what the {role} says would be JSON, numbers or times"
            if min(counts[role], _KEPT) >= _SEVERAL and len(roles[role]) < _SOME * min(counts[role], _KEPT):
                return f"what the {role} says would be a few texts again and again"
        written = 0
        for record in records:
            written += sum(map(len, {*_sentences(record)}))
            counts["longer lists"] += any(look_up(record, f"{path}.1") is not MISSING for path in lists)
        against = {
            "only the first of several texts would be read": counts["longer lists"] > 0,
            "an internal note would be read": counts["internal"] > 0,
            "a reply that was not chosen would be read": counts["unchosen"] > 0,
            "messages of several conversations would be one": counts["merged"] > 0,
            "its text would be garbled: it is UTF-8 that was read as Latin-1": counts["garbled"] > 0,
            "one text would stand twice": counts["twice"] > _SOME * counts["long"],
            "one speaker's text would stand within the other's": counts["within"] > _SOME * counts["pairs"],
            "several replies would stand in a turn": counts["crowded"] > _MANY * counts["turns"],
            "another field may say which conversation a row is of": self.conversations == 1
            and counts["parted"] > 0,
            "the roles would not alternate": counts["in blocks"] > _MANY * counts["longer"]
            or (self.conversations == 1 and counts["of both"] > 0),
            "most of the text would be left unread": counts["read"] < _MANY * written,
        }
        return self.fault or next((why for why, holds in against.items() if holds), "")


def _may_be_parted(messages: list[Message]) -> bool:
    """Say whether a field stays the same for a while, and again where the user begins anew."""
    for key in messages[0].extra if messages else ():
        values = [word_of(m.extra.get(key)) for m in messages]
        runs = [
            [m.role for _, m in run] for _, run in groupby(zip(values, messages, strict=True), itemgetter(0))
        ]
        begun = all(run[0] == "user" and "assistant" in run for run in runs)
        if begun and len({*values}) == len(runs) > 1 and _COUNTED.search(plain_name(key)) is None:
            return True
    return False


def _is_internal(value: Mapping[str, Any]) -> bool:
    """Say whether what stands beside a message marks it as not for the user."""
    for key, one in value.items():
        says = str(one).lower() if isinstance(one, str | bool | int) else ""
        marks = bool(_INTERNAL.search(key)) and says in _YES
        hides = key.lower().endswith("public") and says in _NO
        named = len(says) <= _LONGEST_MARK and len(says.split()) <= 2 and bool(_INTERNAL.search(says))
        if marks or hides or named or (isinstance(one, dict) and _is_internal(one)):
            return True
    return False


def _sentences(value: Any) -> Iterator[str]:  # noqa: ANN401  # any JSON value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _sentences(one)
    elif isinstance(value, str) and len(value.split()) > 2 and not begins_json(value.encode()):
        yield html_text(value) if value.startswith("<") else value.strip()
