"""Judges against people on a page and on a terminal: hostile text, rings, a phone's width."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import browser
from dialogauge.report import to_html, to_text
from dialogauge.stats import Categories, Comparison, Estimate
from dialogauge.studies.agreement.agreement import (
    AgreementSettings,
    ControlFigures,
    JudgeAgreement,
    JudgeComparison,
    ScoreBin,
)
from dialogauge.studies.agreement.asked import Asked
from dialogauge.studies.agreement.page import agreement_page, brief
from dialogauge.studies.agreement.sources import Question, Rated, TargetKey
from dialogauge.studies.agreement.study import AgreementResult, measure
from dialogauge.studies.agreement.targets import (
    DimensionPair,
    JudgedRun,
    Panel,
    TargetCounts,
    TargetTable,
    join_scores,
)
from parsed_pages import needs_chromium

HOSTILE = "<script>alert(1)</script>\u202e<img src=x onerror=alert(1)>"


def estimate(value, ends=(None, None)):
    return Estimate(value, *ends, level=0.95, n=9, clusters=4, method="bootstrap by users")


def agreement(text="run"):
    pair = DimensionPair("satisfaction", "satisfaction")
    against = Comparison("judge", "constant", "auc", "users", 0.7, 0.5, estimate(0.2), 0.01, 0.001, 0.02)
    judge = JudgeAgreement(
        about=JudgedRun(text, "runs/a", "local", "hindsight"),
        pair=pair,
        counts=TargetCounts(rated=9, scored=9),
        conversations=4,
        users=2,
        clustered_by="users",
        languages={"zh": 4},
        fractions=False,
        dissatisfied_if=None,
        dissatisfied=None,
        same_scale=True,
        figures={"auc": estimate(0.7, (0.6, 0.8))},
        controls=(ControlFigures("constant", text, {"auc": estimate(0.5)}),),
        against_controls=(against,),
        bins=(ScoreBin(1, 4, 1.5, {1.0: 2, 2.0: 2}), ScoreBin(4, 5, 4.4, {2.0: 1, 5.0: 4})),
    )
    compared = Comparison("a", text, "spearman", "users", 0.1, None, estimate(None), None, None)
    return AgreementResult(AgreementSettings(), (judge,), (JudgeComparison(pair, 4, compared),))


def html(text="run"):
    page = agreement_page(agreement(text), [text], ratings=text, created="2026-11-20", version="1")
    return to_html(page)


def test_hostile_text_stays_text():
    page = html(HOSTILE)
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "⟨U+202E⟩" in page
    assert "\u202e" not in to_text(brief(agreement(HOSTILE), [HOSTILE]))


def test_rings_stand_between_the_columns_of_uneven_levels():
    page = html()
    # levels 1, 2 and 5: 1.5 is halfway from the first to the second, 4.4 four fifths on to the third
    assert 'style="left:0%"' in page
    assert 'style="left:30%"' in page
    assert "default-src 'none'" in page


def test_the_terminal_has_the_figures_with_their_controls():
    text = to_text(brief(agreement(), ["ready"]))
    assert "0.700 [0.600, 0.800]" in text
    assert "0.500 ▲" in text
    assert "local judge in hindsight" in text


@cache
def everything(name):
    """Six raters and two judges of 40 conversations by two candidates, in two dimensions."""
    rng, panel = np.random.default_rng(0), Panel()
    for dimension in (name, "tone"):
        question = Question(dimension, "turn")
        keys = [TargetKey(f"c{i}", "ab"[i % 2] * 30, 1) for i in range(40)]
        people = {k: Rated({f"{name}{r}": int(rng.integers(1, 6)) for r in range(6)}) for k in keys}
        judges = {k: Rated({f"J{name}": 1 + i % 5, "other": 5 - i % 3}) for i, k in enumerate(keys)}
        for judge in (f"J{name}", "other"):
            table = TargetTable(DimensionPair(dimension, dimension), about=JudgedRun(judge), level="turn")
            own = {k: Rated({judge: judges[k].by[judge]}) for k in keys}
            join_scores(table, own, people, Categories.parse("1-5"))
            panel.tables.append(table)
        panel.people[question], panel.judges[question] = people, judges
        panel.categories[question] = panel.judged_on[question] = Categories.parse("1-5")
    quick = AgreementSettings(shuffles=2)
    result = measure(
        panel, None, quick, by=("dimension", "rater", "candidate"), asked=Asked((f"{name}0", "other"))
    )
    gates = [""] * len(result.judges)
    return result, gates


@cache
def whole_page(name):
    result, gates = everything(name)
    return to_html(agreement_page(result, gates, ratings=name, created="2026-11-20", version="1"))


LONG = HOSTILE + "a" * 60


@pytest.mark.long
@pytest.mark.xdist_group("agreement-page")
def test_hostile_names_of_raters_and_judges_stay_text():
    page = whole_page(LONG)
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    result, gates = everything(LONG)
    assert "\u202e" not in to_text(brief(result, gates))


@pytest.mark.long
@pytest.mark.xdist_group("agreement-page")
def test_of_very_many_raters_those_who_rated_most_are_said_to_be_shown():
    result, gates = everything("R")
    few, many = (
        replace(result, judges=tuple(replace(j, raters=(j.raters * 20)[:n]) for j in result.judges))
        for n in (6, 100)
    )
    said = "of the 100 who rated most"
    assert said not in to_text(brief(few, gates))
    assert said in " ".join(to_text(brief(many, gates)).split())


@pytest.mark.long
@pytest.mark.xdist_group("agreement-page")
def test_the_answers_come_first():
    result, gates = everything("R")
    text = to_text(brief(result, gates))
    assert text.index("agrees with people") < text.index("R0 and other") < text.index("By dimension")
    assert text.count("all dimensions of turns") >= 3
    assert "each dimension by itself (here: --dimension NAME)" in text


@pytest.mark.long
@pytest.mark.chromium
@needs_chromium
@pytest.mark.xdist_group("agreement-page")
@pytest.mark.parametrize("width", [360, 1200])
def test_a_page_with_everything_does_not_overflow(tmp_path, width):
    page = whole_page(LONG)
    assert browser.measure(page, tmp_path, "return d.documentElement.scrollWidth", width=width) <= width


@pytest.mark.chromium
@needs_chromium
def test_the_page_does_not_overflow_a_phone(tmp_path):
    wide = "return d.documentElement.scrollWidth"
    assert browser.measure(html("a" * 90), tmp_path, wide, width=360) <= 360


@pytest.mark.long
@pytest.mark.xdist_group("agreement-page")
def test_which_of_two_judges_is_nearer_is_short_on_a_terminal_and_whole_on_a_page():
    result, gates = everything("R")
    dimensions = [c.pair.rated for c in result.comparisons]
    assert set(dimensions) == {"all dimensions", "R", "tone"}
    each = dimensions.count("all dimensions")
    shown = to_text(brief(result, gates)).split("Judges against each other")[1].split("The page (-o DIR)")[0]
    assert shown.count("Gwet’s AC1") == 1
    assert "All dimensions of turns, on the targets that both scored." in " ".join(shown.split())
    page = agreement_page(result, gates, ratings="people.csv", created="2026-11-20", version="1")
    (section,) = [
        block for block in page.blocks if getattr(block, "title", "") == "Judges against each other"
    ]
    (table,) = section.blocks
    first, rest = table.parts
    assert (len(first[0].rows), len(rest[0].rows)) == (each, 2 * each)
    assert "all dimensions of turns" in str(first[0].rows[0].cells[0])
