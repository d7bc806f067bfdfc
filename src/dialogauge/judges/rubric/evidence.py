"""What a reply quotes, looked up in what was said; and what the items that are proven come to."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from dialogauge.core.conversation import Message, Turn
from dialogauge.core.judgement import Evidence
from dialogauge.core.scores import Number, round_score
from dialogauge.judges.rubric.reply import UNPROVEN, Item, Items, ParsedPart, ParsedReply, share
from dialogauge.rubrics import ItemList, Rubric

_MOST_QUOTES: Final = 50
"""Of one reply or turn that are looked up; a reply has a few."""
_MARKS: Final = str.maketrans(dict.fromkeys('"“”„‟«»‹›「」『』‘’‚‛`´', "'") | dict.fromkeys("‐‑‒–—―", "-"))


def _plain(text: str) -> str:
    """Return a text without what differs between copies of it.

    That is case, white space, the form of quotation marks and dashes, the width of letters and punctuation.
    """
    return "".join(unicodedata.normalize("NFKC", text).translate(_MARKS).casefold().split())


class Material:
    """Texts in which quotes are looked up."""

    def __init__(self, messages: Iterable[Message], *texts: str) -> None:
        """Take messages with the arguments of their tool calls, and further texts."""
        messages = tuple(messages)
        arguments = (call.arguments for m in messages for call in m.tool_calls)
        self._written = "\n".join((*(m.text for m in messages), *arguments, *texts))
        self._left = _MOST_QUOTES

    @cached_property
    def _plain(self) -> str:
        return _plain(self._written)

    def place(self, quote: str) -> str | None:
        """Return the words that occur, without what surrounds a quote; None where they do not.

        Only so many are looked up, so that a reply of thousands of quotes holds nobody up.
        """
        if self._left <= 0:
            return None
        self._left -= 1
        words = " ".join(quote.split()).strip(" \"'“”‘’「」…").removesuffix("...").strip()
        plain = _plain(words).strip("'.")
        # Word for word is the rule; only else is looked past what differs between copies.
        return words if plain and (words in self._written or plain in self._plain) else None


def supported(quotes: Iterable[tuple[str, str]], turn: Turn) -> tuple[tuple[Evidence, ...], int]:
    """Keep the quotes that occur in the turn; return them and how many were dropped."""
    quotes = tuple(quotes)
    if not quotes:
        return (), 0
    material = Material(turn.messages)
    places = [(dimension, material.place(quote)) for dimension, quote in quotes]
    kept = tuple(Evidence(turn.number, plain, dimension) for dimension, plain in places if plain)
    return kept, len(quotes) - len(kept)


def proven(
    rubric: Rubric, part: ParsedPart, turn: Turn, before: Sequence[Message], source: str | None
) -> tuple[ParsedPart, int]:
    """Let the items that need a quote count only where it occurs; return how many do not.

    It must occur in the source or before the end of the turn, and not in the reply itself.

    Args:
        rubric: What is judged by.
        part: What a reply says of the turn.
        turn: The judged turn.
        before: The messages before it.
        source: The text that claims are checked against, if there is one.
    """
    lists = {x.name: x for x in rubric.items if x.quoted and x.name in part.items}
    if not lists:
        return part, 0
    material = Material((*before, *turn.user, *turn.steps), source or "")
    scores, items, dropped = dict(part.scores), dict(part.items), 0
    for name, x in lists.items():
        looked_up = [
            item
            if item.option not in x.quoted or material.place(item.quote)
            else item._replace(option=UNPROVEN)
            for item in items[name]
        ]
        dropped += sum(item.option == UNPROVEN for item in looked_up)
        items[name] = tuple(looked_up)
        scores[x.dimension] = share(x, items[name])
    return replace(part, scores=scores, items=items), dropped


def with_criteria(rubric: Rubric, reply: ParsedReply, turns: Sequence[Turn]) -> ParsedReply:
    """Keep of a reply the criteria whose quotes occur in the turns that were to be judged, and score by them.

    Args:
        rubric: What is judged by.
        reply: With the criteria as the model named them.
        turns: The judged turns; not those that are shown as history.
    """
    if not any(x.adds_up for x in rubric.items):
        return reply
    own = {
        t.number: _by_criteria(rubric, reply.turns[t.number], (t,)) for t in turns if t.number in reply.turns
    }
    return replace(reply, turns={**reply.turns, **own}, whole=_by_criteria(rubric, reply.whole, turns))


def _by_criteria(rubric: Rubric, part: ParsedPart, turns: Sequence[Turn]) -> ParsedPart:
    lists = [x for x in rubric.items if x.adds_up and x.name in part.items]
    if not lists:
        return part
    materials = {t.number: Material(t.messages) for t in turns}
    items, evidence, dropped = dict(part.items), list(part.evidence), dict(part.dropped)
    for x in lists:
        named: dict[str, Item] = {}
        for item in items[x.name]:
            # In the turns that it names first: the words may be said more than once.
            order = sorted(materials, key=lambda number: (number not in item.turns, number))
            places = ((number, materials[number].place(item.quote)) for number in order)
            turn, words = next(((n, words) for n, words in places if words), (0, ""))
            if not words:
                dropped["quotes_unsupported"] = dropped.get("quotes_unsupported", 0) + 1
                continue
            evidence.append(Evidence(turn, words, item.option))
            first = named.setdefault(item.option, Item("", item.option, words, ()))
            seen = {*first.turns, turn, *(n for n in item.turns if n in materials)}
            named[item.option] = first._replace(turns=tuple(sorted(seen)))
        items[x.name] = tuple(named.values())
    scores = {**part.scores, **{x.dimension: added_up(rubric, x, items[x.name]) for x in lists}}
    return replace(part, scores=scores, items=items, evidence=tuple(evidence), dropped=dropped)


def added_up(rubric: Rubric, criteria: ItemList, entries: Items) -> Number:
    """Return the base and the weights of the criteria that hold, each once, within the dimension's scale.

    clip(b + sum of w_c over the criteria named, low, high): Eq. 4 of arXiv:2605.29256. Without an entry it is
    the base. Base and weights are those that were fitted to people, where there are such.
    """
    scale = next(d.scale for d in rubric.at(criteria.level) if d.name == criteria.dimension)
    names = {entry.option for entry in entries}
    base, weights = rubric.counts(criteria)
    total = base + sum(w for name, w in weights.items() if name in names)
    return round_score(float(min(max(total, scale.low), scale.high)))


def merged_criteria(lists: Sequence[Items]) -> Items:
    """Join what several parts of a conversation show: each criterion once, with the turns of all parts."""
    by_name: dict[str, Item] = {}
    for item in (item for items in lists for item in items):
        first = by_name.setdefault(item.option, item)
        turns = tuple(sorted({*first.turns, *item.turns}))
        by_name[item.option] = first._replace(turns=turns)
    return tuple(by_name.values())
