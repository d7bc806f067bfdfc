"""Where the fitted cuts hold, and what a whole score stands on elsewhere."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.core import Conversation, FileFault, Message, ToolCall
from dialogauge.judges.local.evidence import load_evidence
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.judges.local.model import (
    LocalCoefficients,
    Log,
    Reach,
    fit_reach,
    load_coefficients,
    running_form,
)
from dialogauge.signals import feature_names

NAMES = feature_names("foresight")


def talk(*texts):
    return Conversation("c", tuple(Message(("user", "assistant")[i % 2], t) for i, t in enumerate(texts)))


def features(length, variety, lists):
    values = dict.fromkeys(NAMES, 9.0) | {"reply_length": length, "reply_variety": variety, "lists": lists}
    return tuple(values[n] for n in NAMES)


def test_the_form_so_far_is_the_mean_over_the_replies_so_far():
    rows = {1: features(2, 0.5, 0), 3: features(4, 0.7, 1), 4: features(3, 0.0, 0.5)}
    assert running_form(rows, NAMES) == {
        1: pytest.approx((2, 0.5, 0)),
        3: pytest.approx((3, 0.6, 0.5)),
        4: pytest.approx((3, 0.4, 0.5)),
    }


def test_a_log_is_known_by_the_language_and_the_form_of_its_replies():
    log = Log.of(["- 早上去公园\n- 下午去博物馆", "好的，没问题。"])
    assert log.language == "zh"
    assert [lists for *_, lists in log.forms] == [1.0, 0.0]


def test_known_replies_of_the_same_log_count_as_earlier_ones():
    known = [(4.0, 0.4, 0.9), (6.0, 0.6, 0.9)]
    assert running_form({1: features(2, 0.5, 0)}, NAMES, known) == {1: pytest.approx((4, 0.5, 0.6))}


def test_a_turn_is_within_reach_in_a_fitted_language_and_up_to_the_distance():
    reach = Reach(("zh",), centre=(6.0, 0.6, 0.9), spread=(0.5, 0.1, 0.1), distance=2.01)
    assert reach.holds("zh", (6.0, 0.6, 0.9))
    assert not reach.holds("en", (6.0, 0.6, 0.9))
    # z = (-2, 2, -2): the root of their mean square is 2; z = (-2.2, 2, -2): 2.07
    assert reach.holds("zh", (5.0, 0.8, 0.7))
    assert not reach.holds("zh", (4.9, 0.8, 0.7))


def test_fitted_are_the_languages_with_fifty_turns_and_all_but_one_turn_in_a_hundred():
    forms = np.random.default_rng(0).normal((5, 0.6, 0.4), (1.0, 0.2, 0.3), (1000, 3))
    reach = fit_reach([tuple(f) for f in forms], ["en"] * 900 + ["zh"] * 51 + ["other"] * 49)
    assert reach.languages == ("en", "zh")
    assert reach.centre == pytest.approx(forms.mean(0))
    assert sum(reach.holds("en", form) for form in forms) == 990


def test_replies_that_are_all_of_one_form_still_leave_room():
    reach = fit_reach([(5.0, 0.6, 0.0)] * 60, ["en"] * 60)
    assert (reach.spread, reach.distance) == ((0.1, 0.1, 0.1), 1.0)
    assert reach.holds("en", (5.1, 0.7, 0.1 - 1e-9))
    assert not reach.holds("en", (5.5, 0.6, 0.9))


def test_reach_survives_a_round_trip_and_a_file_without_it_is_refused():
    fitted = load_coefficients()
    text = fitted.to_json()
    assert LocalCoefficients.from_json(text).reach == fitted.reach
    value = json.loads(text)
    del value["cuts_hold_for"]
    with pytest.raises(FileFault, match=r"m\.json.*cuts_hold_for"):
        LocalCoefficients.from_json(json.dumps(value), file="m.json")
    with pytest.raises(FileFault, match=r"m\.json.*dialogauge-local/2"):
        LocalCoefficients.from_json(json.dumps({**value, "format": "dialogauge-local/1"}), file="m.json")


SOUND = talk(
    "When does the pool open on Sunday?",
    "On Sunday the pool opens at nine and closes at five.",
    "And what does it cost?",
    "A Sunday ticket for the pool costs 4 euros.",
)
REFUSED = talk(
    "Can you write a short birthday poem for my grandmother?", "I'm sorry, but I can't help with that."
)
TOLD = talk(
    "I'd like to return order FG-55102, the blue kettle. A refund, please.",
    "Certainly. What is your order number?",
    "I already told you: FG-55102.",
    "Thank you, the refund for FG-55102 is on its way.",
)
FAR = [
    (SOUND, [4, 4]),  # nothing against the replies: satisfied, and not more than that
    (talk("泳池周日几点开门？", "泳池周日九点开门，五点关门。"), [4]),
    (REFUSED, [2]),  # 0.9: grave
    (TOLD, [1, 4]),  # the question for what was given, and the user who says so
]


@pytest.mark.parametrize(("conversation", "expected"), FAR)
def test_beyond_reach_the_findings_alone_move_the_score(conversation, expected):
    rows = LocalJudge(rubric_id="satisfaction").judge_now(conversation)
    assert [r.outcome.numbers["satisfaction"] for r in rows] == expected
    assert {r.outcome.details["labels"]["level_from"] for r in rows} == {"findings"}
    assert [r.outcome.details["label"] for r in rows] == ["SAT" if e == 4 else "DSAT" for e in expected]


def test_within_reach_the_cuts_decide():
    fitted = load_coefficients()
    wide = replace(fitted, reach=replace(fitted.reach, languages=("en",), distance=99.0))
    rows = LocalJudge(rubric_id="satisfaction", coefficients=wide).judge_now(SOUND)
    for row in rows:
        assert row.outcome.details["labels"]["level_from"] == "fitted cuts"
        value = row.outcome.scores["satisfaction"].value
        assert row.outcome.numbers["satisfaction"] == 1 + sum(value > t for t in fitted.hindsight.thresholds)


def test_one_odd_reply_of_a_known_log_is_judged_by_the_cuts():
    """Short replies are odd where the user's other replies are long lists, and usual elsewhere."""
    odd = talk("周日去哪里玩？", "去公园。")
    centre = load_coefficients().reach.centre
    logs = (
        (None, "findings"),
        (Log("zh", (centre,) * 10), "fitted cuts"),
        (Log("en", (centre,)), "findings"),
    )
    for log, level in logs:
        (row,) = LocalJudge(rubric_id="satisfaction").judge_now(odd, log=log)
        assert row.outcome.details["labels"]["level_from"] == level


