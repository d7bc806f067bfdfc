"""Table 3 of TD-Eval: an agent's score in tau-bench is the mean over airline and retail of its turns' means.

A turn of which the judge did not give every dimension as a number takes no part. GPT-4o and GPT-3.5 are the
paper's own figures; of the others the paper shows another run than the published files hold, and the figures
are those of the summaries beside these files (github.com/emrecanacikgoz/TD-Eval, commit f13c301). The retail
run of GPT-4o-mini is not in the pack; the summary of Llama-405B counts other turns than its file.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from functools import cache
from statistics import fmean

import pytest
from benchmarks.tdeval import PACK, SHARED

from dialogauge.stats import group_means, macro_mean

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("tdeval"),
]

DIMENSIONS = ("cohesion", "backend", "policy")
TABLE = {
    "gpt-4o": (4.6601, 4.1256, 4.3568),
    "gpt-3.5-turbo-0125": (4.4066, 4.0506, 3.5106),
    "claude-3-5-sonnet-20241022": (4.6155, 4.1011, 4.5103),
    "Llama-3.3-70B-Instruct": (4.7324, 4.4756, 4.0768),
    "Mistral-Large-Instruct-2407": (4.5616, 4.0931, 4.1606),
}


@cache
def judged() -> dict[str, dict[tuple[str, int, int], dict[str, float]]]:
    """By agent and turn the scores; of one that was not a plain number NaN."""
    turns: dict[str, dict] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(PACK / "judge_scores_tau.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            turn = (row["domain"], row["task"], row["turn"])
            score = row["score"] if row["parse"] == "int" else math.nan
            turns[row["agent"]][turn][row["dimension"]] = score
    return turns


def tau(agent: str, dimension: str, *, whole: bool = True) -> float:
    """The mean over airline and retail, of turns that have all dimensions, or of all scores."""
    turns = judged()[agent]
    values = [
        s[dimension] if not whole or all(map(math.isfinite, s.values())) else math.nan for s in turns.values()
    ]
    domains = group_means(values, [domain for domain, _, _ in turns])
    assert sorted(domains) == ["airline", "retail"]
    mean = macro_mean(domains)
    assert mean is not None
    return mean


def test_every_turn_was_asked_for_three_dimensions():
    counts = {a: len(turns) for a, turns in judged().items()}
    assert sum(counts.values()) == 6521
    assert all(len(s) == 3 for turns in judged().values() for s in turns.values())


@pytest.mark.parametrize("agent", TABLE)
def test_the_tau_scores_of_an_agent(agent):
    assert [tau(agent, d) for d in DIMENSIONS] == pytest.approx(TABLE[agent], abs=1e-4)


def test_keeping_the_other_dimensions_of_such_turns_gives_other_figures():
    """One word in place of a number costs the turn all three scores, and only so are the figures these."""
    moved = {
        a: max(abs(tau(a, d, whole=False) - v) for d, v in zip(DIMENSIONS, TABLE[a], strict=True))
        for a in TABLE
    }
    assert max(moved.values()) > 1e-3


def test_the_order_by_the_judge_is_not_that_of_success():
    """An agent that falls silent in a third of its runs comes first: only turns with a reply are judged."""
    overall = {agent: fmean(tau(agent, d) for d in DIMENSIONS) for agent in TABLE}
    assert sorted(overall, key=overall.get, reverse=True) == [
        "Llama-3.3-70B-Instruct",
        "claude-3-5-sonnet-20241022",
        "gpt-4o",
        "Mistral-Large-Instruct-2407",
        "gpt-3.5-turbo-0125",
    ]
    tasks = {task for domain, task, _ in judged()["Llama-3.3-70B-Instruct"] if domain == "retail"}
    assert len(tasks) == 75  # of 115
