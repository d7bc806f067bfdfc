"""The figures of PersTurnBench's appendix C, each with an interval of a bootstrap that draws whole users.

What enters is tallied first: how often each user gave each pair of people's and judge's score. A figure then
is a function of how often each user is drawn, so a thousand draws cost about as much as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dialogauge.stats import (
    auc_draws,
    cluster_weights,
    f1_draws,
    interval_of_draws,
    kappa_draws,
    pearson_draws,
    precision_draws,
    recall_draws,
    spearman_draws,
)

Floats = npt.NDArray[np.float64]
Measure = Callable[[Floats], Floats]
"""How often each user is drawn, shape (draws, users), to the figure of each draw; NaN where undefined."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct pairs of scores, and how often each group has them."""

    gold: Floats
    """Shape (cells,)."""
    score: Floats
    """Shape (cells,)."""
    counts: Floats
    """Shape (groups, cells). A group is a user, or a block of one."""
    owner: npt.NDArray[np.intp]
    """Shape (groups,): the index of the user of each group."""

    def mean(self, values: Floats) -> Measure:
        """Return the mean of a value per cell over all targets."""
        sums, sizes = self.counts @ values, self.counts.sum(axis=1)
        return lambda w: divided(w[:, self.owner] @ sums, w[:, self.owner] @ sizes)

    def centred(self, gold: Floats | None = None, score: Floats | None = None) -> dict[str, Measure]:
        """Return correlations and errors after each group's own means are taken away.

        Args:
            gold: Shape (cells,); people's scores when None.
            score: Shape (cells,); the judge's scores when None.
        """
        gold, score = self.gold if gold is None else gold, self.score if score is None else score
        group, cell = np.nonzero(self.counts)
        n, sizes = self.counts[group, cell], self.counts.sum(axis=1)
        g = gold[cell] - (self.counts @ gold / sizes)[group]
        s = score[cell] - (self.counts @ score / sizes)[group]
        user = self.owner[group]
        error = np.abs(s - g)

        def weights(w: Floats) -> Floats:
            return w[:, user] * n

        def mean(values: Floats, w: Floats) -> Floats:
            return divided(weights(w) @ values, weights(w).sum(axis=1))

        return {
            "pearson": lambda w: pearson_draws(s, g, weights(w)),
            # Two users' equal distances from their means may differ by a rounding error: they are ties.
            "spearman": lambda w: spearman_draws(s.round(9), g.round(9), weights(w)),
            "mae": lambda w: mean(error, w),
            "rmse": lambda w: np.sqrt(mean(error**2, w)),
        }


def tally(rows: Sequence[tuple[str, float, float]], *, owners: Sequence[str] | None = None) -> Cells:
    """Count rows of (group, people's score, judge's score).

    Args:
        rows: One for each target.
        owners: The user of each row, where the groups are not the users themselves.
    """
    names = [row[0] for row in rows] if owners is None else list(owners)
    user_of = {name: i for i, name in enumerate(dict.fromkeys(names))}
    groups = {name: i for i, name in enumerate(dict.fromkeys(row[0] for row in rows))}
    pairs = {pair: i for i, pair in enumerate(sorted({row[1:] for row in rows}))}
    counts = np.zeros((len(groups), len(pairs)))
    for (group, *pair), n in Counter(rows).items():
        counts[groups[group], pairs[pair[0], pair[1]]] = n
    owner = np.zeros(len(groups), dtype=np.intp)
    for (group, _, _), name in zip(rows, names, strict=True):
        owner[groups[group]] = user_of[name]
    gold = np.array([p[0] for p in pairs], dtype=np.float64)
    return Cells(gold, np.array([p[1] for p in pairs], dtype=np.float64), counts, owner)


def over_users(values: Floats, n: Floats) -> Measure:
    """Return the mean of a value per user, weighted by their turns; undefined ones take no part."""
    held = np.isfinite(values)
    weight = np.where(held, n, 0.0)
    known = np.where(held, values, 0.0)
    return lambda w: divided(w @ (weight * known), w @ weight)


def divided(top: Floats, bottom: Floats) -> Floats:
    """Divide; by zero gives NaN without a warning."""
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


BOUNDARY = 4
"""The lowest score of a satisfied user; 3.9 is dissatisfied."""
MIN_TURNS = 3
_BY_USER = (
    "accuracy",
    "f1_macro",
    "f1_sat",
    "f1_dsat",
    "precision_sat",
    "recall_sat",
    "boundary_kappa",
    "auc",
)


