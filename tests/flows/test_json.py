"""Every command with `--json` says what it prints, and prints nothing else."""

from __future__ import annotations

import copy
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialogauge.app.printed.commands import json_schema, printing_commands
from flows.conftest import EXAMPLES
from pins.cases import Case
from pins.running import run_case
from printed import check_printed, misfit
from sets import some_short

ROOT = EXAMPLES.parent
MODEL = "--model stub-model --base-url SERVER --max-concurrency 1"
POOL = "--candidate m=stub-model@SERVER --candidate n=big@SERVER --role judge=stub-model@SERVER"
RATED = "rated.jsonl --split-file split.json"
ITEMS = "replay select rated.jsonl --rule random -n 4 --split-file split.json -o items.json"

STEPS = {
    "judge": (
        f"judge log.jsonl --repeats 2 --ratings people.csv --prices prices.toml {MODEL} --json -o run",
        "judge odd.jsonl --json -o odd",
        "judge log.jsonl --dry-run --json -o planned",
        f"judge log.jsonl --dry-run {MODEL} --json -o planned",
    ),
    "check": ("check odd.jsonl --ratings people.csv --pii --json",),
    "runs": ("judge log.jsonl --limit 2 -o run", "runs . --json"),
    "compare": (
        "judge log.jsonl --limit 6 -o a",
        "judge log.jsonl --limit 4 -o b",
        "compare a b --by language --gate findings.delta<=0.9 --json",
    ),
    "trust": (
        "judge log.jsonl -o run",
        "trust run --ratings people.csv --json",
        "trust run --scenario-sample 2 --dry-run --json",
    ),
    "agreement": (
        "judge log.jsonl -o one",
        f"judge log.jsonl {MODEL} -o two",
        "agreement one two --ratings people.csv --json",
        f"satisfaction {RATED} --judge history-mean -o mean",
        f"satisfaction {RATED} --judge local -o local",
        "agreement mean local --json",
    ),
    "pairs": (
        "judge log.jsonl -o run",
        "pairs run --kind kto --unchecked --json -o kto.jsonl",
        "arena choices.jsonl -o people",
        "pairs people --unchecked --json -o dpo.jsonl",
        f"pairs run --unchecked {MODEL} --dry-run --json -o dpo.jsonl",
    ),
    "fit": ("fit rated.jsonl --cv 4 --json -o run", "fit rated.jsonl --cv 3 --json -o model.json"),
    "satisfaction": (
        f"satisfaction sessions.json --level session --split all --judge memory --guard {MODEL} --json "
        "-o run",
        f"satisfaction {RATED} --judge local-user --calibrate cdf --json -o local",
        f"satisfaction {RATED} --judge zero-shot --dry-run {MODEL} --json -o planned",
    ),
    "simulate": (
        f"simulate scenarios.jsonl --candidate m=stub-model@SERVER --turns 2 {MODEL} --json -o run",
        f"simulate scenarios.jsonl --candidate m=stub-model@SERVER --turns 2 {MODEL} --dry-run --json -o no",
    ),
    "lookahead": (
        f"lookahead scenarios.jsonl {POOL} --segments 2 --segment-turns 1 {MODEL} --json -o run",
        f"lookahead scenarios.jsonl {POOL} {MODEL} --dry-run --json -o no",
    ),
    "tune compare": ("TUNED sft", "TUNED gsrpo", "tune compare sft gsrpo --json"),
    "learn run": (
        "learn run --system bm25-message --json -o run",
        f"learn run --system bm25-message {MODEL} --dry-run --json -o planned",
    ),
    "learn dialogues": (
        "learn dialogues --tasks family --sample 5 --system bm25-message --json -o run",
        f"learn dialogues --tasks family --sample 5 {MODEL} --dry-run --json -o planned",
    ),
    "learn compare": ("learn run --no-controls -o run", "learn compare run --json"),
    "learn calibrate": ("learn calibrate --json",),
    "learn tasks": ("learn tasks --json",),
    "learn systems": ("learn systems --json",),
    "success": (f"success {EXAMPLES}/agent_calls.jsonl --kind tau --json -o run",),
    "arena": (
        "arena choices.jsonl --draws 50 --json -o people",
        f"arena choices.jsonl {MODEL} --dry-run --prices prices.toml --json",
    ),
    "doctor": ("doctor --model stub-model --base-url SERVER --json",),
    "annotate status": ("annotate make log.jsonl --raters 2 -o rating", "annotate status rating --json"),
    "replay compare": (
        ITEMS,
        "ANSWER items.json",
        "replay collect items.json --candidate replies:long.jsonl -o run",
        "replay score run --judge local",
        "replay compare run --json",
    ),
    "replay run": (
        ITEMS,
        "ANSWER items.json",
        f"replay run {RATED} --rule random -n 4 --judge history-mean --candidate replies:long.jsonl "
        "--json -o run",
        f"replay run {RATED} --rule random -n 4 --judge zero-shot {MODEL} --candidate m=stub-model@SERVER "
        "--dry-run --json -o planned",
    ),
}
"""By command: what shows its keys, on the files of the pins."""


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every schema of an object inside a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inside in schema.values():
            yield from objects(inside)
    elif isinstance(schema, list):
        for inside in schema:
            yield from objects(inside)


def commands_with_json() -> set[str]:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "command_reference.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = reference
    spec.loader.exec_module(reference)
    return {name for name in reference.commands() if "--json" in reference.flags_of(name)}


def test_every_command_with_json_has_a_schema_and_an_example() -> None:
    assert commands_with_json() == set(printing_commands()) == STEPS.keys()


@pytest.mark.parametrize("command", some_short(list(STEPS), 2))
def test_what_a_command_prints_is_as_its_schema_says(command: str, tmp_path: Path) -> None:
    steps = tuple(tuple(line.split()) for line in STEPS[command])
    record = run_case(Case(command, steps), tmp_path)
    printed = [step for step in record["steps"] if "--json" in step["command"].split()]
    assert printed
    assert all("output" in step for step in printed), printed


@pytest.mark.parametrize("command", printing_commands())
def test_the_option_prints_the_schema_and_asks_for_nothing_else(dialogauge, command: str) -> None:
    done = dialogauge(*command.split(), "--json-schema")
    assert (done.code, done.json) == (0, json_schema(command))
    assert done.json["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert all("additionalProperties" in one for one in objects(done.json))
    records = done.json["$defs"].values()
    assert all(one["additionalProperties"] is False and "required" in one for one in records)


def test_a_key_more_and_a_key_less_are_seen(dialogauge, log, talk) -> None:
    printed = dialogauge("judge", log(talk("a")), "--json").json
    more, less = copy.deepcopy(printed), copy.deepcopy(printed)
    more["dimensions"]["helpfulness"]["median"] = 4.0
    del less["dimensions"]["helpfulness"]["mean"]
    assert misfit(printed, json_schema("judge")) is None
    with pytest.raises(AssertionError, match=r"\.dimensions\.helpfulness\.median is not in the schema"):
        check_printed(("judge",), more)
    with pytest.raises(AssertionError, match=r"\.dimensions\.helpfulness\.mean is missing"):
        check_printed(("judge",), less)
    with pytest.raises(AssertionError, match="`export --json` has no schema"):
        check_printed(("export",), printed)
