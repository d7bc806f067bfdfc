import re

import pytest

from dialogauge.core import UsageError
from dialogauge.judges.local.evidence import OF_TOOLS, TITLES
from dialogauge.studies.evidence import RunEvidence
from dialogauge.studies.judging.gate import parse_gate, read_gates
from dialogauge.studies.judging.summary import summarise
from report_samples import dimension, row

ASKED = RunEvidence(unchecked=True)
SPECS = (dimension("helpfulness"), dimension("coherence", "conversation"))


def run(verdicts, failed=0, **more):
    rows = []
    for i, verdict in enumerate(verdicts):
        rows.append(row(f"c{i}", turn=1, scores={"helpfulness": 4 if i % 2 else 5}))
        rows.append(
            row(f"c{i}", "conversation", scores={"coherence": 4}, verdict=verdict, verdict_basis="full")
        )
    for i in range(failed):
        rows.append(row(f"f{i}", "conversation", failure={"kind": "timeout", "message": "m"}))
    return summarise(rows, dimensions=SPECS, **more)


@pytest.mark.parametrize(
    ("expression", "met", "value"),
    [
        ("verdict.value>=good:0.9", True, 0.9),
        ("verdict.value >= good : 0.91", False, 0.9),
        ("verdict.value>=excellent:0.4", True, 0.4),
        ("verdict.value<=poor:0.1", True, 0.1),
        ("verdict.value<=borderline:0.05", False, 0.1),
        ("helpfulness.value>=4.5", True, 4.5),
        ("helpfulness.value>4.5", False, 4.5),
        ("helpfulness.mean>=3.9", True, pytest.approx(3.9535, abs=1e-4)),
        ("helpfulness.mean>=4.5", False, pytest.approx(3.9535, abs=1e-4)),
        ("helpfulness.low>=4.4", False, pytest.approx(3.9535, abs=1e-4)),
        ("coherence.worst>=4", True, 4),
        ("failed<=0.02", True, 0),
        ("failed<0", False, 0),
    ],
)
def test_gates(expression, met, value):
    result = parse_gate(expression).evaluate(run(["excellent"] * 4 + ["good"] * 5 + ["poor"]), ASKED)
    assert (result.met, result.value) == (met, value)
    assert ("not met" in result.sentence) == (not met)


def test_conversations_without_a_verdict_count_against_the_gate():
    summary = run(["good"] * 8, failed=1, unreadable=["x"])
    good = parse_gate("verdict.value>=good:0.9").evaluate(summary, ASKED)
    assert (good.met, good.value) == (False, 0.8)
    assert "2 have no verdict and count against the gate" in good.sentence
    assert not parse_gate("verdict.value<=poor:0.1").evaluate(summary, ASKED).met
    assert not parse_gate("verdict.value>=good:0.9").evaluate(run(["good"] * 8, pending=1), ASKED).met
    assert not parse_gate("failed<=0.02").evaluate(summary, ASKED).met


def found(*findings, failed=0):
    """One conversation of two turns for each number of findings in its second turn."""
    rows = []
    for i, n in enumerate(findings):
        signals = [{"name": "repeats_reply"}] * n
        rows.append(row(f"c{i}", turn=1, scores={"helpfulness": 4}, details={"signals": []}))
        rows.append(row(f"c{i}", turn=2, scores={"helpfulness": 4}, details={"signals": signals}))
    rows += [row(f"f{i}", turn=1, failure={"kind": "timeout", "message": "m"}) for i in range(failed)]
    return summarise(rows, dimensions=SPECS)


def test_the_share_of_conversations_with_a_finding():
    # Two of twenty, however many findings each has; the two that failed are not judged.
    summary = found(*[3, 1] + [0] * 18, failed=2)
    plain = parse_gate("findings.value<=0.1").evaluate(summary, ASKED)
    assert (plain.met, plain.value) == (True, 0.1)
    assert "2 of 20 judged conversations (10.0 %) have a finding; required <= 10 %" in plain.sentence
    shown = parse_gate("findings.share<=0.1").evaluate(summary, ASKED)
    assert (shown.met, shown.value) == (False, summary.findings_of["any"].high)
    assert "the sample does not show it, because the upper end counts" in shown.sentence
    assert 0.2 < summary.findings_of["any"].high < 0.5
    assert parse_gate("findings.share<=0.5").evaluate(summary, ASKED)
    assert not parse_gate("findings.share<=0.4").evaluate(found(1, 0, 0, 0), ASKED)
    assert not parse_gate("findings.value<=1").evaluate(run(["good"]), ASKED).met
    assert (
        "the judge names no findings"
        in parse_gate("findings.value<=1").evaluate(run(["good"]), ASKED).sentence
    )


def test_the_share_of_failures_stands_beside_the_targets_that_it_is_of():
    rows = [row("a", turn=1, scores={"helpfulness": 4})]
    rows += [
        row("a", turn=t, failure={"kind": k, "message": "m"}) for t, k in ((2, "timeout"), (3, "no_reply"))
    ]
    result = parse_gate("failed<=0.4").evaluate(summarise(rows, dimensions=SPECS), ASKED)
    assert (result.met, result.value) == (False, 0.5)
    assert "failed targets: 50.0 % of 2;" in result.sentence


