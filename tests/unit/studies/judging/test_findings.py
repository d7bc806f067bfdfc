"""Findings by kind, and the turns to read first."""

import pytest

from dialogauge.core import Scale
from dialogauge.core.json_keys import as_json
from dialogauge.core.shape import read_as
from dialogauge.judges.local.evidence import (
    BLIND,
    HERE,
    PLANTED,
    POOLED,
    TITLES,
    EvidenceTable,
    KindEvidence,
    load_evidence,
)
from dialogauge.signals.signal import _NOTES, NAMED_FROM, Signal
from dialogauge.stats import Estimate
from dialogauge.stats.reading import table_of
from dialogauge.studies.judging.findings import FindingsSummary, Missed, findings_of
from dialogauge.studies.judging.people import Light, People, PeopleFigure


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
        "whole": {},
        "verdict": None,
        "weakest_turn": None,
        "failure": None,
        "scores": {"satisfaction": satisfaction},
        "evidence": evidence,
        "details": {"language": language, "signals": signals},
    }


def unsupported(id, language=None):
    failure = {"kind": "unsupported_language", "message": "..."}
    return {**row(id, 1, None), "failure": failure, "details": {"language": language}}


def tallied(*rows, mode="hindsight"):
    return findings_of(
        table_of(rows), lambda ids: [r for r in rows if r["conversation_id"] in ids], mode=mode
    )


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
        row("a", 1, 3.0), row("a", 2, 2.0, ("vague", 0.9), ("left_out", 0.5)), row("b", 1, 1.5)
    ).first
    assert [(one.conversation_id, one.turn, one.reason) for one in first] == [("b", 1, first[0].reason)]
    assert first[0].reason.startswith("No finding")


def test_as_many_turns_are_to_be_read_as_have_findings_and_a_tenth_at_least():
    plain = [row("a", turn, 3.0 + turn / 100) for turn in range(1, 32)]
    assert [one.turn for one in tallied(*plain).first] == [1, 2, 3, 4]
    named = [row("b", turn, 2.0, ("vague", 0.5), ("left_out", 0.5)) for turn in range(1, 6)]
    first = tallied(*plain, *named).first
    assert [(one.conversation_id, one.turn) for one in first] == [("b", turn) for turn in range(1, 6)]
    assert first[0].reason == "note left_out"


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


def test_of_the_shipped_table_only_data_on_which_nothing_was_chosen_is_cited_from_one_source():
    table = load_evidence()
    for language in ("en", "zh", "other"):
        cited = [e for kind in TITLES if (e := table.best(kind, "hindsight", language)) is not None]
        assert not any(e.chosen_on for e in cited)
        rated = [e for e in cited if e.source != PLANTED]
        assert len({(e.source, e.base) for e in rated}) == 1
    assert table.best("ignores_tool_error", "hindsight", "en") is None  # too rare but where it was chosen
    assert table.best("cut_off", "foresight", "en").source == PLANTED


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
        (evidence(0.9, fires=5), evidence(1.1, fires=99, chosen_on=True)),
        (evidence(0.9, fires=6), evidence(1.1, "y", fires=5)),
        (evidence(0.9, fires=6), evidence(1.1, "y", "zh", fires=99)),
        (evidence(0.9, PLANTED, "mixed", fires=3), evidence(1.1, BLIND, "mixed", fires=99)),
        (evidence(0.9, fires=6), evidence(1.1, POOLED, "mixed", fires=99)),
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
            HERE,
            "In this data, 50.0 % of 20 such turns were rated poor, against 25.0 % of all rated turns",
        ),
    ],
)
def test_evidence_says_what_was_measured_and_how_surely(source, words):
    assert words + ": 2.0 times as often [1.1, 3.0]." in evidence(1.1, source).words
    planted = evidence(1.1, PLANTED).words
    assert planted.endswith("it was found in 50.0 %; 25.0 % of the sound replies there had it.")


