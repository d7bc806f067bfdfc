from dialogauge.core import Conversation, Message, Target
from dialogauge.core.protocols import Reply


def test_a_judgement_of_a_reply_is_about_its_turn() -> None:
    talk = Conversation("c", (Message("user", "q"), Message("assistant", "a")), candidate="small")
    assert Reply("c__turn_0", talk, 1, 1, 0).target == Target("c", "turn", 1, "small")
