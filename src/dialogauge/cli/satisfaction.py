"""`dialogauge satisfaction`: how satisfied will this user be with this reply?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from dialogauge.cli import options as option
from dialogauge.cli.terminal import plain, print_json
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.satisfaction import SatisfactionOutcome
    from dialogauge.app.settings import SatisfactionOptions
    from dialogauge.core.errors import InputError
    from dialogauge.studies.satisfaction import Figures, RationaleCheck, UnderCalibration
    from dialogauge.studies.satisfaction.rationale import RationaleCase, TermUse

_LONGEST = 160
_TITLES = {"core": "core", "not_core": "real but not core", "off_task": "off-task"}


def rationale_lines(check: RationaleCheck) -> Iterator[str]:
    """Write the confusion table, where the rationales' terms come from, and examples of each kind."""
    judged = counted(check.judged, "turn")
    yield f"reasons and rationales: {judged}, {check.without_rationale:,} without a rationale"
    yield from _table(check)
    yield from _agreement(check)
    yield from _terms(check)
    yield from _kinds(check)


def _table(check: RationaleCheck) -> Iterator[str]:
    used = [b for b in check.table if any(row[b] for row in check.table.values())]
    if not used:
        return
    width = max(len("the user's, the judge's"), *(len(name) for name in check.table)) + 2
    yield f"  {'the user, the judge':<{width}}" + "".join(f"{name:>{len(name) + 2}}" for name in used)
    for name, row in check.table.items():
        if any(row.values()):
            yield f"  {name:<{width}}" + "".join(f"{row[b]:>{len(b) + 2},}" for b in used)


def _agreement(check: RationaleCheck) -> Iterator[str]:
    found = check.agreement
    if not found.n or found.agreed is None:
        yield "  no turn has a reason of both"
        return
    between = "" if found.interval is None else f" [{found.interval[0]:z.3f}, {found.interval[1]:z.3f}]"
    kappa = "-" if found.kappa is None else f"{found.kappa:z.3f}"
    always = "" if found.constant is None else f", always {found.constant_reason} {found.constant:z.3f}"
    yield (
        f"  the user's own reason in {found.agreed:z.3f}{between} of {found.n:,} turns that both call "
        f"dissatisfied; kappa {kappa}; controls: shuffled {found.shuffled:z.3f}{always}"
    )


def _terms(check: RationaleCheck) -> Iterator[str]:
    yield (
        f"  terms of {check.use.rationales:,} rationales ({check.not_comparable:,} not comparable): "
        f"{_use(check.use)}"
    )
    if check.chance is not None:
        yield f"  by chance, with the history of another user: {_use(check.chance)}"


def _use(use: TermUse) -> str:
    if not use.terms:
        return "none"
    return (
        f"{use.here / use.terms:.1%} of this conversation, {use.sources_only / use.terms:.1%} of the user's "
        f"other scenarios alone ({use.of_sources / use.terms:.1%} at home there), "
        f"{use.off_task:,} rationales off-task"
    )


def _kinds(check: RationaleCheck) -> Iterator[str]:
    from dialogauge.studies.satisfaction import KINDS

    for kind, meaning in KINDS.items():
        yield f"  {_TITLES[kind]}: {check.kinds[kind]:,} ({meaning})"
        for case in check.examples[kind]:
            yield from _case(case)
    yield f"  missed: {check.missed:,} (the user is dissatisfied and the judge is not)"


def _case(case: RationaleCase) -> Iterator[str]:
    yield (
        f"    {case.turn_id}: the user {case.user_score:g}, {case.user_reason}; "
        f"the judge {case.judge_score}, {case.judge_reason}"
    )
    text = " ".join(case.rationale.split())
    yield f"      {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"
    if case.kind == "off_task":
        yield f"      of other scenarios: {', '.join(case.of_sources)}"


_COLUMNS: Mapping[str, str] = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "qwk": "QWK",
    "f1_dsat": "F1 DSAT ≤3",
    "mae": "MAE",
    "per_user_pearson": "per user",
    "within_user_pearson": "within",
    "within_block_pearson": "block",
}
_WIDTH = 26
_FAILURES_SHOWN = 5


