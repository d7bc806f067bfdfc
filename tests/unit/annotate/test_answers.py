import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.annotate.agreement import progress_of
from dialogauge.annotate.answers import Answer, merge_answers, rating_rows, read_answers, standing_answers
from dialogauge.annotate.plan import Eligible, PlanRequest, assignment_plan
from dialogauge.annotate.questions import RatingQuestion
from dialogauge.core import Place, Scale
from sets import examples

SATISFACTION = RatingQuestion("satisfaction", "turn", "satisfaction", "?")
REPAIR = RatingQuestion("repair", "conversation", "repair", "?", na=True)
SHARE = RatingQuestion("share", "conversation", "share", "?", Scale(0, 1, integer=False))
ABOUT = {"rubric": {}, "inputs": {}, "settings": {}}


def plan_of(*questions, number=3, raters=1):
    eligible = [Eligible(i, f"c{i}", "x", turns=(1, 2)) for i in range(number)]
    return assignment_plan(eligible, PlanRequest(raters, shared=number), questions, ABOUT)


def row(plan, item="i001", rater="R1", **more):
    return {"plan": plan.id, "item": item, "rater": rater, **more}, Place("R1.jsonl", 1)


WHEN = st.integers(10, 59).map(lambda second: f"2026-11-23T10:00:{second}.000Z")
WHO = st.sampled_from(["i001", "i002"]), st.sampled_from(["R1", "R2"])
SCORED = st.builds(
    Answer,
    *WHO,
    st.just("score"),
    st.just("satisfaction"),
    st.sampled_from([1, 2]),
    st.integers(1, 5),
    at=WHEN,
)

SKIPPED = st.builds(Answer, *WHO, st.just("skipped"), note=st.just("why"), at=WHEN)
ANSWERS = st.lists(SCORED | SKIPPED, max_size=12, unique_by=lambda answer: (answer.place, answer.at))


@examples(60)
@given(ANSWERS, st.integers(0, 12))
def test_what_arrived_last_counts_whatever_its_time(answers, cut):
    once = merge_answers([], answers)
    assert set(once.answers) == {next(b for b in reversed(answers) if b.place == a.place) for a in answers}
    parts = merge_answers(merge_answers([], answers[:cut]).answers, answers[cut:])
    assert parts.answers == once.answers
    again = merge_answers(once.answers, once.answers)
    assert (again.answers, again.twice, again.backwards) == (once.answers, frozenset(), 0)


@examples(60)
@given(ANSWERS)
def test_whoever_skips_last_gives_no_rating(answers):
    standing = standing_answers(merge_answers([], answers).answers)
    for (item, rater), one in standing.items():
        last = [a for a in answers if (a.item, a.rater) == (item, rater)][-1]
        assert (one.skipped is not None) == (last.kind == "skipped")
        assert bool(one.answers) == (last.kind != "skipped")


def scored(score, at):
    return Answer("i001", "R1", "score", "satisfaction", 1, score, at=at)


@pytest.mark.parametrize(
    ("first", "second", "backwards"),
    [
        ("2026-11-23T10:00:00Z", "2026-11-23T10:00:00Z", 0),
        ("2026-11-23T10:00:00Z", None, 0),  # a correction in a spreadsheet has no time
        ("2026-11-23T10:00:00Z", "23.11.2026 10:00", 0),
        ("2099-01-01T00:00:00Z", "2026-11-23T10:00:00Z", 1),  # a wrong clock does not win for ever
        (None, "2026-11-23T10:00:00Z", 0),
    ],
)
def test_a_correction_counts_with_any_time_and_with_none(first, second, backwards):
    merged = merge_answers([scored(3, first)], [scored(4, second)])
    assert [a.score for a in merged.answers] == [4]
    assert (merged.twice, merged.backwards) == ({("i001", "R1")}, backwards)


def test_a_better_reply_is_no_rating_and_stands_beside_those_of_its_turn():
    plan = plan_of(SATISFACTION, number=1)
    rows = [row(plan, turn=turn, dimension="satisfaction", score=2) for turn in (1, 2)]
    rows += [row(plan, turn=1, correction="At nine."), row(plan, turn=7, correction="At ten.")]
    read = read_answers(rows, plan)
    assert "turn 7, which is not asked about" in str(read.faults[0])
    assert Answer.from_json(read.answers[-1].to_json()) == read.answers[-1]
    standing = standing_answers(merge_answers([], read.answers).answers)
    assert [(r["turn"], r.get("correction")) for r in rating_rows(plan, standing)] == [
        (1, "At nine."),
        (2, None),
    ]
    (progress,) = progress_of(plan, standing)
    assert (progress.done, progress.begun) == (1, 0)
    skipped = Answer("i001", "R1", "skipped", note="odd")
    assert standing_answers([*read.answers, skipped])["i001", "R1"].corrections == {}


