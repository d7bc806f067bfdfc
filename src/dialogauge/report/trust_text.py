"""The checks on a terminal: one line each."""

from __future__ import annotations

from dialogauge.report.trust_view import CalibrationLine, TrustView
from dialogauge.report.words import interval, mean, name
from dialogauge.text import counted

__all__ = ["trust_lines"]


def trust_lines(trust: TrustView) -> list[str]:
    """Write one line for each check and each dimension that was compared with people."""
    lines = ["how far to trust these numbers:"]
    lines += [f"  {_status(c.status)} {c.title}: {c.sentence}" for c in trust.checks]
    if trust.calibration is not None:
        lines.append(f"against people: {trust.calibration}")
        lines += [f"  {_calibration(line)}" for line in trust.lines]
    return lines


def _status(status: str) -> str:
    return {"ok": "ok         ", "flagged": "FLAGGED    "}.get(status, f"{status:<11}")


def _calibration(line: CalibrationLine) -> str:
    status = "NOT READY" if line.status == "not ready" else line.status
    if line.reason is not None:
        return f"{status:<11} {line.reason}"
    told = f"{status:<11} {name(line.dimension)}: kappa {mean(line.kappa)} {interval(line.interval)}"
    controls = ", ".join(f"{label} {mean(value)}" for label, value in line.controls)
    told += f" on {counted(line.n, 'target')} of {counted(line.dialogues, 'dialogue')}"
    return f"{told}; beside it {controls}" if controls else told
