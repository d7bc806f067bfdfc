"""Findings by kind, and the turns to read first."""

import pytest

from dialogauge.core.shape import read_as
from dialogauge.judges.local.evidence import BLIND, POOLED, TITLES, EvidenceTable, KindEvidence, load_evidence
from dialogauge.signals.signal import _NOTES, Signal
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
    return {**row(id, 1, None), "failure": failure, "language": language}


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


def test_the_evidence_is_that_of_the_mode_and_of_the_language_that_most_speak():
    rows = [row(name, 1, 3.0, ("wants_other", 0.5), language="zh") for name in "ab"]
    rows.append(row("c", 1, 3.0, ("wants_other", 0.5), language="en"))
    assert tallied(*rows).kinds[0].evidence.source == "RecLLMSim dev users"
    assert tallied(*rows[1:], row("d", 1, 3.0)).kinds[0].evidence.source == "USS MultiWOZ"
    assert tallied(*rows, mode="foresight").kinds[0].evidence is None


def test_kinds_that_people_bear_out_come_before_those_known_from_our_own_samples():
    often = [
        row("a", turn, 2.0, ("ignores_tool_error", 0.9), ("repeats_itself", 0.8)) for turn in range(1, 6)
    ]
    findings = tallied(*often, row("b", 1, 3.0, ("doubted", 0.5)))
    assert [kind.kind for kind in findings.kinds] == ["doubted", "ignores_tool_error", "repeats_itself"]
    borne_out = load_evidence().borne_out
    assert "doubted" in borne_out
    assert not {"ignores_tool_error", "repeats_itself"} & borne_out


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
    assert read_as(findings.to_json(), FindingsSummary) == findings


def test_every_named_kind_has_a_title_and_a_weight():
    named = {kind for kind in _NOTES if Signal(kind, 1, 1.0, "", "", "helpfulness").named} - {"conceded"}
    assert named == set(TITLES) == set(load_evidence().weights)


def test_the_evidence_is_of_the_language_and_of_data_that_the_kind_was_not_chosen_on():
    table = load_evidence()
    assert table.best("wants_other", "hindsight", "zh").source == "RecLLMSim dev users"
    assert table.best("wants_other", "hindsight", "en").source == "USS MultiWOZ"
    assert table.best("wants_other", "foresight", "zh") is None
    assert table.best("repeats_reply", "hindsight", "en").source == POOLED
    assert table.best("off_topic", "hindsight", "en") is None


def test_named_findings_lower_the_satisfaction_once_each():
    weights = load_evidence().weights
    doubt = Signal("doubted", 1, 0.5, "", "", "helpfulness", hindsight=True)
    weak = Signal("corrected", 1, 0.9, "", "", "helpfulness", hindsight=True)
    assert load_evidence().penalty([doubt, doubt, weak]) == weights["doubted"] > 0
    unnamed = Signal("off_topic", 1, 0.5, "", "", "helpfulness", hindsight=True)
    assert weights["off_topic"] > 0
    assert load_evidence().penalty([unnamed]) == 0


def evidence(low, source="x", language="en", fires=20, *, chosen_on=False, mode="hindsight"):
    lift = Estimate(2.0, low, 3.0, 0.95, fires, 20, "jackknife by users")
    return KindEvidence(source, mode, language, fires, 0.5, 0.25, lift, chosen_on)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (evidence(1.1, language="zh", fires=5, chosen_on=True), evidence(0.9, fires=99)),
        (evidence(1.1, fires=5, chosen_on=True), evidence(1.1, language="zh", fires=99)),
        (evidence(1.1, fires=5), evidence(1.1, fires=99, chosen_on=True)),
        (evidence(1.1, fires=6), evidence(1.1, fires=5)),
        (evidence(0.9, fires=5), evidence(1.1, fires=4)),
        (evidence(0.9, fires=5), evidence(1.1, fires=99, mode="foresight")),
    ],
)
def test_what_is_most_to_the_point_is_shown(better, worse):
    for rows in ((better, worse), (worse, better)):
        assert EvidenceTable({"kind": rows}, {}).best("kind", "hindsight", "en") is better


def test_what_bears_a_kind_out_is_shown_and_no_interval_that_does_not():
    read, wide, above = evidence(None, BLIND, fires=11), evidence(0.5, fires=20), evidence(1.1, fires=5)
    for rows in ((read, wide), (wide, read)):
        borne_out = EvidenceTable({"kind": rows}, {}, frozenset({"kind"}))
        assert borne_out.best("kind", "hindsight", "en") is read
        assert EvidenceTable({"kind": rows}, {}).best("kind", "hindsight", "en") is wide
    both = EvidenceTable({"kind": (read, above)}, {}, frozenset({"kind"}))
    assert both.best("kind", "hindsight", "en") is above


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "USS",
            "Where people rated (USS), 50.0 % of 20 such turns were rated dissatisfied, of all turns 25.0 %",
        ),
        ("tau-bench", "50.0 % of such runs failed their task (tau-bench), of all 25.0 %"),
        (POOLED, "50.0 % of 20 such turns or runs were rated dissatisfied or failed, of all 25.0 %"),
    ],
)
def test_evidence_says_what_was_measured_and_how_surely(source, words):
    assert words + ": 2.0 times as many [1.1, 3.0]." in evidence(1.1, source).words
    blind = evidence(1.1, BLIND).words
    assert "held 50.0 % of 20 such replies to be at fault, of replies without a finding 25.0 %." in blind
