"""Writes docs/commands.md from the command line itself: `make docs`.

Reads the signatures that typer reads, so that no shell, no terminal width and no version of typer can
change a character of it. `--check` writes nothing and says whether the file is up to date.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from typer import Context, Typer
from typer.models import ArgumentInfo, OptionInfo

from dialogauge.app.settings import JudgeOptions
from dialogauge.cli.main import command_line
from dialogauge.core.settings import settings_of

TARGET = Path(__file__).resolve().parents[1] / "docs" / "commands.md"

HEAD = """\
# Command reference

<!-- Written by tools/command_reference.py (`make docs`); do not edit by hand. -->

"""

EXIT_CODES = """\
## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | something could not be read or written, an endpoint failed, or a limit was reached; results are kept |
| 2 | an option, rubric, configuration or role cannot be used; nothing was done |
| 3 | more judgements failed than `--max-failed` allows |
| 100 | a `--gate` was not met |
| 130 | interrupted with Ctrl-C; finished work is kept, and the same command continues |

If several hold, the code is the first of 130, 1, 3, 2, 100. Why one bad record gives 1:
[decision 4](decisions/0004-exit-codes-and-bad-input.md).
"""

# The codes of each command, with what one means there where the table alone does not say it.
ENDS = {
    "demo": "0, 1",
    "judge": "0, 1, 2, 3, 100, 130",
    "check": "0, 1",
    "formats": "0, 2 (no such format)",
    "report": "0, 1 (no finished run)",
    "show": "0, 1 (no finished run), 2 (no such conversation or turn)",
    "runs": "0 (also without runs), 1 (no such folder)",
    "compare": "0, 1 (an unfinished run), 2 (different rubrics, a log, a gate on what the runs lack), 100",
    "trust": "0, 1 (no finished run, sample not judged to its end), 2 (another judge)",
    "agreement": "0, 1, 2 (no matching ratings, scores or dimensions)",
    "export": "0, 1 (no finished run), 2 (unknown file ending, missing extra)",
    "pairs": "0, 1 (rows so far are written), 2 (also no pair with a winner), 3 (of what a model was asked)",
    "fit": "0, 1 (the fit is written all the same), 2 (too few ratings)",
    "satisfaction": "0, 1, 2, 3",
    "simulate": "0, 1, 2, 3 (of sessions), 130",
    "lookahead": "0, 1, 2, 3 (of scenarios), 130",
    "success": "0, 1 (a record, goal or table), 2, 100",
    "arena": "0, 1, 2 (agents that cannot be compared), 3 (of meetings without a verdict)",
    "chat": "0, 1 (no session), 2, 130",
    "doctor": "0, 1 (also for a model unfit to judge)",
    "annotate make": "0, 1 (the plan is written all the same), 2 (also nothing to rate, a folder in use)",
    "annotate import": "0, 1 (refused rows, others are kept; no plan in the folder)",
    "annotate status": "0, 1 (no plan in the folder)",
    "replay select": "0, 1, 2 (nothing to choose)",
    "replay collect": "0, 1, 2, 3 (of replies, above 5 %)",
    "replay score": "0, 1 (also an item gone from the data), 2, 3 (of replies, above 5 %)",
    "replay compare": "0, 2 (no scores, different items or evaluators)",
    "replay run": "0, 1, 2, 3, 130",
    "learn calibrate": "0, 1 (a file or a record), 2 (rates that the scores do not give)",
    "learn compare": "0, 1 (an unfinished run), 2 (unequal room, a file beside runs)",
    "learn dialogues": "0, 1 (a file, a record, a spent budget), 2 (nobody plays the users), 3 (of dialogues), 130",
    "learn run": "0, 1 (a file, a record, a spent budget), 2, 3 (of answers), 130",
    "learn systems": "0",
    "learn tasks": "0, 1 (a file or a record), 2 (no such data set)",
    "tune sft": "0, 1 (a file, a record, a folder in use), 2, 130",
    "tune dpo": "0, 1 (a file, a record, a folder in use), 2, 130",
    "tune dspo": "0, 1 (a file, a record, a folder in use), 2, 130",
    "tune grpo": "0, 1 (a file, a record, a folder in use, a spent budget), 2, 130",
    "tune gsrpo": "0, 1 (a file, a record, a folder in use, a spent budget), 2, 130",
    "tune compare": "0, 1 (a file), 2 (no sessions with held-out personas)",
    "init": "0, 1",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument or option as a reader needs to know it."""

    name: str
    flags: tuple[str, ...]
    """Empty for an argument."""
    value: str | None
    """What follows the flag; None for a switch."""
    help: str
    default: str | None
    """As Markdown; None when there is nothing to say."""
    required: bool
    repeatable: bool
    heading: str | None
    """Of the group that it belongs to in `--help`."""

    @property
    def flag(self) -> str:
        """Return its long name."""
        return self.flags[-1]

    def line(self) -> str:
        """Write it as an item of a list."""
        names = ", ".join(self.flags) or self.value or self.name
        head = f"`{names} {self.value}`" if self.flags and self.value else f"`{names}`"
        notes = ["required"] if self.required and self.flags else []
        notes += [f"default: {self.default}"] if self.default else []
        notes += ["repeatable"] if self.repeatable else []
        said = f" ({'; '.join(notes)})" if notes else ""
        return f"- {head}{said}: {self.help}"


