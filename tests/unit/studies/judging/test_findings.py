"""Findings by kind, and the turns to read first."""

from dialogauge.core.shape import read_as
from dialogauge.judges.local.evidence import POOLED, TITLES, load_evidence
from dialogauge.signals.signal import _NOTES, Signal
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


def tallied(*rows):
    tally = FindingsTally("hindsight")
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
    plain = [row("a", turn, 3.0 + turn / 100) for turn in range(1, 31)]
    assert [one.turn for one in tallied(*plain).first] == [1, 2, 3]
    named = [row("b", turn, 2.0, ("vague", 0.5), ("told_already", 0.5)) for turn in range(1, 6)]
    first = tallied(*plain, *named).first
    assert [(one.conversation_id, one.turn) for one in first] == [("b", turn) for turn in range(1, 6)]
    assert first[0].reason == "note told_already"


def test_where_findings_alone_order_a_turn_without_one_is_not_put_first():
    plain = row("a", 1, 4.0)
    plain["details"]["order_from"] = "findings"
    assert [one.turn for one in tallied(plain, row("a", 2, 4.2)).first] == [2]


def test_a_language_that_was_not_checked_is_no_conversation_without_findings():
    findings = tallied(unsupported("a", "fr"), unsupported("b"), row("c", 1, 4.0))
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
