"""Runs that hold conversations: units that produce one, and units that wait for others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dialogauge.app.progress import ProgressObserver
from dialogauge.core import Conversation, JudgeFailure, Message, WorkUnit, digest_text
from dialogauge.core.protocols import Record
from dialogauge.data import Mask
from dialogauge.runs import (
    Ending,
    Produced,
    Progress,
    RunDatabase,
    RunDirectory,
    RunSettings,
    StopSignal,
    Study,
    open_run,
    run_study,
    run_work,
)
from dialogauge.runs.privacy import mask_produced
from talks import talk

WRITER = digest_text("writer")


def unit(name: str, *after: WorkUnit, study: str = "answer") -> WorkUnit:
    keys = tuple(one.key for one in after)
    return WorkUnit(study, None, digest_text(name), WRITER, part=name, judge="w", after=keys)


def said(name: str, reply: str = "Yes.", **more: Any) -> Produced:
    messages = (Message("user", "Is it?"), Message("assistant", reply))
    return Produced(Conversation(name, messages, candidate="new", user_id="u1"), prefix=1, **more)


@dataclass
class Sink:
    """Keeps what is finished, and what was before."""

    before: dict[str, bool] = field(default_factory=dict)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def add(self, unit: WorkUnit, rows: Sequence[Record]) -> None:
        self.before[unit.key] = not any(row.failed for row in rows)
        self.rows[str(unit.part)] = [row.to_row(unit) for row in rows]
        self.order.append(str(unit.part))

    def flush_if_due(self) -> None:
        return None

    def has_unit(self, key: str) -> bool:
        return key in self.before

    def why(self, name: str) -> str:
        return str(self.rows[name][0]["failure"]["message"])


async def run(
    units: Sequence[WorkUnit], sink: Sink, *, workers: int = 2, fails: str = "", slow: str = ""
) -> Progress:
    progress = Progress()

    async def work(unit: WorkUnit) -> Sequence[Record]:
        await asyncio.sleep(0.02 if unit.part == slow else 0.001)
        failure = JudgeFailure("timeout", "too slow") if unit.part == fails else None
        return (said(str(unit.part), failure=failure),)

    async with asyncio.timeout(5):
        outcome = await run_work(
            iter(units), work, sink, workers=workers, progress=progress, stop=StopSignal()
        )
    assert outcome.ended == "finished"
    return progress


@pytest.mark.parametrize("workers", [1, 2, 8])
async def test_a_unit_waits_for_those_that_it_names(workers: int) -> None:
    a, b = unit("a"), unit("b")
    last = unit("last", a, b)
    further = unit("further", last)
    sink = Sink()
    progress = await run([further, last, a, b], sink, workers=workers)
    assert sink.order.index("last") > max(sink.order.index("a"), sink.order.index("b"))
    assert sink.order[-1] == "further"
    assert (progress.done, progress.failed) == (4, 0)


async def test_what_waits_for_a_failure_begins_when_that_has_ended() -> None:
    a = unit("a")
    b = unit("b", a)
    sink = Sink()
    progress = await run([unit("c", b), b, a, unit("d")], sink, fails="a")
    assert (progress.done, progress.failed) == (4, 1)
    order = sink.order
    assert order.index("a") < order.index("b") < order.index("c")
    assert all(sink.rows[name][0]["failure"] is None for name in "bcd")


async def test_what_waits_for_nothing_that_comes_never_hangs() -> None:
    gone = unit("gone")
    a = WorkUnit("answer", None, digest_text("a"), WRITER, part="a", after=(gone.key,))
    first = unit("first")
    second = unit("second", first)
    sink = Sink()
    ring = WorkUnit("answer", None, digest_text("first"), WRITER, part="first", after=(second.key,))
    await run([a, ring, second, unit("free")], sink)
    assert sink.why("a") == "what had to be done before is not planned"
    circle = [sink.rows[name][0]["failure"] for name in ("first", "second")]
    assert [failure["kind"] for failure in circle if failure] == ["unmet"]
    assert sink.rows["free"][0]["failure"] is None


async def test_what_an_earlier_run_finished_need_not_come_again() -> None:
    a, b = unit("a"), unit("b")
    sink = Sink({a.key: True, b.key: False})
    await run([unit("after a", a), unit("after b", b)], sink)
    assert all(sink.rows[name][0]["failure"] is None for name in ("after a", "after b"))


async def test_a_unit_that_is_done_anew_is_waited_for() -> None:
    a = unit("a")
    sink = Sink({a.key: False})
    await run([a, unit("b", a), unit("free")], sink, slow="a")
    assert (sink.order, sink.rows["b"][0]["failure"]) == (["free", "a", "b"], None)


def test_a_conversation_without_a_reply_is_a_failure() -> None:
    silent = said("c1", "  ")
    assert silent.failed
    assert silent.to_row(unit("c1"))["failure"]["kind"] == "no_reply"
    assert silent.produced.messages == ()
    assert (silent.produced.id, silent.produced.candidate, silent.produced.user_id) == ("c1", "new", "u1")
    # what was there before is no reply
    given = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    assert Produced(Conversation("c1", given), prefix=3).failed
    assert not Produced(Conversation("c1", given)).failed


def test_a_masked_run_hides_what_was_said() -> None:
    conversation = talk("u: Call 13800138000.", "a: I call 13800138000.", id="c_0123", candidate="new")
    hidden = mask_produced(Mask(redact=True, hash_ids=True, salt=b"s"), conversation)
    assert [m.text for m in hidden.messages] == ["Call [phone].", "I call [phone]."]
    assert hidden.id == "c_0123"


@dataclass
class Result:
    def to_json(self) -> dict[str, Any]:
        return {}


@dataclass
class Writing(Study[Result]):
    """Writes a conversation for each name; other writers' conversations stay."""

    names: Sequence[str]
    writer: str = "new"
    silent: str = ""

    name = "answer"
    part_of_run = True
    produces = True
    judge_digest = WRITER

    def plan(self) -> list[WorkUnit]:
        return [unit(f"{self.writer}/{name}") for name in self.names]

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        writer, _, name = str(unit.part).partition("/")
        messages = (Message("user", "Is it?"), Message("assistant", "" if name == self.silent else "Yes."))
        return (Produced(Conversation(name, messages, candidate=writer), prefix=1),)

    def stays(self, unit: Any) -> bool:
        return bool(unit.rows[0]["candidate"] != self.writer)

    def summarise(self, rows: Any, run: Any, ending: Ending) -> Result:
        list(rows)
        return Result()


