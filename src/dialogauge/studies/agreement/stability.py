"""How much a candidate's score varies: between sessions of a persona, between judgings of a session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import Floats
from dialogauge.studies.agreement.pooling import questions
from dialogauge.studies.agreement.sources import Answers, Question, natural
from dialogauge.studies.agreement.targets import Panel

_SESSION: Final = "/"
"""Between the id of a scenario and the number of its further sessions."""


@dataclass(frozen=True, slots=True)
class Variation:
    """How far several scores of one candidate lie apart."""

    sd: float
    """Standard deviation (n - 1)."""
    range: float
    cv: float | None
    """Coefficient of variation in per cent: 100 SD / mean; None for a mean of 0."""


@dataclass(frozen=True, slots=True)
class Spreads:
    """The score of one candidate over sessions and judgings."""

    personas: int
    sessions: int
    """Of each persona."""
    judgings: int
    """Of each session."""
    mean: float
    between: float | None
    """Variance between the sessions of a persona, that of the judgings taken off; None for one session or one
    judging each, of which nothing can be told apart."""
    within: float | None
    """Variance between the judgings of a session; None for one judging."""
    single: Variation
    """Of single scores of a persona: the SD by the mean variance, the range by the mean over personas."""
    means: Variation
    """Of the means over personas, one for each session and judging."""


@keys(question=INSIDE, spreads=INSIDE)
@dataclass(frozen=True, slots=True)
class Stability:
    """How stable what a judge says of a candidate is."""

    question: Question
    source: str
    candidate: str
    spreads: Spreads
    left_out: int
    """Personas that lack a session or a judging."""


def spreads_of(scores: Floats) -> Spreads:
    """Split the variance of the scores of one candidate.

    Source: one-way analysis of variance with random effects, within each persona. The paper's nine trials
    (Tables 2, 5 and 6 of DynSess) are three sessions by three judgings, each a mean over the personas.

    Args:
        scores: Shape (personas, sessions, judgings), finite; two scores or more of each persona.
    """
    personas, sessions, judgings = scores.shape
    within = float(scores.var(axis=2, ddof=1).mean()) if judgings > 1 else None
    between = None
    if sessions > 1 and within is not None:
        between = max(float(scores.mean(axis=2).var(axis=1, ddof=1).mean()) - within / judgings, 0.0)
    mean, trials = float(scores.mean()), scores.reshape(personas, -1)

    def variation(sd: float, reach: float) -> Variation:
        return Variation(sd, reach, 100 * sd / abs(mean) if mean else None)

    over = trials.mean(axis=0)
    single = variation(
        float(np.sqrt(trials.var(axis=1, ddof=1).mean())), float(np.ptp(trials, axis=1).mean())
    )
    means = variation(float(over.std(ddof=1)), float(np.ptp(over)))
    return Spreads(personas, sessions, judgings, mean, between, within, single, means)


def plays(conversation: str, scenario: str) -> bool:
    """Say by its id whether a conversation is one of the sessions of a scenario, as `simulate` names them."""
    return conversation == scenario or conversation.startswith(f"{scenario}{_SESSION}")


def stabilities(sources: Panel) -> Iterable[Stability]:
    """Yield how stable each judge's scores are, where a scenario has several sessions of one candidate."""
    for question in questions(sources.judges):
        answers = sources.judges[question]
        names = {name for rated in answers.values() for name in rated.by}
        for source in sorted(names, key=natural) if question.level == "conversation" else ():
            for candidate, by_persona in sorted(_trials(source, answers).items()):
                sessions = max(map(len, by_persona.values()))
                judgings = max(len(of) for sessions_of in by_persona.values() for of in sessions_of)
                whole = [
                    np.array(of)
                    for of in by_persona.values()
                    if len(of) == sessions and all(len(one) == judgings for one in of)
                ]
                if sessions > 1 and whole:
                    spreads = spreads_of(np.stack(whole))
                    yield Stability(question, source, candidate, spreads, len(by_persona) - len(whole))


def _trials(source: str, answers: Answers) -> dict[str, dict[str, list[list[float]]]]:
    """Return by candidate and scenario the scores of each session, by judging; the mean over dimensions."""
    dimensions: dict[tuple[str, str, str], list[list[float]]] = {}
    for key, rated in answers.items():
        scenario = rated.groups.get("scenario")
        score, conversation = rated.by.get(source), key.conversation_id
        if scenario is None or key.candidate is None or score is None or isinstance(score, str):
            continue
        if plays(conversation, scenario):
            repeats = rated.repeats.get(source) or {1: score}
            place = key.candidate, scenario, conversation
            dimensions.setdefault(place, []).append([repeats[of] for of in sorted(repeats)])
    most = max(map(len, dimensions.values()), default=0)
    out: dict[str, dict[str, list[list[float]]]] = {}
    for (candidate, scenario, _), of in sorted(dimensions.items(), key=lambda one: natural(one[0][2])):
        sessions = out.setdefault(candidate, {}).setdefault(scenario, [])
        alike = len(of) == most and len({len(one) for one in of}) == 1
        sessions.append(np.mean(of, axis=0).tolist() if alike else [])
    return out
