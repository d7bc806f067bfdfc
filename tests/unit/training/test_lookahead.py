"""The search step by step: who is drawn, what all start from, who wins, and what becomes of failures."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest

from dialogauge.agents import Scenario, SessionCandidate, UserRole
from dialogauge.core import Judged, JudgeFailure, Judgement, PlainDimension, Score, Target, Usage
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.training import LookaheadStudy, search_details, search_result

ONE = Usage(1, 0, 10, 2, 0.5)


@dataclass
class Speaker:
    """Says who it is, and how many messages it was shown; keeps what it was shown."""

    name: str
    finish: str = "stop"
    fails: bool = False
    ends_at: int | None = None
    slow: float = 0.0
    shown: list = field(default_factory=list)

    @property
    def digest(self):
        return self.name

    def describe(self):
        return {"model": self.name}

    async def reply(self, conversation, *, seed=0):
        await asyncio.sleep(self.slow)
        self.shown.append((conversation, seed))
        number = len(conversation.messages)
        if self.fails:
            return AgentTurn(AgentFailure("timeout", "too slow"), ONE)
        if number == self.ends_at:
            return AgentTurn(AgentReply("Bye.", ends=True), ONE)
        return AgentTurn(AgentReply(f"{self.name} {number}", self.finish), ONE)


@dataclass
class Scorer:
    """Scores a segment by who speaks in it: two dimensions, and one that no score is made of."""

    by_name: dict
    fails: tuple = ()
    asked: list = field(default_factory=list)
    name = digest = "scorer"
    dimensions = tuple(PlainDimension(d, "conversation") for d in ("wit", "voice", "other"))

    def describe(self):
        return {"judge": "stub"}

    async def judge(self, request):
        self.asked.append(request)
        new = request.conversation.messages[request.conversation.prefix :]
        who = new[1].text.split()[0]
        target = Target(request.conversation.id, "conversation")
        if (who, request.repeat) in self.fails:
            return (Judged(target, JudgeFailure("invalid_json", "no JSON"), ONE),)
        wit, voice = self.by_name[who]
        scores = {"wit": Score(wit + request.repeat - 1), "voice": Score(voice), "other": Score(1.0)}
        items = {"merits": [{"label": f"merit of {who}", "quote": "x"}]}
        return (Judged(target, Judgement(scores, details={"items": items}), ONE),)


ROSA = Scenario("inn", "character", "Rosa", "Rosa keeps an inn.", UserRole("inn", persona="I."), "Late.")


def study(by_name, *, pool=None, scenarios=(ROSA,), user=None, fails=(), **settings):
    agents = pool or [Speaker(name) for name in by_name]
    candidates = [SessionCandidate(a.name, {"digest": a.name}, a) for a in agents]
    judge = Scorer(by_name, fails)
    users = {s.id: user or Speaker("user") for s in scenarios}
    settings = {"segments": 2, "segment_turns": 1, **settings}
    return LookaheadStudy(
        scenarios, users, candidates, judge, ("wit", "voice"), lambda result, run: None, **settings
    )


def run_all(one):
    """Return the rows of all scenarios, as a file would hold them."""

    async def every():
        units = list(one.plan())
        done = await asyncio.gather(*(one.run(unit) for unit in units))
        return [
            json.loads(json.dumps(record.to_row(unit))) for unit, (record,) in zip(units, done, strict=True)
        ]

    return asyncio.run(every())


def steps_of(one):
    (row,) = run_all(one)
    return search_details(row)["steps"]


def test_the_best_is_committed_and_the_next_step_starts_behind_it():
    one = study({"a": (3, 4), "b": (4, 4)})
    (row,) = run_all(one)
    first, second = search_details(row)["steps"]
    # The system message and the greeting, then a turn of both sides for each step.
    assert [(s.number, s.start, s.winner) for s in (first, second)] == [(1, 2, "b"), (2, 4, "b")]
    by_name = {c.name: c for c in second.candidates}
    assert (by_name["a"].score, by_name["b"].score) == (3.5, 4.0)
    assert by_name["b"].scores == {"wit": 4.0, "voice": 4.0}
    assert by_name["b"].criteria == {"merits": ("merit of b",)}
    assert [m["content"] for m in by_name["a"].messages] == ["user 4", "a 5"]
    (record,) = asyncio.run(one.run(next(iter(one.plan()))))
    texts = [m.text for m in record.produced.messages[1:]]
    assert texts == ["Late.", "user 2", "b 3", "user 4", "b 5"]
    assert record.produced.prefix == 2
    assert record.produced.candidate == "lookahead"
    # 2 steps x 2 candidates: one call each of user, candidate and judge.
    assert {role: used["calls"] for role, used in row["usage"]["by_role"].items()} == {
        "simulator": 4, "candidate": 4, "judge": 4,
    }  # fmt: skip
    assert row["usage"]["cost"] == 12 * 0.5
    assert row["details"]["ended"] == "turns"


def test_all_candidates_of_a_step_see_the_same_prefix_and_the_judge_only_what_is_new():
    one = study({"a": (3, 3), "b": (4, 4), "c": (2, 2)}, draw=3)
    run_all(one)
    prefixes = [[m.text for m in c.messages[1 : c.prefix]] for c in (r.conversation for r in one.judge.asked)]
    assert prefixes == [["Late."]] * 3 + [["Late.", "user 2", "b 3"]] * 3
    for request in one.judge.asked:
        assert len(request.conversation.new_turns) == 1
        assert request.targets == ()
        assert not request.conversation.ratings
    shown = [c for agent in one.pool for c, _ in agent.agent.shown]
    assert {c.prefix for c in shown} == {2, 4}


def test_candidates_are_drawn_without_replacement_by_seed_and_scenario():
    scenarios = [replace(ROSA, id=f"s{n}") for n in range(40)]
    scores = dict.fromkeys("abcd", (3, 3))
    drawn = {}
    for seed in (0, 1):
        one = study(scores, scenarios=scenarios, seed=seed)
        drawn[seed] = [
            [c.name for c in step.candidates] for row in run_all(one) for step in search_details(row)["steps"]
        ]
        assert all(len(set(names)) == 2 for names in drawn[seed])
    assert drawn[0] != drawn[1]
    again = study(scores, pool=[Speaker(n) for n in "dcba"], scenarios=scenarios)
    assert drawn[0] == [
        [c.name for c in step.candidates] for row in run_all(again) for step in search_details(row)["steps"]
    ]
    assert {name for names in drawn[0] for name in names} == set("abcd")


def test_every_rollout_has_a_seed_of_its_own():
    one = study({"a": (3, 3), "b": (4, 4)}, segments=3, segment_turns=2)
    steps = steps_of(one)
    seeds = {c.seed for step in steps for c in step.candidates}
    assert len(seeds) == 6
    asked = {seed for agent in one.pool for _, seed in agent.agent.shown}
    assert asked == seeds


def test_the_order_in_which_rollouts_end_changes_nothing():
    slow, fast = (
        study({"a": (3, 3), "b": (4, 4)}, pool=[Speaker("a", slow=a), Speaker("b", slow=b)], segments=2)
        for a, b in ((0.02, 0.0), (0.0, 0.02))
    )
    assert run_all(slow) == run_all(fast)


def test_ties_go_to_fewer_cut_replies_and_then_to_the_name():
    equal = {"a": (3, 5), "b": (4, 4)}
    first, _ = steps_of(study(equal))
    assert (first.winner, first.margin(first.candidates[-1]), first.pairs(0.0)) == ("a", 0.0, ())
    first, _ = steps_of(study(equal, pool=[Speaker("a", finish="length"), Speaker("b")]))
    assert first.winner == "b"
    assert {c.name: c.truncated for c in first.candidates} == {"a": 1, "b": 0}


@pytest.mark.parametrize(("margin", "pairs"), [(0.5, ["b", "c"]), (0.51, ["c"]), (2.01, [])])
def test_a_pair_needs_the_margin(margin, pairs):
    first, _ = steps_of(study({"a": (4, 4), "b": (3, 4), "c": (2, 2)}, draw=3))
    assert first.winner == "a"
    assert sorted(loser.name for best, loser in first.pairs(margin)) == pairs


def test_a_score_is_the_mean_of_the_repeats_and_one_failed_repeat_fails_it():
    one = study({"a": (3, 4), "b": (3, 3)}, judge_repeats=3, segments=1)
    (first,) = steps_of(one)
    # Each repeat adds 1 to wit: (3 + 4 + 5) / 3 = 4, and (4 + 4) / 2 = 4.
    assert {c.name: c.score for c in first.candidates} == {"a": 4.0, "b": 3.5}
    assert first.committed.criteria == {"merits": ("merit of a",) * 3}
    assert sorted(r.repeat for r in one.judge.asked) == [1, 1, 2, 2, 3, 3]
    (first,) = steps_of(study({"a": (3, 4), "b": (3, 3)}, fails=[("a", 2)], judge_repeats=3, segments=1))
    by_name = {c.name: c for c in first.candidates}
    assert (first.winner, by_name["a"].score, by_name["a"].failure.kind) == ("b", None, "invalid_json")
    assert by_name["a"].usage["judge"]["calls"] == 3
    assert first.pairs(0.0) == ()


def test_a_failed_rollout_drops_out_and_is_not_judged():
    one = study({"a": (4, 4), "b": (3, 3)}, pool=[Speaker("a", fails=True), Speaker("b")])
    (row,) = run_all(one)
    first, second = search_details(row)["steps"]
    assert (first.winner, second.winner, row["failure"]) == ("b", "b", None)
    failed = next(c for c in first.candidates if c.name == "a")
    assert failed.failure.message == "the candidate failed in turn 1: too slow"
    assert (failed.score, failed.played, len(one.judge.asked)) == (None, False, 2)
    result = search_result([row], {"scale": [1, 5], "min_margin": 0.25})
    a, b = result.candidates
    assert (a.name, a.drawn, a.failed_rollouts, a.failed_judgements, a.score.n) == ("a", 2, 2, 0, 0)
    assert (b.won, [s.without_pair for s in result.steps], result.margins.pairs) == (2, [1, 1], 0)
    assert result.failures == {"timeout": 2}


def test_without_any_candidate_left_the_scenario_fails_and_keeps_its_steps():
    user = Speaker("user")
    pool = [Speaker("a"), Speaker("b")]
    one = study({"a": (4, 4), "b": (3, 3)}, pool=pool, user=user, segments=3)
    unit = next(iter(one.plan()))

    class Stops(Speaker):
        async def reply(self, conversation, *, seed=0):
            self.fails = len(conversation.messages) > 4
            return await super().reply(conversation, seed=seed)

    one.users = {"inn": Stops("user")}
    (record,) = asyncio.run(one.run(unit))
    row = json.loads(json.dumps(record.to_row(unit)))
    assert record.failed
    assert record.produced.messages == ()
    assert row["failure"]["kind"] == "timeout"
    assert row["failure"]["message"] == (
        "no candidate was left at step 3: the simulator failed in turn 1: too slow (2 of 2)"
    )
    details = search_details(row)
    assert [s.winner for s in details["steps"]] == ["a", "a", None]
    assert [m["content"] for m in details["committed"][1:]] == ["Late.", "user 2", "a 3", "user 4", "a 5"]
    assert details["ended"] == "failed"
    # Tried again, it goes on behind what was committed.
    one.users = {"inn": user}
    (again,) = asyncio.run(one.run(replace(unit, earlier=(row,))))
    new = search_details(again.to_row(unit))["steps"]
    assert new[:2] == details["steps"][:2]
    assert [s.winner for s in new] == ["a", "a", "a"]
    assert len(user.shown) == 2


def test_a_user_who_leaves_ends_the_search():
    one = study({"a": (4, 4), "b": (3, 3)}, user=Speaker("user", ends_at=6), segment_turns=2, segments=4)
    (row,) = run_all(one)
    steps = search_details(row)["steps"]
    # 2 messages, 4 of the first segment: the user leaves at the beginning of the second one.
    assert (len(steps), steps[1].winner, row["failure"]["kind"]) == (2, None, "no_reply")
    one = study({"a": (4, 4), "b": (3, 3)}, user=Speaker("user", ends_at=8), segment_turns=2, segments=4)
    (row,) = run_all(one)
    steps = search_details(row)["steps"]
    assert (len(steps), steps[1].committed.ended, row["details"]["ended"]) == (2, "user", "user")
    assert [m["content"] for m in steps[1].committed.messages] == ["user 6", "a 7", "Bye."]


def test_dimensions_that_do_not_apply_are_left_out_of_the_mean():
    one = study({"a": (4, 4), "b": (3, 3)}, segments=1)

    async def judged(request):
        target = Target(request.conversation.id, "conversation")
        mine = request.conversation.messages[-1].text.startswith("a")
        scores = {"wit": "n/a", "voice": Score(2.0) if mine else "n/a"}
        return (Judged(target, Judgement(scores)),)

    one.judge.judge = judged
    (first,) = steps_of(one)
    by_name = {c.name: c for c in first.candidates}
    assert (by_name["a"].score, by_name["b"].failure.message) == (
        2.0, "no dimension has a score: all are n/a",
    )  # fmt: skip


def test_figures_by_hand():
    scenarios = [replace(ROSA, id=f"s{n}") for n in range(6)]
    one = study({"a": (4, 4), "b": (3, 4)}, scenarios=scenarios, segments=2)
    result = search_result(run_all(one), {"scale": [1, 5], "min_margin": 0.5}, pending=1)
    assert (result.scenarios, result.ended, result.failures, result.pending) == (6, {"turns": 6}, {}, 1)
    a, b = result.candidates
    assert (a.drawn, a.won, a.replies, a.truncated, a.score.value) == (12, 12, 12, 0, 4.0)
    assert (b.drawn, b.won, b.score.value, b.score.clusters) == (12, 0, 3.5, 6)
    assert [(s.number, s.scenarios, s.won, s.without_pair) for s in result.steps] == [
        (1, 6, {"a": 6}, 0), (2, 6, {"a": 6}, 0),
    ]  # fmt: skip
    m = result.margins
    assert (m.compared, m.pairs, m.equal, m.mean.value, m.mean.n) == (12, 12, 0, 0.5, 12)
    assert {role: used.calls for role, used in result.usage.items()} == {
        "simulator": 24, "candidate": 24, "judge": 24,
    }  # fmt: skip
    assert result.failed_share == 0
    json.dumps(result.to_json())


def test_what_a_plan_counts_is_committed_without_a_score():
    one = study({"a": (4, 4), "b": (3, 3)}, fails=[("a", 1), ("b", 1)], counting=True, segments=3)
    steps = steps_of(one)
    assert [s.winner for s in steps] == [s.candidates[0].name for s in steps]
    assert len(one.judge.asked) == 6
