"""One call of a judge model: the prompt from rubric and dialogue, the reply read against the rubric."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Container, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

import orjson

from dialogauge.core.conversation import Conversation, Turn
from dialogauge.core.judgement import NO_USAGE, Judged, JudgeFailure, Level, Usage
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import RatedReply
from dialogauge.core.values import Value
from dialogauge.judges.rubric.evidence import with_criteria
from dialogauge.judges.rubric.policy import AgentPolicy
from dialogauge.judges.rubric.reply import ParsedReply, ReplyFault, parse_parts, parse_reply
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatRequest, ReplySchema
from dialogauge.llm.structured import Structured, ask
from dialogauge.rubrics import (
    Recent,
    Rubric,
    Scope,
    Template,
    built_in_values,
    closed_object,
    own_template,
    phrase,
    placeholders,
    render,
    reply_schema,
    split_template,
)

_FRAME = lazy_pattern(
    r"<(?=[|｜]|(?:dialogue(?:_[ab])?|history|s|bos|eos|start_of_turn|end_of_turn|start_header_id|eot_id)>)|\[(?=/?INST\])"
)
_UNSAFE = lazy_pattern("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text for a prompt, and how many tool results in it were cut."""

    text: str
    cut: int = 0


def as_json(value: Any) -> str:  # noqa: ANN401 (any JSON value)
    """Write a value as JSON on one line.

    Line and paragraph separators, control characters and lone surrogates are escaped, `</` is written
    `<\\/`, and what chat templates read as the end of a message (`<|`, `[INST]` ...) has its first sign
    escaped. JSON reads all of that as the same: data can neither begin a new line, nor close or open a
    tag of a template, nor end the message that it stands in.
    """
    return _harmless(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _harmless(text: str) -> str:
    # Of ASCII, json itself leaves only DEL as it is.
    if not text.isascii() or "\x7f" in text:
        text = _UNSAFE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)
    if "<" in text or "INST]" in text:
        text = _FRAME.sub(lambda m: f"\\u{ord(m.group()):04x}", text).replace("</", "<\\/")
    return text


def cut_middle(text: str, limit: int) -> tuple[str, bool]:
    """Keep the first two thirds and the last third of `limit` characters, with a mark between."""
    if len(text) <= limit:
        return text, False
    head, tail = limit - limit // 3, limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]} [... {left_out} characters cut ...] {text[len(text) - tail :]}", True


def dialogue_text(turns: Sequence[Turn], *, tool_chars: int, beyond: Turn | None = None) -> ShownText:
    """Write turns as JSON lines.

    Args:
        turns: What is shown, in order; turn 0 is a greeting.
        tool_chars: Tool results that are longer are cut in the middle and counted.
        beyond: The turn after the last one shown, of which the user's words are added and marked.
    """
    lines: list[str] = []
    cut = 0
    for turn in turns:
        for line, was_cut in _turn_lines(turn, tool_chars):
            lines.append(_written(line))
            cut += was_cut
    if beyond is not None and beyond.user:
        line = {"turn": beyond.number, "role": "user", "beyond": True, "text": beyond.user_text}
        lines.append(_written(line))
    return ShownText(_harmless("\n".join(lines)), cut)


def _written(line: Mapping[str, Any]) -> str:
    """Write a line of a dialogue; the same text as `json` writes, at a tenth of the time."""
    try:
        return orjson.dumps(line).decode()
    except TypeError:  # half a surrogate pair, or a number of more than 64 bits
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _turn_lines(turn: Turn, tool_chars: int) -> Iterator[tuple[Mapping[str, Any], bool]]:
    names = {call.id: call.name for message in turn.messages for call in message.tool_calls}
    together = (
        m.tool_calls for m in turn.messages if len({c.name for c in m.tool_calls}) < len(m.tool_calls)
    )
    twins = frozenset(call.id for calls in together for call in calls)
    for message in turn.messages:
        # Write a message; `twins` are the calls that only their id tells apart.
        line: dict[str, Any] = {"turn": turn.number, "role": message.role}
        text, was_cut = message.text, False
        if message.role == "tool":
            asked = message.tool_call_id or ""
            name = message.name or names.get(asked)
            line |= {"name": name} if name else {}
            line |= {"id": asked} if asked in twins else {}
            text, was_cut = cut_middle(text, tool_chars)
        if message.tool_calls:
            line["calls"] = [
                {"name": c.name, "arguments": c.arguments} | ({"id": c.id} if c.id in twins else {})
                for c in message.tool_calls
            ]
        if text or not message.tool_calls:
            line["text"] = text
        yield (line, was_cut)
    if turn.number >= 1 and not turn.has_reply:
        yield {"turn": turn.number, "role": "assistant", "no_reply": True}, False


