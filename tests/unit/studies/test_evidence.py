"""The one rule: what is checked, by what, and what is refused that is not."""

from dataclasses import replace

import pytest

from dialogauge.core import UsageError
from dialogauge.core.shape import read_as
from dialogauge.studies.evidence import (
    NOT_COMPARED,
    UNCHECKED,
    DimensionEvidence,
    RunEvidence,
    evidence_in,
    with_verdict,
)

AGREES = DimensionEvidence(checked=True, by="the ratings of this run")
RUN = RunEvidence("digest", "card", ("en",), dimensions={"helpfulness": AGREES, "coherence": UNCHECKED})


def test_a_checked_dimension_counts_and_another_only_when_it_is_asked_for():
    assert RUN.counts("helpfulness")
    assert not RUN.counts("coherence")
    assert not RUN.counts("a dimension that nobody knows")
    assert replace(RUN, unchecked=True).counts("coherence")
    assert RUN.checked == ("helpfulness",)


def test_what_is_refused_lists_what_may_stand_there():
    run = replace(RUN, finds=True, ratings=("satisfaction",))
    run.expect("helpfulness", "gate")
    with pytest.raises(UsageError) as refusal:
        run.expect("coherence", "gate coherence.mean>=4")
    said = str(refusal.value)
    assert said.startswith(f"gate coherence.mean>=4: coherence is not checked: {NOT_COMPARED}")
    may = "failed, findings.share, finding.NAME.share, rating.satisfaction.mean, helpfulness.mean"
    assert may in said
    assert "--unchecked" in said
    replace(run, unchecked=True).expect("coherence", "gate")


def test_a_verdict_is_checked_where_all_is_that_it_is_made_of():
    known = {"a": AGREES, "b": AGREES, "c": UNCHECKED}
    assert with_verdict(known, ["a", "b"])["verdict"].checked
    missing = with_verdict(known, ["a", "c"])["verdict"]
    assert (missing.checked, missing.why) == (False, "it is made of what is unchecked: c")
    assert not with_verdict(known, [])["verdict"].checked


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"judge": "another"}, "it is of another judge, model or version"),
        ({"rubric": "task"}, "it is of the rubric card, not task"),
        ({"languages": ("en", "zh")}, "it holds no conversations in zh"),
        ({"languages": ()}, ""),
        ({"tools": True}, "its agents use no tools, these do"),
    ],
)
def test_a_stored_check_speaks_for_the_same_judge_rubric_and_kind_of_data(changes, reason):
    new = replace(RUN, dimensions={"helpfulness": UNCHECKED, "coherence": UNCHECKED}, **changes)
    assert RUN.covers(new) == reason
    merged = new.with_stored([("runs/rated", RUN)])
    helpfulness = merged.of("helpfulness")
    assert helpfulness.checked is not bool(reason)
    assert helpfulness.by == ("" if reason else "the ratings of this run (stored in runs/rated)")
    assert helpfulness.why == (f"runs/rated does not speak for this run: {reason}" if reason else "")
    assert merged.of("coherence") == UNCHECKED


def test_a_stored_check_that_speaks_stands_whatever_others_do_not_say():
    new = replace(RUN, dimensions={"helpfulness": UNCHECKED})
    other = replace(RUN, judge="another")
    for checks in ([("rated", RUN), ("other", other)], [("other", other), ("rated", RUN)]):
        assert new.with_stored(checks).of("helpfulness").by == "the ratings of this run (stored in rated)"


def test_a_runs_own_ratings_come_before_a_stored_check():
    own = DimensionEvidence(checked=True, by="own")
    merged = replace(RUN, dimensions={"helpfulness": own}).with_stored([("old", RUN)])
    assert merged.of("helpfulness") == own


def test_it_is_read_back_as_it_was_written_and_nothing_is_checked_where_nothing_stands():
    assert read_as(RUN.to_json(), RunEvidence) == RUN
    assert evidence_in({"evidence": RUN.to_json()}) == RUN
    assert evidence_in({}).checked == ()
