"""What a candidate is sent: the fixed messages before the reply, and what else its context grants."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np

from dialogauge.core import Conversation, Message, UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Reply
from dialogauge.retrieval import TfidfIndex
from dialogauge.rubrics import own_template, phrase, render
from dialogauge.studies.replay.items import Scene, Stage, scene_name
from dialogauge.text import detect_language, sentences

LINES: Final = 12
"""Sentences at most."""
CHARACTERS: Final = 600
"""Of all sentences together."""
_LONGEST: Final = 120
_SHORTEST: Final = 6
_ALIKE: Final = 0.5
"""From this cosine on two sentences say the same."""
_WISH_WEIGHT: Final = 0.3
_PREFIX: Final = 8
"""Messages of the present conversation that are searched with."""

_WISH: Final = lazy_pattern(
    r"(?:我|本人)(?:也|还|平时|一般|通常|比较|更|最|不太|不|没有)*(?:喜欢|想|希望|需要|要|爱|习惯|偏好|讨厌|害怕|在意|会|能|吃)"
    r"|预算|以内|不超过|最好|尽量|必须|一定要|避免|不要|别|过敏|忌口|太(?:长|短|多|少|贵|远|简单|复杂|笼统)"
    r"|(?:更|再)(?:详细|具体|简洁|简单)|详细(?:一点|点|些)|具体(?:一点|点|些|的)"
    r"|\bi (?:like|love|prefer|want|need|hate|avoid|usually|always|never|can't|cannot|don't|do not)\b"
    r"|\bi (?:would rather|am)\b"
    r"|\bi'm\b|\bmy (?:budget|diet|allerg\w+)\b|\b(?:budget|allergic|must|at most|no more than|rather than)\b"
    r"|\btoo (?:long|short|many|much|few|vague|expensive|far)\b"
    r"|\bmore (?:detail\w*|specific|concrete|concise)\b",
    re.IGNORECASE,
)


def compress(past: Sequence[Reply], before: Sequence[Message]) -> tuple[str, ...]:
    """Return the sentences to show a candidate, the weightiest first.

    Args:
        past: The user's replies in other scenarios; only what the user said before them is read.
        before: The messages of the present conversation.
    """
    spoken = list(dict.fromkeys(_sentences(past)))
    if not spoken:
        return ()
    index = TfidfIndex(spoken, shortest=2, longest=4, sublinear=True)
    relevance = index.cosines("\n".join(m.text for m in before[-_PREFIX:] if m.role == "user"))
    weight = relevance + _WISH_WEIGHT * np.array([_WISH.search(text) is not None for text in spoken])
    chosen: list[str] = []
    room = CHARACTERS
    free = np.ones(len(spoken), dtype=bool)
    for i in np.argsort(-weight, kind="stable"):
        text = spoken[int(i)]
        if not free[i] or weight[i] <= 0 or len(text) > room:
            continue
        chosen.append(text)
        room -= len(text)
        free &= index.cosines(text) < _ALIKE
        if len(chosen) == LINES:
            break
    return tuple(chosen)


def _sentences(past: Sequence[Reply]) -> Iterable[str]:
    # The last reply of a conversation has all the others before it.
    for reply in {r.conversation.id: r for r in past}.values():
        for message in reply.before:
            if message.role == "user":
                parts = (part.strip() for part in sentences(message.text))
                yield from (part for part in parts if _SHORTEST <= len(part) <= _LONGEST)


MemoryRule = Literal["tfidf", "diverse"]

ITEMS: Final = 4
"""Past replies that a candidate is shown."""
MESSAGES: Final = 4
"""Messages before each."""
_MAX_FEATURES: Final = 50_000


@dataclass(frozen=True, slots=True)
class Recalled:
    """One past reply of another scenario, with its likeness to the present state."""

    reply: Reply
    cosine: float

    @property
    def before(self) -> tuple[Message, ...]:
        """The messages that led to it."""
        return self.reply.before[-MESSAGES:]


class DialogueMemory:
    """A user's replies in the other scenarios, searchable by the messages of a present conversation."""

    def __init__(self, scenario: str, past: Sequence[Reply]) -> None:
        """Index the past replies.

        Raises:
            UsageError: One of them is of the target's own scenario: the candidate would see what is measured.
        """
        own = next((reply for reply in past if reply.conversation.scenario == scenario), None)
        if own is not None:
            msg = (
                f"a candidate's memory would hold {own.id!r}, of the scenario {scenario!r} that it answers in"
            )
            raise UsageError(msg, hint="a candidate's memory comes from the user's other scenarios only")
        self.past = tuple(past)
        texts = [_text(reply) for reply in past]
        self._index = TfidfIndex(texts, shortest=2, longest=5, max_features=_MAX_FEATURES) if texts else None

    def recall(self, before: Sequence[Message], rule: MemoryRule, k: int = ITEMS) -> tuple[Recalled, ...]:
        """Return the k past replies to show; fewer where there are fewer.

        Args:
            before: The messages of the present conversation.
            rule: `tfidf`: the most similar; `diverse`: the most similar of each scenario in turn.
            k: How many.
        """
        if self._index is None:
            return ()
        request = next((m.text for m in reversed(before) if m.role == "user"), "")
        query = "\n".join([_lines(before[-_PREFIX:]), f"user: {request}", f"user: {request}"])
        cosines = self._index.cosines(query)
        ranked = [Recalled(self.past[i], float(cosines[i])) for i in np.argsort(cosines, kind="stable")[::-1]]
        return tuple(ranked[:k] if rule == "tfidf" else _diverse(ranked, k))


