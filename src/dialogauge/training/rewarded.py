"""What pairs reward: how far a sign that has nothing to do with quality tells chosen from rejected.

A model that is trained on pairs learns whatever tells their sides apart. Of each sign stands here how often
the chosen side has it, and how often it alone would pick the chosen side; a pair in which both sides have it
alike counts one half. A sign is a control: pairs that one tells apart teach that sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

import numpy as np

from dialogauge.core.json_keys import keys
from dialogauge.core.values import Value
from dialogauge.report import Block, Callout, Number, Percent, TableColumn, data_table
from dialogauge.signals import TextView, praises
from dialogauge.stats import Estimate, Floats, label_codes, mean_estimate, reply_length
from dialogauge.text import counted
from dialogauge.training.rows import SplitBy, TrainingRow

_TELLS: Final = 0.75
"""Above this accuracy of a sign, or below one less it, it is a warning."""
_DEALS: Final = 200
_Reader = Callable[[TrainingRow], tuple[float, float] | None]
"""Reads how much of a sign chosen and rejected have; None where nobody knows."""


class SignFigure(Value):
    """One sign, and how far it tells chosen from rejected."""

    name: str
    words: str
    """What the chosen side is, in words: `longer`."""
    chosen: float | None
    """Share of the pairs, 0 to 1, in which the chosen side has it, or more of it; None without pairs."""
    rejected: float | None
    """Share in which the rejected side does."""
    accuracy: Estimate
    """Share of the pairs in which the sign alone picks the chosen side; one half where both are alike."""

    @property
    def tells(self) -> bool:
        """Whether it tells the sides of more than three in four pairs apart, either way."""
        value = self.accuracy.value
        return value is not None and self.accuracy.n > 1 and not 1 - _TELLS <= value <= _TELLS

    def surely(self, by_chance: float | None) -> bool:
        """Say whether the interval lies beyond what chance reaches, on the side of the accuracy."""
        if self.accuracy.interval is None or by_chance is None:
            return False
        low, high = self.accuracy.interval
        return max(low, 1 - high) > by_chance

    @property
    def warning(self) -> str:
        """Say what a model would learn of such pairs."""
        value = self.accuracy.value or 0.0
        more, share = value > _TELLS, max(value, 1 - value)
        side, other = ("chosen", "rejected") if more else ("rejected", "chosen")
        return f"the {side} side {self.words}, which alone tells it from the {other} one in {share:.0%}"


@keys(warnings="warnings")
class Rewarded(Value):
    """What the pairs reward."""

    pairs: int
    clusters: str
    """What intervals are clustered by: `users`, `personas` or `conversations`."""
    signs: tuple[SignFigure, ...]
    by_chance: float | None
    """What the best of the signs reaches in 95 of 100 deals of the sides by chance; None without pairs."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The signs that tell pairs apart, in words."""
        return tuple(sign.warning for sign in self.signs if sign.tells)

    @property
    def first_line(self) -> str:
        """The warnings as one line, those that chance may have made as a note; empty without any."""
        lines = []
        for sure, mark, end in ((True, "WARNING", ""), (False, "Note", ": too few to tell from chance")):
            signs = [s.warning for s in self.signs if s.tells and s.surely(self.by_chance) is sure]
            if signs:
                lines.append(f"{mark}: of {counted(self.pairs, 'pair')} {'; '.join(signs)}{end}.")
        return " ".join(lines)

    def to_blocks(self) -> tuple[Block, ...]:
        """Return the table of the signs."""
        heads = ("chosen", "rejected", "accuracy alone")
        columns = [TableColumn("the side ..."), *(TableColumn(head, "number") for head in heads)]
        rows = [
            (
                f"{s.words} (too few to tell)" if s.tells and not s.surely(self.by_chance) else s.words,
                Percent(s.chosen),
                Percent(s.rejected),
                Number(s.accuracy.value, interval=s.accuracy.interval),
            )
            for s in self.signs
        ]
        note = f"Intervals are clustered by {self.clusters}; a pair whose sides are alike counts one half."
        if self.by_chance is not None:
            note += f" Where sides are dealt by chance, the best of these signs reaches {self.by_chance:.2f}."
        title = f"What the pairs reward ({counted(self.pairs, 'pair')})"
        return data_table(title, columns, rows), Callout((note,), "plain")


