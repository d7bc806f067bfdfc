import re

from dialogauge.core import Conversation, Message, Request, Usage
from dialogauge.judges.rubric.judge import RubricJudge
from dialogauge.llm.protocol import ChatFailure
from dialogauge.rubrics import load_rubric
from rubric_samples import asked_turns, card_reply, client_of, long_chat

CARD = load_rubric("card")


def is_summary(request):
    return request.schema.name == "summary"


def summary_of(request):
    turns = sorted({int(n) for n in re.findall(r'^{"turn":(\d+)', request.messages[1]["content"], re.M)})
    return {"summary": f"notes on turns {turns[0]} to {turns[-1]}"}


async def judged(answer, count=16, conversation=None, standing=(), **settings):
    def line(request):
        found = answer(request)
        if found is None:
            return summary_of(request) if is_summary(request) else windowed(request)
        return found

    client = client_of(line)
    conversation = conversation or long_chat(count)
    rows = await RubricJudge(CARD, client, **settings).judge(Request(conversation, standing=standing))
    return rows, client.requests


def windowed(request, scores=None, whole=(5, 5, "n/a"), **more):
    turns = asked_turns(request)
    reply = card_reply({n: (scores or {}).get(n, (5, 5, 5)) for n in turns}, whole, **more)
    del reply["verdict"]
    return reply


async def test_a_conversation_of_ten_turns_is_one_call_and_of_eleven_is_windows():
    _, requests = await judged(lambda r: card_reply(dict.fromkeys(range(1, 11), (5, 5, 5))), count=10)
    assert len(requests) == 1
    rows, requests = await judged(lambda r: None, count=11)
    assert [is_summary(r) for r in requests].count(True) == 1
    assert [asked_turns(r) for r in requests if not is_summary(r)] == [
        [1, 2, 3, 4, 5, 6],
        [6, 7, 8, 9, 10, 11],
    ]
    assert [r.target.turn for r in rows] == [*range(1, 12), None]
    assert (rows[-1].outcome.verdict, rows[-1].outcome.verdict_basis) == ("excellent", "full")


async def test_each_window_has_the_notes_on_what_came_before():
    _, requests = await judged(lambda r: None)  # windows 1-6, 6-11, 11-16
    first, second = (r.messages[-1]["content"] for r in requests if is_summary(r))
    assert "(nothing: the conversation begins here)" in first
    assert "answer 5" in first
    assert "answer 6" not in first
    assert '"notes on turns 1 to 5"' in second
    assert "answer 5" not in second
    assert "answer 10" in second
    windows = [r.messages[-1]["content"] for r in requests if not is_summary(r)]
    assert "begins here" in windows[0]
    assert '"notes on turns 1 to 5"' in windows[1]
    assert "question 6" in windows[1]
    assert "question 5" not in windows[1]
    assert '"notes on turns 6 to 10"' in windows[2]


async def test_hindsight_shows_the_next_message_beyond_the_window_and_foresight_asks_one_by_one():
    _, requests = await judged(lambda r: None)
    first = next(r.messages[-1]["content"] for r in requests if not is_summary(r))
    assert '{"turn":7,"role":"user","beyond":true,"text":"question 7"}' in first
    assert "answer 7" not in first

    def answer(request):
        turns = [] if is_summary(request) else asked_turns(request)
        if turns:
            return card_reply({turns[0]: (5, 5, 5)}, None)
        return None if is_summary(request) else {k: v for k, v in windowed_whole().items() if k != "per_turn"}

    def windowed_whole():
        reply = card_reply({})
        del reply["verdict"]
        return reply

    rows, requests = await judged(answer, mode="foresight")
    assert sum(is_summary(r) for r in requests) == 2
    assert len(requests) == 16 + 2 + 3
    assert "beyond" not in requests[-1].messages[-1]["content"]
    assert [r.usage.calls for r in rows] == [1] * 16 + [5]
    assert rows[-1].outcome.verdict == "excellent"


