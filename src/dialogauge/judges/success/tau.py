"""Whether a task of tau-bench came about: its reward, the outputs that it asks for, and the data base.

A success is a reward of 1, as in tau-bench; a part of it is none, and counts in the mean reward alone. The
reward is 1 where the data base holds in the end what it holds after the task's own actions, and every
output that the task asks for stands in some reply. The check of outputs is that of tau-bench: any text within
a reply counts, whatever stands around it, so the 10 in `1000` counts for 10. Where it stands is shown.

Source: Yao et al. (2024), tau-bench; github.com/sierra-research/tau-bench, `Env.calculate_reward`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from dialogauge.core import (
    Conversation,
    Evidence,
    Judged,
    Judgement,
    Place,
    PlainDimension,
    RecordFault,
    Request,
    Scale,
    Target,
    digest,
)
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Environment, Reads, ToolUse
from dialogauge.core.scores import NOT_APPLICABLE, Number, as_scores
from dialogauge.judges.success.multiwoz_data import json_object

_VERSION: Final = 3
_STOP: Final = "###STOP###"
"""With this tau-bench's simulated user ends a dialogue."""
_AROUND: Final = 40
"""Characters of the quote on either side of an output."""
_NUMBER: Final = lazy_pattern(r"\d+(?:\.\d+)?")
_BINARY: Final = Scale(0, 1)
_UNTOLD: Final = "an output is in no reply"
REWARD: Final = "reward"
DIMENSIONS: Final = tuple(
    PlainDimension(name, "conversation", _BINARY) for name in ("success", "outputs", "database")
)


@dataclass(frozen=True, slots=True)
class Task:
    """What a record says of its task."""

    outputs: tuple[str, ...] | None
    """Texts that replies must hold; None where the record does not say."""
    actions: tuple[ToolUse, ...] | None
    """The calls that leave the data base as it should be; None where the record does not say."""
    reward: float | None
    """As it is stored."""


def task_of(conversation: Conversation) -> Task:
    """Read what a record says of its task: trajectories of TD-Eval, and tau-bench's own results.

    Raises RecordFault where outputs or actions have another form, or the reward lies outside 0 to 1.
    """
    data: Mapping[str, Any] = conversation.metadata
    info = data.get("info")
    task = info.get("task") if isinstance(info, dict) else None
    task = task if isinstance(task, dict) else {}
    outputs = data.get("gold_outputs", task.get("outputs"))
    actions = data.get("gold_actions", task.get("actions"))
    place = conversation.place or Place("input", None, conversation.id)
    hint = "outputs are a list of texts, actions a list of {name, kwargs}"
    if outputs is not None and not isinstance(outputs, list):
        msg = "the outputs of the task are no list"
        raise RecordFault(msg, place=place, hint=hint)
    if actions is not None and not (isinstance(actions, list) and all(map(_is_action, actions))):
        msg = "the actions of the task are no list of calls"
        raise RecordFault(msg, place=place, hint=hint)
    rewards = (r.score for r in conversation.ratings if r.dimension == REWARD and r.turn is None)
    reward = data.get(REWARD, next(rewards, None))
    if isinstance(reward, int | float) and not 0 <= reward <= 1:
        msg = f"the reward is {reward:g}, and a reward lies from 0 to 1"
        raise RecordFault(msg, place=place, hint="divide by the highest reward, or leave it out")
    return Task(
        None if outputs is None else tuple(map(str, outputs)),
        None
        if actions is None
        else tuple((a["name"], a.get("kwargs", a.get("arguments", {}))) for a in actions),
        float(reward) if isinstance(reward, int | float) else None,
    )


def _is_action(action: object) -> bool:
    if not isinstance(action, dict) or not isinstance(action.get("name"), str):
        return False
    return isinstance(action.get("kwargs", action.get("arguments", {})), dict)


# Outputs


@dataclass(frozen=True, slots=True)
class Hit:
    """Where an output of a task stands in the replies."""

    output: str
    turn: int | None
    """The turn of the first reply that holds it; None where none does."""
    quote: str = ""
    within: bool = False
    """Whether it is everywhere part of a longer word or number, or the number of a point in a list."""


def output_hits(conversation: Conversation, outputs: Sequence[str]) -> Iterator[Hit]:
    """Yield for each output where it stands; first choice is a place where it stands by itself."""
    replies = [
        (turn.number, m.text.replace(",", ""))
        for turn in conversation.turns
        for m in turn.messages
        if m.role == "assistant" and not m.tool_calls
    ]
    for output in outputs:
        needle, best = output.lower(), Hit(output, None)
        for turn, text in replies:
            for start in _places(text.lower(), needle):
                # Whether what stands there is part of a longer word, of another number, or numbers a
                # point of a list.
                stop = start + len(needle)
                if _NUMBER.fullmatch(text[start:stop]):
                    number = next(m for m in _NUMBER.finditer(text) if m.start() <= start < m.end())
                    line_before = text[:start].rpartition("\n")[2]
                    points = text[stop : stop + 1] in (".", ")") and not line_before.strip(" *-#")
                    within = float(number[0]) != float(text[start:stop]) or (points and number.end() == stop)
                else:
                    before, after = text[start - 1 : start], text[stop : stop + 1]
                    within = (before.isalnum() and text[start].isalnum()) or (
                        after.isalnum() and text[stop - 1].isalnum()
                    )
                if best.turn is None or (best.within and not within):
                    quote = text[max(start - _AROUND, 0) : start + len(needle) + _AROUND]
                    best = Hit(output, turn, " ".join(quote.split()), within)
        yield best


