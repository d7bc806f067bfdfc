"""The section on trust and the page of judges against people: hostile text, widths, words for figures."""

import pytest

import browser
from dialogauge.report import (
    AgreementView,
    CalibrationLine,
    ComparisonView,
    ConfusionRow,
    ControlCell,
    MeasureRow,
    MetaAbout,
    MetaView,
    TrustCaseView,
    TrustCheckView,
    TrustFigureView,
    TrustView,
    render_meta,
    trust_lines,
)
from dialogauge.report.page import environment

HOSTILE = "<script>alert(1)</script>\u202e<img src=x onerror=alert(1)>"
needs_chromium = pytest.mark.skipif(
    browser.binary() is None, reason="no Chromium found: install one or set DIALOGAUGE_CHROMIUM"
)


def trust(text="c1"):
    figures = (
        TrustFigureView("share", 0.25, (0.1, 0.4), 40, share=True),
        TrustFigureView("Pearson", None, None, 0, share=False),
    )
    check = TrustCheckView(
        "Averaging", "flagged", f"{text} only averages.", "aggregation_share = 0.9", figures,
        (TrustCaseView(text, 2, text),), 3,
    )  # fmt: skip
    line = CalibrationLine("help_ful", "not ready", 0.31, (0.2, 0.4), 200, 120, (("constant", 0.0),))
    return TrustView((check,), "Compared with people.", (line,), 0.5)


def meta(text="run"):
    cell = ControlCell(0.5, "above")
    judge = AgreementView(
        text, "local", "hindsight", "satisfaction", (("rated targets", 9),), 4, 2, "users", (("zh", 4),),
        (text,),
        (MeasureRow("AUC of dissatisfied", 0.7, (0.6, 0.8), (cell,)),), (("constant", text),),
        (1.0, 2.0, 5.0), (ConfusionRow(1, 4, 1.5, (2, 2, 0)), ConfusionRow(4, 5, 4.4, (0, 1, 4))),
    )  # fmt: skip
    compared = ComparisonView("a", text, "Spearman", 9, 0.1, None, None, None, None, "not distinguishable")
    return MetaView(MetaAbout("1", "2026-11-20", text, 1000, 20, 0), (judge,), (compared,))


def section(view):
    return str(environment().get_template("trust.html.j2").module.section(view))


def test_hostile_text_stays_text():
    for page in (section(trust(HOSTILE)), render_meta(meta(HOSTILE))):
        assert "<script" not in page
        assert "<img" not in page
        assert "\u202e" not in page
        assert "⟨U+202E⟩" in page


def test_section_shows_status_figures_and_what_is_undefined():
    page = section(trust())
    assert '<span class="tag warn">flagged</span>' in page
    assert "25.0 %" in page
    assert "[10.0 %, 40.0 %]" in page
    assert "and 3 more" in page
    assert '<span class="tag warn">not ready</span>' in page
    assert "No ratings by people were given" in section(TrustView((), None, (), 0.5))


def test_lines_say_the_same():
    first, check, people, line = trust_lines(trust())
    assert first == "how far to trust these numbers:"
    assert check == "  FLAGGED     Averaging: c1 only averages."
    assert people == "against people: Compared with people."
    assert line.startswith("  NOT READY   help ful: kappa 0.31 [0.20, 0.40] on 200 targets of 120 dialogues")


def test_a_dimension_without_a_kappa_says_why_and_takes_no_header_from_the_others():
    why = "Empathy: scores and ratings have no scale in common, so there is no kappa."
    lines = (CalibrationLine("empathy", "cannot tell", None, None, 12, 12, (), why), *trust().lines)
    view = TrustView((), "Compared with people.", lines, 0.5)
    page = section(view)
    table = page[page.index("<thead>") : page.index("</tbody>")]
    assert "constant</th>" in table
    rows = [r for r in table.split("<tr>")[1:] if "colspan" not in r]
    assert [r.count("<td") + r.count("<th ") for r in rows] == [6, 6, 6]
    assert why in table
    assert trust_lines(view)[2] == f"  cannot tell {why}"


def test_rings_stand_between_the_columns_of_uneven_levels():
    page = render_meta(meta())
    # columns are 44 wide from 46: level 1 at 68, 2 at 112, 5 at 156
    assert 'cx="90.0"' in page  # 1.5: halfway between 1 and 2
    assert 'cx="147.2"' in page  # 4.4: four fifths of the way from 2 to 5
    assert "default-src 'none'" in page


@pytest.mark.chromium
@needs_chromium
@pytest.mark.xdist_group("chromium")
def test_the_page_does_not_overflow_a_phone(tmp_path):
    wide = "return d.documentElement.scrollWidth"
    assert browser.measure(render_meta(meta("a" * 90)), tmp_path, wide, width=360) <= 360
    # the section of the report, all of it opened, in the frame of the other page
    head, _, tail = render_meta(meta()).partition("<main>")
    opened = section(trust("a" * 90)).replace("<details", "<details open")
    page = f"{head}<main>{opened}</main>{tail.partition('</main>')[2]}"
    assert browser.measure(page, tmp_path, wide, width=360) <= 360
