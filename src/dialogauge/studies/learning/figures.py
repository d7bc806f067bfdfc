"""What a run of memory systems comes to: scores with their controls, what each recalled, and what it cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

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
    mean_estimate,
)
from dialogauge.studies.learning.cases import (
    NOWHERE,
    Case,
    answerable,
    cluster_of,
    compared,
    grouped,
    scores_by_task,
)
from dialogauge.studies.learning.controls import control_of
from dialogauge.studies.learning.curves import CaseScores, LearningCurve, learning_curves
from dialogauge.studies.learning.judged import PLANTED, judged_scores
from dialogauge.studies.learning.kinds import gain_by_kind
from dialogauge.studies.learning.memories import BUILT, MemoryCost, memory_cost
from dialogauge.studies.learning.partitions import (
    PartitionScores,
    References,
    ScoreReference,
    partition_scores,
    references_of,
)
from dialogauge.studies.learning.taught import TaughtFigures, taught_figures
from dialogauge.studies.learning.teaching import TRAINING
from dialogauge.text import counted

CONTROLS: Final = ("none", "full", "oracle")
"""What stands beside every system: no memory, all of it, and the evidence itself."""
_BY_ITSELF: Final[Mapping[str, str]] = {"none": "nothing", "full": "everything", "oracle": "evidence"}
BEFORE: Final = {"without": "nothing", "own": "its dialogue", "other": "another dialogue"}
"""What stands before a question, by the condition of a feedback's effect."""
NO_MODEL: Final = "extract"
OF_RUN: Final = ", "
"""Stands between a system and its run, where there are several."""


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """One system on one data set; questions whose answer is nowhere stand apart."""

    name: str
    room: str
    """How much it may give: `5 messages`, `2000 tokens`, `everything`; `weights` of what gives nothing and is
    the model itself. Only equal rooms are ranked."""
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
    retrieve_calls: float | None
    """Mean of an answer, as the next three: of models that the memory asked."""
    retrieve_tokens: float | None
    answer_s: float | None
    answer_calls: float | None
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
    steps: Mapping[str, LearningCurve] = field(default_factory=dict)
    """By system what it learns along the steps; empty of a single step."""
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
    partition_steps: Mapping[str, Mapping[str, LearningCurve]] = field(default_factory=dict)
    """By partition and system min-max by case along the steps; empty of a single step."""
    actions: Sequence[str] = ()
    """What runs that differ in the action of their dialogues are called; empty of others."""
    taught: Sequence[TaughtFigures] = ()
    """Dialogues that were held in the run: they stand in no figure of answers."""
    kinds: Mapping[str, Mapping[str, Mapping[str, Comparison]]] = field(default_factory=dict)
    """By data set and system what its own dialogue gains above none, by the feedback in it."""
    pending: int = 0
    planted: int = 0
    """Answers whose worth is known: they stand in no figure here."""

    @property
    def failed_share(self) -> float:
        """Share of what was asked, and of dialogues, that failed."""
        systems = [s for of in self.sets for s in of.systems]
        done = sum(s.asked for s in systems) + sum(of.dialogues for of in self.taught)
        failed = sum(sum(s.failed.values()) for s in systems) + sum(of.failed for of in self.taught)
        return failed / done if done else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`."""
        written: dict[str, Any] = as_json(self)
        return written


def learn_result(rows: Iterable[Row], run: StoredRun, pending: int) -> LearnResult:
    """Bring the rows of a run, and the notes on its memories, to figures.

    Raises UsageError where the references of another run are of other data sets.
    """
    notes = run.database.all_meta(NOTES + BUILT).values()
    return _result(map(_case, rows), run.manifest.facts, notes, pending)


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
    scores, labels = judged_scores(judged), _labels(runs)
    cases, notes, who = list[Case](), list[Case](), dict[str, None]()
    for name, run in runs.items():
        label = labels[name]
        for row in run.rows():
            judgement = scores.get((row["candidate"], row["conversation_id"]), {})
            cases.append({**_case(row, label), "run": name, **({} if row["failure"] else judgement)})
        for note in run.database.all_meta(NOTES + BUILT).values():
            notes.append({**note, "system": _labelled(note["system"], label)})
        who[str((facts[name].get("answerer") or {}).get("name") or NO_MODEL)] = None
    together = {**facts[first], "answerer": {"name": " and ".join(who)}, "references": None}
    actions = [*labels.values()] if len({of.get("action") for of in facts.values()}) > 1 else []
    return replace(_result(cases, together, notes, 0), actions=actions)


def _labels(runs: Mapping[str, StoredRun]) -> dict[str, str]:
    """Return what stands behind the systems of each run: its action where that tells them apart.

    Runs of other seeds, and else alike, are one: nothing stands there.
    """
    settings = [{k: v for k, v in run.manifest.settings.items() if k != "out"} for run in runs.values()]
    seeds = {of.pop("seed", None) for of in settings}
    if len(seeds) == len(runs) and all(of == settings[0] for of in settings):
        return dict.fromkeys(runs, "")
    actions = {name: str(run.manifest.facts.get("action") or "") for name, run in runs.items()}
    if len({*actions.values()}) == len(runs):
        return actions
    return {name: f"{name} ({action})" if action else name for name, action in actions.items()}


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
    room, normed, both = facts["room"], facts.get("references") or {}, [*cases]
    every = [case for case in both if not case.get(TRAINING)]
    asked = {(case["system"], case["memory"]) for case in every}
    notes = [note for note in notes if (note["system"], note.get("memory")) in asked]
    by_set = grouped((case for case in every if _plainly(case["system"]) not in PLANTED), "dataset")
    sets = {name: _set(name, of, room) for name, of in by_set.items()}
    scored = {name: last for name, of in by_set.items() if (last := _last(of))}
    references = read_as(normed.get("of", {}), dict[str, ScoreReference])
    references = references or references_of({n: [c["score"] for c in of] for n, of in scored.items()})
    unmerged = {name for name, of in sets.items() if of.unmerged}
    partitions = _partitions(scored, references, unmerged)
    return LearnResult(
        [*sets.values()],
        {name: memory_cost(of) for name, of in grouped(notes, "system").items()},
        room,
        str((facts.get("answerer") or {}).get("name") or NO_MODEL),
        str(facts["protocol"]),
        references,
        normed.get("run"),
        partitions,
        {name: along for name, of in partitions.items() if (along := _along(name, of, by_set, unmerged))},
        pending=pending,
        planted=sum(_plainly(case["system"]) in PLANTED for case in every),
        taught=taught_figures(case for case in both if case.get(TRAINING)),
        kinds={name: gains for name, of in by_set.items() if (gains := _gains_by_kind(of, sets[name].unit))},
    )


def _gains_by_kind(cases: Sequence[Case], unit: str) -> dict[str, dict[str, Comparison]]:
    """Return by system what its dialogues gain, split by the feedback in them; nothing of other protocols."""
    gains = {}
    for name, own in grouped((c for c in cases if c.get("condition") == "own"), "system").items():
        run = name[len(_plainly(name)) :]
        without = [case for case in cases if case["system"] == f"without{run}"]
        kinds = {case["id"]: frozenset(case["feedback"]) for case in own}
        gains[name] = gain_by_kind(own, without, kinds, unit)
    return gains


def _last(cases: Sequence[Case]) -> list[Case]:
    """Return the cases of the last step that have a score."""
    return _scored(cases, max(case["step"] for case in cases))


def _scored(cases: Iterable[Case], step: int) -> list[Case]:
    return [case for case in cases if case["step"] == step and case.get("score") is not None]


def _along(
    partition: str, last: PartitionScores, by_set: Mapping[str, Sequence[Case]], unmerged: Collection[str]
) -> dict[str, LearningCurve]:
    """Return the curves of a partition, by the references of its last step; none of a single step."""
    cases = {name: by_set[name] for name in last.datasets}
    steps = sorted({case["step"] for of in cases.values() for case in of})
    points: dict[str, list[tuple[int, Estimate]]] = defaultdict(list)
    for step in steps if len(steps) > 1 else ():
        here = {name: _scored(of, step) for name, of in cases.items()}
        of_step = _partitions(here, last.references, unmerged).get(partition)
        for of in () if of_step is None else of_step.systems:
            points[of.system].append((step, of.minmax_by_case))
    brought = [
        {**case, "score": last.references[name].brought(case["score"], "minmax")}
        for name, of in cases.items()
        for case in of
        if case.get("score") is not None and points
    ]
    trajectories = _trajectories(brought)
    return learning_curves(points, trajectories, "cases", twins=_twins(trajectories), forgetting=False)


def _trajectories(cases: Iterable[Case]) -> dict[str, dict[Hashable, CaseScores]]:
    """Return by system that can learn the scores of each case along the steps."""
    by_case: dict[str, dict[tuple[Hashable, ...], dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for case in cases:
        if case.get("score") is not None and _plainly(case["system"]) not in CONTROLS:
            key = (cluster_of(case), case["dataset"], case["id"], case.get("run"))
            by_case[case["system"]][key][case["step"]] = case["score"]
    return {
        system: {key: CaseScores(key[0], dict(sorted(scores.items()))) for key, scores in of.items()}
        for system, of in by_case.items()
    }


def _twins(systems: Collection[str]) -> list[tuple[str, str]]:
    """Return each system with each twin of its own."""
    of = {name: _without_control(name) for name in systems}
    return [(system, twin) for twin, system in of.items() if system != twin and system in of]


def _partitions(
    cases: Mapping[str, Sequence[Case]], references: References, unmerged: Collection[str]
) -> dict[str, PartitionScores]:
    """Bring the data sets of each partition to one figure of each system."""
    by_system: dict[str, dict[str, list[Case]]] = defaultdict(dict)
    for name, of in cases.items():
        for system, own in grouped(of, "system").items():
            by_system[system][name] = own
    scores = {s: {n: [c["score"] for c in own] for n, own in of.items()} for s, of in by_system.items()}
    clusters = {s: {n: [cluster_of(c) for c in own] for n, own in of.items()} for s, of in by_system.items()}
    here = {name: [one for one in names if one in cases] for name, names in PARTITIONS.items()}
    return {
        name: partition_scores(scores, references, names, clusters=clusters, unmerged=unmerged)
        for name, names in here.items()
        if len(names) > 1
    }


def _set(dataset: str, cases: Sequence[Case], room: Mapping[str, int | None]) -> LearnSet:
    """Bring the cases of a data set to figures: those of the last step, and the score at each."""
    steps = sorted({case["step"] for case in cases})
    unit = "conversations" if any(case["corpus"] for case in cases) else "tasks"
    last = grouped((case for case in cases if case["step"] == steps[-1]), "system")
    systems = [_system(name, of, room, unit) for name, of in last.items()]
    scored = next((case for case in cases if case.get("metric")), {})
    some = next(iter(last.values()), [])
    looked = [case for case in some if case["disputed"] is not None and case["category"] != NOWHERE]
    ceilings = {
        str(category): sum(not case["disputed"] for case in of) / len(of)
        for category, of in grouped(looked, "category").items()
    }
    along: dict[str, LearningCurve] = {}
    if len(steps) > 1:
        points = {
            name: [
                (n, _mean(answerable(one), "score", unit)) for n, one in sorted(grouped(of, "step").items())
            ]
            for name, of in grouped(cases, "system").items()
        }
        trajectories = _trajectories(answerable(cases))
        along = learning_curves(points, trajectories, unit, twins=_twins(trajectories))
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
    known = answerable(cases)
    categories = {
        str(category): _mean(of, "score", unit)
        for category, of in sorted(grouped(cases, "category").items(), key=lambda pair: str(pair[0]))
        if category is not None
    }
    looked = [case for case in known if case["disputed"] is not None]
    kinds = Counter[str]()
    for case in fine:
        kinds.update(case["kinds"])
    of_kinds = [(case, case.get("recall_by_kind") or {}) for case in known]
    by_kind = {kind: [{**c, "recall": of.get(kind, 0.0)} for c, of in of_kinds if of] for kind in kinds}
    parts = ("items", "tokens", "share", "retrieve_calls", "retrieve_tokens", "answer_s")
    means = {key: _plain([case.get(key) for case in fine]) for key in parts}
    spent = [(case["usage"], case["usage"]["by_role"].get("memory")) for case in fine]
    times = [1000 * case["retrieve_s"] for case in fine]
    return SystemFigures(
        name,
        _room(name, fine, room),
        len(cases),
        dict(failures.most_common()),
        len(late := [case for case in cases if case.get("unfinished")]),
        next((c["message"] for c in cases if c["failure"] and c not in late), None),
        _mean(known, "score", unit),
        _mean([c for c in looked if not c["disputed"]], "score", unit) if looked else None,
        _mean([c for c in cases if c["category"] == NOWHERE], "score", unit),
        categories,
        _mean(answerable(fine), "recall", unit),
        _mean(answerable(fine), "session_recall", unit),
        means["items"],
        means["tokens"],
        means["share"],
        {kind: _mean(by_kind[kind], "recall", unit) for kind in sorted(by_kind) if len(by_kind) > 1},
        dict(kinds),
        _plain(times),
        means["retrieve_calls"],
        means["retrieve_tokens"],
        means["answer_s"],
        _plain([_calls(whole) - _calls(memory) for whole, memory in spent]),
        _plain([_tokens(whole) - _tokens(memory) for whole, memory in spent]),
    )


def _tokens(usage: Mapping[str, Any] | None) -> int:
    return 0 if usage is None else int(usage["prompt_tokens"] + usage["completion_tokens"])


def _calls(usage: Mapping[str, Any] | None) -> int:
    return 0 if usage is None else int(usage["calls"] + usage["cached"])


def _plain(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def _mean(cases: Iterable[Case], key: str, unit: str) -> Estimate:
    """Return the mean of what has a value, by clusters: conversations, or tasks that are about none."""
    known = [case for case in cases if case.get(key) is not None]
    return mean_estimate([case[key] for case in known], [cluster_of(case) for case in known], unit=unit)


def is_quiet(name: str) -> bool:
    """Whether a name is that of a control, or of the twin of a system under one."""
    return _plainly(name) in CONTROLS or control_of(_plainly(name)) is not None


def _plainly(name: str) -> str:
    return name.partition(OF_RUN)[0]


def _room(name: str, fine: Sequence[Case], room: Mapping[str, int | None]) -> str:
    """Say how much a system may give; without a bound on items tokens bound all alike."""
    if condition := next((case["condition"] for case in fine if case.get("condition")), None):
        return BEFORE[condition]
    if (control := _plainly(name)) in _BY_ITSELF:
        return _BY_ITSELF[control]
    if any(case.get("weights") for case in fine):
        return "weights"
    if room["items"] is None:
        return f"{room['tokens']} tokens"
    return counted(room["items"], "dialogue" if any(case["whole"] for case in fine) else "message")


def _pairs(
    cases: Mapping[str, Sequence[Case]], systems: Sequence[SystemFigures], unit: str
) -> tuple[Comparison, ...]:
    """Compare each system with no memory, and those of equal room with each other, case by case.

    The twin of a control is beside its own system alone. What several seeds gave a case is one score.
    """
    names = [s.name for s in systems if not s.control]
    rooms = {s.name: s.room for s in systems}
    nothing = {name: f"none{name[len(_plainly(name)) :]}" for name in names}
    pairs = [pair for pair in nothing.items() if pair[1] in cases]
    of_equal_room = ((a, b) for a, b in combinations(names, 2) if rooms[a] == rooms[b])
    pairs += [(a, b) for a, b in of_equal_room if _without_control(a) == a and _without_control(b) in (a, b)]
    if any(case.get("condition") for of in cases.values() for case in of):
        pairs = [pair for name in names for pair in _effects(name) if pair[1] in cases]
    scores = {name: scores_by_task(of) for name, of in cases.items()}
    return adjusted([one for pair in pairs if (one := compared(pair, scores, unit))])


def _effects(name: str) -> list[tuple[str, str]]:
    """Return what the condition of a feedback's effect is held against: `own: NAME` against `without`."""
    condition, colon, system = _plainly(name).partition(": ")
    run = name[len(_plainly(name)) :]
    without, other = f"without{run}", f"other-case{colon}{system}{run}"
    return {"own": [(name, without), (name, other)], "other-case": [(name, without)]}.get(condition, [])


def _without_control(name: str) -> str:
    """Return the name of the system that a twin is of; other names stay."""
    return name.replace(f" ({control_of(_plainly(name))})", "")
