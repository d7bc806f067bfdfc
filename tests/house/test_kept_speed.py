"""None of the kept costs may rise; CI measures them before the tests."""

import json
from pathlib import Path

import pytest
from benchmarks import kept

ROOT = Path(__file__).resolve().parents[2]
KEPT = json.loads((ROOT / "benchmarks" / "kept.json").read_text())


@pytest.mark.parametrize("times", [1.24, 1.26])
@pytest.mark.parametrize("slow", KEPT)
def test_a_cost_above_a_quarter_more_than_is_kept_fails(monkeypatch, slow, times):
    def measured(module, name, enough):
        assert enough == pytest.approx(1.25 * KEPT[name])
        best = KEPT[name] * (times if name == slow else 1.0)
        return {"ratios": [2 * best, best, 3 * best]}

    monkeypatch.setattr(kept, "in_process", measured)
    if times < 1.25:
        assert kept.run(5)[slow] == pytest.approx(KEPT[slow] * times)
        return
    with pytest.raises(SystemExit) as end:
        kept.run(5)
    assert end.value.code == 1


def test_a_round_that_is_within_the_bound_ends_the_check_and_five_are_the_most(monkeypatch):
    monkeypatch.setattr(kept, "_local", lambda folder: iter([9.0, 4.0, 8.0, 7.0, 6.0, 5.0]))
    name = "local judge to one pass over the text"
    assert kept.measure(name, 4.5) == {"ratios": [9.0, 4.0]}
    assert kept.measure(name, 1.0) == {"ratios": [9.0, 4.0, 8.0, 7.0, 6.0]}


def test_ci_measures_before_it_tests():
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    (measured,) = (i for i, line in enumerate(lines) if "-m benchmarks kept" in line)
    assert measured < min(i for i, line in enumerate(lines) if line.startswith("make --silent test"))