def boundary_measures(cells: Cells) -> dict[str, Measure]:
    """Return the figures of the two classes: over all turns, user by user, and within users."""
    plain = _classes(cells)
    out: dict[str, Measure] = {name: _pooled(figure, cells) for name, figure in plain.items()}
    recall, miss = plain["recall_dsat"], plain["recall_sat"]
    out["false_sat"] = lambda w: 1 - recall(w @ cells.counts)
    out["false_dsat"] = lambda w: 1 - miss(w @ cells.counts)
    n, used = cells.counts.sum(axis=1), two_sided_users(cells)
    for name in _BY_USER:
        values = np.where(used, plain[name](cells.counts), np.nan)
        out[f"per_user_{name}"] = over_users(values, n)
    sat = (cells.gold >= BOUNDARY).astype(np.float64)
    # The confidence that the published evaluation makes of a score.
    sure = (np.floor(cells.score) - 1) / 4 * 0.8 + 0.1
    return out | {f"within_user_boundary_{k}": m for k, m in cells.centred(sat, sure).items()}


def _pooled(figure: Measure, cells: Cells) -> Measure:
    return lambda w: figure(w @ cells.counts)


def _classes(cells: Cells) -> dict[str, Measure]:
    """Return the figures as functions of how often each cell occurs, shape (rows, cells) -> (rows,)."""
    said, true = cells.score >= BOUNDARY, cells.gold >= BOUNDARY
    equal = (said == true).astype(np.float64)
    return {
        "accuracy": lambda c: divided(c @ equal, c.sum(axis=1)),
        "f1_macro": lambda c: (_zero(f1_draws(said, true, c)) + _zero(f1_draws(~said, ~true, c))) / 2,
        "f1_sat": lambda c: f1_draws(said, true, c),
        "f1_dsat": lambda c: f1_draws(~said, ~true, c),
        "precision_sat": lambda c: precision_draws(said, true, c),
        "recall_sat": lambda c: recall_draws(said, true, c),
        "precision_dsat": lambda c: precision_draws(~said, ~true, c),
        "recall_dsat": lambda c: recall_draws(~said, ~true, c),
        "boundary_kappa": lambda c: kappa_draws(said.astype(float), true.astype(float), c),
        "auc": lambda c: auc_draws(cells.score, true.astype(float), c),
    }


def _zero(values: Floats) -> Floats:
    return np.nan_to_num(values, nan=0.0)


def two_sided_users(cells: Cells) -> npt.NDArray[np.bool_]:
    """Say of each user whether they have both classes, and turns enough for figures of their own."""
    true = cells.gold >= BOUNDARY
    high, low = cells.counts @ true, cells.counts @ ~true
    used: npt.NDArray[np.bool_] = (high > 0) & (low > 0) & (high + low >= MIN_TURNS)
    return used


@dataclass(frozen=True, slots=True)
class Share:
    """A mean over cases that come in clusters: the users."""

    value: float | None
    """None without a case."""
    n: int
    """Cases."""
    users: int
    interval: tuple[float, float] | None
    """95 % by users; None without draws or with one user."""

    def to_json(self) -> dict[str, object]:
        """Write the share."""
        ends = None if self.interval is None else list(self.interval)
        return {"value": self.value, "n": self.n, "n_users": self.users, "interval": ends}


def mean_by_user(cases: Sequence[tuple[str, float]], *, draws: int = 1000, seed: int = 0) -> Share:
    """Return the mean of (user, value) cases, with an interval of a bootstrap that draws users.

    Args:
        cases: Any number; a share takes the values 0 and 1.
        draws: Bootstrap draws; 0 leaves the interval out.
        seed: Of the draws.
    """
    users = {user: i for i, user in enumerate(dict.fromkeys(user for user, _ in cases))}
    if not cases:
        return Share(None, 0, 0, None)
    sums, sizes = np.zeros(len(users)), np.zeros(len(users))
    for user, value in cases:
        sums[users[user]] += value
        sizes[users[user]] += 1
    interval = None
    if draws:
        rng = np.random.default_rng(seed)
        weights = np.concatenate(list(cluster_weights(range(len(users)), rng=rng, draws=draws)))
        found = interval_of_draws(divided(weights @ sums, weights @ sizes), clusters=len(users))
        interval = None if found.low is None or found.high is None else (found.low, found.high)
    return Share(float(sums.sum() / sizes.sum()), len(cases), len(users), interval)


