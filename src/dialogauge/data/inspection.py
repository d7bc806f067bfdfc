"""A survey of an input, for `dialogauge check`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from dialogauge.core import ONE_TO_FIVE, Conversation, FileFault, RecordFault
from dialogauge.core.json_keys import keys
from dialogauge.data.admission import Admission, admission_of, likely_scale
from dialogauge.data.notes import Note
from dialogauge.data.personal_survey import PersonalReport, PersonalTally
from dialogauge.data.ratings import as_score
from dialogauge.data.reader import ConversationReader
from dialogauge.text import language_name

if TYPE_CHECKING:
    from dialogauge.data.mask import Mask

VERY_SHORT_REPLY = 10
"""A reply of fewer characters is very short."""

_LOW, _HIGH = 1, 5
_MAX_FAULTS = 20
_ALIKE = 5
"""Faults that are kept of one kind: the same words, whatever their numbers."""
_MAX_SCENARIOS = 10
_READ_FOR_LANGUAGE = 12
"""Messages of a conversation that say its language."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of messages in characters; None without messages."""

    count: int = 0
    mean: float | None = None
    median: float | None = None
    longest: int | None = None


@keys(shares="shares")
@dataclass
class InputReport:
    """An input: how it was read, what was assumed, and what it contains.

    The counts grow with each conversation.
    """

    formats: dict[str, int] = field(default_factory=dict)
    """Files by format."""
    notes: tuple[Note, ...] = ()
    faults: tuple[str, ...] = ()
    """The first 20, of one kind the first 5."""
    fault_count: int = 0
    conversations: int = 0
    turns: int = 0
    """From 1 on, without greetings."""
    turns_without_reply: int = 0
    min_turns: int = 1
    empty_conversations: int = 0
    """Conversations without any text of user or assistant."""
    short_conversations: int = 0
    """Conversations with fewer than `min_turns` replied turns, including empty ones."""
    replies: int = 0
    """Turns with a reply."""
    empty_replies: int = 0
    short_replies: int = 0
    """Fewer than 10 characters, not empty."""
    rated_turns: int = 0
    """Turns from 1 on with at least one rating."""
    ratings: dict[str, dict[str, int]] = field(default_factory=dict)
    """By dimension and score, of turns and of conversations together."""
    odd_ratings: dict[str, dict[str, str]] = field(default_factory=dict)
    """By dimension and score off the scale: its first place; for dimensions that are mostly 1 to 5."""
    rating_remarks: dict[str, str] = field(default_factory=dict)
    """By dimension: how its ratings are read, where that is not plain."""
    rating_means: dict[str, float | None] = field(default_factory=dict)
    """By dimension the mean of the numbers that count; null where none does, of thumbs, and of two scales."""
    rated_places: dict[str, dict[str, int]] = field(default_factory=dict)
    """By dimension: rated `turns`, and `conversations` rated as a whole."""
    ratings_by_scenario: dict[str, dict[str, int]] = field(default_factory=dict)
    """By dimension and scenario the ratings; the ten most frequent."""
    ratings_by_user: dict[str, dict[str, int]] = field(default_factory=dict)
    """By dimension: `users` with ratings, and the `fewest`, `median` and `most` of one user."""
    users: int = 0
    scenarios: dict[str, int] = field(default_factory=dict)
    """The ten most frequent."""
    scenario_count: int = 0
    candidates: dict[str, int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    """Declared; else the code of a known language, a script such as `Cyrillic`, or `other`."""
    unjudged_languages: dict[str, int] = field(default_factory=dict)
    """Those of conversations whose texts the local judge does not judge: neither English nor Chinese."""
    user_messages: Lengths = Lengths()
    assistant_messages: Lengths = Lengths()
    personal: PersonalReport | None = None
    """With `--pii`."""

    @property
    def shares(self) -> dict[str, float | None]:
        """0 to 1; null of nothing."""
        parts = {
            "empty_conversations": self.conversations,
            "short_conversations": self.conversations,
            "turns_without_reply": self.turns,
            "empty_replies": self.replies,
            "short_replies": self.replies,
        }
        return {part: getattr(self, part) / of if of else None for part, of in parts.items()}


def inspect_conversations(
    reader: ConversationReader,
    min_turns: int = 1,
    with_ratings: Callable[[Conversation], Conversation] | None = None,
    *,
    mask: Mask | None = None,
) -> InputReport:
    """Read everything once and return the counts.

    Args:
        reader: The reader.
        min_turns: A conversation with fewer replied turns counts as very short.
        with_ratings: Adds the ratings of another file to a conversation.
        mask: Masks quotes in the report; with a mask, personal data are counted too.

    Raises `FileFault` if nothing can be read.
    """
    tally = _InputTally(InputReport(min_turns=min_turns), mask)
    if mask is not None:
        tally.personal = PersonalTally()
    for outcome in reader:
        if not isinstance(outcome, Conversation):
            tally.refuse(outcome)
        else:
            tally.add(outcome if with_ratings is None else with_ratings(outcome))
    return tally.report(reader)


@dataclass
class _InputTally:
    counts: InputReport
    """What is counted one by one."""
    mask: Mask | None = None
    personal: PersonalTally | None = None
    faults: Counter[str] = field(default_factory=Counter)
    """By kind."""
    scores: dict[str, Counter[str]] = field(default_factory=dict)
    odd: dict[str, dict[str, str]] = field(default_factory=dict)
    levels: dict[str, dict[str, Counter[float | str]]] = field(default_factory=dict)
    """Dimension -> `turns` and `conversations` -> rating -> number of times."""
    places: dict[str, Counter[str]] = field(default_factory=dict)
    by_scenario: dict[str, Counter[str]] = field(default_factory=dict)
    by_user: dict[str, Counter[str]] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)
    scenarios: Counter[str] = field(default_factory=Counter)
    candidates: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    unjudged: Counter[str] = field(default_factory=Counter)
    lengths: dict[str, Counter[int]] = field(
        default_factory=lambda: {"user": Counter(), "assistant": Counter()}
    )

    def refuse(self, fault: RecordFault | FileFault) -> None:
        self.counts.fault_count += 1
        kind = re.sub(r"[0-9]+", "#", fault.message)
        self.faults[kind] += 1
        if self.faults[kind] <= _ALIKE and len(self.counts.faults) < _MAX_FAULTS:
            self.counts.faults += (str(fault if self.mask is None else self.mask.fault(fault)),)

    def add(self, conversation: Conversation) -> None:
        if conversation.user_id is not None:
            self.users.add(conversation.user_id)
        if conversation.scenario is not None:
            self.scenarios[self._masked(conversation.scenario)] += 1
        if conversation.candidate is not None:
            self.candidates[self._masked(conversation.candidate)] += 1
        every = (m.text for m in conversation.messages if m.role in ("user", "assistant"))
        texts = list(islice(every, _READ_FOR_LANGUAGE))
        spoken = language_name(*texts)
        language = self._masked(conversation.language or spoken)
        self.languages[language] += 1
        lettered = any(map(str.isalpha, "".join(texts)))  # numbers alone are read alike in any
        self.unjudged[language] += lettered and spoken not in ("en", "zh")
        self._rate(conversation)
        if self.personal is not None:
            self.personal.add(conversation)
        has_text = False
        for message in conversation.messages:
            if message.role in self.lengths and not message.tool_calls:
                length = len(message.text)
                self.lengths[message.role][length] += 1
                has_text = has_text or bool(message.text.strip())
        counts = self.counts
        counts.conversations += 1
        counts.empty_conversations += not has_text
        turns = [t for t in conversation.turns if t.number >= 1]
        replied = [t for t in turns if t.has_reply]
        counts.turns += len(turns)
        counts.turns_without_reply += len(turns) - len(replied)
        counts.replies += len(replied)
        counts.short_conversations += len(replied) < counts.min_turns
        for turn in replied:
            length = len(turn.reply_text.strip())
            counts.empty_replies += length == 0
            counts.short_replies += 0 < length < VERY_SHORT_REPLY

    def _masked(self, text: str) -> str:
        return text if self.mask is None else self.mask.text(text)

    def _rate(self, conversation: Conversation) -> None:
        ratings = conversation.ratings
        if not ratings:
            return
        for rating in ratings:
            score = self._masked(rating.score) if isinstance(rating.score, str) else f"{rating.score:g}"
            dimension = self._masked(rating.dimension)
            self.scores.setdefault(dimension, Counter())[score] += 1
            if isinstance(rating.score, str) or not _LOW <= rating.score <= _HIGH:
                place = conversation.place_of(rating)
                places = self.odd.setdefault(dimension, {})
                places.setdefault(score, str(place if self.mask is None else self.mask.place(place)))
            level = "conversations" if rating.turn is None else "turns"
            of_level = self.levels.setdefault(dimension, {}).setdefault(level, Counter())
            of_level[as_score(score)] += 1
            if conversation.scenario is not None:
                scenario = self._masked(conversation.scenario)
                self.by_scenario.setdefault(dimension, Counter())[scenario] += 1
            if conversation.user_id is not None:
                self.by_user.setdefault(dimension, Counter())[conversation.user_id] += 1
        self.counts.rated_turns += len({r.turn for r in ratings if r.turn})
        for name, turn in {(r.dimension, r.turn) for r in ratings}:
            if turn != 0:
                what = "conversations" if turn is None else "turns"
                self.places.setdefault(self._masked(name), Counter())[what] += 1

    def report(self, reader: ConversationReader) -> InputReport:
        readings = {d: _RatingsRead.of(d, levels) for d, levels in sorted(self.levels.items())}
        odd = {d: odd for d, odd in sorted(self.odd.items()) if readings[d].from_one_to_five(self.scores[d])}
        return replace(
            self.counts,
            formats=dict(Counter(file.format for file in reader.files.values())),
            notes=tuple(n if self.mask is None else self.mask.note(n) for n in reader.notes),
            ratings={d: dict(sorted(c.items(), key=_by_score)) for d, c in sorted(self.scores.items())},
            odd_ratings=odd,
            rating_remarks={d: words for d, r in readings.items() if (words := r.remark(odd=d in odd))},
            rating_means={d: r.mean for d, r in readings.items()},
            rated_places={d: dict(c) for d, c in sorted(self.places.items())},
            ratings_by_scenario={
                d: dict(c.most_common(_MAX_SCENARIOS)) for d, c in sorted(self.by_scenario.items())
            },
            ratings_by_user={d: _spread(c) for d, c in sorted(self.by_user.items())},
            users=len(self.users),
            scenarios=dict(self.scenarios.most_common(_MAX_SCENARIOS)),
            scenario_count=len(self.scenarios),
            candidates=dict(self.candidates.most_common()),
            languages=dict(self.languages.most_common()),
            unjudged_languages=dict((+self.unjudged).most_common()),
            user_messages=_lengths(self.lengths["user"]),
            assistant_messages=_lengths(self.lengths["assistant"]),
            personal=None if self.personal is None else self.personal.report(),
        )


