"""`dialogauge fit RUN -o FILE.toml`: weights of a rubric's criteria, fitted to people's ratings of a run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import cast

from dialogauge.app.agreement_files import read_people
from dialogauge.app.agreement_runs import add_runs
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.settings import AgreementOptions, FitOptions
from dialogauge.app.sources import is_run
from dialogauge.core import UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.settings import narrowed
from dialogauge.core.unit import words_digest
from dialogauge.data import read_split
from dialogauge.rubrics import FittedDimension, FittedWeights, ItemList, Rubric, load_rubric, weights_text
from dialogauge.runs import StoredRun, open_run
from dialogauge.runs.directory import write_whole
from dialogauge.studies.agreement.sources import Level, Question, TargetKey
from dialogauge.studies.agreement.targets import Panel
from dialogauge.studies.fit.weights import LEAST_SUPPORT, fitted_dimension
from dialogauge.text import counted


def fit_criteria(options: FitOptions) -> CommandOutcome[FittedWeights]:
    """Fit, write the weights, and return them with what they are worth on personas left out.

    Raises UsageError for another input than one run that was judged by criteria, and for ratings that are too
    few, of none of its dimensions, or of one persona.
    """
    target = output_file(options.out)
    spare([target], options)
    path = options.inputs[0]
    if len(options.inputs) > 1 or not is_run(path):
        msg = f"{shown_path(options.out)} is for weights of criteria, and {shown_path(path)} is no run"
        hint = "give one run of `dialogauge judge --rubric roleplay`; other data are fitted to FILE.json"
        raise UsageError(msg, hint=hint)
    judged, panel = _judged(path, options.dimension), Panel()
    asked = narrowed(AgreementOptions, options, sources=(path,), out=None)
    people = read_people([options.ratings_file] if options.ratings_file else [], asked, panel)
    add_runs([path], people, asked, panel)
    users = None if options.split_file is None else read_split(options.split_file).train
    made = {x.dimension: _fitted(x, judged, panel, users, options.seed) for x in judged.lists}
    dimensions = {name: of[0] for name, of in made.items() if not isinstance(of, str)}
    notes = [f"{name} is not fitted: {why}" for name, why in made.items() if isinstance(why, str)]
    if not dimensions:
        msg = f"too little to fit in {shown_path(path)}: {'; '.join(notes)}"
        raise UsageError(msg, hint="people rate the rubric's dimensions: dialogauge annotate make RUN")
    keys = {key for of in made.values() if not isinstance(of, str) for key in of[1]}
    fitted = FittedWeights(
        format="dialogauge-weights/1",
        rubric=judged.rubric.id,
        version=judged.rubric.version,
        digest=judged.rubric.digest,
        judge=judged.judge,
        seen=tuple(sorted({judged.words[key._replace(turn=None)] for key in keys})),
        dimensions=dimensions,
    )
    write_whole(target, [weights_text(fitted).encode()])
    faults, files = {str(fault): fault for fault in panel.faults}.values(), {"weights": Path(options.out)}
    notes = [*dict.fromkeys(panel.notes), *notes]
    return CommandOutcome(options=options, result=fitted, faults=tuple(faults), notes=notes, files=files)


@dataclass(frozen=True, slots=True)
class _NamedCriteria:
    """What a judge named in the sessions of a run."""

    judge: str
    rubric: Rubric
    lists: tuple[ItemList, ...]
    named: dict[str, dict[TargetKey, dict[int, frozenset[str]]]]
    """By dimension, target and repeat the criteria."""
    words: dict[TargetKey, str]
    """By conversation a digest of what was said."""


def _judged(path: str, dimension: str) -> _NamedCriteria:
    """Read a run; UsageError where its judge names no criteria, or the rubric is another one by now."""
    with open_run(path, studies=("judge",)) as run:
        rubric = _rubric_of(run, path)
        lists = tuple(x for x in rubric.items if x.adds_up and dimension in ("satisfaction", x.dimension))
        if not lists:
            which = "" if dimension == "satisfaction" else f" for {dimension!r}"
            msg = f"the rubric {rubric.id!r} of {shown_path(path)} adds up no criteria{which}"
            raise UsageError(msg, hint="roleplay does, and so does a rubric whose [[items]] have a base")
        judged = _NamedCriteria(
            str(run.manifest.judge["name"]), rubric, lists, {x.dimension: {} for x in lists}, {}
        )
        for conversation, rows in run.judged():
            whole = TargetKey(conversation.id, conversation.candidate, None)
            judged.words[whole] = words_digest(conversation)
            for x, row in product(lists, rows):
                entries = ((row["details"] or {}).get("items") or {}).get(x.name)
                if row["level"] == x.level and entries is not None:
                    of = judged.named[x.dimension].setdefault(whole._replace(turn=row["turn"]), {})
                    of[row["repeat"]] = frozenset(entry["label"] for entry in entries)
        return judged


def _rubric_of(run: StoredRun, path: str) -> Rubric:
    judge = run.manifest.judge
    if "prompts" not in judge:
        msg = f"{shown_path(path)} was judged by {judge['name']}, which names no criteria"
        raise UsageError(msg, hint="judge it with a model: --rubric roleplay --model NAME --base-url URL")
    rubric = load_rubric(run.manifest.settings["rubric"])
    now = {lang: rubric.prompt_digest(lang) for lang in rubric.languages}
    if (rubric.id, judge["prompts"]) != (judge["rubric"], {lang: now.get(lang) for lang in judge["prompts"]}):
        was = f"{judge['rubric']}, version {judge['rubric_version']}"
        msg = f"{shown_path(path)} was judged by the rubric {was}, whose words have changed since"
        raise UsageError(msg, hint=f"judge anew by {rubric.id}, version {rubric.version}, then fit")
    return rubric


def _fitted(
    x: ItemList, judged: _NamedCriteria, panel: Panel, users: frozenset[str] | None, seed: int
) -> tuple[FittedDimension, list[TargetKey]] | str:
    """Return a fitted dimension and its targets, or why it is not fitted; UsageError for a single persona."""
    question = Question(x.dimension, cast("Level", x.level))
    scale = next(d.scale for d in judged.rubric.at(x.level) if d.name == x.dimension)
    own = {
        key: one
        for key, one in panel.people.get(question, {}).items()
        if key in judged.named[x.dimension] and (users is None or one.user in users)
    }
    categories = panel.categories.get(question)
    if not own:
        return "nobody rated it"
    if categories is None or categories.values is None:
        return f"its ratings are not on {scale}"
    personas = {one.user for one in own.values()}
    if len(own) < 2 or (len(personas) == 1 and personas != {None}):
        msg = f"{x.dimension}: {counted(len(own), 'rated session')} of one persona, and none can be left out"
        raise UsageError(msg, hint="rate sessions of several scenarios: weights are tried on those left out")
    fitted = fitted_dimension(x, scale, judged.named[x.dimension], own, categories, seed)
    none = f"no criterion was named in {LEAST_SUPPORT} of {counted(len(own), 'session')}"
    return none if fitted is None else (fitted, list(own))
