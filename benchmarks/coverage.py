"""How often the intervals hold the truth, and how often one of two equal judges is called better.

Users rate mostly 4 and 5, each on their own level; a judge sees the quality of a reply with its own skill and
its own leaning for every user; users have few turns or many. The truth is the figure of very many users.
Beside it what percentiles of bootstrap draws of users give, which is how intervals were made before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.tables import table
from benchmarks.two_samples import two_samples
from dialogauge.stats import (
    MEASURES,
    Basis,
    Gain,
    ScoreTable,
    compare_pairs,
    control_columns,
    controls_of,
    figures_of,
    macro_gain,
    mean_of_sums,
    pair_up,
    parse_rule,
    scores_of,
)
from dialogauge.stats.comparison import sign_flip_p
from dialogauge.stats.pairs import Weights
from dialogauge.stats.reading import table_of
from dialogauge.studies.judging.worst import worst_group

__all__ = [
    "FIGURES",
    "Sampling",
    "coverage",
    "levels",
    "rare_failure_level",
    "rare_faults",
    "replay_level",
    "run",
    "shared_causes",
    "uneven_level",
    "worst_scenario",
]

CLUSTERS = (3, 5, 10, 20, 50)
FIGURES = (
    "pearson", "spearman", "qwk", "exact", "mae", "bias", "f1_dsat", "f1_macro", "auc",
    "within_user_pearson", "per_user_pearson", "per_user_mae", "ac1", "ac2", "alpha_ordinal",
)  # fmt: skip
_RULE = parse_rule("3")
_CUTS = np.array([-2.1, -1.6, -0.9, 0.1])
"""Most ratings are 4 and 5."""
_UNEVEN = ((0.5,), (0.5, 0.25), (0.35, 0.35), (0.4, 0.4), (0.27, 0.27, 0.26))
"""Of the targets, what the users with most of them hold."""
_BEYOND = (6, 8, 12, 20, 50)
"""Users of samples that hide what intervals stand on."""
_ROW = {"turn": 1, "repeat": 1, "level": "turn", "scores": {"helpfulness": 3}, "candidate": None}
_ROW |= {"failure": None, "whole": None, "verdict": None, "weakest_turn": None}
"""What all rows have in common of which the worst group is found."""
_ALPHA = 0.05
_DRAWS = 200


@dataclass(frozen=True, slots=True)
class Sampling:
    """How users, their ratings and a judge are drawn."""

    turns: int = 12
    """Of a user, on average; the spread is log-normal."""
    skill: float = 0.6
    skill_of_users: float = 0.35
    """How far the judge's skill differs between users (standard deviation of its slope)."""
    leaning_of_users: float = 0.4
    level_of_users: float = 0.6

    def table(self, rng: np.random.Generator, users: int) -> ScoreTable:
        """Draw users with the ratings of their turns and the scores of two equally good judges."""
        sizes = np.maximum(1, np.round(rng.lognormal(np.log(self.turns) - 0.3, 0.8, users))).astype(int)
        user = np.repeat(np.arange(users), sizes)
        quality = rng.normal(size=user.size)
        people = _whole(rng.normal(0, self.level_of_users, users)[user] + 0.8 * quality)
        judges = {
            name: _whole(
                rng.normal(0, self.leaning_of_users, users)[user]
                + rng.normal(self.skill, self.skill_of_users, users)[user] * quality
                + rng.normal(0, 0.7, user.size)
            )
            for name in ("judge", "other")
        }
        sources = {name: scores_of(values) for name, values in {**judges, "people": people}.items()}
        labels = tuple(user.tolist())
        lengths = rng.lognormal(5, 1, user.size)
        return ScoreTable(sources, labels, "users", labels, lengths=lengths)

    def truth(self, figures: Sequence[str]) -> dict[str, float]:
        """Return the figures of very many users."""
        rng, values = np.random.default_rng(99), []
        for _ in range(20):
            of = self.table(rng, 3000)
            judged = {"judge": of.sources["judge"]}
            figure = figures_of(of, judged, "people", figures, rule=_RULE, intervals=False)["judge"].values
            values.append([figure[name] or 0.0 for name in figures])
        return dict(zip(figures, np.mean(values, axis=0).tolist(), strict=True))


def _whole(latent: np.ndarray) -> np.ndarray:
    return 1.0 + (latent[:, None] > _CUTS).sum(axis=1)