def _places(text: str, needle: str) -> Iterator[int]:
    start = text.find(needle)
    while start >= 0 and needle:
        yield start
        start = text.find(needle, start + 1)


# Calls and the data base


def calls_of(conversation: Conversation) -> list[ToolUse]:
    """Return the agent's calls in their order; those whose arguments are no JSON object changed nothing."""
    calls = (call for m in conversation.messages for call in m.tool_calls)
    read = ((call.name, json_object(call.arguments)) for call in calls)
    return [(name, arguments) for name, arguments in read if arguments is not None]


def is_finished(conversation: Conversation, final: frozenset[str]) -> bool:
    """Whether a dialogue ended: the user stopped, a final tool was called, or a reply stands last."""
    if any(call.name in final for m in conversation.messages for call in m.tool_calls):
        return True
    last = conversation.messages[-1]
    return _STOP in last.text if last.role == "user" else last.role == "assistant" and not last.tool_calls


class TauSuccess:
    """Judges whole dialogues by what their records say of the task: a request must carry them unblinded."""

    name = "tau success"
    reads: frozenset[Reads] = frozenset()
    together = True
    dimensions = DIMENSIONS

    def __init__(self, environment: Environment | None = None) -> None:
        """Take the world that calls are replayed in; without one the stored reward says what came about."""
        self.environment = environment
        self._gold: dict[str, Mapping[str, str]] = {}

    @cached_property
    def digest(self) -> str:
        """Changes with the environment."""
        world = None if self.environment is None else self.environment.digest
        return digest({"judge": self.name, "version": _VERSION, "environment": world})

    def describe(self) -> Mapping[str, Any]:
        """Return the settings for the manifest."""
        return {"judge": self.name, "version": _VERSION, "mode": "hindsight"}

    def expect(self, conversation: Conversation) -> None:
        """Raise RecordFault where what a record says of its task has another form."""
        task_of(conversation)

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        """Judge the conversation as a whole."""
        return (self.judge_now(request.conversation),)

    def judge_now(self, conversation: Conversation) -> Judged:
        """Judge without an event loop."""
        task = task_of(conversation)
        hits = tuple(output_hits(conversation, task.outputs or ()))
        checked = _Checked(task, hits, *self._compared(conversation, task))
        details: dict[str, Any] = {
            "task": f"{conversation.scenario}_{conversation.metadata.get('task_id', conversation.id)}",
            "failed": list(checked.failed()),
        }
        if task.reward is not None:
            details["reward"] = {"stored": task.reward, "recomputed": checked.recomputed}
        if hits:
            details["outputs"] = [{"output": h.output, "turn": h.turn, "within": h.within} for h in hits]
        evidence = [Evidence(h.turn, h.quote, f"output {h.output!r}") for h in hits if h.turn is not None]
        target = Target(conversation.id, "conversation", None, conversation.candidate)
        judgement = Judgement(
            as_scores(checked.scores()),
            issues=tuple(checked.issues()),
            evidence=tuple(evidence),
            details=details,
        )
        return Judged(target, judgement)

    def _compared(self, conversation: Conversation, task: Task) -> tuple[bool | None, tuple[str, ...]]:
        """Return whether the dialogue ended, and the tables that differ; None where nobody knows."""
        if self.environment is None or task.actions is None:
            return None, ()
        domain, final = conversation.scenario, self.environment.final
        wanted = [(name, arguments) for name, arguments in task.actions if name not in final]
        key = json.dumps([domain, wanted], sort_keys=True)
        if key not in self._gold:
            self._gold[key] = self.environment.after(wanted, domain)
        gold, ours = self._gold[key], self.environment.after(calls_of(conversation), domain)
        differ = tuple(sorted(t for t in gold.keys() | ours.keys() if gold.get(t) != ours.get(t)))
        return is_finished(conversation, final), differ


@dataclass(frozen=True, slots=True)
class _Checked:
    """What the checks of one dialogue say."""

    task: Task
    hits: tuple[Hit, ...]
    finished: bool | None
    """None where no environment was asked."""
    tables: tuple[str, ...] = field(default=())
    """Those that differ."""

    @property
    def complete(self) -> bool:
        return all(hit.turn is not None for hit in self.hits)

    @property
    def recomputed(self) -> int | None:
        """The reward by our own checks; None without an environment."""
        return None if self.finished is None else int(self.finished and not self.tables and self.complete)

    def scores(self) -> dict[str, Number]:
        success: Number = NOT_APPLICABLE if self.task.reward is None else int(self.task.reward == 1)
        return {
            "success": success if self.recomputed is None else self.recomputed,
            "outputs": int(self.complete) if self.hits else NOT_APPLICABLE,
            "database": NOT_APPLICABLE if self.finished is None else int(not self.tables),
        }

    def issues(self) -> Iterator[str]:
        """Say what failed, each output by name."""
        for what in self.failed():
            if what == _UNTOLD:
                yield from (
                    f"required output {h.output!r} is in no reply" for h in self.hits if h.turn is None
                )
            else:
                yield what

    def failed(self) -> Iterator[str]:
        """Say what failed, in words that dialogues share."""
        if self.finished is False:
            yield "not finished"
        for table in self.tables:
            yield f"table {table} differs"
        if not self.complete:
            yield _UNTOLD
        if (
            self.finished is None
            and self.task.reward == 0
            and self.task.outputs is not None
            and self.complete
        ):
            yield "the data base differs, or not finished (by the stored reward)"
