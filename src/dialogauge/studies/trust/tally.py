"""What the checks remember of the rows: three numbers a conversation, and a sample of bounded size."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dialogauge.core import NOT_APPLICABLE, ONE_TO_FIVE, DimensionSpec, digest_text
from dialogauge.runs.records import own_scores
from dialogauge.stats import Estimate, cluster_labels, mean_estimate
from dialogauge.studies.passing import ByConversation, Smallest

Row = Mapping[str, Any]

Whose = tuple[str | None, str]
"""User and conversation."""

NEAR: Final = 0.125 + 1e-9
"""Half a point of a scale of 1 to 5."""
LONG: Final = 10
"""A conversation of more scored turns is long."""
SHORT: Final = 3
"""One of fewer says nothing of whether scores vary."""
_IDENTICAL_KEPT = 50


@dataclass(frozen=True, slots=True)
class Sampled:
    """Of a sampled conversation what the checks of texts need."""

    conversation_id: str
    candidate: str | None
    helpfulness: Mapping[int, float]
    """Turn to score."""
    repair: float | str | None
    """The score, `n/a`, or None where there is none."""
    repair_note: str | None
    """What the judge noted of it."""


class Seen:
    """Whether something holds of one conversation after the other, and of which user."""

    def __init__(self) -> None:
        self.holds = array("b")
        self._users = array("q")  # -1 where it is not known
        self._conversations = array("q")

    def add(self, user: str | None, conversation: str, *, holds: bool) -> None:
        """Take note of one conversation."""
        self.holds.append(holds)
        self._users.append(-1 if user is None else _number_of(user))
        self._conversations.append(_number_of(conversation))

    @property
    def hits(self) -> int:
        """Of how many it holds."""
        return sum(self.holds)

    def share(self) -> Estimate:
        """Return the share of which it holds, clustered by users where they are known."""
        users = [None if user < 0 else user for user in self._users]
        labels, unit = cluster_labels(users, self._conversations)
        return mean_estimate(np.array(self.holds, dtype=np.float64), labels, unit=unit)


def _number_of(name: str) -> int:
    return int(digest_text(name)[:15], 16)


class TrustTally(ByConversation):
    """Sums over rows; rows of one conversation stand together, and of repeats the first counts."""

    def __init__(self, dimensions: Sequence[DimensionSpec], *, sample: int) -> None:
        """Take note of the dimensions.

        Args:
            dimensions: Of the rubric.
            sample: How many conversations the checks of texts may read.
        """
        super().__init__()
        self.turn = {d.name: d for d in dimensions if d.level == "turn"}
        self.whole = {d.name: d for d in dimensions if d.level == "conversation"}
        self.helpful = "helpfulness" if "helpfulness" in self.turn else next(iter(self.turn), None)
        self.helpful_name = (self.helpful or "helpfulness").replace("_", " ")
        scale = self.turn[self.helpful].scale if self.helpful else ONE_TO_FIVE
        self.range_of_helpful = scale.low, scale.high
        self.pairs = array("d")
        """Of conversations whose turns differ: mean of the whole, mean of the turns, on 0..1."""
        self.near = Seen()
        """Of the same conversations: whether the two are half a point of a scale of 1 to 5 apart at most."""
        self.mismatched = Seen()
        """Of the model's own verdicts: whether it is not the computed one."""
        self.decided = False
        """Whether any turn or conversation has a verdict, or a class of the rubric's own."""
        self.identical = {"long": Seen(), "short": Seen()}
        """Conversations with enough scored turns: whether all turns are scored alike."""
        self._sample = Smallest[Sampled](sample)
        self._alike = Smallest[tuple[str, str | None]](_IDENTICAL_KEPT)
        self._number = 0

    def take(self, unit: Sequence[Row]) -> None:
        """Count one conversation."""
        key = (unit[0]["conversation_id"], unit[0]["candidate"])
        self._number += 1
        turns = {r["turn"]: self._numbers(r, self.turn) for r in unit if r["level"] == "turn"}
        turns = {number: scores for number, scores in turns.items() if scores}
        whole = next((r for r in unit if r["level"] == "conversation"), None)
        rank = int(digest_text(key[0]), 16)
        whose = (unit[0].get("user_id"), key[0])
        self._compare(turns, whole, whose)
        self._vary(turns, rank, key, whose)
        if self._sample.admits(rank):
            self._sample.offer(rank, self._number, self._sampled(key, unit, whole))
        self.decided = self.decided or any(_verdict(row) is not None for row in unit)
        if whole is not None and (computed := _verdict(whole)) is not None:
            own = (whole["details"] or {}).get("model_verdict")
            if own is not None:
                self.mismatched.add(*whose, holds=own != computed)

    def sampled(self) -> list[Sampled]:
        """Return the sampled conversations, by the digest of their id."""
        return self._sample.ascending()

    def alike(self) -> list[tuple[str, str | None]]:
        """Return some of the long conversations whose turns are all scored alike: id and candidate."""
        return self._alike.ascending()

    def _numbers(self, row: Row, dimensions: Mapping[str, DimensionSpec]) -> dict[str, float]:
        """Scores as places on their scale, 0 worst to 1 best."""
        out: dict[str, float] = {}
        for name, value in own_scores(row).items():
            spec = dimensions.get(name)
            if spec is not None and value is not None and value != NOT_APPLICABLE:
                out[name] = spec.scale.quality(value)
        return out

    def _compare(self, turns: Mapping[int, Mapping[str, float]], whole: Row | None, whose: Whose) -> None:
        numbers = {} if whole is None else self._numbers(whole, self.whole)
        values = [v for scores in turns.values() for v in scores.values()]
        if numbers and values and not _same(turns):
            pair = (sum(numbers.values()) / len(numbers), sum(values) / len(values))
            self.pairs.extend(pair)
            self.near.add(*whose, holds=abs(pair[0] - pair[1]) <= NEAR)

    def _vary(
        self, turns: Mapping[int, Mapping[str, float]], rank: int, key: tuple[str, str | None], whose: Whose
    ) -> None:
        if len(turns) < SHORT:
            return
        same = _same(turns)
        self.identical["long" if len(turns) > LONG else "short"].add(*whose, holds=same)
        if same and len(turns) > LONG:
            self._alike.offer(rank, self._number, key)

    def _sampled(self, key: tuple[str, str | None], unit: Sequence[Row], whole: Row | None) -> Sampled:
        helpful: dict[int, float] = {}
        for row in unit:
            value = own_scores(row).get(self.helpful or "") if row["level"] == "turn" else None
            if value is not None and value != NOT_APPLICABLE:
                helpful[row["turn"]] = value
        scores = {} if whole is None else own_scores(whole)
        notes = {} if whole is None else (whole["details"] or {}).get("notes") or {}
        note = notes.get("repair_handling")
        return Sampled(*key, helpful, scores.get("repair_handling"), None if note is None else str(note))


def _verdict(row: Row) -> str | None:
    verdict: str | None = row["verdict"] or (row["details"] or {}).get("class")
    return verdict


def _same(turns: Mapping[int, Mapping[str, float]]) -> bool:
    first, *others = turns.values()
    return all(scores == first for scores in others)
