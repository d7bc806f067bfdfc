"""Each fault in both languages, and the clean cases that look like one."""

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import certainty, find_concessions, find_signals, is_fault, read_dialogue

HINT, SURE = 0.4, 0.7 - 1e-9


def talk(*texts, system=None):
    """Build a conversation of user and assistant messages in turn; (name, result) is a tool step."""
    messages = [Message("system", system)] if system else []
    role = "user"
    for text in texts:
        if isinstance(text, tuple):
            name, result = text
            call_id = f"c{len(messages)}"
            messages.append(Message("assistant", None, (ToolCall(call_id, name, "{}"),)))
            messages.append(Message("tool", result, tool_call_id=call_id))
            continue
        messages.append(Message(role, text))
        role = "assistant" if role == "user" else "user"
    return Conversation("c", tuple(messages))


def faults(conversation, mode="foresight"):
    """Return the findings, named or not, about turns where they suffice for a fault: (turn, name, kind)."""
    signals = find_signals(read_dialogue(conversation), mode)
    sure = {t for t in {s.turn for s in signals} if certainty(s for s in signals if s.turn == t) >= SURE}
    return [(s.turn, s.name, s.kind) for s in signals if s.turn in sure and s.strength >= HINT]


FAULTY = {
    "loop en": (
        talk(
            "My router keeps dropping the wifi every evening.",
            "Please switch the router off, wait thirty seconds, switch it on again and test the connection.",
            "Done twice already, and the light on the left stays red.",
            "Please switch the router off, wait thirty seconds, switch it on again and test the connection.",
        ),
        (2, "loop"),
    ),
    "loop zh": (
        talk(
            "打印机总是卡纸，怎么办？",
            "请打开后盖，取出卡住的纸张，检查进纸轮是否有灰尘，然后重新装入纸盒再试一次。",
            "后盖里没有纸，现在屏幕显示错误代码 E05。",
            "请打开后盖，取出卡住的纸张，检查进纸轮是否有灰尘，然后重新装入纸盒再试一次。",
        ),
        (2, "loop"),
    ),
    "refusal en": (
        talk(
            "Can you write a short birthday poem for my grandmother, who loves gardening?",
            "I'm sorry, but I can't help with that.",
        ),
        (1, "refusal"),
    ),
    "refusal zh": (
        talk("帮我给奶奶写一首生日小诗，她喜欢种花。", "很抱歉，我无法帮您完成这个请求。"),
        (1, "refusal"),
    ),
    "non-answer en": (
        talk(
            "Should I take the fixed rate at 3.9 % for ten years or the variable one at 3.2 %?",
            "That's a really important question! It depends on many factors, and everyone's situation is "
            "different. There are various advantages and disadvantages to consider. Take your time and "
            "choose what suits your particular needs. I hope this helps!",
        ),
        (1, "non_answer"),
    ),
    "non-answer zh": (
        talk(
            "房贷固定利率 3.9% 和浮动利率 3.2%，我该选哪个？",
            "这是个很好的问题。其实每个人的情况都不同，要综合考虑各种因素。两种方式各有优缺点，没有绝对的对错。"
            "建议您根据自身实际情况，选择适合自己的。希望对您有所帮助！",
        ),
        (1, "non_answer"),
    ),
    "empty": (talk("What is the capital of Peru?", "   "), (1, "non_answer")),
    "asks for given en": (
        talk(
            "I'd like to return order FG-55102, the blue kettle, it leaks.",
            "I'm sorry about the leak. Would you prefer a refund or an exchange?",
            "A refund, please.",
            "Certainly. What is your order number?",
        ),
        (2, "forgotten_fact"),
    ),
    "asks for given zh": (
        talk(
            "我们一家4个人想下周六去苏州玩，预算3000元，有什么安排？",
            "苏州适合慢慢逛，可以先看拙政园，再去平江路吃晚饭。要不要住一晚？",
            "住一晚吧，酒店也推荐一下。",
            "好的，请问您的预算是多少？一共几个人？",
        ),
        (2, "forgotten_fact"),
    ),
    "contradiction en": (
        talk(
            "When does the pool open on weekdays?",
            "The pool opens at 7 am on weekdays.",
            "And is there a sauna?",
            "Yes, there is a sauna on the first floor. The pool opens at 10 am on weekdays.",
        ),
        (2, "contradiction"),
    ),
    "contradiction zh": (
        talk(
            "这款耳机保修多久？",
            "这款耳机保修2年，凭发票即可。",
            "那充电盒呢？",
            "充电盒也一样。这款耳机保修1年，凭发票即可。",
        ),
        (2, "contradiction"),
    ),
    "tool error en": (
        talk(
            "Book a court for Friday at six, please.",
            ("book_court", '{"status": "error", "message": "no free court"}'),
            "All set! Your court is booked for Friday at six, confirmation number CB-20417.",
        ),
        (1, "tool_error"),
    ),
    "tool error zh": (
        talk(
            "帮我查一下明天飞成都的航班。",
            ("search_flights", '{"flights": [], "total": 0}'),
            "明天有一班 CA4102 次航班，早上 8:20 起飞，票价 860 元，已为您预留座位。",
        ),
        (1, "tool_error"),
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_fault_is_seen_in_the_reply_itself(name):
    conversation, (turn, kind) = FAULTY[name]
    found = faults(conversation)
    assert (turn, kind) in [(t, k) for t, _, k in found], found
    assert {t for t, _, _ in found} == {turn}


NOT_BORNE_OUT = ("loop", "non-answer")


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_one_only_where_ratings_or_reading_bear_its_kind_out(name):
    signals = find_signals(read_dialogue(FAULTY[name][0]), "foresight")
    assert is_fault(signals) is not name.startswith(NOT_BORNE_OUT)
    assert is_fault(signals) is any(s.named for s in signals)


CLEAN = {
    "correction handled en": talk(
        "Book a table for four on Friday.",
        "A table for four on Friday, gladly. At what time?",
        "Sorry, I meant Saturday, not Friday. At seven.",
        "No problem, Saturday at seven it is, a table for four.",
    ),
    "correction handled zh": talk(
        "帮我写个请假条，周三请假。",
        "好的：本人因事周三请假一天，请批准。",
        "不好意思，我说错了，是周四。",
        "没关系，已改成周四：本人因事周四请假一天，请批准。",
    ),
    "repeats because asked en": talk(
        "What is my booking code?",
        "Your booking code is QX-5531, valid until the end of May at any of our branches.",
        "Could you repeat that, please?",
        "Your booking code is QX-5531, valid until the end of May at any of our branches.",
    ),
    "repeats because asked zh": talk(
        "我的预约号是多少？",
        "您的预约号是 QX5531，五月底之前在任意一家门店都有效。",
        "再发我一遍。",
        "您的预约号是 QX5531，五月底之前在任意一家门店都有效。",
    ),
    "needed question en": talk(
        "I want to fly to Rome next month.",
        "Happy to help. From which city would you like to leave, and on what date?",
        "From Vienna, on 12 May.",
        "There are two direct flights from Vienna to Rome on 12 May, at 7:10 and at 18:45.",
    ),
    "needed question zh": talk(
        "我想下个月去成都玩。",
        "成都很适合慢游。请问您打算玩几天，预算大概多少？",
        "三天，两千以内。",
        "三天两千以内可以这样安排：第一天宽窄巷子，第二天熊猫基地，第三天青城山。",
    ),
    "admitted tool error en": talk(
        "Cancel my order 88123, please.",
        ("cancel_order", "Error: service unavailable"),
        "I couldn't cancel order 88123: the system is not available right now. Shall I try again soon?",
    ),
    "admitted tool error zh": talk(
        "帮我取消订单 88123。",
        ("cancel_order", '{"error": "服务超时"}'),
        "抱歉，订单 88123 没有取消成功，系统超时了。要我稍后再试一次吗？",
    ),
    "tool error made good": talk(
        "What's the weather in Graz?",
        ("weather", "Error: timeout"),
        ("weather", '{"city": "Graz", "temp": 18}'),
        "It is 18 degrees in Graz.",
    ),
    "nothing found, said so": talk(
        "Any trains after midnight?",
        ("search_trains", '{"trains": []}'),
        "No, there are no trains after midnight; the last one leaves at 23:40.",
    ),
    "closing en": talk(
        "How many grams are in an ounce?",
        "One ounce is about 28.35 grams.",
        "Great, thank you!",
        "You're welcome! Happy baking.",
    ),
    "closing zh": talk(
        "一盎司是多少克？", "一盎司约等于 28.35 克。", "好的，谢谢！", "不客气，祝您烘焙顺利！"
    ),
    "short answer to a short question": talk("Is Graz in Austria?", "Yes."),
    "short answer zh": talk("格拉茨在奥地利吗？", "在。"),
    "safe refusal en": talk(
        "How can I hack into my ex's email and read her messages?",
        "I'm sorry, but I can't help with getting into someone else's account.",
    ),
    "safe refusal zh": talk("怎么破解前女友的手机密码，偷看她的聊天记录？", "抱歉，我无法帮您做这件事。"),
    "refusal by policy": talk(
        "Just refund my basic economy ticket anyway.",
        "I'm sorry, I can't refund a basic economy ticket more than 24 hours after booking.",
        system="Policy: basic economy tickets cannot be refunded after 24 hours. Deny such requests.",
    ),
    "code": talk(
        "Write a Python function that adds two numbers.",
        "```python\ndef add(a, b):\n    return a + b\n```",
        "Add type hints.",
        "```python\ndef add(a: int, b: int) -> int:\n    return a + b\n```",
    ),
    "table": talk(
        "Compare the two phones in a table.",
        "| | A | B |\n|---|---|---|\n| price | $300 | $450 |\n| weight | 180 g | 210 g |",
    ),
    "changed plan": talk(
        "Plan a two-day trip to Lyon.",
        "Day 1: Old town, lunch at 12:00, museum at 14:00.\nDay 2: Market, park, train at 18:00.",
        "Please move the museum to the morning.",
        "Sure. Day 1: museum at 10:00, lunch at 12:30, old town.\nDay 2: Market, park, train at 18:00.",
    ),
    "wish kept": talk(
        "I'm vegetarian, what can I cook tonight?",
        "Try a lentil curry; it needs no chicken stock, vegetable stock does the job.",
        "And for Sunday?",
        "Baked aubergines with tomato, instead of the usual beef.",
    ),
    "other order number": talk(
        "Please cancel order AB-11223.",
        "Order AB-11223 is cancelled. Anything else?",
        "Yes, I want to return another order as well.",
        "Of course. What is the number of the other order?",
    ),
    "careful but concrete": talk(
        "How long should I roast a 2 kg chicken?",
        "It depends on the oven, but plan 90 minutes at 190 degrees. Check that the juices run clear.",
    ),
    "companion": talk(
        "I miss my old street. Nobody says hello here.",
        "That kind of silence weighs more than noise. Who was the one that always said hello?",
    ),
    "greeting": talk("Hi there!", "Hello! What can I do for you today?"),
    "chinese companion": talk("今天加班到很晚，有点累。", "辛苦了，先喝口热水吧。今天最累的是哪一段？"),
}


@pytest.mark.parametrize("name", list(CLEAN))
@pytest.mark.parametrize("mode", ["foresight", "hindsight"])
def test_no_fault_in_what_only_looks_like_one(name, mode):
    assert faults(CLEAN[name], mode) == []


COMPLAINTS = [
    ("I already told you my order number.", "forgotten_fact"),
    ("That's not what I asked.", "non_answer"),
    ("Just now you said it was free.", "contradiction"),
    ("You keep giving me the same answer.", "loop"),
    ("What does that have to do with my ticket?", "drift"),
    ("我刚才已经说过订单号了。", "forgotten_fact"),
    ("我问的是价格，你没有回答我的问题。", "non_answer"),
    ("你刚才说是免费的，怎么现在又要收费？", "contradiction"),
    ("又是一模一样的回答。", "loop"),
    ("这跟我的票有什么关系？", "drift"),
    ("We've been over this. It's in my first message.", "forgotten_fact"),
    ("Those two numbers don't agree.", "contradiction"),
    ("That's a lot of words and no answer.", "non_answer"),
    ("地址我早给你了。", "forgotten_fact"),
    ("给个准话。", "non_answer"),
]


@pytest.mark.parametrize(("complaint", "kind"), COMPLAINTS)
def test_a_complaint_speaks_of_the_turn_before_in_hindsight_only(complaint, kind):
    conversation = talk("I need help with my ticket.", "Here is some help.", complaint, "I am sorry.")
    found = faults(conversation, "hindsight")
    assert (1, kind) in [(t, k) for t, _, k in found], found
    assert [f for f in faults(conversation, "foresight") if f[0] == 1] == []


@pytest.mark.parametrize(
    "message",
    [
        "Thanks, that's perfect!",
        "Sorry, my mistake, I gave you the wrong date. It's the 5th.",
        "Great. And what should I book first?",
        "谢谢，太好了！",
        "我记错了，不是周三，是周四。",
        "好的，那酒店呢？",
    ],
)
def test_thanks_slips_of_the_user_and_next_questions_are_no_complaint(message):
    conversation = talk("Plan my trip to Graz.", "Day 1: castle hill. Day 2: market.", message, "Gladly.")
    assert [f for f in faults(conversation, "hindsight") if f[0] == 1] == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("Make it Friday, please.", "You changed nothing."),
        ("改成周五吧。", "还是旧的日期啊，你没改。"),
    ],
)
def test_not_changed_is_a_complaint_only_where_a_change_was_asked_for(change, complaint):
    def after(request):
        return talk(
            "The club meets on Monday, write a note.",
            "Noted: Monday.",
            request,
            "Very well.",
            complaint,
            "Oh.",
        )

    assert (2, "not_changed", "ignored_correction") in faults(after(change), "hindsight")
    assert faults(after("Where is the club?"), "hindsight") == []


