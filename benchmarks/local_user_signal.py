"""Signals of the judge `local-user`: what the scores of another judge add, and what the same add shuffled.

The scores that help are made here, of the users' own ratings and noise: they show what the machinery does
with a judge of a given quality, and say nothing of any judge there is.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.recllmsim import folder, read_study
from benchmarks.tables import table

__all__ = ["run"]

_MEASURES = ("pearson", "within_user_pearson")
_NOISE = (1.0, 2.0, 4.0)
"""Deviations of what is added to the users' own ratings."""


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Judge the dev users of RecLLMSim alone and with each signal; print and return the figures."""
    del times, quick
    data = folder()
    if data is None:
        print("local_user_signal needs RecLLMSim: set DIALOGAUGE_SHARED")
        return {}
    study = read_study(data)
    judged = {name: _judged(study, scores) for name, scores in _signals(study).items()}
    figures = _figures(judged)
    head = (
        "signal",
        "its own Pearson",
        "weight",
        "train, left out",
        *("whole: P", "S", "QWK", "F1", "within", "expected: P", "within"),
        *("more P, expected", "more within, expected"),
    )
    print(
        table("local-user on the 20 dev users, with signals", head, [_row(n, f) for n, f in figures.items()])
    )
    return figures


def _signals(study: Any) -> dict[str, Mapping[str, float] | None]:  # noqa: ANN401 - imported where measured
    blocks = (*study.blocks, *study.population.blocks)
    found: dict[str, Mapping[str, float] | None] = {"none": None, "local": _local(blocks)}
    for noise in _NOISE:
        found[f"made: gold and noise of {noise:g}"] = _noisy(blocks, noise)
    shuffled = {f"{name}, shuffled": _shuffled(blocks, s) for name, s in found.items() if s is not None}
    return {**found, **shuffled}


def _local(blocks: Sequence[Any]) -> dict[str, float]:
    from dialogauge.core.protocols import Population, request_for
    from dialogauge.judges.local.judge import LocalJudge

    judge = LocalJudge("foresight", rubric_id="satisfaction")
    out = {}
    for block in blocks:
        for row in asyncio.run(judge.judge(request_for(block.view.targets, block.view, Population(())))):
            score = row.outcome.scores["satisfaction"]
            if not isinstance(score, str):  # n/a
                out[row.outcome.details["turn_id"]] = score.value
    return out


def _noisy(blocks: Sequence[Any], noise: float) -> dict[str, float]:
    rng = random.Random(0)
    rated = [rated for block in blocks for rated in block.ratings]
    return {r.reply.id: min(5.0, max(1.0, round(r.score + rng.gauss(0, noise)))) for r in rated}


def _shuffled(blocks: Sequence[Any], scores: Mapping[str, float]) -> dict[str, float]:
    """Deal the scores of each block anew among its turns."""
    rng = random.Random(1)
    out: dict[str, float] = {}
    for block in blocks:
        ids = [t.id for t in block.view.targets if t.id in scores]
        out |= zip(ids, rng.sample([scores[i] for i in ids], len(ids)), strict=True)
    return out


def _judged(study: Any, scores: Mapping[str, float] | None) -> dict[str, Any]:  # noqa: ANN401
    from dialogauge.core.protocols import request_for
    from dialogauge.judges.local_user.judge import LocalUserJudge
    from dialogauge.judges.local_user.model import ScoreSignal
    from dialogauge.stats import pearson
    from dialogauge.studies.satisfaction.answers import answers_of

    judge = LocalUserJudge(signals=() if scores is None else (ScoreSignal("signal", scores),))
    out: dict[str, Any] = {"answers": [], "own": None, "weight": None}
    for block in study.blocks:
        rows = asyncio.run(judge.judge(request_for(block.view.targets, block.view, study.population)))
        out["answers"] += answers_of(block, rows)
    out["train"] = judge.describe()["fitted_on"]["left_out_pearson"]
    if scores is not None:
        both = [
            (scores[r.reply.id], r.score) for b in study.blocks for r in b.ratings if r.reply.id in scores
        ]
        out["own"] = pearson([s for s, _ in both], [g for _, g in both])
        out["weight"] = judge.weights["signal"]
    return out


def _figures(judged: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    from dialogauge.stats import compare_pairs, figures_of
    from dialogauge.studies.satisfaction.figures import (
        PEOPLE,
        RULE,
        judge_scores,
        metrics_of,
        rated_table,
    )

    names = ("pearson", "spearman", "qwk", "f1_dsat", "within_user_pearson")
    table = rated_table(next(iter(judged.values()))["answers"])
    expected = {name: judge_scores(found["answers"]) for name, found in judged.items()}
    whole = {name: scores.rounded() for name, scores in expected.items()}
    pairs = [(name, "none") for name in judged if name != "none"]
    drawn = figures_of(table, expected, PEOPLE, _MEASURES, rule=RULE)
    more = compare_pairs(drawn, pairs, _MEASURES)
    figures = {"whole": metrics_of(table, whole), "expected": metrics_of(table, expected)}
    return {
        name: {
            **{k: found[k] for k in ("own", "weight", "train")},
            **{kind: {n: of[name].values[n] for n in names} for kind, of in figures.items()},
            "more": {c.measure: [c.difference.value, c.difference.interval] for c in more if c.a == name},
        }
        for name, found in judged.items()
    }


def _row(name: str, f: Mapping[str, Any]) -> list[object]:
    whole = [f"{v:.3f}" for v in f["whole"].values()]
    told = [f"{f['expected'][m]:.3f}" for m in _MEASURES]
    more = [f"{d:+.3f} [{i[0]:.3f}, {i[1]:.3f}]" if i else f"{d:+.3f}" for d, i in f["more"].values()] or [
        "",
        "",
    ]
    ends = ["" if f[k] is None else f"{f[k]:.3f}" for k in ("own", "weight")]
    return [name, *ends, f"{f['train']:.3f}", *whole, *told, *more]
