"""The tutorial as a reader follows it: each command is run, each line shown is in its output."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from flows.conftest import SAMPLES
from flows.rating_pages import answered, saved, task_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
ENDS = {"dialogauge compare runs/old runs/new --gate 'finding.refuses.delta<=0.05'": 100}
"""The exit codes that are not 0."""


def rate() -> None:
    """Fill in the pages: 1 or 2 for replies with a fault, 4 or 5 for the others."""
    records = [json.loads(line) for line in Path("log.jsonl").read_text(encoding="utf-8").splitlines()]
    faults = {r["conversation_id"]: r["metadata"].get("fault_turn") for r in records}
    for second, rater in enumerate(("R1", "R2")):

        def opinion(item, question, turn, second=second):
            name = item["conversation_id"]
            if turn == faults[name]:
                return 1 + second
            return 4 if (len(name) + turn + (second and turn % 3 == 0)) % 4 == 0 else 5

        saved(Path(f"{rater}.jsonl"), answered(task_of(Path(f"rating/pages/{rater}.html")), opinion))


def steps(text: str) -> list[tuple[str, list[str]]]:
    """Return the scripts (with no output) and the commands with the lines that are shown of each."""
    found: list[tuple[str, list[str]]] = []
    for kind, block in re.findall(r"^```(python|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if kind == "python":
            found.append((block, []))
            continue
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(" ".join(line.split()))
    return found


@pytest.mark.long
def test_every_command_of_the_tutorial_prints_what_is_shown(dialogauge):
    shutil.copy(SAMPLES / "working.jsonl", "log.jsonl")
    commands = 0
    for step, lines in steps(PAGE.read_text(encoding="utf-8")):
        if not step.startswith("dialogauge "):
            exec(compile(step, PAGE.name, "exec"), {})
            continue
        if "import" in step:
            rate()
        done = dialogauge(*shlex.split(step)[1:])
        commands += 1
        assert done.code == ENDS.get(step, 0), done.err
        assert [line for line in lines if line not in done.unwrapped] == [], step
    assert commands > 9
    assert set(ENDS) <= {step for step, _ in steps(PAGE.read_text(encoding="utf-8"))}


def test_python_of_the_readme_runs(dialogauge, talk, log):
    # 20 without a finding: the upper end is 1 - .025 ** (1 / 20) = 16.8 %, and the gate takes 20 %
    log(*(talk(f"c{n}", "It opens at nine.") for n in range(20)))
    text = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")
    judging, _testing = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec(compile(judging, "README.md", "exec"), {})
