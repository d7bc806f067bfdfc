"""The page of a satisfaction run: figures, charts, both themes, a phone's width, hostile names."""

from __future__ import annotations

import random
import re
from functools import lru_cache

import numpy as np
import pytest

import browser
from dialogauge.core.json_keys import as_json
from dialogauge.core.protocols import Population
from dialogauge.report import Bars, Curve, DataTable, DotPlot, Matrix, to_html
from dialogauge.stats import CALIBRATIONS, ScoreHistory
from dialogauge.studies.satisfaction.answers import JudgedReply
from dialogauge.studies.satisfaction.behaviour import drift_of
from dialogauge.studies.satisfaction.evaluation import EvaluationSettings, evaluate
from dialogauge.studies.satisfaction.page import users_sections
from parsed_pages import ParsedPage, judged_html, judged_page, manifest_of, needs_chromium
from report_samples import Made, dimension, row

HOSTILE = "</script><img src=x onerror=alert(1)>\u202egnp.exe"


@lru_cache(maxsize=4)
def summary(users=24, name="u") -> dict:
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
    found = evaluate(answers, histories, EvaluationSettings("none", shuffles=3))
    told = {
        **as_json(found),
        "drift": {
            **as_json(drift_of([], Population(()))),
            "warnings": [f"Score drift in {name}."],
        },
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
        "judged": 60, "without_rationale": 2, "not_comparable": 1, "missed": 12,
        "kinds": {"core": 12, "not_core": 18, "off_task": 3},
        "examples": {"core": [case], "not_core": [case], "off_task": [case]},
    }  # fmt: skip
    told["boundary_only"] = ["pearson", "qwk"]
    return told


def page(found, n=4):
    """A judged page with the parts of judge against users."""
    settings = {"calibrate": "none", "rubric": "satisfaction", "mode": "foresight", "inputs": ["a.jsonl"]}
    sections = users_sections(found, manifest_of(settings=settings, judge={"name": "my-judge"}))
    rows = [row(f"c{i}", turn=1, scores={"satisfaction": 4}) for i in range(n)]
    specs = (dimension("satisfaction"),)
    return judged_page(Made([], rows), dimensions=specs, against_users=sections)[1]


@lru_cache(maxsize=2)
def html(name: str = "u") -> str:
    return to_html(page(summary(24, name)))


def blocks_of(kind, found):
    """Every block of a kind, wherever it stands."""
    if isinstance(found, kind):
        yield found
    for name in ("blocks", "cards"):
        for inner in getattr(found, name, ()):
            yield from blocks_of(kind, inner)


def page_blocks():
    return page(summary())


@pytest.mark.long
def test_the_page_shows_judge_controls_and_ceiling_under_every_calibration() -> None:
    shown = ParsedPage(html())
    for part in ("users", "pictures", "calibrations", "slices"):
        assert part in shown.ids
    assert len(shown.ids) == len(set(shown.ids))
    assert {v[1:] for k, v in shown.attributes if k == "href"} <= set(shown.ids)
    assert not {"script", "img"} & set(shown.tags)
    table = next(t for t in blocks_of(DataTable, page_blocks()) if t.title.startswith("Raw"))
    assert [g.title for g in table.groups] == ["raw", *[c for c in CALIBRATIONS if c != "none"]]
    for group in table.groups:
        assert group.title in shown.text
        if group.rows:
            kinds = [r.emphasis for r in group.rows]
            assert kinds == ["strong", *["plain"] * 7, "quiet"]
    assert table.groups[3].note == "the same figures as cdf"
    spearman = table.groups[0].rows[0].cells[2]
    assert f"{spearman.value:.3f}" in shown.text
    assert "The histories are different." in shown.text
    assert "Reliability" in shown.text
    assert not re.search(r"-0\.00\b|-0\.000\b", shown.text)