def commands() -> dict[str, Callable[..., Any]]:
    """Return the functions behind the commands, in the order of `dialogauge --help`."""
    app = command_line()
    found = _named(app)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            inner = _named(group.typer_instance)
            found |= {f"{group.typer_instance.info.name} {name}": call for name, call in inner.items()}
    return found


def _named(typer_app: Typer) -> dict[str, Callable[..., Any]]:
    return {
        info.name or info.callback.__name__.replace("_", "-"): info.callback
        for info in typer_app.registered_commands
        if info.callback is not None
    }


def parameters(command: Callable[..., Any]) -> list[Parameter]:
    """Read the arguments and options of a command off its signature."""
    signature = inspect.signature(command, eval_str=True)
    return [_parameter(p) for p in signature.parameters.values() if p.annotation is not Context]


def flags_of(name: str) -> set[str]:
    """Return every flag that a command knows, `--help` included."""
    found = {flag for p in parameters(commands()[name]) for flag in p.flags}
    return {part for flag in found for part in flag.split("/")} | {"--help"}


def render() -> str:
    """Return the whole page."""
    shared = _shared()
    places = {one: str(one.heading) for one in shared.values()}
    groups: dict[str, list[str]] = {}
    for one in shared.values():
        groups.setdefault(str(one.heading), []).append(one.flag)
    sections = []
    for name, command in commands().items():
        sections.append(_section(name, command, places, groups))
        places = {one: f"dialogauge {name}" for one in parameters(command) if one.flags} | places
    return HEAD + "\n".join([_overview(), "", *sections, _shared_section(shared), EXIT_CODES])


def _shared() -> dict[str, Parameter]:
    """Return by flag the options of groups, in the words that most commands have for them."""
    wordings: dict[str, Counter[Parameter]] = {}
    for command in commands().values():
        for one in parameters(command):
            if one.flags and one.heading:
                wordings.setdefault(one.flag, Counter())[one] += 1
    most = {flag: count.most_common(1)[0] for flag, count in wordings.items()}
    return {flag: one for flag, (one, times) in most.items() if times > 1}


def _shared_section(shared: dict[str, Parameter]) -> str:
    lines = ["## Shared options", ""]
    for heading in dict.fromkeys(one.heading for one in shared.values()):
        lines += [f"### {heading}", ""]
        lines += [*(one.line() for one in shared.values() if one.heading == heading), ""]
    return "\n".join(lines)


def _elsewhere(options: list[Parameter], places: dict[Parameter, str]) -> dict[str, list[Parameter]]:
    """Return by heading the options that are described there; for one alone no command is worth a link."""
    found: dict[str, list[Parameter]] = {}
    for one in options:
        if one in places:
            found.setdefault(places[one], []).append(one)
    return {at: part for at, part in found.items() if len(part) > 1 or not at.startswith("dialogauge ")}


def _link(heading: str) -> str:
    return f"[{heading}](#{heading.lower().replace(' ', '-')})"


def _overview() -> str:
    names = [f"[`{name}`](#dialogauge-{name.replace(' ', '-')})" for name in commands()]
    return "\n".join(
        [
            f"[What each does](../README.md#commands): {', '.join(names)}.",
            "",
            "`dialogauge COMMAND --help` prints the same. Ctrl-C keeps what is done, and the same command continues.",
            "",
            _configured(),
        ]
    )


def _configured() -> str:
    keys = ", ".join(f"`{one.key}`" for one in settings_of(JudgeOptions).values() if one.key is not None)
    return (
        f"Under `[judge]` in [`dialogauge.toml`](file-formats.md#configuration) you can set {keys}. The command line "
        "comes first, then the file, the environment, and the default."
    )


