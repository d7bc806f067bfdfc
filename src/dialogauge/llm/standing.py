"""What a client knows of its endpoint as a whole: whether it ever answered, and whether it is of use."""

from __future__ import annotations

from dialogauge.core.errors import EndpointError
from dialogauge.llm.patience import Patience
from dialogauge.llm.refusals import Problem

__all__ = ["Standing"]


class Standing:
    """Tells problems of the endpoint from problems of one item."""

    def __init__(self) -> None:
        self.proven = False
        """Whether it ever gave a proper answer."""
        self.of_no_use: EndpointError | None = None
        """The latest error that ended an item for the endpoint's sake."""
        self._heard = float("-inf")

    def heard(self, now: float) -> None:
        """Note that it said something, whatever it was."""
        self._heard = now

    def end_with_others(self, known: EndpointError | None) -> None:
        """Raise the `EndpointError` that another item met, unless it is the one that is known.

        Without it every item in flight would find out for itself, and while the first ones wait for the
        probe of schema support even one after the other.
        """
        if self.of_no_use is not None and self.of_no_use is not known:
            raise EndpointError(self.of_no_use.message, hint=self.of_no_use.hint)

    def is_lost(self, problem: Problem, patience: Patience, *, probing: bool) -> bool:
        """Say whether a problem that outlasted all patience is the endpoint's and not the item's.

        Args:
            problem: What the last attempt came to.
            patience: Of the item.
            probing: Whether the item is a probe of schema support.
        """
        if problem.remedy == "endpoint":
            return problem.status != 403
        if problem.unreached:
            # It went away half-way. That must fail no item: what was not judged stays to be done.
            return not self.proven or (patience.unreached > 1 and self._heard < patience.unreached_since)
        if self.proven:
            return False
        # A probe asks next to nothing: a server that never answers it will not answer any other question.
        silent = probing and problem.kind == "timeout" and self._heard == float("-inf")
        return silent or (problem.status == 200 and problem.kind != "empty_reply")
