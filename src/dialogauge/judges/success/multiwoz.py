"""Inform and Success of MultiWOZ, for the dialogues of any agent that calls tools.

Inform: the last thing offered in each domain fits the goal. Success: Inform, and all that the goal asks for
was told. As published, a reply offers whatever meets the state of the dialogue as soon as it names anything
(`NAME`), and tells what its placeholders say; the words themselves are not looked at.

Source: Nekvinda and Dusek (2021), Shades of BLEU, Flavours of Success: The Case of MultiWOZ; and the code
beside it, github.com/Tomiinek/MultiWOZ_Evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from dialogauge.core import (
    Conversation,
    Judged,
    Judgement,
    PlainDimension,
    Request,
    Scale,
    Target,
    Turn,
    digest,
)
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Reads
from dialogauge.core.scores import NOT_APPLICABLE, Number, as_scores
from dialogauge.judges.success.multiwoz_data import (
    DOMAINS,
    NAMED,
    NO_GOALS,
    TABLES,
    Annotation,
    Goal,
    Goals,
    Reading,
    Venues,
    goal_of,
    json_object,
    plain_words,
    slot_name,
)

_VERSION: Final = 3
_UNBOUND: Final = ("", "any", "none", "null")
"""Arguments that bind nothing."""
_TYPES: Final = {"swimming pool": "swimmingpool", "guest house": "guesthouse", "night club": "nightclub"}
_WORDS: Final = {
    "PHONE": "phone",
    "ADDRESS": "address",
    "POST": "postcode",
    "TRAINID": "train id",
    "REFERENCE": "reference",
}
_PHONE: Final = lazy_pattern(r"\b(?:\d{10,11}|0\d{4} \d{6})\b")
_POST: Final = lazy_pattern(r"\b(?:cb|pe|sg|ip)\d{1,2}\w? ?\d[a-z]{2}\b", re.IGNORECASE)
_REFERENCE: Final = lazy_pattern(
    r'"(?:\w*_)?ref(?:erence)?(?:_\w*)?": ?"?(?!(?:null|true|false)\b)([\w-]+)', re.IGNORECASE
)
"""A reference in the JSON of a result: under `reference`, `ref`, `booking_reference`, `reference_number`."""


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """What a turn offers and tells."""

    offered: Mapping[str, frozenset[str]]
    """By domain what is offered; nothing stands here for a domain in which nothing is named."""
    provided: Mapping[str, frozenset[str]]
    """By domain the requestables."""


@dataclass(frozen=True, slots=True)
class DomainOutcome:
    """What came of one domain of a goal."""

    inform: bool
    missing: tuple[str, ...]
    """Requestables that were not told."""


def outcomes(goal: Goal, turns: Sequence[TurnFacts], venues: Venues) -> dict[str, DomainOutcome]:
    """Return what came of each domain."""
    out = {}
    for domain, part in goal.items():
        # What stands as offered: a later offer replaces one that it does not contain.
        offered = frozenset[str]()
        for offer in [t.offered[domain] for t in turns if domain in t.offered]:
            if not offered or not offered <= offer:
                offered = offer
        provided = frozenset[str]().union(*(t.provided.get(domain, frozenset()) for t in turns))
        unasked = domain == "train" and not offered and "TRAINID" not in part.requestable
        free = "name" in part.informable or domain not in TABLES or unasked
        fits = bool(offered) and offered <= venues.matching(domain, part.informable)
        out[domain] = DomainOutcome(free or fits, tuple(sorted(part.requestable - provided)))
    return out


def published_facts(
    goal: Goal, readings: Sequence[Reading], booked: Sequence[Sequence[str]], venues: Venues
) -> list[TurnFacts]:
    """Return what turns offer and tell by their placeholders and states; see the head of the module."""
    facts = []
    for reading, of_turn in zip(readings, booked, strict=False):
        text, offered, provided = reading.delexicalised, {}, {}
        for domain in goal:
            if domain not in reading.active:
                continue
            if ("NAME" in text and domain in NAMED) or ("TRAINID" in text and domain == "train"):
                state = reading.state.get(domain)
                offered[domain] = frozenset() if state is None else venues.matching(domain, state)
            slots = {slot for slot in _WORDS if slot in text}
            provided[domain] = frozenset(slots if domain in of_turn else slots - {"REFERENCE"})
        facts.append(TurnFacts(offered, provided))
    return facts


def _closed(text: str) -> str:
    """Return the letters and digits of a text, in lower case: codes are written with and without spaces."""
    return plain_words(text).lower().replace(" ", "")


# Our reading of a dialogue


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """What we read off a turn: its reply, and the agent's calls so far."""

    reading: Reading
    booked: tuple[str, ...]
    """Domains in which a call has returned a reference by then."""


