"""What a judge is said not to notice: judges that see one fault, all, none, and one that likes length."""

import asyncio
from dataclasses import replace

import pytest

from dialogauge.core import BudgetSpent, Conversation, Judged, JudgeFailure, Judgement, Message, Score, Target
from dialogauge.core.json_keys import as_json
from dialogauge.core.judgement import row_json
from dialogauge.core.protocols import PlainDimension, Request
from dialogauge.report import to_text
from dialogauge.studies.planted.blind_spots import BlindSpots, blind_spots, draw_plants, judge_plants
from dialogauge.studies.planted.faults import FAULTS
from dialogauge.studies.planted.page import planted_callout, planted_section, planted_sentences


def log(n, turns=3, **more):
    def lines(i):
        for t in range(turns):
            yield Message("user", f"How many of number {i} are there in the box {t}, please?")
            yield Message(
                "assistant", f"There are {i + 10} red ones and {t + 3} blue ones in box {t}, and some more."
            )

    return [Conversation(f"c{i:02}", tuple(lines(i)), **more) for i in range(n)]


class Stub:
    """Scores each turn by a function of its reply; names findings where one is given."""

    name, reads, together = "stub", frozenset(), True
    digest = "stub"

    def __init__(self, score=lambda text: 3.0, finding=None, level="turn"):
        self.score, self.finding, self.level = score, finding, level
        self.dimensions = (PlainDimension("helpfulness", level),)
        self.asked = 0

    def describe(self):
        return {}

    async def judge(self, request: Request):
        self.asked += 1
        c = request.conversation
        if self.level == "conversation":
            score = sum(self.score(t.reply_text) for t in c.replied_turns) / len(c.replied_turns)
            return (Judged(Target(c.id, "conversation"), Judgement({"helpfulness": Score(score)})),)
        return tuple(Judged(Target(c.id, "turn", t.number), self.outcome(t)) for t in c.replied_turns)

    def outcome(self, turn):
        details = {}
        if self.finding is not None:
            details["signals"] = [{"name": "bad"}] if self.finding(turn) else []
        return Judgement({"helpfulness": Score(self.score(turn.reply_text))}, details=details)


def seen(judge, conversations, size=10):
    judged = [
        (c, [row_json(c, j, repeat=1, judge="stub") for j in asyncio.run(judge.judge(Request(c)))])
        for c in conversations
    ]
    plants = draw_plants(judged, size=size)
    return blind_spots(plants, asyncio.run(judge_plants(judge, plants)), judge, size=size)


def fault(spots, name):
    return next(f for f in spots.faults if f.name == name)


def test_a_judge_that_finds_empty_replies_alone_notices_no_other_fault() -> None:
    spots = seen(Stub(finding=lambda turn: not turn.reply_text), log(12))
    assert spots.by == "findings"
    assert [f.name for f in spots.of("noticed")] == ["empty"]
    assert {f.name for f in spots.of("not noticed")} == set(FAULTS) - {"empty"}
    empty = fault(spots, "empty")
    assert (empty.share.value, empty.share.n) == (1.0, 10)
    assert empty.share.low > 0.5
    assert fault(spots, "digits").share.value == 0
    assert fault(spots, "digits").share.high < 0.5


def test_turns_with_a_finding_are_left_alone() -> None:
    spots = seen(Stub(finding=lambda turn: turn.number == 1 or not turn.reply_text), log(12, turns=1))
    assert {f.answer for f in spots.faults} == {"not tried"}
    assert spots.planted == 0


def test_without_findings_a_fault_is_noticed_where_scores_fall() -> None:
    spots = seen(Stub(lambda text: 4.0 if "please?" not in text and text else 2.0), log(30), size=25)
    assert spots.by == "scores"
    assert fault(spots, "echo").answer == "noticed"
    assert fault(spots, "digits").answer == "not noticed"
    (moved,) = fault(spots, "echo").moved
    assert (moved.change.value, moved.answer) == (-2.0, "worse")


def test_a_judge_of_whole_conversations_is_asked_for_them() -> None:
    spots = seen(Stub(lambda text: 4.0 if text else 1.0, level="conversation"), log(30), size=25)
    assert fault(spots, "empty").answer == "noticed"
    assert fault(spots, "empty").moved[0].change.value == pytest.approx(-1.0)


def test_a_judge_that_likes_length_rewards_padding() -> None:
    spots = seen(Stub(lambda text: 1 + min(len(text), 400) / 100), log(12))
    assert {f.name for f, _ in spots.rewarded} >= {"repeated", "headings"}
    assert fault(spots, "repeated").share.value == -1
    (line,) = [s for s in planted_sentences(spots) if s.startswith("It rewards")]
    assert "half of the reply said again (helpfulness +" in line


def test_lower_may_be_better() -> None:
    judge = Stub(lambda text: 1 + min(len(text), 400) / 100)
    (one,) = judge.dimensions
    judge.dimensions = (replace(one, scale=replace(one.scale, higher_is_better=False)),)
    assert fault(seen(judge, log(30), size=25), "repeated").answer == "noticed"


def test_where_there_is_one_conversation_nothing_is_swapped_and_nothing_sure() -> None:
    spots = seen(Stub(finding=lambda turn: not turn.reply_text), log(1))
    assert fault(spots, "swapped").answer == "not tried"
    assert fault(spots, "empty").answer == "cannot tell"
    text = " ".join(planted_sentences(spots))
    assert "It may miss: an empty reply 100 %" in text
    assert "Not tried, because no reply here allowed it: the reply of another conversation." in text


def test_what_fails_is_counted_and_no_share_of_it() -> None:
    class Fails(Stub):
        def outcome(self, turn):
            return super().outcome(turn) if turn.reply_text else JudgeFailure("timeout", "late")

    spots = seen(Fails(), log(12))
    empty = fault(spots, "empty")
    failed = "Not known, because the judge failed on every such reply: an empty reply."
    assert failed in planted_sentences(spots)
    assert (empty.failed, empty.share.n, empty.answer) == (10, 0, "not tried")


def test_a_cap_leaves_the_rest_unjudged_and_says_so() -> None:
    class Capped(Stub):
        async def judge(self, request):
            if self.asked >= 12 + 25:
                raise BudgetSpent("spent")
            return await super().judge(request)

    spots = seen(Capped(), log(12))
    assert spots.judged == 25
    assert f"Only 25 of {spots.planted} planted replies were judged." in planted_sentences(spots)


def test_the_sample_is_the_same_in_any_order_and_another_by_another_seed() -> None:
    judge = Stub()
    judged = [
        (c, [row_json(c, j, repeat=1, judge="stub") for j in asyncio.run(judge.judge(Request(c)))])
        for c in log(30)
    ]
    one, other = draw_plants(judged, size=5), draw_plants(judged[::-1], size=5)
    assert [(p.fault, p.turn, p.conversation) for p in one] == [
        (p.fault, p.turn, p.conversation) for p in other
    ]
    assert one != draw_plants(judged, size=5, seed=1)
    assert all(len({p.conversation.id for p in one if p.fault == name}) == 5 for name in FAULTS)


def test_it_is_read_back_as_it_was_written_and_says_what_was_not_tried() -> None:
    spots = seen(Stub(finding=lambda turn: not turn.reply_text), log(12))
    assert BlindSpots.from_json(as_json(spots)) == spots
    for text in (to_text([planted_section(spots)]), to_text([planted_callout(spots)])):
        shown = " ".join(text.split())
        assert "This judge would not notice: " in shown
        assert "wrong figures" in shown
        assert "It notices: an empty reply 100 % [69, 100]." in shown
        assert "Faults of other kinds were not tried." in shown
