"""How far a run's numbers can be trusted: its checks, made when it ends and whenever they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby, islice
from typing import Any, Final

from dialogauge.core.conversation import SESSION, Conversation
from dialogauge.core.errors import StoreError
from dialogauge.core.unit import words_digest
from dialogauge.core.values import Value
from dialogauge.data import RatingTable
from dialogauge.rubrics import NO_RUBRIC, Rubric, ScenarioRule, load_rubric
from dialogauge.runs import StoredRun, ratings_as_stored, read_manifest
from dialogauge.stats.rows import Row, Table
from dialogauge.studies.planted.blind_spots import BlindSpots
from dialogauge.studies.simulator.check import SimulatorCheck, check_simulator
from dialogauge.studies.simulator.style import Style, StyleSample
from dialogauge.studies.trust.checks import (
    check_aggregation,
    check_identical,
    check_length,
    check_repair,
    check_verdicts,
    read_texts,
)
from dialogauge.studies.trust.figures import TrustFigures, trust_figures
from dialogauge.studies.trust.result import (
    Calibration,
    Trust,
    TrustCheck,
    TrustThresholds,
)
from dialogauge.studies.trust.scenario import RuleFindings, check_rules, find_breaches, not_checked
from dialogauge.text import counted

_AT_ONCE = 100
LOCAL: Final = "local"
"""The judge whose scores are made of findings."""


class EarlierChecks(Value):
    """What an earlier look into the same judgements found and need not be found again."""

    scenario: TrustCheck | None = None
    calibration: Calibration | None = None
    planted: BlindSpots | None = None
    style: Style | None = None
    """How the simulated users write beside real ones."""


_SESSION: Final = "session"
"""What rubrics of sessions call the mean of their dimensions."""


def rubric_facts(rubric: str, asked: Rubric | None = None) -> dict[str, Any]:
    """Return what the checks and the page need to know of a rubric, for the manifest.

    Args:
        rubric: Its name or file.
        asked: The judge's, which may count by other weights.
    """
    if rubric == NO_RUBRIC:
        return {"shows_scenario": False, "scenario_rules": []}
    loaded = asked or load_rubric(rubric)
    criteria = {name: w for x in loaded.items if x.adds_up for name, w in loaded.counts(x)[1].items()}
    overall = {d.name: list(d.mean_of) for d in loaded.at("conversation") if d.name == _SESSION and d.mean_of}
    return {
        "shows_scenario": "scenario" in loaded.shows,
        "scenario_rules": [asdict(rule) for rule in loaded.scenario_rules],
        **({"criteria": criteria} if criteria else {}),
        **({"overall": overall} if overall else {}),
    }


def kept_from(run: StoredRun) -> EarlierChecks:
    """Read what the run's summary holds already of judge and data: asking again would cost calls."""
    try:
        earlier = read_manifest(run.directory)
        value = run.directory.read_json("summary").get("trust")
    except StoreError:
        return EarlierChecks()
    now = run.manifest
    same = earlier is not None and (earlier.judge_digest, earlier.digests) == (now.judge_digest, now.digests)
    if value is None or not same:
        return EarlierChecks()
    trust = Trust.from_json(value)
    done = [c for c in trust.checks if c.name == "scenario_ignored" and c.figures]
    style = None if trust.simulator is None else trust.simulator.style
    return EarlierChecks(done[0] if done else None, trust.calibration, trust.planted, style)


def look_into(
    run: StoredRun,
    rows: Table,
    limits: TrustThresholds,
    ratings: RatingTable | None,
    kept: EarlierChecks,
    real_users: StyleSample | None = None,
) -> Trust:
    """Make the checks of a run by the table of its rows, and of simulated sessions those of their users.

    Without people's ratings the earlier calibration stays, and without real users the earlier comparison.
    """
    rules = [ScenarioRule(**r) for r in run.manifest.facts.get("scenario_rules", ())]
    if ratings is not None:
        kept = replace(kept, calibration=_calibration(run, ratings, limits))
    trust = examine(
        trust_figures(rows, run.dimensions, sample=limits.sample),
        run.conversations,
        run.rows_of,
        judge=run.manifest.judge["name"],
        limits=limits,
        kept=kept,
        scenario_shown=run.manifest.facts.get("shows_scenario", True),
        rules=find_breaches(run.judged(), rules) if rules else None,
    )
    return replace(trust, simulator=_simulator(run, kept.style, real_users))


