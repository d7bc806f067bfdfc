"""Where conversations go: only to a place that the user named."""

from __future__ import annotations

from pathlib import Path

import pytest

from servers.verdicts import ideal

REACHED = "configuration: dialogauge.toml"


@pytest.fixture(autouse=True)
def _keyed(monkeypatch, dialogauge):
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret-of-mine")
    monkeypatch.delenv("DIALOGAUGE_CONFIG", raising=False)


def configured(stub, *more):
    Path("dialogauge.toml").write_text(
        "\n".join(('[roles."gpt-mine"]', 'model = "m"', f'base_url = "{stub.url}"', *more))
    )


@pytest.mark.parametrize("words", [("--model", "gpt-mine"), ("--role", "judge=gpt-mine")])
@pytest.mark.parametrize("command", ["judge", "doctor"])
def test_a_model_without_an_endpoint_is_refused_although_there_is_a_key(
    dialogauge, log, talk, command, words
):
    data = (log(talk("a")),) if command == "judge" else ()
    done = dialogauge(command, *data, *words)
    assert done.code == 2
    assert "'gpt-mine' is neither a role nor an agent in the configuration" in done.err
    assert "gpt-mine@URL" in done.err


def test_a_configuration_here_sends_no_key_to_where_it_likes(dialogauge, serve, log, talk, tmp_path):
    other = serve(ideal)
    configured(other, 'api_key_env = "OPENAI_API_KEY"')
    done = dialogauge("judge", log(talk("a")), "--model", "gpt-mine", "-o", "run")
    assert done.code == 2
    assert "sends the key of OPENAI_API_KEY" in done.err
    assert REACHED in done.err
    assert not other.requests
    done = dialogauge("judge", "log.jsonl", "--model", "gpt-mine", "-o", "run", "--config", "dialogauge.toml")
    assert done.code == 0, done.err
    assert {h["Authorization"] for h in other.headers} == {"Bearer s3cret-of-mine"}


def test_a_configuration_here_is_no_second_meaning_of_a_model(dialogauge, serve, log, talk, monkeypatch):
    other, mine = serve(ideal), serve(ideal)
    configured(other)
    monkeypatch.setenv("OPENAI_BASE_URL", mine.url)
    done = dialogauge("judge", log(talk("a")), "--model", "gpt-mine", "-o", "run")
    assert done.code == 2
    assert "may be a model at" in done.err
    assert not other.requests + mine.requests
    done = dialogauge("judge", "log.jsonl", "--model", f"gpt-mine@{mine.url}", "-o", "run")
    assert done.code == 0, done.err
    assert {h["Authorization"] for h in mine.headers} == {"Bearer s3cret-of-mine"}


def test_a_configuration_here_runs_no_code(dialogauge, log, talk, tmp_path):
    (tmp_path / "mine_of_here.py").write_text("open('ran', 'w')\ndef answer(messages): return ''\n")
    Path("dialogauge.toml").write_text('[roles.judge]\nmodel = "py:mine_of_here:answer"\n')
    done = dialogauge("judge", log(talk("a")), "--judge", "llm", "-o", "run")
    assert done.code == 2
    assert "runs py:mine_of_here:answer" in done.err
    assert not (tmp_path / "ran").exists()


def test_a_run_of_anybodys_sends_no_key_away(dialogauge, serve, log, talk):
    stub = serve(ideal)
    at = ("--model", "m", "--base-url", stub.url, "--api-key-env", "OPENAI_API_KEY")
    assert dialogauge("judge", log(talk("a", scenario_description="A tour.")), *at, "-o", "run").code == 0
    done = dialogauge("trust", "run", "--scenario-sample", 1)
    assert done.code == 2
    assert "the judge of the run sends the key of OPENAI_API_KEY" in done.err
    assert dialogauge("trust", "run", "--scenario-sample", 1, *at).code == 0


def test_a_model_of_the_configuration_that_is_not_used_is_named(dialogauge, log, talk):
    Path("mine.toml").write_text('[roles.judge]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    done = dialogauge("judge", log(talk("a")), "--config", "mine.toml", "-o", "run")
    assert done.code == 0, done.err
    assert "configuration: mine.toml" in done.err
    assert "[roles.judge] is not used: the judge is local; --judge llm asks the model" in done.err
    done = dialogauge("judge", "log.jsonl", "--json", "-o", "run")
    assert done.json
    assert "configuration" not in done.err
