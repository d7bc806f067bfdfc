"""`--reference RUN`: the original replies of the blocks, read from another satisfaction run."""

from __future__ import annotations

from dialogauge.app.runs import open_run
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.bench.satisfaction import Answer, Study, reference_answers
from dialogauge.core.errors import UsageError

__all__ = ["read_reference"]


def read_reference(options: SatisfactionOptions, study: Study) -> tuple[Answer, ...] | None:
    """Return what the reference run says of the original replies; None where no run was named.

    Raises UsageError when it is a run of another kind, holds nothing of the blocks that are judged, or could
    not be joined because ids are to be hidden.
    """
    if options.reference is None:
        return None
    if options.hash_ids:
        msg = "--reference and --hash-ids cannot be combined: every run hides its ids in a way of its own"
        raise UsageError(msg, hint="judge openly, and hide the ids with `dialogauge report RUN --hash-ids`")
    with open_run(options.reference) as run:
        if "calibrate" not in run.manifest["settings"]:
            msg = f"the reference {options.reference} is no satisfaction run"
            raise UsageError(msg, hint="judge the original replies with `dialogauge satisfaction` first")
        blocks = {b.view.id for b in study.blocks if b.view.history}
        return reference_answers(run.judged(), options.dimension, blocks, options.reference)
