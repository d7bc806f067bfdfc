"""From which figure on a check is flagged: the `[trust]` table of the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

__all__ = ["TrustThresholds"]


@dataclass(frozen=True, slots=True)
class TrustThresholds:
    """The settings of the checks; all shares and coefficients lie between 0 and 1."""

    aggregation_share: float = 0.9
    """Share of conversations whose score lies within an eighth of the scale (0.5 on 1-5) of the mean of
    their turns, although the turns differ: from here on the judge is said to average."""
    aggregation_correlation: float = 0.95
    """The same for the correlation of the two."""
    repair_na_share: float = 0.1
    """Share of conversations with a correction whose repair handling is n/a."""
    length_correlation: float = 0.6
    """Correlation of helpfulness with the reply's length."""
    verdict_mismatch_share: float = 0.1
    """Share of the model's own verdicts that differ from the computed ones."""
    identical_share: float = 0.2
    """Share of long conversations (over 10 turns) with all turns scored alike although they differ."""
    scenario_rule_share: float = 0.0
    """Share of the replies that break a scenario rule and are scored above its limit."""
    calibration_kappa: float = 0.5
    """Quadratic weighted kappa against people below which a dimension is not ready."""
    calibration_dialogues: int = 100
    """Rated dialogues below which nothing is said of readiness."""
    sample: int = 200
    """Conversations whose text is read for the checks that need text, chosen by their id."""

    def to_json(self) -> dict[str, Any]:
        """Write the settings."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrustThresholds:
        """Read what `to_json` wrote; unknown names are passed over."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in value.items() if k in known})
