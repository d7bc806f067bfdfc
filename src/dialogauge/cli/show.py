"""`dialogauge show`: one conversation of a run on the terminal."""

from __future__ import annotations

from dialogauge.app.settings import ShowOptions
from dialogauge.cli.options import takes


@takes(ShowOptions)
def show(options: ShowOptions) -> None:
    """Print one conversation of a run.

    Each turn is shown with what people and the judge say about it.
    """
    from dialogauge.app.show import conversation_of
    from dialogauge.cli.terminal import print_blocks

    print_blocks(conversation_of(options))
