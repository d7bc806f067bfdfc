"""The shape of what each command prints with `--json`, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.app.agreement import AgreementOutcome
from dialogauge.app.compare import CompareOutcome
from dialogauge.app.printed.fit import FitFileJson, FitRunJson
from dialogauge.app.printed.inputs import AnnotateStatusJson, CheckJson, DoctorJson, RunsJson
from dialogauge.app.printed.plans import (
    ArenaPlanJson,
    ComparePlanJson,
    JudgePlanJson,
    ReplayPlanJson,
    SatisfactionPlanJson,
    TrustPlanJson,
)
from dialogauge.app.printed.replaying import ReplayJson, RubricReplayJson
from dialogauge.core.json_schema import Schema, schema_of
from dialogauge.studies.arena.summary import ArenaSummary
from dialogauge.studies.judging.study import JudgingResult
from dialogauge.studies.satisfaction.study import SatisfactionSummary
from dialogauge.studies.success.study import SuccessResult
from dialogauge.studies.trust.result import Trust

PRINTED: Final[Mapping[str, Any]] = {
    "judge": JudgingResult | JudgePlanJson,
    "check": CheckJson,
    "runs": RunsJson,
    "compare": CompareOutcome | ComparePlanJson,
    "trust": Trust | TrustPlanJson,
    "agreement": AgreementOutcome,
    "fit": FitRunJson | FitFileJson,
    "satisfaction": SatisfactionSummary | SatisfactionPlanJson,
    "success": SuccessResult,
    "arena": ArenaSummary | ArenaPlanJson,
    "doctor": DoctorJson,
    "annotate status": AnnotateStatusJson,
    "replay compare": ReplayJson | RubricReplayJson,
    "replay run": ReplayJson | RubricReplayJson | ReplayPlanJson | None,
}
"""By command; of two shapes the second is that of `--dry-run`, or of another kind of output."""


def json_schema(command: str) -> Schema:
    """Return the schema of what a command prints with `--json`, for example of `annotate status`."""
    return schema_of(PRINTED[command], f"dialogauge {command} --json")