def rewarded_by(rows: Sequence[TrainingRow], by: SplitBy = "user", *, seed: int = 0) -> Rewarded:
    """Say what pairs reward.

    Signs: the length of what the assistant says; the share of its replies that ask, and of those that praise
    the user (`signals.praises`); the model that was most one-sidedly chosen, or rejected; and which side was
    shown first, where sources say so.

    Args:
        rows: Of the kinds `dpo` and `segment`.
        by: What intervals are clustered by; conversations where a row names none.
        seed: Of the deals by chance.
    """
    clusters = [row.provenance.group(by) for row in rows]
    unit = f"{by}s" if rows and all(row.provenance.names(by) for row in rows) else "conversations"
    signs: dict[str, tuple[str, _Reader]] = {
        "longer": ("is longer", _of_replies(lambda replies: float(sum(map(reply_length, replies))))),
        "asks": ("asks", _share(lambda text: bool(TextView(text).questions))),
        "flatters": ("flatters", _share(praises)),
    }
    if model := _telling_model(rows):
        signs["model"] = (f"is from {model}", partial(_by_model, model))
    signs["first"] = ("stood first", _first)
    figures, columns = [], []
    for name, (words, read) in signs.items():
        pairs = {i: pair for i, row in enumerate(rows) if (pair := read(row)) is not None}
        if not pairs:
            continue
        ahead = np.sign([chosen - rejected for chosen, rejected in pairs.values()])
        whole = np.zeros(len(rows))
        whole[list(pairs)] = ahead
        columns.append(whole / len(pairs))
        accuracy = mean_estimate(0.5 + ahead / 2, [clusters[i] for i in pairs], unit=unit)
        shares = float((ahead > 0).mean()), float((ahead < 0).mean())
        figures.append(SignFigure(name, words, *shares, accuracy))
    chance = _by_chance(np.stack(columns, axis=1), clusters, seed) if columns else None
    return Rewarded(len(rows), unit, tuple(figures), chance)


def _by_chance(columns: Floats, clusters: Sequence[tuple[bool, str | None]], seed: int) -> float:
    """Return the .95 quantile of the best accuracy of the columns, shape (pairs, signs), over deals."""
    codes, groups = label_codes(clusters)
    sums = np.zeros((groups, columns.shape[1]))
    np.add.at(sums, codes, columns)
    flips = np.random.default_rng(seed).choice((-1.0, 1.0), size=(_DEALS, groups))
    return round(float(np.quantile(0.5 + np.abs(flips @ sums).max(axis=1) / 2, 0.95)), 6)


# Signs


def _of_replies(measure: Callable[[Sequence[str]], float]) -> _Reader:
    """Return what measures the replies of both sides."""

    def read(row: TrainingRow) -> tuple[float, float]:
        chosen, rejected = (
            [str(m.get("content") or "") for m in row.data[side] if m["role"] == "assistant"]
            for side in ("chosen", "rejected")
        )
        return measure(chosen), measure(rejected)

    return read


def _share(has: Callable[[str], bool]) -> _Reader:
    """Return what reads the share of the replies that have something, 0 to 1."""
    return _of_replies(lambda replies: sum(map(has, replies)) / len(replies) if replies else 0.0)


def _by_model(model: str, row: TrainingRow) -> tuple[float, float] | None:
    both = (row.provenance.model_chosen, row.provenance.model_rejected)
    return None if None in both else (float(both[0] == model), float(both[1] == model))


def _first(row: TrainingRow) -> tuple[float, float] | None:
    first = row.provenance.chosen_first
    return None if first is None else (float(first), float(not first))


def _telling_model(rows: Iterable[TrainingRow]) -> str | None:
    """Return the model that was chosen over others, or rejected for others, most one-sidedly."""
    ahead: Counter[str] = Counter()
    for row in rows:
        chosen, rejected = row.provenance.model_chosen, row.provenance.model_rejected
        if chosen is not None and rejected is not None and chosen != rejected:
            ahead[chosen] += 1
            ahead[rejected] -= 1
    return max(sorted(ahead), key=lambda name: (abs(ahead[name]), ahead[name]), default=None)
