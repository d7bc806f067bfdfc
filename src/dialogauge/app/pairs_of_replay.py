"""Preference pairs from a replay run: of two replies to one state the one that its evaluator prefers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.app.merging import references
from dialogauge.app.settings import PairOptions
from dialogauge.core.errors import UsageError
from dialogauge.runs import StoredRun
from dialogauge.training import Fork, dpo_row, plain_message, unfit

Row = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A training row, and where it comes from."""


def replay_pairs(run: StoredRun, options: PairOptions, left_out: Counter[str]) -> Iterator[Row]:
    """Yield a pair for any two replies of which one is preferred, masked as the run is shown.

    Raises UsageError where another kind of rows, or a reply from elsewhere, is asked for, and where nobody
    scored the run.
    """
    from dialogauge.studies.replay.states import ReplayStates, winners

    if options.kind != "dpo" or options.chosen_field is not None or references(options):
        msg = f"{run.directory.path} is a replay run, which gives preference pairs of its own replies alone"
        raise UsageError(msg, hint="--kind dpo, without --model, --role and --chosen-field")
    states = ReplayStates.scored(run)
    for state in states:
        conversation, texts = state.original.conversation, state.texts
        if run.mask is not None:
            names = run.mask.names(conversation.id, conversation.user_id)
            conversation, texts = run.mask.conversation(conversation), run.mask.value(texts, names)
        before = conversation.messages[:-1]
        for a, b, winner in winners(states, state):
            better, worse = (b, a) if winner == "b" else (a, b)
            if winner == "tie":
                left_out["a tie"] += 1
            elif why := unfit(before):
                left_out[why] += 1
            else:
                prompt = tuple(map(plain_message, before))
                fork = Fork(conversation.id, state.original.turn, prompt, texts[worse], ())
                row = state.rows.get(worse, {})
                yield (
                    dpo_row(fork, texts[better]),
                    {
                        "conversation_id": conversation.id,
                        "turn": fork.turn,
                        "source": "judge",
                        "rating": None,
                        "judge": states.judge,
                        "prompt_digest": row.get("prompt_digest"),
                        "verdict": None,
                        "quality": None if states.by_pairs else states.quality(row),
                        "issues": row.get("issues", []),
                        "chosen_from": f"replies of {better}",
                        "rejected_from": f"replies of {worse}",
                    },
                )
