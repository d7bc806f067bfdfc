"""The checks that need scores alone: averaging, verdicts, the same score for every turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.bench.trust.result import Status, TrustCase, TrustCheck, TrustFigure
from dialogauge.bench.trust.sentences import only
from dialogauge.bench.trust.tally import LONG, TrustTally
from dialogauge.bench.trust.thresholds import TrustThresholds
from dialogauge.core import Conversation
from dialogauge.metrics import pearson, wilson_interval

__all__ = ["check_aggregation", "check_identical", "check_verdicts"]

Floats = npt.NDArray[np.float64]

_NEAR: Final = 0.125 + 1e-9
"""Half a point of a scale of 1 to 5."""
_ENOUGH: Final = 20
_ENOUGH_LONG: Final = 5
_FAULT: Final = 0.6
_CASES: Final = 20


def check_aggregation(tally: TrustTally, limits: TrustThresholds, judge: str) -> TrustCheck:
    """Whether the conversation's scores are more than the average of its turns'."""
    table: Floats = np.array(tally.pairs, dtype=np.float64).reshape(-1, 2)
    n = len(table)
    near = np.abs(table[:, 0] - table[:, 1]) <= _NEAR
    r = pearson(table[:, 0], table[:, 1]).value
    share = float(near.mean()) if n else None
    chance = _chance(table)
    interval = wilson_interval(int(near.sum()), n)
    figures = (
        TrustFigure("within half a point of the turns’ mean", share, n, interval, share=True),
        TrustFigure("the same between unrelated conversations", chance, n, share=True),
        TrustFigure("correlation with the turns’ mean", r, n),
    )
    status, sentence = _averages(tally, n, (share, chance, r), limits, judge)
    return TrustCheck(
        "single_turn_aggregation",
        "Averaging the turns",
        status,
        sentence,
        n,
        limits.aggregation_share,
        "aggregation_share",
        figures,
    )


def _averages(
    tally: TrustTally,
    n: int,
    found: tuple[float | None, float | None, float | None],
    limits: TrustThresholds,
    judge: str,
) -> tuple[Status, str]:
    share, chance, r = found
    if not tally.whole or not tally.turn:
        return "cannot tell", "The rubric does not score both turns and conversations."
    if n < _ENOUGH or share is None or chance is None:
        return (
            "cannot tell",
            f"{only(n, 'conversation has', 'conversations have')} turns with different scores; "
            f"{_ENOUGH} are needed.",
        )
    told = f"{_percent(share)} of {n:,} conversations lie within half a point of the mean of their turns"
    if r is not None and r >= limits.aggregation_correlation:
        return "flagged", f"{judge} only averages: {told}, and the two correlate at {r:z.2f}."
    if share < limits.aggregation_share:
        end = "" if r is None else f"; the two correlate at {r:z.2f}"
        return "ok", f"The scores of the whole are not the average of the turns: {told}{end}."
    if chance >= limits.aggregation_share:
        return "cannot tell", f"{told.capitalize()}, but so would unrelated ones: the scores hardly vary."
    return (
        "flagged",
        f"{judge} only averages: {told}; between unrelated conversations it would be {_percent(chance)}.",
    )


def _chance(table: Floats) -> float | None:
    """Share of near pairs when each conversation's score meets the turns of another one."""
    n = len(table)
    if n < 2:
        return None
    whole, ordered = table[:, 0], np.sort(table[:, 1])
    low = np.searchsorted(ordered, whole - _NEAR, side="left")
    high = np.searchsorted(ordered, whole + _NEAR, side="right")
    own = int((np.abs(table[:, 0] - table[:, 1]) <= _NEAR).sum())
    return float((int((high - low).sum()) - own) / (n * (n - 1)))


def check_verdicts(tally: TrustTally, limits: TrustThresholds) -> TrustCheck:
    """Whether the verdict that the model gives itself follows from its own scores."""
    compared, mismatched = tally.verdicts
    share = mismatched / compared if compared else None
    figure = TrustFigure(
        "own verdict differs from the computed one",
        share,
        compared,
        wilson_interval(mismatched, compared),
        share=True,
    )
    status: Status = "cannot tell"
    sentence = "The judge gives no verdict of its own; the verdict is computed from its scores."
    if share is not None:
        status = "flagged" if share > limits.verdict_mismatch_share else "ok"
        sentence = (
            f"The model’s own verdict differs from the one that its scores give in {mismatched:,} of "
            f"{compared:,} conversations; ours is the one that counts."
        )
    return TrustCheck(
        "verdict_mismatch",
        "Verdict against scores",
        status,
        sentence,
        compared,
        limits.verdict_mismatch_share,
        "verdict_mismatch_share",
        (figure,),
    )


def check_identical(
    tally: TrustTally,
    limits: TrustThresholds,
    conversations: Callable[[list[tuple[str, str | None]]], Iterable[Conversation]],
) -> TrustCheck:
    """Whether long conversations get the same scores at every turn although the turns differ."""
    long, alike = tally.identical["long"]
    short, short_alike = tally.identical["short"]
    cases = [c for c in map(_varied, conversations(tally.alike())) if c is not None]
    looked = min(alike, len(tally.alike()))
    differing = alike * len(cases) / looked if looked else 0.0
    share = differing / long if long else None
    figures = (
        _share("long, all turns alike", alike, long),
        TrustFigure("long, alike although the turns differ", share, long, share=True),
        _share("shorter, all turns alike", short_alike, short),
    )
    status: Status = "cannot tell"
    seen = only(long, "conversation has", "conversations have")
    sentence = f"{seen} over {LONG} scored turns; {_ENOUGH_LONG} are needed."
    if share is not None and long >= _ENOUGH_LONG:
        status = "flagged" if share > limits.identical_share else "ok"
        sentence = (
            f"Of {long:,} conversations with over {LONG} turns, {alike:,} have the same scores at every turn"
            + (f", {_percent(share)} of all although some turns are faulty and some not" if alike else "")
            + (f"; of {short:,} shorter ones {_percent(short_alike / short)}." if short else ".")
        )
    return TrustCheck(
        "identical_scores",
        "The same score for every turn",
        status,
        sentence,
        long,
        limits.identical_share,
        "identical_share",
        figures,
        tuple(cases[:_CASES]),
        len(cases),
    )


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _share(name: str, hits: int, n: int) -> TrustFigure:
    return TrustFigure(name, hits / n if n else None, n, wilson_interval(hits, n), share=True)


def _varied(conversation: Conversation) -> TrustCase | None:
    """Point at the gravest finding of a conversation of which some turns have one and others none."""
    from dialogauge.signals import find_signals, read_dialogue  # many patterns, and hardly ever asked for

    faults = [s for s in find_signals(read_dialogue(conversation), "hindsight") if s.strength >= _FAULT]
    turns = {s.turn for s in faults}
    if not turns or len(turns) == len(conversation.replied_turns):
        return None
    worst = max(faults, key=lambda s: s.strength)
    return TrustCase(conversation.id, worst.turn, f"{worst.note} “{worst.quote}”")
