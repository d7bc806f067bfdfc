"""What the checks found: frozen records that go into `summary.json` under `trust`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, Literal

from dialogauge.core.json_keys import keys
from dialogauge.core.settings import setting
from dialogauge.core.shape import read_as
from dialogauge.core.values import Value
from dialogauge.studies.planted.blind_spots import BlindSpots
from dialogauge.studies.simulator.check import SimulatorCheck


class TrustThresholds(Value):
    """The settings of the checks; all shares and coefficients lie between 0 and 1."""

    aggregation_share: float = setting(0.9, low=0, high=1)
    """Share of conversations whose score lies within an eighth of the scale (0.5 on 1-5) of the mean of
    their turns, although the turns differ: from here on the judge is said to average."""
    aggregation_correlation: float = setting(0.95, low=-1, high=1)
    """The same for the correlation of the two."""
    repair_na_share: float = setting(0.1, low=0, high=1)
    """Share of conversations with a correction whose repair handling is n/a."""
    length_correlation: float = setting(0.6, low=-1, high=1)
    """Correlation of helpfulness with the reply's length."""
    verdict_mismatch_share: float = setting(0.1, low=0, high=1)
    """Share of the model's own verdicts that differ from the computed ones."""
    identical_share: float = setting(0.2, low=0, high=1)
    """Share of long conversations (over 10 turns) with all turns scored alike although they differ."""
    scenario_rule_share: float = setting(0.0, low=0, high=1)
    """Share of the replies that break a scenario rule and are scored above its limit."""
    calibration_kappa: float = setting(0.5, low=-1, high=1)
    """Quadratic weighted kappa against people below which a dimension is not ready."""
    calibration_dialogues: int = setting(100, low=1)
    """Rated dialogues below which nothing is said of readiness."""
    sample: int = setting(200, low=0)
    """Conversations whose text is read for the checks that need text, chosen by their id."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrustThresholds:
        """Read them from a summary; unknown names are passed over."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in value.items() if k in known})


Status = Literal["ok", "flagged", "cannot tell"]
Readiness = Literal["ready", "not ready", "cannot tell"]


class TrustFigure(Value):
    """One figure of a check."""

    name: str
    value: float | None
    """None when it is undefined."""
    n: int
    interval: tuple[float, float] | None = None
    """95 %, by users where they are known, else by conversations."""
    share: bool = False
    """Whether it is a share, 0 to 1."""


class TrustCase(Value):
    """A conversation or turn that a check points at."""

    conversation_id: str
    turn: int | None
    text: str
    """What was seen there: the user's words, a note, the rule."""


@keys(name=None)
class TrustCheck(Value):
    """One way in which a judge can go wrong, and whether this one does."""

    name: str
    title: str
    status: Status
    sentence: str
    """What was found, in one plain sentence."""
    n: int
    threshold: float | None
    threshold_name: str | None
    """Its name in the `[trust]` table."""
    figures: tuple[TrustFigure, ...] = ()
    cases: tuple[TrustCase, ...] = ()
    """The first of those found."""
    cases_total: int = 0


class CalibrationDimension(Value):
    """One dimension against people."""

    name: str
    status: Readiness
    sentence: str
    kappa: float | None
    """Quadratic weighted kappa."""
    interval: tuple[float, float] | None
    """95 %, by users where they are known, else by conversations."""
    n: int
    """Targets that people rated and the judge scored."""
    dialogues: int
    controls: Mapping[str, float | None]
    """Kappa of the controls."""
    above: Mapping[str, bool | None]
    """Whether the judge is above each control by an interval."""


class Calibration(Value):
    """The judge against people's ratings, dimension by dimension."""

    ratings: str
    """The file."""
    dialogues: int
    """Rated dialogues that the run holds, of any dimension."""
    sentence: str
    dimensions: tuple[CalibrationDimension, ...]
    languages: Mapping[str, int] = field(default_factory=dict)
    """Rated dialogues by language."""

    @property
    def not_ready(self) -> tuple[str, ...]:
        """The dimensions below the threshold."""
        return tuple(d.name for d in self.dimensions if d.status == "not ready")


@keys(checks="checks{name}", planted="planted?", simulator="simulator?")
class Trust(Value):
    """All checks of a run."""

    checks: tuple[TrustCheck, ...]
    thresholds: TrustThresholds
    calibration: Calibration | None = None
    planted: BlindSpots | None = None
    """What the judge makes of planted faults; None where none were planted."""
    simulator: SimulatorCheck | None = None
    """What the users of simulated sessions do wrong; None where no conversation is one."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Trust:
        """Read what was written as JSON."""
        checks = (read_as({**check, "name": name}, TrustCheck) for name, check in value["checks"].items())
        calibration = None if value["calibration"] is None else read_as(value["calibration"], Calibration)
        planted, simulator = value.get("planted"), value.get("simulator")
        return cls(
            tuple(checks),
            TrustThresholds.from_json(value["thresholds"]),
            calibration,
            None if planted is None else BlindSpots.from_json(planted),
            None if simulator is None else read_as(simulator, SimulatorCheck),
        )
