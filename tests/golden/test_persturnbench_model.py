"""The cases of PersTurnBench that concern memories, few-shot examples and a judge model's reply.

Figures: PT-08, PT-09, PT-14 and PT-15 of the acceptance cases, computed by the authors' public code. Of
PT-09 the rows on which our rule and theirs agree are golden; where their parser invents a score or mends a
reason, ours must refuse. Of PT-15 the negative count, which theirs takes, is refused too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dialogauge.core import Conversation
from dialogauge.data import read_conversations, read_split
from dialogauge.judges.personal.examples import draw_examples
from dialogauge.judges.personal.memory import MemoryFault, ScoreScale, UserMemory, shown_history
from dialogauge.judges.rubric.reply import ReplyFault, parse_reply
from dialogauge.llm.json_text import NoJsonObject, extract_object
from dialogauge.rubrics import Scope, load_personal
from dialogauge.studies.satisfaction.blocks import study_data

SHARED = os.environ.get("DIALOGAUGE_SHARED")
FOLDER = Path(SHARED or ".") / "data" / "recllmsim"

on_shared_data = pytest.mark.skipif(not SHARED, reason="DIALOGAUGE_SHARED is not set")


@cache
def study(part="test", history="all"):
    read = read_conversations([str(FOLDER / "human_exp_V2")])
    split = read_split(str(FOLDER / "split.json"))
    return study_data(
        (c for c in read if isinstance(c, Conversation)), part=part, split=split, history=history
    )


# -- PT-08: the figures of a memory -------------------------------------------------------------------

PT08 = {
    "User_0__技能学习规划": (24, 4.75, (0, 0, 0, 6, 18), 48, 4.75, (0, 0, 0, 12, 36)),
    "User_0__旅行规划": (22, 4.64, (0, 0, 0, 8, 14), 43, 4.6977, (0, 0, 0, 13, 30)),
    "User_100__菜谱规划": (31, 3.77, (1, 1, 7, 17, 5), 67, 3.7761, (1, 4, 16, 34, 12)),
}


@pytest.mark.parametrize("block", PT08)
@pytest.mark.shared
@on_shared_data
@pytest.mark.xdist_group("persturnbench")
def test_pt08_score_scale(block) -> None:
    turns, mean, counts, all_turns, all_mean, all_counts = PT08[block]
    for history, expected in (("prompt", (turns, mean, counts)), ("all", (all_turns, all_mean, all_counts))):
        view = next(b.view for b in study(history=history).blocks if b.view.id == block)
        scale = ScoreScale.of(view.scores)
        assert (scale.turns, scale.counts) == (expected[0], expected[2])
        assert scale.mean == pytest.approx(expected[1], abs=0.005)
        evidence = shown_history(view)
        assert set(evidence.groups) == {s for s in range(1, 6) if expected[2][s - 1]}
        assert evidence.shown + sum(evidence.left_out.values()) == expected[0]


# -- PT-09: reading a reply ---------------------------------------------------------------------------

RUBRIC = load_personal("memory")
SCOPE = Scope((1,), ("turn",))


def read(raw: str) -> tuple[float, str, str] | None:
    """Read a reply of the published form; None for a failure."""
    try:
        found = extract_object(raw).value
    except NoJsonObject:
        return None
    ours: dict[str, Any] = {"note": found["analysis"]} if "analysis" in found else {}
    if "classification" in found:
        ours["scores"] = {"satisfaction": found["classification"]}
    if "reason" in found:
        ours["reason"] = found["reason"]
    return parsed(ours)


def parsed(ours: Mapping[str, Any]) -> tuple[float, str, str] | None:
    try:
        part = parse_reply(RUBRIC, SCOPE, ours).turns[1]
    except ReplyFault:
        return None
    score = part.scores["satisfaction"]
    assert isinstance(score, int)
    return score, part.labels["reason"], part.notes.get("", "")


AGREED = [
    ('{"classification": 4, "reason": "满意", "analysis": "ok"}', (4, "satisfied", "ok")),
    ('```json\n{"classification": "5", "reason": "满意", "analysis": "ok"}\n```', (5, "satisfied", "ok")),
    (
        '<think>blah {"classification": 1}</think>'
        '{"classification": 3, "reason": "不够细致", "analysis": "缺少时间"}',
        (3, "insufficient_detail", "缺少时间"),
    ),
    ("结果：{“classification”: 2, “reason”: “不可用”, “analysis”: “x”} 完", (2, "not_usable", "x")),
    (
        '{"classification": 3, "reason": "不够细致", "analysis": "他说"好"了"}',
        (3, "insufficient_detail", '他说"好"了'),
    ),
    ('{"classification": 6, "reason": "满意", "analysis": "x"}', None),
    ("no json", None),
    ('{"classification": 4, "reason": "满意"}', None),
    ('{"classification": 4, "analysis": "x"}', None),
    ('{"reason": "不可用", "analysis": "x", "classification": "2"}', (2, "not_usable", "x")),
]
INVENTED = [
    '{"classification": 3.5, "reason": "满意", "analysis": "x"}',  # theirs reads 3
    '{"classification": 3.5, "reason": "不可用", "analysis": "x"}',
    '{"classification": true, "reason": "满意", "analysis": "x"}',  # theirs reads 1
    '{"classification": true, "reason": "不可用", "analysis": "x"}',
    '{"classification": 4, "reason": "满意", "analysis": "没有结尾',  # cut off: theirs completes it
    '{"classification": 4.0, "reason": "满意", "analysis": "x"}',
]


@pytest.mark.parametrize(("raw", "expected"), AGREED)
def test_pt09_replies_on_which_both_rules_agree(raw, expected) -> None:
    assert read(raw) == expected


@pytest.mark.parametrize("raw", INVENTED)
def test_pt09_what_the_published_parser_invents_is_refused(raw) -> None:
    assert read(raw) is None


@pytest.mark.parametrize(
    ("raw", "score"),
    [
        ('{"score": 4.5}', None),  # theirs: 5
        ('x {"score": "3.5", "reason":"满意"} y', None),  # 4
        ('{"score": null}', None),  # 3
        ('{"score": 0}', None),  # 1
        ('```\n{"score":2}\n```', 2),
    ],
)
def test_pt09_generic_judges(raw, score) -> None:
    found = extract_object(raw).value["score"]
    reason = "other" if score is None or score <= 3 else "satisfied"
    got = [
        parsed({"note": "x", "scores": {"satisfaction": found}, "reason": word})
        for word in (reason, "satisfied")
    ]
    assert [g and g[0] for g in got] == [score, None]


@pytest.mark.parametrize(
    ("score", "reason", "expected"),
    [
        (4, "不够细致", None),
        (5, "满意", "satisfied"),
        (3, "满意", None),
        (3, "不够细致", "insufficient_detail"),
        (2, "", None),
        (1, " 不可用 ", "not_usable"),
        (3, "随便", None),
        (4, "", None),
        (2, "其他", "other"),  # the one spelling variant
        (2, "其它", "other"),
    ],
)
def test_pt09_reasons_are_read_and_never_mended(score, reason, expected) -> None:
    found = parsed({"note": "x", "scores": {"satisfaction": score}, "reason": reason})
    assert (found and found[1]) == expected


@pytest.mark.shared
@on_shared_data
def test_pt09_the_rows_above_are_those_of_the_case() -> None:
    expected = case("PT-09")["expect"]
    ours = {raw for raw, _ in AGREED} | set(INVENTED)
    assert {row["raw"] for row in expected["recover"]} <= ours


@cache
def case(name):
    cases = json.loads((Path(SHARED or ".") / "acceptance" / "persturn_cases.json").read_text("utf-8"))
    return next(c for c in cases["cases"] if c["id"].startswith(name))


# -- PT-14: few-shot examples -------------------------------------------------------------------------


@pytest.mark.shared
@on_shared_data
@pytest.mark.xdist_group("persturnbench")
def test_pt14_few_shot_examples() -> None:
    drawn = [[r.reply.id, r.score] for r in draw_examples(study().population)]
    assert drawn == case("PT-14")["expect"]["few_shot"]


# -- PT-15: the memory's form -------------------------------------------------------------------------


def memory(**changes: Any) -> dict[str, Any]:
    """The case's memory under our keys; its one task is its history."""
    scale = {"counts": {"1": 0, "2": 1, "3": 2, "4": 5, "5": 4}, "mean": 3.9}
    findings = {
        "scoring_style": "s",
        "four_versus_five": "x",
        "three_versus_four": "y",
        "requirements": ["r"],
        "preferred_format": "f",
        "task_observations": [{"task": "旅行规划", "observation": "o"}],
    }
    scale |= {k: v for k, v in changes.items() if k in scale}
    findings |= {k: v for k, v in changes.items() if k in findings}
    if changes.get("scoring_style", "") is None:
        del findings["scoring_style"]
    return {"scale": scale, "conversations": 3, "scenarios": ["旅行规划"], "findings": findings}


def test_pt15_computed_facts() -> None:
    found = UserMemory.from_json(memory())
    assert found.scale.turns == 12
    assert found.scale.strictness == "strict"  # 偏严格
    assert found.scale.satisfied_share == pytest.approx(0.75)
    assert (found.scale.compares_three_four, found.scale.compares_four_five) == (True, True)
    assert found.scale.low_evidence == "sparse"


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [
        ({}, True),
        ({"mean": 0}, False),
        ({"mean": 6}, False),
        ({"counts": {"1": -1, "2": 1, "3": 2, "4": 5, "5": 4}}, False),  # theirs accepts it
        ({"requirements": [f"r{n}" for n in range(9)]}, True),
        ({"requirements": []}, True),
        ({"scoring_style": None}, False),
    ],
)
def test_pt15_validation(changes, accepted) -> None:
    if accepted:
        assert UserMemory.from_json(memory(**changes))
    else:
        with pytest.raises(MemoryFault):
            UserMemory.from_json(memory(**changes))
