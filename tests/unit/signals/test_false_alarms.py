"""What looks like a fault and is none, and what is one and was passed over; written by us, both languages."""

import json

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import certainty, find_signals, is_fault, only_closes, read_dialogue

SURE = 0.7


def talk(*texts, system=None):
    """Build a conversation of user and assistant messages in turn; a list holds (tool, arguments, result)."""
    messages = [Message("system", system)] if system else []
    role = "user"
    for text in texts:
        if isinstance(text, list):
            for tool, arguments, result in text:
                call = f"c{len(messages)}"
                messages.append(Message("assistant", None, (ToolCall(call, tool, json.dumps(arguments)),)))
                messages.append(Message("tool", json.dumps(result), tool_call_id=call))
            continue
        messages.append(Message(role, text))
        role = "assistant" if role == "user" else "user"
    return Conversation("c", tuple(messages))


def kinds(conversation, mode="hindsight"):
    return {s.name: s.strength for s in find_signals(read_dialogue(conversation), mode)}


def faulty(conversation, mode="hindsight"):
    return is_fault(find_signals(read_dialogue(conversation), mode))


def certain(conversation):
    """Whether the findings suffice for a fault, named or not."""
    return certainty(find_signals(read_dialogue(conversation))) >= SURE - 1e-9


FOUND, NOTHING = {"flights": [{"id": "KX 204", "price": 180}]}, {"flights": []}
SEVERAL = {
    "the first empty": [
        ("search_flights", {"day": "1 May"}, NOTHING),
        ("search_flights", {"day": "2 May"}, FOUND),
    ],
    "the last empty": [
        ("search_flights", {"day": "2 May"}, FOUND),
        ("search_flights", {"day": "3 May"}, NOTHING),
    ],
    "another search": [
        ("search_onestop_flight", {"day": "2 May"}, FOUND),
        ("search_direct_flight", {"day": "2 May"}, NOTHING),
    ],
}


@pytest.mark.parametrize("name", SEVERAL)
def test_an_empty_search_among_several_is_no_failure(name):
    reply = "There is KX 204 for 180 pounds, and I found nothing cheaper."
    assert not certain(talk("Find me a flight on 1, 2 or 3 May.", SEVERAL[name], reply))
    assert "ignores_tool_error" not in kinds(talk("A flight in May?", SEVERAL[name], "KX 204 is available."))


def test_results_out_of_an_empty_search_are_a_fault():
    searched = [("get_user", {"id": "u1"}, {"name": "Ann"}), ("search_flights", {"day": "1 May"}, NOTHING)]
    assert faulty(talk("A flight on 1 May?", searched, "KX 777 leaves at 9:40, I have booked it for you."))


@pytest.mark.parametrize(("tool", "is_search"), [("find_court", True), ("note_down", False)])
def test_an_empty_object_is_an_empty_search_of_a_search_only(tool, is_search):
    asked = talk("A court on Friday?", [(tool, {"day": "Friday"}, {})], "Court 12 is free at 17:40.")
    assert ("ignores_tool_error" in kinds(asked)) is is_search


@pytest.mark.parametrize(("asked", "reverses"), [("A table for Friday?", True), ("A table for 5?", False)])
def test_a_figure_that_the_user_named_at_any_time_is_no_contradiction(asked, reverses):
    first, last = (f"I have put down a table for {n} guests in the garden room." for n in (4, 5))
    talked = talk(asked, first, "Is there parking?", "There is, in the yard.", "Good, and the table?", last)
    assert ("reversed" in kinds(talked)) is reverses


POLITE = (
    "Earlier you listed a hotel in the north of town. Could you book that one for two nights, please?",
    "The museum you mentioned before sounds nice. Can you tell me more about it?",
    "You said the third plan includes meals. Please write it out for me.",
    "你刚才说的第二个方案能详细介绍一下吗?",
    "你之前推荐的那家店怎么走?",
    "你刚才说的那个App怎么用,请具体讲讲",
)


