"""The base of memories that write down what dialogues tell: by a model, or by the weight of words alone."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeVar, get_type_hints

from dialogauge.agents.memory.protocol import SystemFault
from dialogauge.agents.memory.systems import KeptDialogues
from dialogauge.core import Conversation, Usage, digest
from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import read_as
from dialogauge.judges.rubric.prompt import as_json as shown_json
from dialogauge.judges.rubric.prompt import messages_of, reasker
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest, ReplySchema
from dialogauge.llm.structured import ask
from dialogauge.retrieval import LexicalIndex, idf
from dialogauge.rubrics import own_template, split_template
from dialogauge.text import has_chinese, listed_terms, pieces

T = TypeVar("T")

ROLE: Final = "memory"
"""Of the model that writes."""
_WORDS: Final = 6
"""Keywords of a text."""
_RECENT: Final = 16
"""Texts that a keyword leads to: the latest."""
_FILE: Final = "written.json"
_LEAST: Final = 2
"""Keywords that two texts must share to be near."""


@dataclass
class Keywords:
    """The words of texts by weight, and which texts share them; a text costs the same however many there are.

    The weight of a word is how often the text has it, times its idf among the texts so far.
    """

    size: int = 0
    """Texts."""
    having: dict[str, int] = field(default_factory=dict)
    """By word how many texts have it."""
    latest: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By keyword the texts that it leads to, the latest last."""

    def __copy__(self) -> Keywords:
        return Keywords(self.size, dict(self.having), dict(self.latest))

    def learn(self, text: str) -> tuple[str, ...]:
        """Take in a text, and return its keywords, the weightiest first."""
        counts = Counter(listed_terms(pieces(text)))
        self.size += 1
        for word in counts:
            self.having[word] = self.having.get(word, 0) + 1
        weight = {word: count * self._idf(word) for word, count in counts.items()}
        return tuple(sorted(weight, key=lambda word: (-weight[word], word))[:_WORDS])

    def forget(self, text: str) -> None:
        """Take back what a text was counted for."""
        self.size -= 1
        for word in set(listed_terms(pieces(text))):
            if (left := self.having.pop(word) - 1) > 0:
                self.having[word] = left

    def lead(self, words: Iterable[str], key: str) -> None:
        """Let keywords lead to a text."""
        for word in words:
            self.latest[word] = (*(k for k in self.latest.get(word, ()) if k != key), key)[-_RECENT:]

    def leave(self, words: Iterable[str], key: str) -> None:
        """Let keywords no longer lead there."""
        for word in words:
            if left := tuple(k for k in self.latest.pop(word, ()) if k != key):
                self.latest[word] = left

    def near(self, words: Iterable[str], most: int) -> list[str]:
        """Return the texts that share most with keywords, by weight; of equal ones the latest."""
        shared: dict[str, list[float]] = {}
        for word in words:
            for key in reversed(self.latest.get(word, ())):
                shared.setdefault(key, []).append(self._idf(word))
        near = [key for key, weights in shared.items() if len(weights) >= _LEAST]
        return sorted(near, key=lambda key: -sum(shared[key]))[:most]

    def _idf(self, word: str) -> float:
        return idf(self.having.get(word, 0), self.size)


@dataclass
class WrittenMemory(KeptDialogues):
    """Keeps what it writes of dialogues, and of these themselves no message; the base of notes and tiers.

    With a model, a call that fails, or whose reply cannot be used after it was asked for once more, is a
    `SystemFault`: its dialogue is not taken in, and nothing empty stands for what was not written.
    """

    client: ChatClient | None = None
    """Who writes; None for the reduced form."""
    index: LexicalIndex = field(default_factory=LexicalIndex, init=False)
    """What can be given, by key."""
    words: Keywords = field(default_factory=Keywords, init=False)
    usage: Usage = field(default_factory=Usage, init=False)
    """What the model took for the dialogue that is taken in."""
    prompt: ClassVar[str]
    """The name of the template."""
    state: ClassVar[Sequence[str]]
    """Fields that are saved beside `words`."""

    def describe(self) -> Mapping[str, Any]:
        """Return the name, and of the model what it says of itself."""
        if self.client is None:
            return {"system": self.name}
        wording = digest([own_template(self.prompt, language) for language in ("en", "zh")])
        return {"system": self.name, "model": dict(client_identity(self.client)), "prompt": wording}

    def fork(self) -> Self:
        """Return one that holds the same."""
        other = super().fork()
        for name in ("index", "words", *self.state):
            setattr(other, name, copy(getattr(self, name)))
        return other

    def save(self, folder: Path) -> None:
        """Write which dialogues are known, and what was written of them."""
        super().save(folder)
        kept = {name: as_json(getattr(self, name)) for name in ("words", *self.state)}
        (folder / _FILE).write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")

    async def load(self, folder: Path) -> None:
        """Read all of that; no model is asked again."""
        self.known.update({c.id: (c, corpus) for c, corpus in self._stored(folder)})
        kept = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        shapes = get_type_hints(type(self))
        for name in ("words", *self.state):
            setattr(self, name, read_as(kept[name], shapes[name]))
        for key, text in self._texts():
            self.index.add(key, text)

    @abstractmethod
    def _texts(self) -> Iterator[tuple[str, str]]:
        """Yield by key what can be given, as it is found."""

    @abstractmethod
    async def _write(self, conversation: Conversation) -> None:
        """Write down what a dialogue tells, which is new."""

    @abstractmethod
    def _erase(self, dialogue: str) -> None:
        """Forget what was written of a dialogue."""

    async def _take(self, conversation: Conversation, *, corpus: bool) -> Usage:
        self.usage = await super()._take(replace(conversation, messages=()), corpus=corpus)
        try:
            await self._write(conversation)
        except BaseException:
            self._drop(conversation.id)
            raise
        return self.usage

    def _drop(self, dialogue: str) -> None:
        if dialogue in self.known:
            self._erase(dialogue)
        super()._drop(dialogue)

    async def _ask(
        self,
        client: ChatClient,
        values: Mapping[str, Any],
        schema: Mapping[str, Any],
        read: Callable[[dict[str, Any]], T],
    ) -> T:
        """Return what the model writes of values; a list of them is shown line by line.

        Raises SystemFault where there is none.
        """
        lists = {key: value if isinstance(value, list) else [value] for key, value in values.items()}
        shown = {key: "\n".join(map(shown_json, values)) for key, values in lists.items()}
        language = "zh" if has_chinese(" ".join(shown.values())) else "en"
        messages = messages_of(split_template(own_template(self.prompt, language)), shown)
        request = ChatRequest(messages, ROLE, ReplySchema(self.prompt, schema))
        outcome = await ask(client, request, read, reask=reasker(language))
        self.usage += outcome.usage
        if isinstance(outcome, ChatFailure):
            msg = f"{self.name}: the model that writes failed ({outcome.kind}): {outcome.message}"
            raise SystemFault(msg, self.usage)
        return outcome.value
