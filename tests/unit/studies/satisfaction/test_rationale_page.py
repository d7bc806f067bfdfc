from __future__ import annotations

from dialogauge.core.json_keys import as_json
from dialogauge.report import to_text
from dialogauge.studies.satisfaction.rationale import RationaleCase, RationaleCheck, ReasonAgreement, TermUse
from dialogauge.studies.satisfaction.rationale_page import rationale_section

CASE = RationaleCase(
    "t1",
    "u",
    "off_task",
    2,
    "other",
    3,
    "other",
    "It lacks\n\na temple. " * 20,
    ("lack",),
    ("templ", "train"),
)


def check(**changes):
    agreement = ReasonAgreement(
        4, 0.5, (0.25, 0.75), 0.2, {"shuffled": 0.375, "constant": 0.25}, "need_not_met"
    )
    fields = {
        "judged": 10,
        "without_rationale": 1,
        "not_comparable": 2,
        "reasons": {"other": {"other": 3, "satisfied": 1}, "satisfied": {"other": 0, "satisfied": 6}},
        "reason_agreement": agreement,
        "terms": TermUse(7, 100, 60, 30, 10, 10, 1),
        "terms_by_chance": TermUse(7, 100, 60, 20, 5, 20, 0),
        "missed": 1,
        "kinds": {"core": 2, "not_core": 1, "off_task": 1},
        "examples": {"core": (), "not_core": (), "off_task": (CASE,)},
    }
    return RationaleCheck(**(fields | changes))


def shown(found):
    text = to_text((rationale_section(as_json(found)),))
    assert max(map(len, text.splitlines())) <= 110
    return " ".join(text.split())


def test_every_figure_has_its_control() -> None:
    text = shown(check())
    assert "the user’s own reason 50.0 % [25.0 %, 75.0 %]" in text
    assert "Reasons agree in so many of 4 turns" in text
    assert "control: its own reasons dealt anew 37.5 %" in text
    assert "control: always need not met 25.0 %" in text
    assert "Of 10 turns, without a rationale: 1; not comparable: 2." in text
    assert "words of this conversation 60.0 % by chance 60.0 %" in text
    assert "words from other scenarios alone 30.0 % by chance 20.0 %" in text
    assert "of these at home there 10.0 % by chance 5.0 %" in text
    assert "off-task rationales 1 of 7, by chance 0" in text
    assert "At home in other scenarios: templ, train" in text


def test_nothing_to_compare() -> None:
    none = ReasonAgreement(0, None, None, None, {"shuffled": None, "constant": None}, None)
    text = shown(check(reason_agreement=none, terms=TermUse(), terms_by_chance=None, reasons={}))
    assert "the user’s own reason –" in text
    assert "Reasons agree in so many of 0 turns" in text
    assert "by chance –" in text
