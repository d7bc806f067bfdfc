"""Judged conversations, and forks: weak turns with the reply to replace and its repair."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from dialogauge.core.conversation import Conversation, Message, Turn
from dialogauge.core.scores import Scale
from dialogauge.llm import ChatClient, ChatFailure, ChatRequest, ReplySchema, Structured, ask
from dialogauge.rubrics import VERDICTS, closed_object, own_template, render, split_template
from dialogauge.runs.records import own_scores
from dialogauge.training.rows import Source


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """The scores and issues of one turn, over all repeats."""

    turn: int
    quality: float | None
    """Mean of its scores, each scaled to 0 (worst) to 1 (best); None without scores."""
    issues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PersonRating:
    """What people said of a turn or of a whole conversation."""

    score: float | str
    quality: float
    """The score from 0, the worst, to 1."""
    satisfied: bool
    measure: str = ""
    """The question and its scale: only scores of one can be compared."""


@dataclass(frozen=True, slots=True)
class JudgedConversation:
    """One conversation with its judgements, over all repeats."""

    conversation: Conversation
    judge: str
    turns: tuple[TurnFigures, ...]
    weakest_turn: int | None
    """The turn that most repeats name; the earlier one on a tie; None if most name none."""
    verdict: str | None
    """The most frequent verdict; the worse one on a tie."""
    quality: float | None
    """Mean of all scores, each scaled to 0..1; None without scores."""
    spread: float
    """Standard deviation of the repeats' qualities; 0 with one repeat."""
    targets: int
    """Judged and failed targets, over all repeats."""
    failed: int
    """Failed targets."""
    prompt_digest: str | None
    people: Mapping[int | None, PersonRating] = field(default_factory=dict)
    """What people said of turns and, under None, of the whole."""
    run: str = ""
    """The run that holds it."""

    @property
    def rated_turns(self) -> Mapping[int, PersonRating]:
        """What people said of turns; of a conversation of one reply, what they said of the whole."""
        rated = {turn: rating for turn, rating in self.people.items() if turn is not None}
        replied = self.conversation.replied_turns
        if not rated and None in self.people and len(replied) == 1:
            return {replied[0].number: self.people[None]}
        return rated

    def turn(self, number: int) -> TurnFigures | None:
        """Return the figures of a turn."""
        return next((t for t in self.turns if t.turn == number), None)

    def issues(self, number: int) -> tuple[str, ...]:
        """Return what the judge says of a turn."""
        figures = self.turn(number)
        return () if figures is None else figures.issues


def judged_conversation(
    conversation: Conversation,
    rows: Sequence[Mapping[str, Any]],
    scales: Mapping[str, Scale],
    person: Callable[[Mapping[str, Any]], PersonRating | None] = lambda _: None,
) -> JudgedConversation:
    """Combine the rows of one conversation over all repeats.

    Args:
        conversation: The conversation.
        rows: Its rows from `judgements.jsonl`.
        scales: Dimension -> its scale.
        person: What people said of the target of a row; None where they did not.
    """
    people = {row["turn"]: rating for row in rows if (rating := person(row)) is not None}
    whole = [r for r in rows if r["level"] == "conversation" and r["scores"] is not None]
    by_turn: dict[int, list[Mapping[str, Any]]] = {}
    by_repeat: dict[int, list[float]] = {}
    for row in rows:
        if row["level"] == "turn":
            by_turn.setdefault(row["turn"], []).append(row)
        by_repeat.setdefault(row["repeat"], []).extend(_qualities(row, scales))
    repeats = [statistics.fmean(q) for q in by_repeat.values() if q]
    counts = Counter([r["verdict"] for r in whole if r["verdict"] is not None])
    return JudgedConversation(
        conversation=conversation,
        judge=rows[0]["judge"] if rows else "",
        turns=tuple(_figures(turn, judged, scales) for turn, judged in sorted(by_turn.items())),
        weakest_turn=_most_frequent_turn([r["weakest_turn"] for r in whole]),
        verdict=max((v for v in reversed(VERDICTS) if v in counts), key=lambda v: counts[v], default=None),
        quality=statistics.fmean(repeats) if repeats else None,
        spread=statistics.pstdev(repeats) if len(repeats) > 1 else 0.0,
        targets=len(rows),
        failed=sum(r["scores"] is None for r in rows),
        prompt_digest=next((r["prompt_digest"] for r in rows if r["prompt_digest"]), None),
        people=people,
    )


def _figures(turn: int, rows: Sequence[Mapping[str, Any]], scales: Mapping[str, Scale]) -> TurnFigures:
    qualities = [q for row in rows for q in _qualities(row, scales)]
    issues = dict.fromkeys(issue for row in rows for issue in row["issues"])
    return TurnFigures(turn, statistics.fmean(qualities) if qualities else None, tuple(issues))


def _qualities(row: Mapping[str, Any], scales: Mapping[str, Scale]) -> Iterable[float]:
    for name, score in own_scores(row).items():
        if name in scales and not isinstance(score, str):
            yield scales[name].quality(score)


def _most_frequent_turn(turns: Sequence[int | None]) -> int | None:
    counts = Counter(turns)
    top = max(counts.values(), default=0)
    return min((turn for turn, n in counts.items() if n == top and turn is not None), default=None)