def own_turns(conversation: Conversation, venues: Venues) -> list[OwnTurn]:
    """Read every replied turn: state and active domain from the calls, placeholders from the words."""
    state: dict[str, dict[str, str]] = {}
    references: dict[str, frozenset[str]] = {}
    active: tuple[str, ...] = ()
    turns = []
    for turn in conversation.turns:
        for domain, arguments, result, books in _calls(turn):
            active = (domain,)
            # The state of a domain after a call; the train that is bought leaves what was asked
            # for.
            before = state.get(domain, {})
            after = dict(before)
            for name, value in arguments.items():
                slot, text = slot_name(name), str(value).lower().strip()
                slot = slot.removeprefix("book") or slot
                if slot == "trainid" or (books and domain == "train" and slot != "people"):
                    continue
                if text in _UNBOUND:
                    after.pop(slot, None)
                else:
                    after[slot] = _TYPES.get(text, text)
            state[domain] = after
            if codes := frozenset(_REFERENCE.findall(result)):
                references[domain] = references.get(domain, frozenset()) | codes
        if turn.number < 1 or not turn.has_reply:
            continue
        codes = frozenset[str]().union(*references.values())
        stands = {domain: dict(slots) for domain, slots in state.items() if slots}
        reading = Reading(delexicalise(turn.reply_text, venues, codes), stands, active)
        turns.append(OwnTurn(reading, tuple(references)))
    return turns


def _calls(turn: Turn) -> Iterator[tuple[str, Mapping[str, Any], str, bool]]:
    """Yield domain, arguments and result of each call, and whether it books; others are of no domain."""
    results = {m.tool_call_id: m.text for m in turn.steps if m.role == "tool"}
    for message in turn.steps:
        for call in message.tool_calls:
            domain = next((domain for domain in DOMAINS if domain in call.name.lower()), None)
            arguments = json_object(call.arguments)
            if domain is not None and arguments is not None:
                books = any(word in call.name.lower() for word in ("book", "buy", "reserve"))
                yield domain, arguments, results.get(call.id, ""), books


def delexicalise(reply: str, venues: Venues, references: frozenset[str] = frozenset()) -> str:
    """Return the placeholders of the values that a reply gives, each kind once, apart by spaces.

    Args:
        reply: What the agent said.
        venues: Whose names and addresses are looked for.
        references: What calls have returned so far; other codes are no references.
    """
    words = plain_words(reply)
    closed = _closed(reply)
    looks: dict[str, Callable[[], object]] = {
        "NAME": lambda: venues.names_any(reply),
        "PHONE": lambda: _PHONE.search(words),
        "ADDRESS": lambda: venues.gives_address(reply),
        "POST": lambda: _POST.search(words),
        "REFERENCE": lambda: any(_closed(code) in closed for code in references),
        "TRAINID": lambda: venues.named("train", reply),
    }
    return " ".join(slot for slot, look in looks.items() if look())


# The judge


_SHARE: Final = Scale(0, 1, integer=False)
_BINARY: Final = Scale(0, 1)
DIMENSIONS: Final = (
    *(PlainDimension(name, "conversation", _BINARY) for name in ("inform", "success")),
    PlainDimension("joint_goal", "conversation", _SHARE),
)


