"""Scenarios written as they are read, and kept in the run that played them."""

from __future__ import annotations

import json

import pytest

from dialogauge.agents import Scenario, UserRole, read_scenarios, scenario_json
from dialogauge.agents.kept import keep_scenarios, kept_scenarios
from dialogauge.core import StoreError
from dialogauge.data import Mask

FULL = Scenario(
    "desk",
    "task",
    "Help desk",
    "Help people with parcels.",
    UserRole("u9", "goal", "I wait for a parcel.", "find it", {"number": "P7"}, 3, "Hello?"),
    greeting="Good morning.",
    category="shop",
    real_person=True,
    mentions_user=False,
    stated_language="en",
)
BARE = Scenario("inn", "character", "Rosa", "Rosa keeps an inn.", UserRole("inn"))


@pytest.mark.parametrize("scenario", [FULL, BARE], ids=lambda one: one.id)
def test_a_scenario_is_read_as_it_was_written(scenario, tmp_path):
    path = tmp_path / "scenarios.jsonl"
    path.write_text(json.dumps(scenario_json(scenario)) + "\n")
    assert read_scenarios(str(path)) == (scenario,)


class Database(dict):
    def get_meta(self, key, default=None, shape=None):
        del shape
        return json.loads(self.get(key, json.dumps(default)))

    def put_meta(self, key, value):
        self[key] = json.dumps(value)


class Run:
    def __init__(self, database, mask=None):
        self.database, self.mask = database, mask
        self.directory = type("Folder", (), {"path": "runs/x"})


def test_scenarios_of_several_calls_are_kept_and_masked_when_they_are_shown():
    database = Database()
    keep_scenarios(database, [BARE], None)
    keep_scenarios(database, [FULL], None)
    assert kept_scenarios(Run(database)) == {"inn": BARE, "desk": FULL}
    mask = Mask(redact=False, hash_ids=True, salt=b"salt")
    shown = kept_scenarios(Run(database, mask))
    id, user = mask.id("conversation", "desk"), mask.id("user", "u9")
    assert shown["desk"] is shown[id]  # found by what conversations say, masked or not
    assert (shown[id].id, shown[id].user.id, shown[id].text) == (id, user, FULL.text)


def test_a_run_without_scenarios_says_what_to_do():
    with pytest.raises(StoreError, match=r"runs/x does not hold its scenarios .*play the sessions again"):
        kept_scenarios(Run(Database()))
