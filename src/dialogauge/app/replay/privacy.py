"""`--redact` and `--hash-ids` of a replay benchmark: one mask for an item set and all that is read for it.

Turns are chosen from the open data, so that they are those of an open benchmark, and then hidden. The item
set keeps the mask with its salt: conversations are hidden again whenever they are read again, so what
candidates and evaluators are shown, and what is stored and written, was masked before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dialogauge.app.privacy import OPEN, Privacy, hidden_turn, new_salt
from dialogauge.bench.replay import ItemSet, ReplayItem, state_digest
from dialogauge.bench.satisfaction import Study
from dialogauge.core.errors import InputError, UsageError
from dialogauge.data import Mask

__all__ = ["ReplyMask", "hidden_items", "mask_for_items", "mask_of_items"]

_KEY = "privacy"


def mask_of_items(items: ItemSet) -> Mask | None:
    """Return the mask of an item set; None when it is open."""
    kept = items.data.get(_KEY)
    return None if kept is None else Mask(kept["redact"], kept["hash_ids"], bytes.fromhex(kept["salt"]))


def mask_for_items(asked: Privacy, held: ItemSet | None, path: str) -> Mask | None:
    """Return the mask under which turns are chosen; None for an open set.

    Args:
        asked: What is to be hidden.
        held: The item set that the run has already: its mask is taken.
        path: The run, for the message.

    Raises:
        UsageError: The run's items were chosen under another setting.
    """
    if held is None:
        return None if asked == OPEN else Mask(asked.redact, asked.hash_ids, new_salt())
    mask = mask_of_items(held)
    before = OPEN if mask is None else Privacy(mask.redact, mask.hash_ids)
    if before != asked:
        msg = f"the items of {path} were chosen {f'with {before.words}' if before.words else 'openly'}"
        change = f"add {before.words}" if before.words else f"drop {asked.words}"
        raise UsageError(msg, hint=f"{change}, or choose another directory with -o")
    return mask


def hidden_items(items: ItemSet, study: Study, mask: Mask) -> ItemSet:
    """Return the same turns under hidden ids, with the mask beside them.

    Args:
        items: Chosen from the open data.
        study: The data masked.
        mask: What it was masked with.
    """
    rated = {r.reply.id: (block.view, r.reply) for block in study.blocks for r in block.ratings}
    found = []
    for item in items.items:
        view, reply = rated[hidden_turn(mask, item.id)]
        found.append(
            replace(
                item,
                id=reply.id,
                conversation=reply.conversation.id,
                block=view.id,
                user=view.user,
                scenario=view.scenario,
                state=state_digest(reply.before),
            )
        )
    kept = {"redact": mask.redact, "hash_ids": mask.hash_ids, "salt": mask.salt.hex()}
    scenarios = dict(Counter(i.scenario for i in found).most_common())
    card = {**items.card, "scenarios": scenarios}
    return replace(items, items=tuple(found), data={**items.data, _KEY: kept}, card=card)


@dataclass(frozen=True, slots=True)
class ReplyMask:
    """Hides what candidates' replies hold; without a mask it changes nothing."""

    mask: Mask | None = None
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By conversation as it is shown: its own ids, and what is shown in their place."""

    def text(self, item: ReplayItem, text: str) -> str:
        """Return a reply to an item as it may be stored."""
        return text if self.mask is None else str(self.mask.value(text, self.names.get(item.conversation)))

    def fault(self, fault: InputError) -> InputError:
        """Return a fault without excerpts of replies."""
        return fault if self.mask is None else self.mask.fault(fault)

    def turn(self, name: str) -> str:
        """Return the id of a turn of the open data as it may be shown."""
        return name if self.mask is None else hidden_turn(self.mask, name)