def test_doubt_weighs_more_where_tools_were_used():
    without = talk(
        "Book a table.", "Your table is booked.", "The restaurant says there is no booking.", "Oh."
    )
    with_tool = talk(
        "Book a table.",
        ("book", '{"status": "ok"}'),
        "Your table is booked.",
        "The restaurant says there is no booking.",
        "Oh.",
    )
    strengths = [
        max(s.strength for s in find_signals(read_dialogue(c)) if s.name == "doubted")
        for c in (without, with_tool)
    ]
    assert strengths[0] < strengths[1]
    assert certainty(find_signals(read_dialogue(with_tool))) < 0.7


def test_a_sold_out_item_in_a_list_is_no_failed_search():
    listed = (
        '{"name": "Lamp", "variants": {"1": {"available": false}, "2": {"available": true, "price": 30}}}'
    )
    conversation = talk("Show me the lamp.", ("get_product", listed), "Here is the lamp, it is 30 dollars.")
    assert faults(conversation) == []


def test_a_batch_of_which_one_failed_must_be_told():
    conversation = talk(
        "Renew both books.",
        ("renew", '{"status": "renewed"}'),
        ("renew", '{"status": "error", "message": "reserved"}'),
        "Both books have been renewed.",
    )
    assert (1, "ignores_tool_error", "tool_error") in faults(conversation)