def tool_results_text(turn: Turn, *, tool_chars: int) -> ShownText:
    """Write what the tools returned in one turn as a JSON list; an empty list if there is nothing."""
    results = [cut_middle(m.text, tool_chars) for m in turn.messages if m.role == "tool"]
    return ShownText(as_json([text for text, _ in results]), sum(cut for _, cut in results))


def tool_calls_text(turn: Turn, *, tool_chars: int) -> ShownText:
    """Write every call of one turn with its own result as a JSON list, in order; none overwrites another.

    Arguments are written as the text that came. A result longer than `tool_chars` is cut in the middle and
    counted.
    """
    entries: list[dict[str, Any]] = []
    cut = 0
    for number, step in enumerate(turn.tool_steps, 1):
        entry: dict[str, Any] = {"call": number}
        if step.call is not None:
            entry |= {"function": step.call.name, "arguments": step.call.arguments}
        elif step.result is not None:
            entry |= {"function": step.result.name, "note": "a result without a call"}
        if step.result is None:
            entry["note"] = "no result"
        else:
            entry["result"], was_cut = cut_middle(step.result.text, tool_chars)
            cut += was_cut
        entries.append(entry)
    return ShownText(as_json(entries), cut)


def prompt_language(conversation: Conversation, languages: Sequence[str]) -> str:
    """Choose the language of the prompt: the data's own word, else Chinese or English by the script.

    Returns one of `languages`: English if it is among them and nothing else fits, otherwise the first.
    """
    stated = (conversation.language or "").lower()[:2]
    if stated in languages:
        return stated
    fallback = "en" if "en" in languages else languages[0]
    if stated or "zh" not in languages:
        return fallback
    from dialogauge.text import detect_language, has_chinese  # loads numpy: not at import

    texts = [m.text for m in conversation.messages if m.role in ("user", "assistant")]
    if not any(map(has_chinese, texts)):
        return fallback
    return "zh" if detect_language(*texts) == "zh" else fallback


def task_fields(conversation: Conversation, names: Sequence[str]) -> dict[str, Any]:
    """Return those fields of the task's record that are not empty; `golden_answer` is called `answer`."""
    record = conversation.task
    record = {"answer": record["golden_answer"], **record} if "golden_answer" in record else record
    return {name: record[name] for name in names if record.get(name) not in (None, "", [], {})}


# Conversations of up to ten turns have ten scopes, windows and single turns as many as there are lengths.
_KEPT = 256


class FixedParts(Value):
    """The parts of a call's prompt that do not depend on the conversation."""

    schema: ReplySchema
    values: Mapping[str, str]
    """Of the built-in placeholders; to be copied, not changed."""
    instructions: str | None
    """The system message, if it stands on built-in placeholders alone."""