async def write(path: Path, study: Writing) -> None:
    await run_study(study, RunSettings(directory=RunDirectory(path)), ProgressObserver(quiet=True))


def told(path: Path) -> list[tuple[str, str | None, int]]:
    with open_run(str(path)) as stored:
        assert len(list(stored.rows())) == len(list(stored.judged()))
        judged = [(c.id, c.candidate, len(c.messages)) for c, _ in stored.judged()]
        assert [(c.id, c.candidate, len(c.messages)) for c in stored.database.conversations()] == judged
        return sorted(judged)


async def test_a_run_keeps_what_its_units_produce_and_grows(tmp_path: Path) -> None:
    await write(tmp_path / "run", Writing(["a", "b"], silent="b"))
    assert told(tmp_path / "run") == [("a", "new", 2), ("b", "new", 0)]
    with open_run(str(tmp_path / "run")) as stored:
        kinds = {r["conversation_id"]: r["failure"] and r["failure"]["kind"] for r in stored.rows()}
        assert kinds == {"a": None, "b": "no_reply"}
        (first,) = stored.conversations(["a"])
        assert first.prefix == 1
    await write(tmp_path / "run", Writing(["a"], writer="old"))
    assert told(tmp_path / "run") == [("a", "new", 2), ("a", "old", 2), ("b", "new", 0)]
    # what the same writer says no longer is left out
    await write(tmp_path / "run", Writing(["b"]))
    assert told(tmp_path / "run") == [("a", "old", 2), ("b", "new", 0)]
    await write(tmp_path / "run", Writing(["a"], writer="old"))
    assert told(tmp_path / "run") == [("a", "old", 2), ("b", "new", 0)]


@dataclass
class Chained(Study[Result]):
    """Does a, then b, then c, and d apart from them."""

    fails: str = ""
    stale: str = ""
    asked: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)

    name = "answer"
    part_of_run = True
    judge_digest = WRITER

    def plan(self) -> list[WorkUnit]:
        a, d = unit("a"), unit("d")
        b = unit("b", a)
        return [a, b, unit("c", b), d]

    def still_holds(self, unit: WorkUnit, database: RunDatabase) -> bool:
        assert database.has_unit(unit.key)
        self.asked.append(str(unit.part))
        return unit.part != self.stale

    async def run(self, unit: WorkUnit) -> tuple[Produced]:
        self.done.append(str(unit.part))
        return (said(str(unit.part), "" if unit.part == self.fails else "Yes."),)

    def summarise(self, rows: Any, run: Any, ending: Ending) -> Result:
        assert len(list(rows)) == 4
        return Result()


async def test_what_stands_on_a_unit_that_is_done_anew_is_done_anew_too(tmp_path: Path) -> None:
    async def done(study: Chained, **more: Any) -> tuple[list[str], list[str]]:
        settings = RunSettings(directory=RunDirectory(tmp_path / "run"), **more)
        await run_study(study, settings, ProgressObserver(quiet=True))
        return study.done, study.asked

    assert await done(Chained(fails="a")) == (["a", "b", "c", "d"], [])
    assert await done(Chained()) == ([], ["a", "b", "c", "d"])
    # A row that holds no longer, and what stands on it, of which nobody asks whether it holds.
    assert await done(Chained(stale="b")) == (["b", "c"], ["a", "b", "d"])
    assert await done(Chained(), retry_failed=True) == (["a", "b", "c"], ["a", "d"])
    assert await done(Chained(), retry_failed=True) == ([], ["a", "b", "c", "d"])
