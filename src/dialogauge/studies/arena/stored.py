"""A finished arena read back: its page made again, and what was said of the meetings on one dialogue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final, Literal

from dialogauge.core import Conversation, UsageError
from dialogauge.core.shape import read_as
from dialogauge.report import Block, Callout, Cell, Items, Page, Percent, TableColumn, Transcript, data_table
from dialogauge.runs import Row, StoredRun
from dialogauge.stats import Estimate
from dialogauge.studies.arena.agents import Agents
from dialogauge.studies.arena.controls import PEOPLE, Beside
from dialogauge.studies.arena.meetings import DIALOGUES
from dialogauge.studies.arena.page import arena_page
from dialogauge.studies.arena.summary import ArenaResult, ArenaSettings, arena_result
from dialogauge.studies.evidence import DimensionEvidence
from dialogauge.studies.judging.shown import near
from dialogauge.studies.judging.transcripts import TranscriptWriter
from dialogauge.text import counted

_SETTINGS: Final = tuple(one.name for one in fields(ArenaSettings))
_TRANSCRIPTS: Final = 3
"""Dialogues that the page shows, each as two agents led it."""


_MORE: Final[Mapping[str, tuple[tuple[str, Literal["text", "number"]], ...]]] = {
    "orders": (("a first", "text"), ("b first", "text")),
    "rater": (("rater", "text"),),
    "qualities": (("score of a", "number"), ("score of b", "number")),
}
"""What else a vote rests on, by the field of its row: columns of a table."""


def stored_page(run: StoredRun) -> Page:
    """Return the page of a finished arena, from its votes; what people said beside them, from its summary."""
    summary, manifest = run.directory.read_json("summary"), run.manifest
    about = {one["agent"]: one["about"] for one in (*summary["agents"], *summary.get("unranked", ()))}
    lists = (
        {name: [run.shown_id(one) for one in ids] for name, ids in summary[key].items()}
        for key in ("missing", "absent")
    )
    settings = ArenaSettings(**{n: manifest.settings[n] for n in _SETTINGS if n in manifest.settings})
    agents = Agents(tuple(manifest.facts["agents"]), about, *lists)
    evidence = stored_evidence(summary)
    result = arena_result(run.rows(), manifest.judge["name"], agents, settings, evidence=evidence)
    people = [
        Beside(one["name"], one["what"], read_as(one["agrees"], Estimate), one["ratings"])
        for one in summary["beside"]
        if one["name"] == PEOPLE
    ]
    result = replace(result, beside=(*result.beside, *people), pending=manifest.pending_units)
    return arena_page(result, manifest, dialogues_to_read(run, result))


def stored_evidence(summary: Mapping[str, Any]) -> DimensionEvidence:
    """Return whether the referee of a finished arena is checked; people are where nothing is said of it."""
    checked = summary.get("checked", summary["referee"] == "people")
    return DimensionEvidence(
        checked, summary.get("checked_by", ""), summary.get("why_unchecked", "it was not checked")
    )


def dialogues_to_read(run: StoredRun, result: ArenaResult) -> tuple[Transcript, ...]:
    """Return the first dialogues to read, each as the two agents of the meeting led it."""
    return tuple(
        replace(one, title=f"{meeting.conversation_id}: {one.title}")
        for meeting in result.to_read[:_TRANSCRIPTS]
        for one in _led_by(run, meeting.conversation_id, meeting.agents)
    )


def shown_votes(run: StoredRun, id: str, turn: int | None = None) -> tuple[Block, ...]:
    """Return what was said of the meetings on one dialogue, and the dialogue as each agent led it.

    Args:
        run: Opened for reading.
        id: Of the dialogue, as the run shows it.
        turn: None: a vote is of a whole dialogue.

    Raises:
        UsageError: There was no meeting on it, or a turn is asked for.
    """
    if turn is not None:
        msg = "a vote is of a whole dialogue, and not of a turn"
        raise UsageError(msg, hint="leave --turn out")
    ids: dict[str, None] = {}
    rows = []
    for row in run.rows():
        ids[str(row["conversation_id"])] = None
        if row["conversation_id"] == id:
            rows.append(row)
    if not rows:
        msg = f"the arena {run.directory.path} has no meeting on a dialogue {id!r}"
        raise UsageError(msg, hint=near(id, list(ids)))
    more = next((what for what, heads in _MORE.items() if any(row[what] for row in rows)), None)
    columns = [TableColumn(head, "text") for head in ("a", "b", "winner")]
    columns += [TableColumn(head, kind) for head, kind in _MORE.get(more or "", ())]
    title = f"{id}: {counted(len(rows), 'meeting')}, by {run.manifest.judge['name']}"
    table = data_table(title, columns, [_cells(row, more) for row in rows])
    reasons = tuple(_reasons(rows))
    evidence = stored_evidence(run.directory.read_json("summary"))
    notice = () if evidence.checked else (Callout((f"Unchecked: {evidence.why}.",), "warn"),)
    agents = dict.fromkeys(row[side] for row in rows for side in ("a", "b"))
    talks = tuple(_led_by(run, id, agents)) or (
        Callout(("What was said is not in this run: its input held votes alone, or other arenas.",)),
    )
    return (*notice, table, *([Items(reasons)] if reasons else []), *talks)


def led_dialogues(run: StoredRun) -> Callable[[str, str], Conversation | None]:
    """Return what looks up a dialogue by its id, as it is shown, and its agent; None if it is not there."""
    stored = run.database.get_meta(DIALOGUES, {}, dict[str, dict[str, str]])
    by_id = {run.shown_id(name): by_agent for name, by_agent in stored.items()}

    def led(id: str, agent: str) -> Conversation | None:
        digest = by_id.get(id, {}).get(agent)
        talk = None if digest is None else run.database.conversation(bytes.fromhex(digest))
        return talk if talk is None or run.mask is None else run.mask.conversation(talk)

    return led


def _led_by(run: StoredRun, id: str, agents: Iterable[str]) -> Iterator[Transcript]:
    """Yield a dialogue as each of some agents led it, where the run holds that."""
    writer, led = TranscriptWriter({}, {}, {}, {}), led_dialogues(run)
    for agent in agents:
        if (talk := led(id, agent)) is not None:
            yield writer.unjudged(agent, talk)


def _cells(row: Row, more: str | None) -> tuple[Cell, ...]:
    winner = f"no verdict: {row['failure']['kind']}" if row["winner"] is None else _named(row, row["winner"])
    first = (row["a"], row["b"], winner)
    if more == "orders":
        answers = {one["first"]: one["winner"] for one in row["orders"]}
        return (*first, *(_named(row, answers.get(side)) for side in "ab"))
    if more == "qualities":
        return (*first, *(Percent(quality) for quality in row["qualities"] or (None, None)))
    return first if more is None else (*first, row["rater"] or "")


def _named(row: Row, winner: str | None) -> str:
    return "no verdict" if winner is None else "tie" if winner == "tie" else str(row[winner])


def _reasons(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for one in row["orders"]:
            if reason := one["reason"] or one["message"]:
                other = "b" if one["first"] == "a" else "a"
                yield f"{row[one['first']]} first, then {row[other]}: {reason}"
