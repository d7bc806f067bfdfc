from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, InputError, Place, Rating, RecordFault, WorkUnit, digest_text
from dialogauge.data import RatingTable
from dialogauge.runs import Progress, StoredUnit
from dialogauge.runs.study import UnitQueue
from dialogauge.studies.judging.study import JudgingStudy, sampled
from talks import JUDGE_DIGEST, FakeJudge, talk

FAULT = RecordFault("not JSON", place=Place("a.jsonl", 2))


def many(count: int) -> list[Conversation]:
    return [talk("u: a", "a: b", id=f"c{n}") for n in range(count)]


def ids(items: Iterator[Conversation | InputError]) -> list[str]:
    return [i.id if isinstance(i, Conversation) else "fault" for i in items]


@dataclass
class Finished:
    """A run file that holds some units."""

    units: dict[bytes, bool]

    readonly = True

    def finished(self, judge: str) -> dict[bytes, bool]:
        return self.units

    def unit(self, key: bytes) -> StoredUnit:
        return StoredUnit(key, b"", ())

    def keep_conversation(self, unit: WorkUnit) -> None: ...


@dataclass
class Planner:
    study: JudgingStudy
    queue: UnitQueue

    def __iter__(self) -> Iterator[WorkUnit]:
        return iter(self.queue)

    @property
    def progress(self) -> Progress:
        return self.queue.progress

    @property
    def planned(self) -> dict[bytes, int]:
        return self.queue.planned


def planner(
    source: Any,
    *,
    finished: dict[bytes, bool] | None = None,
    retry_failed: bool = False,
    judge_digest: str = JUDGE_DIGEST,
    **settings: Any,
) -> Planner:
    study = JudgingStudy(FakeJudge(digest=judge_digest), source, **settings)
    study.prepare(None, None)
    store: Any = Finished(finished or {})
    return Planner(study, UnitQueue(study, store, Progress(), retry_failed=retry_failed))


def named(units: list[WorkUnit]) -> list[tuple[str, int]]:
    return [(u.conversation.id, u.repeat) for u in units]


# -- limit and sample -----------------------------------------------------------------------------


def test_without_limit_and_sample_everything_passes() -> None:
    source = [*many(2), FAULT, *many(1)]
    assert list(sampled(source, limit=None, sample=None, seed=0)) == source


def test_a_limit_counts_conversations_and_not_faults() -> None:
    source = [FAULT, *many(2), FAULT, *many(3)]
    assert ids(sampled(source, limit=3, sample=None, seed=0)) == ["fault", "c0", "c1", "fault", "c0"]
    assert ids(sampled(many(2), limit=5, sample=None, seed=0)) == ["c0", "c1"]


def test_a_limit_reads_no_further_than_it_must() -> None:
    read = []

    def pipe() -> Iterator[Conversation]:
        for conversation in many(10):
            read.append(conversation.id)
            yield conversation

    assert len(list(sampled(pipe(), limit=3, sample=None, seed=0))) == 3
    assert read == ["c0", "c1", "c2"]


def test_a_sample_keeps_the_order_of_the_input() -> None:
    drawn = ids(sampled(many(50), limit=None, sample=10, seed=1))
    assert len(drawn) == len(set(drawn)) == 10
    assert drawn == sorted(drawn, key=lambda id: int(id[1:]))


def test_a_sample_larger_than_the_input_is_the_input() -> None:
    assert ids(sampled(many(4), limit=None, sample=9, seed=1)) == ["c0", "c1", "c2", "c3"]


def test_the_seed_decides_and_nothing_else() -> None:
    draws = {seed: ids(sampled(many(60), limit=None, sample=8, seed=seed)) for seed in (0, 1, 2)}
    assert draws[0] == ids(sampled(many(60), limit=None, sample=8, seed=0))
    assert len({tuple(d) for d in draws.values()}) == 3


def test_a_sample_then_a_limit() -> None:
    drawn = ids(sampled(many(50), limit=None, sample=10, seed=1))
    assert ids(sampled(many(50), limit=3, sample=10, seed=1)) == drawn[:3]


def test_faults_pass_a_sample() -> None:
    drawn = ids(sampled([FAULT, *many(20), FAULT], limit=None, sample=3, seed=0))
    assert drawn[:2] == ["fault", "fault"]
    assert len(drawn) == 5


