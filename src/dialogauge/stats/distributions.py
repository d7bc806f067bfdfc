"""Student's t and the beta distribution, without scipy: quantiles, and the tail of t."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """Return the p-quantile of Student's t with `df` degrees of freedom, to about 1e-10.

    Raises:
        ValueError: `p` is not in (0, 1), or `df` is below 1.
    """
    if not 0 < p < 1 or df < 1:
        msg = f"no t quantile for p={p}, df={df}: p lies in (0, 1), df is at least 1"
        raise ValueError(msg)
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5:
        return 0.0
    norm = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    high = 2.0
    while t_tail(high, df) > 1 - p:
        high *= 2
    return _root(
        lambda t: t_tail(t, df) - (1 - p),
        lambda t: -norm * (1 + t * t / df) ** (-(df + 1) / 2),
        (0.0, high),
        min(NormalDist().inv_cdf(p), high),
    )


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the p-quantile of the beta distribution, to about 1e-10.

    Args:
        p: In (0, 1).
        a: Shape, above 0.
        b: Shape, above 0.
    """
    log_norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return _root(
        lambda x: _beta_regularised(x, 1 - x, a, b) - p,
        lambda x: math.exp(log_norm + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x)),
        (0.0, 1.0),
        a / (a + b),
    )


def t_tail(t: float, df: float) -> float:
    """Return the share of Student's t above `t`, which is at least 0."""
    return 0.5 * _beta_regularised(df / (df + t * t), t * t / (df + t * t), df / 2, 0.5)


def zero_between(value: Callable[[float], float], start: float, end: float) -> float:
    """Return where a monotonic function is 0, to about 1e-5, on the side of `start` where it is not 0.

    By false position, the end that stays counted half (Illinois). The function has other signs at both ends.
    """
    a, b, of_a, of_b, side = start, end, value(start), value(end), 0
    for _ in range(40):
        if abs(b - a) < 1e-5:
            break
        x = b - of_b * (b - a) / (of_b - of_a)
        y = value(x)
        if y * of_a > 0:
            a, of_a, of_b, side = x, y, of_b / 2 if side > 0 else of_b, 1
        else:
            b, of_b, of_a, side = x, y, of_a / 2 if side < 0 else of_a, -1
        if abs(y) < 1e-9:
            return x
    return a


def _root(
    value: Callable[[float], float],
    slope: Callable[[float], float],
    ends: tuple[float, float],
    start: float,
) -> float:
    """Find where a monotonic function is 0: by Newton, by halves where a step leaves the bracket."""
    low, high = ends
    rising = value(high) > 0
    x = start if low < start < high else (low + high) / 2
    for _ in range(200):
        y = value(x)
        if (y > 0) == rising:
            high = x
        else:
            low = x
        steep = slope(x)
        step = x - y / steep if steep else low
        last, x = x, step if low < step < high else (low + high) / 2
        if abs(x - last) <= 1e-12 * max(abs(x), 1e-6) or x in (low, high):
            break
    return x


def _beta_regularised(x: float, one_minus_x: float, a: float, b: float) -> float:
    """I_x(a, b); 1 - x is an argument of its own so that it keeps its digits near x = 1."""
    if x <= 0 or one_minus_x <= 0:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log(one_minus_x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(one_minus_x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(abs(1 - (a + b) * x / (a + 1)), tiny)
    fraction = d
    for m in range(1, 20_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return fraction
