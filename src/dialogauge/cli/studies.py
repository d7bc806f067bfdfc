"""The commands of studies, made of the table: each option, what is printed, and the exit code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from dialogauge.app.entries import ListedStudy
from dialogauge.cli.options import AsJson, DryRun, GroupedCommand, takes

if TYPE_CHECKING:
    from dialogauge.app.option_groups import Options
    from dialogauge.app.outcome import CommandOutcome


def study_command(study: ListedStudy) -> Callable[..., None]:
    """Make the command of a study: it takes the study's options, and says in `--help` what they say."""

    def command(options: Options, dry_run: bool = False, as_json: bool = False) -> None:
        carry_out(study, options, dry_run=dry_run, as_json=as_json)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [inspect.Parameter("options", kind)]
    for name, taken, annotation in (("dry_run", study.dry_run, DryRun), ("as_json", study.json, AsJson)):
        if taken:
            own.append(inspect.Parameter(name, kind, default=False, annotation=annotation))
    command.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    command.__name__, command.__doc__ = study.name, study.options.__doc__
    return takes(study.options)(command)


def study_group(study: ListedStudy) -> typer.Typer:
    """Make the commands of a study of several steps."""
    group = typer.Typer(name=study.name, help=study.help, no_args_is_help=True, rich_markup_mode=None)
    for step in study.commands:
        group.command(cls=GroupedCommand)(study_command(step))
    return group


def carry_out(
    study: ListedStudy, options: Options, *, dry_run: bool = False, as_json: bool = False
) -> NoReturn:
    """Do what a command is asked for, print what came of it, and exit with its code."""
    from dialogauge.app.command import load
    from dialogauge.cli.terminal import TerminalObserver, print_blocks, print_faults, print_json, print_plan
    from dialogauge.report import plain

    entry = load(study)
    if dry_run:
        plan = entry.plan(options)
        print_plan(plan, entry.words(plan, options), as_json=as_json)
    outcome = entry.carry_out(options, TerminalObserver(quiet=as_json))
    print_faults(outcome.faults, "" if outcome.run is None else ", listed in manifest.json")
    for line in _early_end(outcome, entry.unit):
        typer.echo(f"dialogauge: {plain(line)}", err=True)
    if as_json:
        print_json(entry.printed(outcome.result))
    elif _nothing_done(outcome):
        typer.echo("nothing was done: correct the error, then run the same command again")
    else:
        notes = [f"  {plain(note)}" for note in outcome.notes]
        if outcome.run is not None and (resumed := outcome.run.progress.resumed):
            notes.append(f"  {resumed:,} already done by an earlier run and reused")
        blocks = tuple(entry.view(outcome))
        if not entry.notes_last:
            typer.echo("\n".join([*notes, ""]), nl=bool(notes))
        print_blocks(blocks)
        if entry.notes_last:
            typer.echo("\n".join(["", *notes]), nl=bool(notes))
        for gate in outcome.gates if outcome.run is not None else ():  # else the view has them
            typer.echo(plain(gate.sentence))
        typer.echo()
        for what, file in outcome.files.items():
            typer.echo(plain(f"{what}: {file}"))
    for line in _reason(outcome):
        typer.echo(f"dialogauge: {plain(line)}", err=True)
    raise typer.Exit(outcome.exit_code)


def _early_end(outcome: CommandOutcome[Any], unit: str) -> Iterator[str]:
    """Say how a run ended, where it ended early, and what that means for its figures."""
    from dialogauge.text import counted

    if outcome.ending.error is not None:
        yield str(outcome.ending.error)
    if outcome.run is None:
        return
    ending = outcome.run.ending
    if _nothing_done(outcome):
        return
    if ending.pending:
        left, others = counted(ending.pending, unit), "the figures rest on the others"
        yield f"not done yet: {left}; {others}, and the same command continues from here"
    elif outcome.ending.error is not None:
        yield "what was done before that is saved"


def _nothing_done(outcome: CommandOutcome[Any]) -> bool:
    """Say whether a run ended before anything was done, by this command or an earlier one."""
    run = outcome.run
    return (
        run is not None and outcome.ending.error is not None and not run.progress.done + run.progress.resumed
    )


def _reason(outcome: CommandOutcome[Any]) -> Iterator[str]:
    """Say why the exit code is one that stands for a condition."""
    from dialogauge.report import words
    from dialogauge.text import counted

    if outcome.exit_code == 3:
        failed, most = words.percent(outcome.failed_share), words.percent(outcome.max_failed)
        allowed = f"--max-failed allows ({most})" if hasattr(outcome.options, "max_failed") else most
        yield f"{failed} of what was asked for failed, more than {allowed}: exit code 3"
    elif outcome.exit_code == 2:
        refused = counted(sum(gate.refused for gate in outcome.gates), "gate")
        yield f"{refused} on what is not checked; --unchecked takes it all the same: exit code 2"
