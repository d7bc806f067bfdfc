from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from dialogauge.app.clients import Clients, read_key
from dialogauge.app.config import RoleSettings, model_of, parse_role, with_defaults
from dialogauge.app.environment import cache_folder
from dialogauge.app.merging import FileConfig, load_config
from dialogauge.app.option_groups import LimitOptions
from dialogauge.core import ConfigError

# -- how a model is given ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "model", "url", "key"),
    [
        ("gpt", "gpt", None, None),
        ("gpt@http://host:8000/v1", "gpt", "http://host:8000/v1", None),
        ("gpt@https://host/v1#MY_KEY", "gpt", "https://host/v1", "MY_KEY"),
        ("gpt#MY_KEY", "gpt", None, "MY_KEY"),
        ("gpt@http://host#", "gpt", "http://host", None),
        ("meta-llama/Llama-3.1-8B@http://host/v1", "meta-llama/Llama-3.1-8B", "http://host/v1", None),
        ("qwen2.5:7b-q4@http://localhost:11434/v1", "qwen2.5:7b-q4", "http://localhost:11434/v1", None),
        ("claude-3@20240620@https://host/v1#K", "claude-3@20240620", "https://host/v1", "K"),
        ("@cf/meta/llama-3-8b@https://host/v1", "@cf/meta/llama-3-8b", "https://host/v1", None),
        ("@cf/meta/llama-3-8b", "@cf/meta/llama-3-8b", None, None),
        ("claude-3@20240620", "claude-3@20240620", None, None),
        ("gpt@http://user:pw@host/v1", "gpt", "http://user:pw@host/v1", None),
        ("gpt@http://[::1]:8000/v1#K2", "gpt", "http://[::1]:8000/v1", "K2"),
        ("file:/models/a b@c#d", "file:/models/a b@c#d", None, None),
        ("file:./model", "file:./model", None, None),
        ("py:my.judges:answer", "py:my.judges:answer", None, None),
    ],
)
def test_forms_of_a_model(text: str, model: str, url: str | None, key: str | None) -> None:
    assert parse_role(text, {}) == RoleSettings(model=model, base_url=url, api_key_env=key)


def test_a_name_in_the_file_is_that_role_with_all_its_settings() -> None:
    role = RoleSettings(model="m", base_url="http://h", temperature=0.2, headers={"X": "y"})
    assert parse_role("fast", {"fast": role}) is role
    assert parse_role("faster", {"fast": role}).model == "faster"


@pytest.mark.parametrize("text", ["", "@http://host", "#KEY", "@http://host#KEY"])
def test_a_reference_without_a_model_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="names no model; roles in the file: fast") as caught:
        parse_role(text, {"fast": RoleSettings(model="m")})
    assert "MODEL@URL#KEYVAR" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "gpt@localhost",
        "gpt@localhost/v1",
        "gpt@10.0.0.3:8000",
        "a@b@host.example:443/v1#K",
        "gpt@api.host.example/v1",
        "gpt@HTTPS://host.example/v1",
        "gpt@ftp://host",
        "gpt@//host/v1",
    ],
)
def test_a_url_without_http_is_not_taken_for_a_part_of_the_name(text: str) -> None:
    with pytest.raises(ConfigError, match="is no URL") as caught:
        parse_role(text, {})
    assert "http://" in str(caught.value)


@pytest.mark.parametrize("key", ["sk-Abc123", "Bearer x", "1KEY", "A=b"])
def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(ConfigError, match="environment variable") as caught:
        parse_role(f"gpt@http://host#{key}", {})
    assert key not in str(caught.value)
    with pytest.raises(ValidationError):
        RoleSettings(model="m", api_key_env=key)


# -- defaults, environment, keys --------------------------------------------------------------------


def test_a_role_gets_its_sampling_defaults() -> None:
    judge = with_defaults(RoleSettings(model="m", base_url="http://h"), "judge")
    assert (judge.temperature, judge.max_tokens) == (0.0, 4096)
    repair = with_defaults(RoleSettings(model="m", base_url="http://h", temperature=0.0), "repair")
    assert (repair.temperature, repair.max_tokens) == (0.0, 1024)
    assert with_defaults(RoleSettings(model="m", base_url="http://h"), "unheard of").temperature is None


def test_without_an_endpoint_the_environment_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://here/v1")
    assert with_defaults(RoleSettings(model="m"), "judge").base_url == "http://here/v1"
    assert with_defaults(RoleSettings(model="m", api_key_env="MINE"), "judge").api_key_env == "MINE"


