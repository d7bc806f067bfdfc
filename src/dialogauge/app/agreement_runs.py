"""Runs in, who said what of which target out: judges beside people where there are ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from dialogauge.app.agreement_files import pair_of
from dialogauge.app.candidates import family_of_judge
from dialogauge.app.settings import AgreementOptions
from dialogauge.app.sources import JUDGED
from dialogauge.core.conversation import Conversation, Rating
from dialogauge.core.errors import UsageError
from dialogauge.core.scores import ONE_TO_FIVE, Scale
from dialogauge.core.unit import words_digest
from dialogauge.data import RatingTable, votes_in
from dialogauge.data.admission import (
    DOWN,
    UP,
    Admission,
    Counts,
    RatedDimensions,
    admission_for,
    asks_approval,
)
from dialogauge.data.ratings import unknown_ids
from dialogauge.runs import Row, StoredRun, open_run
from dialogauge.runs.privacy import ratings_as_stored
from dialogauge.stats import Categories, DissatisfiedRule, middle_rule, votes_of
from dialogauge.studies.agreement.sources import (
    LEVELS,
    Level,
    Question,
    Rated,
    judge_name,
    level_of,
    scale_of,
)
from dialogauge.studies.agreement.stability import plays
from dialogauge.studies.agreement.targets import (
    ArenaVotes,
    DimensionPair,
    JudgedRun,
    Panel,
    TargetTable,
    collect_targets,
    weights_of,
)
from dialogauge.studies.arena.meetings import SCORE
from dialogauge.studies.evidence import RunEvidence, evidence_of
from dialogauge.studies.judging.checking import checked_by_ratings
from dialogauge.studies.judging.light import people_in, rated_tally
from dialogauge.studies.judging.people import People
from dialogauge.studies.rated import UNRANKED, preference
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.studies.satisfaction.answers import SATISFACTION
from dialogauge.text import counted

RatingsOf = Callable[[Conversation], Sequence[Rating]]

_WEIGHTED = (
    "The targets are a sample with weights. The table of judge and people counts each target by how many it "
    "stands for; figures of single raters, and which of two judges is closer, do not"
)


def run_names(runs: Sequence[str]) -> list[str]:
    """Name each run by its folder; by its whole path where two folders are called the same."""
    short = [Path(run).resolve().name for run in runs]
    return [run if short.count(name) > 1 else name for run, name in zip(runs, short, strict=True)]


def ratings_within(run: StoredRun, table: RatingTable | None) -> RatingsOf:
    """Return what gives the ratings of a conversation: those of the file, or else those inside the run."""
    if table is None:
        return lambda conversation: conversation.ratings
    stored = ratings_as_stored(run.database, table)
    if stored is table:  # of a masked run the words differ
        return stored.of_its_words
    return lambda conversation: stored.for_conversation(conversation.id)


def add_runs(runs: Sequence[str], ratings: RatingTable | None, options: AgreementOptions, out: Panel) -> None:
    """Add the judges of runs, and what people said of the same conversations.

    Raises UsageError where nobody rated what a judge scored; without ratings anywhere judges are compared
    with each other, and that takes two runs.
    """
    surveys = [
        _survey(path, name, ratings, options) for path, name in zip(runs, run_names(runs), strict=True)
    ]
    raters = {name for survey in surveys for name in survey.raters}
    surveys = [replace(survey, name=judge_name(survey.name, raters)) for survey in surveys]
    rated = any(survey.counts for survey in surveys)
    known = {name for survey in surveys for name in survey.ids}
    if ratings is not None and all(s.open for s in surveys) and (missing := ratings.ids - known):
        fault = unknown_ids(missing, options.ratings_file or "ratings")[0]
        if not known & ratings.ids:
            msg = f"no rating joins: {fault.message}"
            raise UsageError(msg, hint=f"the runs hold ids such as {min(known, default='')!r}")
        out.notes.append(str(fault))
    if not rated and len(runs) == 1 and not surveys[0].again:
        raise _unrated(surveys[0])
    out.notes += _other_words(surveys)
    for survey in surveys:
        for table in _read(survey, ratings, options, out, rated=rated):
            _take_over(table, options, out)


def lights_and_evidence(
    runs: Sequence[str], table: RatingTable | None, options: AgreementOptions, rule: DissatisfiedRule | None
) -> tuple[dict[str, tuple[People, ...]], dict[str, RunEvidence]]:
    """Return by run what people said and whether its judge agrees with them, as `judge` finds it; and by
    judged run which dimensions of its judge these ratings check: for `judge --checked-by`.
    """
    lights: dict[str, tuple[People, ...]] = {}
    evidence: dict[str, RunEvidence] = {}
    pairs = [(pair.judge, pair.rated) for pair in map(pair_of, options.dimensions)]
    for path, name in zip(runs, run_names(runs), strict=True):
        with open_run(path, studies=JUDGED) as run:
            study, judge = run.manifest.study, run.manifest.judge
            of_users = study == SATISFACTION
            own = [(SATISFACTION, run.manifest.settings.get("dimension", SATISFACTION))] if of_users else []
            judged = partial(_rated, run, ratings_within(run, table), options.level)
            rated = rated_tally(judged, run.dimensions, judge)
            if people := people_in(rated, rule=rule, pairs=pairs or own):
                lights[name] = tuple(people)
            if study == "judge" and rated is not None:
                checked = checked_by_ratings(rated[0], run.dimensions, rule)
                evidence[name] = replace(evidence_of(run), dimensions=checked)
    return lights, evidence


def _other_words(surveys: Sequence[_Survey]) -> Iterator[str]:
    """Say of runs that hold other words under the same ids that single conversations cannot be compared."""
    first = surveys[0]
    for other in surveys[1:]:
        both = first.words.keys() & other.words.keys()
        if differ := sum(first.words[key] != other.words[key] for key in both):
            yield (
                f"{first.name} and {other.name}: {differ:,} of {len(both):,} conversations of one id and "
                "candidate have other words, as with another simulator: compare the candidates of these runs "
                "alone"
            )


def _rated(
    run: StoredRun, ratings_of: RatingsOf, level: Level | None
) -> Iterator[tuple[Conversation, Sequence[Row]]]:
    for conversation, rows in run.judged():
        ratings = tuple(r for r in ratings_of(conversation) if level in (None, level_of(r)))
        yield replace(conversation, ratings=ratings), rows


@dataclass(frozen=True, slots=True)
class _Survey:
    """What is in a run."""

    path: str
    name: str
    dimensions: Mapping[str, Scale]
    counts: Mapping[Question, Counter[float | str]]
    """How often people gave each rating."""
    raters: frozenset[str]
    """People who rated them."""
    ids: frozenset[str]
    """Of its conversations."""
    fitted_to: int | None
    """Rated conversations that its judge was fitted to; None where it does not say."""
    open: bool
    """Whether ids stand in it as they came."""
    ordering: tuple[str, ...] = ()
    """What its rows score beside the dimensions of its rubric: the order in which to read turns."""
    words: Mapping[tuple[str, str | None], str] = field(default_factory=dict)
    """By id and candidate a digest of what was said, where several runs are read."""
    again: bool = False
    """Whether a candidate played a scenario several times: how stable scores are takes no ratings."""

    @property
    def rated(self) -> dict[str, Counter[float | str]]:
        """The same over both levels."""
        out: dict[str, Counter[float | str]] = {}
        for question, counts in self.counts.items():
            out.setdefault(question.dimension, Counter()).update(counts)
        return out


def _survey(path: str, name: str, table: RatingTable | None, options: AgreementOptions) -> _Survey:
    with open_run(path, studies=JUDGED) as run:
        ratings_of, seen = ratings_within(run, table), (run.manifest.judge.get("fitted_on") or {}).get("seen")
        counts: dict[Question, Counter[float | str]] = {}
        raters: set[str] = set()
        fitted_to, candidates = 0, dict[str, set[str | None]]()
        undeclared, words = False, dict[tuple[str, str | None], str]()
        scenes = Counter[tuple[str | None, str | None]]()
        for conversation, rows in run.judged():
            if len(options.sources) > 1:
                words[conversation.id, conversation.candidate] = words_digest(conversation)
            if plays(conversation.id, conversation.scenario):
                scenes[conversation.scenario, conversation.candidate] += 1
            undeclared = undeclared or any(SATISFACTION in (row["scores"] or {}) for row in rows)
            ratings = [r for r in ratings_of(conversation) if options.level in (None, level_of(r))]
            for rating in ratings:
                counts.setdefault(Question(rating.dimension, level_of(rating)), Counter())[rating.score] += 1
            raters |= {r.rater for r in ratings if r.rater is not None}
            fitted_to += seen is not None and bool(ratings) and words_digest(conversation) in seen
            candidates.setdefault(conversation.id, set()).add(conversation.candidate)
        if table is not None:
            _expect_candidates(table, candidates, name)
        scales = {d.name: d.scale for d in run.dimensions}
        masked = table is not None and ratings_as_stored(run.database, table) is not table
        known = None if seen is None else fitted_to
        of_people = frozenset(raters)
        ordering = (SATISFACTION,) if undeclared and SATISFACTION not in scales else ()
        ids = frozenset(candidates)
        again = max(scenes.values(), default=0) > 1
        return _Survey(path, name, scales, counts, of_people, ids, known, not masked, ordering, words, again)


def _expect_candidates(table: RatingTable, candidates: Mapping[str, set[str | None]], name: str) -> None:
    """Raise UsageError where ratings do not say which of several candidates they are of."""
    several = {r.conversation_id for r in table.ratings if r.candidate is None} & {
        conversation for conversation, of in candidates.items() if len(of) > 1
    }
    if several:
        first = min(several)
        names = sorted(c for c in candidates[first] if c is not None)
        msg = (
            f"run {name}: {counted(len(several), 'rated conversation')} such as {first!r} has replies of "
            f"several candidates ({', '.join(names)}), and the ratings name none"
        )
        hint = f"add a column candidate that says whose replies people rated, such as {names[0]}"
        raise UsageError(msg, hint=hint)


def _read(
    survey: _Survey, ratings: RatingTable | None, options: AgreementOptions, out: Panel, *, rated: bool
) -> list[TargetTable]:
    """Read one run: a table of targets for each pair of dimensions and level."""
    name = survey.name
    with open_run(survey.path, studies=JUDGED) as run:
        manifest = run.manifest
        judge, settings = manifest.judge, manifest.settings
        about = JudgedRun(name, survey.path, judge["name"], settings["mode"], survey.fitted_to)
        about = replace(about, first_turns=settings.get("first_turns"), family=family_of_judge(judge))
        by_turn = {d.name for d in run.dimensions if d.level == "turn"}
        # A satisfaction study states its figures of the whole scores: the same run gives the same ones here.
        fractions = manifest.study != SATISFACTION
        # Judges are compared with each other on all that they scored, or what is named.
        names = [pair_of(text).judge for text in options.dimensions] or list(survey.dimensions)
        asked = _pairs(survey, options) if rated else [DimensionPair(of, of) for of in names]
        tables = []
        for pair in asked:
            levels = [level for level in LEVELS if Question(pair.rated, level) in survey.counts]
            either: Sequence[Level | None] = [None] if rated else LEVELS
            for level in levels or either:
                scale = survey.dimensions.get(pair.judge, ONE_TO_FIVE)
                seen = survey.counts.get(Question(pair.rated, level), Counter())
                approval = pair.rated == pair.judge or asks_approval(pair.rated)
                admission = admission_for(seen, scale, approval=approval)
                if options.scale is not None:
                    stated = Categories.parse(options.scale)
                    numbers = Admission("numbers", scale_of(stated))
                    admission = numbers if stated.values else Admission("names")
                if admission.kind == "nothing":
                    msg = f"run {name}: {pair.rated!r} has {admission.words(seen)}"
                    hint = "name the ratings of each scale as a dimension of their own"
                    raise UsageError(msg, hint=hint)
                reading = _reading(pair, admission, seen, scale, options)
                over_turns = rated and pair.judge in by_turn and levels == ["conversation"]
                if over_turns:
                    mean = f"{pair}: people rated conversations, of which {name} has the mean of its turns"
                    reading = "; ".join(filter(None, (reading, mean)))
                table = TargetTable(pair, scale, about, admission, reading, fractions, level, over_turns)
                tables.append(table)
        collect_targets(run.judged(), ratings_within(run, ratings), tables)
    if not rated:
        return [table for table in tables if table.scored]
    filled = Counter(t.question for t in tables if t.targets)
    if not filled:
        raise _nothing_scored(tables[0])
    for table in tables:
        if filled[table.question] > 1:  # several dimensions against the same ratings
            table.about = replace(about, name=f"{name}:{table.pair.judge}")
    return tables


def _reading(
    pair: DimensionPair, admission: Admission, counts: Counts, scale: Scale, options: AgreementOptions
) -> str:
    """Say how ratings are read, where it is not plainly numbers on the judge's scale."""
    if admission.kind == "names" and options.dissatisfied is None:
        return (
            f"ratings of {pair.rated}: read as {admission.words(counts)}; not compared, because nothing says "
            "which of these names is dissatisfied (--dissatisfied NAME)"
        )
    remark = admission.remark(counts, scale)
    if not remark:
        return ""
    if admission.kind == "thumbs":
        remark += f"; of the judge's scores {middle_rule((), scale)} is down"
    elif admission.kind == "numbers" and admission.scale != scale:
        remark += f"; the judge's scale is {scale}"
    return f"ratings of {pair.rated}: {remark}"


