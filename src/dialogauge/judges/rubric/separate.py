"""A call for each dimension in place of one for all: their replies put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dialogauge.core.errors import UsageError
from dialogauge.core.judgement import NO_USAGE, JudgeFailure
from dialogauge.judges.rubric.prompt import Call, CallResult, ConversationCalls, FixedPrompts, gathered
from dialogauge.judges.rubric.reply import ParsedPart, ParsedReply
from dialogauge.llm.structured import Structured
from dialogauge.rubrics import Rubric

_OF_ALL = ("issues", "evidence", "decision_basis", "weakest_turn", "verdict")


def one_by_one(rubric: Rubric) -> tuple[FixedPrompts, ...]:
    """Return the prompts that ask for one dimension each; UsageError where a reply is more than scores."""
    more = [label.name for label in rubric.labels] + [items.name for items in rubric.items]
    more += [name for name in _OF_ALL if getattr(rubric.reply, name)]
    if more:
        msg = f"the rubric {rubric.id!r} asks for {more[0]} beside the scores: it cannot be split into calls"
        raise UsageError(msg, hint="leave --calls separate out")
    asked = (d for d in rubric.dimensions if not d.computed)
    return tuple(FixedPrompts(replace(rubric, dimensions=(d,), verdict=None)) for d in asked)


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
        return _together(self.rubric, call, own)

    async def _make_one(self, fixed: FixedPrompts, call: Call) -> CallResult:
        scope = replace(call.scope, levels=(fixed.rubric.dimensions[0].level,))
        return await ConversationCalls.make(replace(self, fixed=fixed), replace(call, scope=scope))


@dataclass(frozen=True, slots=True)
class _Part:
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


def _together(rubric: Rubric, call: Call, parts: Sequence[_Part]) -> CallResult:
    targets = call.targets(rubric)
    failures = {t: f for t in targets if (f := _failure(t, parts)) is not None}
    usage = sum((p.result.usage for p in parts), NO_USAGE)
    if len(failures) == len(targets):
        return CallResult(call, failures[targets[0]], usage)
    sound = {t: _joined(t, parts) for t in targets if t not in failures}
    answers = [p.result.outcome for p in parts if isinstance(p.result.outcome, Structured)]
    turns = {n: part for n, part in sound.items() if n is not None}
    extra = sum(a.value.extra_keys for a in answers)
    reply = ParsedReply(turns, sound.get(None, ParsedPart({})), extra_keys=extra)
    outcome = Structured(
        reply, usage, any(a.repaired for a in answers), any(a.reasked for a in answers), answers[0].text
    )
    cut = max(p.result.tool_results_cut for p in parts)
    return CallResult(call, outcome, usage, cut, failures)


def _failure(target: int | None, parts: Sequence[_Part]) -> JudgeFailure | None:
    """Return why a target failed, with every dimension that did; None where none did."""
    failed = [(p.name, f) for p in parts if p.asks(target) and (f := p.result.failure(target)) is not None]
    if not failed:
        return None
    first = failed[0][1]
    return replace(first, message="; ".join(f"{name}: {f.message}" for name, f in failed))


def _joined(target: int | None, parts: Sequence[_Part]) -> ParsedPart:
    entries = [p.entry(target) for p in parts if p.asks(target)]
    scores = {name: score for part in entries for name, score in part.scores.items()}
    return ParsedPart(scores, {name: note for part in entries for name, note in part.notes.items()})
