"""The scenarios of sessions, kept in the run that played them: whoever trains on it plays them again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from dialogauge.agents.personas import Scenario, scenario_json, scenario_of
from dialogauge.core import Place, StoreError
from dialogauge.data import Mask
from dialogauge.runs import RunDatabase, StoredRun

_KEPT: Final = "scenarios"


def keep_scenarios(database: RunDatabase, scenarios: Iterable[Scenario], mask: Mask | None) -> None:
    """Keep scenarios beside those of earlier calls, masked as the run is."""
    kept = database.get_meta(_KEPT, {}, dict[str, Any])
    for scenario in scenarios:
        entry = _masked(scenario_json(scenario), mask)
        kept[entry["id"]] = entry
    database.put_meta(_KEPT, kept)


def kept_scenarios(run: StoredRun) -> dict[str, Scenario]:
    """Return the scenarios of a run by id, masked if they are to be; by the id as it is stored too.

    Raises:
        StoreError: It keeps none: an earlier version of dialogauge made it.
    """
    kept = run.database.get_meta(_KEPT, {}, dict[str, Any])
    path = run.directory.path
    if not kept:
        msg = f"the run {path} does not hold its scenarios"
        raise StoreError(msg, hint="an earlier version of dialogauge made it: play the sessions again")
    place = Place(str(path))
    scenarios = {id: scenario_of(_masked(entry, run.mask), place) for id, entry in kept.items()}
    return {**scenarios, **{scenario.id: scenario for scenario in scenarios.values()}}


def _masked(entry: dict[str, Any], mask: Mask | None) -> dict[str, Any]:
    if mask is None:
        return entry
    id, user = entry["id"], entry["user"]["id"]
    masked: dict[str, Any] = mask.value(entry, mask.names(id, user))
    own = {"id": mask.id("conversation", id)}
    return {**masked, **own, "user": {**masked["user"], "id": mask.id("user", user)}}
