"""One state of a replay run: what was said before, every reply, and what its evaluator made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from dialogauge.core import UsageError
from dialogauge.report import Block, Callout, Cell, Column, Items, Number, TableColumn, data_table
from dialogauge.runs import Row, StoredRun
from dialogauge.runs.privacy import hidden_turn
from dialogauge.studies.judging.shown import near
from dialogauge.studies.judging.transcripts import TranscriptWriter
from dialogauge.studies.replay.items import ORIGINAL
from dialogauge.studies.replay.states import ReplayState, ReplayStates, scores_of_row

_WON: Final = {"a": "preferred", "b": "the original is preferred", "tie": "a tie"}


def show_states(run: StoredRun, id: str, turn: int | None = None) -> tuple[Block, ...]:
    """Return the states of an id: that of an item, or those of a conversation.

    Args:
        run: Opened for reading.
        id: Of an item, or of a conversation, as the run shows it.
        turn: Of a conversation, the only turn to show.

    Raises:
        UsageError: The run has no such state.
        StoreError: It keeps no conversations.
    """
    states, mask = ReplayStates.of(run), run.mask
    shown: list[ReplayState] = []
    ids: dict[str, None] = {}
    for state in states:
        item = state.item.id if mask is None else hidden_turn(mask, state.item.id)
        ids[item] = None
        if id in (item, run.shown_id(state.item.conversation)) and turn in (None, state.original.turn):
            shown.append(state)
    if not shown:
        at = "" if turn is None else f" in turn {turn}"
        msg = f"the replay run {run.directory.path} has no item of {id!r}{at}"
        raise UsageError(msg, hint=near(id, list(ids), "all ids are in items.json and scores.jsonl"))
    return tuple(block for state in shown for block in _blocks(run, states, state))


def _blocks(run: StoredRun, states: ReplayStates, state: ReplayState) -> Iterator[Block]:
    mask, item, conversation = run.mask, state.item, state.original.conversation
    names = {} if mask is None else mask.names(item.conversation, conversation.user_id)

    def shown(text: str) -> str:
        return text if mask is None else str(mask.value(text, names))

    before = conversation if mask is None else mask.conversation(conversation)
    title = item.id if mask is None else hidden_turn(mask, item.id)
    writer = TranscriptWriter({}, {}, {}, {})
    yield writer.unjudged(title, replace(before, messages=before.messages[:-1]))
    if item.gold is not None:
        yield Callout((f"The user gave the original reply {item.gold:g}.",))
    dimensions = states.dimensions
    heads: list[Column] = [TableColumn("by", "text"), *(name for name, _, _ in dimensions)]
    heads += [TableColumn("beside the original", "text")] if states.by_pairs else []
    rows: list[tuple[Cell, ...]] = []
    for name in (*state.texts, *state.failures):
        row = state.rows.get(name)
        text = shown(state.texts[name]) if name in state.texts else _missing(state.failures[name])
        scores = tuple(_score(row, dimension) for dimension, _, _ in dimensions)
        vote: tuple[Cell, ...] = (_vote(name, row),) if states.by_pairs else ()
        rows.append((name, *scores, *vote, text))
    by = f", scored by {states.judge}" if states.judge else ""
    yield data_table(f"Replies{by}", [*heads, TableColumn("reply", "prose")], rows)
    if reasons := tuple(shown(reason) for reason in _reasons(state)):
        yield Items(reasons)
    if not states.judge:
        yield Callout(("Nobody has scored these replies: dialogauge replay score RUN --rubric RUBRIC.",))


def _missing(kind: str) -> str:
    return f"(no reply: {kind.replace('_', ' ')})"


def _score(row: Row | None, dimension: str) -> Cell:
    if row is None:
        return "not scored"
    if "failure" in row:
        return f"failed: {row['failure']['kind'].replace('_', ' ')}"
    score = scores_of_row(row).get(dimension)
    return score if isinstance(score, str) else Number(score)


def _vote(name: str, row: Row | None) -> str:
    if name == ORIGINAL:
        return ""
    if row is None:
        return "not judged"
    return _WON[row["winner"]] if "winner" in row else f"failed: {row['failure']['kind'].replace('_', ' ')}"


def _reasons(state: ReplayState) -> Iterator[str]:
    """Yield what the evaluator says of each reply, and where in it that stands."""
    for name, row in state.rows.items():
        if "failure" in row:
            yield f"{name}: {row['failure']['message']}"
        if rationale := row.get("rationale"):
            yield f"{name}: {rationale}"
        for one in row.get("evidence", ()):
            yield f"{name}: {one.get('criterion') or one.get('signal')}: “{one['quote']}”"
        for one in row.get("orders", ()):
            if reason := one["reason"] or one["message"]:
                order = "first" if one["first"] == "a" else "second"
                yield f"{name}, shown {order}: {reason}"