def _pairs(survey: _Survey, options: AgreementOptions) -> Sequence[DimensionPair]:
    judged, rated = survey.dimensions, survey.rated
    if options.dimensions:
        pairs = map(pair_of, options.dimensions)
        return tuple(replace(p, overall=p.judge == "overall" and p.judge not in judged) for p in pairs)
    both = [d for d in (*judged, *survey.ordering) if d in rated]
    if both:
        return tuple(DimensionPair(d, d) for d in both)
    if not rated:
        raise _unrated(survey)
    whole = [name for name in sorted(rated, key=preference) if preference(name)[0] <= UNRANKED]
    if whole:
        return tuple(DimensionPair(name, whole[0]) for name in survey.ordering or judged)
    msg = f"run {survey.name}: no rated dimension has the name of one that the judge scores"
    raise UsageError(
        msg,
        hint=f"the judge has {', '.join(judged)}; people rated {RatedDimensions(rated).listed()}; "
        "name a pair: --dimension JUDGED=RATED",
    )


def _unrated(survey: _Survey) -> UsageError:
    msg = f"run {survey.name}: there are no ratings of its conversations"
    return UsageError(msg, hint="give them with --ratings FILE; conversations are joined by id")


def _nothing_scored(table: TargetTable) -> UsageError:
    name, counts = table.about.name, table.counts
    msg = (
        f"run {name}, {table.pair}: none of {counted(counts.rated, 'rated target')} has a score "
        f"({counts.failed} failed, {counts.not_applicable} n/a, {counts.not_judged} not judged)"
    )
    hint = "check the ids, the turns, and whether turns or whole conversations were rated"
    if not counts.rated:
        msg, hint = f"run {name}: nobody rated {table.pair.rated!r}", "name a pair: --dimension A=B"
    return UsageError(msg, hint=hint)


