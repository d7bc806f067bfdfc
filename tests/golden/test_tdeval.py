"""Agreement with the people who rated for TD-Eval, the right way round, with the five categories given.

Expected figures: computed with irrCAC 0.4.4 and statsmodels 0.15.0 on the ratings and scores published
at github.com/emrecanacikgoz/TD-Eval, commit f13c301, and by hand where a share is named. How the paper's own
figures come about is shown in `test_tdeval_as_published.py`.

Not in the pack, and so not here: LMUnit's and TD-Eval's scores of whole dialogues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from benchmarks.tdeval import (
    CLAUDE,
    DIMENSIONS,
    SHARED,
    Scores,
    judge,
    mean_of_turns,
    people,
    pilot,
    rounded,
    satisfied,
    sources,
    succeeded,
    turns,
)

from dialogauge.core import UsageError
from dialogauge.stats import (
    Categories,
    RatingGrid,
    ScoreTable,
    coefficients_of,
    figures_of,
    parse_rule,
    scores_of,
)

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set"),
    pytest.mark.xdist_group("tdeval"),
]

ONE_TO_FIVE = Categories.parse("1-5")


def grid(
    raters: Mapping[str, Mapping], targets: Sequence, categories: Categories = ONE_TO_FIVE
) -> RatingGrid:
    """Raters of targets that all have rated, clustered by dialogue."""
    values = np.array([[of[t] for of in raters.values()] for t in targets], dtype=float)
    dialogues = tuple(t if isinstance(t, str) else t.dialogue for t in targets)
    return RatingGrid(values, tuple(targets), tuple(raters), categories, dialogues, "dialogues")


def figures(of: RatingGrid, *names: str) -> list[float]:
    """The figures of these names, to four digits."""
    found = coefficients_of(of, names or ("ac1", "randolph"), intervals=False)
    return [round(float(e.value), 4) for e in found.values()]


# People among people ---------------------------------------------------------------------------------------

PILOT = {
    "cohesion": (0.4497, 0.3985),
    "backend": (0.5051, 0.4487),
    "policy": (0.4606, 0.4081),
    "overall": (0.4716, 0.4184),
}


def pilot_grid(row: str = "overall") -> RatingGrid:
    """The 10 raters of the pilot on its 26 turns, or on the turns in each of the three dimensions."""
    targets = [c for c in turns(next(iter(pilot().values()))) if row in ("overall", c.dimension)]
    return grid(pilot(), targets)


@pytest.mark.parametrize("row", PILOT)
def test_ten_raters_of_the_pilot(row) -> None:
    found = pilot_grid(row)
    assert found.values.shape == ((78, 10) if row == "overall" else (26, 10))
    assert figures(found) == list(PILOT[row])


def test_alpha_of_the_same_raters_is_near_zero() -> None:
    found = figures(pilot_grid("cohesion"), "alpha_nominal", "alpha_ordinal", "alpha_interval")
    assert [round(value, 3) for value in found] == [0.046, 0.130, 0.169]


# Judges against people, turn by turn -----------------------------------------------------------------------

ALIGNED = {
    "TD-Eval by GPT-4o": {
        "overall": (0.5797, 0.5272),
        "cohesion": (0.5834, 0.5306),
        "backend": (0.6060, 0.5536),
        "policy": (0.5497, 0.4974),
        "autotod_mwoz": (0.6499, 0.5992),
        "tau_retail": (0.5316, 0.4801),
        "tau_airline": (0.4625, 0.4094),
    },
    "TD-Eval by Claude": {"autotod_mwoz": (0.6508, 0.6024)},
    "LMUnit": {
        "overall": (0.2557, 0.2083),
        "cohesion": (0.5155, 0.4668),
        "backend": (0.3124, 0.2602),
        "policy": (-0.0675, -0.1020),
    },
    "always 5": {
        "overall": (0.7446, 0.6981),
        "cohesion": (0.7021, 0.6505),
        "backend": (0.7793, 0.7372),
        "policy": (0.7521, 0.7066),
    },
}
SIZES = {"overall": 1470, "autotod_mwoz": 786, "tau_retail": 339, "tau_airline": 345}


def scores_by(name: str) -> Scores:
    """The scores of a judge."""
    if name == "always 5":
        return dict.fromkeys(people(), 5)
    by_name = {"TD-Eval by GPT-4o": judge, "TD-Eval by Claude": lambda: judge(CLAUDE), "LMUnit": rounded}
    return by_name[name]()


def beside_people(name: str, row: str = "overall") -> RatingGrid:
    """A judge and the one rater of each turn."""
    kept = [c for c in turns(people()) if row in ("overall", c.dimension, sources()[c.dialogue])]
    assert len(kept) == SIZES.get(row, 490)
    return grid({"people": people(), name: scores_by(name)}, kept)


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, rows in ALIGNED.items() for row in rows])
def test_a_judge_beside_the_rater_of_each_turn(name, row) -> None:
    assert figures(beside_people(name, row)) == list(ALIGNED[name][row])


def test_rank_and_exact_agreement_of_the_judge() -> None:
    assert figures(beside_people("TD-Eval by GPT-4o"), "spearman", "exact") == [0.0871, 0.6218]
    assert figures(beside_people("LMUnit"), "spearman") == [0.0267]


def test_scores_that_people_call_low_are_hardly_found() -> None:
    """Of 69 turns that people gave 3 or less the judge did so with 17, and with 173 others."""
    both = beside_people("TD-Eval by GPT-4o")
    human, said = both.values.T
    assert [int(n) for n in ((human <= 3).sum(), (said <= 3).sum())] == [69, 190]
    table = ScoreTable({"people": scores_of(human), "judge": scores_of(said)}, both.clusters)
    names = ("precision_dsat", "recall_dsat")
    rule = parse_rule("3")
    found = figures_of(table, {"judge": table.sources["judge"]}, "people", names, rule=rule)["judge"]
    assert found.values == pytest.approx({"precision_dsat": 17 / 190, "recall_dsat": 17 / 69})


@pytest.mark.parametrize("name", ["ac1", "randolph", "alpha_nominal", "spearman", "exact"])
def test_permuting_the_judge_changes_the_figure(name) -> None:
    both = beside_people("TD-Eval by GPT-4o")
    shuffled = both.values.copy()
    shuffled[:, 1] = np.random.default_rng(0).permutation(shuffled[:, 1])
    permuted = RatingGrid(shuffled, both.targets, both.raters, both.categories, both.clusters, both.unit)
    assert figures(both, name) != figures(permuted, name)


JUDGES = {
    "cohesion": (0.7277, 0.7558, 0.6169),
    "backend": (0.8459, 0.8547, 0.6072),
    "policy": (0.5616, 0.6189, 0.4331),
}


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_two_judges_agree_with_each_other_far_better(dimension) -> None:
    raters = {"GPT-4o": judge(), "Claude": judge(CLAUDE)}
    both = grid(raters, [c for c in judge(CLAUDE) if c.dimension == dimension])
    assert len(both.targets) == 475
    assert figures(both, "ac1", "exact", "spearman") == list(JUDGES[dimension])


# Whole dialogues: people are satisfied where their three ratings have a mean of 4 or more ------------------

BINARY = {
    "traditional": ("offline_success", "all", 90, (-0.0259, -0.1556)),
    "Success": ("offline_success", "multiwoz", 54, (-0.1333, -0.2593)),
    "online Success": ("online_success", "multiwoz", 54, (0.3778, 0.2222)),
    "reward": ("offline_success", "tau", 36, (0.1314, 0.0)),
    "online Inform and reward": ("online_inform", "all", 90, (0.4906, 0.3333)),
}


@pytest.mark.parametrize("row", BINARY)
def test_task_success_beside_the_rater_of_each_dialogue(row) -> None:
    field, part, n, expected = BINARY[row]
    of_tau = {d: d.startswith(("retail", "airline")) for d in satisfied()}
    kept = [d for d in satisfied() if part == "all" or of_tau[d] == (part == "tau")]
    assert len(kept) == n
    both = grid({"people": satisfied(), row: succeeded(field)}, kept, Categories.parse("0,1"))
    assert figures(both) == list(expected)


def test_who_calls_every_dialogue_a_success_agrees_best() -> None:
    both = grid(
        {"people": satisfied(), "always": dict.fromkeys(satisfied(), 1)},
        list(satisfied()),
        Categories.parse("0,1"),
    )
    assert sum(satisfied().values()) == 81
    assert figures(both) == [0.8895, 0.8]


@pytest.mark.parametrize(
    ("part", "n", "expected"),
    [("all", 270, (0.4504, 0.3981)), ("multiwoz", 162, (0.5577, 0.5062)), ("tau", 108, (0.2916, 0.2361))],
)
def test_the_mean_of_turns_beside_the_ratings_of_dialogues(part, n, expected) -> None:
    whole = {cell: score for cell, score in people().items() if not cell.turn}
    tau = ("retail", "airline")
    kept = [c for c in whole if part == "all" or c.dialogue.startswith(tau) == (part == "tau")]
    assert len(kept) == n
    assert figures(grid({"people": whole, "mean of turns": mean_of_turns()}, kept)) == list(expected)


# What the library refuses ----------------------------------------------------------------------------------


def test_a_matrix_with_raters_in_rows_is_refused() -> None:
    both = beside_people("TD-Eval by GPT-4o")
    with pytest.raises(UsageError, match=r"not the shape \(2, 1470\); its axes are swapped"):
        RatingGrid(both.values.T, both.targets, both.raters, both.categories, both.clusters)
