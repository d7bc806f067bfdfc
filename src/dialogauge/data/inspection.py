"""A survey of an input, for `dialogauge check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from dialogauge.core import Conversation, FileFault, RecordFault
from dialogauge.data.notes import Note
from dialogauge.data.reader import ConversationReader

if TYPE_CHECKING:
    from dialogauge.data.mask import Mask
    from dialogauge.data.personal_survey import PersonalReport, PersonalTally

VERY_SHORT_REPLY = 10
"""A reply of fewer characters is very short."""

_LOW, _HIGH = 1, 5
_MAX_FAULTS = 20
_MAX_SCENARIOS = 10


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of messages in characters; None without messages."""

    count: int = 0
    mean: float | None = None
    median: float | None = None
    longest: int | None = None


@dataclass(frozen=True)
class InputReport:
    """The result of a survey: notes, faults and counts."""

    formats: dict[str, int]
    """Format -> number of files."""
    notes: tuple[Note, ...]
    faults: tuple[str, ...]
    """The first 20, as messages."""
    fault_count: int
    conversations: int
    turns: int
    """Turns from 1 on, without greetings."""
    turns_without_reply: int
    min_turns: int
    empty_conversations: int
    """Conversations without any text of user or assistant."""
    short_conversations: int
    """Conversations with fewer than `min_turns` replied turns, including empty ones."""
    replies: int
    """Turns with a reply."""
    empty_replies: int
    short_replies: int
    """Fewer than `VERY_SHORT_REPLY` characters, not empty."""
    rated_turns: int
    """Turns from 1 on with at least one rating."""
    ratings: dict[str, dict[str, int]]
    """Dimension -> score -> count, turn and conversation ratings together."""
    odd_ratings: dict[str, dict[str, str]]
    """Dimension -> score off the scale -> its first place; for dimensions that are mostly 1 to 5."""
    ratings_by_scenario: dict[str, int]
    ratings_by_user: dict[str, int]
    """`users` with ratings, and the `fewest`, `median` and `most` ratings of one user."""
    users: int
    scenarios: dict[str, int]
    """The ten most frequent, with counts."""
    scenario_count: int
    candidates: dict[str, int]
    languages: dict[str, int]
    """Declared languages; `undeclared` for the rest."""
    user_messages: Lengths
    assistant_messages: Lengths
    personal: PersonalReport | None = None
    """Personal data; None unless requested."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values, with shares, 0..1; a share of nothing is None."""
        out = asdict(self)
        out["notes"] = [note.to_json() for note in self.notes]
        out["faults"] = list(self.faults)
        parts = {
            "empty_conversations": self.conversations,
            "short_conversations": self.conversations,
            "turns_without_reply": self.turns,
            "empty_replies": self.replies,
            "short_replies": self.replies,
        }
        return out | {"shares": {part: out[part] / of if of else None for part, of in parts.items()}}


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
    tally = _InputTally(min_turns, mask)
    if mask is not None:
        from dialogauge.data.personal_survey import PersonalTally

        tally.personal = PersonalTally()
    for outcome in reader:
        if not isinstance(outcome, Conversation):
            tally.refuse(outcome)
        else:
            tally.add(outcome if with_ratings is None else with_ratings(outcome))
    return tally.report(reader)