def _section(
    name: str, command: Callable[..., Any], places: dict[Parameter, str], groups: dict[str, list[str]]
) -> str:
    found = parameters(command)
    elsewhere = _elsewhere([p for p in found if p.flags], places)
    linked = {p for part in elsewhere.values() for p in part}
    here = [p for p in found if p not in linked]
    arguments = [p for p in here if not p.flags]
    usage = " ".join([f"dialogauge {name}", *(p.value or p.name for p in arguments), "[OPTIONS]"])
    lines = [f"## dialogauge {name}", "", " ".join(_paragraphs(command)), "", f"    {usage}", ""]
    lines += [p.line() for p in (*arguments, *(p for p in here if p.flags))]
    known = {flag for p in found for flag in p.flags}
    others = {
        at: _which(part, [f for f in groups.get(at, ()) if f not in known], whole=at in groups)
        for at, part in elsewhere.items()
    }
    lines += [f"- {_link(at)}{which}" for at, which in others.items() if which]
    if entire := [_link(at) for at, which in others.items() if not which]:
        lines.append(f"- All of {', '.join(entire)}")
    return "\n".join([*lines, "", f"[Exit](#exit-codes): {ENDS[name]}", ""])


def _which(part: list[Parameter], lacking: list[str], *, whole: bool) -> str:
    """Say which options of a heading there are: all, all but some, or these."""
    if not whole or 2 * len(lacking) > len(part):
        return f": {', '.join(map(_named_only, part))}"
    return f", without {', '.join(f'`{flag}`' for flag in lacking)}" if lacking else ""


def _named_only(one: Parameter) -> str:
    return f"`{one.flag}` (required)" if one.required else f"`{one.flag}`"


def _paragraphs(command: Callable[..., Any]) -> list[str]:
    text = inspect.getdoc(command) or ""
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _parameter(found: inspect.Parameter) -> Parameter:
    annotation, info = _described(found)
    kind, many = _plain_type(annotation)
    switch = kind is bool
    required = found.default is inspect.Parameter.empty
    argument = isinstance(info, ArgumentInfo)
    return Parameter(
        name=found.name,
        flags=() if argument else _flags(found.name, info, switch=switch),
        value=None if switch else info.metavar or _value_name(kind, info),
        help=(info.help or "").strip(),
        default=_default(found, info, switch=switch),
        required=required,
        repeatable=many and not argument,
        heading=info.rich_help_panel,
    )


def _described(found: inspect.Parameter) -> tuple[Any, Any]:
    if get_origin(found.annotation) is Annotated:
        annotation, *extras = get_args(found.annotation)
        for extra in extras:
            if isinstance(extra, OptionInfo | ArgumentInfo):
                return annotation, extra
    message = f"the parameter {found.name} is not annotated with typer.Option or typer.Argument"
    raise TypeError(message)


def _plain_type(annotation: Any) -> tuple[Any, bool]:  # noqa: ANN401 - any annotation
    """Return the type of one value, and whether there may be several."""
    if get_origin(annotation) in (Union, UnionType):  # one and the same from Python 3.14 on
        annotation = next(a for a in get_args(annotation) if a is not NoneType)
    if get_origin(annotation) is list:
        return get_args(annotation)[0], True
    return annotation, False


def _flags(name: str, info: OptionInfo, *, switch: bool) -> tuple[str, ...]:
    # Inside Annotated the first name that was declared stands where a default would otherwise stand.
    declared = (info.default, *(info.param_decls or ()))
    named = tuple(d for d in declared if isinstance(d, str) and d.startswith("-"))
    plain = name.replace("_", "-")
    return named or ((f"--{plain}/--no-{plain}",) if switch else (f"--{plain}",))


def _value_name(kind: Any, info: Any) -> str:  # noqa: ANN401 - types and typer's own records
    if info.min is not None and info.max is not None:
        return f"{info.min}-{info.max}"
    return {int: "N", float: "X"}.get(kind, "TEXT")


def _default(found: inspect.Parameter, info: Any, *, switch: bool) -> str | None:  # noqa: ANN401 - typer's own
    if found.default is inspect.Parameter.empty:
        return None
    if isinstance(info.show_default, str):
        return info.show_default
    value = found.default
    if value in (None, ()) or (switch and value is False):
        return None
    return "on" if value is True else f"`{value}`"


def main() -> int:
    """Write the page, or check it; return the exit code."""
    text = render()
    if "--check" in sys.argv[1:]:
        if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
            return 0
        print(f"{TARGET} is stale: run `make docs`", file=sys.stderr)
        return 1
    TARGET.write_text(text, encoding="utf-8")
    print(TARGET)
    return 0


if __name__ == "__main__":
    sys.exit(main())
