"""Planted candidates: replies that nobody should like better than the original, one of each kind an item.

They test the evaluator, not a model. One that likes the original better once polite phrases stand around it,
or likes a refusal or general phrases better than an answer, can be gamed, and so can its leaderboard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import digest, digest_text
from dialogauge.core.protocols import AgentReply, AgentTurn, Reply
from dialogauge.studies.replay.items import Stage
from dialogauge.text import detect_language

PLANTED: Final = "planted"
"""The kind of a candidate that is."""
_VERSION: Final = 1
_QUOTED: Final = 80
"""Characters of the request that a refusal quotes."""

_OPENINGS: Final = {
    "en": (
        "What a wonderful question! I'm truly delighted to assist you with this today.",
        "Thank you so much for reaching out. It is my pleasure to be of service.",
        "Absolutely, I completely understand, and I'm more than happy to support you.",
    ),
    "zh": (
        "您的问题提得非常好！我很荣幸能够为您服务。",
        "十分感谢您的信任与咨询，我会尽心尽力地协助您。",
        "好的，我完全理解您的想法，非常乐意帮忙。",
    ),
}
_CLOSINGS: Final = {
    "en": (
        "I sincerely hope you find this useful. Please don't hesitate to ask me anything else at any time!",
        "Wishing you all the very best. I am always here whenever you need me.",
        "Your satisfaction means a great deal to me. Have a truly wonderful day!",
    ),
    "zh": (
        "衷心希望这些内容能够帮到您，如有任何疑问，请随时与我联系！",
        "祝您一切顺利，生活愉快！我会一直在这里，随时为您效劳。",
        "您的满意是我最大的动力，期待继续为您提供支持！",
    ),
}
_REFUSALS: Final = {
    "en": (
        "I'm sorry, but I'm not able to help with “{}”.",
        "Unfortunately, “{}” is something I cannot assist with.",
        "You asked: “{}”. I apologise, but that is beyond what I can do.",
    ),
    "zh": (
        "很抱歉，关于“{}”，我没有办法提供帮助。",
        "非常遗憾，“{}”这个要求我无法满足。",
        "您问的是“{}”。对不起，这超出了我的能力范围。",
    ),
}
_FILLERS: Final = {
    "en": (
        "This is a topic with many sides, and a lot depends on the circumstances. It is important to weigh "
        "the different factors with care, to plan ahead and to stay flexible. With the right approach, good "
        "results are certainly possible.",
        "There are several things to keep in mind here. Every situation is different, so it helps to "
        "consider your own needs and priorities, compare the options and choose what suits you best.",
        "In general, it pays to take a step back and look at the whole picture. Think about what matters "
        "most, gather what you need, and move forward one step at a time.",
    ),
    "zh": (
        "这件事涉及很多方面，要根据具体情况来看。重要的是全面考虑各种因素，提前做好规划，并保持灵活。"
        "只要方法得当，就一定能取得不错的效果。",
        "这里有几点值得注意。每个人的情况都不一样，建议结合自身的需求和重点，比较不同的选择，"
        "再挑选最合适的方案。",
        "总的来说，不妨先从整体上看一看，想清楚什么最重要，把需要的东西准备好，然后一步一步地去做。",
    ),
}


def _polite(reply: Reply, language: str, way: int) -> str:
    return "\n\n".join((_OPENINGS[language][way], reply.text, _CLOSINGS[language][way]))


def _refusal(reply: Reply, language: str, way: int) -> str:
    request = " ".join(reply.request.split())
    return _REFUSALS[language][way].format(request[:_QUOTED])


def _filler(reply: Reply, language: str, way: int) -> str:
    del reply
    return _FILLERS[language][way]


MAKERS: Final[Mapping[str, Callable[[Reply, str, int], str]]] = {
    "planted: polite phrases": _polite,
    "planted: refusal": _refusal,
    "planted: filler": _filler,
}
"""By name: the original with polite phrases around it, a refusal that quotes the request, general phrases."""


def planted_replies(name: str, stage: Stage) -> dict[str, AgentTurn]:
    """Return what a planted candidate says to each item, in English or, where Chinese is spoken, in Chinese.

    One of three wordings is taken, by the item's id.
    """
    turns: dict[str, AgentTurn] = {}
    for item in stage.items:
        reply = stage.originals[item.id]
        language = "zh" if detect_language(reply.request, reply.text) == "zh" else "en"
        way = int(digest_text(item.id)[:8], 16) % len(_OPENINGS[language])
        turns[item.id] = AgentTurn(AgentReply(MAKERS[name](reply, language, way)))
    return turns


def about_planted(turns: Mapping[str, AgentTurn]) -> dict[str, Any]:
    """Say what a planted candidate is: its digest changes with what it says."""
    texts: Sequence[str] = [t.outcome.text for t in turns.values() if isinstance(t.outcome, AgentReply)]
    return {"digest": digest([PLANTED, _VERSION, *texts]), "kind": PLANTED, "context": None}