def satisfaction_lines(outcome: SatisfactionOutcome) -> Iterator[str]:
    """Write what was judged, the main figures with intervals, and the table of calibrations."""
    from dialogauge.studies.satisfaction import finding

    yield from outcome.notes
    yield from _counts(outcome)
    if not outcome.run.result.evaluation.chosen.judge.n:
        yield "nothing is scored: there are no figures to show"
        yield f"report: {outcome.run.directory.file('report')}"
        return
    yield ""
    titles = _titles(outcome)
    yield from _main(outcome, titles)
    shown: dict[str, UnderCalibration] = {}
    for name, found in outcome.run.result.evaluation.calibrations.items():
        yield ""
        same = next((other for other, above in shown.items() if _same(above, found)), None)
        if same is not None:
            yield f"{name}: the same figures as {same}"
            continue
        shown[name] = found
        yield from _calibration(name, found, outcome.run.result.judge, titles)
    if outcome.run.result.evaluation.rationale is not None:
        yield ""
        yield from rationale_lines(outcome.run.result.evaluation.rationale)
    yield ""
    if outcome.run.result.evaluation.settings.boundary_only:
        yield "* boundary only: the judge says satisfied (4) or dissatisfied (3), and nothing finer"
    yield finding(
        outcome.run.result.judge, [c.to_json() for c in outcome.run.result.evaluation.against_controls]
    )
    yield "within: Pearson after each user's own mean is taken away; block: that of each user and scenario"
    yield f"report: {outcome.run.directory.file('report')}"


def _counts(outcome: SatisfactionOutcome) -> Iterator[str]:
    from dialogauge.studies.satisfaction import signal_words

    study, chosen = outcome.run.result.data, outcome.run.result.evaluation.chosen.judge
    known = [b for b in study.blocks if b.view.history]
    turns = sum(len(b.view.targets) for b in known)
    waiting = f", {outcome.run.ending.pending:,} waiting" if outcome.run.ending.pending else ""
    yield (
        f"{counted(turns, 'turn')} of {counted(len({b.view.user for b in known}), 'user')} in "
        f"{counted(len(known), 'block')} judged by {outcome.run.result.judge}: {chosen.n:,} scored, "
        f"{chosen.n_failed:,} failed{waiting}"
    )
    for message, n in list(outcome.run.result.failures.items())[:_FAILURES_SHOWN]:
        yield f"failed: {n:,}, {message}"
    users = {b.view.user for b in study.others.blocks}
    turns_known = counted(len(study.others.scores), "turn")
    yield f"known of others: {turns_known} of {counted(len(users), 'training user')}"
    apart = outcome.run.result.evaluation.without_history
    if apart.n + apart.n_failed:
        yield (
            f"counted apart: {counted(apart.n + apart.n_failed, 'turn')} of users without a history, who get "
            f"the training users' prior ({apart.n:,} scored, mean error {_number(apart.values['mae'])})"
        )
    for why, n in study.left_out.items():
        yield f"left out: {n:,}, {why}"
    method, run = outcome.run.result.evaluation.settings.calibration, outcome.run.result.evaluation.chosen.run
    if method != "none" and not run.calibrated_blocks:
        yield (
            f"--calibrate {method} changed nothing: no block has a history to calibrate to, and the scores "
            "stand as the judge gave them"
        )
    yield from map(signal_words, outcome.run.result.signals)
    yield from _warnings(outcome)


def _warnings(outcome: SatisfactionOutcome) -> Iterator[str]:
    """Say where history and target differ."""
    from dialogauge.studies.satisfaction import drift_of

    s, study = outcome.run.result.evaluation.settings, outcome.run.result.data
    found = drift_of(study.blocks, study.population, draws=s.draws, seed=s.seed)
    yield from (f"warning: {words}" for words in found.warnings)


def _titles(outcome: SatisfactionOutcome) -> Mapping[str, str]:
    """Return the titles of the columns; what a judge of two scores cannot fill is marked."""
    from dialogauge.studies.satisfaction import ORDINAL

    marked = ORDINAL if outcome.run.result.evaluation.settings.boundary_only else ()
    return {name: title + "*" * (name in marked) for name, title in _COLUMNS.items()}


def _main(outcome: SatisfactionOutcome, titles: Mapping[str, str]) -> Iterator[str]:
    figures = outcome.run.result.evaluation.chosen.judge
    method = outcome.run.result.evaluation.settings.calibration
    yield f"{outcome.run.result.judge}, calibration: {method} (95 % intervals by users)"
    for name, title in titles.items():
        held = figures.intervals.get(name)
        between = f"  [{held[0]:z.3f}, {held[1]:z.3f}]" if held else ""
        yield f"  {title:<12}{_number(figures.values[name]):>8}{between}"


def _same(one: UnderCalibration, other: UnderCalibration) -> bool:
    """Say whether judge, controls and ceiling have the same figures under both."""
    return (one.judge, one.controls, one.ceiling) == (other.judge, other.controls, other.ceiling)


