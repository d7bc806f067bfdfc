from __future__ import annotations

import orjson

from dialogauge.core import (
    NOT_APPLICABLE,
    Evidence,
    Judged,
    JudgeFailure,
    Judgement,
    Score,
    Target,
    Usage,
    as_scores,
)
from dialogauge.core.judgement import row_json, usage_json
from dialogauge.runs import judged_of
from dialogauge.runs.records import own_scores, raw_score
from talks import talk

CONVERSATION = talk("u: a", "a: b", user_id="u1", scenario="support", candidate="m1")


def row(outcome: Judgement | JudgeFailure, target: Target | None = None, **more: object) -> dict[str, object]:
    judged = Judged(target or Target("c1", "turn", 1), outcome, **more)  # type: ignore[arg-type]
    return row_json(CONVERSATION, judged, repeat=2, judge="card/m")


def test_a_judgement_is_written_whole() -> None:
    outcome = Judgement(
        as_scores({"helpfulness": 4, "safety": "n/a"}),
        verdict="good",
        verdict_basis="partial",
        weakest_turn=1,
        issues=("too long",),
        evidence=(Evidence(1, "b", "length"),),
        rationale="fine",
        details={"cut": 1},
    )
    written = row(
        outcome,
        usage=Usage(1, 0, 10, 5, None, 40, 30),
        prompt_digest="p",
        role_usage={"judge": Usage(1, 0, 10, 5, None, 40, 30)},
    )
    tokens = {"calls": 1, "cached": 0, "prompt_tokens": 10, "completion_tokens": 5, "cost": None}
    usage = {**tokens, "prompt_chars": 40, "repeated_chars": 30}
    assert written == {
        "conversation_id": "c1",
        "user_id": "u1",
        "scenario": "support",
        "candidate": "m1",
        "level": "turn",
        "turn": 1,
        "repeat": 2,
        "scores": {"helpfulness": 4, "safety": "n/a"},
        "whole": {},
        "raw": {},
        "overall": None,
        "failure": None,
        "verdict": "good",
        "verdict_basis": "partial",
        "weakest_turn": 1,
        "issues": ["too long"],
        "evidence": [{"turn": 1, "quote": "b", "criterion": "length"}],
        "rationale": "fine",
        "details": {"cut": 1},
        "judge": "card/m",
        "prompt_digest": "p",
        "usage": {**usage, "by_role": {"judge": usage}},
    }


def test_a_failure_has_no_scores_and_says_why() -> None:
    written = row(JudgeFailure("invalid_json", "no object", raw="hm"))
    assert written["scores"] is None
    assert written["failure"] == {"kind": "invalid_json", "message": "no object", "raw": "hm"}
    assert row(JudgeFailure("timeout", "slow"))["failure"] == {"kind": "timeout", "message": "slow"}
    for key in ("verdict", "verdict_basis", "weakest_turn", "rationale"):
        assert written[key] is None
    assert written["issues"] == written["evidence"] == []


def test_every_row_has_the_same_keys_in_the_same_order() -> None:
    judged, failed = row(Judgement(as_scores({"a": 1}))), row(JudgeFailure("timeout", "slow"))
    assert list(judged) == list(failed)
    for written in (judged, failed):
        assert orjson.loads(orjson.dumps(written)) == written


def test_a_target_may_name_its_own_candidate() -> None:
    assert row(Judgement(), Target("c1", "pair", candidate="m2"))["candidate"] == "m2"
    assert row(Judgement())["candidate"] == "m1"


def test_no_scores_are_not_a_failure() -> None:
    assert row(Judgement())["scores"] == {}
    assert row(Judgement())["failure"] is None


def test_a_usage_of_nothing_costs_nothing() -> None:
    assert usage_json(Usage())["cost"] == 0.0


def test_a_row_is_read_back_as_it_was_written() -> None:
    used = Usage(1, 0, 10, 5, None, 40, 30)
    fine = Judgement(
        as_scores({"helpfulness": 4, "safety": "n/a"}),
        verdict="good",
        verdict_basis="partial",
        weakest_turn=1,
        issues=("too long",),
        evidence=(Evidence(1, "b", "length"), Evidence(1, "b", "echo", "signal")),
        rationale="fine",
        details={"cut": 1},
    )
    for outcome in (fine, Judgement(), JudgeFailure("timeout", "slow"), JudgeFailure("refused", "no", "hm")):
        judged = Judged(Target("c1", "turn", 1, "m2"), outcome, used, "p", {"judge": used})
        written = row_json(CONVERSATION, judged, repeat=2, judge="card/m")
        assert judged_of(orjson.loads(orjson.dumps(written))) == judged


def test_a_value_with_a_fraction_has_its_whole_and_its_raw_score_beside_it() -> None:
    scores = {
        "calibrated": Score(4.25, 4, 3.5),
        "own": Score(3.9, 3),
        "mean": Score(3.5),
        "same": Score(4.0, 4),
        "moved": Score(5, 5, 3.0),
        "share": Score(1.0),
        "none": NOT_APPLICABLE,
    }
    written = row(Judgement(scores, overall=2.33))
    assert written["scores"] == {
        "calibrated": 4.25,
        "own": 3.9,
        "mean": 3.5,
        "same": 4,
        "moved": 5,
        "share": 1.0,
        "none": "n/a",
    }
    assert written["whole"] == {"calibrated": 4, "own": 3}
    assert written["raw"] == {"calibrated": 3.5, "moved": 3.0}
    assert written["overall"] == 2.33
    assert own_scores(written) == {**written["scores"], "calibrated": 4, "own": 3}  # type: ignore[dict-item]
    assert [raw_score(written, name) for name in scores] == [3.5, 3.9, 3.5, 4.0, 3.0, 1.0, None]
    found = judged_of(orjson.loads(orjson.dumps({**written, "usage": {"by_role": {}}}))).outcome
    assert isinstance(found, Judgement)
    assert found.scores == scores
    assert found.overall == 2.33
