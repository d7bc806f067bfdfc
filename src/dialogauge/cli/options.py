"""Commands from settings: a command's options are those of its settings class (`app/settings`)."""

from __future__ import annotations

import functools
import inspect
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import fields
from typing import Annotated, Any, Concatenate, Final, ParamSpec, TypeVar

import typer
from typer.core import TyperCommand

from dialogauge.app.option_groups import Options
from dialogauge.cli.terminal import kept_for_json, print_json
from dialogauge.core.files import shown_path
from dialogauge.core.settings import Setting, settings_of
from dialogauge.report import plain

S = TypeVar("S", bound=Options)
P = ParamSpec("P")

# What only the command line has: what is shown, and whether anything is done at all.
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel="Run")]
_Schema = Annotated[
    bool,
    typer.Option(
        "--json-schema",
        help="Print the JSON Schema of what --json prints, and exit.",
        rich_help_panel="Run",
        is_eager=True,
        callback=lambda ctx, value: _print_schema(ctx) if value else None,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.", rich_help_panel="Run")
]
_VALUES: Final[Mapping[type, str]] = {int: "N", float: "X", str: "TEXT"}
_OWN: Final = "Options"


class GroupedCommand(TyperCommand):
    """A command whose `--help` puts options under the headings of their groups, its own first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - click's, wherever typer keeps it
        """Write the arguments, the command's own options, and those of groups."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], _OWN: []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None:
                own = "Arguments" if one.param_type_name == "argument" else _OWN
                title = "Run" if one.name == "help" else getattr(one, "rich_help_panel", None) or own
                # Behind the name of an argument typer writes its type.
                sections.setdefault(title, []).append((record[0].partition(" <")[0], record[1]))
        sections["Run"] = sections.pop("Run", [])
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def takes(kind: type[S]) -> Callable[[Callable[Concatenate[S, P], None]], Callable[..., None]]:
    """Make a command of a function that takes settings first, and then what only the command line has."""

    def decorate(function: Callable[Concatenate[S, P], None]) -> Callable[..., None]:
        settings = settings_of(kind)
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        names = {one.name for one in own}

        @functools.wraps(function)
        def command(ctx: typer.Context, **values: Any) -> None:  # noqa: ANN401 - of any option
            from dialogauge.app.merging import merged

            chosen = {
                name: (not values[name] if _negated(one) else values[name])
                for name, one in settings.items()
                if str(ctx.get_parameter_source(name)).endswith("COMMANDLINE")
            }
            made = {"command": command_line()} if "command" in {f.name for f in fields(kind)} else {}
            others = {name: value for name, value in values.items() if name in names}
            options = merged(kind, chosen, _called, _say, **made)
            with kept_for_json() if others.get("as_json") else nullcontext():
                function(options, **others)  # type: ignore[call-arg]

        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        first = [context, *map(_parameter, settings.values())]
        both = [*first, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own)]
        if "as_json" in names:
            schema = inspect.Parameter("json_schema", inspect.Parameter.KEYWORD_ONLY, default=False)
            both.append(schema.replace(annotation=_Schema))
        command.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
        command.__annotations__ = {}
        del command.__wrapped__
        return command

    return decorate


def _print_schema(ctx: typer.Context) -> None:
    """Print the schema of the command that was typed, and exit."""
    from dialogauge.app.printed.commands import json_schema

    print_json(json_schema(ctx.command_path.partition(" ")[2]))
    raise typer.Exit


def _called(one: Setting) -> str:
    """Return what a user calls a setting: its option, or the name of an argument (`RUN`, `INPUT`)."""
    if not one.argument:
        return one.option
    return (one.metavar or one.name.upper()).partition(" ")[0].rstrip(".")


def _say(text: str) -> None:
    typer.echo(plain(text), err=True)


def _parameter(one: Setting) -> inspect.Parameter:
    """Return a setting as typer wants a parameter."""
    what: Any = list[one.kind] if one.many else one.kind  # type: ignore[name-defined]
    if one.values:
        what = tuple[(one.kind,) * one.values]  # type: ignore[misc]
    default = None if one.many or one.otherwise else False if _negated(one) else one.default
    if one.required:
        default = inspect.Parameter.empty
    elif default is None:
        what |= None
    metavar = one.metavar or "|".join(one.choices) or _VALUES.get(one.kind)
    if one.argument:
        info: Any = typer.Argument(metavar=metavar, help=one.help)
    else:
        info = typer.Option(
            *(one.flags or (one.option,)),
            metavar=metavar,
            help=one.help,
            rich_help_panel=one.heading,
            min=one.low,
            max=one.high,
            show_default=one.otherwise or True,
        )
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(one.name, kind, default=default, annotation=Annotated[what, info])


def _negated(one: Setting) -> bool:
    return one.option.startswith("--no-")


def command_line() -> str:
    """Return the command as it was typed, without what may be secret."""
    words = sys.argv[1:]
    if any("://" in word for word in words):
        from dialogauge.llm import without_credentials  # most commands name no URL

        words = [without_credentials(word) for word in words]
    return shown_path(shlex.join(["dialogauge", *words]))
