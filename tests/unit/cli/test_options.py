from __future__ import annotations

from dataclasses import field
from typing import Literal

import pytest
import typer
from typer.testing import CliRunner

from dialogauge.app.option_groups import LimitOptions
from dialogauge.cli.main import command_line as all_commands
from dialogauge.cli.options import AsJson, GroupedCommand, takes
from dialogauge.core import UsageError
from dialogauge.core.settings import argument, setting


class BasketOptions(LimitOptions):
    inputs: tuple[str, ...] = argument("FILE...", "What is read.")
    fruit: Literal["apple", "pear"] = setting("apple", "Which one.")
    sizes: tuple[int, ...] = setting((), "How large.", "--size", low=1)
    ripe: bool = setting(False, "Only what is ripe.")
    weight: float | None = setting(None, "How heavy.", "-w", "--weight")
    command: str = ""
    made: dict[str, int] = field(default_factory=dict)


taken: list[tuple[BasketOptions, bool]] = []
app = typer.Typer(rich_markup_mode=None)


@app.command(cls=GroupedCommand)
@takes(BasketOptions)
def pick(settings: BasketOptions, as_json: AsJson = False) -> None:
    """Pick fruit."""
    taken.append((settings, as_json))


def run(*words: str) -> BasketOptions:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return taken[-1][0]


def test_what_is_not_said_keeps_its_default() -> None:
    found = run("a")
    assert (found.inputs, found.fruit, found.sizes, found.ripe, found.weight) == (
        ("a",),
        "apple",
        (),
        False,
        None,
    )
    assert (found.cache, found.max_concurrency) == (True, 64)
    assert taken[-1][1] is False
    assert found.command.startswith("dialogauge")


def test_what_is_said_is_taken() -> None:
    found = run(
        "a", "b", "--fruit", "pear", "--size", "3", "--size", "4", "--ripe", "-w", "2", "--no-cache", "--json"
    )
    assert (found.inputs, found.fruit, found.sizes) == (("a", "b"), "pear", (3, 4))
    assert (found.ripe, found.weight, found.cache) == (True, 2.0, False)
    assert taken[-1][1] is True


def test_a_choice_that_is_not_known_is_named_as_on_the_command_line() -> None:
    with pytest.raises(UsageError, match="--fruit 'plum' is not one of apple, pear"):
        run("a", "--fruit", "plum")


def test_a_range_is_refused_before_anything_is_read() -> None:
    done = CliRunner().invoke(app, ["a", "--size", "0"])
    assert done.exit_code == 2
    assert "--size" in done.output


def test_help_puts_a_commands_own_options_before_those_of_groups() -> None:
    lines = CliRunner().invoke(app, ["--help"]).output.splitlines()
    headings = [line for line in lines if line[:1].isalpha() and line.endswith(":")]
    assert headings == ["Arguments:", "Options:", "Limits:", "Run:"]
    first = {line.split()[0]: n for n, line in enumerate(lines) if line.startswith("  ")}
    place = {heading: lines.index(heading) for heading in headings}
    assert place["Arguments:"] < first["FILE..."] < place["Options:"] < first["--fruit"] < place["Limits:"]
    assert place["Limits:"] < first["--max-calls"] < place["Run:"] < first["--json"] < first["--help"]
    assert not any("<" in line for line in lines if line.startswith("  FILE"))


@pytest.mark.parametrize("group", [[], ["annotate"], ["replay"]])
def test_the_list_of_commands_cuts_no_sentence(group: list[str]) -> None:
    listed = CliRunner().invoke(all_commands(), [*group, "--help"], terminal_width=80).output
    assert not [line for line in listed.partition("Commands:")[2].splitlines() if line.endswith("...")]
    assert "Commands:" in listed


def test_help_shows_defaults_and_choices() -> None:
    text = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    assert "--fruit apple|pear" in text
    assert "Requests in flight. [default: 64; 1<=x<=10000]" in text
    assert "--no-ripe" not in text
