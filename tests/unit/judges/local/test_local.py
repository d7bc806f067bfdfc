import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Judgement, Message, Rating, Request, ToolCall, UsageError
from dialogauge.judges.local.evidence import load_evidence
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.signals import find_signals, read_dialogue
from sets import examples


def talk(*texts, **fields):
    roles = ("user", "assistant")
    messages = tuple(Message(roles[i % 2], text) for i, text in enumerate(texts))
    return Conversation(fields.pop("id", "c"), messages, **fields)


GOOD = talk(
    "My order 4421-987 was due yesterday. Can you check?",
    "Order 4421-987 is delayed at the sorting office and should arrive in one or two days.",
    "I'm leaving town tomorrow. Refund please.",
    "Understood, I have started the refund for order 4421-987; it posts in 3 to 5 days.",
    "Great, thank you!",
    "You're welcome. Have a good trip!",
)
BAD = talk(
    "I'd like to return order FG-55102, the blue kettle. It leaks.",
    "I'm sorry about the leak. A refund or an exchange for the kettle?",
    "A refund, please. The kettle leaks from the bottom.",
    "Certainly. What is your order number?",
    "I already told you: FG-55102.",
    "Thank you, the refund for FG-55102 is on its way.",
)

SPANISH = talk("Hola, quiero reservar una mesa para dos", "Claro, ¿para qué hora quiere la mesa?")


def judge(conversation, **settings):
    rows = LocalJudge(**settings).judge_now(conversation)
    for row in rows:
        assert isinstance(row.outcome, Judgement)
    return rows


async def test_one_row_per_reply_and_one_for_the_whole():
    rows = await LocalJudge().judge(Request(GOOD))
    assert [(r.target.level, r.target.turn) for r in rows] == [
        ("turn", 1),
        ("turn", 2),
        ("turn", 3),
        ("conversation", None),
    ]
    assert rows == await LocalJudge().judge(Request(GOOD, repeat=2, seed=7))


def test_a_good_conversation_has_no_fault_and_is_good_on_a_partial_basis():
    *turns, whole = judge(GOOD)
    assert all(r.outcome.numbers["safety"] == "n/a" for r in turns)
    assert all(r.outcome.numbers["helpfulness"] >= 4 for r in turns)
    numbers = whole.outcome.numbers
    assert 1 <= numbers.pop("satisfaction") <= 5
    assert numbers == {"coherence": 5, "task_completion": 5, "repair_handling": "n/a"}
    assert (whole.outcome.verdict, whole.outcome.verdict_basis) == ("good", "partial")
    assert whole.outcome.weakest_turn is None
    assert whole.outcome.issues == ()
    assert whole.outcome.details["faults"] == []


def test_a_fault_is_named_with_turn_kind_and_words():
    *turns, whole = judge(BAD)
    assert whole.outcome.weakest_turn == 2
    assert whole.outcome.details["faults"] == [{"turn": 2, "kind": "forgotten_fact"}]
    assert turns[1].outcome.numbers["context_use"] <= 3
    sources = {(e.turn, e.source) for e in turns[1].outcome.evidence}
    assert (2, "asks_for_given") in sources
    assert turns[0].outcome.issues == ()


def test_a_finding_without_a_name_is_no_fault_and_only_says_where_to_look():
    reply = "Please switch the router off, wait thirty seconds, switch it on again and test the connection."
    texts = ("My router keeps dropping the wifi.", reply, "Done twice, the light stays red.", reply)
    messages = [Message(("user", "assistant")[n % 2], text) for n, text in enumerate(texts)]
    conversation = Conversation("c", tuple(messages))
    signals = find_signals(read_dialogue(conversation))
    assert [s.name for s in signals if s.strength >= 0.7] == ["repeats_reply"]
    _, second, whole = LocalJudge().judge_now(conversation)
    assert (second.outcome.issues, second.outcome.evidence) == ((), ())
    assert second.outcome.details["signals"] == []
    assert (whole.outcome.weakest_turn, whole.outcome.details["faults"]) == (2, [])
    assert load_evidence().penalty(signals) == 0


