"""The page on continuous integration: its workflow is read as a build reads it, and its commands are run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from flows.conftest import SAMPLES
from servers.verdicts import ideal

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
FIRST, COMPARED = (text.strip() for kind, text in BLOCKS if not kind)
NOT_MET = 100


@pytest.fixture(scope="module")
def blocks() -> list[Any]:
    """The blocks of YAML: the whole workflow, and the steps with a model."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: transformers brings it")
    return [yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml"]


@pytest.fixture
def log(tmp_path):
    shutil.copy(SAMPLES / "working.jsonl", tmp_path / "transcripts.jsonl")
    return tmp_path


def run(dialogauge, line, *more):
    words = shlex.split(line)
    assert words.pop(0) == "dialogauge"
    return dialogauge(*words, *more)


def kept(upload, folder):
    """Return the files that a step uploads."""
    return [folder / line for line in upload["with"]["path"].splitlines()]


@pytest.mark.long
def test_the_workflow_judges_and_keeps_the_page_of_a_gate_that_is_not_met(dialogauge, blocks, log):
    workflow, _ = blocks
    assert workflow["name"] == "quality"
    assert workflow[True] == ["pull_request"]  # YAML reads `on` so
    (job,) = workflow["jobs"].values()
    assert job["runs-on"] == "ubuntu-latest"
    *before, judge, upload = job["steps"]
    used = [step["uses"] for step in before if "uses" in step]
    assert used == ["actions/checkout@v4", "actions/setup-python@v5"]
    ours = [step["run"] for step in before if "run" in step]
    assert ours == ["pip install dialogauge", "python talk_to_the_assistant.py > transcripts.jsonl"]
    assert run(dialogauge, judge["run"].replace("share<=0.2", "share<=0.9")).code == 0
    missed = run(dialogauge, judge["run"], "--fresh")
    assert missed.code == NOT_MET, missed.err  # two thirds of the samples have a finding
    assert (upload["uses"], upload["if"]) == ("actions/upload-artifact@v4", "always()")
    assert all(path.stat().st_size for path in kept(upload, log))
    suite = ElementTree.parse(log / "quality.xml").getroot()
    gates = [case for case in suite.iter("testcase") if case.find("failure") is not None]
    assert [case.get("name") for case in gates] == ["findings.share<=0.2"]


def test_the_workflow_with_a_model_asks_it_and_keeps_its_replies(dialogauge, blocks, log, serve, monkeypatch):
    cache, judge = blocks[1]
    stub = serve(ideal, key="sesame")
    for name, value in judge["env"].items():
        monkeypatch.setenv(name, "sesame" if "secrets" in value else value)
    assert judge["env"]["DIALOGAUGE_CACHE"] == cache["with"]["path"]
    line = judge["run"].replace("https://api.openai.com/v1", stub.url)
    assert line != judge["run"]
    planned = run(dialogauge, line, "--dry-run")
    assert planned.code == 0
    assert " calls: about " in planned.out
    assert stub.requests == []
    assert run(dialogauge, line).code == 0
    asked = len(stub.asked)
    assert f"{asked} calls" in planned.out
    assert run(dialogauge, line, "--fresh").code == 0
    assert len(stub.asked) == asked
    assert (log / cache["with"]["path"]).is_dir()


@pytest.mark.long
def test_the_command_and_the_comparison_with_a_release(dialogauge, log):
    assert run(dialogauge, FIRST).code == NOT_MET
    shutil.copytree(log / "quality", log / "released")
    assert run(dialogauge, COMPARED).code == 0
    assert (log / "comparison" / "compare.html").exists()
    worse = COMPARED.replace("<=0.1", "<=-0.5")
    assert run(dialogauge, worse).code == NOT_MET
