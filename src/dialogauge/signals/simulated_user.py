"""Faults of simulated users, seen in a session without a model, in English and Chinese.

What a user was to be like stands in the session's metadata (`session`): facts, goal, persona, patience, and how
the session ended. A check that needs what a session does not have leaves the session out: it is n/a, not 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from typing import Final

from dialogauge.core import Conversation
from dialogauge.core.conversation import SESSION
from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.answering import asks_something
from dialogauge.signals.attributes import ATTRIBUTES
from dialogauge.signals.caching import lazy_property
from dialogauge.signals.dialogue import TextView, TurnView, cut, read_dialogue
from dialogauge.signals.features import find_signals
from dialogauge.signals.grounding.values import number_of, read_values
from dialogauge.signals.other_side import OtherSide, offers, speaks_as_other
from dialogauge.signals.reactions import react
from dialogauge.signals.signal import suffices
from dialogauge.signals.user_fault import USER_FAULTS, UserFault, UserFaultKind
from dialogauge.text import content_terms, normalise, pieces, words

# ruff: noqa: E501 - a pattern is read as a whole, not in lines


@dataclass(frozen=True, slots=True)
class SessionCheck:
    """What the checks make of one session."""

    shares: Mapping[UserFaultKind, float]
    """0 or 1, of unused facts their share; a check that leaves the session out is absent."""
    faults: tuple[UserFault, ...]
    """In the order of the kinds, then of the turns."""


def check_user(conversation: Conversation) -> SessionCheck:
    """Check the user's side of a session, of the turns that are new in it.

    Reads messages and the metadata `session`; of a conversation without it, only what messages show.
    """
    session = _PlayedSession(conversation)
    facts, several = bool(session.facts), len(session.turns) > 1
    checks = (
        (bool(session.turns), _speaking),
        (several, _repeating),
        (session.may_give_away, _giving_away),
        (facts and several, _telling_unasked),
        (session.ended is not None and bool(session.turns), _stopping),
        (several and bool(session.goal or session.serves), _going_on),
        (session.impatient and bool(session.failures), _never_objecting),
    )
    shares: dict[UserFaultKind, float] = {}
    faults: list[UserFault] = []
    for kind, (applies, find) in zip(USER_FAULTS, checks, strict=False):
        if applies:
            seen = [UserFault(kind, turn, cut(quote), detail) for turn, quote, detail in find(session)]
            shares[kind] = float(bool(seen))
            faults += seen
    if session.details:
        unused = [(n, text) for n, text in session.details if not session.uses(text)]
        shares["unused_facts"] = len(unused) / len(session.details)
        faults += (UserFault("unused_facts", None, cut(text), name) for name, text in unused)
    return SessionCheck(shares, tuple(faults))


Seen = Iterator[tuple[int, str, str]]
"""Turn, quote and detail of each fault."""


class _PlayedSession:
    """A session as the checks see it; what is wrong with its metadata counts as absent."""

    def __init__(self, conversation: Conversation) -> None:
        session = _mapping(conversation.metadata.get(SESSION))
        user, facts = _mapping(session.get("user")), _mapping(_mapping(session.get("user")).get("facts"))
        self.instructions = conversation.instructions
        self.ended = _text(session.get("ended")) or None
        self.persona, self.goal, self.opening = (_text(user.get(k)) for k in ("persona", "goal", "opening"))
        self.facts = {str(name): _text(fact) for name, fact in facts.items() if _text(fact)}
        self.impatient = user.get("kind") == "adversarial" or user.get("patience") is not None
        self.dialogue = read_dialogue(conversation)
        new = {t.number for t in conversation.turns if t.start >= conversation.prefix}
        self.turns = [t for t in self.dialogue.turns if t.number in new and t.user.text.strip()]

    def before(self, turn: TurnView) -> list[TextView]:
        """Return what the other side said before a turn's user message, the latest last."""
        opening = [self.dialogue.opening] if self.dialogue.opening.text else []
        return [*opening, *(t.reply for t in self.dialogue.replied if t.number < turn.number)]

    @lazy_property
    def other(self) -> OtherSide:
        """The side that the user talks to."""
        known = "\n".join((self.goal, self.opening, *self.facts.values()))
        return OtherSide(self.instructions[:2000], self.persona, known)

    @property
    def serves(self) -> bool:
        """Whether the other side is a service: it has facts to ask for, calls tools, or offers its help."""
        known = bool(self.facts) or any(t.called for t in self.dialogue.turns)
        return known or any(offers(s) for t in self.dialogue.replied for s in t.reply.sentences)

    @property
    def may_give_away(self) -> bool:
        """Whether there is a goal, or facts, and the first message is the user's own."""
        own = bool(self.turns) and normalise(self.turns[0].user.text) != normalise(self.opening)
        return own and bool(self.facts or len(_terms(self.goal)) >= _GOAL_LEAST)

    @lazy_property
    def failures(self) -> list[tuple[int, str]]:
        """Turns before the last in which the other side failed, with the words that show it."""
        new = {t.number for t in self.turns[:-1]}
        signals = [s for s in find_signals(self.dialogue, "foresight") if s.turn in new]
        return [(s.turn, s.quote) for s in signals if suffices(o for o in signals if o.turn == s.turn)]

    @lazy_property
    def details(self) -> list[tuple[str, str]]:
        """The facts by name; without any, the statements of the persona."""
        parts = (p.strip() for p in _CLAUSES.split(self.persona))
        return list(self.facts.items()) or [("persona", part) for part in parts if _terms(part)]

    def uses(self, text: str) -> bool:
        """Whether the user's messages take up a detail."""
        spoken = "\n".join(t.user.text for t in self.turns)
        return tells(spoken, text) if self.facts else bool(_terms(text) & _terms(spoken))


