"""Our judges in Inspect: a scorer for tasks, a scanner for transcripts (extra `inspect`).

Inspect knows them by name too: `dialogauge/quality`, `dialogauge/findings`. See docs/inspect.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.scorer import Reference, Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from dialogauge.core import JudgeFailure, Judgement
from dialogauge.door.library import ajudge
from dialogauge.door.run import Run
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.studies.judging.condition import FINDINGS

try:
    from inspect_scout import Result, Scanner, Transcript, scanner
except ImportError:  # Inspect without Scout: there is the scorer
    _SCOUT = False
else:
    _SCOUT = True


@scorer(metrics={"*": [mean(), stderr()]})
def quality(*dimensions: str, **settings: Any) -> Scorer:  # noqa: ANN401 - of any setting
    """Score the dialogue of a sample by a judge of dialogauge; without a model by the local judge.

    The value has how many findings are named, and each dimension that is checked (`checked_by`): the score of
    the conversation, or the mean over its turns. A dimension that is n/a, or of which a judgement failed, is
    NaN, which Inspect counts as unscored. Findings stand in the explanation, judgements in the metadata.

    Args:
        dimensions: Which; `findings` is one. All without.
        settings: Those of `dialogauge.judge`: `rubric`, `model`, `checked_by` ...; with `unchecked=True`
            dimensions count that nobody showed to agree with people, and the explanation says so first.

    Raises UsageError for a dimension that is not checked.
    """

    async def score(state: TaskState, target: Target) -> Score:
        run = await _judged(str(state.sample_id), state.messages, settings)
        values, evidence = _values(run), run.evidence
        for name in dimensions:
            if name != FINDINGS:
                evidence.expect(name, "quality()")
        value = {name: values.get(name, math.nan) for name in dimensions or values}
        rows = [_plain(row) for row in run.rows()]
        notes = [UNCHECKED_FIRST] * evidence.unchecked + _notes(run)
        return Score(value=value, explanation="\n".join(notes) or None, metadata={"judgements": rows})

    return score


if _SCOUT:

    @scanner(messages="all")
    def findings(**settings: Any) -> Scanner[Transcript]:  # noqa: ANN401 - of any setting
        """Count what a judge of dialogauge names in the replies of a transcript, and point to the messages.

        Args:
            settings: Those of `dialogauge.judge`; the local judge alone names findings.
        """

        async def scan(transcript: Transcript) -> Result:
            run = await _judged(transcript.transcript_id, transcript.messages, settings)
            notes, replies = [], _replies(run, transcript.messages)
            references: dict[str, Reference] = {}
            for turn, note in _named(run):
                at = replies.get(turn)
                cite = f"turn {turn}:" if at is None else f"[M{at + 1}]"
                id = None if at is None else transcript.messages[at].id
                if id is not None:
                    references[cite] = Reference(type="message", cite=cite, id=id)
                notes.append(f"{cite} {note}")
            return Result(
                value=len(notes), explanation="\n".join(notes) or None, references=list(references.values())
            )

        return scan


async def _judged(id: str, messages: Sequence[ChatMessage], settings: dict[str, Any]) -> Run:
    """Judge one dialogue; raise what failed as a whole."""
    record = {"conversation_id": id, "messages": [_openai(message) for message in messages]}
    run = await ajudge([record], progress=False, **settings)
    if run.faults:
        raise run.faults[0]
    return run


def _openai(message: ChatMessage) -> dict[str, Any]:
    """Write a message as OpenAI does."""
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if isinstance(message, ChatMessageTool):
        plain["tool_call_id"] = message.tool_call_id
        if message.error is not None and not message.text:
            plain["content"] = message.error.message
    return plain


def _values(run: Run) -> dict[str, float]:
    """Return how many findings there are, and the mean of each dimension that is checked, or was asked for.

    NaN where nothing was scored, or a judgement failed.
    """
    figures, evidence = run.summary.get("dimensions") or {}, run.evidence
    values = {}
    if evidence.finds:
        values[FINDINGS] = math.nan if run.summary.failed else float(len(_named(run)))
    return values | {
        name: math.nan if of["mean"] is None or of["n_failed"] else float(of["mean"])
        for name, of in figures.items()
        if evidence.counts(name)
    }


def _named(run: Run) -> list[tuple[int | None, str]]:
    """Return the findings of the turns, and the failures: of each the turn and a note."""
    named: list[tuple[int | None, str]] = []
    for judged in run.judgements():
        if isinstance(judged.outcome, Judgement):
            notes = (signal["note"] for signal in judged.outcome.details.get("signals", ()))
            named += [(judged.target.turn, note) for note in notes if judged.target.turn is not None]
    return named


def _notes(run: Run) -> list[str]:
    notes = [f"turn {turn}: {note}" for turn, note in _named(run)]
    failures = [j.outcome for j in run.judgements() if isinstance(j.outcome, JudgeFailure)]
    return notes + [f"not judged: {failure.message}" for failure in failures]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    kept = ("level", "turn", "scores", "verdict", "rationale", "failure")
    return {key: row[key] for key in kept if row[key] is not None}


def _replies(run: Run, messages: Sequence[ChatMessage]) -> dict[int | None, int]:
    """Return the place of the last message of the assistant in each turn."""
    replies: dict[int | None, int] = {}
    for conversation in run.conversations():
        for turn in conversation.turns if len(conversation.messages) == len(messages) else ():
            for at in range(turn.start, turn.stop):
                if messages[at].role == "assistant":
                    replies[turn.number] = at
    return replies