@pytest.mark.parametrize("request_", POLITE)
def test_a_polite_request_is_no_objection(request_):
    first = "There are three plans and a hotel in the north." if request_.isascii() else "有三个方案可以选。"
    asked = "What can we do in Leeds?" if request_.isascii() else "周末去哪儿玩?"
    assert "said_otherwise" not in kinds(talk(asked, first, request_, "Gladly."))


@pytest.mark.parametrize(
    "objection",
    [
        "You told me 14:00 earlier, and now it is 16:00. Which is right?",
        "Earlier you said the tour was free, but now you ask for 20 pounds.",
        "你刚才说免费,现在怎么又要收二十块?",
    ],
)
def test_an_objection_is_still_one(objection):
    asked, first = ("When?", "At 16:00.") if objection.isascii() else ("多少钱?", "二十块。")
    assert "said_otherwise" in kinds(talk(asked, first, objection, "Sorry."))


@pytest.mark.parametrize(
    ("asked", "changed", "reply"),
    [
        (
            "A room in Bath for 3 nights from Friday, please.",
            "Sorry, make it 2 nights.",
            "Done: 2 nights from Friday, 180 pounds in all.",
        ),
        (
            "Book a hotel for 5 nights for 2 people.",
            "Could you try 4 nights instead?",
            "The Lamb has a room for 2 people for 4 nights; for 5 nights it is full.",
        ),
        ("我想订3晚的酒店。", "改成2晚吧。", "好的,已改为2晚,共600元。"),
    ],
)
def test_a_changed_number_of_nights_is_no_fault(asked, changed, reply):
    assert not certain(
        talk(asked, "Booked as you asked." if asked.isascii() else "好的,已经订好。", changed, reply)
    )


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        (
            "Is the city museum open on Mondays?",
            "Most museums in town close at the start of the week, so plan your visit for Tuesday or later.",
        ),
        (
            "Can I take my bike on the train?",
            "Bicycles travel free outside the rush hour, as long as you leave the doors clear.",
        ),
        ("周一博物馆开门吗?", "一般的馆周一都休息,周二到周日去比较稳妥。"),
        ("这双鞋适合跑步吗?", "鞋底偏硬,散步没问题,长距离的话换一双缓震好的更舒服。"),
    ],
)
def test_an_indirect_answer_is_an_answer(asked, reply):
    assert not {n for n, s in kinds(talk(asked, reply)).items() if s >= 0.4}


REFUSALS = (
    "As a coding assistant, I cannot help with travel plans.",
    "As a coding assistant I cannot write a birthday poem. I can help you with Python instead.",
    "I'm just a math tutor and can't discuss gifts.",
    "Sorry, I'm only able to talk about cooking.",
    "I'm afraid that falls outside my area; I only handle billing.",
    "I won't be able to do that for you.",
    "This isn't something I'm allowed to do.",
    "I have to decline this one.",
    "My role is limited to billing.",
    "I am solely here to talk about cooking.",
    "I'm just allowed to talk about cooking.",
    "作为一名编程助手,我不能帮你写旅行计划。",
    "我是一个代码助手,只能回答编程相关的问题。",
    "我只负责售后问题,其他的帮不了您。",
    "不好意思,这个我做不了。",
    "这超出了我的能力范围。",
    "我的职责仅限于技术支持,无法安排行程。",
    "我的职责限于技术支持。",
)


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_is_seen(reply):
    asked = "Can you plan a short trip to Lisbon for us?" if reply.isascii() else "帮我安排一个三天的旅行。"
    assert kinds(talk(asked, reply)).get("refuses", 0) >= SURE


