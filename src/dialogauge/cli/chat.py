"""`dialogauge chat`: a person plays the user at the terminal, and rates the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from dialogauge.app.settings import ChatOptions
from dialogauge.cli.options import takes
from dialogauge.cli.terminal import TerminalObserver
from dialogauge.report import plain
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.agents import Scenario
    from dialogauge.annotate.questions import RatingQuestion

_END: Final = "/end"


@takes(ChatOptions)
def chat(options: ChatOptions) -> None:
    """Talk with a candidate yourself, and rate the session.

    Of several candidates one is drawn; its name is said when you have rated. The run holds the session like
    those of simulate, and ratings.jsonl in it your ratings.
    """
    from dialogauge.app.chat import RATINGS
    from dialogauge.app.chat import chat as play

    done = play(options, _Keyboard(), TerminalObserver(quiet=True))
    if done.failure is not None:
        typer.echo(f"dialogauge: {plain(done.failure)}", err=True)
        raise typer.Exit(1)
    typer.echo(f"\nYou talked with {plain(done.candidate)}.")
    typer.echo(plain(f"session {done.session}: {done.folder}"))
    typer.echo(plain(f"{counted(len(done.ratings), 'rating')}: {done.folder / RATINGS}"))


class _Keyboard:
    """Asks on standard output, and reads lines of standard input; its end leaves the session."""

    def open(self, scenario: Scenario) -> None:
        """Say what this is about."""
        user = scenario.user
        typer.echo(plain(f"You talk with {scenario.name}. {_END} leaves."))
        for name, value in (("You are", user.persona), ("You want", user.goal)):
            if value is not None:
                typer.echo(plain(f"{name}: {value}"))
        for name, fact in user.facts.items():
            typer.echo(plain(f"  {name}: {fact}"))

    def read(self, reply: str | None) -> str | None:
        """Show a reply, and read the next message."""
        if reply is not None:
            typer.echo(f"\n{plain(reply)}")
        while True:
            line = self._line("\nyou: ")
            if line is None or line == _END:
                return None
            if line:
                return line

    def score(self, question: RatingQuestion) -> float | None:
        """Ask for a score until there is one that the scale has, or none."""
        scale = question.scale
        typer.echo(f"\n{plain(question.text)}")
        for score, meaning in question.anchors.items():
            typer.echo(plain(f"  {score}: {meaning}"))
        while True:
            line = self._line(plain(f"{question.title} ({scale.low:g} to {scale.high:g}, empty: none): "))
            if not line:
                return None
            try:
                value = float(line)
            except ValueError:
                continue
            if scale.low <= value <= scale.high and (not scale.integer or value == int(value)):
                return value

    @staticmethod
    def _line(prompt: str) -> str | None:
        typer.echo(prompt, nl=False)
        try:
            return input().strip()
        except EOFError:
            return None
