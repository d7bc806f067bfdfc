from hypothesis import given, settings
from hypothesis import strategies as st

from dialogauge.annotate.answers import Answer, merge_answers, rating_rows, read_answers, standing_answers
from dialogauge.annotate.plan import Eligible, PlanRequest, assignment_plan
from dialogauge.annotate.progress import progress_of
from dialogauge.annotate.questions import RatingQuestion
from dialogauge.core import Place, Scale

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


@settings(max_examples=60)
@given(ANSWERS, st.randoms())
def test_what_counts_depends_on_time_and_not_on_the_order_of_files(answers, random):
    shuffled = list(answers)
    random.shuffle(shuffled)
    once, other = merge_answers([], answers), merge_answers(shuffled[:3], shuffled[3:])
    assert set(once.answers) == set(other.answers)
    assert once.twice == other.twice
    again = merge_answers(once.answers, answers)
    assert again.answers == once.answers
    for answer in once.answers:
        assert answer.time == max(a.time for a in answers if a.place == answer.place)


@settings(max_examples=60)
@given(ANSWERS)
def test_whoever_skips_last_gives_no_rating(answers):
    for (item, rater), one in standing_answers(merge_answers([], answers).answers).items():
        mine = [a for a in answers if (a.item, a.rater) == (item, rater)]
        skipped = max((a.time for a in mine if a.kind == "skipped"), default=None)
        scored = max((a.time for a in mine if a.kind == "score"), default=None)
        if skipped is not None and scored is not None:
            assert (one.skipped is None) == (scored > skipped)
            assert bool(one.answers) == (scored > skipped)


def test_of_the_same_moment_the_one_read_last_counts():
    first = Answer("i001", "R1", "score", "satisfaction", 1, 3, at="2026-11-23T10:00:00Z")
    second = Answer("i001", "R1", "score", "satisfaction", 1, 4, at="2026-11-23T10:00:00Z")
    merged = merge_answers([first], [second])
    assert [a.score for a in merged.answers] == [4]
    assert merged.twice == {("i001", "R1")}


def test_what_nobody_dated_comes_before_what_is_dated():
    dated = Answer("i001", "R1", "score", "satisfaction", 1, 3, at="2026-11-23T10:00:00Z")
    for when in (None, "noon", "23.11.2026 10:00"):
        undated = Answer("i001", "R1", "score", "satisfaction", 1, 4, at=when)
        assert merge_answers([dated], [undated]).answers == (dated,)


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


def test_answers_are_written_and_read_back():
    plan = plan_of(SATISFACTION, number=1)
    rows = [
        row(plan, dimension="satisfaction", turn=1, score=2, note="why", seconds=3, at="2026-11-23T10:00Z")
    ]
    rows += [row(plan, skipped="odd"), row(plan, flagged="a name")]
    answers = read_answers(rows, plan).answers
    assert [a.kind for a in answers] == ["score", "skipped", "flagged"]
    assert [Answer.from_json(a.to_json()) for a in answers] == answers