def test_failures_are_counted_and_are_no_sample():
    assert parse_gate("failed<=0").evaluate(run(["good"] * 2), ASKED).met
    one = parse_gate("failed<=0.2").evaluate(run(["good"] * 2, failed=1), ASKED)
    assert (one.met, one.value) == (True, 0.2)


def test_what_is_undefined_is_not_met():
    result = parse_gate("helpfulness.mean>=1").evaluate(summarise([], dimensions=SPECS), ASKED)
    assert (result.met, result.value) == (False, None)
    assert "undefined" in result.sentence
    assert not parse_gate("verdict>=poor:0").evaluate(summarise([], dimensions=SPECS), ASKED).met


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "verdict>=fine:0.9",
        "verdict>=good",
        "verdict>=good:9",
        "helpfulness>=4",
        "failed>=0.1",
        "failed<=2",
    ],
)
def test_a_bad_expression_lists_the_forms(expression):
    with pytest.raises(UsageError, match=r"failed<=0\.02.*findings\.share<=0\.2.*verdict>=good:0\.9"):
        parse_gate(expression)


def test_what_the_rubric_does_not_have_is_a_usage_error():
    with pytest.raises(UsageError, match="dimensions: helpfulness, coherence"):
        parse_gate("warmth.mean>=4").evaluate(run(["good"]), ASKED)
    turns = summarise([row("a", turn=1, scores={"helpfulness": 4})], dimensions=SPECS)
    with pytest.raises(UsageError, match="gives no verdicts"):
        parse_gate("verdict>=good:0.5").evaluate(turns, ASKED)


OWN = ("great", "fair enough", "bad")


def own(*names, level="conversation", failed=0, **more):
    rows = []
    for i, name in enumerate((*names, *[None] * failed)):
        turn, scores = (1, {"helpfulness": 4}) if level == "turn" else (None, {"coherence": 4})
        failure = {"kind": "timeout", "message": "m"} if name is None else None
        kept = {"failure": failure} if failure else {"scores": scores, "details": {"class": name}}
        rows.append(row(f"c{i}", level, turn=turn, **kept))
    return summarise(rows, dimensions=SPECS, **more)


@pytest.mark.parametrize("level", ["turn", "conversation"])
@pytest.mark.parametrize(
    ("expression", "met", "value"),
    [
        ("verdict.value>=great:0.5", True, 0.5),
        ("verdict.value>=fair enough:0.8", False, 0.7),
        ("verdict.value >= fair enough : 0.7", True, 0.7),
        ("verdict.value>=bad:0.8", True, 0.8),
        ("verdict.value<=bad:0.3", True, 0.3),
        ("verdict.value<=bad:0.2", False, 0.3),
        ("verdict.value<=great:1", True, 1.0),
    ],
)
def test_a_rubrics_own_verdicts(level, expression, met, value):
    summary = own(*["great"] * 5, *["fair enough"] * 2, "bad", level=level, failed=2)
    result = parse_gate(expression, OWN, level).evaluate(summary, ASKED)
    assert (result.met, result.value) == (met, pytest.approx(value))
    assert f"of 10 requested {level}s" in result.sentence
    assert "2 have no verdict and count against the gate" in result.sentence


def test_conversations_that_are_pending_or_unreadable_have_no_verdict_of_the_rubrics_own():
    result = parse_gate("verdict.value>=great:0.5", OWN).evaluate(
        own("great", pending=1, unreadable=["x"]), ASKED
    )
    assert (result.met, result.value) == (False, pytest.approx(1 / 3))
    assert parse_gate("verdict.value>=great:0.5", OWN).evaluate(own(), ASKED).value is None


@pytest.mark.parametrize(
    ("expression", "verdicts", "said"),
    [
        ("verdict>=graet:0.9", OWN, "has no verdict 'graet' .did you mean 'great'"),
        ("verdict>=good:0.9", OWN, "has no verdict 'good' .verdicts: great, fair enough, bad"),
        ("verdict>=exellent:0.9", ("excellent", "good"), "did you mean 'excellent'"),
        ("verdict>=good:0.9", (), "this rubric gives no verdicts"),
    ],
)
def test_a_verdict_that_the_rubric_does_not_give_is_named(expression, verdicts, said):
    with pytest.raises(UsageError, match=said):
        parse_gate(expression, verdicts)


def test_gates_know_the_rubric():
    (card, _) = read_gates(["verdict>=good:0.9", "failed<=0.1"], "card")
    assert (card.verdicts[0], card.level) == ("excellent", "conversation")
    (turns,) = read_gates(["verdict>=SAT:0.9"], "satisfaction")
    assert (turns.verdicts, turns.level) == (("SAT", "DSAT"), "turn")
    (task,) = read_gates(["verdict>=partly:0.9"], "task")
    assert task.verdicts == ("completed", "partly", "failed")
    with pytest.raises(UsageError, match="gives no verdicts"):
        read_gates(["verdict>=good:0.9"], "single")
    with pytest.raises(UsageError, match="did you mean 'helpfulness'"):
        parse_gate("helpfullness.mean>=4").expect(["helpfulness", "safety"])


