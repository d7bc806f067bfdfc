from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialogauge.app import settings as settings_module
from dialogauge.app.merging import settings_from
from dialogauge.app.option_groups import Options
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.app.replay.settings import BenchmarkOptions, ScoreOptions
from dialogauge.app.settings import JudgeOptions, SatisfactionOptions
from dialogauge.core import ConfigError, UsageError
from dialogauge.core.settings import recorded, settings_of

FILE = """
[judge]
rubric = "task"
lang = "zh"
repeats = 3
max_failed = 0.2
gate = ["failed<=0.1"]
prices = "prices.toml"

[roles.judge]
model = "file-model"
base_url = "http://file/v1"

[roles.fast]
model = "fast-model"
base_url = "http://fast/v1"
temperature = 0.5
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "my.toml").write_text(FILE)
    return "my.toml"


def merge(**values: Any) -> JudgeOptions:
    return settings_from(JudgeOptions, inputs=("log",), **values)


def test_nothing_given_is_the_local_judge_with_the_defaults() -> None:
    assert merge() == JudgeOptions(inputs=("log",))


def test_the_file_comes_before_the_defaults(file: str) -> None:
    options = merge(config_file=file)
    assert options == JudgeOptions(
        inputs=("log",),
        rubric="task",
        language="zh",
        repeats=3,
        max_failed=0.2,
        gates=("failed<=0.1",),
        prices_file="prices.toml",
        config_file="my.toml",
    )


def test_the_command_line_comes_before_the_file(file: str) -> None:
    options = merge(config_file=file, rubric="card", language="en", repeats=1, gates=["verdict>=good:0.5"])
    assert (options.rubric, options.language, options.repeats) == ("card", "en", 1)
    assert options.gates == ("verdict>=good:0.5",)
    assert options.max_failed == 0.2


def test_a_model_means_the_judge_llm() -> None:
    options = merge(model="m@http://h/v1#K")
    assert options.judge == "llm"
    assert options.role is not None
    assert (options.role.model, options.role.base_url, options.role.api_key_env) == ("m", "http://h/v1", "K")
    assert options.role.temperature == 0.0


def test_a_role_in_the_file_is_used_when_the_judge_llm_is_asked_for(file: str) -> None:
    assert merge(config_file=file).judge == "local"
    role = merge(config_file=file, judge="llm").role
    assert role is not None
    assert role.model == "file-model"


def test_a_model_given_comes_before_the_role_of_the_file(file: str) -> None:
    role = merge(config_file=file, judge="llm", model="m@http://h").role
    assert role is not None
    assert role.model == "m"


def test_a_named_role_keeps_its_sampling(file: str) -> None:
    role = merge(config_file=file, model="fast").role
    assert role is not None
    assert (role.model, role.temperature, role.max_tokens) == ("fast-model", 0.5, 4096)


def test_the_judge_llm_without_a_model() -> None:
    with pytest.raises(UsageError, match="--judge llm needs a model") as caught:
        merge(judge="llm")
    assert "--model" in str(caught.value)


@pytest.mark.parametrize("url", ["host.example/v1", "localhost", "HTTP://host/v1", "file:///v1", " http://h"])
def test_a_base_url_that_is_none_is_no_part_of_the_models_name(url: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    with pytest.raises(UsageError, match="--base-url does not begin with http"):
        merge(model="m", base_url=url)
    with pytest.raises(UsageError, match=r"^base_url is empty \(is a variable not set"):
        merge(model="m", base_url="")


def test_the_local_judge_with_a_model() -> None:
    with pytest.raises(UsageError, match="--judge local takes no model"):
        merge(judge="local", model="m@http://h")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"judge": "gpt"}, "judge 'gpt' is not one of local, llm"),
        ({"mode": "sideways"}, "mode 'sideways' is not one of hindsight, foresight"),
        ({"language": "de"}, "language 'de' is not one of auto, en, zh"),
    ],
)
def test_unknown_choices(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        merge(**given)


def test_a_faulty_file_is_a_fault_even_when_it_is_not_needed() -> None:
    Path("dialogauge.toml").write_text("[judge]\nrepeats = 0\n")
    with pytest.raises(ConfigError, match=r"dialogauge\.toml: judge\.repeats"):
        merge()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rubrik": "card"}, "there is no setting 'rubrik' .did you mean 'rubric'"),
        ({"lang": "en"}, "there is no setting 'lang' .did you mean 'language'"),
        ({"max-calls": 3}, "there is no setting 'max-calls' .did you mean 'max_calls'"),
        ({"xyzzy": 3}, "there is no setting 'xyzzy' .one of: inputs, "),
        ({"dry_run": True}, "there is no setting 'dry_run'"),
        ({"repeats": 0}, "repeats 0 is less than 1"),
        ({"repeats": "2"}, "repeats '2' is no whole number"),
        ({"repeats": True}, "repeats True is no whole number"),
        ({"window": 7}, "window 7 is more than 6"),
        ({"max_failed": float("nan")}, "max_failed nan is less than 0"),
        ({"gates": 3}, "gates 3 is no list"),
        ({"cache": 0}, "cache 0 is neither true nor false"),
        ({"rubric": {"a": 1}}, "rubric a table is no text"),
        ({"out": ""}, "out is empty .is a variable not set"),
        ({"api_key_env": ""}, "api_key_env is empty"),
    ],
)
def test_python_is_refused_in_the_words_of_the_command_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        merge(**values)


def test_one_text_is_a_list_of_one() -> None:
    assert merge(gates="failed<=0.1").gates == ("failed<=0.1",)


def test_a_setting_that_is_needed_is_missing() -> None:
    with pytest.raises(UsageError, match="the setting 'out' is missing"):
        settings_from(PairOptions, inputs=("run",), kind="kto")


def test_paths_and_whole_numbers_become_what_settings_hold() -> None:
    settings = merge(out=Path("run"), max_cost=2)
    assert (settings.out, settings.max_cost, type(settings.max_cost)) == ("run", 2.0, float)


@pytest.mark.parametrize("kind", [SatisfactionOptions, ScoreOptions, BenchmarkOptions])
def test_limits_and_privacy_of_the_file_hold_for_every_judge(kind: Any) -> None:
    Path("dialogauge.toml").write_text(
        "[judge]\nmax_calls = 5\nmax_concurrency = 2\nrepeats = 3\nredact = true\n"
    )
    needed = {"inputs": ("data",), "run": "r", "out": "r"}
    settings = settings_from(
        kind, judge="global-mean", **{k: v for k, v in needed.items() if k in settings_of(kind)}
    )
    assert (settings.max_calls, settings.max_concurrency) == (5, 2)
    assert getattr(settings, "redact", True)


def test_the_limits_of_the_file_are_no_limits_of_commands_that_do_not_judge() -> None:
    Path("dialogauge.toml").write_text("[judge]\nmax_calls = 5\n")
    assert settings_from(PairOptions, inputs=("r",), out="o", kind="kto").max_calls is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"judge": "global-mean", "k": 3},
            "the judge global-mean takes no --k .it belongs to episodic-nearest and rag",
        ),
        ({"judge": "memory", "encoder": "x"}, "the judge memory takes no --encoder"),
        ({"judge": "global-mean", "model": "m"}, "the judge global-mean asks no model"),
        ({"judge": "spur", "level": "session"}, "the judge spur reads single replies"),
        ({"judge": "memory", "guard": True}, "--guard is for sessions.*add --level session"),
        (
            {"judge": "history-mean", "level": "session", "guard": True},
            "the judge history-mean takes no --guard .it belongs to memory and zero-shot and local",
        ),
        ({"judge": "global-mean", "mode": "hindsight"}, "reads nothing that follows a reply"),
        (
            {"judge": "rag", "strategy": "best"},
            "strategy 'best' is not one of topk, boundary-paired, score-balanced",
        ),
        (
            {"judge": "rag", "models": ["critic=m"]},
            "--role critic=...: this command has the roles judge, memory_builder",
        ),
        ({"judge": "rag", "model": "m", "models": ["judge=m"]}, "the model is given twice"),
        ({"judge": "rag", "base_url": "http://h"}, "need --model"),
        ({"judge": "rag", "models": ["m"]}, "has not the form ROLE="),
    ],
)
def test_settings_that_do_not_go_together(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings_from(SatisfactionOptions, inputs=("data",), **values)


def test_memories_are_built_by_the_model_of_the_judge_unless_another_is_named() -> None:
    settings = settings_from(SatisfactionOptions, inputs=("data",), judge="memory", model="m@http://h")
    assert {role: (r.model, r.temperature) for role, r in settings.roles.items()} == {
        "judge": ("m", 0.0),
        "memory_builder": ("m", 0.3),
    }
    models = ["memory_builder=b@http://h"]
    settings = settings_from(
        SatisfactionOptions, inputs=("data",), judge="memory", model="m@http://h", models=models
    )
    assert settings.roles["memory_builder"].model == "b"


def test_the_choices_are_those_of_the_studies() -> None:
    from typing import get_args

    from dialogauge.judges.personal.baselines import Strategy
    from dialogauge.rubrics.reply_format import VERDICTS
    from dialogauge.stats import CALIBRATIONS, Ties
    from dialogauge.studies.replay.contexts import CONTEXTS
    from dialogauge.studies.replay.selection import RULES

    satisfaction, replay = settings_of(SatisfactionOptions), settings_of(BenchmarkOptions)
    assert satisfaction["calibrate"].choices == CALIBRATIONS
    assert satisfaction["ties"].choices == get_args(Ties)
    assert satisfaction["strategy"].choices == get_args(Strategy)
    assert replay["rule"].choices == RULES
    assert replay["context"].choices == CONTEXTS
    assert settings_of(PairOptions)["min_verdict"].choices == VERDICTS


def test_a_manifest_holds_flat_names_and_no_way_to_a_model() -> None:
    held = recorded(merge(model="m@http://h", max_calls=3))
    assert held["max_calls"] == 3
    assert held["role"].model == "m"
    assert not {"model", "base_url", "api_key_env", "models", "config_file", "command"} & held.keys()


ALL = [
    kind
    for kind in vars(settings_module).values()
    if isinstance(kind, type) and issubclass(kind, Options) and kind is not Options
]


def test_every_setting_is_explained_and_its_default_is_one_of_its_values() -> None:
    for kind in ALL:
        for one in settings_of(kind).values():
            where = f"{kind.__name__}.{one.name}"
            assert one.help.endswith((".", "file")), where
            assert one.kind in (str, int, float, bool), where
            if not one.required:
                assert one.checked(one.default) == one.default, where
        options = [one.option for one in settings_of(kind).values() if not one.argument]
        assert len(options) == len(set(options)), kind.__name__


def test_settings_are_frozen_records() -> None:
    from dataclasses import FrozenInstanceError, replace

    settings = PairOptions(inputs=("r",), out="o")
    assert settings == PairOptions(inputs=("r",), out="o") != replace(settings, limit=3)
    assert "limit=None" in repr(settings)
    with pytest.raises(FrozenInstanceError):
        settings.limit = 3  # type: ignore[misc]
    with pytest.raises(TypeError, match="PairOptions needs out"):
        PairOptions(inputs=("r",))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="PairOptions has no size"):
        PairOptions(inputs=("r",), out="o", size=3)  # type: ignore[call-arg]


OUT_OF_RANGE = (-1, 2**63, -(2**63) - 1, 10**400, 10**5000, float("inf"), float("-inf"), float("nan"))


@pytest.mark.parametrize("value", OUT_OF_RANGE, ids=range(len(OUT_OF_RANGE)))
def test_every_number_has_a_range(value: float) -> None:
    for kind, one in ((k, one) for k in ALL for one in settings_of(k).values()):
        where = f"{kind.__name__}.{one.name}"
        if one.kind in (int, float):
            with pytest.raises(ValueError, match=r"is (less|more) than|is no (whole )?number") as caught:
                one.checked(value)
            assert len(str(caught.value)) < 150, where
        if one.name.endswith("seed"):
            assert (one.low, one.high) == (0, 2**32 - 1), where


@pytest.mark.parametrize("name", ["seed", "limit", "sample", "max_calls", "repeats", "max_cost"])
def test_a_number_out_of_range_is_refused_by_name(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} a number of 16,610 bits"):
        merge(**{name: 10**5000})