def _take_over(table: TargetTable, options: AgreementOptions, out: Panel) -> None:
    """Add a judge's table to the sources, and what it and people said to that of others."""
    question = table.question
    if table.rated:
        out.tables.append(table)
        known = out.people.setdefault(question, {})
        for key, rated in table.rated.items():
            known.setdefault(key, rated).by.update(rated.by)
        if not table.targets:
            none = f"{counted(table.counts.rated, 'rated target')}, none scored"
            out.notes.append(f"run {table.about.name}, {question}: {none}")
    out.about[table.about.name] = table.about
    scores = out.judges.setdefault(question, {})
    for key, one in table.scored.items():
        known_score = scores.setdefault(key, Rated({}, one.user, one.groups, one.length))
        known_score.by[table.about.name] = next(iter(one.by.values()))
        if one.repeats:
            known_score.repeats[table.about.name] = next(iter(one.repeats.values()))
    out.faults += table.refused
    for note in (table.reading, "" if weights_of(table.targets) is None else _WEIGHTED):
        out.notes += [note] if note and note not in out.notes else []
    # All that could be said: what is given, or the whole scores of the rubric's scale.
    categories, own = None, ("numbers", table.scale)
    steps = table.scale.integer or table.scale.high - table.scale.low > 1  # a share has no steps
    on_scale = table.admission.kind is None or (table.admission.kind, table.admission.scale) == own
    if options.scale is not None:
        categories = Categories.parse(options.scale)
    elif table.admission.kind == "thumbs":
        categories = Categories((DOWN, UP), None)
    elif on_scale and steps:
        categories = Categories.of_scale(table.scale)
    if categories is not None and table.rated:
        out.categories.setdefault(question, categories)
    if steps:
        out.judged_on.setdefault(question, Categories.of_scale(table.scale))