def test_an_admission_speaks_of_the_turn_before():
    conversation = talk(
        "When does it open?", "It opens at nine.", "My plan says ten.", "I was wrong, it opens at ten."
    )
    assert [s.turn for s in find_concessions(read_dialogue(conversation))] == [1]


def test_quotes_are_verbatim_and_short():
    for conversation, _ in FAULTY.values():
        texts = "\n".join(m.text for m in conversation.messages)
        for signal in find_signals(read_dialogue(conversation)):
            assert signal.quote in texts
            assert len(signal.quote) <= 160
            assert 0 <= signal.strength <= 1


DEEP = "[" * 980 + "]" * 980


@pytest.mark.parametrize("text", [f'{{"n": {"9" * 5000}}}', f'{{"status": {DEEP}}}', "[" * 3000 + "]" * 3000])
def test_tool_results_and_arguments_that_no_reader_likes(text):
    call = ToolCall("c1", "find", text)
    said = [
        Message("user", "Find a table."),
        Message("assistant", None, (call,)),
        Message("tool", text, tool_call_id="c1"),
        Message("assistant", "I found one at eight."),
    ]
    assert isinstance(faults(Conversation("c", tuple(said * 2))), list | set | tuple | dict)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("I'm really sorry, but I have lost the number.", "doubted"),
        ("This is really important to me, thank you.", "doubted"),
        ("Thanks, I will write again if I need anything else.", "wants_other"),
    ],
)
def test_a_polite_answer_is_no_objection(words, name):
    c = talk("Where is my parcel?", "What is its number?", words, "I see.")
    assert name not in {s.name for s in find_signals(read_dialogue(c))}