@pytest.mark.parametrize(
    "reply",
    [
        "I can't recommend the old town enough: begin at the castle, then walk down to the river.",
        "I'm just here to help: begin in Belem, end in Alfama.",
        "You can't go wrong with tram 28. Begin in Belem, end in Alfama.",
        "I cannot check live prices, but here is a plan: day 1 Alfama, day 2 Belem, day 3 Sintra.",
        "作为历史名城,里斯本不能只待一天。第一天去老城,第二天去海边。",
        "我无法查看实时票价,但可以先给你一个计划:第一天老城,第二天海边,第三天辛特拉。",
    ],
)
def test_an_answer_with_a_reservation_is_no_refusal(reply):
    asked = "Can you plan a short trip to Lisbon for us?" if reply.isascii() else "帮我安排一个三天的旅行。"
    assert kinds(talk(asked, reply)).get("refuses", 0) < SURE


RIVER = "We walked on along the river and looked at the old houses and the boats. "


@pytest.mark.parametrize(
    ("reply", "tool", "strength"),
    [
        ("I'm sorry, I can't help with that.", None, 0.9),
        ("I won't be able to do that for you, but I can suggest a plan.", None, 0.55),
        (f"I'm sorry, I can't do that. {RIVER * 5}", None, 0.5),
        (f"I'm sorry, I can't do that. {RIVER * 14}", None, 0.2),
        ("I have to decline this one.", {"booked": True}, 0.35),
        ("Sorry, I can't do that, there was an error with the booking system.", {"error": "down"}, 0.2),
    ],
)
def test_a_refusal_is_the_weaker_the_more_it_helps_or_has_its_reasons(reply, tool, strength):
    steps = [] if tool is None else [[("book", {"day": "Friday"}, tool)]]
    found = kinds(talk("Can you plan a short trip to Lisbon for us?", *steps, reply))
    assert found["refuses"] == pytest.approx(strength)


def test_a_refusal_by_the_role_that_the_instructions_give_is_no_fault():
    role = "You are a coding assistant. Only talk about software."
    refused = talk("Plan a trip to Rome.", "As a coding assistant, I cannot plan trips.", system=role)
    assert not certain(refused)


CLOSINGS = (
    ("Thank you, that's all.", "You're welcome! Enjoy your stay, and goodbye."),
    ("Great, thanks a lot. Bye!", "Goodbye, have a lovely evening!"),
    ("好的,谢谢你!", "不客气!祝你旅途愉快,有需要随时找我。"),
    ("没有别的了,再见。", "再见,祝您生活愉快!"),
    ("Thanks!", "You're welcome!"),
    ("Goodbye.", "Take care!"),
)


@pytest.mark.parametrize(("user", "reply"), CLOSINGS)
def test_a_reply_that_only_closes_is_known(user, reply):
    conversation = talk(
        "Where?" if user.isascii() else "去哪?", "Rome." if user.isascii() else "罗马。", user, reply
    )
    last = read_dialogue(conversation).replied[-1]
    assert only_closes(last)
    assert not [s for s in find_signals(read_dialogue(conversation)) if s.turn == 2]


def test_thanks_with_a_request_do_not_close():
    talked = talk("Thanks! And how much is the ticket?", "It is 12 pounds.")
    assert not only_closes(read_dialogue(talked).replied[0])
    for words, closes in ((5, True), (200, False)):
        told = talk("Thanks!", "Rome " * words)
        assert only_closes(read_dialogue(told).replied[0]) is closes


@pytest.mark.parametrize(
    ("user", "reply", "kind"),
    [
        (
            "想给妈妈买一份生日礼物,预算两百",
            "Here are some ideas for your mother: a scarf, a book.",
            "other_language",
        ),
        (
            "Could you recommend a gift for my mother?",
            "可以送一条围巾,或者一本她喜欢的书。",
            "other_language",
        ),
        ("推荐三道家常菜", "API 错误,请稍后再试", "broken"),
        ("推荐三道家常菜", '好的,菜单如下:{"version":"7","command":"create","id":"menu"}', "broken"),
        ("Find me a pub in York.", "Error: request timed out", "broken"),
        ("Find me a pub in York.", '{"name": "search_pubs", "arguments": {"town": "York"}}', "broken"),
    ],
)
def test_a_reply_that_did_not_arrive_as_one_is_seen(user, reply, kind):
    assert kinds(talk(user, reply), "foresight").get(kind, 0) >= SURE


