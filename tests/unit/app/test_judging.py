from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialogauge.app.judge import ENTRY
from dialogauge.app.settings import JudgeOptions
from dialogauge.core import BudgetSpent, Conversation, EndpointError, Judged, UsageError, digest_text
from dialogauge.runs import open_run
from talks import FakeJudge, judged_rows, talk

A, B, C = (talk("u: hi", f"a: reply {n}", id=n) for n in "abc")


def stops(judge: FakeJudge, error: Exception, *, after: int) -> FakeJudge:
    """Let a judge raise once it has judged so many."""

    def rows(conversation: Conversation, _: int) -> tuple[Judged, ...]:
        if len(judge.seen) > after:
            raise error
        return judged_rows(conversation)

    judge.rows = rows
    return judge


def ids(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(r["conversation_id"], r["repeat"]) for r in rows if r["level"] == "conversation"]


def test_a_run_leaves_all_its_files(desk: Any) -> None:
    outcome = desk.run(desk.log(A, B))
    assert outcome.run.ending.outcome.ended == "finished"
    assert outcome.faults == ()
    names = {p.name for p in (desk.folder / "run").iterdir()}
    assert names >= {"run.db", "manifest.json", "summary.json", "judgements.jsonl", "report.html"}
    assert ids(desk.rows()) == [("a", 1), ("b", 1)]
    assert desk.json("manifest.json")["ended"] == "finished"


def test_the_same_command_again_asks_for_nothing(desk: Any) -> None:
    log = desk.log(A, B)
    desk.run(log, repeats=2)
    before = desk.rows(), desk.json("summary.json")
    desk.judge.seen.clear()
    outcome = desk.run(log, repeats=2)
    assert desk.judge.seen == []
    assert outcome.run.progress.resumed == 4
    assert (desk.rows(), desk.json("summary.json")) == before


def test_more_input_is_judged_alone_and_takes_its_place_in_the_order(desk: Any) -> None:
    desk.run(desk.log(B, C), repeats=2)
    desk.judge.seen.clear()
    desk.run(desk.log(A, B, C), repeats=2)
    assert {c.id for c, _, _ in desk.judge.seen} == {"a"}
    assert ids(desk.rows()) == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1), ("c", 2)]


def test_what_the_input_no_longer_holds_is_left_out_and_kept(desk: Any) -> None:
    desk.run(desk.log(A, B, C))
    desk.run(desk.log(A, C))
    assert ids(desk.rows()) == [("a", 1), ("c", 1)]
    assert desk.json("summary.json")["conversations"]["requested"] == 2
    desk.judge.seen.clear()
    desk.run(desk.log(A, B, C))
    assert desk.judge.seen == []
    assert ids(desk.rows()) == [("a", 1), ("b", 1), ("c", 1)]


def test_a_changed_conversation_is_judged_again_and_its_old_self_is_left_out(desk: Any) -> None:
    desk.run(desk.log(A, B))
    changed = talk("u: hi", "a: another reply", id="a")
    desk.judge.rows = lambda c, _: judged_rows(c, 2)
    desk.run(desk.log(changed, B))
    scores = [r["scores"]["coherence"] for r in desk.rows() if r["level"] == "conversation"]
    assert scores == [2, 4]
    desk.judge.seen.clear()
    desk.run(str(desk.folder / "run"), out="again")
    assert [c.messages[1].text for c, _, _ in desk.judge.seen] == ["another reply", "reply b"]


def test_a_run_is_judged_again_by_another_judge(desk: Any) -> None:
    log = desk.log(C, A, B)
    desk.run(log)
    desk.run(desk.log(C, B))
    desk.judge = FakeJudge(digest=digest_text("another"))
    desk.run(str(desk.folder / "run"), out="again")
    assert [c.id for c, _, _ in desk.judge.seen] == ["c", "b"]
    assert ids(desk.rows("again")) == [("c", 1), ("b", 1)]


def test_failures_are_kept_until_they_are_asked_for_again(desk: Any) -> None:
    log = desk.log(A, B)
    desk.judge.rows = lambda c, _: judged_rows(c, failed=c.id == "b")
    desk.run(log)
    desk.judge.rows = lambda c, _: judged_rows(c)
    desk.judge.seen.clear()
    desk.run(log)
    assert desk.judge.seen == []
    desk.run(log, retry_failed=True)
    assert [c.id for c, _, _ in desk.judge.seen] == ["b"]
    assert all(r["failure"] is None for r in desk.rows())
    assert len(desk.rows()) == 4


def test_what_held_is_kept_and_only_what_failed_is_asked_for(desk: Any) -> None:
    def rows(score: int, failed: tuple[str, ...]) -> Any:
        good, bad = judged_rows(B, score), judged_rows(B, failed=True)
        return lambda c, _: tuple(
            b if g.target.level in failed and c.id == "b" else g for g, b in zip(good, bad, strict=True)
        )

    log = desk.log(B)
    desk.judge.rows = rows(4, ("turn",))
    desk.run(log)
    desk.judge.rows = rows(2, ("turn", "conversation"))
    desk.run(log, retry_failed=True)
    (request,) = desk.judge.requests[1:]
    assert [j.target.level for j in request.standing] == ["conversation"]
    assert [r["scores"] for r in desk.rows()] == [None, {"coherence": 4}]
    desk.judge.rows = rows(3, ())
    desk.run(log, retry_failed=True)
    assert [r["scores"] for r in desk.rows()] == [{"helpfulness": 3}, {"coherence": 4}]
    desk.run(log, retry_failed=True)
    assert len(desk.judge.requests) == 3


