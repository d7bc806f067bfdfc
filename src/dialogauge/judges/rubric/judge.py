"""The judge that runs every rubric file on a language model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

from dialogauge.core.conversation import Conversation, Turn
from dialogauge.core.errors import UsageError
from dialogauge.core.judgement import NO_USAGE, Judged, JudgeFailure, Target
from dialogauge.core.protocols import DimensionSpec, Reads, Request
from dialogauge.core.unit import digest, digest_text
from dialogauge.core.values import Value
from dialogauge.judges.rubric.policy import AgentPolicy
from dialogauge.judges.rubric.prompt import (
    Call,
    CallResult,
    ConversationCalls,
    FixedPrompts,
    Mode,
    gathered,
    prompt_language,
    task_fields,
)
from dialogauge.judges.rubric.reply import ParsedPart, ParsedReply
from dialogauge.judges.rubric.rows import mean_of_turns, turn_row
from dialogauge.judges.rubric.windows import (
    LARGEST,
    WindowPlan,
    judge_in_windows,
    judge_window_level,
    plan_segments,
    plan_windows,
)
from dialogauge.llm.cache import client_identity
from dialogauge.llm.protocol import ChatClient
from dialogauge.llm.structured import Structured
from dialogauge.rubrics import PERSONAL, Calls, Policies, Rubric, Scope, load_policies
from dialogauge.text import counted


class JudgeByRubric(ABC):
    """What all judges that put a rubric to a language model have in common."""

    rubric: Rubric
    client: ChatClient
    language: str

    @abstractmethod
    def describe(self) -> Mapping[str, Any]:
        """Return rubric, prompt digests, model and settings as plain JSON values."""

    @cached_property
    def digest(self) -> str:
        """Changes with prompts, model, parameters and settings."""
        return digest({**self.describe(), "client": dict(client_identity(self.client))})

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """The rubric's dimensions, computed ones included."""
        return self.rubric.dimensions

    @property
    def reads(self) -> frozenset[Reads]:
        """The profile, where the rubric shows it."""
        return frozenset({"profile"} if "profile" in self.rubric.shows else ())

    @cached_property
    def _fixed(self) -> FixedPrompts:
        return FixedPrompts(self.rubric)

    def _identity(self, kind: str) -> dict[str, Any]:
        """Return judge, rubric, prompt digests and model."""
        languages = self.rubric.languages if self.language == "auto" else (self.language,)
        return {
            "judge": kind,
            "rubric": self.rubric.id,
            "rubric_version": self.rubric.version,
            "prompts": {lang: self.rubric.prompt_digest(lang) for lang in languages},
            "client": dict(self.client.describe()),
        }

    def _refuse_language(self) -> None:
        """Raise UsageError for a language, other than `auto`, in which the rubric has no template."""
        if self.language != "auto" and self.language not in self.rubric.languages:
            msg = f"the rubric {self.rubric.id!r} has no template in {self.language!r}"
            raise UsageError(msg, hint=f"it has {', '.join(self.rubric.languages)}")

    def _prompt_language(self, conversation: Conversation) -> str:
        return (
            prompt_language(conversation, self.rubric.languages) if self.language == "auto" else self.language
        )