@pytest.mark.parametrize(
    ("user", "reply"),
    [
        ("把“你好吗,朋友”翻译成英语", "How are you, my friend? That is the usual phrase in English."),
        ("How do I write a JSON object?", 'Like this: {"name": "Ann", "age": "30"}'),
        ("What does <system> mean in this XML?", "The <system> tag opens the block of settings."),
    ],
)
def test_what_was_asked_for_is_no_debris(user, reply):
    assert not {"broken", "other_language"} & kinds(talk(user, reply)).keys()


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        ("太贵了,换一个吧", "wants_other"),
        ("I don't like that one. Anything cheaper?", "wants_other"),
        ("能再详细一点吗", "wants_detail"),
        ("Can you be more specific?", "wants_detail"),
        ("你没有列出价格", "left_out"),
        ("You didn't include the prices.", "left_out"),
    ],
)
def test_what_the_user_misses_is_seen_and_a_wish_for_more_is_no_fault(after, kind):
    first = ("Gift ideas for a friend?", "A lamp, a scarf or a book.")
    talked = talk(*(first if after.isascii() else ("送朋友什么礼物?", "台灯、围巾或者书。")), after, "Sure.")
    assert kind in kinds(talked)
    assert "wants_other" not in kinds(talked, "foresight")
    assert faulty(talked) is (kind != "wants_detail")


OPENS = "The museum in the old town opens at {} every day."


@pytest.mark.parametrize(
    ("first", "after", "reply", "otherwise"),
    [
        (OPENS.format(9), "Thank you. What is the address?", OPENS.format(10), True),
        ("Lunch costs 12 euros.", "Thank you. What is the address?", "Lunch costs 20 euros.", True),
        (OPENS.format(9), "Thank you. I come at 10. What is the address?", OPENS.format(10), False),
        (OPENS.format(9), "And the castle?", "The castle on the green hill opens at 10 every day.", False),
        (OPENS.format(9), "No, I meant another one instead.", OPENS.format(10), False),
        (
            OPENS.format(9),
            "And the shop?",
            "The museum shop behind the new hall opens at 10 on every free day.",
            False,
        ),
    ],
)
def test_another_figure_in_the_same_words_is_another_claim_unless_it_was_asked_for(
    first, after, reply, otherwise
):
    assert ("reversed" in kinds(talk("When is it open?", first, after, reply))) is otherwise


@pytest.mark.parametrize(
    ("after", "kind", "strength"),
    [
        ("I don't like that one.", "wants_other", 0.7),
        ("I don't like that one. Sorry, I meant a gift for a child.", "wants_other", 0.5),
        ("I don't like that one, make it cheaper instead: 20 pounds.", "wants_other", 0.5),
        (
            "I don't like that one. " + "We walked along the river to the old houses there. " * 3,
            "wants_other",
            0,
        ),
        ("You didn't include the prices.", "left_out", 0.7),
        ("You didn't include the prices, sorry, I forgot to ask for them.", "left_out", 0.5),
    ],
)
def test_what_the_user_misses_weighs_less_where_the_user_changed_the_request(after, kind, strength):
    assert kinds(talk("Gift ideas?", "A lamp, a scarf or a book.", after, "Sure.")).get(kind, 0) == strength


def test_a_request_that_is_said_again_word_for_word_weighs_more():
    asked = "Please recommend a quiet restaurant near the river."
    again, other = (
        kinds(talk(asked, "The Lamb is good.", after, "The Swan.")) for after in (asked, asked[:-7])
    )
    assert again["asked_again"] == 0.75 > other.get("asked_again", 0)


def test_an_objection_may_be_polite():
    objection = "You said the third plan includes meals, but now it does not. Please write it out."
    assert "said_otherwise" in kinds(talk("What can we do?", "There are three plans.", objection, "Gladly."))
