"""What a run of memory systems comes to: scores with their controls, what each recalled, and what it cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from dialogauge.core import UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import read_as
from dialogauge.data.tasks import PARTITIONS
from dialogauge.runs import Row, StoredRun
from dialogauge.runs.store import NOTES
from dialogauge.stats import (
    Comparison,
    Estimate,
    adjusted,
    compare_gain,
    gain_of_sums,
    label_codes,
    mean_estimate,
)
from dialogauge.studies.learning.controls import control_of
from dialogauge.studies.learning.judged import PLANTED
from dialogauge.studies.learning.memories import BUILT
from dialogauge.studies.learning.partitions import (
    PartitionScores,
    References,
    ScoreReference,
    partition_scores,
    references_of,
)
from dialogauge.studies.learning.scoring import CATEGORIES
from dialogauge.studies.learning.teaching import TAUGHT
from dialogauge.text import counted

CONTROLS: Final = ("none", "full", "oracle")
"""What stands beside every system: no memory, all of it, and the evidence itself."""
_BY_ITSELF: Final[Mapping[str, str]] = {"none": "nothing", "full": "everything", "oracle": "evidence"}
_NOWHERE: Final = CATEGORIES[5]
NO_MODEL: Final = "extract"
OF_RUN: Final = ", "
"""Stands between a system and its run, where there are several."""

Case = Mapping[str, Any]
"""The details of a row, with its system, the id of its task, its failure and its usage."""


@dataclass(frozen=True, slots=True)
class MemoryCost:
    """What it took to fill the memories of a system, over all of them."""

    memories: int
    dialogues: int
    messages: int
    seconds_a_dialogue: float
    calls_a_dialogue: float
    tokens_a_dialogue: float
    bytes: int | None
    """Of what it keeps; None where it cannot be saved."""
    growth: float | None
    """Seconds of a message in the last quarter, over those in the first; None of too few dialogues."""


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """One system on one data set; questions whose answer is nowhere stand apart."""

    name: str
    room: str
    """How much it may give: `5 messages`, `2000 tokens`, `everything`; only equal rooms are ranked."""
    asked: int
    failed: Mapping[str, int]
    """By kind: no score, and never 0."""
    unfinished: int
    """Of these, those that its limit of hours did not reach."""
    first_failure: str | None
    """What was said of the first of the others."""
    score: Estimate
    """Over the questions that have an answer."""
    undisputed: Estimate | None
    """Over those whose gold nobody disputes; None where nobody has looked."""
    abstained: Estimate
    """Share of questions without an answer of which it says so by itself."""
    categories: Mapping[str, Estimate]
    recall: Estimate
    """Share of the evidence that was given."""
    session_recall: Estimate
    """Share of the dialogues of the evidence of which something was given."""
    items: float | None
    """Mean number that was given."""
    tokens: float | None
    share: float | None
    """Mean share of the tokens that the memory holds."""
    recall_by_kind: Mapping[str, Estimate]
    """The same by the kind of what was given; empty where all is of one kind."""
    kinds: Mapping[str, int]
    """Items by kind: semantic, episodic, procedural."""
    retrieve_ms: float | None
    answer_s: float | None
    answer_tokens: float | None
    """Mean of an answer, prompt included; 0 without a model."""

    @property
    def control(self) -> bool:
        """Whether it is one of the controls."""
        return _plainly(self.name) in CONTROLS


@dataclass(frozen=True, slots=True)
class LearnSet:
    """One data set."""

    dataset: str
    metric: str | None
    """None where a model has to score."""
    unmerged: bool
    """Whether the score is a plain mean of several metrics: it is left out of partitions."""
    unit: str
    """What a cluster is."""
    systems: Sequence[SystemFigures]
    ceilings: Mapping[str, float]
    """By category the share whose gold nobody disputes: who knows the truth can earn no more."""
    pairs: Sequence[Comparison] = ()
    """Each system beside no memory, and systems of equal room beside each other."""
    steps: Mapping[str, Sequence[tuple[int, Estimate]]] = field(default_factory=dict)
    """By system its score at each step; empty of a single step."""
    options: bool = False
    """Whether questions without an answer had two options: what counts there is the choice."""


@dataclass(frozen=True, slots=True)
class LearnResult:
    """What a run comes to."""

    sets: Sequence[LearnSet]
    costs: Mapping[str, MemoryCost]
    room: Mapping[str, int | None]
    answerer: str
    """Who answered; `extract` without a model."""
    protocol: str
    references: Mapping[str, ScoreReference]
    """By data set what all systems got, or those of another run."""
    normed_by: str | None = None
    """The run that the references are of; None for this one."""
    partitions: Mapping[str, PartitionScores] = field(default_factory=dict)
    """Those of which there are two data sets or more."""
    pending: int = 0
    planted: int = 0
    """Answers whose worth is known: they stand in no figure here."""

    @property
    def failed_share(self) -> float:
        """Share of what was asked that failed."""
        systems = [s for of in self.sets for s in of.systems]
        asked = sum(s.asked for s in systems)
        return sum(sum(s.failed.values()) for s in systems) / asked if asked else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`."""
        written: dict[str, Any] = as_json(self)
        return written