def _calibration(name: str, found: UnderCalibration, judge: str, titles: Mapping[str, str]) -> Iterator[str]:
    told = (
        "" if name == "none" else f": {found.run.calibrated_blocks} of {counted(found.run.blocks, 'block')}"
    )
    left = "".join(f", {n} left as they are ({why})" for why, n in found.run.identity.items())
    yield f"{name}{told}{'' if name == 'none' else left}"
    yield f"  {'':<{_WIDTH}}" + "".join(f"{title:>10}" for title in titles.values())
    yield _row(judge, found.judge)
    for control, figures in found.controls.items():
        yield _row(control, figures)
    yield _row("ceiling: people's own", found.ceiling)


def _row(name: str, figures: Figures) -> str:
    return f"  {name:<{_WIDTH}}" + "".join(f"{_number(figures.values[key]):>10}" for key in _COLUMNS)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:z.4f}"  # z: no -0.0000


_FAULTS_SHOWN = 20


def run_and_print(options: SatisfactionOptions, *, dry_run: bool, as_json: bool) -> int:
    """Run the study, print what a person or a machine wants to know, return the exit code."""
    from dialogauge.app.satisfaction import judge_satisfaction
    from dialogauge.cli.terminal import TerminalObserver
    from dialogauge.report import mended_and_spent
    from dialogauge.studies.judging import figures_of

    if dry_run:
        return _print_plan(options, as_json=as_json)
    outcome = judge_satisfaction(options, TerminalObserver(quiet=as_json))
    _print_faults(outcome.faults)
    _print_end(outcome)
    if as_json:
        print_json(outcome.run.result.to_json())
    else:
        for line in (*satisfaction_lines(outcome), *mended_and_spent(figures_of(outcome.run.result.summary))):
            typer.echo(plain(line))
    if outcome.run.ending.outcome.ended == "interrupted":
        return 130
    if outcome.run.ending.outcome.error is not None or outcome.faults:
        return 1
    return 3 if outcome.mostly_failed else 0


def _print_faults(faults: tuple[InputError, ...]) -> None:
    for fault in faults[:_FAULTS_SHOWN]:
        typer.echo(f"dialogauge: {plain(str(fault))}", err=True)


def _print_end(outcome: SatisfactionOutcome) -> None:
    """Say how the study ended, where it ended early, and what that means for its figures."""
    ending = outcome.run.ending
    if ending.outcome.error is not None:
        typer.echo(f"dialogauge: {plain(str(ending.outcome.error))}", err=True)
    if ending.pending:
        typer.echo(
            f"dialogauge: not judged yet: {counted(ending.pending, 'turn')}; the figures stand on the "
            "others, and the same command goes on from here",
            err=True,
        )


def _print_plan(options: SatisfactionOptions, *, as_json: bool) -> int:
    from dialogauge.app.satisfaction import plan_satisfaction

    plan = plan_satisfaction(options)
    if as_json:
        value = {
            "run": str(plan.directory),
            "judge": plan.judge,
            "turns": plan.turns,
            "left": plan.left,
            "faults": [str(f) for f in plan.faults],
        }
        print_json(value)
    else:
        done = plan.turns - plan.left
        judge = plain(plan.judge)
        typer.echo(
            f"would judge {plan.left:,} of {counted(plan.turns, 'turn')} ({done:,} done already) by {judge}"
        )
        typer.echo(f"into {plan.directory}")
    _print_faults(plan.faults)
    return 1 if plan.faults else 0


_JUDGE = (
    "global-mean, global-majority, task-mean, task-majority, history-mean, history-median, history-majority, "
    "history-cdf-hash, nearest-1, nearest-3, episodic-nearest, local, local-user; trained here: encoder, "
    "encoder-ordinal; with a model: memory, no-memory, zero-shot, few-shot, task-rubric, prometheus, rag, "
    "spur."
)
_LEVEL = "Replies, or sessions as a whole (the ratings without a turn)."
_SPLIT = "Whose turns are judged. The training users are what the judges know of other users."
_CALIBRATE = "The map of the scores in the rows; the table shows every one."
_SIGNAL = "Satisfaction run of a judge that reads no rating, for local-user to read too."
_REFERENCE = "Satisfaction run of the blocks' original replies, for reference-* (else the judged replies)."


