"""`dialogauge fit RUN -o FILE.toml`: weights of a rubric's criteria, fitted to people's ratings of a run."""

from __future__ import annotations

from collections.abc import Sequence
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
from dialogauge.studies.agreement.sources import Answers, Level, Question, TargetKey
from dialogauge.studies.agreement.targets import Panel
from dialogauge.studies.fit.weights import LEAST_SUPPORT, Named, fitted_dimension
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
    with open_run(path, studies=("judge",)) as run:
        rubric, judge = _rubric_of(run, path), str(run.manifest.judge["name"])
        every = options.dimension == FitOptions.dimension
        lists = [x for x in rubric.items if x.adds_up and (every or x.dimension == options.dimension)]
        named, words = _named(run, lists)
    if not lists:
        which = "" if every else f" for {options.dimension!r}"
        msg = f"the rubric {rubric.id!r} of {shown_path(path)} adds up no criteria{which}"
        raise UsageError(msg, hint="roleplay does, and so does a rubric whose [[items]] have a base")
    asked, panel = narrowed(AgreementOptions, options, sources=(path,), out=None), Panel()
    people = read_people([options.ratings_file] if options.ratings_file else [], asked, panel)
    add_runs([path], people, asked, panel)
    users = None if options.split_file is None else read_split(options.split_file).train
    dimensions, seen, notes = dict[str, FittedDimension](), set[str](), list[str]()
    for x in lists:
        rated = {
            key: one
            for key, one in panel.people.get(Question(x.dimension, cast("Level", x.level)), {}).items()
            if key in named[x.dimension] and (users is None or one.user in users)
        }
        fitted = _fitted(x, rubric, named[x.dimension], rated, panel, options.seed)
        if isinstance(fitted, str):
            notes.append(f"{x.dimension} is not fitted: {fitted}")
        else:
            dimensions[x.dimension] = fitted
            seen |= {words[key._replace(turn=None)] for key in rated}
    if not dimensions:
        msg = f"too little to fit in {shown_path(path)}: {'; '.join(notes)}"
        raise UsageError(msg, hint="people rate the rubric's dimensions: dialogauge annotate make RUN")
    about = (rubric.id, rubric.version, rubric.digest, judge)
    result = FittedWeights(*about, tuple(sorted(seen)), dimensions)
    write_whole(target, [weights_text(result).encode()])
    faults, files = {str(fault): fault for fault in panel.faults}.values(), {"weights": Path(options.out)}
    notes = [*dict.fromkeys(panel.notes), *notes]
    return CommandOutcome(options=options, result=result, faults=tuple(faults), notes=notes, files=files)


def _named(run: StoredRun, lists: Sequence[ItemList]) -> tuple[dict[str, Named], dict[TargetKey, str]]:
    """Return by dimension the criteria that a run names, and by conversation a digest of its words."""
    named: dict[str, dict[TargetKey, dict[int, frozenset[str]]]] = {x.dimension: {} for x in lists}
    words = {}
    for conversation, rows in run.judged():
        whole = TargetKey(conversation.id, conversation.candidate, None)
        words[whole] = words_digest(conversation)
        for x, row in product(lists, rows):
            entries = ((row["details"] or {}).get("items") or {}).get(x.name)
            if row["level"] == x.level and entries is not None:
                of = named[x.dimension].setdefault(whole._replace(turn=row["turn"]), {})
                of[row["repeat"]] = frozenset(entry["label"] for entry in entries)
    return dict(named), words


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
    x: ItemList, rubric: Rubric, named: Named, rated: Answers, panel: Panel, seed: int
) -> FittedDimension | str:
    """Return a fitted dimension, or why it is not fitted; UsageError for a single persona."""
    scale = next(d.scale for d in rubric.at(x.level) if d.name == x.dimension)
    categories = panel.categories.get(Question(x.dimension, cast("Level", x.level)))
    if not rated:
        return "nobody rated it"
    if categories is None or categories.values is None:
        return f"its ratings are not on {scale}"
    sessions = counted(len(rated), "rated session")
    if len({one.user or key.conversation_id for key, one in rated.items()}) < 2:
        msg = f"{x.dimension}: {sessions} of one persona, and none can be left out"
        raise UsageError(msg, hint="rate sessions of several scenarios: weights are tried on those left out")
    fitted = fitted_dimension(x, scale, named, rated, categories, seed)
    return fitted or f"no criterion was named in {LEAST_SUPPORT} of {sessions}"