def undone(value):
    return Estimate(value, None, None, 0.95, 8, 4, "none")


_FIGURE = PeopleFigure(
    "satisfaction", "turn", "satisfaction", Scale(1, 5), "users", 8, 4, 4, undone(3.0), undone(0.5), cut="<=3"
)
_LIGHT = Light(
    "cannot tell", "", "satisfaction", "turn", "satisfaction", "auc", undone(0.5), "length", undone(0.0)
)
RATED = People((_FIGURE,), _LIGHT)


def rated(id, turn, score, *findings):
    one = row(id, turn, 3.0, *findings)
    return {
        **one,
        "user_id": f"user {id}",
        "rating": {"dimension": "satisfaction", "score": score, "raters": 1},
    }


def test_a_rated_run_cites_its_own_figures_and_what_it_missed():
    """Six turns with a doubt, five of them poor; ten rated turns, six poor: .833 over .6."""
    doubt = ("doubted", 0.5)
    doubted = {"a": (1, 2), "b": (3, 2), "c": (1, 5)}
    rows = [rated(id, n, score, doubt) for id, scores in doubted.items() for n, score in enumerate(scores, 1)]
    rows += [rated("d", 1, 2), *(rated(id, 3, 5) for id in "abc")]
    rows.sort(key=lambda one: (one["conversation_id"], one["turn"]))
    summary = findings_of(table_of(rows), lambda ids: rows, people=RATED)
    cited = summary.kinds[0].evidence
    assert (cited.source, cited.fires, cited.base) == (HERE, 6, 0.6)
    assert cited.share == pytest.approx(5 / 6)
    assert cited.lift.value == pytest.approx(5 / 6 / 0.6)
    assert summary.missed == Missed("conversations", 4, 1, HERE, 0.25)


def test_figures_of_this_data_are_weighted_by_the_chance_of_being_chosen():
    def drawn(id, score, weight, *findings):
        one = rated(id, 1, score, *findings)
        return {**one, "rating": {**one["rating"], "weight": weight}}

    # Five turns with a doubt were sought out, three of them poor; five at random stand for ten times as many.
    doubt = ("doubted", 0.5)
    rows = [drawn(f"a{n}", score, 1.0, doubt) for n, score in enumerate((1, 2, 3, 5, 5))]
    rows += [drawn(f"b{n}", score, 10.0) for n, score in enumerate((1, 5, 5, 5, 5))]
    summary = findings_of(table_of(rows), lambda ids: rows, people=RATED)
    cited = summary.kinds[0].evidence
    assert (cited.fires, cited.share) == (5, pytest.approx(3 / 5))
    assert cited.base == pytest.approx(13 / 55)  # unweighted 4 of 10
    assert summary.missed == Missed("conversations", 4, 1, HERE, pytest.approx(10 / 13))
    # Where not all have a weight, none counts.
    del rows[-1]["rating"]["weight"]
    summary = findings_of(table_of(rows), lambda ids: rows, people=RATED)
    assert summary.kinds[0].evidence.base == pytest.approx(0.4)


def test_without_ratings_what_is_missed_is_cited_from_data_on_which_nothing_was_chosen():
    missed = tallied(row("a", 1, 3.0, ("doubted", 0.5))).missed
    assert missed.source in {m.source for m in load_evidence().missed if not m.chosen_on}
    assert 0 < missed.without < missed.poor


def test_the_turns_to_read_first_are_spread_over_kinds():
    rows = [row("a", turn, 1.0 + turn / 100, ("left_out", 0.5)) for turn in range(1, 10)]
    rows += [row("b", turn, 2.0 + turn / 100, ("refuses", 0.8)) for turn in range(1, 4)]
    first = tallied(*rows).first
    places = [f"{one.conversation_id}{one.turn}" for one in first]
    assert places[:5] == ["a1", "b1", "a2", "b2", "a3"]
    assert len(first) == 12
