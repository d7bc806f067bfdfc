"""Judges against people on a page and on a terminal: hostile text, rings, a phone's width."""

import pytest

import browser
from dialogauge.report import to_html, to_text
from dialogauge.stats import Comparison, Estimate
from dialogauge.studies.agreement.agreement import (
    AgreementSettings,
    ControlFigures,
    JudgeAgreement,
    JudgeComparison,
    ScoreBin,
)
from dialogauge.studies.agreement.page import agreement_page, brief
from dialogauge.studies.agreement.study import AgreementResult
from dialogauge.studies.agreement.targets import DimensionPair, JudgedRun, TargetCounts
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


@pytest.mark.chromium
@needs_chromium
def test_the_page_does_not_overflow_a_phone(tmp_path):
    wide = "return d.documentElement.scrollWidth"
    assert browser.measure(html("a" * 90), tmp_path, wide, width=360) <= 360
