"""Planted faults: what is put in place of a reply to see whether a judge notices it, or likes it better.

Each is a pure function of a reply and of what stands around it. All words are ours, in English and Chinese.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dialogauge.core import Conversation, Message
from dialogauge.core.conversation import Turn
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.text import detect_language

_QUOTED: Final = 80
"""Characters of the request that a refusal quotes."""
_HALVED: Final = 20
"""Characters of the shortest reply that can be cut in half."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A reply that a fault is planted in the place of."""

    request: str
    """What the user said before it."""
    reply: str
    earlier: str = ""
    """The reply of the turn before; empty where there is none."""
    elsewhere: Callable[[], Sequence[str]] = tuple
    """Returns replies of other conversations, those at the same turn where there are any."""

    @property
    def language(self) -> str:
        """`zh` or `en`: the language of the words that are put in its place."""
        return "zh" if detect_language(self.request, self.reply) == "zh" else "en"


Maker = Callable[[Spot, random.Random], str | None]
"""Returns what is said in place of the reply; None where the fault does not apply to it."""

_Wordings = Mapping[str, Sequence[str]]

_ECHOES: Final[_Wordings] = {
    "en": (
        "You said: “{}”. I understand, and I am glad that you told me. Let me know how I can help further.",
        "Thank you for your message. So this is about the following: {} I have taken good note of all of it.",
        "I see. {} That is a very good point, and I will gladly help you with exactly that.",
    ),
    "zh": (
        "您说的是：“{}”。我明白您的意思了，如果还有需要，请随时告诉我。",
        "感谢您的留言。您提到：{} 这些内容我都已经记下了。",
        "好的，我了解了。{} 这一点非常重要，我很乐意就此为您提供帮助。",
    ),
}
_FILLERS: Final[_Wordings] = {
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
_REFUSALS: Final[_Wordings] = {
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
_OPENINGS: Final[_Wordings] = {
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
_CLOSINGS: Final[_Wordings] = {
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
_HEADINGS: Final[_Wordings] = {
    "en": (
        "## Overview\n\n## Details\n\n{}\n\n## Summary\n\n## Next steps",
        "# Introduction\n\n# Main part\n\n{}\n\n# Conclusion\n\n# Further information",
        "**Background**\n\n**Answer**\n\n{}\n\n**Notes**\n\n**Key points**",
    ),
    "zh": (
        "## 概述\n\n## 详细说明\n\n{}\n\n## 总结\n\n## 后续步骤",
        "# 引言\n\n# 正文\n\n{}\n\n# 结语\n\n# 更多信息",
        "**背景**\n\n**回答**\n\n{}\n\n**备注**\n\n**要点**",
    ),
}
_PLACEHOLDERS: Final[_Wordings] = {
    "en": ("[insert reply here]", "TODO: write the answer.", "{{ answer }}"),
    "zh": ("[此处填写回复]", "待补充：回答内容。", "{{ answer }}"),
}
_ELSEWHERE: Final = (
    "Je vous remercie de votre message. Nous avons bien pris connaissance de la situation. Une réponse plus "
    "détaillée sera donnée dans les prochains jours. Il suffit pour cela de rester joignable. À bientôt.",
    "Muchas gracias por escribirnos. Hemos recibido su consulta y la estamos revisando. Dentro de poco le "
    "daremos más información. Mientras tanto no hace falta que haga nada. Hasta pronto.",
    "Vielen Dank für Ihre Nachricht. Wir haben uns die Sache angesehen. Sie bekommen bald eine genauere "
    "Antwort von uns. Bis dahin müssen Sie nichts weiter tun. Auf Wiedersehen.",
    "Спасибо за ваше сообщение. Мы внимательно его прочитали. Подробный ответ придёт немного позже. Пока "
    "ничего делать не нужно. До скорой встречи.",
    "Obrigado pela sua mensagem. Já estamos tratando do assunto. Em breve daremos uma resposta completa. "
    "Até lá não é preciso fazer nada. Até logo.",
)
_SENTENCE: Final = lazy_pattern(r"[^.]+\.\s*")


def _worded(wordings: _Wordings, spot: Spot, rng: random.Random) -> str:
    return rng.choice(wordings[spot.language])


def _echo(spot: Spot, rng: random.Random) -> str | None:
    request = " ".join(spot.request.split())
    return _worded(_ECHOES, spot, rng).replace("{}", request) if request else None


def _digits(spot: Spot, rng: random.Random) -> str | None:
    shift = rng.randint(1, 9)  # the same everywhere, so that the reply does not contradict itself
    return re.sub(r"[0-9]", lambda m: str((int(m[0]) + shift) % 10), spot.reply)


def _cut(spot: Spot, rng: random.Random) -> str | None:
    del rng
    if len(spot.reply) < _HALVED:
        return None
    half, stops = spot.reply[: len(spot.reply) // 2], r"[.!?:;。！？：；]+\s*$"
    if spot.language == "zh":
        return re.sub(rf".{stops}", "", half)
    return re.sub(rf"\s*\S+?{stops}", "", re.sub(r"\s\S*$", "", half)).rstrip()


def _swapped(spot: Spot, rng: random.Random) -> str | None:
    texts = [text for text in spot.elsewhere() if text.strip()]
    return rng.choice(texts) if texts else None


def _refusal(spot: Spot, rng: random.Random) -> str:
    request = " ".join(spot.request.split())
    return _worded(_REFUSALS, spot, rng).replace("{}", request[:_QUOTED])


def _other_language(spot: Spot, rng: random.Random) -> str:
    """Say so many sentences that the reply is as long as before, or all of them."""
    text = ""
    for sentence in _SENTENCE.findall(rng.choice(_ELSEWHERE)):
        if text and len(text) >= len(spot.reply):
            break
        text += sentence
    return text.strip()


def _half_again(spot: Spot, rng: random.Random) -> str | None:
    half = _cut(spot, rng)
    return None if half is None else f"{spot.reply}\n\n{half}"


def _headings(spot: Spot, rng: random.Random) -> str:
    return _worded(_HEADINGS, spot, rng).replace("{}", spot.reply)


def _padding(spot: Spot, rng: random.Random) -> str:
    return _worded(_HEADINGS, spot, rng).replace("{}", _half_again(spot, rng) or spot.reply)


def _polite(spot: Spot, rng: random.Random) -> str:
    way = rng.randrange(len(_OPENINGS["en"]))
    return "\n\n".join((_OPENINGS[spot.language][way], spot.reply, _CLOSINGS[spot.language][way]))


def _scrambled(spot: Spot, rng: random.Random) -> str | None:
    parts = list("".join(spot.reply.split())) if spot.language == "zh" else spot.reply.split()
    rng.shuffle(parts)
    return ("" if spot.language == "zh" else " ").join(parts)


_NEGATED: Final = {
    "en": lazy_pattern(
        r"\b(is|are|was|were|could|would|should|does|did|has|have|can|will|must|may)(n?['’]t| ?not)?\b",
        re.IGNORECASE,
    ),
    "zh": lazy_pattern(r"(不|没)?(可以|能够|需要|是|有|会)"),
}


def _negated(spot: Spot, rng: random.Random) -> str | None:
    del rng

    def flip(match: re.Match[str]) -> str:
        if spot.language == "zh":
            return match[2] if match[1] else f"{'没' if match[2] == '有' else '不'}{match[2]}"
        return match[1] if match[2] else f"{match[1]} not"

    return _NEGATED[spot.language].sub(flip, spot.reply)


class Fault(Value):
    """A way in which a reply can be bad."""

    name: str
    words: str
    """What sentences call it."""
    make: Maker


FAULTS: Final = {
    fault.name: fault
    for fault in (
        Fault("echo", "an echo of the request", _echo),
        Fault("digits", "wrong figures", _digits),
        Fault("cut", "a reply cut in half", _cut),
        Fault("swapped", "the reply of another conversation", _swapped),
        Fault("filler", "polite filler", lambda spot, rng: _worded(_FILLERS, spot, rng)),
        Fault("empty", "an empty reply", lambda spot, rng: ""),
        Fault("other_language", "another language", _other_language),
        Fault("refusal", "a refusal", _refusal),
        Fault("repeated", "half of the reply said again", _half_again),
        Fault("headings", "empty headings", _headings),
        Fault("earlier", "the reply before said again", lambda spot, rng: spot.earlier or None),
        Fault("scrambled", "scrambled words", _scrambled),
        Fault("negated", "negated statements", _negated),
        Fault("placeholder", "a placeholder", lambda spot, rng: _worded(_PLACEHOLDERS, spot, rng)),
    )
}
"""By name the faults that are planted in a log."""

POLITE: Final = Fault("polite phrases", "polite phrases", _polite)
"""The original with polite phrases around it: no fault, and no gain."""
PADDING: Final = Fault("padding", "padding", _padding)
"""The original under empty headings, with half of it said again: longer, and nothing more."""


def plant(fault: Fault, spot: Spot, rng: random.Random) -> str | None:
    """Return what is said in place of a reply; None where the fault changes nothing of it."""
    text = fault.make(spot, rng)
    return None if text is None or text.strip() == spot.reply.strip() else text


def with_reply(conversation: Conversation, turn: Turn, text: str) -> Conversation:
    """Return the conversation with another reply in a turn; tool calls and results stay.

    Of a reply of several messages the last one says the text, and the others go.
    """
    *others, last = (
        place
        for place, message in enumerate(turn.messages, turn.start)
        if message.role == "assistant" and not message.tool_calls
    )
    old = conversation.messages[last]
    new = Message("assistant", text, name=old.name, extra=old.extra)
    messages = [
        new if place == last else message
        for place, message in enumerate(conversation.messages)
        if place not in others
    ]
    return replace(conversation, messages=tuple(messages))
