from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialogauge.app.merging import merge_judge_options
from dialogauge.app.settings import JudgeOptions
from dialogauge.core import ConfigError, UsageError

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


def merge(*, config_file: str | None = None, model: str | None = None, **given: Any) -> JudgeOptions:
    return merge_judge_options(given, config_file=config_file, model=model, fixed={"inputs": ("log",)})


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
    )


def test_the_command_line_comes_before_the_file(file: str) -> None:
    options = merge(config_file=file, rubric="card", lang="en", repeats=1, gate=["verdict>=good:0.5"])
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


def test_the_local_judge_with_a_model() -> None:
    with pytest.raises(UsageError, match="--judge local takes no model"):
        merge(judge="local", model="m@http://h")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"judge": "gpt"}, "--judge 'gpt' is none of local, llm"),
        ({"mode": "sideways"}, "--mode 'sideways' is none of hindsight, foresight"),
        ({"lang": "de"}, "--lang 'de' is none of auto, en, zh"),
    ],
)
def test_unknown_choices(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        merge(**given)


def test_a_faulty_file_is_a_fault_even_when_it_is_not_needed() -> None:
    Path("dialogauge.toml").write_text("[judge]\nrepeats = 0\n")
    with pytest.raises(ConfigError, match=r"dialogauge\.toml: judge\.repeats"):
        merge()