def satisfaction(
    inputs: option.RatedData,
    judge: Annotated[str, typer.Option(metavar="NAME", help=_JUDGE)],
    level: Annotated[str, typer.Option(metavar="turn|session", help=_LEVEL)] = "turn",
    split: Annotated[str, typer.Option(metavar="test|train|all", help=_SPLIT)] = "test",
    split_file: option.SplitFile = None,
    calibrate: Annotated[str, typer.Option(metavar="NAME", help=_CALIBRATE)] = "none",
    ties: option.Ties = "mid",
    reference: Annotated[str | None, typer.Option(metavar="RUN", help=_REFERENCE)] = None,
    history: option.History = "all",
    mode: Annotated[
        str,
        typer.Option(metavar="foresight|hindsight", help="Whether the next user message may be read."),
    ] = "foresight",
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="topk|boundary-paired|score-balanced", help="Of episodic-nearest and rag (else topk)."
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option(min=1, help="Turns that episodic-nearest (else 6) and rag (else 4) take.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="FOLDER|NAME", help="What encoder judges fine-tune (else bert-base-chinese)."),
    ] = None,
    signal: Annotated[list[str] | None, typer.Option(metavar="RUN", help=_SIGNAL)] = None,
    dimension: option.Dimension = "satisfaction",
    ratings: option.Ratings = None,
    format: option.Format = None,
    map_file: option.Map = None,
    out: Annotated[
        str | None, typer.Option("-o", "--out", help="Run directory (else runs/NAME-JUDGE).")
    ] = None,
    draws: Annotated[int, typer.Option(min=0, help="Bootstrap draws for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the draws and the shuffled control.")] = 0,
    lang: Annotated[
        str | None, typer.Option(metavar="en|zh|auto", help="Language of the prompts, with a model.")
    ] = None,
    model: option.Model = None,
    base_url: option.BaseUrl = None,
    api_key_env: option.KeyEnv = None,
    role: option.Roles = None,
    config: option.Config = None,
    prices: option.Prices = None,
    max_concurrency: option.SetConcurrency = None,
    max_calls: option.MaxCalls = None,
    max_cost: option.MaxCost = None,
    max_failed: option.MaxFailed = None,
    retry_failed: option.RetryFailed = False,
    fresh: option.Fresh = False,
    no_cache: option.NoCache = False,
    redact: option.Redact = False,
    hash_ids: option.HashIds = False,
    dry_run: option.DryRun = False,
    as_json: option.AsJson = False,
) -> None:
    """Judge each reply for its own user, from what this user rated in other scenarios.

    Every judge stands raw and under each calibration, beside controls that read nothing and the ceiling:
    the users' own scores through the same map. With a model the same command again continues where it
    stopped.
    """
    from dialogauge.app.config import compute_in_one_thread

    compute_in_one_thread()  # before the next line loads numpy
    from dialogauge.app.merging import merge_satisfaction_options
    from dialogauge.cli.judge import command_line
    from dialogauge.stats import CALIBRATIONS, TIES

    option.check("--level", level, ("turn", "session"))
    option.check("--split", split, ("test", "train", "all"))
    option.check("--calibrate", calibrate, CALIBRATIONS)
    option.check("--ties", ties, TIES)
    option.check("--history", history, ("all", "prompt"))
    option.check("--mode", mode, ("foresight", "hindsight"))
    given = {
        "lang": lang,
        "max_concurrency": max_concurrency,
        "max_calls": max_calls,
        "max_cost": max_cost,
        "max_failed": max_failed,
        "prices": prices,
    }
    options = merge_satisfaction_options(
        judge,
        {k: v for k, v in given.items() if v is not None},
        config_file=config,
        models=judge_models(model, base_url, api_key_env, role or []),
        fixed={
            "inputs": tuple(inputs),
            "level": level,
            "part": split,
            "split_file": split_file,
            "calibrate": calibrate,
            "ties": ties,
            "reference": reference,
            "history": history,
            "mode": mode,
            "strategy": strategy,
            "k": k,
            "encoder": encoder,
            "signals": tuple(signal or ()),
            "dimension": dimension,
            "ratings_file": ratings,
            "format": format,
            "map_file": map_file,
            "out": out,
            "draws": draws,
            "seed": seed,
            "retry_failed": retry_failed,
            "fresh": fresh,
            "cache": not no_cache,
            "redact": redact,
            "hash_ids": hash_ids,
            "command": command_line(),
        },
    )
    raise typer.Exit(run_and_print(options, dry_run=dry_run, as_json=as_json))


def judge_models(
    model: str | None, base_url: str | None, api_key_env: str | None, roles: list[str]
) -> dict[str, str]:
    """Bring the short form and --role together: by role, how its model is given."""
    from dialogauge.cli.judge import model_reference, split_role

    builders = [text for text in roles if text.startswith("memory_builder=")]
    found = dict(split_role(text) for text in builders)
    judge = model_reference(model, base_url, api_key_env, [text for text in roles if text not in builders])
    return found if judge is None else {"judge": judge, **found}
