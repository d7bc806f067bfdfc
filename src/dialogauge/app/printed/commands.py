"""The shape of what each command prints with `--json`, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.app.printed.agreement import AgreementJson
from dialogauge.app.printed.arena import ArenaJson
from dialogauge.app.printed.comparing import TwoRunsJson
from dialogauge.app.printed.fit import FitFileJson, FitRunJson
from dialogauge.app.printed.inputs import AnnotateStatusJson, CheckJson, DoctorJson, RunsJson
from dialogauge.app.printed.judging import JudgeJson, SuccessJson, TrustJson
from dialogauge.app.printed.plans import (
    ArenaPlanJson,
    JudgePlanJson,
    ReplayPlanJson,
    SatisfactionPlanJson,
    TrustPlanJson,
)
from dialogauge.app.printed.replaying import ReplayJson, RubricReplayJson
from dialogauge.app.printed.satisfaction import SatisfactionJson
from dialogauge.core.json_schema import Schema, schema_of

PRINTED: Final[Mapping[str, Any]] = {
    "judge": JudgeJson | JudgePlanJson,
    "check": CheckJson,
    "runs": RunsJson,
    "compare": TwoRunsJson,
    "trust": TrustJson | TrustPlanJson,
    "agreement": AgreementJson,
    "fit": FitRunJson | FitFileJson,
    "satisfaction": SatisfactionJson | SatisfactionPlanJson,
    "success": SuccessJson,
    "arena": ArenaJson | ArenaPlanJson,
    "doctor": DoctorJson,
    "annotate status": AnnotateStatusJson,
    "replay compare": ReplayJson | RubricReplayJson,
    "replay run": ReplayJson | RubricReplayJson | ReplayPlanJson | None,
}
"""By command; of two shapes the second is that of `--dry-run`, or of another kind of output."""


def json_schema(command: str) -> Schema:
    """Return the schema of what a command prints with `--json`, for example of `annotate status`."""
    return schema_of(PRINTED[command], f"dialogauge {command} --json")
