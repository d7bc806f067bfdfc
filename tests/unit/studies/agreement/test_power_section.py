"""What a page says of the power of studies: what it takes, what you have, and what nobody knows."""

from dataclasses import replace

import numpy as np
import pytest

from dialogauge.report import to_text, words
from dialogauge.stats import Categories, Power, PowerPoint, RatingGrid
from dialogauge.stats.estimate import LEVEL, Estimate
from dialogauge.studies.agreement.power import power_between, power_section, power_sentence

RNG = np.random.default_rng(2)
QUALITY = RNG.normal(size=120)
COLUMNS = [np.clip(np.round(3 + QUALITY + RNG.normal(size=120) * by), 1, 5) for by in (0.5, 1.5, 0.5)]
GRID = RatingGrid(
    np.column_stack(COLUMNS),
    tuple(range(120)),
    ("A", "B", "ann"),
    Categories.parse("1-5"),
    tuple(np.repeat(np.arange(40), 3).tolist()),
)
SIMULATED = power_between(GRID, ("A", "B"), ["ann"], "spearman")


def curve(raters, shares):
    """Return points of 60, 120, 240 ... targets."""
    sizes = [60 * 2**k for k in range(len(shares))]
    return tuple(
        PowerPoint(n // 3, n, raters, Estimate(share, share, share, LEVEL, 9, 9, "none"), 0.0)
        for n, share in zip(sizes, shares, strict=True)
    )


def said(*points, p=0.001):
    comparison = replace(SIMULATED.observed, p=p)
    here = next(q for q in points[::-1] if q.targets == 120)
    return words.prose_words(power_sentence(Power(comparison, points, here, 1000)))


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (
            (*curve(1.0, [0.1, 0.2, 0.4, 0.7, 0.9]), *curve(2.0, [0.2, 0.55, 0.8, 0.97])),
            "About 240 targets with 2 raters each tell A from B in 80 % of studies; what you have "
            "(120 targets, 2 raters each): 55 %. It takes with 1 rater about 680.",
        ),
        (
            curve(1.7, [0.85, 0.99]),
            "60 targets, 1.7 raters each, or even fewer tell A from B in 80 % of studies; what you have "
            "(120 targets, 1.7 raters each): 99 %.",
        ),
        (
            (*curve(1.0, [0.05, 0.06]), *curve(3.0, [0.05, 0.07, 0.1])),
            "Even 240 targets, 3 raters each, tell A from B in only 10 % of studies; what you have "
            "(120 targets, 3 raters each): 7 %. It takes with 1 rater more than 120.",
        ),
    ],
)
def test_the_sentence(points, sentence):
    assert said(*points) == sentence


def test_what_the_data_do_not_tell_is_said_first():
    text = said(*curve(1.0, [0.1, 0.3, 0.8]), p=0.2)
    assert text.startswith("The data do not tell A from B: how far they differ is not known (+0.")
    assert "Were it as far as here: about 240 targets with 1 rater each" in text


def test_judges_without_a_difference():
    grid = replace(GRID, values=GRID.values[:, [0, 0, 2]], raters=("A", "twin", "ann"))
    power = power_between(grid, ("A", "twin"), ["ann"], "spearman")
    text = to_text([power_section(power, "tone of turns")])
    assert "no number of targets would tell them apart" in text
    assert "Share of studies" not in text


def test_the_table_has_a_row_for_each_size_and_a_column_for_each_number_of_raters():
    text = to_text([power_section(SIMULATED, "tone of turns", curves=False)])
    assert "tone of turns, by Spearman" in text
    assert "1 rater each" in text
    rows = [line for line in text.splitlines() if line[:1].isdigit()]
    assert len(rows) == len(SIMULATED.points)


def test_nothing_is_simulated_without_a_common_target():
    values = GRID.values.copy()
    values[:60, 0] = np.nan
    values[60:, 2] = np.nan
    assert power_between(replace(GRID, values=values), ("A", "B"), ["ann"], "spearman") is None
