"""What the judge `local-user` stands on: its figures with one part taken out, the rest fitted without it.

On the dev users, and on the training users, each left out of the fit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.recllmsim import folder, read_study
from benchmarks.tables import table

__all__ = ["run"]

_MODEL = "dialogauge.judges.local_user.model."
_PROCESS = "dialogauge.judges.local_user.process."
_CUTS = "dialogauge.stats.cuts."
_EXPECTED = ("pearson", "spearman", "within_user_pearson", "within_block_pearson")
_WHOLE = ("pearson", "spearman", "qwk", "f1_dsat", "within_user_pearson")

_Part = Mapping[str, object]
_ANSWERS: _Part = {_MODEL + "_answering": lambda *_: None}
_WORDS: _Part = {_MODEL + "declines": lambda _: 0.0, _MODEL + "takes_leave": lambda _: False}
_OWN_FORM: _Part = {_PROCESS + "READING": 0.0}
_SHARED_FORM: _Part = {_MODEL + "_FORM": 0.0}
_TOPICS: _Part = {_MODEL + "_TOPIC": 0.0}
_READING = {**_OWN_FORM, **_SHARED_FORM, **_TOPICS}


def _without_history(user: Any, belief: Any) -> Any:  # noqa: ANN401 - imported where measured
    from dialogauge.judges.local_user.process import prior

    return prior(belief, user.rows)


_NO_HISTORY: _Part = {_PROCESS + "_left_out": _without_history}
_PARTS: Mapping[str, _Part] = {
    "all": {},
    "every reply taken to answer": _ANSWERS,
    "nothing told by its words": _WORDS,
    "courtesies read too": {"dialogauge.judges.local_user.features.substance_of": lambda reply, _: reply},
    "without the user's own view of the form": _OWN_FORM,
    "without all users' view of the form": _SHARED_FORM,
    "without topics": _TOPICS,
    "without both: of others only the mean, and what answers": {**_SHARED_FORM, **_TOPICS},
    "without any reading but whether it answers, and its words": _READING,
    "without any reading: levels only": {**_READING, **_ANSWERS, **_WORDS},
    "without history: the training users only": _NO_HISTORY,
    "without the level of the user": {_PROCESS + "LEVEL": 0.0},
    "without that of the scenario": {_PROCESS + "SCENARIO": 0.0},
    "without that of the conversation": {_PROCESS + "SESSION": 0.0},
    "scores as frequent as people's": {_CUTS + "_MORE_THREES": 0.0, _CUTS + "_MORE_FIVES": 0.0},
}


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Judge without each part; print and return the figures. Quick: the dev users alone."""
    del times
    data = folder()
    if data is None:
        print("local_user_parts needs RecLLMSim: set DIALOGAUGE_SHARED")
        return {}
    studies = {"dev": read_study(data)}
    if not quick:
        studies["training users left out"] = read_study(data, "train")
    figures: dict[str, Any] = {}
    for name, part in _PARTS.items():
        figures[name] = {users: _figures(study, part) for users, study in studies.items()}
    head = ["", *(f"{users}, {kind}" for users in studies for kind in ("expected", "whole"))]
    title = (
        "local-user; expected: Pearson / Spearman / within user / within block, "
        "whole: Pearson / Spearman / QWK / F1 / within user"
    )
    rows = [[name, *(_shown(k) for f in of.values() for k in f.values())] for name, of in figures.items()]
    print(table(title, head, rows))
    return figures


def _figures(study: Any, part: _Part) -> dict[str, list[float | None]]:  # noqa: ANN401
    from dialogauge.studies.satisfaction.figures import judge_scores, metrics_of, rated_table

    with ExitStack() as patches:
        for name, value in part.items():
            patches.enter_context(patch(name, value))
        answers = _judged(study, history=part is not _NO_HISTORY)
    scores = judge_scores(answers)
    columns = {"expected": scores, "whole": scores.rounded()}
    found = metrics_of(rated_table(answers), columns, intervals=False)
    return {
        kind: [found[kind].values[name] for name in names]
        for kind, names in (("expected", _EXPECTED), ("whole", _WHOLE))
    }


def _judged(study: Any, *, history: bool) -> list[Any]:  # noqa: ANN401
    from dialogauge.core.protocols import request_for
    from dialogauge.judges.local_user.judge import LocalUserJudge
    from dialogauge.studies.satisfaction.answers import answers_of
    from dialogauge.studies.satisfaction.blocks import others_of

    judge, others, answers = LocalUserJudge(), others_of(study), []
    for block in study.blocks:
        view = block.view if history else replace(block.view, history=())
        rows = asyncio.run(judge.judge(request_for(view.targets, view, others(view.user))))
        answers += answers_of(block, rows)
    return answers


def _shown(figures: list[float | None]) -> str:
    return " / ".join("–" if f is None or np.isnan(f) else f"{f:.3f}" for f in figures)