"""Rated turns below which a user has no correlation of their own."""
FAR = 2
"""Points from which on a score is far off."""
_MOST = 0.9999
"""Where a user's correlation is held before Fisher's z: nearer to 1, one user would outweigh all others."""
_LEAST_USERS = 3
"""Users with a figure of their own below which their mean has no interval."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One target: what the user said, what the judge said, and of whom it is."""

    user: str
    block: str
    gold: float
    score: float
    """The whole score; with a fraction only where the figures of fractions are asked for."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one judge, with the counts that they stand on."""

    n: int
    n_failed: int
    users: int
    values: Mapping[str, float | None]
    """By name; None where a figure is undefined."""
    intervals: Mapping[str, tuple[float, float] | None]
    """95 % by users; empty when no draws were asked for."""
    users_used: Mapping[str, int]
    """Users that the per-user figures stand on."""

    def to_json(self) -> dict[str, object]:
        """Write the figures: each under its name, the intervals beside them."""
        return {
            "n": self.n,
            "n_failed": self.n_failed,
            "n_users": self.users,
            **self.values,
            "users_used": dict(self.users_used),
            "intervals": {k: None if v is None else list(v) for k, v in self.intervals.items()},
        }


def figures_of(scored: Sequence[Scored], *, failed: int = 0, draws: int = 1000, seed: int = 0) -> Figures:
    """Compute all figures.

    Args:
        scored: The targets that the judge scored.
        failed: How many it failed on; counted, never scored.
        draws: Bootstrap draws; 0 leaves the intervals out.
        seed: Of the draws.
    """
    cells, blocks = _tallies(scored)
    measures = _measures(cells, blocks)
    once = np.ones((1, cells.counts.shape[0]))
    values = {name: _value(measure, once) for name, measure in measures.items()} if scored else {}
    return Figures(
        n=len(scored),
        n_failed=failed,
        users=cells.counts.shape[0],
        values={name: values.get(name) for name in FIGURES},
        intervals=_intervals(measures, cells, draws, seed) if draws and scored else {},
        users_used=_users_used(cells),
    )


