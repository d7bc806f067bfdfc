"""How much a candidate's score varies: between sessions of a persona, between judgings of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import Floats
from dialogauge.studies.agreement.pooling import questions
from dialogauge.studies.agreement.sources import Answers, Question, natural
from dialogauge.studies.agreement.targets import Panel


@dataclass(frozen=True, slots=True)
class Variation:
    """How far several scores of one candidate lie apart."""

    sd: float
    """Standard deviation (n - 1)."""
    range: float
    cv: float | None
    """Coefficient of variation in per cent, 100 SD / mean; None for a mean of 0."""


@keys(question=INSIDE)
@dataclass(frozen=True, slots=True)
class Stability:
    """How stable what a judge says of a candidate is over personas x sessions x judgings."""

    question: Question
    source: str
    candidate: str
    shape: tuple[int, ...]
    """Personas, sessions of each, judgings of each session."""
    left_out: int
    """Personas that lack a session or a judging."""
    mean: float
    between: float | None
    """Variance between the sessions of a persona, without what judgings add; None for one judging each."""
    within: float | None
    """Variance between the judgings of a session; None for one judging."""
    single: Variation
    """Of single scores of a persona: the SD by the mean variance, the range by the mean over personas."""
    means: Variation
    """Of the means over personas, one for each session and judging."""


def stability_of(
    scores: Floats, question: Question, source: str, candidate: str, left_out: int = 0
) -> Stability:
    """Split the variance of a candidate's scores, shape (personas, sessions, judgings), two of a persona.

    Source: analysis of variance with random effects, within each persona. The paper's nine trials (Tables 2,
    5 and 6 of DynSess) are three sessions by three judgings, each a mean over the personas.
    """
    _, sessions, judgings = scores.shape
    within = float(scores.var(axis=2, ddof=1).mean()) if judgings > 1 else None
    between = None
    if within is not None and sessions > 1:
        between = max(float(scores.mean(axis=2).var(axis=1, ddof=1).mean()) - within / judgings, 0.0)
    mean, one = float(scores.mean()), scores.reshape(len(scores), -1)
    over = one.mean(axis=0)
    single, means = (
        Variation(sd, float(reach), 100 * sd / abs(mean) if mean else None)
        for sd, reach in (
            (float(one.var(axis=1, ddof=1).mean()) ** 0.5, np.ptp(one, axis=1).mean()),
            (float(over.std(ddof=1)), np.ptp(over)),
        )
    )
    return Stability(
        question, source, candidate, scores.shape, left_out, mean, between, within, single, means
    )


def plays(conversation: str, scenario: str | None) -> bool:
    """Say by its id whether a conversation is a session of a scenario: `NAME`, `NAME/2`, `NAME/3` ..."""
    return scenario is not None and (conversation == scenario or conversation.startswith(f"{scenario}/"))


def stabilities(sources: Panel) -> Iterable[Stability]:
    """Yield how stable each judge's scores are, where a scenario has several sessions of one candidate."""
    for question in (one for one in questions(sources.judges) if one.level == "conversation"):
        answers = sources.judges[question]
        for source in sorted({name for rated in answers.values() for name in rated.by}, key=natural):
            for candidate, scores in sorted(_trials(source, answers).items()):
                whole = scores[np.isfinite(scores).all(axis=(1, 2))]
                if scores.shape[1] > 1 and len(whole):
                    yield stability_of(whole, question, source, candidate, len(scores) - len(whole))


def _trials(source: str, answers: Answers) -> dict[str, Floats]:
    """Return by candidate its scores, (personas, sessions, judgings), NaN for none; means over dimensions."""
    by: dict[str, dict[str, dict[str, list[Mapping[int, float]]]]] = {}
    for key, rated in answers.items():
        scene, score = rated.groups.get("scenario"), rated.by.get(source)
        if key.candidate is not None and plays(key.conversation_id, scene) and isinstance(score, float):
            sessions = by.setdefault(key.candidate, {}).setdefault(str(scene), {})
            repeats = rated.repeats.get(source) or {1: score}
            sessions.setdefault(key.conversation_id, []).append(repeats)
    out = {}
    for candidate, scenes in by.items():
        every = [repeats for sessions in scenes.values() for repeats in sessions.values()]
        most, judgings = max(map(len, every)), max(repeat for of in every for one in of for repeat in one)
        out[candidate] = np.full((len(scenes), max(map(len, scenes.values())), judgings), np.nan)
        for persona, sessions in enumerate(scenes.values()):
            for session, name in enumerate(sorted(sessions, key=natural)):
                columns = [[one.get(n + 1, np.nan) for n in range(judgings)] for one in sessions[name]]
                if len(columns) == most:
                    out[candidate][persona, session] = np.mean(columns, axis=0)
    return out
