"""From the checks to what the page and the terminal show of them."""

from __future__ import annotations

from dialogauge.report import CalibrationLine, TrustCaseView, TrustCheckView, TrustFigureView, TrustView
from dialogauge.studies.trust.result import Calibration, Trust, TrustCheck

_CASES = 8
_TEXT = 300


def trust_view(trust: Trust) -> TrustView:
    """Return the view of the checks."""
    calibration = trust.calibration
    return TrustView(
        tuple(_check(c) for c in trust.checks),
        None if calibration is None else calibration.sentence,
        () if calibration is None else tuple(_lines(calibration)),
        trust.thresholds.calibration_kappa,
    )


def _check(check: TrustCheck) -> TrustCheckView:
    threshold = None
    if check.threshold is not None and check.threshold_name is not None:
        threshold = f"{check.threshold_name} = {check.threshold:g}"
    return TrustCheckView(
        check.title,
        check.status,
        check.sentence,
        threshold,
        tuple(TrustFigureView(f.name, f.value, f.interval, f.n, f.share) for f in check.figures),
        tuple(
            TrustCaseView(
                c.conversation_id, c.turn, c.text if len(c.text) <= _TEXT else c.text[:_TEXT] + " …"
            )
            for c in check.cases[:_CASES]
        ),
        max(check.cases_total - _CASES, 0),
    )


def _lines(calibration: Calibration) -> list[CalibrationLine]:
    return [
        CalibrationLine(
            d.name,
            d.status,
            d.kappa,
            d.interval,
            d.n,
            d.dialogues,
            tuple(d.controls.items()),
            d.sentence if d.kappa is None else None,
        )
        for d in calibration.dimensions
    ]