def test_reasons_and_rationales_stand_beside_chance() -> None:
    shown = ParsedPage(html())
    assert "reasons" in shown.ids
    assert "real but not core" in shown.text
    assert "18 turns" in shown.text
    assert "by chance 17.0 %" in shown.text
    assert "always insufficient detail" in shown.text
    assert "The beach u was asked for, not a pie." in shown.text
    assert "u0__cook__0__turn_1" in shown.text
    assert "Pearson* Spearman QWK*" in shown.text
    assert "Boundary only" in shown.text


def test_a_run_without_users_has_no_such_part() -> None:
    rows = [row("c", turn=1, scores={"satisfaction": 4})]
    _, plain = judged_html(Made([], rows), dimensions=(dimension("satisfaction"),))
    assert 'id="users"' not in plain


def test_hostile_names_stay_text() -> None:
    shown = ParsedPage(html(HOSTILE))
    assert not {"script", "img"} & set(shown.tags)
    assert "\u202e" not in html(HOSTILE)


def test_charts_show_what_the_summary_holds() -> None:
    found, whole = summary(), page(summary())
    plots = list(blocks_of(DotPlot, whole))
    assert [p.title for p in plots][:2] == ["Pearson", "Pearson within users"]
    for plot in plots:
        assert [r.emphasis for r in plot.rows] == ["strong", *["plain"] * 7]
        assert all(r.sign for r in plot.rows[1:])
    reliability, users = (c for c in blocks_of(Curve, whole) if c.square)
    assert [len(c.points) for c in (reliability, users)] == [len(found["reliability"]), 24]
    for square in (reliability, users):
        assert square.x.low == square.y.low
        assert all(square.x.low <= p.x <= 5 and square.y.low <= p.y <= 5 for p in square.points)
    (matrix,) = blocks_of(Matrix, whole)
    assert sum(map(sum, matrix.cells)) == found["metrics"]["n"]
    assert sum(row[4] for row in matrix.shades) == pytest.approx(1)
    assert (matrix.rows, matrix.row_edge, matrix.column_edge) == (("5", "4", "3", "2", "1"), 2, 3)
    (within,) = (b for b in blocks_of(Bars, whole) if b.title == "Correlation within each user")
    undefined = sum(u["pearson"] is None for u in found["users"])
    assert sum(within.counts) + undefined == len(found["users"])


def test_charts_of_nothing() -> None:
    nothing = {**summary(), "users": [], "reliability": []}
    squares = [c for c in blocks_of(Curve, page(nothing)) if c.square]
    assert [c.points for c in squares] == [(), ()]
    assert "nan" not in to_html(page(nothing)).lower()


@pytest.mark.chromium
@needs_chromium
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_overflows(tmp_path, width) -> None:
    script = (
        "return {wide: d.documentElement.scrollWidth,"
        "over: [...d.querySelectorAll('main p, main article, main svg, main table, h2')].filter(e =>"
        " e.getBoundingClientRect().right > w.innerWidth + 1 && !e.closest('.scroll')).length,"
        "dots: d.querySelectorAll('#pictures circle').length,"
        "small: [...d.querySelectorAll('#users svg, #pictures svg')].filter(e => !e.matches('.track') &&"
        " e.getBoundingClientRect().width < 200 && e.getBoundingClientRect().width > 60).length,"
        "thin: [...d.querySelectorAll('#users .track')].filter(e =>"
        " e.getBoundingClientRect().width < 80).length}"
    )
    found = browser.measure(html(), tmp_path, script, width=width)
    assert found["wide"] <= width
    assert found["over"] == 0
    assert found["dots"] > 20
    assert found["small"] == 0
    assert found["thin"] == 0


@pytest.mark.long
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
    assert "the judge’s expected rating" in html()
    whole = {**summary(), "metrics_of_fractions": summary()["metrics"]}
    assert "expected rating" not in to_html(page(whole))
    nothing = {**summary(), "metrics": {**summary()["metrics"], "n": 0}}
    empty = ParsedPage(to_html(page(nothing)))
    assert "No turn of a user with a history has a score" in empty.text
    assert not {"pictures", "calibrations", "slices"} & set(empty.ids)
    assert {v[1:] for k, v in empty.attributes if k == "href"} <= set(empty.ids)