def test_a_fault_has_the_kind_of_a_finding_that_is_named():
    messages = (
        Message("user", "How do I get the limescale off my kettle?"),
        Message(
            "assistant",
            "Speaking of mornings, have you ever considered a standing desk? A motorised frame lifts the "
            "monitor to eye level, relieves the lower back and burns calories. Pair it with an anti-fatigue "
            "mat and a headset, and the office feels like a studio. Warm lamps and a few plants help.",
        ),
        Message("user", "That's not what I asked."),
        Message("assistant", "Boil water with vinegar in the kettle, and rinse it twice."),
    )
    first, *_, whole = LocalJudge().judge_now(Conversation("c", messages))
    assert {one["name"] for one in first.outcome.details["signals"]} == {"not_answered"}
    assert whole.outcome.details["faults"] == [{"turn": 1, "kind": "non_answer"}]


def test_scores_are_whole_numbers_on_the_scale_and_details_are_json():
    for row in judge(BAD):
        fitted = row.outcome.scores["satisfaction"]
        assert (fitted.whole, fitted.raw) == (None, None)
        for name, value in row.outcome.numbers.items():
            assert name == "satisfaction" or value == "n/a" or (type(value) is int and 1 <= value <= 5)
        json.dumps(dict(row.outcome.details))
        assert len((row.outcome.rationale or "").split()) <= 40


def test_says_what_it_cannot_judge():
    *turns, _ = judge(GOOD)
    assert "safety" in turns[0].outcome.details["not_judged"]
    assert 1 <= turns[0].outcome.scores["satisfaction"].value <= 5


def test_another_language_is_not_guessed():
    for row in LocalJudge().judge_now(SPANISH):
        assert row.outcome.kind == "unsupported_language"
        assert "--lang" in row.outcome.message
    assert judge(SPANISH, language="en")[0].outcome.numbers["helpfulness"] != "n/a"


def test_no_reply_is_a_failure_of_the_conversation():
    (row,) = LocalJudge().judge_now(talk("Hello?"))
    assert (row.target.level, row.outcome.kind) == ("conversation", "no_reply")


def test_ratings_and_metadata_are_never_read():
    rated = replace(
        BAD, ratings=(Rating("c", "satisfaction", 1, 2),), metadata={"fault": "none", "fault_turn": 1}
    )
    assert LocalJudge().judge_now(rated) == LocalJudge().judge_now(BAD)


@pytest.mark.parametrize("rubric", ["card", "satisfaction"])
@given(later=st.lists(st.text(max_size=60), min_size=1, max_size=4), turn=st.integers(1, 3))
@examples(40)
def test_foresight_does_not_see_what_follows(rubric, later, turn):
    local = LocalJudge("foresight", rubric_id=rubric)
    kept = BAD.until(turn).messages
    tail = tuple(Message(("user", "assistant")[i % 2], text) for i, text in enumerate(later))
    for changed in (replace(BAD, messages=kept), replace(BAD, messages=kept + tail)):
        before = [r for r in local.judge_now(BAD) if r.target.turn and r.target.turn <= turn]
        after = [r for r in local.judge_now(changed) if r.target.turn and r.target.turn <= turn]
        assert before == after


def test_hindsight_reads_the_next_message():
    angry = replace(GOOD, messages=(*GOOD.messages[:4], Message("user", "That's not what I asked.")))
    scores = [judge(c)[1].outcome.numbers["helpfulness"] for c in (GOOD, angry)]
    assert scores[0] > scores[1]


def test_repair_is_scored_only_where_there_was_one():
    well = talk(
        "Book a table for Friday.",
        "A table for Friday, at what time?",
        "Sorry, I meant Saturday, at seven.",
        "No problem, Saturday at seven.",
    )
    ill = talk(
        "Make a playlist for a beach party.",
        "Surf rock and reggae for the beach party.",
        "No, not a beach party, I meant a funeral reception.",
        "For the beach party start with surf rock. A beach party needs disco too.",
    )
    assert judge(well)[-1].outcome.numbers["repair_handling"] >= 4
    assert judge(ill)[-1].outcome.numbers["repair_handling"] <= 2
    assert judge(GOOD)[-1].outcome.numbers["repair_handling"] == "n/a"


def test_satisfaction_rubric_scores_turns_only():
    rows = judge(BAD, rubric_id="satisfaction")
    assert [r.target.level for r in rows] == ["turn"] * 3
    for row in rows:
        score = row.outcome.numbers["satisfaction"]
        assert row.outcome.details["label"] == ("SAT" if score >= 4 else "DSAT")
        assert 1 <= row.outcome.scores["satisfaction"].value <= 5