@pytest.mark.parametrize("stopped_after", [0, 1, 3])
@pytest.mark.parametrize("repeats", [1, 2])
def test_a_run_that_broke_off_shows_no_row_of_what_the_input_held_before(
    desk: Any, stopped_after: int, repeats: int
) -> None:
    talks = [talk("u: hi", f"a: reply {n}", id=n) for n in "abcde"]
    desk.run(desk.log(*talks), repeats=repeats)
    edited = [talk("u: hi", f"a: edited {n}", id=n) for n in "abcde"]
    desk.judge = stops(FakeJudge(), BudgetSpent("the cap"), after=stopped_after)
    outcome = desk.run(desk.log(*edited[:4], talks[4]), repeats=repeats)
    units = 4 * repeats - stopped_after
    assert outcome.run.ending.pending == units == desk.json("manifest.json")["pending_units"]
    assert len(desk.rows()) == 2 * (5 * repeats - units)
    assert desk.json("summary.json")["conversations"]["pending"] == -(-units // repeats)
    desk.judge = FakeJudge()
    desk.run(desk.log(*edited[:4], talks[4]), repeats=repeats)
    assert len(desk.judge.seen) == units
    assert len(desk.rows()) == 10 * repeats


def test_what_a_killed_process_added_is_not_shown_beside_what_it_takes_the_place_of(desk: Any) -> None:
    desk.run(desk.log(A, B))
    before = desk.rows()
    desk.judge = stops(FakeJudge(), RuntimeError("killed"), after=1)
    with pytest.raises(RuntimeError):
        desk.run(desk.log(talk("u: hi", "a: edited", id="a"), talk("u: hi", "a: edited", id="b")))
    with open_run(str(desk.folder / "run")) as run:
        assert list(run.rows()) == before
        assert [c.messages[1].text for c in run.conversations(["a"])] == ["reply a"]


def test_a_reply_that_was_edited_and_restored_is_shown_as_it_is(desk: Any) -> None:
    desk.run(desk.log(A))
    desk.run(desk.log(talk("u: hi", "a: edited", id="a")))
    desk.run(desk.log(A))
    with open_run(str(desk.folder / "run")) as run:
        assert [c.messages[1].text for c in run.conversations(["a"])] == ["reply a"]


def test_a_run_of_two_judges_is_judged_again_as_its_input_is_now(desk: Any) -> None:
    desk.run(desk.log(A, B))
    desk.judge = FakeJudge(digest=digest_text("another"))
    desk.run(desk.log(A, C))
    desk.run(str(desk.folder / "run"), out="again")
    assert ids(desk.rows("again")) == [("a", 1), ("c", 1)]


def test_ratings_and_metadata_are_those_of_the_input_now(desk: Any) -> None:
    rating = {"dimension": "helpfulness", "turn": 1, "rater": "r"}

    def stored() -> tuple[list[Any], Any]:
        with open_run(str(desk.folder / "run")) as run:
            ((conversation, _),) = run.judged()
            return [r.score for r in conversation.ratings], conversation.metadata.get("shop")

    desk.run(desk.log(A))
    assert stored() == ([], None)
    desk.run(desk.log(A, keys={"ratings": [{**rating, "score": 2}], "shop": "x"}))
    assert stored() == ([2], "x")
    desk.run(desk.log(A, keys={"ratings": [{**rating, "score": 5}]}))
    assert stored() == ([5], None)
    desk.run(desk.log(A))
    assert stored() == ([], None)
    file = desk.folder / "ratings.jsonl"
    file.write_text(json.dumps({**rating, "conversation_id": "a", "score": 3}))
    desk.run(desk.log(A), ratings_file=str(file))
    assert stored() == ([3], None)
    assert len(desk.judge.seen) == 1


def test_fresh_judges_everything_again(desk: Any) -> None:
    log = desk.log(A, B)
    desk.run(log)
    desk.judge.seen.clear()
    desk.run(log, fresh=True)
    assert len(desk.judge.seen) == 2


def test_fresh_mends_a_damaged_run(desk: Any) -> None:
    log = desk.log(A)
    desk.run(log)
    (desk.folder / "run" / "run.db").write_bytes(b"damaged" * 1000)
    assert desk.run(log, fresh=True).run.ending.outcome.ended == "finished"


def test_fresh_does_not_delete_the_run_that_is_to_be_judged(desk: Any) -> None:
    desk.run(desk.log(A))
    with pytest.raises(UsageError, match="--fresh would delete"):
        desk.run(str(desk.folder / "run"), fresh=True)
    desk.run(str(desk.folder / "run"))
    assert ids(desk.rows()) == [("a", 1)]


@pytest.mark.parametrize(
    ("error", "ended"), [(EndpointError("refused"), "error"), (BudgetSpent("the cap"), "budget")]
)
def test_what_was_finished_before_an_error_is_in_the_files(desk: Any, error: Exception, ended: str) -> None:
    def rows(conversation: Conversation, _: int) -> tuple[Judged, ...]:
        if conversation.id == "c":
            raise error
        return judged_rows(conversation)

    log = desk.log(A, B, C)
    desk.judge.rows = rows
    outcome = desk.run(log)
    assert (outcome.run.ending.outcome.ended, outcome.run.ending.outcome.error) == (ended, error)
    assert ids(desk.rows()) == [("a", 1), ("b", 1)]
    manifest = desk.json("manifest.json")
    assert (manifest["pending_units"], manifest["error"]) == (1, str(error))
    desk.judge.rows = lambda c, _: judged_rows(c)
    desk.judge.seen.clear()
    desk.run(log)
    assert [c.id for c, _, _ in desk.judge.seen] == ["c"]


def test_a_second_run_that_breaks_off_hides_nothing_of_the_first(desk: Any) -> None:
    log = desk.log(A, B, C)
    desk.judge.rows = lambda c, _: judged_rows(c, failed=c.id == "a")
    desk.run(log)
    summary = desk.json("summary.json")

    def refuse(*_: object) -> tuple[Judged, ...]:
        raise EndpointError("refused")

    desk.judge.rows = refuse
    assert desk.run(log, retry_failed=True).run.ending.outcome.ended == "error"
    assert ids(desk.rows()) == [("a", 1), ("b", 1), ("c", 1)]
    assert desk.json("summary.json") == summary
    assert desk.json("manifest.json")["conversations"] == 3
    assert desk.run(log, retry_failed=True, limit=2).run.ending.outcome.ended == "error", "another command"
    assert ids(desk.rows()) == [("a", 1), ("b", 1)]
    desk.judge.rows = lambda c, _: judged_rows(c)
    desk.run(log, retry_failed=True)
    assert ids(desk.rows()) == [("a", 1), ("b", 1), ("c", 1)]
    assert all(r["failure"] is None for r in desk.rows())


def test_what_is_stale_stays_left_out_when_a_run_breaks_off(desk: Any) -> None:
    desk.judge.rows = lambda c, _: judged_rows(c, failed=c.id == "a")
    desk.run(desk.log(A, B, C))
    log = desk.log(A, C)
    desk.run(log)
    desk.judge.rows = lambda c, _: (_ for _ in ()).throw(EndpointError("refused"))
    desk.run(log, retry_failed=True)
    assert ids(desk.rows()) == [("a", 1), ("c", 1)]


def test_a_fault_of_the_program_keeps_what_was_finished(desk: Any) -> None:
    def rows(conversation: Conversation, _: int) -> tuple[Judged, ...]:
        if conversation.id == "c":
            raise ZeroDivisionError
        return judged_rows(conversation)

    log = desk.log(A, B, C)
    desk.judge.rows = rows
    with pytest.raises(ZeroDivisionError):
        desk.run(log)
    desk.judge.rows = lambda c, _: judged_rows(c)
    desk.judge.seen.clear()
    desk.run(log)
    assert [c.id for c, _, _ in desk.judge.seen] == ["c"]


def test_a_fault_in_the_input_is_told_and_the_rest_is_judged(desk: Any) -> None:
    log = desk.log(A, B)
    with Path(log).open("a") as file:
        file.write("{broken\n")
    outcome = desk.run(log)
    assert [f.place.line for f in outcome.faults if f.place] == [3]
    assert ids(desk.rows()) == [("a", 1), ("b", 1)]


def test_another_judge_in_the_same_directory_is_announced(desk: Any) -> None:
    log = desk.log(A)
    desk.run(log)
    assert desk.watcher.said == []
    desk.judge = FakeJudge(digest=digest_text("another"))
    desk.run(log)
    assert "another judge or prompt" in desk.watcher.said[0]
    assert len(desk.rows()) == 2


def test_a_plan_writes_nothing_and_asks_nothing(desk: Any) -> None:
    log = desk.log(A, B, C)
    options = JudgeOptions(inputs=(log,), out=str(desk.folder / "run"), repeats=2)
    plan = ENTRY.plan(options)
    assert (plan.counts, plan.left) == ({"conversations": 3, "units": 6}, 6)
    assert not (desk.folder / "run").exists()
    desk.run(log, limit=1, repeats=2)
    desk.judge.seen.clear()
    assert (ENTRY.plan(options).counts["units"], ENTRY.plan(options).left) == (6, 4)
    assert desk.judge.seen == []


def test_a_faulty_gate_is_refused_before_anything_is_done(desk: Any) -> None:
    with pytest.raises(UsageError, match="gate"):
        desk.run(desk.log(A), gates=("verdict>good",))
    assert not (desk.folder / "run").exists()