def is_arena(path: str) -> bool:
    """Whether a run is one of `arena`."""
    with open_run(path) as run:
        return run.manifest.study == "arena"


def add_arenas(paths: Sequence[str], out: Panel) -> None:
    """Add what the referees of arenas said, to order candidates by."""
    for path, name in zip(paths, run_names(paths), strict=True):
        with open_run(path) as run:
            rows = [row for row in run.rows() if row["winner"] is not None]
        if not rows:
            out.notes.append(f"the arena {path} has no vote")
            continue
        dialogues = [str(row["conversation_id"] or f"vote {n}") for n, row in enumerate(rows)]
        scores = [SCORE[row["winner"]] for row in rows]
        sides = ([row[side] for row in rows] for side in ("a", "b"))
        votes = votes_of(next(sides), next(sides), scores, clusters=(dialogues, "dialogues"))
        out.arenas[judge_name(name, ())] = ArenaVotes(votes, tuple(dict.fromkeys(dialogues)))


def is_replay(path: str) -> bool:
    """Whether a run is one of `replay`."""
    with open_run(path) as run:
        return run.manifest.study == ANSWER


def add_replays(paths: Sequence[str], out: Panel) -> None:
    """Add the evaluators of replay runs, on whatever people were asked about the replies.

    Raises:
        UsageError: Nobody scored a run, or no person chose between two replies.
    """
    from dialogauge.studies.replay.preferred import preferences

    asked = dict.fromkeys(vote.dimension for vote in out.people_votes)
    for path in paths:
        if not asked:
            msg = f"{path} is a replay run, and there are no choices of people between two replies"
            hint = f"dialogauge annotate make {path} --pairs --raters 2 -o DIR; then --ratings DIR"
            raise UsageError(msg, hint=hint)
        with open_run(path) as run:
            chosen = list(preferences(run))
        for dimension in asked:
            out.judge_votes += votes_in(replace(pair, dimension=dimension) for pair in chosen)