_CLAUSES: Final = lazy_pattern(r"[.。;；!！\n]|,\s|，|\band\b")


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(_text, value))
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


# Speaks as the other side, repeats itself

_ECHO: Final = 7
"""Tokens (words, Chinese characters) of a message that can be an echo of a reply."""
_SAME, _SHAPE = 0.8, 0.65
"""Share of tokens in common, in order, of messages that say the same, and of those of one shape."""
_LEAST, _CONTENT = 4, 4
"""Tokens of a message that can repeat another; content terms of two that say the same in other words."""
_OFTEN, _HEAD = 3, 60
"""Messages of one shape that are a habit; tokens of a message that are compared."""
_TOKEN: Final = lazy_pattern(r"[^\W\d_\u3400-\u9fff]+(?:['’][a-z]+)?|\d+|[\u3400-\u9fff]")


@lru_cache(maxsize=512)
def _tokens(text: str) -> tuple[str, ...]:
    """Return the first tokens of a text; kept, for each message is held against all before it."""
    return tuple(_TOKEN.findall(text.lower().replace("’", "'"))[:_HEAD])


@lru_cache(maxsize=512)
def _bag(tokens: tuple[str, ...]) -> frozenset[tuple[str, int]]:
    """Return the tokens, the second of a kind as another: so sets of them have in common what texts have."""
    return frozenset((token, tokens[:at].count(token)) for at, token in enumerate(tokens))


