"""The trust study: known ways in which a judge goes wrong, looked for in a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.studies.trust.examination import Extra, examine
    from dialogauge.studies.trust.page import trust_brief, trust_section
    from dialogauge.studies.trust.result import (
        Calibration,
        CalibrationDimension,
        Trust,
        TrustCase,
        TrustCheck,
        TrustFigure,
        TrustThresholds,
    )
    from dialogauge.studies.trust.scenario import (
        Rule,
        RuleFindings,
        Variant,
        check_scenario,
        draw_variants,
        find_breaches,
        scenario_text,
    )
    from dialogauge.studies.trust.tally import TrustTally

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
    "trust_brief",
    "trust_section",
]

_HOMES = {
    "examination": ("Extra", "examine"),
    "page": ("trust_brief", "trust_section"),
    "result": (
        "Calibration",
        "CalibrationDimension",
        "Trust",
        "TrustCase",
        "TrustCheck",
        "TrustFigure",
        "TrustThresholds",
    ),
    "scenario": (
        "Rule",
        "RuleFindings",
        "Variant",
        "check_scenario",
        "draw_variants",
        "find_breaches",
        "scenario_text",
    ),
    "tally": ("TrustTally",),
}
__getattr__ = loading(__name__, _HOMES)
