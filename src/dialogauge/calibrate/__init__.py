"""Post-hoc calibration: a judge's raw scores mapped to the scale on which this user has rated before."""

from dialogauge.calibrate.blocks import CALIBRATIONS, CalibrationName, CalibrationRun, calibrate
from dialogauge.calibrate.history import ScoreHistory
from dialogauge.calibrate.maps import (
    CalibrationMap,
    CdfMap,
    IdentityMap,
    MeanShiftMap,
    PooledMap,
    ReferenceCdfMap,
    TransferMap,
    fit_cdf,
    fit_mean_shift,
    fit_pooled,
    fit_reference_cdf,
    fit_reference_mean_shift,
    fit_reference_transfer,
)
from dialogauge.calibrate.ranks import TIES, Ties
from dialogauge.calibrate.rounding import half_even, half_up
from dialogauge.calibrate.scores import Calibrated, RawScore

__all__ = [
    "CALIBRATIONS",
    "TIES",
    "Calibrated",
    "CalibrationMap",
    "CalibrationName",
    "CalibrationRun",
    "CdfMap",
    "IdentityMap",
    "MeanShiftMap",
    "PooledMap",
    "RawScore",
    "ReferenceCdfMap",
    "ScoreHistory",
    "Ties",
    "TransferMap",
    "calibrate",
    "fit_cdf",
    "fit_mean_shift",
    "fit_pooled",
    "fit_reference_cdf",
    "fit_reference_mean_shift",
    "fit_reference_transfer",
    "half_even",
    "half_up",
]