def _diverse(ranked: Sequence[Recalled], k: int) -> list[Recalled]:
    scenarios: dict[str, list[Recalled]] = {}
    for recalled in ranked:
        scenarios.setdefault(scene_name(recalled.reply.conversation), []).append(recalled)
    rounds = max(map(len, scenarios.values()))
    in_turn = [several[i] for i in range(rounds) for several in scenarios.values() if i < len(several)]
    return in_turn[:k]


def _text(reply: Reply) -> str:
    # The labels are part of the published text, and so of its n-grams.
    return "\n".join(
        [
            f"来源任务：{reply.conversation.scenario or ''}",
            _lines(reply.before[-MESSAGES:]),
            f"user: {reply.request}",
            f"assistant: {reply.text}",
        ]
    )


def _lines(messages: Sequence[Message]) -> str:
    return "\n".join(f"{m.role}: {m.text}" for m in messages)


Context = Literal["prefix", "task", "profile", "memory-tfidf", "memory-diverse", "memory-compressed"]
CONTEXTS: Final[tuple[Context, ...]] = get_args(Context)
"""`prefix`: the messages before the reply and nothing else, the benchmark. The others add a system message:
the task; the task and the profile; past replies of other scenarios; the user's own words from there."""

MEMORIES: Final = ("memory-tfidf", "memory-diverse", "memory-compressed")
"""The contexts that show what the user and the assistant said elsewhere."""
_RULES: Final[Mapping[Context, MemoryRule]] = {"memory-tfidf": "tfidf", "memory-diverse": "diverse"}
_REPLY_CHARACTERS: Final = 700
_MESSAGE_CHARACTERS: Final = 350


@dataclass(frozen=True, slots=True)
class Prompted:
    """What one candidate is sent for one item."""

    conversation: Conversation
    """The messages, under the item's id."""
    memory: tuple[tuple[str, float | None], ...] = ()
    """Past turns that it is shown, each with its cosine."""


class Prompter:
    """Makes the requests of one block."""

    def __init__(self, scene: Scene, context: Context) -> None:
        """Take what is known of the user."""
        self._scene, self._context = scene, context
        self._past = scene.past if context in MEMORIES else ()
        if context in _RULES:
            self._memory = DialogueMemory(scene.scenario, self._past)

    def prompt(self, reply: Reply) -> Prompted:
        """Return the request for the state of a reply; the reply itself and all after it are not in it."""
        before = reply.before
        language = "zh" if detect_language(reply.request) == "zh" else "en"
        added, memory = self._added(reply, language)
        messages = before
        if added is not None:  # in one system message with the conversation's own, ahead of the dialogue
            messages = (Message("system", added), *before)
            if before and before[0].role in ("system", "developer"):
                messages = (Message(before[0].role, f"{before[0].text}\n\n{added}"), *before[1:])
        return Prompted(Conversation(reply.id, messages, scenario=reply.conversation.scenario), memory)

    def _added(self, reply: Reply, language: str) -> tuple[str | None, tuple[tuple[str, float | None], ...]]:
        """Return what the context adds, and the past turns that it shows."""
        if self._context == "prefix":
            return None, ()
        if self._context in ("task", "profile"):
            values = {"task": _quoted(reply.context)}
            if self._context == "profile":
                values["profile"] = _quoted(dict(self._scene.profile or {}))
            return render(own_template(f"replay_{self._context}", language), values), ()
        if self._context == "memory-compressed":
            lines = compress(self._past, reply.before)
            if not lines:
                return None, ()
            listed = "\n".join(f"- {_quoted(line)}" for line in lines)
            return render(own_template("replay_compressed", language), {"lines": listed}), ()
        recalled = self._memory.recall(reply.before, _RULES[self._context])
        if not recalled:
            return None, ()
        items = "\n".join(_item(number, r, language) for number, r in enumerate(recalled, 1))
        shown = tuple((r.reply.id, r.cosine) for r in recalled)
        return render(own_template("replay_memory", language), {"items": items}), shown


def refuse_empty_context(context: Context, stage: Stage) -> None:
    """Raise UsageError where a context would add nothing to any item of a stage."""
    if context == "task" and not any(reply.context for reply in stage.originals.values()):
        why = "no conversation of these items states what it is for (context)"
    elif context == "profile" and not any(scene.profile for scene in stage.scenes.values()):
        why = "no user of these items has a profile"
    elif context in MEMORIES and not any(scene.past for scene in stage.scenes.values()):
        why = "no user of these items has other conversations"
    else:
        return
    msg = f"--context {context} would add nothing: {why}"
    raise UsageError(msg, hint="--context prefix shows the messages before the reply, and no more")


def _item(number: int, recalled: Recalled, language: str) -> str:
    scenario = recalled.reply.conversation.scenario or phrase(language, "none")
    head = phrase(language, "replay_past", number=str(number), scenario=scenario)
    lines = [f"{m.role}: {_quoted(_cut(m.text, _MESSAGE_CHARACTERS))}" for m in recalled.before]
    reply = f"assistant: {_quoted(_cut(recalled.reply.text, _REPLY_CHARACTERS))}"
    return "\n".join([head, *lines, reply])


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def _quoted(value: str | Mapping[str, Any]) -> str:
    # "<" is escaped so that a message cannot close the frame that it stands in.
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
