"""How often the light for the judge says what it should: `python -m benchmarks light`.

Users rate turns from 1 to 5, mostly 4 and 5. Users differ in level, and so do conversations; later turns
and shorter replies are a little worse. A judge that gives each user or each conversation one score knows that
very score (the mean of the ratings): "agrees" is an error of it, as of judges of position and length. A judge
that sees the turn must be said to agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from benchmarks.tables import table
from dialogauge.core import PlainDimension
from dialogauge.studies.judging.light import agreement_of
from dialogauge.studies.judging.people import Agreement, Light
from dialogauge.studies.judging.people_tally import PeopleTally

__all__ = ["run"]

Floats = npt.NDArray[np.float64]
USERS = (10, 20, 50)
SPREADS = (0.6, 1.0)
"""Of users' levels, in standard deviations; that of turns is 1."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Rated turns, shape (n,) each."""

    users: npt.NDArray[np.intp]
    conversations: npt.NDArray[np.intp]
    turns: Floats
    lengths: Floats
    seen: Floats
    """What is particular to the turn, standardised."""
    scores: Floats


def draw(rng: np.random.Generator, users: int, spread: float) -> Ratings:
    """Draw 3 to 6 conversations a user with 4 to 12 rated turns each; some 15 to 20 % are rated 3 or less."""
    per_user = rng.integers(3, 7, users)
    of_user = np.repeat(np.arange(users), per_user)
    turns = rng.integers(4, 13, of_user.size)
    conversation = np.repeat(np.arange(of_user.size), turns)
    turn = np.concatenate([np.arange(1, n + 1) for n in turns]).astype(np.float64)
    seen, length = rng.normal(size=(2, turn.size))
    level = rng.normal(0, spread, users)[of_user] + rng.normal(0, 0.4, of_user.size)
    quality = level[conversation] + seen + 0.1 * length - 0.04 * (turn - 4)
    typical = np.sqrt(1.2 + spread**2)  # its standard deviation: cuts at 4, 17 and 50 % of all turns
    scores = 5.0 - (quality < 0) - (quality < -0.95 * typical) - (quality < -1.75 * typical)
    return Ratings(
        of_user[conversation], conversation, turn, np.round(200 * np.exp(0.5 * length)), seen, scores
    )


Judge = Callable[[np.random.Generator, Ratings], Floats]


def _mean(of: npt.NDArray[np.intp], ratings: Ratings) -> Floats:
    means: Floats = (np.bincount(of, ratings.scores) / np.bincount(of))[of]
    return means


def _jitter(rng: np.random.Generator, values: Floats) -> Floats:
    noisy: Floats = values + rng.normal(0, 0.3 * values.std() + 1e-9, values.size)
    return noisy


JUDGES: Mapping[str, Judge] = {
    "one score a user": lambda rng, r: _mean(r.users, r),
    "one score a user, jittered": lambda rng, r: _jitter(rng, _mean(r.users, r)),
    "one score a conversation": lambda rng, r: _mean(r.conversations, r),
    "position": lambda rng, r: -r.turns,
    "position, jittered": lambda rng, r: _jitter(rng, -r.turns),
    "length": lambda rng, r: r.lengths,
    "length, jittered": lambda rng, r: _jitter(rng, r.lengths),
    "reads nothing": lambda rng, r: rng.normal(size=r.turns.size),
    "sees the turn": lambda rng, r: r.seen + 2.7 * rng.normal(size=r.turns.size),
}
"""By name the scores of the turns. The last one has an AUC of about .65 within users."""


def light_of(ratings: Ratings, scores: Floats) -> Light:
    """Return the light of a judge that gives the turns these scores."""
    tally = PeopleTally([PlainDimension("satisfaction", "turn")])
    level = tally.levels["turn"]
    first = np.unique(ratings.conversations, return_index=True)[1]
    tally.users += [f"u{user}" for user in ratings.users[first]]
    tally.names += [f"c{number}" for number in range(first.size)]
    places = np.argsort(np.argsort(scores, kind="stable")) / scores.size
    rows = zip(ratings.conversations, ratings.turns, ratings.lengths, 1 + 4 * places, strict=True)
    if np.unique(scores).size < scores.size / 2:
        ranks = np.unique(scores, return_inverse=True)[1]
        rows = zip(
            ratings.conversations,
            ratings.turns,
            ratings.lengths,
            1 + 4 * ranks / (ranks.max() + 1),
            strict=True,
        )
    for place, (conversation, turn, length, score) in enumerate(rows):
        level.add(int(conversation), float(turn), float(length), {"satisfaction": float(score)})
        level.ratings.setdefault("satisfaction", {})[place] = float(ratings.scores[place])
    tally.raters["turn", "satisfaction"] = {"users"}
    light = agreement_of(tally, "satisfaction", "turn")
    if light is None:
        msg = "nobody rated anything"
        raise RuntimeError(msg)
    return light


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Draw ratings for each judge, number of users and spread; print how often each answer is given."""
    reps, rows = 10 if quick else 200 * times, []
    for spread in SPREADS:
        for users in USERS:
            rng = np.random.default_rng([users, round(10 * spread)])
            answers = {name: Counter[str]() for name in JUDGES}
            aucs: dict[str, list[tuple[float, float]]] = {name: [] for name in JUDGES}
            for _ in range(reps):
                ratings = draw(rng, users, spread)
                for name, judge in JUDGES.items():
                    light = light_of(ratings, judge(rng, ratings))
                    answers[name][light.answer] += 1
                    if (
                        light.judge.value is not None
                        and light.within
                        and light.within[0].judge.value is not None
                    ):
                        aucs[name].append((light.judge.value, light.within[0].judge.value))
            for name in JUDGES:
                whole, within = np.mean(aucs[name], axis=0) if aucs[name] else (np.nan, np.nan)
                shares = {answer: answers[name][answer] / reps for answer in get_args(Agreement)}
                about = {"judge": name, "users": users, "users' SD": spread}
                rows.append({**about, "AUC": float(whole), "within users": float(within), **shares})
    print(table("The light for the judge", list(rows[0]), [list(row.values()) for row in rows]))
    return {"reps": reps, "rows": rows}
