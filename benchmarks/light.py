"""How often the light for the judge says what it should: `python -m benchmarks.light [--reps N]`.

Users rate turns, whole users differ in level and the judge in skill. Of a judge that reads nothing, and of
one that goes by length where length tells something, "agrees" is an error; of a judge that sees what people
see, "does not".
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np

from dialogauge.core import PlainDimension
from dialogauge.studies.judging.light import people_of
from dialogauge.studies.judging.people_tally import PeopleTally

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


def main() -> None:
    """Print for each judge and number of users how often each answer is given, and the mean AUC."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=60)
    reps = parser.parse_args().reps
    print("| judge | users | AUC | agrees | does not | cannot tell |\n|---|---|---|---|---|---|")
    for name, judge in JUDGES.items():
        for users in (5, 10, 20, 50):
            rng, answers, aucs = np.random.default_rng(users), Counter[str](), []
            for _ in range(reps):
                people = people_of(rated_run(rng, judge, users))
                if people is not None:
                    answers[people.light.answer] += 1
                    aucs.append(people.light.judge.value or 0.5)
            shares = " | ".join(f"{answers[a] / reps:.2f}" for a in ("agrees", "does not", "cannot tell"))
            print(f"| {name} | {users} | {np.mean(aucs):.2f} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