def learn_result(rows: Iterable[Row], run: StoredRun, pending: int) -> LearnResult:
    """Bring the rows of a run, and the notes on its memories, to figures.

    Raises UsageError where the references of another run are of other data sets.
    """
    notes = run.database.all_meta(NOTES + BUILT).values()
    answers = (row for row in rows if TAUGHT not in row["details"])
    return _result([_case(row) for row in answers], run.manifest.facts, notes, pending)


def compared_result(runs: Mapping[str, StoredRun], judged: Sequence[StoredRun] = ()) -> LearnResult:
    """Bring the rows of several runs, by name, to figures, as if they were one.

    `judged` are runs of `judge` over these: their scores, brought to 0 to 1, take the place of metrics.

    Raises UsageError for runs of unequal room, or of other protocols: nothing in them compares.
    """
    facts = {name: run.manifest.facts for name, run in runs.items()}
    first, *others = facts
    for key in ("room", "protocol", "options"):
        if differs := next((name for name in others if facts[name].get(key) != facts[first].get(key)), None):
            two = " and ".join(_in_words(facts[name].get(key)) for name in (first, differs))
            msg = f"{first} and {differs} differ in {key}: {two}"
            hint = "run both with the same --k, --context-tokens, --protocol and --options"
            raise UsageError(msg, hint=hint)
    scores = _judged_scores(judged)
    cases, notes, who = list[Case](), list[Case](), dict[str, None]()
    for name, run in runs.items():
        label = name if others else ""
        for row in run.rows():
            judgement = scores.get((row["candidate"], row["conversation_id"]), {})
            cases.append({**_case(row, label), **({} if row["failure"] else judgement)})
        for note in run.database.all_meta(NOTES + BUILT).values():
            notes.append({**note, "system": _labelled(note["system"], label)})
        who[str((facts[name].get("answerer") or {}).get("name") or NO_MODEL)] = None
    together = {**facts[first], "answerer": {"name": " and ".join(who)}, "references": None}
    return _result(cases, together, notes, 0)


def _judged_scores(runs: Sequence[StoredRun]) -> dict[tuple[str, str], Case]:
    """Return by system and conversation what a judge gave, as the details of a case."""
    scores: dict[tuple[str, str], Case] = {}
    for run in runs:
        dimension, rubric = run.dimensions[0], run.manifest.settings["rubric"]
        low, width = dimension.scale.low, dimension.scale.high - dimension.scale.low
        for talk, rows in run.judged():
            own = [row for row in rows if row["failure"] or dimension.name in row["scores"]]
            values = [row["scores"][dimension.name] for row in own if not row["failure"]]
            known = [(value - low) / width for value in values if isinstance(value, int | float)]
            failed = own[0]["failure"]["kind"] if own and not values else None
            score = {"score": sum(known) / len(known) if known else None, "metric": rubric, "failure": failed}
            scores[str(talk.candidate), talk.id] = {**score, "unmerged": False}
    return scores