def _alike(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """Return the share of tokens that two texts have in common in the same order, 0..1."""
    if a == b:
        return 1.0
    # Most texts have too few tokens in common, in whatever order.
    both = _SHAPE * (len(a) + len(b)) / 2
    can_be = min(len(a), len(b)) >= both and len(_bag(a) & _bag(b)) >= both
    return SequenceMatcher(None, a, b, autojunk=False).ratio() if can_be else 0.0


def _speaking(session: _PlayedSession) -> Seen:
    """Yield messages that speak as the other side, and those that say again what it said."""
    for turn in session.turns:
        hit, mine = speaks_as_other(turn.user, session.other), _tokens(turn.user.text)
        heard = session.before(turn) if not hit and len(mine) >= _ECHO else ()
        if any(_alike(mine, _tokens(r.text)) >= _SAME for r in heard):
            hit = (turn.user.text, "echo")
        if hit:
            yield turn.number, *hit


def _repeating(session: _PlayedSession) -> Seen:
    """Yield messages that say the same as an earlier one, and those from the third on of one shape."""
    earlier: list[tuple[TurnView, tuple[str, ...]]] = []
    for turn in session.turns:
        mine = _tokens(turn.user.text)
        shares = [(t, _alike(mine, of)) for t, of in earlier if min(len(of), len(mine)) >= _LEAST]
        same = [t for t, share in shares if _says_the_same(turn.user, t.user, share)]
        if len(same) == 1 and _asked(session, same[0]) & _asked(session, turn):
            same = []  # who is asked twice has to say it twice
        shape = [t for t, share in shares if share >= _SHAPE]
        if len(mine) < _LEAST:
            brief = [t for t, of in earlier if of == mine]
            shape = brief if 2 * len(brief) + 2 >= len(session.turns) else []
        if same or len(shape) >= _OFTEN - 1:
            yield turn.number, turn.user.text, str((same or shape)[0].number)
        earlier.append((turn, mine))


def _says_the_same(now: TextView, before: TextView, share: float) -> bool:
    """Whether two messages say the same, or one says a whole sentence of the other again."""
    both = len(now.terms & before.terms)
    either = len(now.terms) + len(before.terms) - both
    alike = both / max(1, either)
    if (share >= _SAME and (alike >= _SHAPE or not either)) or (either >= _CONTENT and alike >= _SAME):
        return True
    pairs = product(now.sentences, before.sentences) if both > 1 else ()
    return any(
        (common := len(s.terms & t.terms)) >= max(2, _SAME * (len(s.terms) + len(t.terms) - common))
        and min(s.units, t.units) >= _LEAST
        and _alike(_tokens(s.text), _tokens(t.text)) >= _SAME
        for s, t in pairs
    )


def _asked(session: _PlayedSession, turn: TurnView) -> set[str]:
    """Return the content terms of what the other side asks just before a message."""
    asked = (s for r in session.before(turn)[-1:] for s in r.sentences if _ASKS.search(s.plain))
    return {term for sentence in asked for term in sentence.terms}


# Gives the goal away, tells what is to be asked for

_MOSTLY, _GOAL_LEAST = 0.6, 3
"""Share of a fact's, or of a goal's, values and terms in a message that tells it; terms of a goal at least."""
_NUMERALS: Final = lazy_pattern("[零一二两三四五六七八九十百千万]+")
_PURPOSE: Final = frozenset(("find", "learn", "get", "want", "ask", "try", "know", "tell", "discov", "end"))


def _in_digits(text: str) -> str:
    """Write Chinese numerals as digits."""
    return _NUMERALS.sub(lambda m: m[0] if (n := number_of(m[0])) is None else f"{n:g}", text)


def _terms(text: str) -> frozenset[str]:
    """Return stems of words, numbers, and single Chinese characters; function words are left out."""
    terms = content_terms(pieces(text))
    return frozenset(c for t in terms for c in (t if "\u3400" <= t[0] <= "\u9fff" else (t,))) - _PURPOSE


def tells(text: str, fact: str) -> bool:
    """Whether a text tells a fact: most of its values, in any writing, and of its other content terms."""
    rest, text = _in_digits(fact), _in_digits(text)
    closed, values = "".join(words(text)), read_values(rest)
    amounts = {n for v in read_values(text) for n in _amounts(v.kind, v.amount)}
    hits = 0
    for value in values:
        hits += value.text in closed if value.text else bool(_amounts(value.kind, value.amount) & amounts)
        rest = rest.replace(value.written, " ", 1)
    if values and not hits:
        return False
    wanted = _terms(rest)
    total = len(values) + len(wanted)
    return (
        hits + len(wanted & _terms(text)) >= _MOSTLY * total if total else normalise(fact) in normalise(text)
    )


def _amounts(kind: str, amount: float) -> set[float]:
    """Return the number of a value; of a date also the day alone."""
    return {amount, amount % 100} if kind == "date" else {amount}


def _giving_away(session: _PlayedSession) -> Seen:
    """Yield a first message that tells most of what is to be told when asked; without facts, the goal."""
    turn = session.turns[0]
    facts = {name: fact for name, fact in session.facts.items() if not tells(session.opening, fact)}
    known = [name for name, fact in facts.items() if tells(turn.user.text, fact)]
    goal, of_goal = _terms(session.goal), len(_terms(session.goal) & _terms(turn.user.text))
    gives = of_goal >= max(_GOAL_LEAST, _MOSTLY * len(goal))
    if facts:
        most = 2 * len(known) > len(facts) and (len(known) > 1 or 2 * of_goal >= len(goal) > 0)
        gives = most or (bool(known) and of_goal > max(_GOAL_LEAST, 0.75 * len(goal)))
    asked = any(asks_something(r.text) for r in session.before(turn))
    if gives and not (asked and len(known) == 1):
        yield turn.number, turn.user.text, ", ".join(known) or "goal"


_ASKS: Final = lazy_pattern(
    r"[?？]|\b(?:please|tell me|i(?:'ll)? need|let me know|provide|give me|send me|share|confirm)\b|请|告诉|麻烦|提供|报一下|说一下|需要"
)


def _telling_unasked(session: _PlayedSession) -> Seen:
    """Yield facts that are told after the first message although nobody asked for them, two or more.

    Who answers a question that fits none of the facts is not said to tell anything unasked. One fact slips out
    of people too, beside what they were asked for.
    """
    unasked_for: list[tuple[int, str, str]] = []
    first = f"{session.opening}\n{session.turns[0].user.text}"
    known = {name for name, fact in session.facts.items() if tells(first, fact)}
    for turn in session.turns[1:]:
        new = [n for n, f in session.facts.items() if n not in known and tells(turn.user.text, f)]
        known.update(new)
        replies = session.before(turn)
        unasked = [n for n in new if not any(_asks_for(r, n, session.facts[n]) for r in replies)]
        if len(unasked) == len(new) and any(_ASKS.search(r.edges) for r in replies[-1:]):
            continue
        for name in unasked:
            if not any(tells(r.text, session.facts[name]) for r in replies[-1:]):
                unasked_for.append((turn.number, turn.user.text, name))
    yield from unasked_for if len(unasked_for) > 1 else ()


def _asks_for(reply: TextView, name: str, fact: str) -> bool:
    """Whether a reply asks for a fact: by its name, by the fact itself, or as for what has such a value."""
    asking = [s for s in reply.sentences if _ASKS.search(s.plain)]
    kinds = [
        a for a in ATTRIBUTES if a.is_stated_in(normalise(fact)) or a.is_asked_in(normalise(f"the {name}"))
    ]
    wanted = _terms(f"{name} {fact}")
    return any(_terms(s.text) & wanted or any(a.is_asked_in(s.plain) for a in kinds) for s in asking)


# Stops early, goes on, never objects


def _stopping(session: _PlayedSession) -> Seen:
    """Yield an end by the user while a question was open, or with facts that nobody was told yet."""
    last = session.turns[-1]
    used = [session.uses(fact) for fact in session.facts.values()]
    open_question = last.replied and last.reply.text.rstrip()[-1:] in ("?", "？")
    polite = react(last.user).closing or react(last.user).thanks
    early = (bool(used) and not any(used)) if polite else open_question or not all(used)
    if early and session.ended == "user":
        yield last.number, last.user.text, ""


_LEAVES: Final = lazy_pattern(
    r"\b(?:good ?bye|bye|good night|see you|farewell|take care|that'?s (?:all|everything|it)(?: for (?:now|today)| i need\w*)?|nothing else|have a (?:good|great|nice|lovely|wonderful) \w+)\b"
    r"|再见|拜拜|晚安|回头见|没(?:有)?(?:别的|其他|其它)(?:问题|事)?了|没(?:有)?问题了|就这些|告辞"
)
_BRIEF: Final = 25
"""Words of a message that does no more than take leave."""


def _going_on(session: _PlayedSession) -> Seen:
    """Yield the second message that follows after the user took leave: one may answer a goodbye."""
    leaves = (
        at
        for at, t in enumerate(session.turns)
        if t.user.units <= _BRIEF and _LEAVES.search(t.user.edges) and not asks_something(t.user.edges)
    )
    first = next(leaves, len(session.turns))
    for turn in session.turns[first + 2 : first + 3]:
        yield turn.number, turn.user.text, str(session.turns[first].number)


def _never_objecting(session: _PlayedSession) -> Seen:
    """Yield the first failure of the other side in a session without any objection after it."""
    number, quote = session.failures[0]
    later = [react(t.user) for t in session.turns if t.number > number]
    if not any(r.objects or r.rejects or r.left_out for r in later):
        yield number, quote, ""
