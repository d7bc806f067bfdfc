"""Every command does on small fixed inputs what it did when its outputs were pinned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pins.cases import CASES, Case
from pins.normal import differences
from pins.running import EXPECTED, run_case
from sets import some_short

RENEW = "if it is meant, say so in the changelog and renew from the folder tests: python -m pins --write"


@pytest.mark.parametrize("case", some_short(CASES), ids=lambda case: case.name)
def test_what_a_command_writes_is_what_was_pinned(case: Case, tmp_path: Path) -> None:
    expected = json.loads((EXPECTED / f"{case.name}.json").read_text(encoding="utf-8"))
    actual = json.loads(json.dumps(run_case(case, tmp_path)))
    found = list(differences(expected, actual, case.close))
    if found:
        more = [f"... and {len(found) - 12} more"] if len(found) > 12 else []
        shown = "\n  ".join([*found[:12], *more])
        pytest.fail(f"{case.name} differs:\n  {shown}\n{RENEW} {case.name}", pytrace=False)


def test_each_case_is_pinned_once_and_all_are_small() -> None:
    files = list(EXPECTED.iterdir())
    assert sorted(p.stem for p in files) == sorted(case.name for case in CASES)
    assert sum(p.stat().st_size for p in files) < 1_600_000
