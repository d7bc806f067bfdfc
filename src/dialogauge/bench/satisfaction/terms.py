"""Where the terms of a rationale come from: the conversation at hand, or other scenarios of its user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dialogauge.core import Conversation
from dialogauge.judge.personal import RatedBlock, RatedReply
from dialogauge.text import LanguageTally, content_terms, pieces

__all__ = ["TermOrigin", "Vocabulary", "terms_of"]

_AT_HOME = 4.0
"""A term is of the source scenarios when it is at least so many times as frequent there."""

_TEXTS_KEPT = 1024

Terms = frozenset[str]


@dataclass(frozen=True, slots=True)
class TermOrigin:
    """The content terms of one rationale: stems of words, numbers, bigrams of Chinese."""

    here: Terms
    """They occur in the target conversation."""
    sources_only: Terms
    """They occur in the user's source scenarios and not in the target conversation."""
    of_sources: Terms
    """Of these, the ones that belong there: at least four times as frequent in a source scenario as in the
    target's, over the conversations of all users. The others are common words that this one lacks."""
    neither: Terms

    @property
    def off_task(self) -> bool:
        """Whether more of the rationale belongs to source scenarios than to the conversation."""
        return len(self.of_sources) > len(self.here)


class Vocabulary:
    """The content terms of the conversations of a study."""

    def __init__(self, blocks: Sequence[RatedBlock], rationales: Iterable[str]) -> None:
        """Count in how many conversations of each scenario the terms of the rationales occur."""
        # A user's conversations are read for each of their blocks, and for the block before.
        self._read = lru_cache(maxsize=_TEXTS_KEPT)(terms_of)
        wanted = self._union(rationales)
        self._frequency: dict[str, Counter[str]] = {}
        self._conversations: Counter[str] = Counter()
        for block in blocks:
            longest = {r.conversation.id: r.conversation for r in block.view.targets}
            held = self._frequency.setdefault(block.view.scenario, Counter())
            for conversation in longest.values():
                held.update(self.of(conversation) & wanted)
                self._conversations[block.view.scenario] += 1

    def of(self, conversation: Conversation) -> Terms:
        """Return the terms of a conversation, its task included."""
        texts = [conversation.scenario or "", conversation.context or ""]
        return self._union([*texts, *(m.text for m in conversation.messages)])

    def of_history(self, history: Iterable[RatedReply]) -> Terms:
        """Return the terms of all conversations of a history."""
        held = {r.reply.conversation.id: r.reply.conversation for r in history}
        return frozenset[str]().union(*(self.of(c) for c in held.values()))

    def origin(
        self, rationale: str, conversation: Conversation, sources: Terms, scenarios: Iterable[str]
    ) -> TermOrigin | None:
        """Say where the terms of a rationale occur; None when they cannot be compared.

        That is when it has none, or is in another language than the conversation.

        Args:
            rationale: What the judge gave as its grounds.
            conversation: As the judge was shown it.
            sources: The terms of the user's source scenarios.
            scenarios: Their names.
        """
        terms = terms_of(rationale)
        if not terms or _language([rationale]) != _language(m.text for m in conversation.messages):
            return None
        here = terms & self.of(conversation)
        sources_only = (terms & sources) - here
        names = tuple(scenarios)
        at_home = {t for t in sources_only if self._at_home(t, str(conversation.scenario), names)}
        return TermOrigin(here, sources_only, frozenset(at_home), terms - here - sources_only)

    def _at_home(self, term: str, target: str, sources: Sequence[str]) -> bool:
        there = max((self._share(term, name) for name in sources), default=0.0)
        return there >= _AT_HOME * self._share(term, target)

    def _share(self, term: str, scenario: str) -> float:
        n = self._conversations[scenario]
        return self._frequency[scenario][term] / n if n else 0.0

    def _union(self, texts: Iterable[str]) -> Terms:
        return frozenset[str]().union(*(self._read(text) for text in texts))


def terms_of(text: str) -> Terms:
    """Return the content terms of a text."""
    return content_terms(pieces(text))


def _language(texts: Iterable[str]) -> str:
    tally = LanguageTally()
    for text in texts:
        tally.add(text)
    return tally.language()
