"""Signs of how a character is played; all dialogues are our own."""

import pytest

from dialogauge.signals import find_signals, read_dialogue, read_roleplay, roleplay_signs
from talks import talk

KEEPER = "Tomas keeps a lighthouse on Skerry. He is cold and speaks few words. He often says 'mind the step'."
KEEPER_ZH = "老陈是守塔人，性格冷淡，话少，口头禅是“小心台阶”。"


def signs(*lines, turns=None):
    conversation = talk(*lines)
    dialogue = read_dialogue(conversation)
    numbers = turns or [t.number for t in conversation.replied_turns]
    return read_roleplay(dialogue, find_signals(dialogue, "foresight"), numbers)


def last(*lines):
    """The signs of the last reply."""
    return signs(*lines, turns=[sum(line.startswith("u:") for line in lines)])


def test_every_sign_has_a_value_of_any_reply():
    for lines in (("u: Hi.", "a: Hello."), ("u: ", "a: "), ("u: 你好", "a: （点头）"), ("u: Why?", "a: ?")):
        assert tuple(signs(*lines)) == roleplay_signs()


def test_there_are_none_without_a_reply():
    assert signs("u: Hi.", turns=[1]) is None
    assert signs("u: Hi.", "a: Hello.", turns=[7]) is None


@pytest.mark.parametrize(
    ("sign", "with_it", "without"),
    [
        ("question", "And you?", "And you."),
        ("proposes", "Let's row out.", "We rowed out."),
        ("closes", "Good night.", "The night is good."),
        ("thanks", "Thank you, lad.", "Aye, lad."),
        ("interjections", "Hmph. Rain...", "Rain."),
        ("negations", "No, never.", "Yes, always."),
        ("hedges", "Perhaps at dusk.", "At dusk."),
        ("uplift", "Together we embrace the future!", "The lamp needs oil!"),
        ("assistant_talk", "As an AI, I can't row.", "I can't row."),
        ("strange_signs", "Aye_{row} <end>", "Aye, row."),
        ("first_person_first", "I row.", "He rows."),
        ("speaker_label", "Tomas: Aye.", "Tomas, aye."),
        ("share_of_directions", "(lights the lamp) Aye.", "Aye."),
        ("catchphrase", "Mind the step, lad.", "Watch your feet, lad."),
        ("in_style", "Aye.", "Haha! What a wonderful, funny question, wink wink!"),
        ("evades", "Why do you ask?", "Forty years."),
        ("grounded", "The lighthouse on Skerry.", "A barn in Kent."),
        ("new_names", "Ask old Perkins.", "Ask old Tomas."),
        ("silent", "(nods)", "(nods) Aye, I do."),
        ("only_questions", "What is it to you?", "What is it to you? Skerry."),
        ("echoes_user", "Where do you live, Tomas?", "Where I always lived."),
    ],
)
def test_a_sign_is_seen(sign, with_it, without):
    before = (f"s: {KEEPER}", "u: Where do you live, Tomas?")
    assert last(*before, f"a: {with_it}")[sign] > last(*before, f"a: {without}")[sign]


@pytest.mark.parametrize(
    ("sign", "with_it", "without"),
    [
        ("question", "你呢？", "你呢。"),
        ("assistant_talk", "作为一个AI，我不能划船。", "我不能划船。"),
        ("uplift", "让我们一起拥抱未来！", "灯要加油。"),
        ("thanks", "谢谢你。", "嗯。"),
        ("catchphrase", "小心台阶。", "看路。"),
        ("share_of_directions", "（点灯）好。", "好。"),
        ("in_style", "嗯。", "哈哈！真好玩～（眨眼）"),
        ("speaker_label", "老陈：进来。", "老陈，进来。"),
        ("evades", "你问这个干什么", "四十年。"),
    ],
)
def test_a_sign_is_seen_in_chinese(sign, with_it, without):
    before = (f"s: {KEEPER_ZH}", "u: 你在这里住了多久？")
    assert last(*before, f"a: {with_it}")[sign] > last(*before, f"a: {without}")[sign]


def test_a_question_counts_by_whether_the_user_asked():
    asked, told = (last(f"u: {user}", "a: And you?") for user in ("How are you?", "I am well."))
    assert (asked["question_for_question"], asked["question_unasked"]) == (1, 0)
    assert (told["question_for_question"], told["question_unasked"]) == (0, 1)


def test_what_is_said_again_is_seen_and_what_is_of_long_ago_is_a_callback():
    before = (
        "u: My boat is called Heron.",
        "a: A fine boat.",
        "u: Nice lamp.",
        "a: Needs oil.",
        "u: Storm soon?",
    )
    assert (
        last(*before, "a: Take the Heron in.")["callback"] > last(*before, "a: Take cover.")["callback"] == 0
    )
    again = last(*before, "a: Needs oil, the lamp needs oil.")
    assert again["repeats"] == 0  # no run of three words
    assert last(*before[:4], "u: And now?", "a: A fine boat.")["repeats"] == 1
    assert last(*before[:4], "u: And now?", "a: Sinks fast.")["same_shape"] == 1


def test_style_drifts_when_the_last_third_sounds_otherwise():
    replies = ["Aye.", "Aye, lad."] * 2
    steady = [line for r in (*replies, *replies[:2]) for line in ("u: So?", f"a: {r}")]
    changed = [line for r in (*replies, "Wow!! Haha!", "Oh, hehe!! Wow!") for line in ("u: So?", f"a: {r}")]
    assert signs(*changed)["drift"] > signs(*steady)["drift"]
    assert signs(*changed[:10])["drift"] == 0  # five replies have no thirds


def test_only_the_turns_that_are_judged_count_and_the_others_are_history():
    lines = ("u: Hi.", "a: Wow! Haha!", "u: Where?", "a: Skerry.")
    assert signs(*lines, turns=[2])["exclamations"] == 0
    assert signs(*lines)["exclamations"] > 0


def test_no_sign_is_of_the_character_alone():
    blank, rich = (last(f"s: {text}", "u: Hi.", "a: ") for text in ("x", KEEPER))
    same = {name for name in roleplay_signs() if blank[name] == rich[name]}
    assert set(roleplay_signs()) - same <= {"in_style"}  # an empty reply is one of few words
