"""`dialogauge init`: a commented configuration and a sample to start from."""

from __future__ import annotations

from typing import Annotated

import typer


def init(
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", help="Where to.")] = ".",
) -> None:
    """Write a configuration and a sample log.

    The configuration is a commented dialogauge.toml. Existing files are kept.
    """
    from dialogauge.app.init import write_starter
    from dialogauge.report import plain

    for path, new in write_starter(directory):
        typer.echo(plain(f"{'wrote' if new else 'kept '} {path}"))
    typer.echo("next: dialogauge judge sample.jsonl")
