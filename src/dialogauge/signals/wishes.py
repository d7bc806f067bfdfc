"""What the user ruled out, and replies that bring it up all the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialogauge.signals import diets
from dialogauge.signals.reading import Dialogue, TurnView
from dialogauge.signals.signal import FaultKind, Signal, cut
from dialogauge.signals.wording import note
from dialogauge.text import normalise, stem, words

__all__ = ["find_broken_wishes"]


@dataclass(frozen=True, slots=True)
class _Wish:
    turn: int
    words: tuple[str, ...]


def find_broken_wishes(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that propose what the user cannot have or does not want.

    Food and drink in the main: diets, allergies and plain dislikes. A sentence with a negation, a
    replacement or a warning in it proposes nothing.
    """
    wishes: list[_Wish] = []
    for turn in dialogue.turns:
        wishes.extend(_wishes(turn))
        if turn.replied and wishes:
            yield from _broken(turn, wishes)


def _wishes(turn: TurnView) -> Iterator[_Wish]:
    plain = turn.user.plain
    for pattern, ruled_out in diets.DIETS if diets.ANY_DIET.search(plain) else ():
        if re.search(pattern, plain):
            yield _Wish(turn.number, ruled_out)
    for match in diets.RULED_OUT.finditer(plain) if diets.RULES_OUT.search(plain) else ():
        found = next((g for g in match.groups() if g), "")
        things = [t.strip() for t in diets.SPLIT.split(found)]
        kept = tuple(_root(t) for t in things if t and t not in diets.NOT_FOOD and t not in diets.ZH_NOT)
        if kept:
            yield _Wish(turn.number, kept)


def _root(thing: str) -> str:
    return stem(thing) if thing.isascii() else thing


def _broken(turn: TurnView, wishes: list[_Wish]) -> Iterator[Signal]:
    asked_for = normalise(turn.user.text)
    hits: list[tuple[_Wish, str, str]] = []
    for sentence in turn.reply.sentences:
        plain = sentence.plain
        stems = frozenset(stem(w) for w in words(plain) if w.isascii())
        for wish in wishes:
            named = [w for w in wish.words if _named(w, stems, plain)]
            if wish.turn != turn.number:
                named = [w for w in named if w not in asked_for]
            if named and not diets.NEGATED.search(plain):
                hits.extend((wish, word, sentence.text) for word in named)
    if hits:
        wish, word, quote = hits[0]
        strength = min(0.95, 0.6 + 0.15 * (len(hits) - 1))
        text = note("against_wish", turn.language, what=word, turn=wish.turn)
        kind: FaultKind = "forgotten_fact" if wish.turn < turn.number else "ignored_correction"
        yield Signal("against_wish", turn.number, strength, cut(quote), text, "context_use", kind)


def _named(word: str, stems: frozenset[str], plain: str) -> bool:
    return stem(word) in stems if word.isascii() else word in plain