async def test_a_turn_judged_twice_gets_the_mean_and_the_difference_is_told():
    def answer(request):
        if is_summary(request):
            return None
        start = asked_turns(request)[0]
        sixth = {6: (5, 3 if start == 6 else 4, 5)}
        return windowed(request, sixth, weakest_turn=6 if start < 11 else None)

    rows, _ = await judged(answer)
    sixth = rows[5].outcome
    assert sixth.numbers == {"context_use": 5, "helpfulness": 3.5, "safety": 5}
    assert sixth.details["windows"] == [[1, 6], [6, 11]]
    assert sixth.details["window_difference"] == {"context_use": 0, "helpfulness": 1, "safety": 0}
    assert "window_difference" not in rows[4].outcome.details
    whole = rows[-1].outcome
    assert whole.details["window_differences"] == {"n": 6, "mean": 1 / 6, "max": 1}
    assert (whole.verdict, whole.weakest_turn) == ("good", 6)


async def test_the_roll_up_and_the_weakest_of_the_windows():
    def answer(request):
        if is_summary(request):
            return None
        start = asked_turns(request)[0]
        low = {3: (3, 4, 5), 8: (2, 3, 5)}
        whole = {1: (4, "n/a", "n/a"), 6: (2, 2, 3), 11: (5, 5, "n/a")}[start]
        named = {1: 3, 6: 8, 11: None}[start]
        return windowed(request, low, whole, weakest_turn=named, decision_basis=f"window {start}")

    rows, _ = await judged(answer)
    whole = rows[-1].outcome
    # coherence: mean 11/3, pulled to (11/3 + 2) / 2 = 2.83; task: (5 + 2) / 2 = 3.5, the half goes down
    assert whole.numbers == {"coherence": 3, "task_completion": 3, "repair_handling": 3}
    assert (whole.weakest_turn, whole.verdict, whole.rationale) == (8, "borderline", "window 6")
    assert [w["turns"] for w in whole.details["windows"]] == [[1, 6], [6, 11], [11, 16]]
    assert whole.details["windows"][1]["scores"]["coherence"] == 2
    assert "model_verdict" not in whole.details


async def test_a_failed_window_fails_its_own_turns_and_the_conversation():
    def answer(request):
        if is_summary(request) or asked_turns(request)[0] != 6:
            return None
        return ChatFailure("timeout", "too slow", Usage(calls=2))

    rows, _ = await judged(answer)
    failed = [r.target.turn for r in rows if not hasattr(r.outcome, "scores")]
    assert failed == [7, 8, 9, 10, None]
    assert rows[6].outcome.kind == "timeout"
    assert "window of turns 6-11: too slow" in rows[6].outcome.message
    assert rows[5].outcome.details["windows_failed"] == [[6, 11]]
    assert rows[5].outcome.numbers["safety"] == 5
    assert rows[-1].outcome.kind == "window_failed"
    assert "1 of 3 windows failed: timeout" in rows[-1].outcome.message
    assert rows[-1].usage.calls == 2 + 2 + 2


async def test_a_retry_asks_for_what_failed_in_a_window_and_builds_on_what_stands():
    rows, _ = await judged(lambda r: None)
    lost = {8, 9}
    standing = tuple(r for r in rows if r.target.turn not in lost)
    again, requests = await judged(lambda r: None, standing=standing)
    assert [r.target.turn for r in again] == [8, 9]
    assert [is_summary(r) for r in requests] == [True, False]
    assert asked_turns(requests[-1]) == [8, 9]
    assert "from turn" not in requests[-1].messages[-1]["content"].split("Asked for")[1]
    assert "question 6" in requests[-1].messages[-1]["content"]
    assert [r.outcome.details["windows"] for r in again] == [[[6, 11]]] * 2
    assert [r.usage.calls for r in again] == [2, 0]

    def low(request):
        return None if is_summary(request) else windowed(request, dict.fromkeys(range(17), (1, 1, 1)))

    (whole,), requests = await judged(low, standing=rows[:-1])
    windows = [r for r in requests if not is_summary(r)]
    assert [asked_turns(r) for r in windows] == [[], [], []]
    assert "from turn 6 to turn 11" in windows[1].messages[-1]["content"]
    assert whole.outcome.verdict == "excellent", "by the scores of the turns that stand"