@pytest.mark.parametrize("given", ["gpt", "gpt#MY_KEY", "claude-3@20240620"])
def test_a_model_without_an_endpoint_is_refused_whatever_keys_there_are(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    with pytest.raises(
        ConfigError, match=r"neither a role nor an agent in the configuration.*no endpoint"
    ) as caught:
        model_of(given, "judge", {})
    assert "@URL" in str(caught.value)
    assert "https://api.openai.com/v1" in str(caught.value)
    with pytest.raises(ConfigError, match="no endpoint"):
        model_of(None, "judge", {"judge": RoleSettings(model="gpt")})


@pytest.mark.parametrize("base_url", [None, "http://here/v1"])
def test_a_name_that_is_nearly_a_known_one_is_no_model_of_the_environment(
    base_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    if base_url is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", base_url)
    roles = {"fast": RoleSettings(model="m", base_url="http://h")}
    with pytest.raises(ConfigError, match="did you mean 'fast'"):
        model_of("fasst", "judge", roles)
    with pytest.raises(ConfigError, match="did you mean 'alpha'"):
        model_of("alhpa", "candidate", roles, ["alpha"])
    assert model_of("fasst@http://h", "judge", roles).model == "fasst"


@pytest.mark.parametrize(
    ("named", "url", "has_key", "variable"),
    [
        ("http://here/v1", "http://there", True, None),
        ("http://here/v1", "http://here:8080/v1", True, None),
        ("http://here/v1", "https://here/v1", True, None),
        ("http://here/v1", "https://api.openai.com/v1", True, None),
        ("http://here/v1", "http://here:80/v1/", True, "OPENAI_API_KEY"),
        ("http://here/v1", "http://here/v1", False, None),
        (None, "https://api.openai.com/v1", False, "OPENAI_API_KEY"),
        (None, "http://api.openai.com/v1", True, None),
        (None, "https://api.openai.com.evil.example/v1", True, None),
        (None, "https://api.openai.com@evil.example/v1", True, None),
        (None, "http://[", True, None),
    ],
)
def test_a_key_is_sent_only_to_the_endpoint_it_was_named_for(
    named: str | None, url: str, has_key: bool, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("OPENAI_BASE_URL", named), ("OPENAI_API_KEY", "s3cret" if has_key else None)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert with_defaults(RoleSettings(model="m", base_url=url), "judge").api_key_env == variable


@pytest.mark.parametrize("model", ["file:/m", "py:a:b"])
def test_a_model_in_process_has_no_endpoint(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://here/v1")
    settings = with_defaults(RoleSettings(model=model), "judge")
    assert (settings.base_url, settings.api_key_env) == (None, None)


def test_a_key_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    assert read_key(RoleSettings(model="m", api_key_env="MY_KEY"), "judge") == "secret"
    assert read_key(RoleSettings(model="m"), "judge") is None


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_missing_key_names_role_and_variable(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(ConfigError, match="'judge' takes its key from the variable MY_KEY") as caught:
        read_key(RoleSettings(model="m", api_key_env="MY_KEY"), "judge")
    assert "export MY_KEY" in str(caught.value)


def test_no_settings_hold_the_key_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-key")
    settings = with_defaults(parse_role("m@http://h#MY_KEY", {}), "judge")
    read_key(settings, "judge")
    assert "s3cret-key" not in repr(settings) + settings.model_dump_json() + str(settings)


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALOGAUGE_CACHE", "/a/b")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/a/b")
    monkeypatch.delenv("DIALOGAUGE_CACHE")
    assert cache_folder() == Path("/x/dialogauge")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/ann")
    assert cache_folder() == Path("/home/ann/.cache/dialogauge")


@pytest.mark.parametrize("model", ["file:", "file:none", "file:org/name", "file:log.jsonl"])
def test_a_folder_that_is_not_there_is_looked_for_nowhere_else(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_text("")
    with pytest.raises(ConfigError, match=r"the folder .* of the model is not there"):
        Clients(LimitOptions(cache=False)).build(RoleSettings(model=model), "judge")


def test_a_user_without_a_home_has_no_cache_and_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("DIALOGAUGE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    Clients(LimitOptions()).build(RoleSettings(model="m", base_url="http://127.0.0.1:9/v1"), "judge")
    assert "no response cache: there is no home folder; DIALOGAUGE_CACHE" in caplog.text


# -- the file -------------------------------------------------------------------------------------


def written(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "my.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_whole_file(tmp_path: Path) -> None:
    config = load_config(
        written(
            tmp_path,
            """
            [judge]
            rubric = "task"
            mode = "foresight"
            gate = ["failed<=0.1"]
            max_cost = 2
            [roles.judge]
            model = "m"
            base_url = "http://h/v1"
            api_key_env = "K"
            headers = {X-Team = "a"}
            extra = {top_k = 3}
            """,
        )
    )
    assert config.judge == {
        "rubric": "task",
        "mode": "foresight",
        "gate": ("failed<=0.1",),
        "max_cost": 2.0,
    }
    assert config.roles["judge"].extra == {"top_k": 3}


def test_no_file_is_needed_and_the_one_here_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(None) == FileConfig()
    (tmp_path / "dialogauge.toml").write_text("[judge]\nrepeats = 3\n")
    assert load_config(None).judge == {"repeats": 3}


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, RoleSettings]:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "DIALOGAUGE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    Path("dialogauge.toml").write_text(
        """
        [roles]
        local = {model = "m", base_url = "http://localhost:8000/v1"}
        judge = {model = "m", base_url = "http://[::1]:8000/v1"}
        keyed = {model = "m", base_url = "http://127.0.0.1:8000/v1", api_key_env = "OPENAI_API_KEY"}
        away = {model = "m", base_url = "https://localhost.example/v1"}
        user = {model = "m", base_url = "http://127.0.0.1@away.example/v1"}
        odd = {model = "m", base_url = "http://["}
        code = {model = "py:mine:answer"}
        folder = {model = "file:weights"}
        """
    )
    return load_config(None).roles


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("keyed", "sends the key of OPENAI_API_KEY"),
        ("away", "sends conversations to another machine"),
        ("user", "sends conversations to another machine"),
        ("odd", "sends conversations to another machine"),
        ("code", "runs py:mine:answer"),
        ("folder", "runs file:weights"),
    ],
)
def test_a_file_that_nobody_named_sends_nothing_away_and_runs_nothing(
    found: Mapping[str, RoleSettings], name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = rf"the role '{name}' of dialogauge\.toml, which was found here and not named, {what}"
    with pytest.raises(ConfigError, match=message) as caught:
        parse_role(name, found)
    assert "--config dialogauge.toml" in str(caught.value)
    assert load_config("dialogauge.toml").roles[name].model
    monkeypatch.setenv("DIALOGAUGE_CONFIG", "dialogauge.toml")
    assert load_config(None).roles[name].model


def test_a_file_that_nobody_named_may_name_a_server_on_this_machine(
    found: Mapping[str, RoleSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parse_role("local", found).base_url == "http://localhost:8000/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://here/v1")
    with pytest.raises(ConfigError, match=r"'local' is a role of dialogauge\.toml.*may be a model at http"):
        parse_role("local", found)
    assert model_of(None, "judge", found).base_url == "http://[::1]:8000/v1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[judge]\nrubrik = 'card'",
            r"my\.toml: judge\.rubrik: there is no such setting .did you mean rubric",
        ),
        (
            "[roles.judge]\nmodel = 'm'\napi_key = 'x'",
            r"my\.toml: roles\.judge\.api_key: there is no such setting .did you mean api_key_env",
        ),
        ("[roles.judge]\nbase_url = 'x'", r"my\.toml: roles\.judge\.model: field required"),
        ("[roles.judge]\nmodel = 'm'\ntemperature = -1", r"roles\.judge\.temperature: .*greater than"),
        ("[roles.judge]\nmodel = 'm'\ntemperature = 'hot'", r"roles\.judge\.temperature: .*number"),
        ("[roles.judge]\nmodel = 'm'\nmax_tokens = 0", r"roles\.judge\.max_tokens: "),
        ("[judge]\nrepeats = 'x'", r"my\.toml: judge\.repeats: 'x' is no whole number"),
        ("[judge]\nrepeats = 0", r"my\.toml: judge\.repeats: 0 is less than 1"),
        ("[judge]\nmax_concurrency = 0", r"judge\.max_concurrency: 0 is less than 1"),
        ("[judge]\nmax_failed = 5", r"judge\.max_failed: 5 is more than 1"),
        ("[judge]\nmax_calls = -1", r"judge\.max_calls: -1 is less than 0"),
        ("[judge]\nwindow = 20", r"judge\.window: 20 is more than 6"),
        (
            "[judge]\nmode = 'sideways'",
            r"my\.toml: judge\.mode: 'sideways' is not one of hindsight, foresight",
        ),
        ("[judge]\nlang = 'de'", r"my\.toml: judge\.lang: 'de' is not one of auto, en, zh"),
        ("[judge]\ngate = 'failed<=0.1'", r"judge\.gate: 'failed<=0.1' is no list"),
        ("[judge]\nlimit = 5", r"my\.toml: judge\.limit: there is no such setting"),
        ("[judge]\nredact = 1", r"judge\.redact: 1 is neither true nor false"),
        ("[judge]\nrepeats = true", r"judge\.repeats: True is no whole number"),
        ("[judge]\nrepeats = '3'", r"judge\.repeats: '3' is no whole number"),
        ("[judge]\nmax_failed = nan", r"judge\.max_failed: nan is less than 0"),
        ("[judge]\nrubric = {a = 1}", r"judge\.rubric: a table is no text"),
        *(
            (f"[roles.judge]\nmodel = 'm'\nextra = {{a = [1, {{b = {value}}}]}}", rf"extra\.a\.1\.b {said}")
            for value, said in (
                ("2026-01-01", "is a date, .*in quotes"),
                ("2026-01-01T10:00:00Z", "is a datetime"),
                ("10:00:00", "is a time"),
                ("inf", "is inf"),
                ("nan", "is nan"),
                ("0x1" + "0" * 16, "is a number of more than 64 bits"),
                ("0x1" + "0" * 5000, "is a number of more than 64 bits"),
            )
        ),
        (f"[roles.judge]\nmodel = 'm'\nextra.{'a.' * 900}b = 1", r"extra\.a\.a.* is nested too deeply"),
        ("[roles.judge]\nmodel = 'm'\nextra = 2026-01-01", r"roles\.judge\.extra: .*dictionary"),
        ("[roles.judge]\nmodel = 2026-01-01", r"roles\.judge\.model: .*string"),
        ("[roles.judge]\nmodel = ''", r"roles\.judge\.model: .*at least 1"),
        ("[roles.judge]\nmodel = 'm'\nheaders = {a = 1}", r"roles\.judge\.headers\.a: .*string"),
        *(
            (f"[roles.judge]\nmodel = 'm'\n{key} = {value}", rf"roles\.judge\.{key}: ")
            for key in ("temperature", "top_p", "max_tokens", "seed", "timeout_s", "deadline_s")
            for value in (
                "inf",
                "nan",
                "-inf",
                "1" + "0" * 400,
                "0x1" + "0" * 5000,
                "-2",
                "1979-05-27",
                "'x'",
            )
        ),
        *(
            (f"[judge]\n{key} = {value}", rf"judge\.{key}: ")
            for key in ("repeats", "seed", "max_calls", "max_cost", "max_concurrency", "max_failed", "window")
            for value in (
                "inf",
                "nan",
                "-inf",
                "1" + "0" * 400,
                "0x1" + "0" * 5000,
                "-1",
                "1979-05-27",
                "'x'",
            )
        ),
        (f"[judge]\nseed = 1{'0' * 5000}", r"my\.toml is not a TOML file: .*digits"),
        ("[judge]\nrubric = 2026-01-01T10:00:00Z", r"judge\.rubric: .* is no text"),
        ('[judge]\nrubric = "a\\u0000b"', r"judge\.rubric: .* holds the character 0"),
        ("[judge]\nseed = 1\nseed = 2\nrepeats = 1", r"my\.toml is not a TOML file: .*line 3"),
        ("[judge]\n[judge]", r"my\.toml is not a TOML file: .*line 2"),
        ("judge = 3", r"my\.toml: judge: a table is needed"),
        ("[roles]\njudge = 3", r"my\.toml: roles\.judge: "),
        ("[trust]\nlength_correlation = 2", r"trust\.length_correlation: 2 is more than 1"),
        ("[trust]\nlength_corelation = 1", r"trust\.length_corelation: .*did you mean length_correlation"),
        ("[judges]\n", r"my\.toml: judges: there is no such table .did you mean judge"),
        ("[judge", r"my\.toml is not a TOML file"),
        (b"[judge]\nrubric = '\xff'", r"my\.toml:2: the configuration file is not UTF-8: byte 0xff"),
    ],
)
def test_a_faulty_file_is_named_with_its_key(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(written(tmp_path, text))


@pytest.mark.parametrize("value", ["sk-Abc123", "Bearer s3cret"])
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match=r"roles\.judge\.api_key_env: .*variable") as caught:
        load_config(written(tmp_path, f"[roles.judge]\nmodel = 'm'\napi_key_env = '{value}'"))
    assert value.lower() not in str(caught.value).lower()


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: there is no such file"):
        load_config(str(tmp_path / "none.toml"))
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(str(tmp_path))