def coverage(
    sampling: Sampling, figures: Sequence[str], users: int, samples: int, *, before: bool = False
) -> dict[str, dict[str, float]]:
    """Return by figure how often its interval holds the truth, how wide it is, and how often there is one.

    Args:
        sampling: How samples are drawn.
        figures: Names of measures.
        users: In a sample.
        samples: How many.
        before: Whether to draw bootstrap percentiles too.
    """
    truth, rng = sampling.truth(figures), np.random.default_rng(users)
    hits: dict[str, list[tuple[bool, float]]] = {name: [] for name in figures}
    drawn: dict[str, list[bool]] = {name: [] for name in figures}
    for _ in range(samples):
        of = sampling.table(rng, users)
        judge = figures_of(of, {"judge": of.sources["judge"]}, "people", figures, rule=_RULE)["judge"]
        for name, estimate in judge.estimates.items():
            if estimate.interval is not None:
                low, high = estimate.interval
                hits[name].append((low <= truth[name] <= high, high - low))
        for name, (low, high) in _percentiles(of, figures, rng) if before else ():
            drawn[name].append(low <= truth[name] <= high)
    return {
        name: {
            "coverage": float(np.mean([hit for hit, _ in of])) if of else float("nan"),
            "width": float(np.mean([width for _, width in of])) if of else float("nan"),
            "has one": len(of) / samples,
            "bootstrap": float(np.mean(drawn[name])) if drawn[name] else float("nan"),
        }
        for name, of in hits.items()
    }


def _percentiles(
    of: ScoreTable, figures: Sequence[str], rng: np.random.Generator
) -> Iterator[tuple[str, tuple[float, float]]]:
    pairs = pair_up(of, of.sources["judge"], of.sources["people"], _RULE)
    users = of.cluster_codes[1]
    weights = Weights(pairs, rng.multinomial(users, np.full(users, 1 / users), size=_DRAWS).astype(float))
    for name in figures:
        values = MEASURES[name].prepare(pairs).figure(weights)
        values = values[np.isfinite(values)]
        if values.size * 2 >= _DRAWS:
            low, high = np.quantile(values, [0.025, 0.975])
            yield name, (float(low), float(high))


def levels(
    sampling: Sampling, figures: Sequence[str], users: int, samples: int, *, against: str = "other"
) -> dict[str, float]:
    """Return by figure how often a single comparison calls the judge better or worse than its equal.

    Args:
        sampling: How samples are drawn.
        figures: Names of measures.
        users: In a sample.
        samples: How many.
        against: `other`, a judge of the same skill; or a control, for a judge without any.
    """
    rng, rejected = np.random.default_rng(users), dict.fromkeys(figures, 0)
    for _ in range(samples):
        of = sampling.table(rng, users)
        columns: Mapping[str, Any] = of.sources
        if against != "other":
            controls = controls_of(of, "judge", "people", rule=_RULE)
            columns = {"judge": of.sources["judge"], **control_columns(controls)}
        mine = {name: columns[name] for name in ("judge", against)}
        both = figures_of(of, mine, "people", figures, rule=_RULE)
        for name in figures:
            (one,) = compare_pairs(both, [("judge", against)], [name])
            rejected[name] += one.p is not None and one.p <= max(_ALPHA, sign_flip_p(users))
    return {name: n / samples for name, n in rejected.items()}


def rare_faults(
    share: float, users: int, turns: int, samples: int, *, apart: float = 1.0
) -> tuple[float, float, float]:
    """Return how often the interval of a mean score holds it where few turns are faulty, and how wide it is.

    A faulty turn gets a 1, all others a 5. The third figure is the coverage of bootstrap percentiles.

    Args:
        share: Of faulty turns, about.
        users: In a sample, at least 5.
        turns: Of a user, on average.
        samples: How many.
        apart: How far users differ in how many they meet (standard deviation of a logistic intercept).
    """
    rng, hits, widths, drawn = np.random.default_rng([users, turns]), 0, [], 0
    many = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + rng.normal(0, apart, 400_000))))
    # Moved so that the share over users, and not that of the middle user, is about the one asked for.
    shift = np.log(share / (1 - share)) * 2 - np.log(many.mean() / (1 - many.mean()))
    truth = 5 - 4 * float((1 / (1 + np.exp(-(shift + rng.normal(0, apart, 400_000))))).mean())
    for _ in range(samples):
        sizes = 1 + rng.poisson(turns - 1, users)
        often = 1 / (1 + np.exp(-(shift + rng.normal(0, apart, users))))
        faults = rng.binomial(sizes, often)
        scores = 5.0 * sizes - 4 * faults
        mean = mean_of_sums(scores, sizes, limits=(1.0, 5.0))
        hits += mean.low <= truth <= mean.high
        widths.append(mean.high - mean.low)
        weights = rng.multinomial(users, np.full(users, 1 / users), size=_DRAWS)
        ends = np.quantile((weights @ scores) / (weights @ sizes), [0.025, 0.975])
        drawn += ends[0] <= truth <= ends[1]
    return hits / samples, float(np.mean(widths)), float(drawn) / samples


