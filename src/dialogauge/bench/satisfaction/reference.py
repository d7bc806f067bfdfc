"""The original replies of the blocks, as another run judged them: what reference calibrations stand on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from dialogauge.bench.satisfaction.answers import Answer, stored_raw
from dialogauge.bench.satisfaction.ratings import collect_rated
from dialogauge.core import Conversation, UsageError

__all__ = ["reference_answers"]

_SHOWN = 5


def reference_answers(
    judged: Iterable[tuple[Conversation, Sequence[Mapping[str, Any]]]],
    dimension: str,
    blocks: Collection[str],
    name: str,
) -> tuple[Answer, ...]:
    """Return the raw scores of the original replies, with what the users gave them.

    Args:
        judged: Each conversation of the reference run, with its rows.
        dimension: The rated one.
        blocks: Those that are judged; the others are left out.
        name: Of the reference run, for messages.

    Raises:
        UsageError: The run holds no scored turn of any of the blocks.
    """
    out: list[Answer] = []
    seen: set[str] = set()
    for conversation, rows in judged:
        user, scenario = conversation.user_id, conversation.scenario
        block = f"{user}__{scenario}"
        if user is None or scenario is None:
            continue
        seen.add(block)
        if block not in blocks:
            continue
        said = {str(r["details"]["turn_id"]): r for r in rows if r["failure"] is None}
        for rated in collect_rated(conversation, dimension).replies:
            row = said.get(rated.reply.id)
            raw = None if row is None else stored_raw(row)
            if raw is None:
                continue
            out.append(
                Answer(
                    id=rated.reply.id,
                    block=block,
                    user=user,
                    scenario=scenario,
                    position=rated.reply.position,
                    length=len(rated.reply.text),
                    gold=rated.score,
                    reason=rated.reason,
                    history=True,
                    score=None,
                    value=raw,
                )
            )
    if not out:
        wanted, held = (", ".join(sorted(names)[:_SHOWN]) or "none" for names in (blocks, seen))
        msg = f"the reference run {name} holds no scored turn of the blocks that are judged"
        raise UsageError(msg, hint=f"judged are {wanted}; the reference holds {held}")
    return tuple(out)