def test_the_reach_is_told():
    told = LocalJudge(rubric_id="satisfaction").describe()
    assert told["fitted_on"]["languages"] == ["zh"]
    (note,) = told["notes"]
    assert "1,413 rated turns" in note
    assert "Chinese" in note
    assert LocalJudge(rubric_id="session").describe()["notes"] == []


def with_tools(*, tools):
    """Two replies of unlike wording, the second after a tool where there are tools."""
    call = (ToolCall("k", "find_order", "{}"),)
    steps = (Message("assistant", None, call), Message("tool", "shipped", tool_call_id="k")) if tools else ()
    return Conversation(
        "c",
        (
            Message("user", "Where is my order 4711, and can I still change the address?"),
            Message("assistant", "I am sorry, unfortunately I cannot say. What is the number of the order?"),
            Message("user", "It is 4711, as ordered on Monday."),
            *steps,
            Message("assistant", "It has left the depot and arrives tomorrow."),
        ),
    )


def values(conversation, mode, coefficients=None):
    judge = LocalJudge(mode, coefficients=coefficients, rubric_id="satisfaction")
    return [row.outcome.scores["satisfaction"].value for row in judge.judge_now(conversation)]


def test_where_tools_are_called_findings_alone_order_as_no_fitted_turn_had_any():
    fitted = load_coefficients()
    assert not fitted.reach.tools
    assert set(values(with_tools(tools=True), "hindsight")) == {round(fitted.hindsight.intercept, 3)}
    first, second = values(with_tools(tools=True), "foresight")
    assert (first, second) == (
        values(with_tools(tools=False), "foresight")[0],
        round(fitted.foresight.intercept, 3),
    )
    assert first != second


def test_a_named_finding_takes_off_what_it_weighs():
    fitted, made = load_coefficients(), with_tools(tools=True)
    *before, last = made.messages
    broken = replace(made, messages=(*before, replace(last, content='Done: {"order": "4711 is on its way"}')))
    lowered = values(broken, "foresight")[1]
    assert lowered == pytest.approx(fitted.foresight.intercept - load_evidence().weights["broken"], abs=1e-3)


def test_a_model_that_was_fitted_beside_tools_reads_the_wording_there():
    fitted = load_coefficients()
    own = replace(fitted, reach=replace(fitted.reach, tools=True))
    assert len(set(values(with_tools(tools=True), "hindsight", own))) == 2
    assert fit_reach([(5.0, 0.6, 0.0)] * 60, ["en"] * 60, 50).tools
    assert not fit_reach([(5.0, 0.6, 0.0)] * 60, ["en"] * 60, 49).tools
