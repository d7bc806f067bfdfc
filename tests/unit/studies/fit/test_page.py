from __future__ import annotations

from dialogauge.report import to_text
from dialogauge.studies.fit.page import run_brief

NAMES = ("uar", "kappa", "f1_below3", "f1_below3_published", "auc_below3", "auc_above3")
INTERVALS = {name: [-0.321, 0.171] for name in NAMES}
FIGURES = dict.fromkeys(INTERVALS, -0.137) | {"intervals": INTERVALS}


def view(n):
    return {"metrics": {**FIGURES, "n": n}, "controls": {"constant": FIGURES}}


def summary(split, **views):
    return {
        "dimension": "satisfaction",
        "examples": 90,
        "conversations": 9,
        "votes": 90,
        "whole_conversations": 0,
        "nothing_said": 0,
        "folds": 5,
        "parts": {"lines": {"what": "consecutive examples", "split_conversations": split, **views}},
        "figures": {"uar": "mean recall"},
    }


def test_figures_do_not_run_into_each_other() -> None:
    text = to_text(run_brief(summary(2, all=view(90))))
    assert "-0.137 [-0.321, 0.171]  -0.137" in text


def test_ranking_figures_stand_beside_their_controls() -> None:
    ranked = {"auc_below3": 0.6, "intervals": {"auc_below3": [0.5, 0.7]}}
    found = view(90)
    found["metrics"] |= ranked
    lines = to_text(run_brief(summary(0, all=found))).splitlines()
    head = next(i for i, line in enumerate(lines) if "auc_below3" in line)
    assert lines[head].split() == ["auc_below3", "auc_above3"]
    model = next(i for i in range(head, len(lines)) if lines[i].startswith("model"))
    assert lines[model].split()[:4] == ["model", "0.600", "[0.500,", "0.700]"]
    assert lines[model + 1].split()[:2] == ["constant", "-0.137"]


def test_conversations_across_parts_are_counted_in_words() -> None:
    shown = [to_text(run_brief(summary(split, all=view(90)))).splitlines() for split in (0, 1, 2)]
    titles = [next(x for x in lines if x.startswith("5 parts")) for lines in shown]
    assert [t.removeprefix("5 parts of lines: consecutive examples") for t in titles] == [
        "",
        " (1 conversation does)",
        " (2 conversations do)",
    ]


def test_a_view_of_everything_is_shown_once() -> None:
    text = to_text(run_brief(summary(0, all=view(90), without_whole=view(90))))
    assert "without ratings of the whole" not in text
    text = to_text(run_brief(summary(0, all=view(90), without_whole=view(80), whole_only=view(10))))
    assert "without ratings of the whole, n = 80" in text
    assert "ratings of the whole only, n = 10" in text
