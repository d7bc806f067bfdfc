"""Functions of the user's own as models: whatever they do, the run ends with rows and a code."""

from __future__ import annotations

import itertools

import pytest

from flows.conftest import rows_of

_NUMBERS = itertools.count()


@pytest.fixture
def model(tmp_path, monkeypatch):
    """Writes a module whose function `answer` has this body, and names it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(body: str) -> str:
        name = f"mine_of_flows_{next(_NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(f"import os, sys\ndef answer(messages):\n    {body}\n")
        return f"py:{name}:answer"

    return write


@pytest.mark.parametrize(
    "body",
    ["raise StopIteration", "sys.exit(0)", "raise KeyboardInterrupt", "raise GeneratorExit", "return None"],
)
def test_a_function_that_ends_in_no_way_it_should(dialogauge, log, talk, tmp_path, model, body):
    done = dialogauge("judge", log(talk("a"), talk("b")), "--model", model(body), "-o", "run")
    assert done.code == 3, done.err
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 4
    assert {row["failure"]["kind"] for row in rows} == {"judge_error"}


def test_what_a_function_prints_is_no_result(dialogauge, log, talk, model):
    where = model("print('mine'); os.chdir('/'); return '{}'")
    done = dialogauge("judge", log(talk("a")), "--model", where, "-o", "run", "--json")
    assert done.json["conversations"]["requested"] == 1
    assert "mine" in done.err


def test_a_function_that_never_returns_is_given_up(dialogauge, log, talk, tmp_path, model):
    asleep = model("while True: __import__('time').sleep(1)")
    (tmp_path / "mine.toml").write_text(f'[roles.judge]\nmodel = "{asleep}"\ntimeout_s = 0.1\n')
    done = dialogauge("judge", log(talk("a")), "--judge", "llm", "--config", "mine.toml", "-o", "run")
    assert done.code == 3, done.err
    assert {row["failure"]["kind"] for row in rows_of(tmp_path / "run")} == {"timeout"}


@pytest.mark.parametrize(
    ("body", "said"), [("return (", ".py:3: py:mine_"), ("return ''\nimport not_there", ".py:4: py:mine_")]
)
def test_a_module_that_cannot_be_loaded_is_named_with_its_line(dialogauge, log, talk, model, body, said):
    done = dialogauge("judge", log(talk("a")), "--model", model(body), "-o", "run")
    assert done.code == 2
    assert said in done.err