class FixedPrompts:
    """The fixed parts of one rubric's prompts, by scope and language; the latest 256 are kept."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self._name = re.sub(r"[^A-Za-z0-9_-]", "_", rubric.id)[:64]
        self.parts = lru_cache(maxsize=_KEPT)(self._make)

    def _make(self, scope: Scope, language: str) -> FixedParts:
        values = built_in_values(self.rubric, scope, language)
        schema = ReplySchema(self._name, reply_schema(self.rubric, scope, language))
        template = self.rubric.templates[language].instructions
        fixed = template and set(placeholders(template)) <= values.keys()
        return FixedParts(schema, values, render(template, values) if fixed else None)


T = TypeVar("T")
Mode = Literal["hindsight", "foresight"]
ROLE = "judge"
Place = tuple[Level, int | None]
"""Level and turn of a target."""
_RESULT_SHARE = 4
"""The tool results of the judged turn may be this much longer than those in the dialogue."""


@dataclass(frozen=True, slots=True)
class Call:
    """What one call judges, and the turns that it may see."""

    scope: Scope
    shown: tuple[Turn, ...]
    beyond: Turn | None = None
    """The turn after the shown ones, of which hindsight sees the user's words."""
    summary: str | None = None
    """Notes on what came before the shown turns."""
    history: tuple[Turn, ...] = ()
    """Turns before the shown ones that are in view and not judged, for rubrics that show them."""
    history_cut: int = 0
    """How many turns before these do not fit into the prompt."""

    @property
    def span(self) -> tuple[int, int]:
        """The numbers of the first and the last turn that can be judged."""
        numbers = [t.number for t in self.shown if t.number >= 1 and t.has_reply]
        return numbers[0], numbers[-1]

    def targets(self, rubric: Rubric) -> tuple[int | None, ...]:
        """Return the turns that have an entry of their own in the reply, and None where the whole has one."""
        alone = rubric.level in ("turn", "pair")
        turns = self.scope.turns if alone or ("turn" in self.scope.levels and rubric.at("turn")) else ()
        return (*turns, None) if not alone and rubric.level in self.scope.levels else turns


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of one call."""

    call: Call
    outcome: Structured[ParsedReply] | JudgeFailure
    usage: Usage = NO_USAGE
    """What the call took, failed attempts included."""
    tool_results_cut: int = 0
    failures: Mapping[int | None, JudgeFailure] = field(default_factory=dict)
    """Targets of an answer that failed by themselves: by turn, the whole under None."""

    @property
    def reply(self) -> ParsedReply | None:
        """The reply, where there is one."""
        return self.outcome.value if isinstance(self.outcome, Structured) else None

    def failure(self, target: int | None) -> JudgeFailure | None:
        """Return why a turn, or the whole (None), was not judged; None where it was."""
        return self.outcome if isinstance(self.outcome, JudgeFailure) else self.failures.get(target)


@dataclass(frozen=True)
class ConversationCalls:
    """All that the calls about one conversation have in common."""

    fixed: FixedPrompts
    client: ChatClient
    conversation: Conversation
    language: str
    mode: Mode
    tool_chars: int
    source: str | None = None
    salt: int = 0
    known: Mapping[str, str] = field(default_factory=dict)
    """Values of placeholders that the caller fills; they come before those made here."""
    policy: AgentPolicy | None = None
    """Where the rubric shows one."""
    standing: Mapping[Place, Judged] = field(default_factory=dict)
    """Judgements that hold from an earlier try: a call that would bring no others is not made."""

    @property
    def rubric(self) -> Rubric:
        """The rubric that is judged by."""
        return self.fixed.rubric

    async def make(self, call: Call) -> CallResult:
        """Make one call; what goes wrong with it is in the result.

        Where only a part of the reply is sound, it is kept, and the rest is asked for once more.
        """
        first = await self._ask(call)
        if not isinstance(first.outcome, Structured) or not first.failures:
            return first
        text, faults = first.outcome.text or "", first.failures
        again = await gathered([self._ask(rest, text, faults) for rest in _rest(call, faults)])
        # Put what was asked for once more to what was sound before.
        reply, usage = first.outcome.value, first.usage
        failures: dict[int | None, JudgeFailure] = {}
        for result in again:
            usage += result.usage
            targets = result.call.targets(self.rubric)
            failures |= {t: f for t in targets if (f := result.failure(t)) is not None}
            if (other := result.reply) is not None:
                base = other if None in targets and None not in failures else reply
                reply = replace(base, turns={**reply.turns, **other.turns}, extra_keys=reply.extra_keys)
        whole = replace(first.outcome, value=replace(reply, faults={}), usage=usage, reasked=True)
        return replace(first, outcome=whole, usage=usage, failures=failures)

    async def _ask(
        self, call: Call, text: str = "", faults: Mapping[int | None, JudgeFailure] | None = None
    ) -> CallResult:
        """Ask for a reply with some sound part, or with `faults` for what was wrong in the reply `text`."""
        request, cut = self.request(call)
        targets, known = call.targets(self.rubric), faults or {}
        if known:
            error = "; ".join(dict.fromkeys(known[target].message for target in targets))
            question = {"role": "user", "content": reasker(self.language)(error)}
            answer = {"role": "assistant", "content": text}
            request = replace(request, messages=(*request.messages, answer, question))

        def validate(data: dict[str, Any]) -> ParsedReply:
            reply = parse_parts(self.rubric, call.scope, data)
            if not known and len(reply.faults) == len(targets):
                parse_reply(self.rubric, call.scope, data)
            self._expect_items(reply)
            judged = tuple(t for t in call.shown if t.number in call.scope.turns)
            return with_criteria(self.rubric, reply, judged)

        outcome = await ask(self.client, request, validate, reask=reasker(self.language))
        if isinstance(outcome, ChatFailure):
            failure = JudgeFailure(outcome.kind, outcome.message, outcome.raw)
            return CallResult(call, failure, outcome.usage)
        failures = {
            target: JudgeFailure("invalid_schema", message, outcome.text)
            for target, message in outcome.value.faults.items()
        }
        return CallResult(call, outcome, outcome.usage, cut, failures)

    def _expect_items(self, reply: ParsedReply) -> None:
        """Raise ReplyFault where a list has not an item for each entry of the task's record."""
        for x in self.rubric.items:
            wanted = task_fields(self.conversation, (x.each_of,)).get(x.each_of)
            for part in (*reply.turns.values(), reply.whole):
                if isinstance(wanted, list) and len(part.items.get(x.name, wanted)) != len(wanted):
                    msg = f"{x.name}: expected {len(wanted)} items, found {len(part.items[x.name])}"
                    raise ReplyFault(msg)

    def request(self, call: Call) -> tuple[ChatRequest, int]:
        """Return the request of one call, and how many tool results in it were cut."""
        parts = self.fixed.parts(call.scope, self.language)
        values, cut = self._values(call, parts)
        template = self.rubric.templates[self.language]
        messages = messages_of(template, values, parts.instructions)
        return ChatRequest(messages, role=ROLE, schema=parts.schema, salt=self.salt), cut

    def size(self, call: Call) -> int:
        """Return how many bytes the prompt of a call has."""
        return sum(len(m["content"].encode("utf-8", "replace")) for m in self.request(call)[0].messages)

    def _values(self, call: Call, parts: FixedParts) -> tuple[dict[str, str], int]:
        shows = self.rubric.shows
        c = self.conversation
        instructions = None if self.policy is not None else c.instructions
        fields = {"kind": c.scenario, "description": c.context, "instructions": instructions}
        values = {
            **parts.values,
            "scenario": self._or_none({key: value for key, value in fields.items() if value}),
            "profile": self._or_none(dict(self.conversation.profile or {})),
            "source": self._or_none(self.source),
            "task": self._or_none(task_fields(c, self.rubric.task)),
            "criteria": self._criteria(),
            "earlier_summary": as_json(call.summary) if call.summary else self._phrase("begins"),
        }
        cut = 0
        if self.policy is not None:
            turn = call.shown[-1] if self.rubric.level == "turn" else None
            values["policy"] = as_json(self.policy.shown(turn, self.language))
        if "dialogue" in shows:
            turns = recent_turns(call.shown, self.rubric.recent)
            shown = dialogue_text(turns, tool_chars=self.tool_chars, beyond=call.beyond)
            values["dialogue"], cut = shown.text, shown.cut
        if "history" in shows:
            earlier = dialogue_text(call.history, tool_chars=self.tool_chars)
            gone = (
                phrase(self.language, "history_cut", count=str(call.history_cut)) if call.history_cut else ""
            )
            values["history"] = "\n".join(filter(None, (gone, earlier.text))) or self._phrase("begins")
            cut += earlier.cut
        if self.rubric.level == "turn":
            turn, limit = call.shown[-1], self.tool_chars * _RESULT_SHARE
            results = tool_results_text(turn, tool_chars=limit)
            steps = tool_calls_text(turn, tool_chars=limit)
            following = following_turn(self.conversation, turn)
            after = as_json(following.user_text) if following else self._phrase("ends")
            values |= {
                "last_request": as_json(turn.user_text),
                "reply": as_json(turn.reply_text),
                "tool_results": results.text,
                "tool_calls": steps.text,
                "next_message": self._phrase("not_shown") if self.mode == "foresight" else after,
            }
            cut += results.cut if "tool_results" in shows else steps.cut if "tool_calls" in shows else 0
        return {**values, **self.known}, cut

    def _criteria(self) -> str:
        about = f"{self.conversation.scenario or ''}\n{self.conversation.context or ''}"
        for criteria in self.rubric.criteria:
            if re.search(criteria.scenario, about, re.IGNORECASE):
                return criteria.text[self.language].strip()
        return self._phrase("none")

    def _or_none(self, value: object) -> str:
        return as_json(value) if value else self._phrase("none")

    def _phrase(self, key: str) -> str:
        return phrase(self.language, key)