def _labelled(system: str, run: str) -> str:
    return f"{system}{OF_RUN}{run}" if run else system


def _in_words(condition: object) -> str:
    """Say a protocol, whether there are options, or a room: `5 items`."""
    if not isinstance(condition, Mapping):
        return str(condition)
    return ", ".join(counted(n, key.removesuffix("s")) for key, n in condition.items() if n is not None)


def _case(row: Row, run: str = "") -> Case:
    failure, system = (row["failure"] or {}).get("kind"), _labelled(row["candidate"], run)
    id = row["conversation_id"].partition("@")[0]
    why = {"failure": failure, "message": (row["failure"] or {}).get("message")}
    return {**row["details"], "system": system, "id": id, "usage": row["usage"], **why}


def _result(
    cases: Iterable[Case], facts: Mapping[str, Any], notes: Iterable[Case], pending: int
) -> LearnResult:
    room, normed, every = facts["room"], facts.get("references") or {}, [*cases]
    asked = {(case["system"], case["memory"]) for case in every}
    notes = [note for note in notes if (note["system"], note.get("memory")) in asked]
    by_set = _grouped((case for case in every if _plainly(case["system"]) not in PLANTED), "dataset")
    sets = {name: _set(name, of, room) for name, of in by_set.items()}
    scored = {name: last for name, of in by_set.items() if (last := _last(of))}
    references = read_as(normed.get("of", {}), dict[str, ScoreReference])
    references = references or references_of({n: [c["score"] for c in of] for n, of in scored.items()})
    return LearnResult(
        [*sets.values()],
        {name: _cost(of) for name, of in _grouped(notes, "system").items()},
        room,
        str((facts.get("answerer") or {}).get("name") or NO_MODEL),
        str(facts["protocol"]),
        references,
        normed.get("run"),
        _partitions(scored, references, {name for name, of in sets.items() if of.unmerged}),
        pending,
        sum(_plainly(case["system"]) in PLANTED for case in every),
    )


def _last(cases: Sequence[Case]) -> list[Case]:
    """Return the cases of the last step that have a score."""
    last = max(case["step"] for case in cases)
    return [case for case in cases if case["step"] == last and case.get("score") is not None]


def _partitions(
    cases: Mapping[str, Sequence[Case]], references: References, unmerged: Collection[str]
) -> dict[str, PartitionScores]:
    """Bring the data sets of each partition to one figure of each system."""
    by_system: dict[str, dict[str, list[Case]]] = defaultdict(dict)
    for name, of in cases.items():
        for system, own in _grouped(of, "system").items():
            by_system[system][name] = own
    scores = {s: {n: [c["score"] for c in own] for n, own in of.items()} for s, of in by_system.items()}
    clusters = {s: {n: [_cluster(c) for c in own] for n, own in of.items()} for s, of in by_system.items()}
    here = {name: [one for one in names if one in cases] for name, names in PARTITIONS.items()}
    return {
        name: partition_scores(scores, references, names, clusters=clusters, unmerged=unmerged)
        for name, names in here.items()
        if len(names) > 1
    }


def _grouped(cases: Iterable[Case], key: str) -> dict[Any, list[Case]]:
    groups: dict[Any, list[Case]] = {}
    for case in cases:
        groups.setdefault(case[key], []).append(case)
    return groups


