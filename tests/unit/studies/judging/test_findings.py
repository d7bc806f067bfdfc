"""Findings by kind, and the turns to read first."""

import pytest

from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import read_as
from dialogauge.judges.local.evidence import (
    BLIND,
    POOLED,
    TITLES,
    EvidenceTable,
    KindEvidence,
    load_evidence,
)
from dialogauge.signals.signal import _NOTES, NAMED_FROM, Signal
from dialogauge.stats import Estimate
from dialogauge.studies.judging.findings import FindingsSummary, FindingsTally


def row(id, turn, satisfaction, *findings, language="en"):
    """Build the row of a turn; a finding is a name with its strength."""
    signals = [{"name": n, "strength": s, "note": f"note {n}"} for n, s in findings]
    evidence = [{"turn": turn, "quote": f"quote {n}", "signal": n} for n, _ in findings]
    return {
        "conversation_id": id,
        "candidate": None,
        "repeat": 1,
        "level": "turn",
        "turn": turn,
        "failure": None,
        "scores": {"satisfaction": satisfaction},
        "evidence": evidence,
        "details": {"language": language, "signals": signals},
    }


def unsupported(id, language=None):
    failure = {"kind": "unsupported_language", "message": "..."}
    return {**row(id, 1, None), "failure": failure, "details": {"language": language}}


def tallied(*rows, mode="hindsight"):
    tally = FindingsTally(mode)
    list(tally.through(rows))
    return tally.result()


def test_kinds_are_counted_by_turns_and_by_conversations():
    findings = tallied(
        row("a", 1, 3.0, ("doubted", 0.5)),
        row("a", 2, 2.0, ("doubted", 0.6), ("vague", 0.5)),
        row("b", 1, 4.0),
        row("c", 1, 3.5, ("doubted", 0.5)),
    )
    assert (findings.conversations, findings.with_finding, findings.not_judged) == (3, 2, {})
    doubted, vague = findings.kinds
    assert (doubted.kind, doubted.title, doubted.turns, doubted.conversations) == (
        "doubted",
        TITLES["doubted"],
        3,
        2,
    )
    assert vague.turns == 1
    assert (doubted.example.conversation_id, doubted.example.turn) == ("a", 2)
    assert (doubted.example.quote, doubted.example.note) == ("quote doubted", "note doubted")


def test_of_several_quotes_the_first_is_shown():
    one = row("a", 1, 3.0, ("doubted", 0.5))
    one["evidence"].append({"turn": 2, "quote": "another", "signal": "doubted"})
    assert tallied(one).kinds[0].example.quote == "quote doubted"


def test_the_evidence_is_that_of_the_mode_and_of_the_language_that_most_speak(monkeypatch):
    of_each = (evidence(1.1, "one", "zh"), evidence(1.1, "two", "en"))
    table = EvidenceTable({"wants_other": of_each}, {})
    monkeypatch.setattr("dialogauge.studies.judging.findings.load_evidence", lambda: table)
    rows = [row(name, 1, 3.0, ("wants_other", 0.5), language="zh") for name in "ab"]
    rows.append(row("c", 1, 3.0, ("wants_other", 0.5), language="en"))
    assert tallied(*rows).kinds[0].evidence.source == "one"
    assert tallied(*rows[1:], row("d", 1, 3.0)).kinds[0].evidence.source == "two"
    assert tallied(*rows, mode="foresight").kinds[0].evidence is None


def test_kinds_that_people_bear_out_come_before_the_one_that_is_a_fact():
    often = [row("a", turn, 2.0, ("empty", 0.9)) for turn in range(1, 6)]
    findings = tallied(*often, row("b", 1, 3.0, ("doubted", 0.5)))
    assert [kind.kind for kind in findings.kinds] == ["doubted", "empty"]


def test_nothing_is_named_that_no_rating_or_reading_bears_out_but_the_empty_reply():
    assert set(TITLES) - load_evidence().borne_out == {"empty"}
    assert load_evidence().borne_out <= set(TITLES)


def test_the_lowest_turns_come_first_with_the_finding_that_weighs_most():
    first = tallied(
        row("a", 1, 3.0), row("a", 2, 2.0, ("vague", 0.9), ("told_already", 0.5)), row("b", 1, 1.5)
    ).first
    assert [(one.conversation_id, one.turn, one.reason) for one in first] == [("b", 1, first[0].reason)]
    assert first[0].reason.startswith("No finding")


def test_as_many_turns_are_to_be_read_as_have_findings_and_a_tenth_at_least():
    plain = [row("a", turn, 3.0 + turn / 100) for turn in range(1, 32)]
    assert [one.turn for one in tallied(*plain).first] == [1, 2, 3, 4]
    named = [row("b", turn, 2.0, ("vague", 0.5), ("told_already", 0.5)) for turn in range(1, 6)]
    first = tallied(*plain, *named).first
    assert [(one.conversation_id, one.turn) for one in first] == [("b", turn) for turn in range(1, 6)]
    assert first[0].reason == "note told_already"