def _rest(call: Call, faults: Container[int | None]) -> Iterator[Call]:
    """Yield the calls that ask for what is not sound: the turns, and the whole."""
    turns = tuple(n for n in call.scope.turns if n in faults)
    if turns:
        yield replace(call, scope=replace(call.scope, turns=turns, levels=("turn",)))
    if None in faults:
        whole = tuple(level for level in call.scope.levels if level != "turn")
        yield replace(call, scope=replace(call.scope, levels=whole))


def recent_turns(turns: Sequence[Turn], recent: Recent) -> tuple[Turn, ...]:
    """Return the last turns that the rubric shows; the last of all is always among them."""
    kept = list(turns if recent.turns is None else turns[-recent.turns :])
    if recent.chars is not None:
        room = recent.chars
        for index in range(len(kept) - 2, -1, -1):
            room -= sum(len(m.text) for m in kept[index].messages)
            if room < 0:
                return tuple(kept[index + 1 :])
    return tuple(kept)


def following_turn(conversation: Conversation, turn: Turn) -> Turn | None:
    """Return the turn after `turn`, if the conversation has one."""
    return next((t for t in conversation.turns if t.start == turn.stop), None)


def messages_of(
    template: Template, values: Mapping[str, str], instructions: str | None = None
) -> tuple[dict[str, str], ...]:
    """Fill a template: what stands above the data line is the system message, the rest the user's.

    `instructions` is the system message where it has been filled already.
    """
    data = {"role": "user", "content": render(template.data, values)}
    if not template.instructions:
        return (data,)
    above = instructions if instructions is not None else render(template.instructions, values)
    return {"role": "system", "content": above}, data