@dataclass(frozen=True, slots=True)
class Fork:
    """One turn that needs a better reply."""

    conversation_id: str
    turn: int
    prompt: tuple[Mapping[str, Any], ...]
    """OpenAI messages up to the reply, including the user message and the turn's tool steps."""
    rejected: str
    """The weak reply."""
    issues: tuple[str, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    """The definitions of the tools that the assistant could call."""
    source: Source = "judge"
    """Who says that the reply is weak."""


def weak_turn(judged: JudgedConversation) -> tuple[int | None, Source]:
    """Return the turn that needs a better reply, and who says so; no turn where nobody does.

    Where people rated turns it is the one that they rated worst, if they were dissatisfied with it: of
    several the one of the judge's lowest quality, then the earliest. Where they rated the whole alone, and
    were satisfied, there is none. Else it is the judge's.
    """
    if rated := judged.rated_turns:
        judges = {turn.turn: turn.quality for turn in judged.turns if turn.quality is not None}
        bad = [(one.quality, judges.get(n, 1.0), n) for n, one in rated.items() if not one.satisfied]
        return min(bad, default=(0.0, 0.0, None))[2], "people"
    whole = judged.people.get(None)
    return (None, "people") if whole is not None and whole.satisfied else (judged.weakest_turn, "judge")


def fork_of(judged: JudgedConversation) -> Fork | None:
    """Return the fork at the weak turn; None without such a turn or without its reply text."""
    number, source = weak_turn(judged)
    return None if number is None else fork_at(judged.conversation, number, source, judged.issues(number))


def fork_at(
    conversation: Conversation, number: int, source: Source, issues: tuple[str, ...] = ()
) -> Fork | None:
    """Return the fork at a turn; None without its reply text."""
    parts = prompt_and_reply(conversation, conversation.turn(number))
    if parts is None:
        return None
    return Fork(conversation.id, number, *parts, issues, tools_of(conversation), source)


def prompt_and_reply(
    conversation: Conversation, turn: Turn
) -> tuple[tuple[Mapping[str, Any], ...], str] | None:
    """Return all messages before the last reply of a turn, and the text of that reply; None without text.

    Earlier assistant messages of the turn (before a tool call, for example) belong to the prompt; consecutive
    replies are one, joined by newlines.
    """
    messages = enumerate(conversation.messages[turn.start : turn.stop], turn.start)
    replies = [i for i, m in messages if m.role == "assistant" and not m.tool_calls]
    if not replies:
        return None
    start = replies[-1]
    while start - 1 in replies:
        start -= 1
    text = "\n".join(m.text for m in conversation.messages[start : replies[-1] + 1])
    if not text.strip():
        return None
    return tuple(plain_message(m) for m in conversation.messages[:start]), text


def plain_message(message: Message) -> dict[str, Any]:
    """Return a message in OpenAI form without further keys, as chat templates want it.

    Parts of text become one text, and arguments that are a JSON object that object; others stay as they came.
    """
    fields = message.to_request()
    if message.content is not None and _is_text(message):
        fields["content"] = message.text
    for call in fields.get("tool_calls", ()):
        call["function"]["arguments"] = _arguments(call["function"]["arguments"])
    return fields


def answered_part(conversation: Conversation) -> list[dict[str, Any]]:
    """Return the plain messages of a conversation up to its last reply: no other is learnt from."""
    messages = [plain_message(m) for m in conversation.messages]
    while messages and (messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls")):
        messages.pop()
    return messages


def unfit(messages: Iterable[Message]) -> str | None:
    """Say why messages have no place in a training row; None where they have one.

    A column is read with one type: a single text among objects makes the file one that no trainer reads.
    """
    for message in messages:
        if not _is_text(message):
            return "images or other parts that are no text"
        if any(isinstance(_arguments(call.arguments), str) for call in message.tool_calls):
            return "a tool call with arguments that are no JSON object"
    return None


def _is_text(message: Message) -> bool:
    content = message.content
    return not isinstance(content, tuple) or all(isinstance(part.get("text"), str) for part in content)


def _arguments(text: str) -> Any:  # noqa: ANN401 - a JSON object, or the text
    if not text.strip():
        return {}
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    # A number that would lose digits on the way is not the one that the assistant wrote.
    return value if isinstance(value, dict) and value == json.loads(text) else text


def tools_of(conversation: Conversation) -> tuple[Mapping[str, Any], ...]:
    """Return the tools that stand beside the messages as `tools`, or as `functions` in the older form."""
    for key in ("tools", "functions"):
        tools = conversation.metadata.get(key)
        tools = _parsed(tools) if isinstance(tools, str) else tools
        if isinstance(tools, list | tuple) and tools and all(isinstance(one, Mapping) for one in tools):
            wrap = key == "functions"
            return tuple({"type": "function", "function": dict(one)} if wrap else dict(one) for one in tools)
    return ()


def _parsed(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


_SCHEMA = ReplySchema("repaired_reply", closed_object({"reply": {"type": "string"}}))

Repaired = Structured[str] | ChatFailure


async def repair(client: ChatClient, fork: Fork, *, language: str) -> Repaired:
    """Ask a model for a better reply at the fork; a failure for none, an empty one, or the same reply."""
    template = split_template(own_template("repair", language))
    values = {
        "dialogue": "\n".join(_json(m) for m in fork.prompt),
        "reply": _json(fork.rejected),
        "issues": _json(list(fork.issues)),
    }
    request = ChatRequest(
        messages=(
            {"role": "system", "content": template.instructions},
            {"role": "user", "content": render(template.data, values)},
        ),
        role="repair",
        schema=_SCHEMA,
    )

    def validate(value: dict[str, Any]) -> str:
        reply = value.get("reply")
        if not isinstance(reply, str) or not reply.strip():
            msg = "reply: a text that is not empty was asked for"
            raise ValueError(msg)
        if reply.strip() == fork.rejected.strip():
            msg = "reply: it is the weak reply again"
            raise ValueError(msg)
        return reply.strip()

    reask = own_template("reask", language)
    return await ask(client, request, validate, reask=lambda error: render(reask, {"error": error}))


def _json(value: object) -> str:
    # "<" is escaped so that a message cannot close the tags around it.
    return orjson.dumps(value).decode().replace("<", "\\u003c")