def test_where_findings_alone_order_a_turn_without_one_is_not_put_first():
    plain = row("a", 1, 4.0)
    plain["details"]["order_from"] = "findings"
    assert [one.turn for one in tallied(plain, row("a", 2, 4.2)).first] == [2]


def test_a_language_that_was_not_checked_is_no_conversation_without_findings():
    failed = {**row("d", 1, None), "failure": {"kind": "timeout", "message": "..."}}
    findings = tallied(unsupported("a", "fr"), unsupported("b"), row("c", 1, 4.0), failed)
    assert (findings.conversations, findings.with_finding) == (1, 0)
    assert findings.not_judged == {"fr": 1, "other": 1}


def test_a_judge_that_names_no_kinds_has_no_findings():
    plain = row("a", 1, 4.0)
    plain["details"] = {"language": "en"}
    assert tallied(plain) is None


def test_the_summary_is_read_back():
    findings = tallied(row("a", 1, 3.0, ("doubted", 0.5)), unsupported("b"))
    assert findings.kinds[0].evidence is not None
    assert read_as(as_json(findings), FindingsSummary) == findings


def test_every_named_kind_has_a_title_and_a_weight():
    named = {kind for kind in _NOTES if Signal(kind, 1, 1.0, "", "", "helpfulness").named}
    assert named == set(NAMED_FROM)
    assert named - {"conceded"} == set(TITLES) == set(load_evidence().weights)


def test_a_blind_reading_has_an_interval_and_counts_in_foresight_for_what_the_reply_says():
    table = load_evidence()
    for mode in ("hindsight", "foresight"):
        read = table.best("ignores_tool_error", mode, "en")
        assert read.source == BLIND
        assert read.lift.low > 1
    assert table.best("left_out", "foresight", "en") is None
    assert table.best("repeats_reply", "hindsight", "en").source == POOLED


def test_named_findings_lower_the_satisfaction_once_each():
    weights = load_evidence().weights
    doubt = Signal("doubted", 1, 0.5, "", "", "helpfulness", hindsight=True)
    weak = Signal("corrected", 1, 0.9, "", "", "helpfulness", hindsight=True)
    assert load_evidence().penalty([doubt, doubt, weak]) == weights["doubted"] > 0
    unnamed = Signal("asks_for_given", 1, 0.5, "", "", "context_use")
    assert weights["asks_for_given"] > 0
    assert load_evidence().penalty([unnamed]) == 0


def evidence(low, source="x", language="en", fires=20, *, chosen_on=False, mode="hindsight"):
    lift = Estimate(2.0, low, 3.0, 0.95, fires, 20, "jackknife by users")
    return KindEvidence(source, mode, language, fires, 0.5, 0.25, lift, chosen_on)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (evidence(0.9, POOLED, "mixed", fires=5, chosen_on=True), evidence(1.1, fires=99)),
        (evidence(0.9, BLIND, "mixed", fires=5, chosen_on=True), evidence(1.1, fires=99)),
        (evidence(0.9, POOLED, "mixed", fires=6), evidence(1.1, BLIND, "mixed", fires=5)),
        (evidence(0.9, BLIND, "mixed", fires=6), evidence(1.1, POOLED, "mixed", fires=5)),
        (evidence(0.9, fires=5, chosen_on=True), evidence(1.1, language="zh", fires=99)),
        (evidence(0.9, fires=5), evidence(1.1, fires=99, chosen_on=True)),
        (evidence(0.9, fires=6), evidence(1.1, fires=5)),
        (evidence(0.9, fires=5), evidence(1.1, fires=4)),
        (evidence(0.9, fires=5), evidence(1.1, fires=99, mode="foresight")),
    ],
)
def test_what_says_most_is_shown_whichever_way_it_points(better, worse):
    for rows in ((better, worse), (worse, better)):
        assert EvidenceTable({"kind": rows}, {}).best("kind", "hindsight", "en") is better


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "USS",
            "In rated data (USS), people were dissatisfied with 50.0 % of 20 such turns, "
            "against 25.0 % of all turns",
        ),
        (
            "tau-bench",
            "In agent runs with rewards (tau-bench), 50.0 % of 20 such runs failed, "
            "against 25.0 % of all runs",
        ),
        (
            POOLED,
            "people were dissatisfied (or the task failed) in 50.0 % of 20 such cases, against 25.0 % of all",
        ),
    ],
)
def test_evidence_says_what_was_measured_and_how_surely(source, words):
    assert words + ": 2.0 times as often [1.1, 3.0]." in evidence(1.1, source).words
    blind = evidence(1.1, BLIND).words
    assert "saw a fault in 50.0 % of 20 such replies" in blind
    assert "against 25.0 % of replies without a finding: 2.0 times as often [1.1, 3.0]." in blind
