"""A command run in the process of its test."""

from __future__ import annotations

import gc

from dialogauge.cli import main


def run_main() -> int:
    """Run the command that `sys.argv` names; return its exit code.

    A command's own process would end here. What it left is counted again by no later run, and freed.
    """
    thresholds = gc.get_threshold()
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
    raise AssertionError("a command ends its process")