def test_a_better_reply_beside_a_score_is_both():
    plan = plan_of(SATISFACTION, number=1)
    read = read_answers([row(plan, turn=1, dimension="satisfaction", score=2, correction="At nine.")], plan)
    assert [(a.kind, a.score, a.note) for a in read.answers] == [
        ("score", 2, None),
        ("correction", None, "At nine."),
    ]


def test_a_long_better_reply_is_kept_whole():
    plan = plan_of(SATISFACTION, number=1)
    (answer,) = read_answers([row(plan, turn=1, correction="x" * 20_000)], plan).answers
    assert len(answer.note) == 20_000


def test_what_does_not_apply_is_an_answer_and_no_rating():
    plan = plan_of(REPAIR, number=1)
    read = read_answers([row(plan, dimension="repair", score="n/a", at="2026-11-23T10:00:00Z")], plan)
    assert [a.score for a in read.answers] == ["n/a"]
    standing = standing_answers(read.answers)
    assert list(rating_rows(plan, standing)) == []
    (progress,) = progress_of(plan, standing)
    assert (progress.done, progress.left) == (1, 0)
    other = plan_of(SATISFACTION, number=1)
    read = read_answers([row(other, dimension="satisfaction", turn=1, score="n/a")], other)
    assert "off the scale 1-5" in str(read.faults[0])


def test_scores_of_a_scale_of_fractions_are_taken_as_they_are():
    plan = plan_of(SHARE, number=1)
    rows = [row(plan, dimension="share", score=score) for score in (0.25, "0,5", 2, "half")]
    read = read_answers(rows, plan)
    assert [a.score for a in read.answers] == [0.25, 0.5]
    assert len(read.faults) == 2


@pytest.mark.parametrize("kind", ["skipped", "flagged"])
def test_a_row_that_says_no_to_being_skipped_or_flagged_is_a_rating(kind):
    plan = plan_of(SATISFACTION, number=1)
    for no in (0, 0.0, "0", "0.0", False, "FALSE", "No", "n", "否", "-", "none"):
        cells = row(plan, dimension="satisfaction", turn=1, score=4, **{kind: no})
        read = read_answers([cells], plan)
        assert [(a.kind, a.score) for a in read.answers] == [("score", 4)], no
    for yes, why in (
        (True, None),
        ("YES", None),
        (1, None),
        ("x", None),
        ("是", None),
        ("Too long.", "Too long."),
    ):
        (answer,) = read_answers([row(plan, **{kind: yes})], plan).answers
        assert (answer.kind, answer.note) == (kind, why)


@pytest.mark.parametrize("kind", ["skipped", "flagged"])
def test_what_is_unclear_about_being_skipped_or_flagged_is_refused(kind):
    plan = plan_of(SATISFACTION, number=1)
    for unclear in (2, "0.5", "?", [], {"a": 1}):
        read = read_answers([row(plan, **{kind: unclear})], plan)
        assert not read.answers
        assert f"{kind} is" in str(read.faults[0])
    scored = {"dimension": "satisfaction", "turn": 1, "score": 4}
    for unclear in (scored | {kind: "yes"}, scored | {kind: "maybe"}, {"skipped": "yes", "flagged": "yes"}):
        read = read_answers([row(plan, **unclear)], plan)
        assert not read.answers
        assert "which counts?" in str(read.faults[0])


def test_answers_are_written_and_read_back():
    plan = plan_of(SATISFACTION, number=1)
    rows = [
        row(plan, dimension="satisfaction", turn=1, score=2, note="why", seconds=3, at="2026-11-23T10:00Z")
    ]
    rows += [row(plan, skipped="odd"), row(plan, flagged="a name")]
    answers = read_answers(rows, plan).answers
    assert [a.kind for a in answers] == ["score", "skipped", "flagged"]
    assert [Answer.from_json(a.to_json()) for a in answers] == answers