class MultiwozSuccess:
    """Judges whole dialogues by goal and data base: a request must carry the conversation unblinded."""

    name = "multiwoz success"
    reads: frozenset[Reads] = frozenset()
    together = True
    dimensions = DIMENSIONS

    def __init__(self, venues: Venues, goals: Goals = NO_GOALS) -> None:
        """Take the data base, and goals in a file of their own."""
        self.venues, self.goals = venues, goals

    @cached_property
    def digest(self) -> str:
        """Changes with tables and goals."""
        parts = [self.venues.digest, self.goals.digest]
        return digest({"judge": self.name, "version": _VERSION, "parts": parts})

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest."""
        return {"judge": self.name, "version": _VERSION, "mode": "hindsight"}

    def expect(self, conversation: Conversation) -> None:
        """Raise RecordFault where a conversation has no goal, or one of another form."""
        self.goals.of(conversation)

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the conversation as a whole."""
        return (self.judge_now(request.conversation),)

    def judge_now(self, conversation: Conversation) -> Judged:
        """Judge without an event loop."""
        annotation = self.goals.of(conversation)
        goal, own = goal_of(annotation.goal), own_turns(conversation, self.venues)
        stored = bool(annotation.readings)
        readings = annotation.readings if stored else [turn.reading for turn in own]
        booked = [turn.booked for turn in own] if annotation.booked is None else annotation.booked
        by_domain = outcomes(goal, published_facts(goal, readings, booked, self.venues), self.venues)
        inform = all(o.inform for o in by_domain.values())
        scores: dict[str, Number] = {
            "inform": int(inform),
            "success": int(inform and not any(o.missing for o in by_domain.values())),
            "joint_goal": _joint_goal(annotation, readings),
        }
        details: dict[str, Any] = {
            "task": conversation.id,
            "read": "stored" if stored else "own",
            "domains": {d: {"inform": o.inform, "missing": list(o.missing)} for d, o in by_domain.items()},
            "failed": list(_failed(by_domain)),
        }
        target = Target(conversation.id, "conversation", None, conversation.candidate)
        issues = _issues(goal, by_domain, readings[-1].state if readings else {})
        return Judged(target, Judgement(as_scores(scores), issues=tuple(issues), details=details))


def _issues(
    goal: Goal, by_domain: Mapping[str, DomainOutcome], state: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Say what failed, with the slots of the goal and of the last state."""
    for domain, outcome in by_domain.items():
        if not outcome.inform:
            searched = {slot_name(slot): str(value) for slot, value in state.get(domain, {}).items()}
            slots = (_wanted(*pair, searched) for pair in goal[domain].informable.items())
            yield f"{domain}: what was offered does not fit the goal ({'; '.join(slots)})"
        yield from (f"{domain}: {_WORDS[slot]} not told" for slot in outcome.missing)


def _wanted(slot: str, value: str, searched: Mapping[str, str]) -> str:
    other = searched.get(slot_name(slot), value)
    same = other.lower() == value.lower()
    return f"{slot} {value}" if same else f"{slot} {value}, searched for {other}"


def _failed(by_domain: Mapping[str, DomainOutcome]) -> Iterator[str]:
    """Say what failed, in words that dialogues share."""
    for domain, outcome in by_domain.items():
        if not outcome.inform:
            yield f"{domain}: what was offered does not fit the goal"
        for slot in outcome.missing:
            yield f"{domain}: {_WORDS[slot]} not told"


def _joint_goal(annotation: Annotation, readings: Sequence[Reading]) -> Number:
    """Return the share of turns whose state is the gold one in every slot; n/a without gold states."""
    gold = annotation.states
    if not gold:
        return NOT_APPLICABLE
    states = [reading.state for reading in readings]
    same = sum(_flat(one) == _flat(other) for one, other in zip(states, gold, strict=False))
    return same / max(len(gold), len(states))


def _flat(state: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    return {(d, slot_name(s)): str(v).lower() for d, slots in state.items() for s, v in slots.items()}
