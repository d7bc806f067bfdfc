from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from dialogauge.app.functions import load_function
from dialogauge.core import ConfigError

_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def module(text: str | bytes) -> str:
    """Write a module of its own name, since a module is loaded once in a process."""
    name = f"mine_{next(_NUMBERS)}"
    Path(f"{name}.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


@pytest.mark.parametrize(
    "text",
    [
        "def answer(messages): return ''",
        "def answer(messages, temperature=0): return ''",
        "def answer(*all): return ''",
        "async def answer(messages): return ''",
        "class answer:\n    def __init__(self, messages): ...",
        "import functools\nanswer = functools.partial(lambda a, messages: '', 1)",
        "answer = str",
    ],
)
def test_what_takes_messages_is_a_function(text: str) -> None:
    assert callable(load_function(f"py:{module(text)}:answer"))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x = 1\ndef answer(messages:\n", 2, "cannot be loaded: SyntaxError"),
        ("  x = 1\n", 1, "IndentationError"),
        (b"x = '\xff'\n", None, "SyntaxError"),
        (b"x = '\x00'\n", None, "SyntaxError: source code"),
        ("x = 1\nimport not_there_at_all\n", 2, "No module named 'not_there_at_all'"),
        ("x = 1\n\n1 / 0\n", 3, "ZeroDivisionError"),
        ("import sys\nsys.exit(0)\n", 2, "SystemExit: 0"),
        ("raise GeneratorExit\n", 1, "GeneratorExit"),
        ("def f(): f()\nf()\n", 1, "RecursionError"),
        ("def answers(messages): return ''\n", None, "has no 'answer'.*did you mean 'answers'"),
        ("answer = 'text'\n", None, "is not callable: it is str"),
        ("answer = 3\n", None, "is not callable: it is int"),
        ("x = 1\ndef answer(): return ''\n", 2, "cannot be called with the messages alone"),
        ("def answer(messages, key): return ''\n", 1, "missing a required argument: 'key'"),
        ("def answer(*, messages): return ''\n", 1, "cannot be called with the messages alone"),
    ],
)
def test_a_module_of_no_use_is_named_with_file_and_line(
    text: str | bytes, line: int | None, said: str
) -> None:
    name = module(text)
    with pytest.raises(ConfigError, match=said) as caught:
        load_function(f"py:{name}:answer")
    place = caught.value.place
    assert place is not None
    assert place.file.endswith(f"{name}.py")
    assert line in (None, place.line)
    assert caught.value.hint


@pytest.mark.parametrize(
    "reference",
    [
        "py:",
        "py:judges",
        "py:judges:",
        "py::answer",
        "py:.judges:answer",
        "py:..:answer",
        "py:a b:answer",
        "py:judges:an swer",
        "py:../judges:answer",
        "py:judges.py:answer:x",
        "py:ju\x00dges:answer",
        "py:judges:answer()",
        "py:1:2",
    ],
)
def test_a_name_that_is_none_is_refused(reference: str) -> None:
    with pytest.raises(ConfigError, match="has not the form py:MODULE:NAME"):
        load_function(reference)


@pytest.mark.parametrize("reference", ["py:not_there_at_all:answer", "py:not_there_at_all.x:answer"])
def test_a_module_that_is_not_there(reference: str) -> None:
    with pytest.raises(ConfigError, match=r"No module named 'not_there_at_all'.*importable from here"):
        load_function(reference)


@pytest.mark.parametrize("path", [[], ["elsewhere"], ["elsewhere", ""]])
def test_a_module_in_the_working_directory_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: list[str]
) -> None:
    name = module("def answer(messages): return 'here'")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / f"{name}.py").write_text("def answer(messages): return 'elsewhere'")
    others = [folder for folder in sys.path if folder not in ("", str(tmp_path))]
    monkeypatch.setattr(sys, "path", [*path, *others])
    assert load_function(f"py:{name}:answer")([]) == "here"


def test_a_module_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    load_function(f"py:{module('import os; os.chdir(chr(47))' + chr(10) + 'def answer(m): ...')}:answer")
    assert Path.cwd() == tmp_path