@given(st.permutations(range(12)), st.integers(0, 12), st.integers(0, 12), st.integers(0, 3))
def test_samples_are_nested_and_do_not_depend_on_the_order(
    order: list[int], small: int, more: int, seed: int
) -> None:
    source = [talk("u: a", id=f"c{n}") for n in order]
    drawn = set(ids(sampled(source, limit=None, sample=small, seed=seed)))
    larger = set(ids(sampled(source, limit=None, sample=small + more, seed=seed)))
    assert drawn <= larger
    assert len(drawn) == min(small, 12)
    in_order = [talk("u: a", id=f"c{n}") for n in range(12)]
    assert drawn == set(ids(sampled(in_order, limit=None, sample=small, seed=seed)))


def test_a_sample_is_about_even() -> None:
    early = 0
    for seed in range(40):
        early += sum(int(i[1:]) < 50 for i in ids(sampled(many(100), limit=None, sample=10, seed=seed)))
    assert 150 <= early <= 250  # 200 expected; the standard deviation is about 10


# -- planning -------------------------------------------------------------------------------------


def test_every_conversation_once_and_the_total_at_the_end() -> None:
    plan = planner(many(3))
    units = iter(plan)
    assert next(units).conversation.id == "c0"
    assert plan.progress.planned == 1
    assert plan.progress.total is None
    assert len(list(units)) == 2
    assert plan.progress.total == 3
    assert list(plan.planned.values()) == [1, 2, 3]


def test_repeats_of_a_conversation_follow_one_another() -> None:
    plan = planner(many(2), repeats=2, seed=7)
    units = list(plan)
    assert named(units) == [("c0", 1), ("c0", 2), ("c1", 1), ("c1", 2)]
    assert {u.seed for u in units} == {7}
    assert len({u.key for u in units}) == 4
    assert list(plan.planned.values()) == [1, 1, 2, 2]


def keys(**changes: object) -> list[bytes]:
    return [bytes.fromhex(u.key) for u in planner(many(3), **changes)]


def test_what_is_finished_is_not_planned_again() -> None:
    first, second, _ = keys()
    plan = planner(many(3), finished={first: False, second: True})
    assert named(list(plan)) == [("c2", 1)]
    assert plan.progress.resumed == 2
    assert len(plan.planned) == plan.progress.planned == plan.progress.total == 3


def test_what_failed_is_planned_again_when_asked() -> None:
    first, second, _ = keys()
    plan = planner(many(3), finished={first: False, second: True}, retry_failed=True)
    assert named(list(plan)) == [("c1", 1), ("c2", 1)]
    assert plan.progress.resumed == 1


def test_more_repeats_go_on_from_fewer() -> None:
    finished = dict.fromkeys(keys(), False)
    assert named(list(planner(many(3), repeats=2, finished=finished))) == [("c0", 2), ("c1", 2), ("c2", 2)]


@pytest.mark.parametrize("change", [{"seed": 1}, {"judge_digest": digest_text("another prompt")}])
def test_another_seed_or_judge_begins_anew(change: dict[str, object]) -> None:
    finished = dict.fromkeys(keys(), False)
    assert len(list(planner(many(3), finished=finished, **change))) == 3


def test_a_changed_conversation_is_judged_again() -> None:
    finished = dict.fromkeys(keys(), False)
    source = [*many(2), talk("u: a", "a: another", id="c2")]
    plan = planner(source, finished=finished)
    assert named(list(plan)) == [("c2", 1)]
    assert len(set(finished) - set(plan.planned)) == 1


def test_faults_are_kept_and_the_rest_goes_on() -> None:
    plan = planner([many(1)[0], FAULT, *many(3)[1:]])
    assert [u.conversation.id for u in plan] == ["c0", "c1", "c2"]
    assert plan.study.faults == [FAULT]
    assert list(plan.planned.values()) == [1, 2, 3]


def test_the_first_fault_is_raised_when_strict() -> None:
    units = iter(planner([many(1)[0], FAULT], strict=True))
    assert next(units).conversation.id == "c0"
    with pytest.raises(RecordFault, match=r"a\.jsonl:2: not JSON"):
        next(units)


def test_ratings_are_joined_and_change_no_unit() -> None:
    given = RatingTable((Rating("c1", "satisfaction", 4),))
    own = Rating("c1", "helpfulness", 2)
    source = [many(1)[0], talk("u: a", "a: b", id="c1", ratings=(own,))]
    plan = planner(source, ratings=given)
    units = list(plan)
    assert units[0].conversation.ratings == ()
    assert units[1].conversation.ratings == (own, *given.ratings)
    assert [bytes.fromhex(u.key) for u in units] == keys()[:2]


def test_rated_conversations_of_the_input_are_known() -> None:
    ratings = RatingTable(tuple(Rating(id, "helpfulness", 4) for id in ("c0", "c9")))
    plan = planner(many(2), ratings=ratings)
    assert plan.study.rated_ids == set()
    list(plan)
    assert plan.study.rated_ids == {"c0"}
