"""Comparing candidates: scores of one run or several in, leaderboard, pairs and page out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dialogauge.app.candidates import AgentEntry, read_agents
from dialogauge.app.replay.run import item_set_of, read_run
from dialogauge.app.settings import CompareOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.version import __version__
from dialogauge.report import ReplayAbout, render_replay
from dialogauge.runs import FILES, REFERENCE, ReplayDatabase, StoredReply, StoredScore
from dialogauge.runs.directory import write_whole
from dialogauge.runs.manifest import versions
from dialogauge.runs.records import json_document, json_line
from dialogauge.stats import ScoreHistory
from dialogauge.studies.replay import ORIGINAL, ItemSet, selected_on_gold
from dialogauge.studies.replay.comparison import CompareSettings, EvaluatorScores, Leaderboard, compare
from dialogauge.studies.replay.diagnostics import family_of
from dialogauge.studies.replay.page import replay_view
from dialogauge.studies.replay.table import VIEWS, ReplyScore, View, Viewer

_PENDING: Final = "score: pending"
_COLUMNS = ("organisation", "version", "licence", "family")


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with all that belongs to it."""

    items: ItemSet
    evaluator: Mapping[str, Any]
    candidates: Mapping[str, Mapping[str, Any]]
    """What each candidate is."""
    failures: Mapping[str, Mapping[str, int]]
    """By candidate (the original replies are one) and kind: why items that are in the data have no score."""
    comparison: Leaderboard
    present: int
    """Items of the set that were in the data when they were scored."""
    files: tuple[Path, ...]
    usage: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Write the summary as `summary.json` holds it."""
        return {
            "items": {
                "digest": self.items.digest,
                "rule": self.items.rule,
                "selected_on_gold": selected_on_gold(self.items.rule),
                "present": self.present,
                "card": dict(self.items.card),
            },
            "evaluator": dict(self.evaluator),
            "candidates": {
                name: {**about, "failures": dict(self.failures.get(name, {}))}
                for name, about in self.candidates.items()
            },
            "original": {"failures": dict(self.failures.get(ORIGINAL, {}))},
            **self.comparison.to_json(),
            "usage": dict(self.usage),
            "versions": versions(),
        }


@dataclass
class _Read:
    """What the runs hold, gathered."""

    items: ItemSet
    evaluator: str
    about: dict[str, Any]
    present: set[str]
    histories: dict[str, ScoreHistory]
    reference: list[ReplyScore]
    reference_lengths: dict[str, int]
    candidates: dict[str, dict[str, ReplyScore]]
    lengths: dict[str, dict[str, int]]
    described: dict[str, dict[str, Any]]
    missing: dict[str, dict[str, str]]
    """Why an item has no score, by candidate and item."""
    cut_short: dict[str, frozenset[str]]
    """Items whose reply ended early, of the candidates of which this is known."""
    usage: Counter[str]

    def failures(self) -> dict[str, dict[str, int]]:
        kinds = {
            n: Counter(k for i, k in held.items() if i in self.present) for n, held in self.missing.items()
        }
        return {name: dict(found.most_common()) for name, found in kinds.items()}


def compare_runs(options: CompareOptions) -> Compared:
    """Compare all candidates of the runs, and write summary, scores and page.

    Files go to `out`, else into the run itself where there is one run only; otherwise none is written.

    Raises:
        UsageError: A run has no scores by the evaluator, the runs are of different items or evaluators, or
            two of their candidates have one name.
    """
    read = _read_first(options)
    for path in options.runs[1:]:
        _add(read, path)
    agents = read_agents(options.agents_file)
    for name, about in read.described.items():
        _columns(about, name, agents.get(name))
    scores = EvaluatorScores(
        items=tuple(i for i in read.items.items if i.id in read.present),
        reference=read.reference,
        reference_lengths=read.reference_lengths,
        candidates=read.candidates,
        lengths=read.lengths,
        histories=read.histories,
        cut_short={name: len(held & read.present) for name, held in read.cut_short.items()},
    )
    families = {name: about["family"] for name, about in read.described.items()}
    family = options.judge_family or _judge_family(read.about)
    found = compare(scores, options.comparison, family=family, families=families)
    out = Path(options.out) if options.out else Path(options.runs[0]) if len(options.runs) == 1 else None
    compared = Compared(
        read.items,
        {**read.about, "digest": read.evaluator, "family": family},
        read.described,
        read.failures(),
        found,
        len(scores.items),
        () if out is None else tuple(out / FILES[n] for n in ("summary", "scores", "manifest", "report")),
        dict(read.usage),
    )
    if out is not None:
        _write(out, options, compared, scores, read.missing)
    return compared


def _read_first(options: CompareOptions) -> _Read:
    path = options.runs[0]
    with read_run(path) as database:
        evaluator, about = _evaluator(path, database, options.judge)
        told = database.get_meta(f"histories:{evaluator}", {})
        histories = {n: ScoreHistory(tuple(h["counts"]), h["mean"], h["turns"]) for n, h in told.items()}
        read = _Read(
            items=item_set_of(path),
            evaluator=evaluator,
            about=about,
            present=set(database.get_meta("present", [])),
            histories=histories,
            reference=[],
            reference_lengths={},
            candidates={},
            lengths={},
            described={},
            missing={ORIGINAL: {}},
            cut_short={},
            usage=Counter(),
        )
        missing = read.missing[ORIGINAL] = {i.id: _PENDING for i in read.items.items}
        for stored in database.scores(evaluator, REFERENCE):
            _count_usage(read, stored)
            read.reference_lengths[stored.item] = stored.length
            if stored.score is not None:
                read.reference.append(_given(stored))
                missing.pop(stored.item, None)
            elif stored.item in missing:
                missing[stored.item] = _failed("score", stored)
        _take_candidates(read, database)
    if not read.reference:
        msg = f"the run {path} has no scores of the original replies by {about['name']}"
        raise UsageError(msg, hint=f"dialogauge replay score {path} --judge {about['asked_for']}")
    return read


def _add(read: _Read, path: str) -> None:
    with read_run(path) as database:
        if database.get_meta("items") != read.items.digest:
            msg = f"the run {path} is of another item set"
            raise UsageError(msg, hint="candidates are compared on the same items only")
        known = database.get_meta("evaluators", {})
        if read.evaluator not in known:
            names = ", ".join(sorted({str(e["name"]) for e in known.values()})) or "nobody"
            msg = (
                f"the run {path} was not scored by the evaluator of the first run, {read.about['name']} with "
                f"its settings, but by {names}"
            )
            hint = f"dialogauge replay score {path} --judge {read.about['asked_for']}"
            raise UsageError(msg, hint=hint)
        twice = sorted(set(database.candidates()) & set(read.described))
        if twice:
            msg = f"two runs have a candidate called {twice[0]!r}"
            raise UsageError(msg, hint="collect one of them under another name: --candidate NAME=...")
        read.present &= set(database.get_meta("present", []))
        _take_candidates(read, database)


def _evaluator(path: str, database: ReplayDatabase, judge: str | None) -> tuple[str, dict[str, Any]]:
    known: Mapping[str, dict[str, Any]] = database.get_meta("evaluators", {})
    fitting = [d for d, about in known.items() if judge in (None, about["name"], about["asked_for"])]
    if not fitting:
        by = f" by {judge}" if judge else ""
        msg = f"the run {path} has not been scored{by}"
        raise UsageError(msg, hint=f"dialogauge replay score {path} --judge {judge or 'NAME'}")
    return fitting[-1], dict(known[fitting[-1]])


def _take_candidates(read: _Read, database: ReplayDatabase) -> None:
    # The ids of the set stand for those of every candidate's scores: one text instead of many equal ones.
    wanted = {i.id: i for i in read.items.items}
    for name, about in database.candidates().items():
        read.described[name] = dict(about)
        read.candidates[name], read.lengths[name] = {}, {}
        held = database.replied(name)
        missing = {i: "reply: pending" if i not in held else _PENDING for i in wanted}
        missing |= {r.item: _failed("reply", r) for r in database.failed_replies(name)}
        if about["kind"] != "file":
            read.cut_short[name] = frozenset(database.cut_short(name))
        for stored in database.scores(read.evaluator, name):
            _count_usage(read, stored)
            item = wanted.get(stored.item)
            if item is None or held.get(stored.item) is not False:
                continue
            read.lengths[name][item.id] = stored.length
            if stored.score is None:
                missing[item.id] = _failed("score", stored)
            else:
                read.candidates[name][item.id] = replace(_given(stored), id=item.id, block=item.block)
                del missing[item.id]
        read.missing[name] = missing


def _failed(what: str, stored: StoredReply | StoredScore) -> str:
    return f"{what}: {(stored.failure or {}).get('kind')}"


def _given(stored: StoredScore) -> ReplyScore:
    value = stored.value if stored.value is not None else float(stored.score or 0)
    # What differs in the last digits of a sum is the same score, and must have the same rank.
    return ReplyScore(stored.item, stored.block, stored.position, int(stored.score or 0), round(value, 9))


def _count_usage(read: _Read, stored: StoredScore) -> None:
    usage = stored.details.get("usage")
    if usage:
        for key in ("calls", "cached", "prompt_tokens", "completion_tokens"):
            read.usage[key] += int(usage.get(key) or 0)


def _columns(about: dict[str, Any], name: str, agent: AgentEntry | None) -> None:
    for column in _COLUMNS:
        told = None if agent is None else getattr(agent, column)
        about[column] = told or about.get(column)
    about["family"] = about["family"] or family_of(name)


def _judge_family(about: Mapping[str, Any]) -> str | None:
    """Read the family off the model that the judge names; a judge without a model has none."""
    judge = about.get("judge") or {}
    named = [judge.get("model"), *(v.get("model") for v in judge.values() if isinstance(v, Mapping))]
    return next((family for text in named if isinstance(text, str) and (family := family_of(text))), None)


def _write(
    out: Path,
    options: CompareOptions,
    compared: Compared,
    scores: EvaluatorScores,
    missing: Mapping[str, Mapping[str, str]],
) -> None:
    about = ReplayAbout(
        version=__version__,
        created=datetime.now(UTC).date().isoformat(),
        judge=str(compared.evaluator["name"]),
        command=options.command,
    )
    view = replay_view(
        compared.comparison,
        compared.items,
        compared.candidates,
        compared.failures,
        about,
        compared.evaluator,
    )
    manifest = {
        "versions": versions(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": options.command,
        "runs": list(options.runs),
        "items": compared.items.digest,
        "evaluator": dict(compared.evaluator),
        "candidates": {name: dict(found) for name, found in compared.candidates.items()},
    }
    summary, rows, told, page = compared.files
    write_whole(summary, [json_document(compared.to_json())])
    write_whole(rows, _rows(scores, options.comparison, missing))
    write_whole(told, [json_document(manifest)])
    write_whole(page, [render_replay(view).encode("utf-8", "replace")])


def _rows(
    scores: EvaluatorScores, settings: CompareSettings, missing: Mapping[str, Mapping[str, str]]
) -> Iterator[bytes]:
    """Yield one line for each item and candidate: all views of its score, or why there is none."""
    viewer = Viewer(scores.items, scores.reference, scores.histories, settings.ties)
    tables = viewer.tables(scores.candidates)
    names: Sequence[str] = tables["raw"].names
    for column, item in enumerate(scores.items):
        head = {"item": item.id, "user": item.user, "scenario": item.scenario, "position": item.position}
        for row, name in enumerate(names):
            lengths = scores.reference_lengths if name == ORIGINAL else scores.lengths.get(name, {})
            views: dict[View, Any] = {}
            for view in VIEWS:
                whole, value = tables[view].whole[row, column], tables[view].value[row, column]
                views[view] = None if whole != whole else {"score": int(whole), "value": float(value)}
            said = {"candidate": name, "length": lengths.get(item.id), "views": views}
            yield json_line({**head, "gold": item.gold, **said, "failure": missing[name].get(item.id)})