def figures_of_deals(
    deals: Sequence[Sequence[Scored]], *, failed: int = 0, draws: int = 1000, seed: int = 0
) -> Figures:
    """Compute the figures of a judge that was dealt by chance several times.

    A figure is the mean over the deals, undefined when it is in any of them. Each deal takes its share of
    the draws, so the interval holds the chance of the deals too.

    Args:
        deals: The same targets each time, in the same order.
        failed: How many targets the judge failed on.
        draws: Bootstrap draws in all; 0 leaves the intervals out.
        seed: Of the draws.
    """
    several = [figures_of(deal, failed=failed, draws=0) for deal in deals]
    first = several[0]
    values: dict[str, float | None] = {}
    for name in FIGURES:
        held = [v for f in several if (v := f.values[name]) is not None]
        values[name] = float(np.mean(held)) if len(held) == len(several) else None
    found: dict[str, list[Floats]] = {name: [] for name in FIGURES}
    if draws and deals[0]:
        for number, deal in enumerate(deals):
            share = -(-draws // len(deals))
            drawn = measure_draws(deal, FIGURES, draws=share, seed=seed * len(deals) + number)
            for name, values_drawn in drawn.items():
                found[name].append(values_drawn)
    measures = _measures(*_tallies(deals[0]))
    intervals = {k: _interval(k, np.concatenate(v), measures[k], first.users) for k, v in found.items() if v}
    return Figures(first.n, failed, first.users, values, intervals, first.users_used)


def measure_draws(
    scored: Sequence[Scored], names: Sequence[str], *, draws: int, seed: int
) -> dict[str, Floats]:
    """Return the draws of some figures, shape (draws,) each, NaN where undefined.

    Two judges of the same targets in the same order get the same draws of users, so the difference of
    theirs is paired.
    """
    cells, blocks = _tallies(scored)
    measures, weights = _measures(cells, blocks), _weights(cells, draws, seed)
    return {name: measures[name](weights) for name in names}


def _tallies(scored: Sequence[Scored]) -> tuple[Cells, Cells]:
    """Count the pairs of scores by user, and by block."""
    blocks = tally([(s.block, s.gold, s.score) for s in scored], owners=[s.user for s in scored])
    return tally([(s.user, s.gold, s.score) for s in scored]), blocks


def _value(measure: Measure, weights: Floats) -> float | None:
    found = float(measure(weights)[0])
    return found if np.isfinite(found) else None


def _weights(cells: Cells, draws: int, seed: int) -> Floats:
    rng, users = np.random.default_rng(seed), cells.counts.shape[0]
    return np.concatenate(list(cluster_weights(range(users), rng=rng, draws=draws)))


def _intervals(
    measures: Mapping[str, Measure], cells: Cells, draws: int, seed: int
) -> dict[str, tuple[float, float] | None]:
    weights, users = _weights(cells, draws, seed), cells.counts.shape[0]
    return {name: _interval(name, measure(weights), measure, users) for name, measure in measures.items()}


def _interval(name: str, draws: Floats, measure: Measure, users: int) -> tuple[float, float] | None:
    """Return the ends; none of a mean over users where too few have the figure."""
    ends = _ends(draws, users)
    few = ends is not None and name.startswith("per_user_") and _few(measure, users)
    return None if few else ends


def _few(measure: Measure, users: int) -> bool:
    """Say whether fewer users than an interval needs have the figure by themselves."""
    found = 0
    for user in range(users):
        alone = np.zeros((1, users))
        alone[0, user] = 1
        found += bool(np.isfinite(measure(alone)[0]))
        if found == _LEAST_USERS:
            return False
    return True


def _ends(draws: Floats, users: int) -> tuple[float, float] | None:
    found = interval_of_draws(draws, clusters=users)
    return None if found.low is None or found.high is None else (found.low, found.high)


def _measures(cells: Cells, blocks: Cells) -> dict[str, Measure]:
    scores, gold = cells.score, cells.gold
    whole = np.clip(np.rint(scores), 1, 5), np.clip(np.rint(gold), 1, 5)
    error = np.abs(scores - gold)
    out: dict[str, Measure] = {
        "pearson": lambda w: pearson_draws(scores, gold, w @ cells.counts),
        "spearman": lambda w: spearman_draws(scores, gold, w @ cells.counts),
        "qwk": lambda w: kappa_draws(*whole, w @ cells.counts),
        "mae": cells.mean(error),
        "rmse": lambda w: np.sqrt(cells.mean(error**2)(w)),
        "bias": cells.mean(scores - gold),
        "over_rated": cells.mean((scores > gold).astype(np.float64)),
        "under_rated": cells.mean((scores < gold).astype(np.float64)),
        "far_off": cells.mean((error >= FAR).astype(np.float64)),
    }
    out |= boundary_measures(cells)
    out |= _per_user(cells, whole)
    out |= {f"within_user_{k}": m for k, m in cells.centred().items()}
    return out | {f"within_block_{k}": m for k, m in blocks.centred().items() if k in ("pearson", "spearman")}


def _per_user(cells: Cells, whole: tuple[Floats, Floats]) -> dict[str, Measure]:
    n = cells.counts.sum(axis=1)
    known = n >= MIN_TURNS
    error = np.abs(cells.score - cells.gold)
    correlations = {
        "pearson": pearson_draws(cells.score, cells.gold, cells.counts),
        "spearman": spearman_draws(cells.score, cells.gold, cells.counts),
    }
    squares = cells.counts @ error**2 / n if n.size else n
    plain = {
        "qwk": np.where(known & (_levels(cells, whole[1]) > 1), kappa_draws(*whole, cells.counts), np.nan),
        "mae": cells.counts @ error / n if n.size else n,
        "rmse": np.sqrt(squares),
    }
    out: dict[str, Measure] = {}
    for name, r in correlations.items():
        mean = over_users(np.arctanh(np.clip(np.where(known, r, np.nan), -_MOST, _MOST)), n)
        out[f"per_user_{name}"] = _hyperbolic(mean)
    return out | {f"per_user_{name}": over_users(values, n) for name, values in plain.items()}


def _hyperbolic(mean: Measure) -> Measure:
    """Turn a mean of Fisher's z back; where every user was held at the bound, to a whole one."""

    def back(w: Floats) -> Floats:
        r: Floats = np.tanh(mean(w))
        return np.where(np.abs(r) > _MOST - 1e-9, np.sign(r), r)

    return back


def _levels(cells: Cells, gold: Floats) -> npt.NDArray[np.intp]:
    """Return how many different whole scores each user gave."""
    held = [np.unique(gold[row > 0]).size for row in cells.counts]
    return np.array(held, dtype=np.intp)


def _users_used(cells: Cells) -> dict[str, int]:
    n = cells.counts.sum(axis=1)
    r = pearson_draws(cells.score, cells.gold, cells.counts) if n.size else n
    return {
        "correlation": int(((n >= MIN_TURNS) & np.isfinite(r)).sum()),
        "boundary": int(two_sided_users(cells).sum()),
    }


_EMPTY = tally([("", 4.0, 4.0)])
FIGURES: tuple[str, ...] = tuple(_measures(_EMPTY, _EMPTY))
"""Their names, in the order in which files show them."""
ORDINAL: tuple[str, ...] = tuple(name for name in FIGURES if name not in boundary_measures(_EMPTY))
"""Those that read a score as one of five, and not only its side of the boundary."""
