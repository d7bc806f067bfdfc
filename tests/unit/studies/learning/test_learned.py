"""What is shown of what systems learnt: examples by their rule, and curves with their controls dashed."""

from __future__ import annotations

from types import SimpleNamespace

from dialogauge.core import Conversation, Message
from dialogauge.report import to_text
from dialogauge.stats import mean_estimate
from dialogauge.studies.learning.curves import LearningCurve
from dialogauge.studies.learning.learned import curve, example_section


def test_examples_are_the_best_the_middle_and_the_worst_answer_of_the_last_step():
    def row(system, number, score, step=1, **more):
        given = [
            {"from": f"d{number}", "kind": "procedural", "why": "a correction", "text": f"rule {number}"}
        ]
        details = {"step": step, "score": score, "given": given, **more}
        return {"candidate": system, "conversation_id": f"q{number}@{step}", "details": details}

    scores = enumerate((0.2, 0.9, 0.1, 0.5, 0.4))
    rows = [row("a", n, score) for n, score in scores]
    rows += [row("a", 9, 1.0, 0), row("a", 8, None, taught=True), row("planted-right", 7, 1.0)]
    rows += [row("b", 1, None), row("bm25", 3, 0.7, given=None)]
    talks = [
        Conversation(r["conversation_id"], (Message("user", r["conversation_id"]),), candidate=r["candidate"])
        for r in rows
    ]
    run = SimpleNamespace(
        rows=lambda: iter(rows),
        rows_of=lambda ids: (r for r in rows if r["conversation_id"] in ids),
        conversations=lambda ids: [talk for talk in talks if talk.id in ids],
    )
    (section,) = example_section(run)
    shown = {part.title: [(c.title, c.aside) for c in part.blocks[0].cards] for part in section.blocks}
    assert shown == {
        "a": [("q1@1", "score 0.900"), ("q4@1", "score 0.400"), ("q2@1", "score 0.100")],
        "b": [("q1@1", "score –")],
    }
    assert "a correction, procedural, d4: rule 4" in to_text([section])
    assert [*example_section(SimpleNamespace(**{**vars(run), "rows": lambda: iter(rows[-1:])}))] == []


def test_controls_stand_in_the_picture_dashed():
    points = [(step, mean_estimate([0.1 * step] * 6, range(6))) for step in range(3)]
    names = ("none", "notes", "notes (shuffled)", "notes, runs/a", "none, runs/a")
    drawn = curve("t", {name: LearningCurve(points) for name in names}, "F1")
    assert [line.name for line in drawn.lines if line.emphasis == "quiet"] == [
        "none",
        "notes (shuffled)",
        "none, runs/a",
    ]
    assert (drawn.x.low, drawn.x.high, drawn.y.low) == (0, 2, 0.0)
    assert drawn.y.high == points[-1][1].high