def _simulator(run: StoredRun, style: Style | None, real: StyleSample | None) -> SimulatorCheck | None:
    """Check the simulated users; of a run that begins with another conversation no more is read."""
    first = next(run.judged(), None)
    if first is None or SESSION not in first[0].metadata:
        return None
    check = check_simulator((conversation for conversation, _ in run.judged()), real)
    return replace(check, style=style) if check is not None and real is None else check


def examine(  # noqa: PLR0913 - what other steps found, each with a default
    read: TrustFigures,
    fetch: Callable[[Collection[str]], Iterable[Conversation]],
    rows_of: Callable[[Collection[str]], Iterable[Row]],
    *,
    judge: str,
    limits: TrustThresholds,
    kept: EarlierChecks | None = None,
    scenario_shown: bool = True,
    rules: RuleFindings | None = None,
) -> Trust:
    """Draw up the checks.

    Args:
        read: What was read of the rows.
        fetch: Returns the conversations of these ids; asked for a few at a time.
        rows_of: Returns their rows.
        judge: What sentences call the judge.
        limits: From which figure on a check is flagged.
        kept: What was found before, to stand among the checks.
        scenario_shown: Whether the rubric shows the judge a scenario at all.
        rules: What was found of the rubric's scenario rules; None when it has none.
    """
    kept = kept or EarlierChecks()
    sampled = read.sampled

    def conversations(keys: Sequence[tuple[str, str | None]]) -> Iterator[Conversation]:
        wanted = set(keys)
        ids = iter(dict.fromkeys(key[0] for key in keys))
        while block := list(islice(ids, _AT_ONCE)):
            yield from (c for c in fetch(block) if (c.id, c.candidate) in wanted)

    keys = [(s.conversation_id, s.candidate) for s in sampled]
    texts = read_texts(sampled, conversations(keys), rows_of)
    checks = (
        check_aggregation(read, limits, judge),
        check_repair(texts, read, limits),
        kept.scenario or not_checked(shown=scenario_shown),
        *([] if rules is None else [check_rules(rules, limits)]),
        check_length(texts, read, limits),
        check_verdicts(read, limits),
        check_identical(read, limits, conversations, by_findings=judge != LOCAL),
    )
    return Trust(checks, limits, kept.calibration, kept.planted)


def _calibration(run: StoredRun, ratings: RatingTable, limits: TrustThresholds) -> Calibration:
    # Loaded only where there are ratings: it takes as long as the rest of the trust study.
    from dialogauge.data.admission import admission_for
    from dialogauge.studies.agreement.targets import DimensionPair, TargetTable, collect_targets
    from dialogauge.studies.trust.calibration import calibrate

    ratings = ratings_as_stored(run.database, ratings)
    counts: dict[str, Counter[float | str]] = {}
    for rating in ratings.ratings:
        counts.setdefault(rating.dimension, Counter())[rating.score] += 1
    tables = [
        TargetTable(DimensionPair(d.name, d.name), d.scale, admission=admission_for(counts[d.name], d.scale))
        for d in run.dimensions
        if d.name in counts
    ]
    fitted_to = frozenset((run.manifest.judge.get("fitted_on") or {}).get("seen", ()))
    left_out: list[str] = []

    def unseen() -> Iterator[tuple[Conversation, list[Row]]]:
        for conversation, rows in _rated(run, ratings):
            if words_digest(conversation) in fitted_to:
                left_out.append(conversation.id)
            else:
                yield conversation, rows

    collect_targets(unseen(), lambda c: ratings.for_conversation(c.id), tables)
    file = str(run.manifest.settings.get("ratings_file") or "ratings")
    made = calibrate(tables, ratings=file, limits=limits)
    if not left_out or not tables:
        return made
    seen = counted(len(left_out), "rated dialogue")
    sentence = f"{made.sentence} Left out: {seen} that the judge was fitted to."
    if not made.dialogues:
        sentence = f"The judge was fitted to all {seen} of this run: that says nothing of others."
    return replace(made, sentence=sentence)


def _rated(run: StoredRun, ratings: RatingTable) -> Iterator[tuple[Conversation, list[Row]]]:
    """Yield the conversations that people rated, with their rows; no others are decoded."""
    for target, units in groupby(run.units(), key=lambda unit: unit.target):
        rows = [row for unit in units for row in unit.rows]
        if rows and rows[0]["conversation_id"] in ratings.ids:
            conversation = run.database.conversation(target)
            if conversation is not None:
                yield conversation, rows