async def test_a_retry_of_a_short_conversation_asks_for_what_failed():
    rows, _ = await judged(lambda r: None, count=3)
    (turn,), requests = await judged(lambda r: None, count=3, standing=(rows[0], *rows[2:]))
    assert (turn.target.turn, [asked_turns(r) for r in requests]) == (2, [[2]])
    assert list(requests[0].schema.schema["properties"]) == ["per_turn"]
    _, requests = await judged(lambda r: None, count=3, standing=(rows[0], rows[2]))
    assert asked_turns(requests[0]) == [1, 2, 3], "turns and the whole are one question"


async def test_a_retry_in_foresight_asks_for_the_turns_that_failed():
    rows, _ = await judged(lambda r: None, count=3, mode="foresight")
    standing = (rows[0], rows[2], rows[3])
    again, requests = await judged(lambda r: None, count=3, mode="foresight", standing=standing)
    assert [r.target.turn for r in again] == [2]
    assert [asked_turns(r) for r in requests] == [[2]]
    again, requests = await judged(lambda r: None, count=3, mode="foresight", standing=rows[:3])
    assert [r.target.level for r in again] == ["conversation"]
    assert not any("per_turn" in r.schema.schema["properties"] for r in requests)


async def test_a_window_without_its_notes_fails_and_the_next_takes_on_what_was_left():
    def answer(request):
        if is_summary(request) and "answer 10" not in request.messages[-1]["content"]:
            return ChatFailure("server_error", "503", Usage(calls=1), raw="oops")
        return None

    rows, requests = await judged(answer)
    second = [r.messages[-1]["content"] for r in requests if is_summary(r)][1]
    assert "begins here" in second
    assert "question 1" in second
    assert "answer 10" in second
    windows = [asked_turns(r)[0] for r in requests if not is_summary(r)]
    assert windows == [1, 11]
    assert [r.target.turn for r in rows if not hasattr(r.outcome, "scores")] == [7, 8, 9, 10, None]
    assert rows[7].outcome.kind == "window_failed"
    assert "summary of what came before failed (server_error): 503" in rows[7].outcome.message
    assert rows[-1].outcome.kind == "window_failed"


async def test_an_empty_summary_is_asked_for_again():
    asked = []

    def answer(request):
        if not is_summary(request):
            return None
        asked.append(request)
        return {"summary": " "} if len(asked) == 1 else None

    rows, _ = await judged(answer, count=11)
    assert len(asked) == 2
    assert "summary: expected a text" in asked[1].messages[-1]["content"]
    assert rows[-1].outcome.verdict == "excellent"


async def test_greeting_and_unanswered_turns_are_seen_by_their_windows():
    inner = long_chat(12).messages
    messages = (Message("assistant", "hello"), *inner, Message("user", "still there?"))
    _, requests = await judged(lambda r: None, conversation=Conversation("c", messages))
    windows = [r.messages[-1]["content"] for r in requests if not is_summary(r)]
    assert '{"turn":0,"role":"assistant","text":"hello"}' in windows[0]
    assert '"hello"' not in windows[1]
    assert '{"turn":13,"role":"assistant","no_reply":true}' in windows[-1]
    assert "from turn 9 to turn 13; the whole conversation has 13 turns" in windows[-1]
    assert "ends with it" in windows[-1]
    assert "goes on after it" in windows[0]


async def test_repeats_ask_for_new_notes_too():
    client = client_of(lambda r: summary_of(r) if is_summary(r) else windowed(r))
    await RubricJudge(CARD, client).judge(Request(long_chat(11), repeat=2))
    assert {r.salt for r in client.requests} == {1}
