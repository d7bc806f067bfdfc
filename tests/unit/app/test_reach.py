from __future__ import annotations

import json

from dialogauge.app.config import RoleSettings, answering, shown_role
from dialogauge.app.replay.settings import CandidateOptions
from dialogauge.core.errors import ConfigError
from dialogauge.core.settings import recorded

URL = "http://user:hush-hush@h/v1?key=hush-query&deployment={}"


def role(deployment="A", **more):
    extra = {"api_key": "hush-extra", "effort": "low"}
    return RoleSettings(model="m", base_url=URL.format(deployment), extra=extra, **more)


def test_no_secret_of_a_role_is_shown():
    one = role(headers={"X-Org": "hush-header"})
    assert "hush" not in json.dumps(shown_role(one)) + json.dumps(answering(one)) + repr(one)
    assert shown_role(one)["extra"] == {"api_key": "***", "effort": "low"}
    assert "hush" not in json.dumps(shown_role(RoleSettings(model="py:a:b", extra={"token": "hush-hush"})))


def test_what_answers_depend_on_is_the_variant_and_not_the_key():
    assert answering(role()) != answering(role("B"))
    other = RoleSettings(
        model="m",
        base_url=URL.format("A").replace("hush", "other"),
        extra={"api_key": "other-key", "effort": "low"},
    )
    assert answering(role()) == answering(other)


def test_no_member_of_a_pool_is_recorded_with_its_password():
    pool = "mix=pool:a@http://u:hush1@h/v1#KEY,b@https://v:hu@sh2@i/v1?k=hush3"
    settings = recorded(CandidateOptions(candidates=(pool, "c@http://h/v1")))
    assert settings["candidates"] == (
        "mix=pool:a@http://***@h/v1#KEY,b@https://***@i/v1?***",
        "c@http://h/v1",
    )


def test_no_error_of_ours_shows_the_user_info_of_a_url():
    for text in (
        "'m@http://u:hush@h' names",
        "'pool:a@http://u:hush@h,b@http://v:hu@sh@i'",
        "m@u:hush@host:80 is no URL",
        "at http://h/v1?key=hush",
    ):
        error = ConfigError(text, hint=text)
        assert "hush" not in f"{error}{error.args}{error!r}{error.message}"
    plain = "see http://h:8000/v1: a@b.example, 12:30; is it right? (C:/x)"
    assert str(ConfigError(plain)) == plain
