"""How often the light for the judge says what it should: `python -m benchmarks light`.

Users rate turns, whole users differ in level and the judge in skill. Of a judge that reads nothing, and of
one that goes by length where length tells something, "agrees" is an error; of a judge that sees what people
see, "does not".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, get_args

import numpy as np

from benchmarks.tables import table
from dialogauge.core import PlainDimension
from dialogauge.studies.judging.light import people_of
from dialogauge.studies.judging.people import Agreement
from dialogauge.studies.judging.people_tally import PeopleTally

__all__ = ["run"]

Judge = Callable[[np.random.Generator, float, float], float]
JUDGES: dict[str, Judge] = {
    "reads nothing": lambda rng, quality, length: rng.normal(),
    "goes by length": lambda rng, quality, length: length + 0.3 * rng.normal(),
    "sees a little": lambda rng, quality, length: quality + 2 * rng.normal(),
    "sees a lot": lambda rng, quality, length: quality + 0.7 * rng.normal(),
}
"""By name the score of a turn, from its quality and the standardised length of its reply."""


def rated_run(rng: np.random.Generator, judge: Judge, users: int) -> PeopleTally:
    """Draw a run: 3 to 9 conversations a user of 2 to 8 turns; some 20 % of turns are rated 3 or less."""
    tally = PeopleTally([PlainDimension("satisfaction", "turn")])
    level = tally.levels["turn"]
    for user in range(users):
        kindness = rng.normal(0, 0.5)
        for _ in range(rng.integers(3, 10)):
            number = len(tally.users)
            tally.users.append(f"u{user}")
            tally.names.append(f"c{number}")
            for turn in range(1, rng.integers(2, 9) + 1):
                quality = rng.normal()
                length = 0.3 * quality + rng.normal()
                score = 3 + np.clip(judge(rng, quality, length), -2, 2)
                rating = int(np.clip(np.floor(4.4 + kindness + quality), 1, 5))
                place = level.add(number, turn, 200 + 60 * length, {"satisfaction": score})
                level.ratings.setdefault("satisfaction", {})[place] = rating
    tally.raters["turn", "satisfaction"] = {"users"}
    return tally


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Draw runs of each judge and number of users; print how often each answer is given, and the mean AUC."""
    reps, rows = 10 if quick else 30 * times, []
    for name, judge in JUDGES.items():
        for users in (5, 10, 20, 50):
            rng, answers, aucs = np.random.default_rng(users), Counter[str](), []
            for _ in range(reps):
                people = people_of(rated_run(rng, judge, users))
                if people is not None:
                    answers[people.light.answer] += 1
                    aucs += [auc for auc in (people.light.judge.value,) if auc is not None]
            shares = {answer: answers[answer] / reps for answer in get_args(Agreement)}
            rows.append({"judge": name, "users": users, "mean AUC": float(np.mean(aucs)), **shares})
    print(table("The light for the judge", list(rows[0]), [list(row.values()) for row in rows]))
    return {"reps": reps, "rows": rows}
