from dataclasses import replace

from dialogauge.app.judge_of_run import differences
from dialogauge.runs.manifest import Manifest, versions

JUDGE = {
    "rubric": "card",
    "prompts": {"en": "a"},
    "client": {"model": "m", "base_url": "http://a/v1", "parameters": {"seed": 1}, "dropped": {}},
    "settings": {"window": 6},
}
MANIFEST = Manifest(study="judge", settings={}, judge=JUDGE, versions=versions())


def told(**changed):
    return differences(MANIFEST, {**JUDGE, **changed})


def test_only_what_differs_is_told():
    client = JUDGE["client"]
    assert told() == told(client={**client, "dropped": {"seed": "refused"}}) == ()
    there = told(client={**client, "base_url": "http://b/v1"})
    assert there == ("endpoint (http://a/v1 judged the run, this is http://b/v1)",)
    assert told(client={**client, "parameters": {}}) == ("parameters of the model",)
    assert told(prompts={"en": "b"}, settings={"window": 5}) == ("prompts", "setting window")
    old = replace(MANIFEST, versions={"dialogauge": "0.0"})
    assert differences(old, JUDGE)[0].startswith("version of dialogauge (0.0 judged the run")