@dataclass(frozen=True, slots=True)
class _RatingsRead:
    """How the ratings of a dimension are read, as `judge` reads them: those of turns and of wholes apart."""

    dimension: str
    parts: tuple[tuple[str, Counter[float | str], Admission], ...]
    """Of what, the ratings, how they are read; all together where all are read alike."""

    @classmethod
    def of(cls, dimension: str, levels: Mapping[str, Counter[float | str]]) -> _RatingsRead:
        parts = tuple(
            (level, c, admission_of(dimension, c, named=True)) for level, c in sorted(levels.items())
        )
        if len({(a.kind, a.scale) for _, _, a in parts}) > 1:
            return cls(dimension, parts[::-1])
        every = sum((c for _, c, _ in parts), Counter[float | str]())
        return cls(dimension, (("", every, admission_of(dimension, every, named=True)),))

    def remark(self, *, odd: bool) -> str:
        """Say how they are read, and how many do not count unless these are named as odd."""
        remarks = []
        for level, counts, admission in self.parts:
            if level:
                remarks.append(f"{level} read as {admission.words(counts)}")
            else:
                remarks.append(admission.remark(counts, likely_scale(self.dimension)))
            refused, why = admission.refused(counts)
            if refused and not odd:
                remarks.append(f"{refused:,} not used: {why}")
        return "; ".join(filter(None, remarks))

    @property
    def mean(self) -> float | None:
        """The mean of the numbers that count, where they are on one scale."""
        (_, counts, admission), *others = self.parts
        read = {s: n for s, n in counts.items() if not isinstance(s, str) and admission.read(s) == s}
        total = sum(read.values())
        if others or admission.kind == "thumbs" or not total:
            return None
        return sum(s * n for s, n in read.items()) / total

    def from_one_to_five(self, scores: Counter[str]) -> bool:
        """Say whether they are numbers of which most are whole ones from 1 to 5."""
        (_, _, admission), *others = self.parts
        usual = admission.kind == "numbers" and admission.scale in (None, ONE_TO_FIVE) and not others
        return usual and 2 * sum(scores[str(score)] for score in range(_LOW, _HIGH + 1)) > scores.total()


def _by_score(item: tuple[str, int]) -> tuple[bool, float, str]:
    """Sort key: numbers by size, then categories by name."""
    try:
        return False, float(item[0]), ""
    except ValueError:
        return True, 0.0, item[0]


def _spread(counts: Counter[str]) -> dict[str, int]:
    ordered = sorted(counts.values())
    return {
        "users": len(ordered),
        "fewest": ordered[0],
        "median": ordered[(len(ordered) - 1) // 2],
        "most": ordered[-1],
    }


def _lengths(histogram: Counter[int]) -> Lengths:
    """Return mean, median and maximum of a histogram of lengths."""
    count = histogram.total()
    if count == 0:
        return Lengths()
    lengths = sorted(histogram)
    up_to = list(accumulate(histogram[length] for length in lengths))
    middle = [lengths[bisect_right(up_to, rank)] for rank in ((count - 1) // 2, count // 2)]
    total = sum(length * times for length, times in histogram.items())
    return Lengths(count, total / count, sum(middle) / 2, lengths[-1])