@dataclass(frozen=True)
class RubricJudge(JudgeByRubric):
    """Judges conversations by a rubric; implements `core.protocols.Judge`.

    Turn rubrics take one call for each replied turn. Conversation rubrics take one call for all turns and
    the conversation together, up to `long_after` turns, and windows beyond; or, where the rubric says so, one
    call however long, in segments only what does not fit into a prompt. Of a conversation with a history only
    what follows it is judged. In foresight the turns of a
    conversation rubric are asked about one by one, each seeing nothing after its reply, and the
    conversation in a call of its own. A failed call fails its own targets only.
    """

    together: ClassVar = True

    rubric: Rubric
    client: ChatClient
    _: KW_ONLY
    language: Literal["auto"] | str = "auto"
    """`auto`: Chinese for Chinese conversations, English otherwise."""
    window: int = LARGEST
    """The longest window, 4 to 6 turns."""
    long_after: int = 10
    """Conversations with more replied turns are judged in windows; at least 6."""
    mode: Mode = "hindsight"
    tool_chars: int = 2000
    """Tool results longer than this are cut in the middle; the cuts are counted in the details."""
    source: str | None = None
    """A text that rubrics with the placeholder `source` check against."""
    policies: Policies | None = None
    """For rubrics with `policy`; None: the agent's own system prompt, else the shipped policies."""
    calls: Calls | None = None
    """Whether a call asks for all dimensions, or for one; None for what the rubric says."""
    room: int | None = None
    """Tokens (of 3 bytes each) that a prompt may have. Of a rubric without windows, what does not fit is
    judged in segments. None where nobody knows the model's window."""

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.rubric.level == "pair":
            msg = f"the rubric {self.rubric.id!r} compares pairs"
            raise UsageError(msg, hint="`dialogauge arena` takes it; give a rubric of another level")
        personal = PERSONAL.intersection(self.rubric.shows)
        if personal:
            msg = f"the rubric {self.rubric.id!r} shows how people rated ({', '.join(sorted(personal))})"
            raise UsageError(msg, hint="it belongs to `dialogauge satisfaction`")
        self._refuse_language()
        if self.policies is not None and "policy" not in self.rubric.shows:
            msg = f"the rubric {self.rubric.id!r} shows no policy"
            raise UsageError(msg, hint="leave --policy out, or give a rubric that names `policy` in `shows`")
        if self.source is not None and "source" not in self.rubric.shows:
            msg = f"the rubric {self.rubric.id!r} shows no source"
            raise UsageError(msg, hint="leave --source out, or give a rubric that names `source` in `shows`")
        if self._separate:
            one_by_one(self.rubric)
        if self.long_after < LARGEST:
            msg = f"windows after {self.long_after} turns"
            raise UsageError(
                msg, hint=f"a conversation of up to {LARGEST} turns is one window: give 6 or more"
            )
        plan_windows(1, self.window)

    @property
    def name(self) -> str:
        """`rubric/model`."""
        return f"{self.rubric.id}/{self.client.name}"

    def describe(self) -> Mapping[str, Any]:
        """Return rubric, prompt digests, model and settings as plain JSON values."""
        settings: dict[str, Any] = {"language": self.language, "mode": self.mode}
        if self.room is not None and ("history" in self.rubric.shows or not self.rubric.windows):
            settings["room"] = self.room
        if self.rubric.level != "turn" and self.rubric.windows:
            settings |= {"window": self.window, "long_after": self.long_after}
        if "dialogue" in self.rubric.shows or "tool_results" in self.rubric.shows:
            settings["tool_chars"] = self.tool_chars
        if "source" in self.rubric.shows and self.source is not None:
            settings["source"] = digest_text(self.source)
        if "policy" in self.rubric.shows:
            settings["policy"] = digest({"domains": [asdict(d) for d in self._policies.domains]})
            settings["own_policy"] = self.policies is None
        if self._separate:
            settings["calls"] = "separate"
        about = {**self._identity("rubric"), "reads": sorted(self.reads), "settings": settings}
        if (fitted := self.rubric.fitted) is not None:
            settings["weights"] = digest(asdict(fitted))
            about["fitted_on"] = {"seen": list(fitted.seen)}
            to = counted(len(fitted.seen), "rated session")
            about["notes"] = [f"Criteria count by weights fitted to {to}, and not by those of the rubric."]
        return about

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge each replied turn in order, then the conversation, as the rubric asks; or targets alone.

        Targets are turns of the conversation, for a rubric that judges turn by turn: one of the level `turn`,
        or in foresight the turn dimensions of one of the level `conversation`.

        Seed and repeat give the seed that the model is asked with, so that repeats differ and are asked anew.

        Raises `EndpointError` or `BudgetSpent` from the client.
        """
        if request.targets and not self._turn_by_turn:
            return request.failed(f"the judge {self.name} judges whole conversations")
        conversation = request.conversation.blinded()
        calls = self._calls(
            self._fixed,
            self.client,
            conversation,
            self._prompt_language(conversation),
            self.mode,
            self.tool_chars,
            self.source,
            salt=request.seed + request.repeat - 1,
            policy=self._policy(conversation),
            standing={(j.target.level, j.target.turn): j for j in request.standing},
        )
        turns = conversation.new_turns
        if not turns:
            target = Target(conversation.id, "conversation", candidate=conversation.candidate)
            failure = JudgeFailure("no_reply", "the conversation has no assistant reply to a user message")
            return (Judged(target, failure),)
        needed = () if self.rubric.task_optional else self.rubric.task[:1]
        if needed and not task_fields(conversation, needed):
            failed = request.failed(f"the record of the task has no {needed[0]!r} to hold the reply against")
            return tuple(j for j in failed if self.rubric.at(j.target.level)) or failed[-1:]
        wanted = {reply.turn for reply in request.targets}
        if wanted:
            return await _judge_turns(calls, tuple(t for t in turns if t.number in wanted))
        if self.rubric.level == "turn":
            rows = await _judge_turns(calls, turns)
            if self.rubric.at("conversation"):
                rows = (*rows, calls.standing.get(("conversation", None)) or mean_of_turns(calls, rows))
        elif self.rubric.level == "window":
            rows = await judge_window_level(calls, turns, plan_windows(len(turns), self.window))
        else:
            alone = self.mode == "foresight" and self.rubric.at("turn")
            before = await _judge_turns(calls, turns) if alone else ()
            count = len(turns)
            plan: WindowPlan = ((0, count),)
            if not self.rubric.windows:
                plan = plan_segments(calls, turns, self.room)
            elif count > self.long_after:
                plan = plan_windows(count, self.window)
            rows = before + await judge_in_windows(calls, turns, plan, before, room=self.room)
        return tuple(r for r in rows if r is not calls.standing.get((r.target.level, r.target.turn)))

    @property
    def _turn_by_turn(self) -> bool:
        level = self.rubric.level
        return level == "turn" or (
            level == "conversation" and self.mode == "foresight" and bool(self.rubric.at("turn"))
        )

    @cached_property
    def _calls(self) -> Callable[..., ConversationCalls]:
        """What makes the calls about a conversation."""
        return partial(SeparateCalls, single=self._single) if self._separate else ConversationCalls

    @property
    def _separate(self) -> bool:
        return (self.calls or self.rubric.calls) == "separate"

    @cached_property
    def _single(self) -> tuple[FixedPrompts, ...]:
        return one_by_one(self.rubric)

    @cached_property
    def _policies(self) -> Policies:
        return self.policies or load_policies()

    def _policy(self, conversation: Conversation) -> AgentPolicy | None:
        if "policy" not in self.rubric.shows:
            return None
        return AgentPolicy(self._policies, conversation, own=self.policies is None)


async def _judge_turns(calls: ConversationCalls, turns: tuple[Turn, ...]) -> tuple[Judged, ...]:
    """Ask about each turn by itself; nothing after the reply is in the dialogue that is shown."""
    asked = [turn for turn in turns if ("turn", turn.number) not in calls.standing]
    single = [
        Call(Scope((turn.number,), ("turn",)), calls.conversation.until(turn.number).turns) for turn in asked
    ]
    results = await gathered([calls.make(call) for call in single])
    new = {turn.number: turn_row(calls, r, turn) for r, turn in zip(results, asked, strict=True)}
    return tuple(calls.standing.get(("turn", t.number)) or new[t.number] for t in turns)


_OF_ALL = ("issues", "evidence", "decision_basis", "weakest_turn", "verdict")


def one_by_one(rubric: Rubric) -> tuple[FixedPrompts, ...]:
    """Return the prompts that ask for one dimension each; UsageError where a reply is more than scores.

    A list of items, and the holistic score beside it, are asked for with the dimension that is made of it.
    """
    more = [label.name for label in rubric.labels]
    more += [name for name in _OF_ALL if getattr(rubric.reply, name)]
    if more:
        msg = f"the rubric {rubric.id!r} asks for {more[0]} beside the scores: it cannot be split into calls"
        raise UsageError(msg, hint="leave --calls separate out")
    lists, holistic = {x.dimension: x for x in rubric.items}, {x.holistic for x in rubric.items}
    parts = []
    for d in rubric.dimensions:
        items = lists.get(d.name)
        if items is not None:
            beside = tuple(other for other in rubric.dimensions if other.name == items.holistic)
            parts.append(replace(rubric, dimensions=(d, *beside), items=(items,), verdict=None))
        elif not d.computed and d.name not in holistic:
            parts.append(replace(rubric, dimensions=(d,), items=(), verdict=None))
    return tuple(map(FixedPrompts, parts))


@dataclass(frozen=True)
class SeparateCalls(ConversationCalls):
    """The calls about one conversation, one for each dimension where `ConversationCalls` makes one for all.

    A target of which one dimension fails has failed; what the others said of it is not kept.
    """

    single: Sequence[FixedPrompts] = field(default=())

    async def make(self, call: Call) -> CallResult:
        """Ask for each dimension, and put the replies together."""
        parts = [f for f in self.single if f.rubric.dimensions[0].level in call.scope.levels]
        results = await gathered([self._make_one(fixed, call) for fixed in parts])
        own = [_Part(fixed.rubric, result) for fixed, result in zip(parts, results, strict=True)]
        targets = call.targets(self.rubric)
        failures = {t: f for t in targets if (f := _failure(t, own)) is not None}
        usage = sum((p.result.usage for p in own), NO_USAGE)
        if len(failures) == len(targets):
            return CallResult(call, failures[targets[0]], usage)
        sound = {t: _joined(t, own) for t in targets if t not in failures}
        answers = [p.result.outcome for p in own if isinstance(p.result.outcome, Structured)]
        turns = {n: part for n, part in sound.items() if n is not None}
        extra = sum(a.value.extra_keys for a in answers)
        reply = ParsedReply(turns, sound.get(None, ParsedPart({})), extra_keys=extra)
        outcome = Structured(
            reply, usage, any(a.repaired for a in answers), any(a.reasked for a in answers), answers[0].text
        )
        cut = max(p.result.tool_results_cut for p in own)
        return CallResult(call, outcome, usage, cut, failures)

    def size(self, call: Call) -> int:
        """Return how many bytes the longest of its prompts has."""
        return max(ConversationCalls.size(replace(self, fixed=fixed), call) for fixed in self.single)

    async def _make_one(self, fixed: FixedPrompts, call: Call) -> CallResult:
        scope = replace(call.scope, levels=(fixed.rubric.dimensions[0].level,))
        return await ConversationCalls.make(replace(self, fixed=fixed), replace(call, scope=scope))


class _Part(Value):
    """What came of the call for one dimension."""

    rubric: Rubric
    result: CallResult

    @property
    def name(self) -> str:
        return self.rubric.dimensions[0].name

    def asks(self, target: int | None) -> bool:
        return target in self.result.call.targets(self.rubric)

    def entry(self, target: int | None) -> ParsedPart:
        """Return what the reply says of a target that did not fail; its note is that of the dimension."""
        reply = self.result.reply or ParsedReply({})
        part = reply.whole if target is None else reply.turns[target]
        return replace(part, notes={name or self.name: note for name, note in part.notes.items()})


def _failure(target: int | None, parts: Sequence[_Part]) -> JudgeFailure | None:
    """Return why a target failed, with every dimension that did; None where none did."""
    failed = [(p.name, f) for p in parts if p.asks(target) and (f := p.result.failure(target)) is not None]
    if not failed:
        return None
    first = failed[0][1]
    return replace(first, message="; ".join(f"{name}: {f.message}" for name, f in failed))


def _joined(target: int | None, parts: Sequence[_Part]) -> ParsedPart:
    entries = [p.entry(target) for p in parts if p.asks(target)]
    return ParsedPart(
        {name: score for part in entries for name, score in part.scores.items()},
        {name: note for part in entries for name, note in part.notes.items()},
        items={name: items for part in entries for name, items in part.items.items()},
        evidence=tuple(e for part in entries for e in part.evidence),
        dropped=sum((Counter(part.dropped) for part in entries), Counter()),
    )