def test_a_mean_that_the_sample_cannot_show_is_not_met() -> None:
    few = parse_gate("helpfulness.mean>=4.4").evaluate(run(["excellent", "good"]), ASKED)
    assert not few.met
    assert "the sample cannot show it: too few conversations: 2, and an interval takes 5" in few.sentence
    wide = parse_gate("helpfulness.mean>=4.4").evaluate(
        run(["excellent"] * 4 + ["good"] * 5 + ["poor"]), ASKED
    )
    assert "the sample does not show it, because the lower end counts" in wide.sentence
    assert (
        parse_gate("helpfulness.mean<=4.9")
        .evaluate(run(["excellent"] * 4 + ["good"] * 5 + ["poor"]), ASKED)
        .met
    )


def test_a_share_of_verdicts_is_met_where_the_sample_shows_it() -> None:
    many = run(["good"] * 97 + ["poor"] * 3)
    met = parse_gate("verdict>=good:0.85").evaluate(many, ASKED)
    assert met.met
    assert met.value is not None
    assert 0.85 < met.value < 0.97
    assert re.search(r"97 of 100 requested conversations \(97.0 % \[8\d.\d %, 99.\d %\]\)", met.sentence)
    bound = parse_gate("verdict>=good:0.95").evaluate(many, ASKED)
    assert not bound.met
    assert "the sample does not show it, because the lower end counts" in bound.sentence
    assert parse_gate("verdict.value>=good:0.95").evaluate(many, ASKED).met
    assert parse_gate("verdict<=poor:0.15").evaluate(many, ASKED).met
    upper = parse_gate("verdict<=poor:0.05").evaluate(many, ASKED)
    assert not upper.met
    assert "the upper end counts" in upper.sentence


def test_a_share_that_all_have_is_as_sure_as_there_are_conversations() -> None:
    gate = parse_gate("verdict>=good:0.9")
    assert gate.evaluate(run(["good"] * 36), ASKED).met
    assert not gate.evaluate(run(["good"] * 34), ASKED).met
    few = gate.evaluate(run(["good"] * 4), ASKED)
    assert (few.met, few.value) == (False, None)
    assert "the sample cannot show it: too few conversations: 4, and an interval takes 5" in few.sentence


def test_the_conversations_of_one_user_go_together() -> None:
    def rows(users: int) -> list[dict[str, object]]:
        names = ["poor" if i % 10 == i // 10 % 2 * 10 else "good" for i in range(100)]
        return [
            row(f"c{i}", "conversation", scores={"coherence": 4}, verdict=name, user_id=f"u{i % users}")
            for i, name in enumerate(names)
        ]

    by_user = parse_gate("verdict>=good:0.8").evaluate(summarise(rows(4), dimensions=SPECS), ASKED)
    assert "too few users: 4, and an interval takes 5" in by_user.sentence
    assert parse_gate("verdict>=good:0.8").evaluate(summarise(rows(50), dimensions=SPECS), ASKED).met


@pytest.mark.parametrize("lost", [{"failed": 30}, {"pending": 30}, {"unreadable": ["x"] * 30}])
@pytest.mark.parametrize("expression", ["verdict>=good:0.001", "verdict<=poor:0.999"])
def test_failing_makes_nothing_surer(lost, expression) -> None:
    result = parse_gate(expression).evaluate(run(["good"] * 4, **lost), ASKED)
    assert not result.met
    assert "too few conversations: 4" in result.sentence
    assert parse_gate(expression).evaluate(run(["good"] * 40, **lost), ASKED).met


@pytest.mark.parametrize("conversations", [6, 20, 100])
@pytest.mark.parametrize(("expression", "sign"), [("verdict>=good:0.5", -1), ("verdict<=poor:0.5", 1)])
def test_one_more_failure_never_brings_a_gate_nearer(conversations, expression, sign) -> None:
    runs = [run(["good"] * conversations, failed=n) for n in range(8)]
    ends = [parse_gate(expression).evaluate(one, ASKED).value for one in runs]
    assert None not in ends
    assert ends == sorted(ends, key=lambda end: sign * end)


@pytest.mark.parametrize("expression", ["verdict>=good:1", "verdict<=poor:0"])
def test_what_no_sample_can_show_is_refused(expression) -> None:
    with pytest.raises(UsageError, match=r"no sample shows.*verdict\.value.=.*these conversations alone"):
        parse_gate(expression)


def test_every_kind_that_the_local_judge_may_name_can_gate():
    for kind in (*TITLES, *OF_TOOLS):
        assert parse_gate(f"finding.{kind}.share<=0.1").figure == kind