def reasker(language: str) -> Callable[[str], str]:
    """Return the function that words the message with which a model is asked once more."""
    template = own_template("reask", language)
    return lambda error: render(template, {"error": error})


async def gathered(coroutines: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines together; if one raises, the others are cancelled and waited for."""
    if len(coroutines) == 1:
        return [await coroutines[0]]
    tasks = [asyncio.create_task(c) for c in coroutines]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def rated_line(rated: RatedReply, *, request_chars: int, reply_chars: int) -> str:
    """Write kind of task, request, reply, score and, where there is one, the reason.

    Longer requests and replies are cut in the middle.
    """
    reply, score = rated.reply, rated.score
    line = {
        "kind": reply.conversation.scenario,
        "request": cut_middle(reply.request, request_chars)[0],
        "reply": cut_middle(reply.text, reply_chars)[0],
        "score": int(score) if float(score).is_integer() else score,
        "reason": rated.reason,
    }
    return as_json({key: value for key, value in line.items() if value is not None})


async def summarise_before(
    calls: ConversationCalls, starts: Sequence[int]
) -> tuple[list[str | ChatFailure | None], Usage]:
    """Write notes on all that precedes each window.

    Each call sees the notes written so far and only the turns since, so that its prompt stays short in
    however long a conversation. Where a call fails, the next one takes on the turns that it left.

    Args:
        calls: The conversation and the client.
        starts: The number of each window's first shown turn, in order.

    Returns:
        The notes in front of each window, None where nothing came before; and what they took.
    """
    turns = calls.conversation.turns
    notes: str | None = None
    covered = turns[0].number if turns else 0
    before: list[str | ChatFailure | None] = []
    usage = Usage()
    for start in starts:
        fresh = [t for t in turns if covered <= t.number < start]
        if not fresh:
            before.append(notes)
            continue
        language = calls.language
        shown = dialogue_text(fresh, tool_chars=calls.tool_chars)
        earlier = as_json(notes) if notes else phrase(language, "begins")
        template = split_template(own_template("summary", language))
        messages = messages_of(template, {"earlier_summary": earlier, "dialogue": shown.text})
        schema = ReplySchema("summary", closed_object({"summary": {"type": "string"}}))
        request = ChatRequest(messages, role=ROLE, schema=schema, salt=calls.salt)
        outcome = await ask(calls.client, request, _read, reask=reasker(language))
        usage += outcome.usage
        if isinstance(outcome, ChatFailure):
            before.append(outcome)
            continue
        notes, covered = outcome.value, start
        before.append(notes)
    return before, usage


def _read(data: dict[str, Any]) -> str:
    summary = data.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        msg = "summary: expected a text that is not empty"
        raise ReplyFault(msg)
    return summary.strip()
