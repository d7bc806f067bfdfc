"""The page of a satisfaction run: figures, charts, both themes, a phone's width, hostile names."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import browser
from dialogauge.core.protocols import Population
from dialogauge.report import SatisfactionView, render_report
from dialogauge.report.satisfaction_charts import confusion, correlations, forest, reliability, scatter
from dialogauge.stats import CALIBRATIONS, ScoreHistory
from dialogauge.studies.satisfaction import EvaluationSettings, drift_of, evaluate, satisfaction_view
from dialogauge.studies.satisfaction.answers import JudgedReply
from report_samples import dimension, row
from unit.report.test_page import Page, needs_chromium, page_of

HOSTILE = "</script><img src=x onerror=alert(1)>\u202egnp.exe"


@lru_cache(maxsize=4)
def view(users=24, name="u") -> SatisfactionView:
    rng = random.Random(5)
    answers, histories = [], {}
    for u in range(users):
        level = 2.5 + 2 * rng.random()
        for scenario in ("cook", "gift"):
            block = f"{name}{u}__{scenario}"
            past = [min(5, max(1, round(rng.gauss(level, 0.8)))) for _ in range(12)]
            histories[block] = ScoreHistory.of(past)
            for i in range(6):
                gold = min(5, max(1, round(rng.gauss(level, 0.9))))
                value = min(5.0, max(1.0, 0.4 * gold + 0.6 * level + rng.gauss(0, 0.3)))
                answers.append(
                    JudgedReply(
                        id=f"{block}__turn_{i}",
                        block=block,
                        user=f"{name}{u}",
                        scenario=scenario,
                        position=i,
                        length=rng.randrange(400),
                        gold=gold,
                        reason="too vague" if gold < 4 else None,
                        history=True,
                        score=round(value),
                        value=value,
                    )
                )
    found = evaluate(answers, histories, EvaluationSettings("none", draws=60, shuffles=3))
    told = {
        **found.to_json(),
        "drift": {**drift_of([], Population(())).to_json(), "warnings": [f"Score drift in {name}."]},
        "study": {
            "users": users,
            "blocks": 2 * users,
            "turns": len(answers),
            "population": {"users": 5, "turns": 90},
        },
    }
    case = {
        "turn_id": f"{name}0__cook__0__turn_1", "user": f"{name}0", "user_score": 2.0,
        "user_reason": "insufficient_detail", "judge_score": 3, "judge_reason": "need_not_met",
        "rationale": f"The beach {name} was asked for, not a pie.", "here": ["pie"], "of_sources": ["beach"],
    }  # fmt: skip
    terms = {"rationales": 40, "contamination": 0.21, "contamination_of_sources": 0.05, "off_task": 3}
    told["rationale"] = {
        "reasons": {
            "satisfied": {"satisfied": 80, "need_not_met": 4},
            "need_not_met": {"satisfied": 3, "need_not_met": 9},
        },
        "reason_agreement": {
            "n": 30, "agreed": 0.4, "interval": [0.3, 0.5], "kappa": 0.12,
            "controls": {"shuffled": 0.31, "constant": 0.35}, "constant_reason": "insufficient_detail",
        },
        "terms": terms, "terms_by_chance": {**terms, "contamination": 0.17, "off_task": 1},
        "without_rationale": 2, "not_comparable": 1, "missed": 12,
        "kinds": {"core": 12, "not_core": 18, "off_task": 3},
        "examples": {"core": [case], "not_core": [case], "off_task": [case]},
    }  # fmt: skip
    told["boundary_only"] = ["pearson", "qwk"]
    return satisfaction_view(told, "my-judge", "none")


@lru_cache(maxsize=2)
def html(name: str = "u") -> str:
    from dialogauge.studies.judging import summarise, view_of
    from unit.report.test_page import ABOUT

    rows = [row(f"c{i}", turn=1, scores={"satisfaction": 4}) for i in range(4)]
    specs = (dimension("satisfaction"),)
    whole = view_of(summarise(rows, dimensions=specs), lambda: rows, lambda _: [], about=ABOUT)
    return render_report(replace(whole, satisfaction=view(24, name)))


def test_the_page_shows_judge_controls_and_ceiling_under_every_calibration() -> None:
    page = Page(html())
    for part in ("users", "pictures", "calibrations", "slices"):
        assert part in page.ids
    assert len(page.ids) == len(set(page.ids))
    assert {v[1:] for k, v in page.attributes if k == "href"} <= set(page.ids)
    assert not {"script", "img"} & set(page.tags)
    found = view(24, "u")
    for block in found.table:
        assert block.name in page.text
        assert [r.kind for r in block.rows] == ["judge", *["control"] * 7, "ceiling"]
    assert len(found.table) == len(CALIBRATIONS)
    assert found.table[3].same_as == "cdf"
    raw = dict(zip(found.columns, found.table[0].rows[0].cells, strict=True))
    assert f"{raw['Spearman'].value:.3f}" in page.text
    assert "History and target differ." in page.text
    assert "Reliability" in page.text
    assert not re.search(r"-0\.00\b|-0\.000\b", page.text)


def test_reasons_and_rationales_stand_beside_chance() -> None:
    page = Page(html())
    assert "reasons" in page.ids
    assert "real but not core 18 turns" in page.text
    assert "by chance 17.0 %" in page.text
    assert "always insufficient detail" in page.text
    assert "The beach u was asked for, not a pie." in page.text
    assert "u0__cook__0__turn_1" in page.text
    assert view(24, "u").columns[:3] == ("Pearson*", "Spearman", "QWK*")
    assert "Boundary only" in page.text


def test_a_run_without_users_has_no_such_part() -> None:
    rows = [row("c", turn=1, scores={"satisfaction": 4})]
    from report_samples import Made

    _, page = page_of(Made([], rows), dimensions=(dimension("satisfaction"),))
    assert 'id="users"' not in page


def test_hostile_names_stay_text() -> None:
    page = Page(html(HOSTILE))
    assert not {"script", "img"} & set(page.tags)
    assert "\u202e" not in html(HOSTILE)


def test_charts_stay_on_their_ground() -> None:
    found = view(24, "u")
    for panel in found.panels:
        chart = forest(panel)
        places = [x for line in chart.lines for x in (line.x, line.low, line.high) if x is not None]
        assert min(places) >= 121
        assert max(places) <= 269
        assert 2 <= len(chart.ticks) <= 7
    for square in (reliability(found.reliability), scatter(found.dots)):
        assert all(30 <= d.x <= 296 and 6 <= d.y <= 266 for d in square.dots)
        assert len(square.x_ticks) >= 2
    matrix = confusion(found.confusion)
    assert sum(c.count for c in matrix.cells) == found.n
    assert sum(c.share for c in matrix.cells if c.x == matrix.cells[4].x) == pytest.approx(1)
    bars = correlations(found.dots)
    assert sum(b.count for b in bars.bars) + bars.undefined == len(found.dots)


def test_charts_of_nothing() -> None:
    assert scatter([]).dots == ()
    assert reliability([]).dots == ()
    assert correlations([]).undefined == 0


@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_overflows(tmp_path, width) -> None:
    script = (
        "return {wide: d.documentElement.scrollWidth,"
        "over: [...d.querySelectorAll('main p, main article, main svg, main table, h2')].filter(e =>"
        " e.getBoundingClientRect().right > w.innerWidth + 1 && !e.closest('.scroll')).length,"
        "dots: d.querySelectorAll('#pictures circle').length,"
        "small: [...d.querySelectorAll('#users svg, #pictures svg')].filter(e =>"
        " e.getBoundingClientRect().width < 200 && e.getBoundingClientRect().width > 60).length}"
    )
    found = browser.measure(html(), tmp_path, script, width=width)
    assert found["wide"] <= width
    assert found["over"] == 0
    assert found["dots"] > 20
    assert found["small"] == 0


@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_has_the_theme(tmp_path, scheme) -> None:
    path = browser.screenshot(html(), tmp_path, width=390, height=2600, scheme=scheme)
    shot = browser.pixels(path)[:, :390]
    ground = shot[4, 4].astype(int)
    assert (ground.mean() > 200) == (scheme == "light")
    for band in np.array_split(shot, 5):
        assert (np.abs(band.astype(int) - ground).sum(axis=2) > 60).mean() > 0.01


def test_the_reliability_diagram_says_what_it_is_of() -> None:
    from dialogauge.studies.judging import summarise, view_of
    from unit.report.test_page import ABOUT

    assert view(24, "u").fractions
    assert "the judge’s expected rating" in html()
    rows = [row("c", turn=1, scores={"satisfaction": 4})]
    whole = view_of(
        summarise(rows, dimensions=(dimension("satisfaction"),)), lambda: rows, lambda _: [], about=ABOUT
    )
    page = render_report(replace(whole, satisfaction=replace(view(24, "u"), fractions=False)))
    assert "expected rating" not in page
    empty = Page(render_report(replace(whole, satisfaction=replace(view(24, "u"), n=0))))
    assert "No turn has a score" in empty.text
    assert not {"pictures", "calibrations", "slices"} & set(empty.ids)
    assert {v[1:] for k, v in empty.attributes if k == "href"} <= set(empty.ids)
