"""`--redact` and `--hash-ids` of the satisfaction study: what is judged, stored, sent and shown is masked.

Users are split by their own ids before these are hidden, so the same users are judged as in an open run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialogauge.app.privacy import Privacy, mask_for_writing
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.bench.satisfaction import Study, plan_study
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError
from dialogauge.data import Mask, UserSplit
from dialogauge.data.notes import Note
from dialogauge.store import RunDatabase

__all__ = ["mask_of_study", "masked_study", "masked_words"]


def mask_of_study(options: SatisfactionOptions, database: RunDatabase | None) -> Mask | None:
    """Return the mask that was asked for; None for an open run.

    Raises UsageError when the run holds judgements under another setting.
    """
    return mask_for_writing(database, Privacy(options.redact, options.hash_ids))


def masked_study(
    conversations: Mapping[str, Conversation], study: Study, options: SatisfactionOptions, mask: Mask
) -> tuple[dict[str, Conversation], Study]:
    """Return conversations and study masked, with the same users on either side of the split.

    Args:
        conversations: By id, as they were read.
        study: Planned from them.
        options: What the study was planned with.
        mask: What hides.
    """
    found = {c.id: c for c in map(mask.conversation, conversations.values())}
    lonely = {b.view.user for b in study.blocks if not b.view.history} - study.split.train
    test = study.split.test | (lonely if options.split_file is None else set())
    split = UserSplit(_hidden(study.split.train, mask), _hidden(test, mask))
    again = plan_study(
        found.values(),
        part=options.part,
        split=split,
        dimension=mask.text(options.dimension),
        sight=options.mode,
        history=options.history,
    )
    return found, again


def masked_words(
    faults: Sequence[InputError], notes: Sequence[object], mask: Mask | None
) -> tuple[tuple[InputError, ...], tuple[str, ...]]:
    """Return faults and notes without excerpts of the data."""
    if mask is None:
        return tuple(faults), tuple(str(n) for n in notes)
    told = (str(mask.note(n) if isinstance(n, Note) else n) for n in notes)
    return tuple(mask.fault(f) for f in faults), tuple(told)


def _hidden(users: frozenset[str] | set[str], mask: Mask) -> frozenset[str]:
    return frozenset(mask.id("user", name) for name in users)
