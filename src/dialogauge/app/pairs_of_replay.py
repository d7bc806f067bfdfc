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
    from dialogauge.studies.replay.preferred import by_pairs, quality, rows_by_state, winners

    if options.kind != "dpo" or options.chosen_field is not None or references(options):
        msg = f"{run.directory.path} is a replay run, which gives preference pairs of its own replies alone"
        raise UsageError(msg, hint="--kind dpo, without --model, --role and --chosen-field")
    for state, rows in rows_by_state(run).items():
        talks = {str(talk.candidate): talk for talk in run.conversations([state]) if talk.messages}
        for a, b, winner in winners(run, rows):
            better, worse = (b, a) if winner == "b" else (a, b)
            if winner == "tie":
                left_out["a tie"] += 1
            elif why := unfit(talks[worse].messages[:-1]):
                left_out[why] += 1
            else:
                row, talk = rows.get(worse, {}), talks[worse]
                prompt = tuple(map(plain_message, talk.messages[:-1]))
                fork = Fork(talk.id, next(iter(rows.values()))["turn"], prompt, talk.messages[-1].text, ())
                yield (
                    dpo_row(fork, talks[better].messages[-1].text),
                    {
                        "conversation_id": talk.id,
                        "turn": fork.turn,
                        "source": "judge",
                        "rating": None,
                        "judge": run.manifest.judge["name"],
                        "prompt_digest": row.get("prompt_digest"),
                        "verdict": None,
                        "quality": None if by_pairs(run) or not row else quality(run, row),
                        "issues": row.get("issues", []),
                        "chosen_from": f"replies of {better}",
                        "rejected_from": f"replies of {worse}",
                    },
                )
