"""What the pages tell to type is typed here, each command and snippet; what they show is printed."""

from __future__ import annotations

import ast
import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import NAMES as BENCHES

from flows.page_commands import PAGES, ROOT, commands_of, outputs_of, snippets_of, text_of
from flows.page_worlds import BEFORE, WORLDS, filled_in, rated_by_people, replied
from sets import some_short

ELSEWHERE = {
    "CHANGELOG.md": "names commands, and tells nobody to type them",
    "docs/ci.md": "test_ci.py runs its commands, with the workflow around them",
    "docs/tutorial.md": "test_tutorial.py runs it as one story, and holds every line that it shows",
}
NOT_RUN = {
    "make": "installs, or takes minutes; the target must exist",
    "source .venv/bin/activate": "the shell is not there",
    "export MY_KEY=...": "the same; the variable is set",
    "dialogauge tune": "trains a model: test_tune.py does",
    "python -m benchmarks": "takes minutes, or needs other tools; the bench must exist",
}
ENDS = {"--gate": {0, 100}, "doctor": {0, 1}}
"""Exit codes beside 0: of a gate that is not met, and of a model that is not fit, which the script is not."""


def not_run(command: str) -> bool:
    """Say whether a command is of those that are not run, after looking whether what it names exists."""
    words = shlex.split(command)
    words = words[next(n for n, word in enumerate(words) if "=" not in word) :]
    if words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    if words[:3] == ["python", "-m", "benchmarks"]:
        assert set(words[3:]) <= set(BENCHES)
    return any(words[: len(start)] == start for start in map(str.split, NOT_RUN))


def is_shown(block: str, unwrapped: str) -> bool:
    """Say whether a block was printed: sentences whole, rows of a table one by one."""
    parts = block.strip().split("\n\n")
    pieces = [piece for part in parts for piece in (part.splitlines() if "──" in part else [part])]
    return all(" ".join(piece.split()) in unwrapped for piece in pieces)


TYPED = [page for page in PAGES if page not in ELSEWHERE and not all(map(not_run, commands_of(page)))]


@pytest.mark.parametrize("page", some_short(TYPED))
def test_every_command_of_a_page_runs(page, dialogauge, serve, monkeypatch):
    url = serve(replied).url
    WORLDS[page]()
    printed = []
    monkeypatch.setenv("MY_KEY", "sesame")
    monkeypatch.setattr(sys, "stdin", io.StringIO("Good evening.\n/end\n4\n"))
    for command in (*BEFORE.get(page, ()), *commands_of(page)):
        if not_run(command):
            continue
        words = [
            name
            for word in shlex.split(filled_in(page, command, url))
            for name in (sorted(map(str, Path().glob(word))) if word.endswith("*") else [word])
        ]
        if words[0] == "dialogauge":
            del words[0]
        if words[:2] == ["annotate", "import"]:
            rated_by_people(words[2])
        done = dialogauge(*words)
        ends = next((codes for word, codes in ENDS.items() if word in words), {0})
        assert done.code in ends, (command, done.err)
        printed.append(done.unwrapped)
    assert [block for block in outputs_of(page) if not any(is_shown(block, text) for text in printed)] == []


@pytest.mark.long
def test_every_block_of_a_report_is_explained(dialogauge, serve):
    """Of the local judge with and without ratings, of a model, and of agents that use tools."""
    WORLDS["docs/local-judge.md"]()
    model = ("--model", "m", "--base-url", serve(replied).url)
    dialogauge("judge", "log.jsonl", "-o", "local")
    dialogauge("judge", "log.jsonl", "--ratings", "ratings.csv", "-o", "rated")
    dialogauge("judge", "log.jsonl", *model, "--unchecked", "-o", "model")
    dialogauge("judge", "agent.jsonl", "--rubric", "td-turn", *model, "--unchecked", "-o", "agents")
    whole = ("--rubric", "roleplay-turn", "--unchecked", "-o", "sessions")
    dialogauge("judge", "log.jsonl", *model, *whole)
    explained = text_of("docs/report.md").replace("'", "’")
    titles = {
        title
        for page in Path().glob("*/report.html")
        for title in re.findall(r"<h2[^>]*>([^<]+)</h2>", page.read_text(encoding="utf-8"))
    }
    assert len(titles) > 10
    assert {title for title in titles if title not in explained} == set()
    blocks = set(re.findall(r"^## (.*)", explained, re.MULTILINE)) - {"Verdicts"}  # stand in another block
    assert blocks - titles == set()


PYTHON = {
    "README.md": "test_tutorial.py and test_pytest_plugin.py",
    "docs/inspect.md": "test_inspect.py, where Inspect is installed (make inspect)",
    "docs/pytest.md": "test_pytest_plugin.py",
    "docs/tutorial.md": "test_tutorial.py",
}
"""Where all snippets of a page are run; those of docs/library.md, a dialogue with Python, in tests/house."""


def test_no_snippet_is_left_out():
    assert {page for page in PAGES if snippets_of(page, "python")} == set(PYTHON)
    assert {page for page in PAGES if snippets_of(page, "pycon")} == {"docs/library.md"}
    for page in PAGES:
        for snippet in snippets_of(page, "python"):
            ast.parse(snippet)


def test_no_command_is_left_out():
    assert set(WORLDS) == set(TYPED)
    assert set(ELSEWHERE) <= set(PAGES)
    left_out = [command for page in PAGES for command in commands_of(page) if not_run(command)]
    assert {next(start for start in NOT_RUN if start in command) for command in left_out} == set(NOT_RUN)
