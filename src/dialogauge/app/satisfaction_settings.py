"""Settings that belong to some judges of the satisfaction study only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.core.errors import UsageError
from dialogauge.judge.encoder import ENCODER_JUDGES
from dialogauge.judge.history import STRATEGIES

__all__ = ["refuse_settings_of_others"]

_RETRIEVING: Final = ("episodic-nearest", "rag")
_OWNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "strategy": _RETRIEVING,
    "k": _RETRIEVING,
    "encoder": ENCODER_JUDGES,
    "signal": ("local-user",),
}
_READS_WHAT_FOLLOWS: Final = ("local", "local-user")
_OF_SESSIONS: Final = (
    "global-mean",
    "global-majority",
    "task-mean",
    "task-majority",
    "history-mean",
    "history-median",
    "history-majority",
    "history-cdf-hash",
    "memory",
    "zero-shot",
)
"""Those that read no reply, and those with a rubric for sessions; the others read one reply alone."""


def refuse_settings_of_others(options: SatisfactionOptions) -> None:
    """Raise UsageError for a setting that the judge does not have: it would change nothing."""
    name = options.judge
    given = {
        "strategy": options.strategy,
        "k": options.k,
        "encoder": options.encoder,
        "signal": options.signals or None,
    }
    for setting, owners in _OWNERS.items():
        if given[setting] is not None and name not in owners:
            msg = f"the judge {name} takes no --{setting}"
            raise UsageError(msg, hint=f"it belongs to {' and '.join(owners)}")
    if options.strategy is not None and options.strategy not in STRATEGIES:
        msg = f"--strategy {options.strategy!r} is not known"
        raise UsageError(msg, hint=f"there are {', '.join(STRATEGIES)}")
    if options.level == "session" and name not in _OF_SESSIONS:
        msg = f"the judge {name} reads single replies, not sessions"
        raise UsageError(msg, hint=f"--level session has {', '.join(_OF_SESSIONS)}")
    if options.mode != "foresight" and name not in _READS_WHAT_FOLLOWS:
        msg = f"the judge {name} reads nothing that follows a reply"
        raise UsageError(msg, hint="leave --mode out")