def _set(dataset: str, cases: Sequence[Case], room: Mapping[str, int | None]) -> LearnSet:
    """Bring the cases of a data set to figures: those of the last step, and the score at each."""
    steps = sorted({case["step"] for case in cases})
    unit = "conversations" if any(case["corpus"] for case in cases) else "tasks"
    last = _grouped((case for case in cases if case["step"] == steps[-1]), "system")
    systems = [_system(name, of, room, unit) for name, of in last.items()]
    scored = next((case for case in cases if case.get("metric")), {})
    some = next(iter(last.values()), [])
    looked = [case for case in some if case["disputed"] is not None and case["category"] != _NOWHERE]
    ceilings = {
        str(category): sum(not case["disputed"] for case in of) / len(of)
        for category, of in _grouped(looked, "category").items()
    }
    along = {}
    if len(steps) > 1:
        for name, of in _grouped(cases, "system").items():
            by_step = _grouped(of, "step")
            along[name] = [(step, _mean(_answerable(by_step[step]), "score", unit)) for step in by_step]
    return LearnSet(
        dataset,
        scored.get("metric"),
        bool(scored.get("unmerged")),
        unit,
        systems,
        ceilings,
        _pairs(last, systems, unit),
        along,
        any((case.get("values") or {}).get("option") is not None for case in cases),
    )


def _system(name: str, cases: Sequence[Case], room: Mapping[str, int | None], unit: str) -> SystemFigures:
    failures = Counter(case["failure"] for case in cases if case["failure"])
    fine = [case for case in cases if not case["failure"]]
    answerable = _answerable(cases)
    categories = {
        str(category): _mean(of, "score", unit)
        for category, of in sorted(_grouped(cases, "category").items(), key=lambda pair: str(pair[0]))
        if category is not None
    }
    looked = [case for case in answerable if case["disputed"] is not None]
    kinds = Counter[str]()
    for case in fine:
        kinds.update(case["kinds"])
    of_kinds = [(case, case.get("recall_by_kind") or {}) for case in answerable]
    by_kind = {kind: [{**c, "recall": of.get(kind, 0.0)} for c, of in of_kinds if of] for kind in kinds}
    parts = ("items", "tokens", "share", "answer_s")
    means = {key: _plain([case.get(key) for case in fine]) for key in parts}
    used = [_tokens(case["usage"]) - _tokens(case["usage"]["by_role"].get("memory")) for case in fine]
    times = [1000 * case["retrieve_s"] for case in fine]
    return SystemFigures(
        name,
        _room(name, fine, room),
        len(cases),
        dict(failures.most_common()),
        len(late := [case for case in cases if case.get("unfinished")]),
        next((c["message"] for c in cases if c["failure"] and c not in late), None),
        _mean(answerable, "score", unit),
        _mean([c for c in looked if not c["disputed"]], "score", unit) if looked else None,
        _mean([c for c in cases if c["category"] == _NOWHERE], "score", unit),
        categories,
        _mean(_answerable(fine), "recall", unit),
        _mean(_answerable(fine), "session_recall", unit),
        means["items"],
        means["tokens"],
        means["share"],
        {kind: _mean(by_kind[kind], "recall", unit) for kind in sorted(by_kind) if len(by_kind) > 1},
        dict(kinds),
        _plain(times),
        means["answer_s"],
        _plain(used),
    )


def _tokens(usage: Mapping[str, Any] | None) -> int:
    return 0 if usage is None else int(usage["prompt_tokens"] + usage["completion_tokens"])


def _answerable(cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if case["category"] != _NOWHERE]