def shared_causes(users: int, samples: int, *, scenarios: int = 0) -> float:
    """Return how often the interval of a mean by users holds it where users have something in common.

    Args:
        users: In a sample, an even number.
        samples: How many.
        scenarios: That every user goes through, drawn anew with the users; 0 for users of whom each is there
            under two names.
    """
    rng, hits = np.random.default_rng([users, scenarios]), 0
    turns = scenarios or 8
    for _ in range(samples):
        level = rng.normal(0, 0.5, users)
        if not scenarios:
            level = np.resize(level[: users // 2], users)
        common = rng.normal(0, 0.4, turns) if scenarios else np.zeros(turns)
        scores = 3 + level[:, None] + common + rng.normal(0, 0.8, (users, turns))
        mean = mean_of_sums(scores.sum(axis=1), np.full(users, turns), limits=(1.0, 5.0))
        hits += mean.low <= 3 <= mean.high
    return hits / samples


def rare_failure_level(users: int, turns: int, samples: int) -> float:
    """Return how often two candidates are told apart of which one fails rarely and is else a little better.

    In 2 % of turns it is 3 below the other, in 12 % of the others half a point above: equal in the mean.
    """
    rng, rejected = np.random.default_rng(users), 0
    for _ in range(samples):
        failed = rng.binomial(turns, 0.02, users)
        better = rng.binomial(turns - failed, 0.12 / 0.98)
        means = dict(enumerate(((better / 2 - 3 * failed) / turns).tolist()))
        _, p = Basis(users * turns, users, "users").difference(macro_gain(means, 4.0))
        rejected += p is not None and max(p, sign_flip_p(users)) <= _ALPHA
    return rejected / samples


def worst_scenario(users: int, turns: int, samples: int, *, wrong: float) -> tuple[float, float]:
    """Return how often one of three scenarios is named as the worst group, and how often any other group is.

    Args:
        users: In a sample; each has conversations in all scenarios, a fifth of them in the one.
        turns: Conversations of a user.
        samples: How many.
        wrong: The share of conversations with something wrong in that scenario; in the others it is 30 %.
    """
    rng, found, others = np.random.default_rng([users, turns]), 0, 0
    for _ in range(samples):
        rows = []
        for number, place in enumerate(rng.choice(3, users * turns, p=[0.5, 0.3, 0.2])):
            issues = ["x"] * (rng.random() < (wrong if place == 2 else 0.3))
            fields = {"scenario": f"s{place}", "user_id": f"u{number % users}"}
            rows.append(
                {
                    **_ROW,
                    **fields,
                    "conversation_id": str(number),
                    "details": {"signals": [{"name": name} for name in issues]},
                }
            )
        worst = worst_group(table_of(rows), {})
        found += worst is not None and worst.name == "s2"
        others += worst is not None and worst.name != "s2"
    return found / samples, others / samples


def replay_level(users: int, samples: int) -> float:
    """Return how often two equal candidates are told apart by the mean over users of their differences."""
    rng, rejected = np.random.default_rng(users), 0
    for _ in range(samples):
        sizes = rng.integers(1, 9, users)
        gains = rng.exponential(0.5, users) - 0.5
        means = {f"u{u}": gains[u] + rng.normal(0, 0.9 / np.sqrt(sizes[u])) for u in range(users)}
        _, p = Basis(int(sizes.sum()), users, "users").difference(macro_gain(means, 4.0))
        rejected += p is not None and p <= _ALPHA
    return rejected / samples


def uneven_level(held: Sequence[float], users: int, samples: int) -> float:
    """Return how often two equal judges are told apart by a mean where a few users hold most targets.

    Args:
        held: The shares that these few hold; the others have the rest in equal parts.
        users: In a sample.
        samples: How many.
    """
    rng, rejected = np.random.default_rng(users), 0
    shares = np.array([*held, *[(1 - sum(held)) / (users - len(held))] * (users - len(held))])
    basis = Basis.of(1000 * shares, "users")
    for _ in range(samples):
        gains = rng.normal(0, 0.2, users)
        value = float(shares @ gains)
        _, p = basis.difference(Gain(value, (value - shares * gains) / (1 - shares), 4.0))
        rejected += p is not None and p <= _ALPHA
    return rejected / samples


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    samples = 100 if quick else 500 * times
    plain, blind = Sampling(), Sampling(skill=0.0)
    covered = {n: coverage(plain, FIGURES, n, samples, before=True) for n in CLUSTERS}
    for key, title in (
        ("coverage", "Coverage of 95 % intervals, by users in the sample"),
        ("bootstrap", "The same of bootstrap percentiles, as intervals were made before"),
        ("width", "Mean width"),
        ("has one", "Share of samples that have an interval"),
    ):
        _print(title, {name: [covered[n][name][key] for n in CLUSTERS] for name in FIGURES})
    equal = {n: levels(plain, FIGURES, n, samples) for n in CLUSTERS}
    _print("Level: one of two equal judges is called better", _by_figure(equal))
    ranked = ("pearson", "spearman", "qwk", "auc", "f1_dsat")
    rows: dict[str, list[float]] = {}
    for control in ("constant", "shuffled"):
        of_blind = {n: levels(blind, ranked[:4], n, samples, against=control) for n in CLUSTERS}
        rows |= {f"{name}, {control}": values for name, values in _by_figure(of_blind).items()}
    rows["user macro (replay)"] = [replay_level(n, 4 * samples) for n in CLUSTERS]
    _print("Level: a judge without skill against a control; two equal candidates", rows)
    uneven = {
        ", ".join(f"{share:.0%}" for share in held): [
            float("nan"), *(uneven_level(held, n, 4 * samples) for n in CLUSTERS[1:])
        ]
        for held in _UNEVEN
    }  # fmt: skip
    _print("Level: a few users hold so much of the targets, two equal judges", uneven)
    beyond = {
        **{
            f"mean, {n} scenarios drawn anew": [shared_causes(u, samples, scenarios=n) for u in _BEYOND]
            for n in (5, 10, 40)
        },
        "mean, each user under two names": [shared_causes(u, samples) for u in _BEYOND],
        **{
            f"level, one fails in 2 % of {n} turns": [rare_failure_level(u, n, samples) for u in _BEYOND]
            for n in (5, 20)
        },
    }
    worst = [
        (f"{wrong:.0%}", n, turns, *worst_scenario(n, turns, samples // 5, wrong=wrong))
        for wrong in (0.3, 0.5, 0.7)
        for n, turns in ((20, 8), (20, 20), (50, 8), (50, 20))
    ]
    head = ("wrong in one scenario", "users", "conversations each", "it is named", "another group is")
    print(table("The worst group; in the other scenarios 30 % are wrong", head, worst))
    _print("Beyond what they can: coverage of a mean, level of two equal candidates", beyond, _BEYOND)
    faults = {
        f"{share:.0%} of {turns} turns each{', users far apart' if apart > 1 else ''}": [
            rare_faults(share, n, turns, samples, apart=apart) for n in CLUSTERS[1:]
        ]
        for apart in (1, 2)
        for share, turns in ((0.02, 35), (0.03, 35), (0.02, 200))
    }
    for place, title in enumerate(("coverage", "mean width on 1 to 5", "coverage of bootstrap percentiles")):
        _print(
            f"Rare faults: {title}", {k: [float("nan"), *(f[place] for f in of)] for k, of in faults.items()}
        )
    many = [
        (f"{share:.0%}", n, turns, *rare_faults(share, n, turns, samples))
        for turns in (4, 1)
        for share in (0.02, 0.03)
        for n in (50, 100, 300)
    ]
    head = ("faulty turns", "conversations", "turns", "coverage", "mean width on 1 to 5", "bootstrap")
    print(table("Rare faults, each conversation a cluster", head, many))
    return {
        "samples": samples,
        "coverage": covered,
        "equal judges": equal,
        "controls": rows,
        "uneven": uneven,
        "beyond": beyond,
        "worst": worst,
        "faults": faults,
        "conversations": many,
        "two samples": two_samples(samples),
    }


def _by_figure(of: Mapping[int, Mapping[str, float]]) -> dict[str, list[float]]:
    names = next(iter(of.values()))
    return {name: [of[n][name] for n in CLUSTERS] for name in names}


def _print(title: str, rows: Mapping[str, Sequence[float]], head: Sequence[int] = CLUSTERS) -> None:
    cells = [(name, *("-" if np.isnan(v) else f"{v:.3f}" for v in values)) for name, values in rows.items()]
    print(table(title, ("figure", *map(str, head)), cells))
