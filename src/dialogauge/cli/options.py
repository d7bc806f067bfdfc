"""Options that several commands share, each said once; a command's own stand in its file."""

from __future__ import annotations

from typing import Annotated

import typer

_REDACT = "Replace phone numbers, e-mails, card and identity numbers by [phone], [email], [card], [id]."
_HASH_IDS = "Replace the ids of users and conversations by digests that stay the same within a run."
_MODEL = "Model at an OpenAI-compatible endpoint; short for --role judge=MODEL@URL#KEYVAR."
_ROLES = (
    "judge=... or memory_builder=...: MODEL@URL#KEYVAR, NAME (from [roles]), file:PATH or py:MODULE:NAME."
)
_TIES = "Equal raw scores: kept equal, or ordered as the published calibrations do."
_PROMPT = "The whole history, or what the published prompt keeps."
_MAX_FAILED = "Share of failures above which the exit code is 3."

# What is read
RunDirectory = Annotated[str, typer.Argument(metavar="RUN", help="A run directory.")]
RatedData = Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated conversations, or a run.")]
Format = Annotated[str | None, typer.Option(help="Force a format instead of recognising it.")]
Map = Annotated[str | None, typer.Option("--map", help="TOML file: your field names.")]
Ratings = Annotated[str | None, typer.Option(help="People's ratings, joined by id.")]
Dimension = Annotated[str, typer.Option(help="The rated dimension.")]
SplitFile = Annotated[str | None, typer.Option(help="JSON {train: [users], test: [users]}, else by seed.")]
Config = Annotated[str | None, typer.Option(help="Configuration file (else ./dialogauge.toml).")]

# How it is judged
History = Annotated[str, typer.Option(metavar="all|prompt", help=_PROMPT)]
Ties = Annotated[str, typer.Option(metavar="mid|turn-index|sample-id", help=_TIES)]

# Models
Model = Annotated[str | None, typer.Option(help=_MODEL)]
BaseUrl = Annotated[str | None, typer.Option(help="The endpoint, e.g. http://localhost:8000/v1.")]
ItsBaseUrl = Annotated[str | None, typer.Option(help="Its endpoint.")]
KeyEnv = Annotated[str | None, typer.Option(help="Variable that holds the key.")]
ItsKeyEnv = Annotated[str | None, typer.Option(help="Variable that holds its key.")]
JudgeRole = Annotated[list[str] | None, typer.Option(metavar="judge=M@U#K", help="As in judge.")]
Roles = Annotated[list[str] | None, typer.Option(metavar="ROLE=M@U#K", help=_ROLES)]
Prices = Annotated[str | None, typer.Option(help="TOML file of prices per million tokens.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Do not use the response cache.")]

# Limits
Concurrency = Annotated[int, typer.Option(min=1, help="Requests in flight at most.")]
SetConcurrency = Annotated[int | None, typer.Option(min=1, help="Requests in flight at most.")]
MaxCalls = Annotated[int | None, typer.Option(min=0, help="Stop after N calls.")]
MaxCost = Annotated[float | None, typer.Option(min=0, help="Stop at this cost; needs prices.")]
MaxFailed = Annotated[float | None, typer.Option(min=0, max=1, help=_MAX_FAILED)]

# What is done, kept and shown
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Judge what failed again.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget what the run holds.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Redact = Annotated[bool, typer.Option("--redact", help=_REDACT)]
HashIds = Annotated[bool, typer.Option("--hash-ids", help=_HASH_IDS)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
AsBareJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def check(option: str, value: str, known: tuple[str, ...]) -> None:
    """Raise UsageError for a value that an option does not know."""
    from dialogauge.core.errors import UsageError

    if value not in known:
        msg = f"{option} {value!r} is not known"
        raise UsageError(msg, hint=f"one of: {', '.join(known)}")
