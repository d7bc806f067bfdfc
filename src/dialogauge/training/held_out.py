"""What a model is worth before and after: the same sessions with held-out personas, scored and paired.

The users and their seeds are the same before and after. The judge that was trained for scores them, and
where there is one a second that was no reward. A gain by a judge is not one by people.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from dialogauge.core import digest_text
from dialogauge.stats import Comparison, adjusted, compare_gain, gain_of_sums
from dialogauge.training.policy import Policy
from dialogauge.training.rollouts import PolicyModel, RolloutPrompt, SessionPlayer
from dialogauge.training.train_settings import PlaySettings
from dialogauge.training.tuning import PlayedGain

HELD_OUT_FILE: Final = "held_out.jsonl"
"""In the folder of a tuning: the sessions with held-out personas, before and after."""
_SIDE_BY_SIDE: Final = 16
"""Sessions that are played at once."""
Row = Mapping[str, Any]
By = Literal["reward", "second", "people"]
"""Who scored: the judge that was trained for, one that was no reward, people."""
SCORED: Final[Mapping[By, str]] = {"reward": "scores", "second": "second", "people": "people"}
"""Where the scores of a row stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutPersonas:
    """Personas that no training saw, and who plays with them and scores."""

    prompts: Sequence[RolloutPrompt]
    player: SessionPlayer
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    """Runs a coroutine to its end."""
    settings: PlaySettings
    each: int = 1
    """Sessions of each."""
    seed: int = 0

    def play(self, policy: Policy, arm: str) -> Iterator[Row]:
        """Yield the sessions of a model, as rows; the users and their seeds are the same for every model."""
        model = PolicyModel(policy.model, policy.tokenizer, self.settings)
        numbered = [(p, f"{i + 1}.{k + 1}") for k in range(self.each) for i, p in enumerate(self.prompts)]
        for start in range(0, len(numbered), _SIDE_BY_SIDE):
            part = numbered[start : start + _SIDE_BY_SIDE]
            prompts, names = [p for p, _ in part], [f"{p.persona}/{number}" for p, number in part]
            seeds = [int(digest_text(f"{self.seed}\x1fheld out\x1f{name}")[:7], 16) for name in names]
            rollouts = self.run(self.player.play(model, prompts, names, seeds))
            yield from ({**rollout.to_row(), "candidate": arm} for rollout in rollouts)


def mean_score(row: Row, judge: By, dimension: str | None = None) -> float | None:
    """Return what a judge gave a session: of a dimension, or the mean of all; None where it failed."""
    scores = row[SCORED[judge]]
    if not scores:
        return None
    return statistics.fmean(scores.values()) if dimension is None else scores.get(dimension)


def gains_of(
    before: Sequence[Row],
    after: Sequence[Row],
    names: Mapping[By, str],
    limits: tuple[float, float],
) -> tuple[PlayedGain, ...]:
    """Return the gains by each judge, over all dimensions and by each.

    Args:
        before: Rows of the model before.
        after: Those of the model after, with the same ids.
        names: Of the judges.
        limits: Of scores.
    """
    made: list[PlayedGain] = []
    for dimensions in (False, True):
        measured: list[tuple[By, str | None]] = []
        for judge in names:
            known = dict.fromkeys(name for row in before for name in row[SCORED[judge]] or ())
            measured += [(judge, name) for name in known] if dimensions else [(judge, None)]
            if dimensions and len(known) == 1:
                measured.pop()  # it is the mean
        paired = [paired_gain(before, after, judge, name, limits) for judge, name in measured]
        comparisons = adjusted([comparison for comparison, _ in paired])
        made += [
            PlayedGain(
                judge=judge,
                name=names[judge],
                dimension=name,
                comparison=comparison,
                sessions=counts["both"],
                failed=counts["failed"],
                scale=limits,
            )
            for (judge, name), comparison, (_, counts) in zip(measured, comparisons, paired, strict=True)
        ]
    return tuple(made)


def paired_gain(
    before: Iterable[Row],
    after: Iterable[Row],
    judge: By,
    dimension: str | None,
    limits: tuple[float, float],
) -> tuple[Comparison, Counter[str]]:
    """Compare the sessions of one id, clustered by persona; and count those with and without both scores."""
    first = {row["id"]: mean_score(row, judge, dimension) for row in before}
    counts, pairs = Counter[str](), dict[str, list[tuple[float, float]]]()
    for row in after:
        old, new = first.get(row["id"]), mean_score(row, judge, dimension)
        if old is None or new is None:
            counts["failed"] += 1
        else:
            counts["both"] += 1
            pairs.setdefault(row["scenario"], []).append((old, new))
    sizes = np.array([len(of) for of in pairs.values()], dtype=float)
    sums = [np.array([sum(pair[i] for pair in of) for of in pairs.values()], dtype=float) for i in (0, 1)]
    gain, basis = gain_of_sums(
        (sums[0], sizes), (sums[1], sizes), limits=limits, unit="personas", paired=True
    )
    total = sizes.sum()
    values = tuple(float(of.sum() / total) if total else None for of in sums)
    return compare_gain(("after", "before"), "score", (values[1], values[0]), gain, basis), counts
