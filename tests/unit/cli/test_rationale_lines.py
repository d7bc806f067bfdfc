from __future__ import annotations

from dialogauge.cli.satisfaction import rationale_lines
from dialogauge.studies.satisfaction.rationale import RationaleCase, RationaleCheck, ReasonAgreement, TermUse

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
    agreement = ReasonAgreement(4, 0.5, (0.25, 0.75), 0.2, 0.375, 0.25, "need_not_met")
    fields = {
        "judged": 10,
        "without_rationale": 1,
        "not_comparable": 2,
        "table": {"other": {"other": 3, "satisfied": 1}, "satisfied": {"other": 0, "satisfied": 6}},
        "agreement": agreement,
        "use": TermUse(7, 100, 60, 30, 10, 10, 1),
        "chance": TermUse(7, 100, 60, 20, 5, 20, 0),
        "missed": 1,
        "kinds": {"core": 2, "not_core": 1, "off_task": 1},
        "examples": {"core": (), "not_core": (), "off_task": (CASE,)},
    }
    return RationaleCheck(**(fields | changes))


def test_every_figure_has_its_control() -> None:
    text = "\n".join(rationale_lines(check()))
    assert "0.500 [0.250, 0.750] of 4 turns" in text
    assert "shuffled 0.375, always need_not_met 0.250" in text
    assert "30.0% of the user's other scenarios alone (10.0% at home there), 1 rationales off-task" in text
    assert "by chance, with the history of another user: 60.0%" in text
    assert "of other scenarios: templ, train" in text
    assert max(map(len, text.splitlines())) < 240


def test_nothing_to_compare() -> None:
    none = ReasonAgreement(0, None, None, None, None, None, None)
    text = "\n".join(rationale_lines(check(agreement=none, use=TermUse(), chance=None, table={})))
    assert "no turn has a reason of both" in text
    assert "by chance" not in text