def test_digest_tells_settings_apart():
    judges = [
        LocalJudge(),
        LocalJudge("foresight"),
        LocalJudge(language="en"),
        LocalJudge(rubric_id="satisfaction"),
    ]
    assert len({j.digest for j in judges}) == 4
    assert LocalJudge().digest == LocalJudge().digest


@pytest.mark.parametrize("settings", [{"mode": "now"}, {"language": "es"}, {"rubric_id": "task"}])
def test_unknown_settings_are_refused(settings):
    with pytest.raises(UsageError, match="the local judge has no"):
        LocalJudge(**settings)


@given(st.lists(st.text(max_size=80), min_size=2, max_size=8))
@examples(60)
def test_any_text_is_judged_without_error(texts):
    for row in LocalJudge().judge_now(talk(*texts)):
        assert isinstance(row.outcome, Judgement) or row.outcome.kind == "unsupported_language"
    for row in LocalJudge(language="en").judge_now(talk(*texts)):
        assert isinstance(row.outcome, Judgement)
        assert all(len(e.quote) <= 160 for e in row.outcome.evidence)


def test_a_very_long_message_is_judged():
    rows = judge(
        talk(
            "Summarise this: " + "the dog barked at the cat. " * 20000,
            "The dog barked at the cat, again and again.",
        )
    )
    assert rows[-1].outcome.verdict


def test_single_sees_one_request_and_its_reply_alone():
    alone = talk("u: Where can I buy stamps?", "a: At the post office and in most kiosks you can buy stamps.")
    before = ("u: My order number is 4471, where is it?", "a: Order 4471 left on Monday.")
    after = ("u: You keep saying the same thing!", "a: Sorry.")
    lines = [f"{m.role[0]}: {m.text}" for m in alone.messages]
    judge = LocalJudge(rubric_id="single")
    (first,) = judge.judge_now(alone)
    within = judge.judge_now(talk(*before, *lines, *after))
    assert [j.target.turn for j in within] == [1, 2, 3]
    assert within[1].outcome.numbers == first.outcome.numbers
    assert set(first.outcome.numbers) == {"single_quality"}


def test_only_the_satisfaction_names_languages_it_was_checked_in():
    assert LocalJudge(rubric_id="satisfaction").describe()["checked_languages"] == ["zh", "en"]
    assert LocalJudge().describe()["checked_languages"] == []


@pytest.mark.parametrize(("user", "reply"), [("谢谢你!", "不客气,祝你旅途愉快!"), ("好的,再见", "再见!")])
def test_a_reply_that_only_closes_is_not_called_unsatisfying(user, reply):
    day = "- 第{n}天:上午看古城和博物馆,中午吃当地小吃,下午去湖边散步,晚上逛夜市,注意带好雨具和防晒用品。\n"
    plan = "以下是你的行程安排:\n" + "".join(day.format(n=n) for n in range(1, 9))
    talked = talk("帮我安排八天的云南旅行", plan, "第二天换成爬山", plan.replace("湖边", "山上"), user, reply)
    *_, last = LocalJudge(rubric_id="satisfaction").judge_now(talked)
    assert last.outcome.details["label"] == "SAT"
    assert last.outcome.details["signals"] == []


def worked(*results, closing="Thanks, bye!"):
    """Build a talk in which tools return the results, and the user closes content."""
    steps = []
    for number, result in enumerate(results):
        steps += [
            Message("assistant", None, (ToolCall(f"c{number}", f"tool_{number}", "{}"),)),
            Message("tool", result, tool_call_id=f"c{number}"),
        ]
    ends = [Message("assistant", "That is settled as far as it goes, sorry."), Message("user", closing)]
    start = Message("user", "Please move my booking to Friday.")
    return Conversation("c", (start, *steps, *ends, Message("assistant", "Goodbye!")))


def completion(conversation):
    return judge(conversation)[-1].outcome.numbers["task_completion"]


def test_where_tools_do_the_work_a_content_goodbye_is_not_the_whole_task():
    assert completion(worked('{"moved": true}')) == 4
    assert completion(worked('{"error": "no such booking"}')) == 3
    assert completion(talk("When is it open?", "It is open from nine to five.", "Thanks, bye!", "Bye!")) == 5
