"""What may be wrong with a simulated user: the record alone, for pages and runs that look for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

UserFaultKind = Literal[
    "speaks_as_other",
    "repeats_itself",
    "goal_given_away",
    "tells_unasked",
    "stops_early",
    "goes_on",
    "never_objects",
    "unused_facts",
]
USER_FAULTS: Final[tuple[UserFaultKind, ...]] = get_args(UserFaultKind)


@dataclass(frozen=True, slots=True)
class UserFault:
    """One fault of a simulated user."""

    kind: UserFaultKind
    turn: int | None
    """1-based; None for what shows in no single turn."""
    quote: str
    """The words that show it, verbatim, at most 160 characters; of an unused fact the fact."""
    detail: str = ""
    """How it shows: a way of `speaks_as_other`, names of facts, the turn that is repeated."""
