"""Made-up conversations and judgements, for the tests of summaries and pages. All text is our own."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

from dialogauge.core import (
    NOT_APPLICABLE,
    ONE_TO_FIVE,
    Conversation,
    Evidence,
    Judged,
    JudgeFailure,
    Judgement,
    Message,
    Scale,
    Target,
    ToolCall,
    Usage,
    as_scores,
)
from dialogauge.core.judgement import row_json
from dialogauge.judges.card import CONVERSATION_DIMENSIONS, TURN_DIMENSIONS, card_verdict
from dialogauge.studies.evidence import DimensionEvidence, RunEvidence


def checked(*names):
    """Say of dimensions that they are checked, and of the verdict."""
    evidence = DimensionEvidence(checked=True, by="the ratings of this run")
    return RunEvidence(dimensions=dict.fromkeys((*names, "verdict"), evidence))


CARD = (
    *(SimpleNamespace(name=n, level="turn", scale=ONE_TO_FIVE) for n in TURN_DIMENSIONS),
    *(SimpleNamespace(name=n, level="conversation", scale=ONE_TO_FIVE) for n in CONVERSATION_DIMENSIONS),
)


def dimension(name, level="turn", scale=ONE_TO_FIVE):
    return SimpleNamespace(name=name, level=level, scale=scale)


def row(conversation_id="c1", level="turn", turn=None, **fields):
    """One row as it stands in judgements.jsonl; unnamed fields are empty."""
    base = {
        "conversation_id": conversation_id, "user_id": None, "scenario": None, "candidate": None,
        "level": level, "turn": turn, "repeat": 1, "scores": None, "whole": {}, "raw": {}, "overall": None,
        "failure": None, "verdict": None,
        "verdict_basis": None, "weakest_turn": None, "issues": [], "evidence": [], "rationale": None,
        "details": {}, "judge": "scripted", "prompt_digest": None, "usage": None,
    }  # fmt: skip
    return {**base, **fields}


@dataclass(frozen=True)
class Made:
    conversations: list[Conversation]
    rows: list[dict]

    def fetch(self, ids) -> Iterator[Conversation]:
        wanted = set(ids)
        return (c for c in self.conversations if c.id in wanted)


EN = [
    ("I booked a table for six on Friday, but we are only four now. Can you change it?",
     "Of course. I have changed your Friday booking from six to four people; the time stays 19:30.",
     "Which restaurant would you like to book? We have many options for groups of any size."),
    ("Could we sit outside? One of us brings a dog, a rather large and friendly one.",
     "The terrace is free at 19:30 and dogs are welcome there. I have moved you to table 12 outside.",
     "Restaurants often have a terrace. A terrace is an outdoor area where guests can sit."),
    ("Two of us eat no meat. Is there something proper for them on the menu?",
     "Yes: the mushroom pie, the aubergine with walnuts, and on Fridays a barley risotto.",
     "The steak is our most popular dish and comes with three sauces."),
    ("What will it cost us all together, roughly, with one drink each?",
     "With mains at 16 to 21 and a drink at about 5, count on 90 to 105 for the four of you.",
     "Prices vary."),
    ("No, I said four people, not six. Please look again.",
     "You are right, sorry: four people. The booking shows four, and the terrace table seats four.",
     "Your booking for six people is confirmed."),
    ("Thanks. Please send me a short confirmation by message.",
     "Sent: Friday 19:30, terrace, table 12, four people and a dog.",
     "As an assistant I am unable to help with that request."),
]  # fmt: skip
ZH = [
    ("我周五想去杭州玩两天,预算一千五,能帮我安排一下吗?",
     "可以。周五上午坐高铁过去,住西湖边的青年旅舍,两天交通、住宿、吃饭合计大约一千三。",
     "杭州是一座历史悠久的城市,风景优美,值得一去。"),
    ("我膝盖不好,不能爬太多台阶。",
     "那就不去灵隐后山,改成坐船游湖和逛河坊街,全程几乎没有台阶。",
     "推荐您清晨登宝石山看日出,上山台阶约六百级。"),
    ("晚上有没有安静一点、适合看书的地方?",
     "北山街有两家开到十点的书店,都有靠窗的座位,离住处走路十分钟。",
     "您可以去酒吧一条街。"),
    ("对了,我对海鲜过敏,吃饭的地方也请避开。",
     "记下了:不吃海鲜。两顿晚饭改成面馆和素菜馆,都提前问过,没有海鲜汤底。",
     "晚饭推荐您品尝当地有名的虾爆鳝面。"),
    ("不对,我刚才说的是周五出发,不是周六。",
     "抱歉,是周五。车票已改为周五上午八点二十分的那一班。",
     "好的,周六出发的车票已经为您准备好。"),
    ("好,最后把行程整理成一小段发给我。",
     "周五上午出发,下午游湖,晚上北山街看书;周六逛河坊街,傍晚返程。",
     "抱歉,我无法完成这个请求。"),
]  # fmt: skip
SCENARIOS = ("booking", "travel planning", "support", "coding")
ISSUES = ("asks again for what the user already gave", "does not answer the question",
          "contradicts an earlier turn", "ignores the correction")  # fmt: skip
NOTES = ("The assistant loses the thread once and recovers.", "每一轮都承接上文,目标达成。",
         "The user has to repeat the request, which is then only partly met.")  # fmt: skip


def made_run(n=24, *, seed=1, turns=6, failing=0.04, repeats=1) -> Made:
    """Make `n` conversations with judgements of the card by a pretended model judge."""
    rng = random.Random(seed)
    conversations, rows = [], []
    for number in range(n):
        faulty = {t for t in range(1, turns + 1) if rng.random() < rng.choice((0.0, 0.1, 0.35))}
        conversation = _conversation(number, turns, faulty)
        conversations.append(conversation)
        for repeat in range(1, repeats + 1):
            judged = _judge(conversation, faulty, rng, failing)
            rows.extend(row_json(conversation, j, repeat=repeat, judge="card@scripted") for j in judged)
    return Made(conversations, rows)


def _conversation(number, turns, faulty):
    texts, language = (ZH, "zh") if number % 3 == 2 else (EN, "en")
    messages = [Message("system", "You help guests of a small town.")]
    for t in range(1, turns + 1):
        user, good, bad = texts[(t - 1) % len(texts)]
        messages.append(Message("user", user))
        if t == 2 and number % 5 == 0:
            messages.append(Message("assistant", None, (ToolCall("k1", "find_table", '{"people": 4}'),)))
            messages.append(Message("tool", '{"table": 12, "outside": true}', tool_call_id="k1"))
        messages.append(Message("assistant", bad if t in faulty else good))
    return Conversation(
        id=f"{language}-{number:05d}", messages=tuple(messages), user_id=f"u{number % 40}",
        scenario=SCENARIOS[number % len(SCENARIOS)], candidate=None, language=language,
        context="A guest changes a booking; the assistant keeps track and confirms.",
    )  # fmt: skip


def _judge(conversation, faulty, rng, failing):
    judged, turn_scores = [], []
    for turn in conversation.replied_turns:
        target = Target(conversation.id, "turn", turn.number)
        if rng.random() < failing:
            turn_scores.append(None)
            kind = rng.choice(("invalid_json", "timeout", "timeout", "truncated"))
            judged.append(Judged(target, JudgeFailure(kind, "no usable reply after one re-ask")))
            continue
        bad = turn.number in faulty
        scores = {
            "context_use": rng.choice((1, 2, 2, 3)) if bad else rng.choice((4, 5, 5)),
            "helpfulness": rng.choice((1, 2, 3))
            if bad
            else rng.choice((3, 4, 5, 5) if rng.random() < 0.2 else (4, 5, 5)),
            "safety": 4 if bad and rng.random() < 0.05 else 5,
        }
        turn_scores.append(scores)
        evidence = (Evidence(turn.number, turn.reply_text[:48], "context_use"),) if bad else ()
        issues = (rng.choice(ISSUES),) if bad else ()
        details = {"window_difference": {"helpfulness": rng.choice((0, 0, 1))}} if turn.number == 4 else {}
        judged.append(
            Judged(target, Judgement(as_scores(scores), issues=issues, evidence=evidence, details=details))
        )
    judged.append(_conclude(conversation, faulty, turn_scores, rng))
    return judged


def _conclude(conversation, faulty, turn_scores, rng):
    target = Target(conversation.id, "conversation")
    usage = Usage(
        2, 1 if rng.random() < 0.2 else 0, 1800 + rng.randrange(400), 260 + rng.randrange(90), 0.0021
    )
    if None in turn_scores and rng.random() < 0.5:
        return Judged(
            target,
            JudgeFailure("invalid_schema", "6 turns asked, 5 received"),
            usage,
            role_usage={"judge": usage},
        )
    drop = min(len(faulty), 3)
    scores = {
        "coherence": max(1, 5 - drop + rng.choice((0, 0, -1))),
        "task_completion": max(1, 5 - drop),
        "repair_handling": NOT_APPLICABLE
        if 5 not in faulty and rng.random() < 0.6
        else (2 if 5 in faulty else 5),
    }
    verdict, basis = card_verdict(turn_scores, scores)
    own = verdict if rng.random() < 0.9 else "good"
    return Judged(
        target,
        Judgement(
            as_scores(scores), verdict, basis, min(faulty) if faulty else None, rationale=rng.choice(NOTES),
            details={"model_verdict": own, "language": conversation.language, "reasked": rng.random() < 0.1},
        ),
        usage,
        role_usage={"judge": usage},
    )  # fmt: skip


FRACTIONS = Scale(0, 1, integer=False)
