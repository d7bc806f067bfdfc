"""Field maps: files and look-ups."""

import pytest

from dialogauge.core import ConfigError
from dialogauge.data import read_field_map
from dialogauge.data.field_map import FieldMap
from dialogauge.data.paths import MISSING, look_up

TOML = """
conversation_id = "meta.session"
content = "utterance"
[ratings]
satisfaction = "stars"
[roles]
bot = "assistant"
"""


def test_toml_and_json_say_the_same(tmp_path):
    (tmp_path / "m.toml").write_text(TOML)
    (tmp_path / "m.json").write_text(
        '{"conversation_id": "meta.session", "content": "utterance",'
        ' "ratings": {"satisfaction": "stars"}, "roles": {"bot": "assistant"}}'
    )
    expected = FieldMap(
        conversation_id="meta.session",
        content="utterance",
        ratings={"satisfaction": "stars"},
        roles={"bot": "assistant"},
    )
    assert read_field_map(tmp_path / "m.toml") == read_field_map(tmp_path / "m.json") == expected
    assert expected.role_of("bot") == "assistant"
    assert expected.role_of("user") == "user"
    assert expected.role_of("cat") is None


def test_a_few_names_without_a_file():
    text = "session=meta.chat, prompt=question,reply=a.0.text,order_by=at,rating=stars,roles.bot=assistant"
    assert read_field_map(text) == FieldMap(
        conversation_id="meta.chat",
        prompt="question",
        reply="a.0.text",
        order_by="at",
        ratings={"rating": "stars"},
        roles={"bot": "assistant"},
    )
    for wrong, why in {
        "promt=x": "unknown key 'promt'",
        "prompt=": "key 'prompt': expected a name",
        "prompt=x,also": "unknown key 'also'",
        "roles=a,roles.b=user": "key 'roles': expected a table",
        "session=a,conversation_id=b": "name the same",
    }.items():
        with pytest.raises(ConfigError, match=why):
            read_field_map(wrong)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("gen.ai.prompt", 1),
        ("at.gen.ai.prompt", 2),
        ("at.gen.x", 3),
        ("at.gen.ai.y", MISSING),
        ("list.-1.a.b", 5),
        ("list.0", {"a.b": 4}),
        ("list.2", MISSING),
        ("list.-3", MISSING),
        ("list.x", MISSING),
        ("at.", MISSING),
    ],
)
def test_keys_with_dots_and_items_of_lists(path, value):
    record = {
        "gen.ai.prompt": 1,
        "at": {"gen.ai.prompt": 2, "gen": {"x": 3}},
        "list": [{"a.b": 4}, {"a.b": 5}],
    }
    assert look_up(record, path) == value


def test_ratings_may_be_a_list_of_columns(tmp_path):
    (tmp_path / "m.toml").write_text('ratings = ["fun", "mood"]')
    assert read_field_map(tmp_path / "m.toml").ratings == {"fun": "fun", "mood": "mood"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conversation = 'x'", r"m\.toml: unknown key 'conversation' .*conversation_id"),
        ("turn = 3", "key 'turn': expected a name or dotted path, found 3"),
        ("turn = ''", "key 'turn'"),
        ("[roles]\nbot = 'robot'", r"key 'roles\.bot': 'robot' is not a role .*assistant"),
        ("roles = 'x'", "key 'roles'"),
        ("[ratings]\na = 1", "key 'ratings'"),
        ("a = [", "no valid file"),
    ],
)
def test_errors_name_file_and_key(tmp_path, text, message):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_field_map(tmp_path / "m.toml")


def test_a_missing_or_odd_file(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_field_map(tmp_path / "none.toml")
    (tmp_path / "m.json").write_text("[1]")
    with pytest.raises(ConfigError, match="not a table"):
        read_field_map(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("a", {"b": 1}),
        ("c.0.d", 2),
        ("x.y", 3),
        ("a.z", MISSING),
        ("c.9", MISSING),
        ("q", MISSING),
    ],
)
def test_look_up(path, value):
    assert look_up({"a": {"b": 1}, "c": [{"d": 2}], "x.y": 3}, path) == value


@pytest.mark.parametrize("key", ["turn", "roles", "ratings"])
def test_a_map_that_is_nested_without_end(tmp_path, key):
    inner = '{"a":' * 900 + "1" + "}" * 900
    (tmp_path / "m.json").write_text(f'{{"{key}": {{"bot": {inner}}}}}')
    with pytest.raises(ConfigError, match=r"m\.json: key"):
        read_field_map(tmp_path / "m.json")
