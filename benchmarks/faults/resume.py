"""Random stops, edits, retries and crashes, each study against one undisturbed run of what is asked now.

A scripted model answers by the request and by how often failures were retried. After every step the run must
show, of the units that the undisturbed run plans, exactly those that are stored, with the same rows; count
the others as pending; hold the conversations as they are now; and have asked for nothing that it held.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.faults.running import Findings
from dialogauge.app.config import RoleSettings
from dialogauge.app.judge import ENTRY as JUDGE
from dialogauge.app.replay.collect import StepCall, collect
from dialogauge.app.replay.items import select
from dialogauge.app.replay.score import score
from dialogauge.app.replay.settings import CollectOptions, ScoreOptions, SelectOptions
from dialogauge.app.satisfaction import ENTRY as SATISFACTION
from dialogauge.app.settings import JudgeOptions, SatisfactionOptions
from dialogauge.core import Usage, digest, digest_text
from dialogauge.llm.budget import BudgetedClient
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest
from dialogauge.runs import RunDatabase, RunDirectory, StopSignal, run_work
from dialogauge.runs import study as running
from dialogauge.runs.run import stored_manifest
from dialogauge.studies.replay.answers import ANSWERS
from servers.contented import contented
from servers.verdicts import fill

__all__ = ["STUDIES", "comparable", "figures", "resume"]

_UNIT: ContextVar[str] = ContextVar("unit", default="")
_ROLE = RoleSettings(model="m", base_url="http://127.0.0.1:9/v1")
_WORDS = ("It opens at nine.", "I do not know.", "Here are three ways.", "Ask later.", "Done.")


class _Crash(Exception):
    """The process dies here."""


class _Quiet:
    def say(self, text: str) -> None: ...

    def watching(self, *_: object) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()

    def interrupted(self, first: bool) -> None: ...  # noqa: FBT001


@dataclass
class _World:
    """What the model did, and what of it is stored."""

    epoch: int = 0
    version: int = 1
    book: dict[str, str | None] = field(default_factory=dict)
    """By request the latest answer; None for a failure."""
    latest: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """By unit what was answered, until the unit is stored."""
    sound: dict[str, set[str]] = field(default_factory=dict)
    """By unit the requests that were answered."""
    stored: set[str] = field(default_factory=set)
    """Units that are in the file."""
    again: list[str] = field(default_factory=list)
    """Requests that were asked although their answers were stored."""
    replays: bool = False
    stop: StopSignal = field(default_factory=StopSignal)
    stop_after: int | None = None
    asked: int = 0

    def answer(self, request: ChatRequest) -> str | None:
        key = digest([_UNIT.get(), [dict(m) for m in request.messages], request.salt])
        if self.replays:
            return self.book[key] if key in self.book else self._made(key, request)
        unit = _UNIT.get()
        if unit in self.stored and key in self.sound.get(unit, ()):
            self.again.append(key)
        self.asked += 1
        if self.asked == self.stop_after:
            self.stop.request()
        text = self._made(key, request)
        self.latest.setdefault(unit, {})[key] = text
        return text

    def take(self, units: set[str]) -> None:
        """Enter what was answered for units that are stored now."""
        for unit in units:
            answers = self.latest.pop(unit, {})
            self.book |= answers
            self.sound.setdefault(unit, set()).update(k for k, text in answers.items() if text is not None)

    def _made(self, key: str, request: ChatRequest) -> str | None:
        chance = random.Random(digest_text(f"{key}{self.epoch}"))
        if chance.random() < 0.25:
            return None
        if request.schema is None:
            return chance.choice(_WORDS)
        schema = json.loads(json.dumps(request.schema.schema))
        number = chance.randint(1, 5)
        if {"per_turn", "conversation_level"} & schema["properties"].keys():
            return json.dumps(fill(schema, number))
        return contented(number)({"response_format": {"json_schema": {"schema": schema}}})


@dataclass
class _Model:
    world: _World
    name: str = "m"

    def describe(self) -> dict[str, Any]:
        return {"kind": "scripted", "model": self.name, "version": self.world.version}

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        await asyncio.sleep(0)
        text = self.world.answer(request)
        usage = Usage(calls=1)
        return ChatFailure("timeout", "too slow", usage) if text is None else ChatReply(text, usage=usage)

    async def close(self) -> None: ...


# -- the studies ---------------------------------------------------------------------------------------

Run = Callable[[Path, dict[str, Any], dict[str, Any]], Any]
"""Runs a study into a directory: what is asked for, and how it is disturbed."""


def _judge(name: str, **more: Any) -> Run:  # noqa: ANN401 - settings
    def run(out: Path, asked: dict[str, Any], how: dict[str, Any]) -> Any:  # noqa: ANN401 - a coroutine
        options = {"judge": name, "role": _ROLE if name == "llm" else None, "inputs": ("log.jsonl",), **more}
        return JUDGE.run(
            JudgeOptions(out=str(out), cache=False, **options, **asked, **how), _Quiet(), stop=STOP.get()
        )

    return run


STOP: ContextVar[StopSignal | None] = ContextVar("stop", default=None)


def _satisfaction(name: str) -> Run:
    def run(out: Path, asked: dict[str, Any], how: dict[str, Any]) -> Any:  # noqa: ANN401 - a coroutine
        settings = {"inputs": ("log.jsonl",), "judge": name, "part": "all", "cache": False}
        asked = {key: value for key, value in asked.items() if key in ("seed", "max_concurrency")}
        options = SatisfactionOptions(out=str(out), roles={"judge": _ROLE}, **settings, **asked, **how)
        return SATISFACTION.run(options, _Quiet(), stop=STOP.get())

    return run


async def _replay(out: Path, asked: dict[str, Any], how: dict[str, Any]) -> None:
    items = "items.json"
    own = {k: v for k, v in asked.items() if k in ("max_concurrency",)}
    data = ("log.jsonl",)
    collecting = CollectOptions(
        items=items,
        out=str(out),
        data=data,
        candidates=("c=m@http://127.0.0.1:9/v1",),
        cache=False,
        **own,
        **how,
    )
    call = StepCall(_Quiet(), stop=STOP.get())
    if (await collect(collecting, call)).outcome.ended == "finished":
        scoring = ScoreOptions(
            run=str(out), judge="zero-shot", roles={"judge": _ROLE}, data=data, cache=False, **own, **how
        )
        await score(scoring, call)


STUDIES: dict[str, Run] = {
    "judge": _judge("llm"),
    "judge foresight": _judge("llm", mode="foresight"),
    "local": _judge("local"),
    "satisfaction": _satisfaction("zero-shot"),
    "satisfaction rag": _satisfaction("rag"),
    "satisfaction local-user": _satisfaction("local-user"),
    "replay": _replay,
}


# -- the input -----------------------------------------------------------------------------------------


def _talk(rng: random.Random, name: str, user: str, scenario: str) -> dict[str, Any]:
    messages, ratings = [], []
    for turn in range(1, rng.randint(1, 3) + 1):
        messages.append({"role": "user", "content": f"Question {turn} of {name}?"})
        messages.append({"role": "assistant", "content": f"{rng.choice(_WORDS)} ({name}, {turn})"})
        ratings.append({"dimension": "satisfaction", "turn": turn, "score": rng.randint(1, 5), "rater": user})
    talk = {"conversation_id": name, "user_id": user, "scenario": scenario}
    return {**talk, "messages": messages, "ratings": ratings}


Log = list[dict[str, Any]]


def _reply(rng: random.Random, log: Log) -> None:
    rng.choice(rng.choice(log)["messages"][1::2])["content"] = f"{rng.choice(_WORDS)} {rng.random()}"


def _rating(rng: random.Random, log: Log) -> None:
    for rating in rng.choice(log)["ratings"][:1]:
        rating["score"] = rng.randint(1, 5)


def _remove(rng: random.Random, log: Log) -> None:
    if len(log) > 5:
        log.remove(rng.choice(log))


_BESIDE: dict[str, Callable[[random.Random, Log], object]] = {
    "metadata": lambda rng, log: rng.choice(log).update(shop=rng.random()),
    "order": lambda rng, log: rng.shuffle(log),
    "profile": lambda rng, log: rng.choice(log).update(profile={"age": rng.randint(20, 60)}),
}
"""All that may change in the data of an item set."""
_EDITS = {
    **_BESIDE,
    "reply": _reply,
    "rating": _rating,
    "unrated": lambda rng, log: rng.choice(log).update(ratings=[]),
    "remove": _remove,
    "add": lambda rng, log: log.append(_talk(rng, f"new{rng.random()}", "u1", rng.choice("ab"))),
    "rename": lambda rng, log: rng.choice(log).update(conversation_id=f"renamed{rng.random()}"),
}


def _edit(rng: random.Random, log: Log, studied: str) -> str:
    """Change the log in one way; say which."""
    edits = _BESIDE if studied == "replay" else _EDITS
    kind = rng.choice(sorted(edits))
    edits[kind](rng, log)
    return kind


def _write(log: Sequence[dict[str, Any]], name: str = "log.jsonl") -> None:
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in log))


# -- one history ---------------------------------------------------------------------------------------


_Disturbance = tuple[dict[str, Any], int | None]
"""How the run is called, and after how many writes it dies."""


@dataclass
class _History:
    """A run in its folder, and what is asked of it."""

    findings: Findings
    studied: str
    seed: int
    run: Path = Path("run")
    done: list[str] = field(default_factory=list)

    def hold(self, held: bool, otherwise: str) -> bool:  # noqa: FBT001 - a condition
        path = f"{self.studied}, seed {self.seed}, after {' > '.join(self.done)}"
        return self.findings.hold(held, f"{path}: {otherwise}")


def _step(
    world: _World, study: Run, out: Path, asked: dict[str, Any], how: dict[str, Any], crash: int | None
) -> bool:
    """Run once; say whether it ended by itself and was not killed."""
    left, done = [crash], set[str]()

    def flush(database: RunDatabase, own: Callable[[RunDatabase], None] = RunDatabase.flush) -> None:
        if left[0] is not None:
            left[0] -= 1
            if left[0] < 0:
                raise _Crash
        own(database)
        world.take(done)
        done.clear()

    async def work(units: Any, do: Any, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - passes it on
        async def one(unit: Any) -> Any:  # noqa: ANN401
            _UNIT.set(unit.key)
            world.latest.pop(unit.key, None)
            rows = await do(unit)
            done.add(unit.key)
            return rows

        return await run_work(units, one, *args, **more)

    def build(clients: Any, *_: object) -> BudgetedClient:  # noqa: ANN401 - `Clients`
        return BudgetedClient(_Model(world), clients._budget)

    world.stop = StopSignal()
    token = STOP.set(None if world.replays else world.stop)
    world.asked = 0
    with (
        mock.patch("dialogauge.app.clients.Clients.build", build),
        mock.patch.object(running, "run_work", work),
        mock.patch("dialogauge.runs.store.BATCH_UNITS", 1 if crash is not None else 200),
        mock.patch.object(RunDatabase, "flush", flush),
    ):
        try:
            asyncio.run(study(out, asked, how))
        except _Crash:
            return False
        finally:
            STOP.reset(token)
    return True


def _stored(run: Path) -> Iterator[tuple[str, bytes, list[dict[str, Any]]]]:
    """Yield part, key and rows of every unit that the run shows, in its order."""
    database = RunDirectory(run).open_for_reading()
    try:
        manifest = stored_manifest(RunDirectory(run))
        alone = manifest.study != "answer"
        for judge in [manifest.judge_digest] if alone else sorted(database.judges()):
            for unit in database.units(judge, database.planned("" if alone else judge), settled=False):
                rows = [{k: v for k, v in row.items() if k != "usage"} for row in unit.rows]
                yield judge, unit.key, rows
    finally:
        database.close()


def _conversations(run: Path) -> dict[str, Any]:
    database = RunDirectory(run).open_for_reading()
    try:
        return {c.id: (c.messages, c.ratings, dict(c.metadata)) for c in database.conversations()}
    finally:
        database.close()


def _all_keys(run: Path) -> set[bytes]:
    database = RunDirectory(run).open_for_reading()
    try:
        return {key for judge in database.judges() for key in database.finished(judge)}
    finally:
        database.close()


def comparable(run: Path) -> list[tuple[str, bytes, list[dict[str, Any]]]]:
    """Return the units that a run shows, with their rows but for what these took."""
    return list(_stored(run))


def figures(run: Path) -> dict[str, Any] | None:
    """Return the summary of a run but for what it took; None of one that has none."""
    path = run / "summary.json"
    return _without_usage(json.loads(path.read_text())) if path.is_file() else None


def _without_usage(summary: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in summary.items() if k not in ("usage", "seconds")}


def _compare(history: _History, world: _World, study: Run, asked: dict[str, Any]) -> None:
    run, plain = history.run, Path("undisturbed")
    if not (run / "manifest.json").is_file():
        return
    shutil.rmtree(plain, ignore_errors=True)
    world.replays = True
    _step(world, study, plain, asked, {}, None)
    world.replays = False
    expected, stored = list(_stored(plain)), _all_keys(run)
    manifest = json.loads((run / "manifest.json").read_text())
    judges = {judge for judge, _, _ in expected}
    if manifest.get("part") == "replies":  # the scores are of the answers before
        judges = {ANSWERS}
    expected = [one for one in expected if one[0] in judges]
    shown = [one for one in _stored(run) if one[0] in judges]
    there = [one for one in expected if one[1] in stored]
    history.hold(shown == there, _difference(shown, there))
    if manifest["study"] != "answer":
        pending = len(expected) - len(there)
        history.hold(
            manifest["pending_units"] == pending, f"{manifest['pending_units']} pending, not {pending}"
        )
    keys = {key for _, key, _ in there}
    if keys == {key for _, key, _ in expected} and (run / "summary.json").is_file():
        now, then = (_without_usage(json.loads((r / "summary.json").read_text())) for r in (run, plain))
        differing = [k for k in then if now.get(k) != then[k]]
        history.hold(now == then, f"other figures: {differing}")
        history.hold(_conversations(run) == _conversations(plain), "other conversations, ratings or metadata")
        same = [(r / "judgements.jsonl").read_text().count("\n") for r in (run, plain)]
        history.hold(same[0] == same[1], f"{same[0]} rows in judgements.jsonl, not {same[1]}")


def _difference(shown: list[Any], there: list[Any]) -> str:
    keys, wanted = [k for _, k, _ in shown], [k for _, k, _ in there]
    if keys != wanted:
        order = ", in another order" if sorted(keys) == sorted(wanted) else ""
        return f"{len(keys)} units are shown, not {len(wanted)}{order}"
    one = next(((a, b) for a, b in zip(shown, there, strict=True) if a != b), None)
    if one is None:
        return ""
    rows = [(a, b) for a, b in zip(one[0][2], one[1][2], strict=True) if a != b]
    differing = [{k: (a[k], b[k]) for k in a if a[k] != b.get(k)} for a, b in rows]
    return f"a unit has other rows: {differing}"


def _disturbed(rng: random.Random, world: _World, history: _History, asked: dict[str, Any]) -> _Disturbance:
    """Draw what is asked for from now on, and what happens to the run."""
    if history.studied.startswith(("judge", "local")) and rng.random() < 0.3:
        options = {"limit": rng.randint(1, 6), "sample": rng.randint(1, 6), "seed": 1, "repeats": 2}
        name = rng.choice(sorted(options))
        asked.pop(name, None) if name in asked else asked.update({name: options[name]})
        history.done.append(f"{name} {asked.get(name)}")
    if rng.random() < 0.1:
        world.version = 3 - world.version
        history.done.append(f"judge {world.version}")
    how: dict[str, Any] = {}
    if rng.random() < 0.35:
        how["retry_failed"] = True
        world.epoch += 1
    world.stop_after, crash = None, None
    match rng.choice(("whole", "whole", "cap", "stop", "crash")):
        case "cap":
            how["max_calls"] = rng.choice((0, 1, 2, 3, 8))
        case "stop":
            world.stop_after = rng.choice((1, 1, 2, 3, 8))
        case "crash":
            crash = rng.randint(0, 8)
    history.done.append(f"run {how} stop {world.stop_after} crash {crash}")
    return how, crash


def _one(findings: Findings, studied: str, seed: int, steps: int) -> None:
    rng = random.Random(f"{studied}{seed}")
    world, study, history = _World(), STUDIES[studied], _History(findings, studied, seed)
    log = [_talk(rng, f"{u}-{s}", u, s) for u in ("u0", "u1", "u2") for s in "ab"]
    _write(log)
    select(SelectOptions(inputs=("log.jsonl",), part="all", rule="all", out="items.json"))
    asked: dict[str, Any] = {"max_concurrency": rng.choice((1, 1, 4))}
    for _ in range(steps):
        history.done += [_edit(rng, log, studied) for _ in range(rng.choice((0, 1, 1, 3)))]
        _write(log)
        how, crash = _disturbed(rng, world, history, asked)
        ended = _step(world, study, history.run, asked, how, crash)
        history.hold(not world.again, f"{len(world.again)} stored answers were asked for again")
        if RunDirectory(history.run).exists:
            world.stored = {key.hex() for key in _all_keys(history.run)}
        if ended and not findings.wrong:
            _compare(history, world, study, asked)
        if findings.wrong:
            return


def resume(
    folder: Path, *, seeds: Sequence[int] = range(40), steps: int = 8, studies: Sequence[str] = ()
) -> Findings:
    """Run `steps` disturbed steps of each study for each seed, in folders of their own.

    The first history of a study that does not hold ends that study: give its seed alone to see it again.
    """
    findings = Findings("resume, against an undisturbed run")
    histories = 0
    for studied in studies or STUDIES:
        for seed in seeds:
            place = folder / f"{studied}-{seed}"
            place.mkdir(parents=True)
            own = Findings(studied)
            with contextlib.chdir(place):
                _one(own, studied, seed, steps)
            histories += 1
            findings.wrong += own.wrong
            shutil.rmtree(place)
            if own.wrong:
                break
    findings.say(
        f"{histories} histories of {steps} steps: stops, caps, crashes, edits, retries, other judges"
    )
    return findings
