"""The trust study: known ways in which a judge goes wrong, looked for in a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.bench.trust.examination import Extra, examine
    from dialogauge.bench.trust.page import trust_view
    from dialogauge.bench.trust.result import (
        Calibration,
        CalibrationDimension,
        Trust,
        TrustCase,
        TrustCheck,
        TrustFigure,
    )
    from dialogauge.bench.trust.scenario import (
        Variant,
        check_scenario,
        draw_variants,
        scenario_text,
    )
    from dialogauge.bench.trust.scenario_rules import Rule, RuleFindings, find_breaches
    from dialogauge.bench.trust.tally import TrustTally
    from dialogauge.bench.trust.thresholds import TrustThresholds

__all__ = [
    "Calibration",
    "CalibrationDimension",
    "Extra",
    "Rule",
    "RuleFindings",
    "Trust",
    "TrustCase",
    "TrustCheck",
    "TrustFigure",
    "TrustTally",
    "TrustThresholds",
    "Variant",
    "check_scenario",
    "draw_variants",
    "examine",
    "find_breaches",
    "scenario_text",
    "trust_view",
]

__getattr__ = loading(
    __name__,
    {
        "examination": (
            "Extra",
            "examine",
        ),
        "page": ("trust_view",),
        "result": (
            "Calibration",
            "CalibrationDimension",
            "Trust",
            "TrustCase",
            "TrustCheck",
            "TrustFigure",
        ),
        "scenario": (
            "Variant",
            "check_scenario",
            "draw_variants",
            "scenario_text",
        ),
        "scenario_rules": (
            "Rule",
            "RuleFindings",
            "find_breaches",
        ),
        "tally": ("TrustTally",),
        "thresholds": ("TrustThresholds",),
    },
)