@dataclass
class _InputTally:
    min_turns: int
    mask: Mask | None = None
    personal: PersonalTally | None = None
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    scores: dict[str, Counter[str]] = field(default_factory=dict)
    odd: dict[str, dict[str, str]] = field(default_factory=dict)
    by_scenario: Counter[str] = field(default_factory=Counter)
    by_user: Counter[str] = field(default_factory=Counter)
    users: set[str] = field(default_factory=set)
    scenarios: Counter[str] = field(default_factory=Counter)
    candidates: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    lengths: dict[str, Counter[int]] = field(
        default_factory=lambda: {"user": Counter(), "assistant": Counter()}
    )

    def refuse(self, fault: RecordFault | FileFault) -> None:
        self.counts["faults"] += 1
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(str(fault if self.mask is None else self.mask.fault(fault)))

    def add(self, conversation: Conversation) -> None:
        self.counts["conversations"] += 1
        self._describe(conversation)
        self._rate(conversation)
        if self.personal is not None:
            self.personal.add(conversation)
        has_text = False
        for message in conversation.messages:
            if message.role in self.lengths and not message.tool_calls:
                length = len(message.text)
                self.lengths[message.role][length] += 1
                has_text = has_text or bool(message.text.strip())
        self.counts["empty"] += not has_text
        turns = [t for t in conversation.turns if t.number >= 1]
        replied = [t for t in turns if t.has_reply]
        self.counts["turns"] += len(turns)
        self.counts["replies"] += len(replied)
        self.counts["short"] += len(replied) < self.min_turns
        for turn in replied:
            length = len(turn.reply_text.strip())
            self.counts["empty replies"] += length == 0
            self.counts["short replies"] += 0 < length < VERY_SHORT_REPLY

    def _describe(self, conversation: Conversation) -> None:
        if conversation.user_id is not None:
            self.users.add(conversation.user_id)
        if conversation.scenario is not None:
            self.scenarios[self._masked(conversation.scenario)] += 1
        if conversation.candidate is not None:
            self.candidates[self._masked(conversation.candidate)] += 1
        self.languages[self._masked(conversation.language or "undeclared")] += 1

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
        self.counts["rated turns"] += len({r.turn for r in ratings if r.turn})
        if conversation.scenario is not None:
            self.by_scenario[self._masked(conversation.scenario)] += len(ratings)
        if conversation.user_id is not None:
            self.by_user[conversation.user_id] += len(ratings)

    def report(self, reader: ConversationReader) -> InputReport:
        count = self.counts
        return InputReport(
            formats=dict(Counter(file.format for file in reader.files.values())),
            notes=tuple(n if self.mask is None else self.mask.note(n) for n in reader.notes),
            faults=tuple(self.faults),
            fault_count=count["faults"],
            conversations=count["conversations"],
            turns=count["turns"],
            turns_without_reply=count["turns"] - count["replies"],
            min_turns=self.min_turns,
            empty_conversations=count["empty"],
            short_conversations=count["short"],
            replies=count["replies"],
            empty_replies=count["empty replies"],
            short_replies=count["short replies"],
            rated_turns=count["rated turns"],
            ratings={d: dict(sorted(c.items(), key=_by_score)) for d, c in sorted(self.scores.items())},
            odd_ratings={d: odd for d, odd in sorted(self.odd.items()) if _one_to_five(self.scores[d])},
            ratings_by_scenario=dict(self.by_scenario.most_common(_MAX_SCENARIOS)),
            ratings_by_user=_spread(self.by_user),
            users=len(self.users),
            scenarios=dict(self.scenarios.most_common(_MAX_SCENARIOS)),
            scenario_count=len(self.scenarios),
            candidates=dict(self.candidates.most_common()),
            languages=dict(self.languages.most_common()),
            user_messages=_lengths(self.lengths["user"]),
            assistant_messages=_lengths(self.lengths["assistant"]),
            personal=None if self.personal is None else self.personal.report(),
        )


def _one_to_five(scores: Counter[str]) -> bool:
    """Say whether most scores are whole numbers from 1 to 5."""
    return 2 * sum(scores[str(score)] for score in range(_LOW, _HIGH + 1)) > scores.total()


def _by_score(item: tuple[str, int]) -> tuple[bool, float, str]:
    """Sort key: numbers by size, then categories by name."""
    try:
        return False, float(item[0]), ""
    except ValueError:
        return True, 0.0, item[0]


def _spread(counts: Counter[str]) -> dict[str, int]:
    if not counts:
        return {}
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
    ordered = sorted(histogram.items())
    middle = [_at(ordered, (count - 1) // 2), _at(ordered, count // 2)]
    total = sum(length * times for length, times in ordered)
    return Lengths(count, total / count, sum(middle) / 2, ordered[-1][0])


def _at(ordered: list[tuple[int, int]], rank: int) -> int:
    passed = 0
    for length, times in ordered:
        passed += times
        if passed > rank:
            return length
    return ordered[-1][0]