def _plain(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def _mean(cases: Iterable[Case], key: str, unit: str) -> Estimate:
    """Return the mean of what has a value, by clusters: conversations, or tasks that are about none."""
    known = [case for case in cases if case.get(key) is not None]
    return mean_estimate([case[key] for case in known], [_cluster(case) for case in known], unit=unit)


def _cluster(case: Case) -> Hashable:
    return str(case["corpus"] or case["id"])


def _plainly(name: str) -> str:
    return name.partition(OF_RUN)[0]


def _room(name: str, fine: Sequence[Case], room: Mapping[str, int | None]) -> str:
    """Say how much a system may give; without a bound on items tokens bound all alike."""
    if (control := _plainly(name)) in _BY_ITSELF:
        return _BY_ITSELF[control]
    if room["items"] is None:
        return f"{room['tokens']} tokens"
    return counted(room["items"], "dialogue" if any(case["whole"] for case in fine) else "message")


def _pairs(
    cases: Mapping[str, Sequence[Case]], systems: Sequence[SystemFigures], unit: str
) -> tuple[Comparison, ...]:
    """Compare each system with no memory, and those of equal room with each other, case by case.

    The twin of a control is beside its own system alone.
    """
    names = [s.name for s in systems if not s.control]
    rooms = {s.name: s.room for s in systems}
    nothing = {name: f"none{name[len(_plainly(name)) :]}" for name in names}
    pairs = [pair for pair in nothing.items() if pair[1] in cases]
    of_equal_room = ((a, b) for a, b in combinations(names, 2) if rooms[a] == rooms[b])
    pairs += [(a, b) for a, b in of_equal_room if not control_of(_plainly(a)) and _comparable(a, b)]
    scores = {
        name: {c["id"]: (c["score"], _cluster(c)) for c in _answerable(of) if c.get("score") is not None}
        for name, of in cases.items()
    }
    return adjusted([one for pair in pairs if (one := _compared(pair, scores, unit))])


def _comparable(system: str, other: str) -> bool:
    control = control_of(_plainly(other))
    return control is None or other.replace(f" ({control})", "") == system


def _compared(
    pair: tuple[str, str], scores: Mapping[str, Mapping[str, tuple[float, Hashable]]], unit: str
) -> Comparison | None:
    """Compare two systems on the cases that both have a score of; None without any."""
    of_a, of_b = (scores[name] for name in pair)
    both = [id for id in of_a if id in of_b]
    if not both:
        return None
    codes, _ = label_codes([of_a[id][1] for id in both])
    counts = np.bincount(codes).astype(np.float64)
    a, b = (np.bincount(codes, [of[id][0] for id in both]).astype(np.float64) for of in (of_a, of_b))
    gain, basis = gain_of_sums((b, counts), (a, counts), limits=(0.0, 1.0), unit=unit, paired=True)
    means = float(a.sum() / len(both)), float(b.sum() / len(both))
    return compare_gain(pair, "score", means, gain, replace(basis, n=len(both)))


def _cost(notes: Sequence[Case]) -> MemoryCost:
    """Bring the notes on a system's memories to one cost: of those of the last step, which hold the most."""
    last = max(note["step"] for note in notes)
    notes = [note for note in notes if note["step"] == last]
    dialogues = sum(note["dialogues"] for note in notes)
    known = [note["bytes"] for note in notes if note["bytes"] is not None]
    parts = ("seconds", "calls", "tokens")
    mean = {key: sum(note[key] for note in notes) / max(1, dialogues) for key in parts}
    return MemoryCost(
        len(notes),
        dialogues,
        sum(note["messages"] for note in notes),
        mean["seconds"],
        mean["calls"],
        mean["tokens"],
        sum(known) if len(known) == len(notes) else None,
        _growth(notes),
    )


def _growth(notes: Sequence[Case]) -> float | None:
    """Return how much longer the last messages took than the first ones, over all memories together.

    A point of a note is a dialogue: messages up to its end, seconds, and messages of its own.
    """
    seconds, messages = [0.0, 0.0], [0, 0]
    for note in notes:
        points = note["points"]
        total = points[-1][0] if points else 0
        quarters = (
            [point for point in points if 4 * point[0] <= total],
            [point for point in points if 4 * (point[0] - point[2]) >= 3 * total],
        )
        if min(map(len, quarters)) > 1:
            for n, quarter in enumerate(quarters):
                seconds[n] += sum(point[1] for point in quarter)
                messages[n] += sum(point[2] for point in quarter)
    if not (seconds[0] and all(messages)):
        return None
    return seconds[1] / messages[1] / (seconds[0] / messages[0])
